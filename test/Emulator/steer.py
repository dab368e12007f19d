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
# without the bytes, so that the reader meets the copy; who waits for nobody reads what was never written.
ALSO = {"race": {"TS714"}, "overrun": {"TS714"}, "bytes": {"TS702", "TS714"}, "exit": {"TS701"}, "deadlock": {"TS714"}}
# Kinds whose damage may be met before they show.
COUNTS = ("bytes", "overrun", "exit")
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


def numbered(kernel, step):
    """(CTA, first warp) of a step's task, or None."""
    name, _, rest = step["task"].partition(" (")
    warps = {task["name"]: task["first_warp"] for task in kernel["tasks"]}
    rank = re.match(r"CTA (\d+)", rest)
    return (int(rank.group(1)) if rank else 0, warps[name]) if name in warps else None


def place_of(kernel, ptx, step):
    """The place of a step, or None if no instruction stands for it."""
    line = ptx.place(step["text"].split()[0], step["location"]["line"]) if step["location"] else None
    who = numbered(kernel, step)
    if not line or not who:
        return None
    return {"cta": who[0], "warp": who[1] + step.get("nth", 0), "ptx_line": line, "settled": step.get("settled", False)}


def moved_last(kernel, steps, index):
    """The order in which a task, all its warps in all CTAs, does nothing from `index` on until all others
    have done their part."""
    task = steps[index]["task"]
    same = [t for t in kernel["witness"]["tasks"] if t.partition(" (")[0] == task.partition(" (")[0]]
    warps = next((t["warps"] for t in kernel["tasks"] if t["name"] == task.partition(" (")[0]), 1)
    late = [dict(steps[index], task=each, nth=nth) for each in [task] + [t for t in same if t != task] for nth in range(warps)]
    late += [step for step in steps[index + 1:] if step["task"] == task]
    return [step for i, step in enumerate(steps) if i < index or step["task"] != task] + late


def waiters(kernel, text, names):
    """Steps of every task that waits for one of the rings `names` ("%1"), in the order of the program."""
    result = []
    starts = sorted((task["location"]["line"], task["name"]) for task in kernel["tasks"] if task["location"])
    for number, line in enumerate(text.splitlines(), 1):
        op = re.match(r"\s*ts\.(wait|acquire) (%\w+)", line)
        if op and op.group(2) in names:
            name = [name for start, name in starts if start < number][-1:]
            result += [{"task": task, "text": op.group(1), "location": {"line": number}, "settled": True}
                       for task in kernel["witness"]["tasks"] if [task.partition(" (")[0]] == name]
    return result


def rings(kernel, text):
    """The rings and groups that the messages speak of, as the program names them."""
    message = " ".join(r["message"] for r in kernel["locations"])
    names = set()
    for name in set(re.findall(r"'([\w.]+)'", message)):
        names |= set(re.findall(r'(%%\w+) = ts\.(?:resource|pipeline_group|work_queue) "%s"' % re.escape(name.split(".")[0]), text))
    for group, members in re.findall(r"(%\w+) = ts\.pipeline_group [^(]*\(([^)]*)\)", text):
        if names & set(members.split(", ")):
            names.add(group)
    return names


