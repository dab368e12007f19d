#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drives the emulator along the prover's counter-example: each step of the witness becomes a place in
the PTX (its source line by .loc, the instruction that the operation is made of), its task a warp; the
witness's trip counts are the launch. `ts-run --steer` has to report the fault that the prover names.
With files: ts programs, their work declared (filled here) or with bodies; arguments of ts-run after --,
where {n} stands for the value of n in the witness. Without: broken variants of the real schedules.
"""

import argparse
import collections
import json
import os
import random
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from crosscheck import SOURCE, arguments, run
from crosscheck_mutants import bases, breaking, variants

# What the emulator calls each kind of counter-example. An overrun is a phase too many: whoever misses
# it waits for ever, reads what another use wrote, or finds the barrier's counts wrong.
EXPECTED = {
    "deadlock": {"TS701"},
    "race": {"TS702", "TS703", "TS704"},
    "overrun": {"TS701", "TS702", "TS705", "TS706"},
    "bytes": {"TS706", "TS701"},
    "exit": {"TS706", "TS710", "TS708"},
    "imbalance": {"TS701", "TS702", "TS705", "TS706", "TS710"},
}
# The same fault met from its other side: the read came before the first write; the phase completed
# without the bytes, so that the reader meets the copy.
ALSO = {"race": {"TS714"}, "overrun": {"TS714"}, "bytes": {"TS702", "TS714"}, "exit": {"TS701"}}
SIGNAL = r"mbarrier\.arrive|tcgen05\.commit|cp\.async\.mbarrier|barrier\.cluster\.arrive"
WORK = (r"cp\.async|cp\.reduce|tcgen05\.(ld|st|mma|cp)|wgmma\.mma|st\.shared|ld\.shared|st\.async"
        r"|ldmatrix|stmatrix|(ld|st|red|atom)\.global|multimem")
INSTRUCTIONS = {
    "acquire": r"mbarrier\.(try|test)_wait", "wait": r"mbarrier\.(try|test)_wait",
    "next_tile": r"mbarrier\.(try|test)_wait|clusterlaunchcontrol|add\.s(32|64)",
    "release": SIGNAL, "commit": SIGNAL, "produce": WORK, "consume": WORK,
    "griddep_wait": r"griddepcontrol\.wait", "griddep_launch": r"griddepcontrol\.launch",
}


class Ptx:
    """Instructions of each source line: (PTX line, text), in the order of the file."""

    def __init__(self, path, kernel):
        self.lines = collections.defaultdict(list)
        line, inside = 0, False
        with open(path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                text = text.strip()
                if text.startswith((".visible .entry", ".entry")):
                    inside = re.search(r"\.entry (\w+)", text).group(1) == kernel
                loc = re.match(r"\.loc\s+\d+\s+(\d+)", text)
                if loc:
                    line = int(loc.group(1))
                elif inside and line and text and not re.match(r"[.{}$/)]", text):
                    self.lines[line].append((number, text))

    def place(self, operation, line):
        """The instruction that makes a step, or None: a commit by TMA is its copy, say."""
        found = self.lines.get(line, [])
        pattern = INSTRUCTIONS.get(operation)
        for index, (number, text) in enumerate(found):
            if pattern and re.search(pattern, text):
                # A wait that a probe has made superfluous is jumped over: the jump is always there.
                if operation in ("acquire", "wait") and index:
                    before, jump = found[index - 1]
                    if re.match(r"@!?%p\d+ bra", jump) and number - before < 8:
                        return before
                return number
        return None


def steering(kernel, ptx):
    """The list for ts-run --steer, and how many steps no instruction stands for."""
    warps = {task["name"]: task["first_warp"] for task in kernel["tasks"]}
    places, without = [], 0
    for step in kernel["witness"]["steps"]:
        name, _, rest = step["task"].partition(" (")
        rank = re.match(r"CTA (\d+)", rest)
        line = ptx.place(step["text"].split()[0], step["location"]["line"]) if step["location"] else None
        if line is None or name not in warps:
            without += 1
            continue
        places.append({"cta": int(rank.group(1)) if rank else 0, "warp": warps[name], "ptx_line": line})
    return places, without


def choices(kernel):
    """(value of each name, number of tiles, {tile: skipped}) of the witness."""
    values, tiles, skipped = {}, 1, {}
    for choice in kernel["witness"]["choices"]:
        if choice["name"].startswith("number of tiles"):
            tiles = max(choice["value"], 1)
        elif choice["name"].startswith("skip of"):
            skipped[choice.get("tile", 0)] = choice["value"]
        else:
            values[choice["name"]] = max(choice["value"], values.get(choice["name"], 0))
    return values, max([tiles] + [tile + 1 for tile in skipped]), skipped


def launch(folder, manifest, kernel, more=0):
    """Arguments of ts-run for a filled kernel: the witness's trip counts, `more` beyond."""
    values, tiles, _ = choices(kernel)
    trips = {c["name"] for c in kernel["witness"]["choices"] if c["trip_count"]}
    result = arguments(manifest, folder, 1 + more, tiles + more)
    for index, word in enumerate(result):
        name = word.split("=")[0]
        if index and result[index - 1] == "--scalar" and name in values:
            result[index] = "%s=%d" % (name, values[name] + (more if name in trips else 0))
    return result


