"""Imports every schedule file and compares the text with the YAML, read by a second reader."""
import glob
import os
import re
import subprocess
import sys

import yaml

root, scratch = sys.argv[1:3]
WRONG = {"90_docs_guards_periodic": "TS105", "91_docs_conditional": "TS217"}
PASSES = "builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol))"
files = sorted(glob.glob(os.path.join(root, "test/cases/schedules/*.yaml")))
failures = []
totals = [0, 0, 0]


def steps(block):
    for step in block:
        yield step
        for key in ("loop", "guard", "when", "skippable"):
            if key in step:
                inner = step[key] if key == "skippable" else step["loop"]["body"] if key == "loop" else step["body"]
                yield from steps(inner)


def count(pattern, text):
    return len(re.findall(pattern, text))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


for path in files:
    name = os.path.splitext(os.path.basename(path))[0]
    fragment = name.startswith("9")
    out = os.path.join(scratch, name + ".mlir")

    def fail(text):
        failures.append(f"{name}: {text}")

    done = run(sys.executable, os.path.join(root, "utils/import_schedule.py"), path, "-o", out,
               *(["--complete"] if fragment else []))
    if done.returncode:
        fail(done.stderr)
        continue
    text = open(out).read()
    data = yaml.safe_load(open(path))

    # Round trip.
    once = run("ts-opt", out)
    twice = subprocess.run(["ts-opt", "-"], input=once.stdout, capture_output=True, text=True)
    if once.returncode or once.stdout != twice.stdout:
        fail("does not print as it parses: " + once.stderr + twice.stderr)

    # Verdict of the structure and protocol checks.
    checked = run("ts-opt", f"--pass-pipeline={PASSES}", out, "-o", os.devnull)
    found = sorted(set(re.findall(r"error: \[(TS\d+)\]", checked.stderr)))
    wanted = [WRONG[name]] if name in WRONG else []
    if found != wanted or bool(checked.returncode) != bool(wanted):
        fail(f"checks say {found}, expected {wanted}: {checked.stderr[:2000]}")

    # Nothing is lost. Fragments are added to, so they may have more.
    resources = data["resources"]
    queues = {r["name"] for r in resources if r["space"] == "work_queue"}
    pdl = {r["name"] for r in resources if r["space"].startswith("pdl")}
    every = [step for task in data["tasks"] for step in steps(task["schedule"])]
    ops = [s for s in every if "op" in s and s["res"] not in queues | pdl]
    loops = [s["loop"] for s in every if "loop" in s]
    totals[0] += len(resources)
    totals[1] += sum("pipeline" in r for r in resources)
    totals[2] += len(data["tasks"])
    wanted = {
        r"ts\.resource \"|ts\.work_queue|ts\.pdl": len(resources),
        r" pipeline\(": sum("pipeline" in r for r in resources),
        r"ts\.task \"": len(data["tasks"]),
        r"ts\.pipeline_group": len(data["groups"]),
        r"ts\.alias_group": len(data["alias_groups"]),
        r"ts\.tile_loop": sum(loop["kind"] == "work_tile" for loop in loops),
        r"ts\.for": sum(loop["kind"] == "domain" for loop in loops),
        r"ts\.guard": sum("guard" in s for s in every),
        r"ts\.when": sum("when" in s for s in every),
        r"ts\.skippable": sum("skippable" in s for s in every),
        r"ts\.next_tile": sum("op" in s and s["op"] == "wait" and s["res"] in queues for s in every),
        r"ts\.fetch_tile": sum("op" in s and s["op"] == "produce" and s["res"] in queues for s in every),
        r"ts\.griddep_wait|ts\.griddep_launch": sum("op" in s and s["res"] in pdl for s in every),
        r" registers\(": sum(t.get("registers") is not None for t in data["tasks"]),
        r" only_cta\(": sum("run_only_on_cta_id" in t for t in data["tasks"]),
        r" aux ": sum(s.get("aux", False) for s in ops),
        r"\{use_names = ": sum(
            any(isinstance(v, str) and v.startswith("$") for v in s.get("uses", {}).values()) for s in ops),
    }
    for op in ("try_acquire", "acquire", "commit", "try_wait", "wait", "release", "produce", "consume"):
        ours = sum(s["op"] == op for s in ops)
        if op in ("try_acquire", "acquire", "commit"):
            ours += sum("op" in s and s["op"] == op and s["res"] in queues for s in every)
        wanted[rf"ts\.{op} "] = ours
    for label in {s["label"] for s in ops if "label" in s}:
        wanted[rf'"{label}"[ :]'] = sum(s.get("label") == label for s in ops)
    for field in ("num_bytes", "producer_count", "consumer_count"):
        wanted[rf"\b{field} = "] = sum(isinstance(r.get("pipeline", {}).get(field), int) for r in resources)
    for field, key in (("interleave", "interleave"), ("mcast", "mcast_mode_mn"), ("cta_layout", "cta_layout_vmnk"),
                       ("bytes_per_warp_per_cta", "num_bytes_per_warp_per_cta"), ("advance_on_wait", "advance_on_wait"),
                       ("advance_on_acquire", "advance_on_acquire")):
        wanted[rf"[(,] {field}(?: = \(| = \d|[,)])"] = sum(bool(r.get("pipeline", {}).get(key)) for r in resources)
    wanted[r"producer_op = load"] = sum(r.get("pipeline", {}).get("producer_arrive") == "AsyncLoad" for r in resources)
    for pattern, number in wanted.items():
        have = count(pattern, text)
        grown = fragment or pattern.startswith((r"ts\.resource", r"\""))
        if have < number or (have > number and not grown):
            fail(f"{have} x {pattern}, the file has {number}")
    for resource in resources:
        stages = resource.get("pipeline", {}).get("stages", 1)
        for alloc in resource.get("smem", []):
            if f"{alloc['alloc']}: memref<{alloc['bytes'] // stages}xi8, #ts.smem> align {alloc['align']}" not in text:
                fail(f"allocation {alloc} of '{resource['name']}' in {stages} stages is not in the text")
        for alloc in resource.get("tmem", []):
            if f"{alloc['alloc']}: memref<128x{alloc['columns'] // stages}xi32, #ts.tmem>" not in text:
                fail(f"allocation {alloc} of '{resource['name']}' in {stages} stages is not in the text")

if failures:
    sys.exit("\n".join(failures))
print(f"{len(files)} files, {totals[0]} resources, {totals[1]} pipelines, {totals[2]} tasks")