def orders(kernel, source, more):
    """The witness's steps, then other orders of the same steps that show what the fault says can be.
    What races may come in both orders; who misses a use comes late; a step that faults comes last."""
    steps = kernel["witness"]["steps"]
    fault = next((r for r in kernel["locations"] if r["role"] == "fault" and r["location"]), None)
    result = [steps]
    if kernel["kind"] == "race":
        accesses = [(r["task"], r["location"]["line"]) for r in kernel["locations"] if r["role"] == "access" and r["location"]]
        for access in accesses:
            at = [i for i, s in enumerate(steps) if s["location"] and (s["task"], s["location"]["line"]) == access]
            result += [moved_last(kernel, steps, i) for i in at]
    elif fault:
        missed = re.search(r"of '([^']+)'.* before '([^']+)' has seen", fault["message"])
        early = re.search(r"'([^']+)' looks for use", fault["message"])
        if missed:
            at = [i for i, s in enumerate(steps) if s["task"] == missed.group(2) and
                  re.match(r"(acquire|wait) %s\b" % re.escape(missed.group(1)), s["text"])]
            result += [moved_last(kernel, steps, i) for i in reversed(at)]
        with open(source, encoding="utf-8") as file:
            text = file.read()
        operation = re.search(r"\bts\.(\w+)", text.splitlines()[fault["location"]["line"] - 1])
        last = {"task": fault["task"], "text": "wait" if early else operation.group(1) if operation else "?",
                "location": fault["location"]}
        result = [order + [last] for order in result] + result
        if kernel["kind"] == "overrun" and not missed:
            # Whoever waits for the phase that ends too early looks when the next one has ended as well.
            late = waiters(kernel, text, rings(kernel, text))
            result.append([s for s in steps if not any(s["location"] and s["location"]["line"] == w["location"]["line"]
                                                       and s["task"] != fault["task"] for w in late)] +
                          [last] + [w for w in late if w["task"] != fault["task"]])
        if missed and more and at:
            # A lap later, when the probe of the late step can fail.
            ring = re.search(r'ts\.\w+ "%s".* stages = (\d+)' % re.escape(missed.group(1)), text)
            stages = int(ring.group(1)) if ring else 1
            result.append([steps[at[-1]]] * stages + [last] * (stages + 1) + [dict(steps[at[-1]], settled=True)])
    return result


def ring_lines(kernel, source, ptx):
    """PTX lines of the work and the signals of the rings that the fault speaks of, and of its own line:
    asynchronous, they may be the last thing to happen."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    names = rings(kernel, text)
    lines = {r["location"]["line"] for r in kernel["locations"] if r["role"] == "fault" and r["location"]}
    lines |= {number for number, each in enumerate(text.splitlines(), 1)
              for op in [re.match(r"\s*(?:%[\w:]+ = )?ts\.(?:produce|consume|commit|release) (%\w+)", each)] if op and op.group(1) in names}
    return sorted(n for line in lines for n, each in ptx.lines.get(line, []) if re.search(SIGNAL + "|" + WORK, each))


def steerings(kernel, source, ptx, more):
    """What to give to ts-run --steer, one after the other; asynchronous work early and late."""
    result, probes, late = [], probe_lines(source, ptx), ring_lines(kernel, source, ptx)
    own = [n for r in kernel["locations"] if r["role"] == "fault" and r["location"]
           for n, text in ptx.lines.get(r["location"]["line"], []) if re.search(SIGNAL, text)]
    for order in orders(kernel, source, more):
        places = [place for place in (place_of(kernel, ptx, step) for step in order) if place]
        for engines, held in ("first", []), ("last", []), ("last", late), ("last", own):
            each = {"places": places, "probes": probes, "engines": engines, "late": held}
            if each not in result:
                result.append(each)
    return result


def probe_lines(source, ptx):
    """PTX lines of the program's ts.try_acquire and ts.try_wait, each of which may fail."""
    with open(source, encoding="utf-8") as file:
        lines = [number for number, text in enumerate(file, 1) if re.match(r"\s*ts\.try_", text)]
    return sorted(ptx_line for line in lines for ptx_line, text in ptx.lines.get(line, [])
                  if re.search(INSTRUCTIONS["wait"], text))


def choices(kernel):
    """(value of each name, number of tiles) of the witness, and the names for which it says "at least";
    what it says nothing about, such as the tiles of a dynamic queue, stands at 1."""
    values, tiles, skipped, open_ = {}, 1, [0], {"tiles"}
    for choice in kernel["witness"]["choices"]:
        if choice["name"].startswith("number of tiles"):
            tiles = max(choice["value"], 1)
            open_ -= set() if choice["at_least"] else {"tiles"}
        elif choice["name"].startswith("skip of"):
            skipped.append(choice.get("tile", 0) + 1)
        else:
            values[choice["name"]] = max(choice["value"], values.get(choice["name"], 0))
            if choice["trip_count"] and choice["at_least"]:
                open_.add(choice["name"])
    return values, max([tiles] + skipped), open_


def launch(folder, manifest, kernel, more=0, beyond=0):
    """Arguments of ts-run for a filled kernel: the witness's trip counts, `more` where it says "at
    least", and `beyond` it."""
    values, tiles, open_ = choices(kernel)
    trips = {c["name"] for c in kernel["witness"]["choices"] if c["trip_count"]}
    result = arguments(manifest, folder, 1 + more + beyond, tiles + beyond + (more if "tiles" in open_ else 0))
    for index, word in enumerate(result):
        name = word.split("=")[0]
        if index and result[index - 1] == "--scalar" and name in values:
            value = values[name] + (more if name in open_ else 0) + (beyond if name in trips else 0)
            result[index] = "%s=%d" % (name, value)
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


