#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross-check of prover, lowering and emulator: imports schedules, fills their declared work
(ts-compile --fill-bodies), assembles the PTX and runs it in the emulator under several orders. A
schedule that is proven safe must not fault, and no consumer may have seen a wrong word.
"""

import argparse
import ast
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(SOURCE, "test", "cases", "schedules")
# Smallest trip counts at which the schedules are safe (test/cases/README.md); 0 else.
MIN_TRIPS = {"13c": 2, "14a": 2, "14b": 1, "14e": 1, "15a": 1, "15c": 1, "16a": 1, "16b": 1, "17a": 1}
# 16b fixes its lanes at build time: safe when the trip count is a multiple of 2.
TRIPS = {"16b": [2, 4]}
# The file's footprints are too coarse to prove it (test/cases/README.md).
REFUTED = {"15c"}
PATTERNS = 32  # kPatterns of FillBodies.h


def write_npy(path, kind, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (kind, ", ".join(map(str, shape)))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_i32(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    shape = ast.literal_eval(data[10:10 + length].decode())["shape"]
    count = shape[0] if shape else 1
    return struct.unpack("<%di" % count, data[10 + length:10 + length + 4 * count])


def table(rows, width):
    return b"".join(bytes([row + 1]) * (rows * width) for row in range(PATTERNS))


def arguments(manifest, folder, trips, tiles):
    """Options of ts-run for a kernel's arguments."""
    with open(manifest, encoding="utf-8") as file:
        kernel = json.load(file)["kernels"][0]
    result = []
    for arg in kernel["args"]:
        name = arg["name"]
        path = os.path.join(folder, name + ".npy")
        box = re.fullmatch(r"fill_(\d+)x(\d+)", name)
        if box:
            rows, width = map(int, box.groups())
            if not os.path.exists(path):
                write_npy(path, "|i1", [PATTERNS * rows, width], table(rows, width))
            result += ["--array", "%s=@%s" % (name, path)]
        elif name == "fill_lines":
            write_npy(path, "|i1", [PATTERNS, 16], table(1, 16))
            result += ["--array", "%s=@%s" % (name, path)]
        elif name == "fill_sink":
            result += ["--array", name + "=262144"]
        elif name == "fill_report":
            result += ["--array", name + "=1024:zeros", "--out", name + "=" + path]
        elif arg["kind"] == "scalar":
            count = "tiles" in name.lower() and "queue" in name.lower()
            # The rest of a grid-stride loop's bounds are a start, an end and a step.
            value = tiles if count else trips
            if name.startswith("block_idx") or name == "thread_idx_x":
                value = 0
            elif name.startswith("grid_dim"):
                value = 1
            value = max(value, kernel["min_trips"].get(name, 0))
            if arg.get("type") == "i1":  # a flag: off at odd trip counts
                value = 1 - trips % 2
            result += ["--scalar", "%s=%d" % (name, value)]
        elif arg["element"] == "i64":  # trip counts per tile
            write_npy(path, "<i8", [max(tiles, 1)], struct.pack("<q", trips) * max(tiles, 1))
            result += ["--array", "%s=@%s" % (name, path)]
        else:  # a predicate per tile: skip the second one
            flags = bytes(1 if tile == 1 else 0 for tile in range(max(tiles, 1)))
            write_npy(path, "|i1", [max(tiles, 1)], flags)
            result += ["--array", "%s=@%s" % (name, path)]
    return result


def name_of(path):
    return os.path.basename(path).split("_")[0]


class Row:
    def __init__(self, name):
        self.name = name
        self.steps = []  # of imported, proven, filled, assembled, emulated
        self.error = ""
        self.seconds = 0.0


def first_error(text):
    for line in text.splitlines():
        if re.search(r"error|fault|TS\d\d\d|fatal|hang", line) and not line.startswith("usage"):
            return line.strip()[:300]
    lines = text.strip().splitlines()
    return lines[-1].strip()[:300] if lines else "no message"


def run(command, limit):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return 124, "took longer than %d s" % limit
    return done.returncode, done.stdout + done.stderr