def lines_of(value):
    """All source lines that a fault names."""
    if isinstance(value, dict):
        own = {value["line"]} if value.get("line") else set()
        return own.union(*(lines_of(v) for v in value.values()))
    if isinstance(value, list):
        return set().union(*(lines_of(v) for v in value))
    return set()


def faults(tools, ptx, args, extra, limit):
    """(faults, first message of a run that could not be)."""
    status, text = run([tools["run"], ptx, "--sms", "2", "--report=json", "--timeout", str(limit)] + extra + args, limit + 30)
    begin = text.find('{"kernel"')
    try:
        report = json.JSONDecoder().raw_decode(text[begin:])[0] if begin >= 0 else None
    except ValueError:
        report = None
    if report is None:
        return [], text.strip().splitlines()[0][:160] if text.strip() else "status %d" % status
    return [fault for each in report["runs"] for fault in each["faults"]], ""


def follow(tools, folder, ptx, kernel, args_of, limit):
    """(class, detail) of one counter-example."""
    places, without = steering(kernel, Ptx(ptx, kernel["name"]))
    path = os.path.join(folder, kernel["name"] + ".steer.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(places, file)
    wanted = EXPECTED.get(kernel["kind"])
    if wanted is None:
        return "no run shows it", "kind " + kernel["kind"]
    said = {r["location"]["line"] for r in kernel["locations"] if r["location"]}
    said |= {s["location"]["line"] for s in kernel["witness"]["steps"] if s["location"]}
    found, failed = faults(tools, ptx, args_of(0), ["--kernel", kernel["name"], "--steer", path], limit)
    if failed:
        return "not launched", failed
    ids = sorted({fault["id"] for fault in found})
    if wanted & set(ids):
        near = any(lines_of(fault) & said for fault in found if fault["id"] in wanted)
        fair, _ = faults(tools, ptx, args_of(0), ["--kernel", kernel["name"]], limit)
        free = wanted & {fault["id"] for fault in fair}
        return ("reproduced", "%s of %d steps%s%s" % (" ".join(ids), len(places), "" if near else ", elsewhere",
                                                    "" if free else ", only when steered"))
    if ids:
        other = ALSO.get(kernel["kind"], set()) & set(ids) and any(lines_of(fault) & said for fault in found)
        return "from its other side" if other else "another fault", " ".join(ids) + ": " + found[0]["message"][:120]
    for schedule in "fair", "random:1-3":
        found, _ = faults(tools, ptx, args_of(5), ["--kernel", kernel["name"], "--schedule", schedule], limit)
        if (wanted | ALSO.get(kernel["kind"], set())) & {fault["id"] for fault in found}:
            return "with more trips", found[0]["message"][:120]
    return "no fault", "%d places, %d steps without an instruction" % (len(places), without)


def compile_(tools, folder, source, fill):
    """(report, ptx or None) of a program compiled whatever the checks say."""
    ptx, report = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.report.json")
    run([tools["compile"], source, "--verify=warn", "--verify-only", "--report=json", "--report-file", report], 60)
    with open(report, encoding="utf-8") as file:
        result = json.load(file)
    if not any(k["witness"] for k in result["kernels"]):
        return result, None
    command = [tools["compile"], source, "--verify=off", "-o", ptx] + (["--fill-bodies"] if fill else [])
    status, text = run(command, 120)
    result["refusal"] = "" if status == 0 else next((s for s in text.splitlines() if "error" in s), text[:160])
    return result, ptx if status == 0 else None


def without_probes(tools, folder, source, fill):
    """The program in which every probe fails: without them, lines kept. None if there are none."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    changed = re.sub(r"(?m)^(\s*)(ts\.try_(acquire|wait) %[\w#]+)\s*$", r"\1// \2", text)
    if changed == text:
        return None
    path = os.path.join(folder, "noprobe")
    os.makedirs(path)
    path = os.path.join(path, "k.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)
    return compile_(tools, os.path.dirname(path), path, fill)


def main():
    own = sys.argv[1:]
    extra = own[own.index("--") + 1:] if "--" in own else []
    own = own[:own.index("--")] if "--" in own else own
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", help="ts programs (broken variants of the schedules)")
    parser.add_argument("--bases", nargs="*", default=["0", "10", "11", "12", "13a"], help="schedules to break, by prefix")
    parser.add_argument("--per-base", type=int, default=1, help="variants of one operator and schedule (1)")
    parser.add_argument("--seed", type=int, default=1, help="which variants (1)")
    parser.add_argument("--count", type=int, default=10**9, help="how many counter-examples (all)")
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--work", default="/tmp/ts-steer")
    parser.add_argument("--limit", type=int, default=60)
    options = parser.parse_args(own)
    tools = {name: os.path.join(options.build, "bin", "ts-" + name) for name in ("compile", "opt", "run")}
    shutil.rmtree(options.work, ignore_errors=True)
    classes, by_kind, total, programs = collections.Counter(), collections.defaultdict(collections.Counter), 0, 0

    def note(label, kernel, verdict, detail):
        nonlocal total
        total += 1
        classes[verdict] += 1
        by_kind[kernel["kind"]][verdict] += 1
        if verdict.startswith("reproduced"):
            classes["of these only when steered"] += "only when steered" in detail
            classes["of these at other lines"] += "elsewhere" in detail
        print("%-28s %-9s %s: %s" % (verdict, kernel["kind"], label, detail), flush=True)

    def work():
        if options.programs:
            for path in options.programs:
                yield os.path.basename(path), None, path
            return
        found = variants(bases(tools, tuple(options.bases)), breaking.OPERATORS, options.per_base, random.Random(options.seed))
        for operator, number, _, label, program in found:
            yield "%s of %s: %s" % (operator, number, label), program, None

    for index, (label, program, path) in enumerate(work()):
        if total >= options.count:
            break
        folder = os.path.join(options.work, "%04d" % index)
        os.makedirs(folder)
        source = path or os.path.join(folder, "k.mlir")
        if program:
            with open(source, "w", encoding="utf-8") as file:
                file.write("// %s\n%s" % (label, program.text()))
        report, ptx = compile_(tools, folder, source, program is not None or not extra)
        with_witness = [k for k in report["kernels"] if k["witness"]]
        programs += 1
        for kernel in with_witness:
            if ptx is None:
                note(label, kernel, "not lowered", report["refusal"])
                continue
            values = choices(kernel)[0]
            if extra:
                def args_of(more, values=values):
                    plus = {name: value + more for name, value in values.items()}
                    return [re.sub(r"\{(.*?)\}", lambda m: str(eval(m.group(1), {}, plus)), w) for w in extra]
            else:
                def args_of(more, kernel=kernel):
                    return launch(folder, ptx[:-4] + ".json", kernel, more)
            verdict = follow(tools, folder, ptx, kernel, args_of, options.limit)
            if verdict[0] in ("no fault", "with more trips", "another fault"):
                # The emulator's try_wait gives up when nothing else can move, so a probe that could
                # have failed succeeds, and orders what the program leaves unordered.
                again, other = without_probes(tools, folder, source, program is not None or not extra) or (None, None)
                same = [k for k in again["kernels"] if k["witness"] and k["name"] == kernel["name"]] if other else []
                if same:
                    second = follow(tools, os.path.dirname(other), other, same[0], args_of, options.limit)
                    if second[0] in ("reproduced", "from its other side") or (
                            second[0] == "with more trips" and verdict[0] == "no fault"):
                        verdict = second[0] + ", probes failing", second[1]
            note("%s @%s" % (label, kernel["name"]) if path else label, kernel, *verdict)
    print("%d counter-examples in %d programs" % (total, programs))
    for name, count in sorted(classes.items(), key=lambda item: -item[1]):
        print("%6d %s" % (count, name))
    for kind, counts in by_kind.items():
        print("%s: %s" % (kind, ", ".join("%d %s" % (n, c) for c, n in counts.most_common())))
    return 0 if classes["reproduced"] else 1


if __name__ == "__main__":
    sys.exit(main())
