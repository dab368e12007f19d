#!/usr/bin/env python3
"""Prints how long the proof takes against tasks, entries, stages, CTAs and nesting.

  python3 utils/bench/prove_time.py [--ts-opt build/bin/ts-opt] [--repeat 5] [--quick]

Each schedule is a chain of tasks: task i waits on ring i-1, reads a stage, acquires ring i, fills a stage and
hands both on, `entries` schedule entries an iteration, in loops over a symbolic trip count; with CTAs the chain
runs in every CTA of a cluster. The figure is the time `ts-prove` itself reports (median of the runs), so process
start and parsing are left out. A benchmark, never a test.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

ENTRIES_PER_ROUND = 6  # wait, consume, acquire, produce, commit, release


def chain(tasks, entries, stages, ctas, nesting):
    """The text of a chain of `tasks` tasks with about `entries` schedule entries each."""
    rounds = max(1, entries // ENTRIES_PER_ROUND)
    args = ", ".join(f"%n{d}: index" for d in range(nesting))
    lines = ['gpu.module @m attributes {ts.chip = "sm_100a"} {',
             f"  ts.kernel @chain({args}) warps({tasks}) cluster({ctas}, 1, 1) {{",
             "    %c0 = arith.constant 0 : index",
             '    %in = ts.resource "in" gmem',
             '    %out = ts.resource "out" gmem']
    for i in range(tasks - 1):
        lines.append(f'    %r{i} = ts.resource "r{i}" smem(x: memref<16xf32>) '
                     f"pipeline(async_async, stages = {stages})")
    ends = ["%in"] + [f"%r{i}" for i in range(tasks - 1)] + ["%out"]
    for i in range(tasks):
        lines.append(f"    ts.depends {ends[i + 1]} on {ends[i]}")
    for i in range(tasks):
        source, target = ends[i], ends[i + 1]
        lines.append(f'    ts.task "t{i}" warps({i}, 1) reads({source}) writes({target}) {{')
        for d in range(nesting):
            lines.append("  " * d + f"      ts.for %i{d} = %c0 to %n{d} {{")
        for _ in range(rounds):
            body = []
            if i:
                body.append(f"ts.wait {source}")
            body.append(f'ts.consume {source} "read" declared')
            if i < tasks - 1:
                body.append(f"ts.acquire {target}")
            body.append(f'ts.produce {target} "write" declared')
            if i < tasks - 1:
                body.append(f"ts.commit {target}")
            if i:
                body.append(f"ts.release {source}")
            lines += ["        " + line for line in body]
        lines += ["      }"] * nesting + ["    }"]
    return "\n".join(lines + ["  }", "}", ""])


def measure(ts_opt, text, repeat):
    """(verdict word, median milliseconds) of `ts-prove` on `text`."""
    command = [ts_opt, "--pass-pipeline=builtin.module(gpu.module(ts-prove{summary=true timing=true}))",
               "-mlir-print-op-on-diagnostic=false", "-o", os.devnull, "-"]
    times, verdict = [], ""
    for _ in range(repeat):
        result = subprocess.run(command, input=text, capture_output=True, text=True)
        found = re.search(r"^chain: (.*?)\s+\(([0-9.]+) ms[,)]", result.stdout, re.M)
        if not found:
            sys.exit("error: ts-prove gave no verdict: " + (result.stderr or result.stdout)[:400])
        verdict = found.group(1).split(" ")[0]
        times.append(float(found.group(2)))
    return verdict, statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ts-opt", default="build/bin/ts-opt")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the two largest only")
    options = parser.parse_args()
    if not os.access(options.ts_opt, os.X_OK):
        sys.exit(f"error: there is no ts-opt at {options.ts_opt}; build it first")
    base = dict(tasks=4, entries=24, stages=3, ctas=1, nesting=1)
    sweeps = [] if options.quick else (
        [dict(base, tasks=t) for t in (2, 4, 8, 16, 32)] +
        [dict(base, entries=e) for e in (24, 48, 96, 192, 384, 512)] +
        [dict(base, stages=s) for s in (1, 2, 4, 8)] +
        [dict(base, ctas=c) for c in (1, 2, 4, 8)] +
        [dict(base, nesting=n) for n in (1, 2, 3)])
    sweeps += [dict(base, tasks=32, entries=512), dict(base, tasks=8, entries=256, ctas=8)]
    print(f"{'tasks':>5} {'entries':>7} {'stages':>6} {'CTAs':>4} {'nesting':>7}  {'verdict':<10} {'ms':>9}")
    for point in sweeps:
        verdict, ms = measure(options.ts_opt, chain(**point), options.repeat)
        print(f"{point['tasks']:>5} {point['entries']:>7} {point['stages']:>6} {point['ctas']:>4} "
              f"{point['nesting']:>7}  {verdict:<10} {ms:>9.1f}", flush=True)


if __name__ == "__main__":
    main()
