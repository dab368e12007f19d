#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time ts-compile on one input and print the median of each phase and its share.

Reads the table of `ts-compile --timing`; the difference between the phases and the wall time is
the start of the process. With --limit the exit status is 1 when the wall time is over it.
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def phase_times(text):
    """{phase: ms} from the table that --timing prints."""
    times = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == "%":
            times[words[0]] = times.get(words[0], 0.0) + float(words[1])
    return times


def run_once(tool, source, arch, output):
    command = [tool, source, "-o", output, "--timing"] + ([f"--arch={arch}"] if arch else [])
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    wall = 1000 * (time.perf_counter() - begin)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stderr}")
    times = phase_times(done.stderr)
    if not times:
        sys.exit(f"no phases in the output of {' '.join(command)}:\n{done.stderr}")
    times["start"] = max(0.0, wall - sum(times.values()))
    return wall, times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="path of ts-compile")
    parser.add_argument("input", help=".mlir file")
    parser.add_argument("--arch", default="")
    parser.add_argument("--emit", default="ptx", choices=["ptx", "cubin", "ll", "mlir"])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--limit", type=float, help="wall time in ms that must not be exceeded")
    args = parser.parse_args()
    if not Path(args.input).is_file():
        sys.exit(f"no such input: {args.input}")
    if args.runs < 1:
        sys.exit("--runs must be at least 1")

    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / f"out.{args.emit}")
        run_once(args.tool, args.input, args.arch, output)  # warms the file cache
        runs = [run_once(args.tool, args.input, args.arch, output) for _ in range(args.runs)]

    wall = statistics.median(run[0] for run in runs)
    print(f"{Path(args.input).name} to {args.emit}: {wall:.1f} ms wall, median of {args.runs} runs")
    for phase in runs[0][1]:
        median = statistics.median(run[1].get(phase, 0.0) for run in runs)
        print(f"  {phase:<12}{median:8.1f} ms{100 * median / wall:6.0f} %")
    if args.limit is not None and wall > args.limit:
        print(f"over the limit of {args.limit:.0f} ms")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
