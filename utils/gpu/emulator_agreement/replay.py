#!/usr/bin/env python3
"""Runs the cases of test/Emulator/cuda in the emulator and compares with what an H200 left.

  replay.py [--run build/bin/ts-ptx-run] [--schedule random:3] [--forms FILE] [NAME or CASE ...]

A buffer's "compare" in the launch file says how: `exact` (bytes), or a bound that each element keeps,
`ulp:N`, `abs:E`, `rel:E`, or several with `|` between them, of which one has to hold. NaN equals NaN there.
Exit status 0 if every case ran and agreed. Plain Python: no packages.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")
FOLDER = os.path.join(ROOT, "test/Emulator/cuda")
FORMATS = {"f32": "f", "f64": "d", "f16": "e", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b",
           "i16": "h", "i32": "i", "i64": "q"}
DIGITS = {"f32": 24, "f64": 53, "f16": 11, "bf16": 8}
SMALLEST = {"f32": -149, "f64": -1074, "f16": -24, "bf16": -133}


def values(kind, data):
    if kind == "bf16":
        words = struct.unpack(f"<{len(data) // 2}H", data)
        return struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *(w << 16 for w in words)))
    code = FORMATS[kind]
    return struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)


def ulp(kind, value):
    if value == 0 or not math.isfinite(value):
        return 2.0 ** SMALLEST[kind]
    return 2.0 ** max(math.frexp(value)[1] - DIGITS[kind], SMALLEST[kind])


def agrees(kind, bounds, expected, found):
    if expected == found or (math.isnan(expected) and math.isnan(found)):
        return True
    if not math.isfinite(expected) or not math.isfinite(found):
        return False
    error = abs(expected - found)
    limits = {"ulp": ulp(kind, expected), "abs": 1.0, "rel": abs(expected)}
    return any(error <= number * limits[name] for name, number in bounds)


def difference(kind, rule, expected, found):
    """Nothing, or what is wrong with the first element that is."""
    if expected == found:
        return None
    if len(expected) != len(found):
        return f"{len(found)} bytes, expected {len(expected)}"
    if rule == "exact":
        code = {1: "B", 2: "H", 4: "I", 8: "Q"}[struct.calcsize(FORMATS.get(kind, "H" if kind == "bf16" else "B"))]
        a, b = (struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data) for data in (expected, found))
        wrong = [i for i in range(len(a)) if a[i] != b[i]]
        width = 2 * struct.calcsize(code)
        shown = ", ".join(f"[{i}] {a[i]:0{width}x} found {b[i]:0{width}x}" for i in wrong[:4])
        return f"{len(wrong)} of {len(a)} differ: {shown}"
    bounds = [(name, float(number)) for name, number in (part.split(":") for part in rule.split("|"))]
    a, b = values(kind, expected), values(kind, found)
    wrong = [i for i in range(len(a)) if not agrees(kind, bounds, a[i], b[i])]
    if not wrong:
        return None
    return f"{len(wrong)} of {len(a)} beyond {rule}: " + ", ".join(f"[{i}] {a[i]!r} found {b[i]!r}" for i in wrong[:4])


def read(path):
    with open(path, "rb") as file:
        return file.read()


def compare(case, out):
    """The sentences about one case that ran; None where no recorded output exists."""
    problems = []
    expected = os.path.join(FOLDER, "expected", case["name"])
    for name, buffer in case.get("buffers", {}).items():
        if "compare" not in buffer:
            continue
        file = f"{expected}.{name}.bin"
        if not os.path.exists(file):
            return None
        here = read(os.path.join(out, f"{case['name']}.{name}.bin"))
        problem = difference(buffer["type"], buffer["compare"], read(file), here)
        if problem:
            problems.append(f"{name}: {problem}")
    printed, wanted = os.path.join(out, case["name"] + ".printf.txt"), expected + ".printf.txt"
    lines = [sorted(read(path).splitlines()) if os.path.exists(path) else [] for path in (wanted, printed)]
    if lines[0] != lines[1]:  # threads print in any order
        problems.append(f"printed {lines[1][:3]}, expected {lines[0][:3]}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", default=os.path.join(ROOT, "build/bin/ts-ptx-run"))
    parser.add_argument("--schedule", default="fair")
    parser.add_argument("--forms")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    passed, failed, unrecorded = 0, 0, 0
    for launches in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        with open(launches) as file:
            cases = json.load(file)["cases"]
        stem = os.path.basename(launches)[:-5]
        for case in cases:
            if options.names and stem not in options.names and case["name"] not in options.names:
                continue
            with tempfile.TemporaryDirectory() as out:
                command = [options.run, stem + ".ptx", stem + ".json", "--case", case["name"], "--out", out,
                           "--schedule", options.schedule]
                if options.forms:
                    command += ["--forms", os.path.abspath(options.forms)]
                try:
                    run = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=300)
                    problems = [run.stderr.strip()] if run.returncode else compare(case, out)
                except subprocess.TimeoutExpired:
                    problems = ["does not end"]
            if problems is None:
                unrecorded += 1
                print(f"{case['name']}: runs; no recorded output")
            elif problems:
                failed += 1
                print(f"{case['name']}: FAILED\n  " + "\n  ".join(problems))
            else:
                passed += 1
    print(f"{passed} agree, {failed} failed, {unrecorded} not recorded")
    return 1 if failed or unrecorded else 0


if __name__ == "__main__":
    sys.exit(main())
