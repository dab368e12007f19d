#!/usr/bin/env python3
"""The coverage table of the emulator: docs/generated/emulator-coverage.md.

  emulator_coverage.py --bin build/bin [--check]     writes (or checks) the table
  emulator_coverage.py --bin build/bin --record      runs the emulator's tests and keeps which forms they executed

The forms come from the decoders' own patterns (ts-ptx-run --list-forms), each decoded with sample operands. What
the tests executed without a fault stands in test/Emulator/tested-forms.txt, which --record writes: the unit
tests, the kernels that are compared with an H200, and the foreign kernels.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.dirname(os.path.abspath(__file__)) + "/../..")
TESTED = os.path.join(ROOT, "test/Emulator/tested-forms.txt")
TABLE = os.path.join(ROOT, "docs/generated/emulator-coverage.md")

HEAD = """<!-- Made by utils/docs/emulator_coverage.py from the decoders of lib/Emulator. Do not edit. -->
# Instruction forms of the emulator

Every form that ptxas 13.0 takes for sm_90a and sm_100a in the families of the emulator, as its decoders list them.
`[x]` may be left out, `{x|y}` is one of them. A form counts as *tested* if a test of this tree executed it and
ended without a fault. A form that is not executed gives TS715 with the reason given here.

"""


def forms(binaries):
    out = subprocess.run([os.path.join(binaries, "ts-ptx-run"), "--list-forms"], capture_output=True, text=True,
                         check=True).stdout
    rows = collections.OrderedDict()
    for line in out.splitlines():
        pattern, form, why = line.split("\t")
        rows.setdefault(pattern, collections.OrderedDict())[form] = why
    return rows


def family(pattern):
    first = pattern.replace("[", "").split("{")[0].split(".")
    return ".".join(first[:2]) if first[0] in ("cp", "mbarrier", "tcgen05", "wgmma", "barrier", "fence") else first[0]


def cell(text):
    return text.replace("|", "\\|")


def table(binaries):
    with open(TESTED, encoding="utf-8") as file:
        tested = set(file.read().split("\n"))
    rows, lines, summary = forms(binaries), [], collections.Counter()
    for pattern, entries in rows.items():
        executed = [form for form, why in entries.items() if not why]
        seen = [form for form in executed if form in tested]
        refused = sorted({why for why in entries.values() if why})
        summary["forms"] += len(entries)
        summary["executed"] += len(executed)
        summary["tested"] += len(seen)
        if not executed:
            state = "not executed: " + "; ".join(refused)
        elif len(seen) == len(entries):
            state = "tested"
        elif seen:
            state = f"{len(seen)} of {len(executed)} tested"
        else:
            state = "executed, not tested"
        if executed and refused:
            state += f"; {len(entries) - len(executed)} not executed: " + "; ".join(refused)
        lines.append((family(pattern), pattern, len(entries), state))
    text = HEAD
    text += (f"{summary['forms']} forms in {len(rows)} rows: {summary['executed']} executed, of these "
             f"{summary['tested']} tested.\n\n| form | number | state |\n| --- | ---: | --- |\n")
    for _, pattern, number, state in lines:
        text += f"| `{cell(pattern)}` | {number} | {cell(state)} |\n"
    return text, [line for line in lines if line[3].startswith("executed, not tested")]


def record(binaries):
    seen = set()
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, "forms")
        environment = dict(os.environ, TS_EMULATOR_FORMS=log)
        subprocess.run([os.path.join(os.path.dirname(binaries), "unit/TSEmulatorTests"), "--gtest_brief=1"],
                       env=environment, check=False)
        run = os.path.join(binaries, "ts-ptx-run")
        for launches in sorted(glob.glob(os.path.join(ROOT, "test/Emulator/cuda/*.json")) +
                               glob.glob(os.path.join(ROOT, "test/Emulator/foreign/**/*.json"), recursive=True)):
            ptx = launches[:-5] + ".ptx"
            if os.path.exists(ptx):
                subprocess.run([run, ptx, launches, "--forms", log], capture_output=True, check=False)
        with open(log, encoding="utf-8") as file:
            seen = set(file.read().split("\n"))
    known = {form for entries in forms(binaries).values() for form in entries}
    with open(TESTED, "w", encoding="utf-8") as file:
        file.write("\n".join(sorted(seen & known)) + "\n")
    print(f"{len(seen & known)} forms tested; {len(seen - known - {''})} executed forms stand in no pattern:")
    for form in sorted(seen - known - {""})[:40]:
        print("  " + form)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    binaries = os.path.abspath(options.bin)
    if options.record:
        record(binaries)
    text, untested = table(binaries)
    if options.check:
        with open(TABLE, encoding="utf-8") as file:
            if file.read() != text:
                print("docs/generated/emulator-coverage.md is not what the decoders say; run "
                      "utils/docs/emulator_coverage.py")
                return 1
    else:
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write(text)
    for _, pattern, number, _ in untested:
        print(f"executed, not tested: {pattern} ({number})")
    return 1 if untested and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
