#!/usr/bin/env python3
"""Mutation test of the verifier: no broken program passes, none is misnamed, no harmless one is refused.

Bases are the examples, the accepted programs of test/Faults and imported schedules. Each operator
breaks them in one way and says which checks have to speak; whatever else is reported counts as
misnamed. Not a test of messages (test/Faults) or of verdicts at random (test/oracles).
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import breaking
import harmless
from program import Program

ROOT = pathlib.Path(__file__).resolve().parents[2]
PIPELINE = (
    "builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,"
    "ts-prove{summary=true timing=false}))"
)
# Smallest trip counts that the authors of the schedules assume (test/cases/README.md).
MINIMA = {"13c": 2, "14a": 2, "14b": 1, "14e": 1, "15a": 1, "16a": 1, "16b": 1, "17a": 1}
# No base: its footprints are too coarse in the file, which makes a race (test/cases/README.md).
COARSE = ("15c",)
QUICK = ("03", "06a", "07a", "09a", "10", "11a", "12a", "13i")


def judge(ts_opt, programs):
    """Per program the ids of its errors and whether it was proven; one process for all."""
    source, starts = "", []
    for number, program in enumerate(programs):
        program.rename(f"mutant_{number}")
        starts.append(source.count("\n") + 1)
        source += program.text() + "\n// -----\n\n"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(source.removesuffix("\n// -----\n\n"))
        file.flush()
        command = [ts_opt, "--split-input-file", f"--pass-pipeline={PIPELINE}", "-o", "/dev/null", file.name]
        result = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    if result.returncode not in (0, 1):
        sys.exit(f"ts-opt ended with {result.returncode}:\n{result.stderr[-2000:]}")
    errors = [[] for _ in programs]
    for line, text in re.findall(r"^[^\n:]+:(\d+):\d+: error: (.*)$", result.stderr, re.M):
        owner = max(i for i, start in enumerate(starts) if start <= int(line))
        errors[owner].append(text)
    proven = set(map(int, re.findall(r"^mutant_(\d+): proven(?! up to)", result.stdout, re.M)))
    return [(errors[i], i in proven) for i in range(len(programs))]


def read_bases(ts_opt, full):
    def printed(name, text):
        result = subprocess.run([ts_opt, "-"], input=text, capture_output=True, text=True, timeout=60)
        return Program(name, result.stdout) if result.returncode == 0 else None

    bases = []
    for path in sorted((ROOT / "examples").glob("*.mlir")):
        program = printed(path.stem, path.read_text())
        # One base per kernel, or a fault in the first would stop the check of the second.
        kernels = [place for place in program.walk() if place.node.op == "ts.kernel"]
        for number, place in enumerate(kernels):
            single = program.edit()
            module = next(p for p in single.walk() if p.node.op == "gpu.module").node
            module.regions[0] = [module.regions[0][place.index]]
            single.name = f"{path.stem}/{number}"
            bases.append(single)
    for path in sorted((ROOT / "test/Faults").glob("C*.mlir")):
        for number, section in enumerate(path.read_text().split("\n// -----\n")):
            if re.search(r"^// OUT: \w+: proven", section, re.M):
                program = printed(f"{path.stem}/{number}", section)
                if program and program.places("ts.acquire", "ts.barrier_sync", "ts.bulk_wait"):
                    bases.append(program)
    for path in sorted((ROOT / "test/cases/schedules").glob("[01]*.yaml")):
        case = path.name.split("_")[0]
        if case in COARSE or (not full and case not in QUICK):
            continue
        command = [sys.executable, str(ROOT / "utils/import_schedule.py"), str(path), "-o", "-"]
        command += ["--min-trips", str(MINIMA.get(case, 0))]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if result.returncode == 0 and (program := printed(path.stem, result.stdout)):
            bases.append(program)
    verdicts = judge(ts_opt, [base.edit() for base in bases])
    kept = [base for base, (errors, proven) in zip(bases, verdicts) if proven and not errors]
    for base, (errors, proven) in zip(bases, verdicts):
        if not proven or errors:
            print(f"base {base.name} is not proven, left out: {(errors or ['no verdict'])[0][:120]}")
    return bases, kept


def collect(table, bases, limit, per_base):
    """Mutants of each operator; small bases first, so that a limit keeps the run short."""
    jobs = []
    for entry in table:
        taken = 0
        for base in sorted(bases, key=lambda base: len(base.text())):
            for count, (label, program) in enumerate(entry[-1](base)):
                if count >= per_base or taken >= limit:
                    break
                taken += 1
                jobs.append((entry, f"{base.name}: {label}", program))
    return jobs


def run(ts_opt, jobs, batch):
    verdicts = []
    for start in range(0, len(jobs), batch):
        verdicts += judge(ts_opt, [program for _, _, program in jobs[start : start + batch]])
        print(f"{len(verdicts)} of {len(jobs)} programs judged", flush=True)
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ts-opt", default=str(ROOT / "build/bin/ts-opt"))
    parser.add_argument("--full", action="store_true", help="every mutant of every base, all schedules")
    parser.add_argument("--only", help="operators whose name has this word")
    parser.add_argument("--keep", help="folder for the mutants that went wrong")
    arguments = parser.parse_args()
    begin = time.monotonic()
    all_bases, bases = read_bases(arguments.ts_opt, arguments.full)
    limit, per_base = (1 << 30, 1 << 30) if arguments.full else (14, 2)


    def wanted(name):
        return not arguments.only or arguments.only in name
    table = [entry for entry in breaking.OPERATORS if wanted(entry[0])]
    jobs = collect(table, bases, limit, per_base)
    sources = [program.text() for _, _, program in jobs]
    faults, kills = [], {}
    for (entry, label, _), source, (errors, proven) in zip(jobs, sources, run(arguments.ts_opt, jobs, 60)):
        name, expected, _ = entry
        record = kills.setdefault(name, [0, 0, 0])
        ids = {(re.match(r"\[(TS\d+)\]", text) or [None, "no id"])[1] for text in errors}
        if not errors:
            record[1] += 1
            faults.append((f"MISSED  {name}: {label}{'' if proven else ' (no verdict)'}", source))
        elif not ids <= expected:
            record[2] += 1
            faults.append((f"MISNAMED  {name}: {label}: {next(t for t in errors if t[1:6] not in expected)[:150]}", source))
        else:
            record[0] += 1
    table = [entry for entry in harmless.REWRITES if wanted(entry[0])]
    jobs = collect(table, bases, limit, per_base)
    sources = [program.text() for _, _, program in jobs]
    accepted = {}
    for (entry, label, _), source, (errors, proven) in zip(jobs, sources, run(arguments.ts_opt, jobs, 60)):
        record = accepted.setdefault(entry[0], [0, 0])
        record[0 if proven and not errors else 1] += 1
        if errors or not proven:
            faults.append((f"REFUSED  {entry[0]}: {label}: {(errors or ['no verdict'])[0][:150]}", source))

    print(f"\n{'operator':45} killed missed misnamed  expected")
    for name, expected, _ in breaking.OPERATORS:
        if name in kills:
            print(f"{name:45} {kills[name][0]:6} {kills[name][1]:6} {kills[name][2]:8}  {' '.join(sorted(expected))}")
    print(f"\n{'harmless rewrite':45} accepted refused")
    for name, (good, bad) in accepted.items():
        print(f"{name:45} {good:8} {bad:7}")
    broken = sum(map(sum, kills.values()))
    good = sum(map(sum, accepted.values()))
    for number, (fault, source) in enumerate(faults):
        print(fault)
        if arguments.keep:
            folder = pathlib.Path(arguments.keep)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.mlir").write_text(f"// {fault}\n{source}")
    print(
        f"\n{len(bases)} of {len(all_bases)} bases, {broken} breaking mutants of {len(kills)} operators, {good} harmless"
        f" rewrites, {len(faults)} wrong, {time.monotonic() - begin:.0f} s"
    )
    short = [name for name, record in kills.items() if record[0] < 3]
    if not arguments.only:
        if len(bases) < len(all_bases):
            faults.append("a base is not proven")
        if broken < 100 or good < 50 or len(kills) < 12:
            faults.append("too few mutants")
        if short:
            faults.append("fewer than three kills")
            print("fewer than three kills: " + ", ".join(short))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
