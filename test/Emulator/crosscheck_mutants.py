#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross-check on broken and harmless variants: the operators of test/Mutation change real schedules,
the prover judges them, and the emulator runs them with their declared work filled. What is proven
must run clean under every schedule; how much of what is refuted also shows in a run is counted.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Mutation", "Inputs"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import breaking
import harmless
from crosscheck import CASES, MIN_TRIPS, REFUTED, SOURCE, Row, emulate, run
from program import Program

PROVEN = "proven"


def bases(tools, prefixes):
    """(name, minimum, program) of each imported schedule."""
    result = []
    for file in sorted(os.listdir(CASES)):
        number = file.split("_")[0]
        if not file.endswith(".yaml") or file.startswith("9") or number in REFUTED or not number.startswith(prefixes):
            continue
        minimum = MIN_TRIPS.get(number, 0)
        importer = os.path.join(SOURCE, "utils", "import_schedule.py")
        made = subprocess.run([sys.executable, importer, os.path.join(CASES, file), "-o", "-", "--min-trips", str(minimum)],
                              capture_output=True, text=True, timeout=60)
        text = subprocess.run([tools["opt"], "-"], input=made.stdout, capture_output=True, text=True, timeout=60)
        if text.returncode == 0:
            result.append((number, minimum, Program(number, text.stdout)))
    return result


def judge(tools, path):
    """"proven", the ids that refute it, or "refused" with the first message."""
    status, text = run([tools["compile"], path, "--verify-only"], 60)
    ids = sorted(set(re.findall(r"error: \[(TS\d\d\d)\]", text)))
    if status == 0:
        return PROVEN
    return " ".join(ids) or "refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefixes", nargs="*", default=["03", "07", "08", "09", "10", "11", "12"])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--work", default="/tmp/ts-crosscheck-mutants")
    parser.add_argument("--per-base", type=int, default=1, help="variants of one operator and base (1)")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--trips", type=int, default=9, help="trips beyond the minimum (9)")
    parser.add_argument("--tiles", type=int, default=3)
    parser.add_argument("--limit", type=int, default=60)
    options = parser.parse_args()
    options.schedules = ["fair"] + (["random:1-%d" % options.seeds] if options.seeds else [])
    tools = {name: os.path.join(options.build, "bin", "ts-" + name) for name in ("compile", "opt", "run")}
    shutil.rmtree(options.work, ignore_errors=True)
    table, contradictions, total = {}, [], 0
    all_bases = bases(tools, tuple(options.prefixes))
    for good, entries in ((False, breaking.OPERATORS), (True, harmless.REWRITES)):
        for entry in entries:
            name = entry[0]
            record = table.setdefault(name, [0, 0, 0, 0])  # variants, judged safe, not lowered, faults in a run
            for number, minimum, base in all_bases:
                for index, (label, program) in enumerate(entry[-1](base)):
                    if index >= options.per_base:
                        break
                    total += 1
                    record[0] += 1
                    folder = os.path.join(options.work, "%04d" % total)
                    os.makedirs(folder)
                    source, ptx = os.path.join(folder, "k.mlir"), os.path.join(folder, "k.ptx")
                    with open(source, "w", encoding="utf-8") as file:
                        file.write("// %s of %s: %s\n" % (name, number, label) + program.text())
                    verdict = judge(tools, source)
                    record[1] += verdict == PROVEN
                    row = Row(number)
                    status, _ = run([tools["compile"], source, "--verify=off", "--fill-bodies", "-o", ptx], 120)
                    if status:
                        record[2] += 1
                        continue
                    emulate(row, folder, ptx, minimum, None, options, tools)
                    record[3] += bool(row.error)
                    if verdict == PROVEN and row.error:
                        contradictions.append("%s: proven, but %s" % (folder, row.error))
                    with open(os.path.join(folder, "verdict"), "w", encoding="utf-8") as file:
                        file.write("%s | %s\n" % (verdict, row.error))
        print("%-45s variants proven not-lowered faulting" % ("harmless" if good else "broken"))
        for name, record in table.items():
            if record[0]:
                print("%-45s %8d %6d %11d %8d" % (name, *record), flush=True)
        table = {}
    for line in contradictions:
        print(line)
    print("%d programs, %d proven safe that fault" % (total, len(contradictions)))
    return 1 if contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
