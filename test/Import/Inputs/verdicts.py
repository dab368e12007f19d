#!/usr/bin/env python3
"""Compares the prover's verdict of every schedule file with what test/cases/README.md says.

  verdicts.py SOURCE_ROOT WORK_FOLDER [--times]

Each file is imported twice, at the default minimum of 0 trips and at the minimum its kernel needs, and
proven. The table is the README's: what is missing here has to be proven at 0. With --times, the prover's own
time of each run is printed (a figure, not a test).
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import glob
import os
import re
import subprocess
import sys

# Smallest trip count that the kernel's authors rely on.
MINIMUM = {"13c": 2, "14a": 2, "14b": 1, "14e": 1, "15a": 1, "15c": 1, "16a": 1, "16b": 1, "17a": 1}
# Files with another verdict than "proven", and the check that has to say so. 90 and 91 are wrong before
# the prover sees them (rule 5, bytes); 15c's footprints are too coarse in the file, which makes a race.
REFUTED = {"15c": "TS302", "90": "TS105", "91": "TS217", "94": "TS303"}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout + result.stderr


def verdict(root, work, path, key, minimum):
    """(verdict word or check id, help line's minimum, milliseconds) of one file."""
    out = os.path.join(work, f"{os.path.basename(path)}.{minimum}.mlir")
    options = ["--min-trips", str(minimum)] if minimum else []
    if key.startswith("9"):
        options.append("--complete")
    printed = run(sys.executable, os.path.join(root, "utils", "import_schedule.py"), path, "-o", out, *options)
    if not os.path.exists(out):
        return "import failed: " + printed.strip(), None, 0.0
    printed = run("ts-opt", "--pass-pipeline=builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,"
                  "ts-prove{summary=true timing=true}))", "-mlir-print-op-on-diagnostic=false", out, "-o", os.devnull)
    error = re.search(r"error: \[(TS\d+)\]", printed)
    safe = re.search(r"safe for every .* >= (\d+): declare min = \1", printed)
    found = re.search(r"^[\w.]+: (proven|unknown|refuted|proven up to)\b.*?\(([0-9.]+) ms", printed, re.M)
    time = float(found.group(2)) if found else 0.0
    if error:
        return error.group(1), int(safe.group(1)) if safe else None, time
    return (found.group(1) if found else "no verdict: " + printed[:200]), None, time


def main():
    root, work = sys.argv[1], sys.argv[2]
    times = "--times" in sys.argv
    wrong = files = 0
    for path in sorted(glob.glob(os.path.join(root, "test", "cases", "schedules", "*.yaml"))):
        key = os.path.basename(path).split("_")[0]
        minimum, files = MINIMUM.get(key, 0), files + 1
        expected = REFUTED.get(key, "proven")
        found, _, time = verdict(root, work, path, key, minimum)
        said = f"{key}: {found}" + (f" at {minimum}" if minimum else "") + (f" ({time:.1f} ms)" if times else "")
        if found != expected:
            wrong += 1
            said += f", expected {expected}"
        # Below its minimum the kernel is refuted, with the help line that names the minimum.
        if minimum and expected == "proven":
            found, safe, _ = verdict(root, work, path, key, 0)
            said += f"; below: {found}, declare min = {safe}"
            if not found.startswith("TS3") or safe != minimum:
                wrong += 1
                said += f", expected a refutation and {minimum}"
        print(said)
    print(f"{files} files, {wrong} verdicts differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
