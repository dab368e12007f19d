#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The good kernels under every schedule: fair, 20 random seeds, every adversarial choice.

Compiles the kernels of utils/gpu/emulator.list and runs each of its shapes twice, small integers
exactly and normal data within bounds, by `ts-run --all-schedules`. A run passes when all its schedules
are right, none reports anything (but see DISCARDED), and no actor was left out as the adversary's victim.
The last line is "N runs, N schedules, N failed"; the exit status is 0 when none failed.
Not for single schedules: utils/gpu/accept.sh runs the same list under the fair one.
"""
import argparse
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = os.path.join(ROOT, "utils", "gpu", "emulator.list")
SOURCES = {"clc": os.path.join(ROOT, "test", "Conversion", "TSToNVGPU", "Inputs", "clc.mlir")}
RANDOM_SEEDS = 20
# With K = 0 nothing was multiplied, and the kernels load what nobody has written and select zeros.
DISCARDED = r"^\S*: warning: \[TS714\] tensor memory, .* are read, but nothing has been written there$"


class Kernel:
    def __init__(self, words):
        self.file = words[0]
        self.name = words[1] if len(words) > 1 else ""
        self.check = ""
        self.arrays = []
        self.options = []
        self.shapes = []


def read_list(path):
    """The kernels of a list of utils/gpu/accept.sh (its head describes the format)."""
    kernels = []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] == "kernel":
                kernels.append(Kernel(words[1:]))
            elif words[0] == "check":
                kernels[-1].check = line.split(None, 1)[1].strip()
            elif words[0] == "array":
                kernels[-1].arrays.append(words[1])
            elif words[0] == "option":
                kernels[-1].options += words[1:]
            elif words[0] == "shape":
                kernels[-1].shapes.append(words[1:])
            elif words[0] != "refuse":  # nothing runs there
                sys.exit(f"error: {path}:{number}: unknown word '{words[0]}'")
    return kernels


def array_options(kernel, shape):
    options = []
    for text in kernel.arrays:
        extra = ""
        for word in shape:
            if ":" in word:
                name, part = word.split(":", 1)
                extra += ":" + part if name == text.split("=")[0] else ""
            else:
                key, value = word.split("=")
                text = text.replace("{" + key + "}", value)
        options += ["--array", text + extra]
    return options


def compile_kernel(args, file):
    """Compiles the source of FILE.ptx, for the architecture that it names, into the working folder."""
    base = file.removesuffix(".ptx")
    source = SOURCES.get(base, os.path.join(ROOT, "examples", base + ".mlir"))
    with open(source) as text:
        arch = re.search(r'ts.chip = "(\w+)"', text.read()).group(1)
    out = os.path.join(args.work, file)
    done = subprocess.run([os.path.join(args.bin, "ts-compile"), source, "--arch=" + arch, "-o", out],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {source} does not compile:\n{done.stderr}")
    return out


def judge(output, status, check, shape, schedules):
    """What is wrong with a run, or ""; and how many schedules it took."""
    if status == 0 and "M=0" in shape and "the grid is empty, so there is nothing to launch" in output:
        return "", 0
    match = re.search(r"^emulator: (\d+) schedules \((\d+) actors\), (.*?);", output, re.M)
    if not match:
        return f"exit {status}, no summary of the schedules", 0
    runs, actors, verdict = int(match.group(1)), int(match.group(2)), match.group(3)
    if status != 0 or verdict != "all ok":
        return f"exit {status}, {verdict}", runs
    if f"{check}: ok" not in output:
        return f"nothing was compared for '{check}'", runs
    if "K=0" in shape:
        output = re.sub(DISCARDED, "", output, flags=re.M)
    if re.search(r"(error|warning):", output):
        return "a report on a good kernel", runs
    if not schedules and runs != 1 + RANDOM_SEEDS + actors:
        return f"{runs} schedules for {actors} actors; expected fair, {RANDOM_SEEDS} random and one each", runs
    return "", runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("filters", nargs="*", help="only runs whose line contains one of these texts")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--work", default="/tmp/ts-schedules")
    parser.add_argument("--schedule", default="", help="this one of ts-run instead of all")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    compiled, runs, total, failed = {}, 0, 0, 0
    for kernel in read_list(LIST):
        for shape in kernel.shapes:
            for init in ("ints", "normal"):
                what = " ".join(filter(None, [kernel.file, kernel.name, *shape, *kernel.options, init]))
                if args.filters and not any(text in what for text in args.filters):
                    continue
                if kernel.file not in compiled:
                    compiled[kernel.file] = compile_kernel(args, kernel.file)
                command = [os.path.join(args.bin, "ts-run"), compiled[kernel.file], "--init", init, *kernel.options]
                command += ["--exact"] if init == "ints" else []
                command += ["--kernel", kernel.name] if kernel.name else []
                command += array_options(kernel, shape) + ["--check", kernel.check]
                command += ["--schedule", args.schedule] if args.schedule else ["--all-schedules"]
                start = time.time()
                done = subprocess.run(command, capture_output=True, text=True)
                output = done.stdout + done.stderr
                wrong, schedules = judge(output, done.returncode, kernel.check, shape, args.schedule)
                runs, total, failed = runs + 1, total + schedules, failed + bool(wrong)
                print(f"{'FAIL' if wrong else 'PASS'} {what}: {wrong or f'{schedules} schedules'}, "
                      f"{time.time() - start:.1f} s", flush=True)
                if wrong:
                    print("  " + " ".join(command) + "\n" + output[:4000], flush=True)
    print(f"{runs} runs, {total} schedules, {failed} failed")
    sys.exit(0 if runs and not failed else 1)


if __name__ == "__main__":
    main()