def follow(tools, folder, source, ptx, kernel, args_of, limit):
    """(class, detail) of one counter-example."""
    wanted = EXPECTED.get(kernel["kind"])
    if wanted is None:
        return "no run shows it", "kind " + kernel["kind"]
    if not kernel["witness"]["steps"]:
        return "without a path", kernel["locations"][0]["message"]
    text = Ptx(ptx, kernel["name"])
    path = os.path.join(folder, kernel["name"] + ".steer.json")
    said = {r["location"]["line"] for r in kernel["locations"] if r["location"]}
    said |= {s["location"]["line"] for s in kernel["witness"]["steps"] if s["location"]}
    also = None
    # A phase that ends too early lets accesses meet, which ends a run; without looking at races the
    # count itself shows.
    modes = [[]] + ([["--no-race-check"]] if kernel["kind"] in COUNTS else [])
    # A stage that was never written ends a run before its barriers are at fault.
    modes += [mode + ["--no-undefined-check"] for mode in modes]
    for more in (0, deepest(source) + 1) if choices(kernel)[2] else (0,):
        ways = steerings(kernel, source, text, more)
        for mode in modes:
            for way in ways:
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(way, file)
                args = ["--kernel", kernel["name"]] + mode
                found, failed = faults(tools, ptx, args_of(more), args + ["--steer", path], limit)
                if failed:
                    return "not launched", failed
                ids = sorted({fault["id"] for fault in found})
                if wanted & set(ids):
                    near = any(lines_of(fault) & said for fault in found if fault["id"] in wanted)
                    free = wanted & {fault["id"] for fault in faults(tools, ptx, args_of(more), args, limit)[0]}
                    return "reproduced" + (", more trips" if more else ""), "%s of %d steps%s%s%s" % (
                        " ".join(ids), len(way["places"]), " ".join([""] + mode), "" if near else ", elsewhere",
                        "" if free else ", only when steered")
                if ids and not also:
                    other = ALSO.get(kernel["kind"], set()) & set(ids) and any(lines_of(fault) & said for fault in found)
                    also = "from its other side" if other else "another fault", " ".join(ids) + ": " + found[0]["message"][:120]
    if also:
        return also
    for schedule in "fair", "random:1-3":
        found, _ = faults(tools, ptx, args_of(0, 5), ["--kernel", kernel["name"], "--schedule", schedule], limit)
        if (wanted | ALSO.get(kernel["kind"], set())) & {fault["id"] for fault in found}:
            return "beyond its trips", found[0]["message"][:120]
    return "no fault", "%d places" % len(ways[0]["places"])


def deepest(source):
    """Stages of the deepest ring: after so many trips every barrier is used again."""
    with open(source, encoding="utf-8") as file:
        return max([int(n) for n in re.findall(r"stages = (\d+)", file.read())] or [1])


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
    parser.add_argument("--only", default="", help="variants whose label matches this regular expression (all)")
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
        if not re.search(options.only, label):
            continue
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
            values, _, open_ = choices(kernel)
            if extra:
                def args_of(more, beyond=0, values=values, open_=open_):
                    plus = {name: value + beyond + (more if name in open_ else 0) for name, value in values.items()}
                    return [re.sub(r"\{(.*?)\}", lambda m: str(eval(m.group(1), {}, plus)), w) for w in extra]
            else:
                def args_of(more, beyond=0, kernel=kernel):
                    return launch(folder, ptx[:-4] + ".json", kernel, more, beyond)
            verdict = follow(tools, folder, source, ptx, kernel, args_of, options.limit)
            note("%s @%s" % (label, kernel["name"]) if path else label, kernel, *verdict)
    print("%d counter-examples in %d programs" % (total, programs))
    for name, count in sorted(classes.items(), key=lambda item: -item[1]):
        print("%6d %s" % (count, name))
    for kind, counts in by_kind.items():
        print("%s: %s" % (kind, ", ".join("%d %s" % (n, c) for c, n in counts.most_common())))
    return 0 if classes["reproduced"] else 1


if __name__ == "__main__":
    sys.exit(main())
