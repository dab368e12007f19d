"""Replays the fuzz corpus through the libraries without MLIR, meant for their sanitizer build.

  replay.py --bin build-asan/bin --compiler build/bin --work FOLDER [--full]

The corpus: seeds of the differential generator (corpus/seeds.txt), the models of every program of the tree and of
the imported schedules and those with numbers that once broke something (corpus/models.json), with mutants of each,
the text inputs of the prover's and the protocol's tests with mutants, malformed manifests and launch expressions
(corpus/). Any verdict and any refusal is fine; a run fails when it dies
by a signal, by a sanitizer, or takes too long. `--full` adds 4,000 generated schedules and ten times the mutants.
The last line says how many of each were replayed. scripts/test runs it on the asan preset.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SANITIZER_STATUS = 99
SANITIZER = re.compile(r"runtime error:|ERROR: \w+Sanitizer|DEADLYSIGNAL")
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS=f"exitcode={SANITIZER_STATUS}:allocator_may_return_null=1",
                   UBSAN_OPTIONS=f"exitcode={SANITIZER_STATUS}:print_stacktrace=1")
LONG_SEED, LONG_COUNT, BLOCK = 500001, 4000, 200
LIMIT = 60  # seconds for one small input
NUMBER = re.compile(r"(?<![\w%.-])\d+")
ABSURD = ["0", "1", "2", "3", "7", "33", "100", "1024", "65537", "2147483648", "4294967297", "9000000000000000000", "9223372036854775807", "-1",
          "-9223372036854775808", "99999999999999999999"]


class Replay:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        self.faults, self.counts, self.notes, self.shown = [], {}, [], 0
        self.mutants = 10 if options.full else 1

    def tool(self, name):
        path = os.path.join(self.options.bin, name)
        if not os.access(path, os.X_OK):
            sys.exit(f"error: there is no {path}; build the target ts-sanitized of the asan preset")
        return path

    def run(self, *command, limit=LIMIT):
        """Standard output of one run, or None after a fault."""
        try:
            result = subprocess.run(command, capture_output=True, timeout=limit, env=ENVIRONMENT, check=False,
                                    stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.faults.append(f"{' '.join(command)}: still running after {limit} s")
            return None
        text = result.stderr.decode(errors="replace")
        if result.returncode < 0 or result.returncode == SANITIZER_STATUS or SANITIZER.search(text):
            self.faults.append(f"{' '.join(command)}: status {result.returncode}\n{text[:3000]}")
            return None
        return result.stdout.decode(errors="replace")

    def count(self, what, number):
        self.counts[what] = self.counts.get(what, 0) + number
        print(f"{what}: {self.counts[what]} so far, {len(self.faults)} faults", flush=True)
        while self.shown < len(self.faults):
            print(self.faults[self.shown], flush=True)
            self.shown += 1

    def write(self, name, text):
        path = os.path.join(self.options.work, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def seeds(self):
        blocks = []
        with open(os.path.join(HERE, "corpus", "seeds.txt"), encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    blocks.append(tuple(int(word) for word in line.split()[:2]))
        if self.options.full:
            blocks += [(seed, BLOCK) for seed in range(LONG_SEED, LONG_SEED + LONG_COUNT, BLOCK)]

        def one(block):
            return self.run(self.tool("ts-differential"), "--seed", str(block[0]), "--count", str(block[1]),
                            "--no-cases", limit=1200)

        for block, printed in zip(blocks, self.pool.map(one, blocks)):
            if printed is None:
                continue
            self.count("generated schedules", block[1])
            for line in re.findall(r"^DISAGREE (seed \d+): (.*)$", printed, re.M):
                self.notes.append(f"prover and explorer disagree, {line[0]}: {line[1]}")
        self.run(self.tool("ts-oracle"), "--cases", limit=600)

    def schedules(self):
        """Every schedule file as a program, without a minimum and with the one that it needs."""
        sys.path.insert(0, os.path.join(ROOT, "test", "Import", "Inputs"))
        from verdicts import MINIMUM
        for path in sorted(glob.glob(os.path.join(ROOT, "test", "cases", "schedules", "*.yaml"))):
            key = os.path.basename(path).split("_")[0]
            for minimum in sorted({0, MINIMUM.get(key, 0)}):
                out = os.path.join(self.options.work, f"{os.path.basename(path)}.{minimum}.mlir")
                command = [sys.executable, os.path.join(ROOT, "utils", "import_schedule.py"), path, "-o", out]
                command += ["--min-trips", str(minimum)] if minimum else []
                command += ["--complete"] if key.startswith("9") else []
                subprocess.run(command, check=True, capture_output=True)
                yield out

    def models(self):
        programs = sorted(glob.glob(os.path.join(ROOT, "examples", "*.mlir")) +
                          glob.glob(os.path.join(ROOT, "docs", "*", "*.mlir")) +
                          glob.glob(os.path.join(ROOT, "test", "**", "*.mlir"), recursive=True))
        programs += self.schedules()
        dump = subprocess.run([os.path.join(self.options.compiler, "ts-fuzz-models"), *programs], check=True,
                              capture_output=True, text=True).stdout.splitlines(keepends=True)
        with open(os.path.join(HERE, "corpus", "models.json"), encoding="utf-8") as file:
            dump += file.readlines()
        # Mutants go through the full search once each; a few models a process keep a fault small.
        step = 20
        paths = [self.write(f"models.{i}.json", "".join(dump[i : i + step])) for i in range(0, len(dump), step)]

        def one(item):
            index, path = item
            return self.run(self.tool("ts-fuzz-replay"), "--seed", str(self.options.seed + index), "--mutants",
                            str(5 * self.mutants), path, limit=1200)

        for printed in self.pool.map(one, enumerate(paths)):
            found = re.match(r"(\d+) models, (\d+) mutants", printed or "")
            if found:
                self.count("models of programs", int(found.group(1)))
                self.count("mutants of models", int(found.group(2)))
            elif printed is not None:
                self.faults.append(f"ts-fuzz-replay printed {printed[:200]!r}")

    def texts(self):
        """Inputs of the line readers: as they are, and with numbers made absurd."""
        inputs = []
        for tool, folder in (("ts-protocol-test", "Protocol"), ("ts-prover-test", "Prover")):
            for path in sorted(glob.glob(os.path.join(ROOT, "test", "Analysis", folder, "*.test"))):
                inputs.append((tool, path))
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                for index in range(10 * self.mutants):
                    name = f"{folder}.{os.path.basename(path)}.{index}"
                    inputs.append((tool, self.write(name, self.absurd(text))))
        self.all("texts", [(self.tool(tool), path) for tool, path in inputs])

    def absurd(self, text):
        for _ in range(self.random.randint(1, 3)):
            number = self.random.choice(list(NUMBER.finditer(text)))
            text = text[: number.start()] + self.random.choice(ABSURD) + text[number.end() :]
        return text

    def manifests(self):
        with open(os.path.join(ROOT, "test", "Runtime", "Inputs", "gemm.json"), "rb") as file:
            good = file.read()
        paths = sorted(glob.glob(os.path.join(HERE, "corpus", "manifests", "*.json")))
        with open(os.path.join(HERE, "corpus", "expressions.txt"), encoding="utf-8") as file:
            for index, expression in enumerate(file.read().splitlines()):
                manifest = json.loads(good)
                manifest["kernels"][0]["grid"][0] = expression
                paths.append(self.write(f"expression.{index}.json", json.dumps(manifest)))
        for index in range(40 * self.mutants):
            data = bytearray(good)
            for _ in range(self.random.randint(1, 6)):
                data[self.random.randrange(len(data))] = self.random.randrange(256)
            if index % 4 == 0:
                data = data[: self.random.randrange(len(data))]
            paths.append(self.write(f"bytes.{index}.json", bytes(data)))
        arrays = [word for name in ("A=128x64", "B=256x64", "D=128x256") for word in ("--array", name)]
        self.all("manifests", [(self.tool("ts-run"), "--manifest", path, "--dry-run", *arrays) for path in paths])

    def all(self, what, commands):
        list(self.pool.map(lambda command: self.run(*command), commands))
        self.count(what, len(commands))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of the tools that are replayed")
    parser.add_argument("--compiler", required=True, help="folder of ts-fuzz-models")
    parser.add_argument("--work", required=True, help="folder for the inputs; they stay for a look")
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    replay = Replay(options)
    replay.manifests()
    replay.texts()
    replay.models()
    replay.seeds()
    for note in replay.notes:
        print("note:", note)
    print("\n".join(replay.faults[replay.shown :]))
    said = ", ".join(f"{number} {what}" for what, number in replay.counts.items())
    print(f"note: replayed: {said}; {len(replay.faults)} faults")
    # An empty corpus would pass in silence.
    wanted = {"manifests", "texts", "models of programs", "mutants of models", "generated schedules"}
    if wanted - set(replay.counts):
        print(f"error: nothing was replayed of: {', '.join(sorted(wanted - set(replay.counts)))}")
        return 1
    return 1 if replay.faults else 0


if __name__ == "__main__":
    sys.exit(main())
