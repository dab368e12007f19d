#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The good kernels under every schedule: fair, random seeds, every adversarial choice.

Compiles the kernels of a list (utils/gpu/emulator.list and utils/gpu/lists/*.list have the format of
utils/gpu/accept.sh) and runs each shape twice, small integers exactly and normal data within bounds. A
kernel passes when ts-compile proves it without bounds or unknowns and ptxas neither spills nor
serialises (C75xx); a run when all its schedules are right, none reports anything, and no actor was
left out as the adversary's victim.
The last line is "N runs, N schedules, N failed"; the exit status is 0 when none failed.
Not for one schedule of a compiled kernel: utils/gpu/accept.sh runs the same lists under the fair one.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = os.path.join(ROOT, "utils", "gpu", "emulator.list")
SOURCES = {"clc": os.path.join(ROOT, "test", "Conversion", "TSToNVGPU", "Inputs", "clc.mlir")}


class Kernel:
    def __init__(self, words):
        self.file = words[0]
        self.name = words[1] if len(words) > 1 else ""
        self.check = ""
        self.arrays = []
        self.options = []
        self.shapes = []
        self.source = ""
        self.exact = True


def read_list(path):
    """The kernels of a list of utils/gpu/accept.sh (its head describes the format)."""
    kernels, source = [], ""
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] == "source":
                source = os.path.join(ROOT, words[1])
            elif words[0] == "kernel":
                kernels.append(Kernel(words[1:]))
                kernels[-1].source = source
            elif words[0] == "check":
                kernels[-1].check = line.split(None, 1)[1].strip()
            elif words[0] == "array":
                kernels[-1].arrays.append(words[1])
            elif words[0] == "option":
                kernels[-1].options += words[1:]
            elif words[0] == "inexact":
                kernels[-1].exact = False
            elif words[0] == "shape":
                kernels[-1].shapes.append(words[1:])
            elif words[0] != "refuse":  # nothing runs there
                sys.exit(f"error: {path}:{number}: unknown word '{words[0]}'")
    return kernels


def array_options(kernel, shape):
    """The options of a kernel, and its arrays, with the shape's values for {KEY}."""
    options = []
    for text in kernel.options:
        for word in shape:
            if ":" not in word:
                key, value = word.split("=")
                text = text.replace("{" + key + "}", value)
        options.append(text)
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


def compile_kernel(args, kernel):
    """Compiles the source of FILE.ptx, for the architecture that it names, into the working folder.
    Returns the file and what is wrong with it, or ""."""
    base = kernel.file.removesuffix(".ptx").removesuffix(".cubin")
    source = kernel.source or SOURCES.get(base, os.path.join(ROOT, "examples", base + ".mlir"))
    with open(source) as text:
        text = text.read()
    arch = re.search(r'ts.chip = "(\w+)"', text).group(1)
    out = os.path.join(args.work, base + ".ptx")
    if args.compiled:
        return out, "" if os.path.exists(out) else f"there is no {out}"
    done = subprocess.run([os.path.join(args.bin, "ts-compile"), source, "--arch=" + arch, "-o", out],
                          capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        sys.exit(f"error: {source} does not compile:\n{said}")
    for name in re.findall(r"^  ts.kernel @(\w+)", text, re.M):
        verdict = re.search(rf"^{name}: (.*)", said, re.M)
        if not verdict or not verdict.group(1).startswith("proven for every"):
            return out, f"{name} is not proven for every trip count:\n{said}"
    ptxas = args.ptxas or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if os.path.exists(ptxas):
        done = subprocess.run([ptxas, "-v", "-arch=" + arch, out, "-o", os.path.join(args.work, base + ".cubin")],
                              capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode != 0 or "C75" in said or re.search(r"[1-9]\d* bytes spill", said):
            return out, f"ptxas fails, spills or serialises:\n{said}"
    else:
        print("note: there is no ptxas, so nothing is assembled")
    return out, ""


def judge(output, status, check, shape, expected):
    """What is wrong with a run, or ""; and how many schedules it took. `expected` runs plus one for each
    actor have to be there; a negative number stands for any."""
    if status == 0 and "the grid is empty, so there is nothing to launch" in output:
        return "", 0
    match = re.search(r"^emulator: (\d+) schedules \((\d+) actors\), (.*?);", output, re.M)
    if not match and expected < 0 and status == 0:
        match = re.search(r"^emulator:()()()", output, re.M)
    if not match:
        return f"exit {status}, no summary of the schedules", 0
    runs, actors, verdict = int(match.group(1) or 1), int(match.group(2) or 0), match.group(3) or "all ok"
    if status != 0 or verdict != "all ok":
        return f"exit {status}, {verdict}", runs
    if f"{check}: ok" not in output:
        return f"nothing was compared for '{check}'", runs
    if re.search(r"(error|warning):", output):
        return "a report on a good kernel", runs
    if expected >= 0 and runs != expected + actors:
        return f"{runs} schedules for {actors} actors; expected {expected} and one each", runs
    return "", runs


def schedule_options(args):
    """The options of each run of a shape, and the schedules it takes beside one for each actor (-1: any)."""
    if args.schedule:
        return [(["--schedule", args.schedule], -1)]
    if args.short:
        return [(["--schedule", "fair"], -1), (["--schedule", "random:1"], -1)]
    if args.random == 20:
        return [(["--all-schedules"], 21)]
    return [(["--schedule", "fair"], -1), (["--schedule", f"random:1-{args.random}"], -1),
            (["--schedule", "adversarial"], 0)]


def run_one(job):
    """Runs and judges one command of main."""
    what, command, check, shape, expected = job
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    output = done.stdout + done.stderr
    wrong, schedules = judge(output, done.returncode, check, shape, expected)
    return what, command, wrong, schedules, output, time.time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("filters", nargs="*", help="only runs whose line contains one of these texts")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--work", default="/tmp/ts-schedules")
    parser.add_argument("--list", action="append", help="a list of kernels and shapes (utils/gpu/emulator.list)")
    parser.add_argument("--ptxas", default="", help="the assembler; otherwise the one in PATH")
    parser.add_argument("--schedule", default="", help="this one of ts-run instead of all")
    parser.add_argument("--short", action="store_true", help="fair and one random seed only")
    parser.add_argument("--random", type=int, default=20, help="how many random seeds (20)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each with one thread of the emulator")
    parser.add_argument("--compile-only", action="store_true", help="compile into the working folder and stop")
    parser.add_argument("--compiled", action="store_true",
                        help="the working folder has the kernels (of --compile-only, perhaps on another machine)")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    compiled, commands, failed = {}, [], 0
    for kernel in [k for path in args.list or [LIST] for k in read_list(path)]:
        for shape in kernel.shapes:
            for init in ("ints", "normal"):
                what = " ".join(filter(None, [kernel.file, kernel.name, *shape, *kernel.options, init]))
                if args.filters and not any(text in what for text in args.filters):
                    continue
                if kernel.file not in compiled:
                    compiled[kernel.file], wrong = compile_kernel(args, kernel)
                    failed += bool(wrong)
                    print(f"{'FAIL' if wrong else 'PASS'} {kernel.file}: {wrong or 'proven and assembled'}", flush=True)
                for options, expected in schedule_options(args):
                    command = [os.path.join(args.bin, "ts-run"), compiled[kernel.file], "--init", init]
                    command += ["--exact"] if init == "ints" and kernel.exact else []
                    command += ["--kernel", kernel.name] if kernel.name else []
                    command += array_options(kernel, shape) + ["--check", kernel.check] + options
                    command += ["--threads", "1"] if args.jobs > 1 else []
                    commands.append((what + " " + " ".join(options), command, kernel.check, shape, expected))
    if args.compile_only:
        sys.exit(1 if failed else 0)
    runs, total = 0, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for what, command, wrong, schedules, output, seconds in pool.map(run_one, commands):
            runs, total, failed = runs + 1, total + schedules, failed + bool(wrong)
            print(f"{'FAIL' if wrong else 'PASS'} {what}: {wrong or f'{schedules} schedules'}, {seconds:.1f} s", flush=True)
            if wrong:
                print("  " + " ".join(command) + "\n" + output[:4000], flush=True)
    print(f"{runs} runs, {total} schedules, {failed} failed")
    sys.exit(0 if runs and not failed else 1)


if __name__ == "__main__":
    main()
