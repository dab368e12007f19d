#!/usr/bin/env python3
"""Prints how long verification of each imported schedule takes, and whether it meets its goal.

  python3 utils/bench/schedule_time.py [--runs 15] [--only 13a,14e] [--ts-opt build/bin/ts-opt]

Two columns of medians: `ts-prove` alone, as the pass itself reports it, and the whole of `ts-verify` (structure,
protocol, prover), as MLIR's pass timing reports it; both without process start and parsing. Goals: under 100 ms with
tiles, under 10 ms for one loop level without tiles. Each schedule is imported at the smallest trip count that its
kernel needs. Says how loaded the machine is: figures of a loaded one mean nothing. A benchmark, never a test.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import argparse
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Import", "Inputs"))
sys.dont_write_bytecode = True
from verdicts import MINIMUM  # noqa: E402

GOAL_TILES, GOAL_LOOP = 100.0, 10.0  # milliseconds
PASSES = ("TSVerifyStructure", "TSVerifyProtocol", "TSProve")
PIPELINE = ("builtin.module(gpu.module(ts-verify-structure{severity=warn},ts-verify-protocol{severity=warn},"
            "ts-prove{severity=warn summary=true timing=true}))")


def imported(path, folder):
    """(key, text file) of one schedule, at the minimum its kernel needs."""
    key = os.path.basename(path).split("_")[0]
    out = os.path.join(folder, key + ".mlir")
    command = [sys.executable, os.path.join(ROOT, "utils", "import_schedule.py"), path, "-o", out]
    if MINIMUM.get(key):
        command += ["--min-trips", str(MINIMUM[key])]
    if key.startswith("9"):
        command += ["--complete"]
    if subprocess.run(command, capture_output=True).returncode:
        sys.exit(f"error: {path} cannot be imported")
    return key, out


def shape(text):
    """"tiles", "one loop" or "nested", after the deepest nesting of loops in one task."""
    deepest = 0
    open_loops, braces = [], 0
    for line in text.splitlines():
        if "ts.tile_loop" in line:
            return "tiles"
        if "ts.for " in line:
            open_loops.append(braces)
            deepest = max(deepest, len(open_loops))
        braces += line.count("{") - line.count("}")
        while open_loops and braces <= open_loops[-1]:
            open_loops.pop()
    return "one loop" if deepest < 2 else "nested"


def once(ts_opt, path):
    """(verdict, ms of ts-prove, ms of the three passes) of one run."""
    result = subprocess.run([ts_opt, "--pass-pipeline=" + PIPELINE, "-mlir-print-op-on-diagnostic=false",
                             "--mlir-disable-threading", "--mlir-timing", "--mlir-timing-display=list", path,
                             "-o", os.devnull], capture_output=True, text=True)
    proved = re.search(r"^[\w.]+: (proven up to|proven|unknown|refuted|[\w ]+?)\b.*?\(([0-9.]+) ms", result.stdout,
                       re.M)
    seconds = {name: float(time) for time, name in re.findall(r"([0-9.]+) \([^)]*\)\s+(\w+)", result.stderr)}
    if not proved or not set(PASSES) <= set(seconds):
        sys.exit(f"error: no figures for {path}: {(result.stderr or result.stdout)[:400]}")
    return proved.group(1), float(proved.group(2)), 1000 * sum(seconds[name] for name in PASSES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ts-opt", default=os.path.join(ROOT, "build", "bin", "ts-opt"))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default="", help="keys of schedules, 13a,14e")
    options = parser.parse_args()
    if not os.access(options.ts_opt, os.X_OK):
        sys.exit(f"error: there is no ts-opt at {options.ts_opt}; build it first")
    wanted = {key for key in options.only.split(",") if key}
    before, missed = os.getloadavg()[0], []
    print(f"load {before:.2f} on {os.cpu_count()} processors, {options.runs} runs each, median (worst) in ms")
    print(f"{'':4} {'shape':<9} {'verdict':<13} {'ts-prove':>17} {'ts-verify':>17} {'goal':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(ROOT, "test", "cases", "schedules", "*.yaml"))):
            if wanted and os.path.basename(path).split("_")[0] not in wanted:
                continue
            key, program = imported(path, folder)
            with open(program, encoding="utf-8") as file:
                kind = shape(file.read())
            runs = [once(options.ts_opt, program) for _ in range(options.runs)]
            prove, verify = sorted(r[1] for r in runs), sorted(r[2] for r in runs)
            goal = GOAL_LOOP if kind == "one loop" else GOAL_TILES
            met = statistics.median(verify) < goal
            if not met:
                missed.append(key)
            print(f"{key:4} {kind:<9} {runs[0][0]:<13} {statistics.median(prove):>8.1f} ({prove[-1]:>6.1f}) "
                  f"{statistics.median(verify):>8.1f} ({verify[-1]:>6.1f}) {goal:>5.0f} {'' if met else 'MISSED'}",
                  flush=True)
    after = os.getloadavg()[0]
    # This script keeps one processor busy itself.
    if before > 0.5 or after > 1.5:
        print(f"warning: the machine was loaded (load {before:.2f} before, {after:.2f} after); measure again when idle")
    print(f"goals missed: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