def check(path, options, tools):
    name = os.path.splitext(os.path.basename(path))[0]
    number = name_of(path)
    row = Row(name)
    folder = os.path.join(options.work, name)
    os.makedirs(folder, exist_ok=True)
    source, ptx = os.path.join(folder, "k.mlir"), os.path.join(folder, "k.ptx")
    minimum = MIN_TRIPS.get(number, 0)

    def step(command, limit, wanted=True):
        status, text = run(command, limit)
        row.steps.append(status == 0)
        if status and wanted:
            row.error = first_error(text)
        with open(os.path.join(folder, "log"), "a", encoding="utf-8") as log:
            log.write("$ %s\n%s\n" % (" ".join(command), text))
        return status == 0 or not wanted

    importer = os.path.join(SOURCE, "utils", "import_schedule.py")
    started = time.time()
    ok = (step([sys.executable, importer, path, "-o", source, "--min-trips", str(minimum)], 60)
          and step([tools["compile"], source, "--verify-only"], options.limit, number not in REFUTED)
          and step([tools["compile"], source, "--verify=off", "--fill-bodies", "-o", ptx], 120))
    if ok and tools["ptxas"]:
        ok = step([tools["ptxas"], "-arch=sm_100a", ptx, "-o", os.path.join(folder, "k.cubin")], 120)
    elif ok:
        row.steps.append(None)
    if ok:
        emulate(row, folder, ptx, minimum, TRIPS.get(number), options, tools)
    row.seconds = time.time() - started
    return row


def emulate(row, folder, ptx, minimum, trips, options, tools):
    report = os.path.join(folder, "fill_report.npy")
    with open(ptx[:-4] + ".json", encoding="utf-8") as file:
        minimum = max([minimum, *json.load(file)["kernels"][0]["min_trips"].values()])
    # Long enough that every ring wraps more than once, once.
    counts = trips or sorted({minimum, minimum + options.trips})
    for count in counts + [max(counts) + 10]:
        args = arguments(ptx[:-4] + ".json", folder, count, options.tiles)
        for schedule in options.schedules if count in counts else ["fair"]:
            if os.path.exists(report):
                os.remove(report)
            command = [tools["run"], ptx, "--device=emulator", "--schedule", schedule, "--sms", "2",
                       "--timeout", str(options.limit)] + args
            status, text = run(command, options.limit + 60)
            with open(os.path.join(folder, "log"), "a", encoding="utf-8") as log:
                log.write("$ %s\n%s\n" % (" ".join(command), text))
            where = "%d trips, %s: " % (count, schedule)
            if status:
                row.steps.append(False)
                row.error = where + first_error(text)
                return
            wrong = [(i, word) for i, word in enumerate(read_i32(report) if os.path.exists(report) else []) if word]
            if wrong:
                row.steps.append(False)
                row.error = where + "consumer %d expected byte %d, found %d" % (
                    wrong[0][0], wrong[0][1] >> 8 & 0xff, wrong[0][1] & 0xff)
                return
    row.steps.append(True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schedules_", metavar="PREFIX", nargs="*", help="files of test/cases/schedules that begin so (all)")
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"), help="the build directory")
    parser.add_argument("--work", default="/tmp/ts-crosscheck", help="where to leave what is made")
    parser.add_argument("--seeds", type=int, default=10, help="random schedules per trip count (10)")
    parser.add_argument("--trips", type=int, default=3, help="trips beyond the declared minimum (3)")
    parser.add_argument("--tiles", type=int, default=3, help="work tiles of a persistent kernel (3)")
    parser.add_argument("--limit", type=int, default=120, help="seconds for one launch")
    options = parser.parse_args()
    options.schedules = ["fair"]
    if options.seeds:
        options.schedules.append("random:1-%d" % options.seeds)
    tools = {"compile": os.path.join(options.build, "bin", "ts-compile"),
             "run": os.path.join(options.build, "bin", "ts-run"),
             "ptxas": os.environ.get("TS_PTXAS") or shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")}
    files = sorted(os.path.join(CASES, file) for file in os.listdir(CASES)
                   if file.endswith(".yaml") and not file.startswith("9")
                   and (not options.schedules_ or file.startswith(tuple(options.schedules_))))
    shutil.rmtree(options.work, ignore_errors=True)
    print("%-46s imported proven filled assembled emulated  seconds" % "schedule")
    bad = 0
    for path in files:
        row = check(path, options, tools)
        cells = row.steps + [None] * (5 - len(row.steps))
        # What the prover refutes, the emulator has to find as well.
        found = row.error
        if name_of(path) in REFUTED:
            row.error = "" if "[TS702]" in found else "refuted, but no run shows the race"
        words = ["-" if cell is None else "yes" if cell else "NO" for cell in cells]
        print("%-46s %-8s %-6s %-6s %-9s %-8s %8.1f  %s" % (row.name, *words, row.seconds, found or row.error), flush=True)
        bad += bool(row.error)
    print("%d schedules, %d not clean" % (len(files), bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
