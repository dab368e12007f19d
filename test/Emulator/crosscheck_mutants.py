#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross-check on broken and harmless variants: the operators of test/Mutation change real schedules,
the prover judges them, and the emulator runs them with their declared work filled. What is proven
must run clean under every schedule; how much of what is refuted also shows in a run is counted.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Mutation", "Inputs"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import breaking
import harmless
from crosscheck import CASES, MIN_TRIPS, REFUTED, SOURCE, TRIPS, Row, emulate, run
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


def variants(all_bases, entries, per_base, rng=None):
    """(operator, schedule, minimum, label, program): `per_base` of each operator and schedule, the
    first ones or, with a source of random numbers, any."""
    for entry in entries:
        for number, minimum, base in all_bases:
            made = entry[-1](base)
            if rng:
                made = list(made)
                made = rng.sample(made, min(per_base, len(made)))
            for label, program in itertools.islice(made, per_base):
                yield entry[0], number, minimum, label, program


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
    parser.add_argument("--draw", type=int, nargs="+", help="choose the variants at random with these seeds, broken and harmless in turn")
    parser.add_argument("--count", type=int, default=10**9, help="how many of each and seed, with --draw (all)")
    parser.add_argument("--each", type=int, default=10**9, help="how many of each, seed and schedule, with --draw (all)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--trips", type=int, default=9, help="trips beyond the minimum (9)")
    parser.add_argument("--tiles", type=int, default=3)
    parser.add_argument("--limit", type=int, default=60)
    options = parser.parse_args()
    options.schedules = ["fair"] + (["random:1-%d" % options.seeds] if options.seeds else [])
    tools = {name: os.path.join(options.build, "bin", "ts-" + name) for name in ("compile", "opt", "run")}
    shutil.rmtree(options.work, ignore_errors=True)
    all_bases = bases(tools, tuple(options.prefixes))
    work, labels = [], set()
    for seed in options.draw or [None]:
        rng = None if seed is None else random.Random(seed)
        drawn = [[(good, *each) for each in variants(all_bases, entries, options.per_base, rng)]
                 for good, entries in ((False, breaking.OPERATORS), (True, harmless.REWRITES))]
        for kind, each in enumerate(drawn):
            if rng:
                rng.shuffle(each)
                # What an earlier seed drew is not drawn again.
                each = [one for one in each if one[:3] + (one[4],) not in labels]
                of = collections.Counter()
                each = [one for one in each if of.update([one[2]]) or of[one[2]] <= options.each][:options.count]
                drawn[kind] = each
                labels |= {one[:3] + (one[4],) for one in each}
        work += [each for pair in itertools.zip_longest(*drawn) for each in pair if each] if rng else drawn[0] + drawn[1]
    tables, contradictions, total, started = ({}, {}), [], 0, time.time()

    def judged(index):
        return one(options, tools, os.path.join(options.work, "%04d" % (index + 1)), *work[index][1:])

    results = concurrent.futures.ThreadPoolExecutor(options.jobs).map(judged, range(len(work)))
    for (good, name, number, *_), (verdict, error) in zip(work, results):
        record = tables[good].setdefault(name, [0] * 6)
        total += 1
        launched = not error.startswith(("not lowered", "not launched"))
        faults = bool(launched and error)
        for column, holds in enumerate((True, verdict == PROVEN, error.startswith("not lowered"),
                                        error.startswith("not launched"), faults, faults and verdict == PROVEN)):
            record[column] += holds
        if options.draw:
            print("%5.0f s  %-16s %s of %s: %s" % (time.time() - started, verdict[:16], name, number, error[:150] or "clean"), flush=True)
        if faults and verdict == PROVEN:
            contradictions.append("%04d: proven, but %s" % (total, error))
    for title, table in zip(("broken", "harmless"), tables):
        print("%-45s variants proven not-lowered not-launched faulting" % title)
        for name, record in table.items():
            print("%-45s %8d %6d %11d %12d %8d" % (name, *record[:5]))
        if table:
            print("%-45s %8d %6d %11d %12d %8d" % ("sum", *[sum(r[i] for r in table.values()) for i in range(5)]))
    for line in contradictions:
        print(line)
    print("%d programs, %d proven safe that fault" % (total, len(contradictions)))
    return 1 if contradictions else 0


def one(options, tools, folder, name, number, minimum, label, program):
    """(verdict, what is wrong in a run) of one variant."""
    os.makedirs(folder)
    source, ptx = os.path.join(folder, "k.mlir"), os.path.join(folder, "k.ptx")
    with open(source, "w", encoding="utf-8") as file:
        file.write("// %s of %s: %s\n" % (name, number, label) + program.text())
    verdict = judge(tools, source)
    row = Row(number)
    status, text = run([tools["compile"], source, "--verify=off", "--fill-bodies", "-o", ptx], 120)
    if status:
        row.error = "not lowered: " + next((s for s in text.splitlines() if "error" in s), "?").replace(folder + "/", "")
    else:
        emulate(row, folder, ptx, minimum, TRIPS.get(number), options, tools)
        row.error = row.error.replace(folder + "/", "")
        if "ts-run: error: [TS50" in row.error:
            row.error = "not launched: " + row.error
    with open(os.path.join(folder, "verdict"), "w", encoding="utf-8") as file:
        file.write("%s | %s\n" % (verdict, row.error))
    return verdict, row.error


if __name__ == "__main__":
    sys.exit(main())
