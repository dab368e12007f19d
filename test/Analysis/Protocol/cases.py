# RUN: %python %s %ts_bin/ts-protocol-test %ts_src/test/cases/schedules
"""Every pipeline of the collected schedules declares its counts and bytes: inference must agree.

The declared numbers are not shown to the inference; they are compared afterwards, and a second run
with them must have no findings. Roles that a fragment (9x) leaves out are played by a minimal
partner. What cannot be inferred at all (a symbolic byte count) is listed and limited in number.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import collections
import glob
import os
import subprocess
import sys

try:
    import yaml
except ImportError:
    sys.exit("PyYAML is missing: scripts/test installs it into .venv")

TYPES = {
    "AsyncAsync": "async_async",
    "TmaAsync": "tma_async",
    "TmaUmma": "tma_umma",
    "UmmaAsync": "umma_async",
    "AsyncUmma": "async_umma",
    "UmmaUmma": "umma_umma",
    "ClcFetchAsync": "clc_fetch_async",
}
MODES = {"Merge": "merge", "Fork": "fork", "FusedMerge": "fused_merge"}
SIGNALS = {"All": "all", "CtaLeader": "cta_leader", "TaskWarpLeader": "task_warp_leader"}
ROLES = ("acquire", "commit", "wait", "release")


def signal(text):
    return "|".join(SIGNALS[word.strip()] for word in text.split("|"))


def operations(items, loop=None):
    """(op, innermost domain loop around it) of a schedule, in order."""
    for item in items or []:
        if "op" in item:
            yield item, loop
        if "loop" in item:
            inner = item["loop"]
            bounds = inner.get("bounds") if inner.get("kind") == "domain" else loop
            yield from operations(inner.get("body"), bounds or loop)
        if "when" in item or "guard" in item:
            yield from operations(item.get("body"), loop)
        if isinstance(item.get("skippable"), list):
            yield from operations(item["skippable"], loop)


def roles_of(document):
    """resource -> op -> task -> words of one `task` line."""
    uses = collections.defaultdict(lambda: collections.defaultdict(dict))
    for task in document.get("tasks", []):
        for item, loop in operations(task["schedule"]):
            if item["op"] not in ROLES:
                continue
            words = f"warps={task['warps'][1]}"
            if task.get("run_only_on_cta_id") is not None:
                words += f" cta={task['run_only_on_cta_id']}"
            if loop and isinstance(loop[0], int) and isinstance(loop[2], int):
                words += f" start={loop[0]} step={loop[2]}"
            uses[item["res"]][item["op"]].setdefault(task["name"], words)
    return uses


def partner(kind, op):
    """Warps of the smallest task that can play a missing role: tcgen05.ld needs a warpgroup."""
    return 4 if kind == "UmmaAsync" and op in ("wait", "release") else 1


def lines_of(document, with_counts, off_by=0):
    cluster = document.get("cluster") or {}
    layout = cluster.get("layout_vmnk")
    yield "cluster " + " ".join(map(str, cluster.get("shape", [1, 1, 1]))) + (
        " layout=" + ",".join(map(str, layout)) if layout else ""
    )
    uses = roles_of(document)
    groups = document.get("groups") or []
    member_of = {member: group for group in groups for member in group["members"]}
    for resource in document["resources"]:
        pipe = resource.get("pipeline")
        if not pipe:
            continue
        words = ["pipeline", resource["name"], TYPES[pipe["type"]], f"stages={pipe['stages']}"]
        staged = sum(alloc["bytes"] for alloc in resource.get("smem") or [])
        if staged:
            words.append(f"stage_bytes={staged // pipe['stages']}")
        declared = {"bytes": "num_bytes", "producers": "producer_count", "consumers": "consumer_count"}
        if with_counts:
            for word, key in declared.items():
                if isinstance(pipe.get(key), int):
                    words.append(f"{word}={pipe[key] + (off_by if word != 'bytes' else 0)}")
        for side, text in (pipe.get("signalling") or {}).items():
            words.append(f"{side}={signal(text)}")
        words += [flag for flag in ("advance_on_wait", "advance_on_acquire") if pipe.get(flag)]
        if pipe.get("producer_arrive") == "AsyncLoad":
            words.append("async_load")
        lists = {"interleave": "interleave", "mcast_mode_mn": "mcast", "cta_layout_vmnk": "layout"}
        for key, word in lists.items():
            if pipe.get(key):
                words.append(f"{word}=" + ",".join(map(str, pipe[key])))
        if pipe.get("num_bytes_per_warp_per_cta"):
            words.append(f"bytes_per_warp_per_cta={pipe['num_bytes_per_warp_per_cta']}")
        yield " ".join(words)
    for group in groups:
        yield f"group {group['name']} {MODES[group['mode']]} " + " ".join(group["members"])
        for op in ROLES:
            for task, words in uses[group["name"]][op].items():
                yield f"task {op} {group['name']} {task} {words}"
    for resource in document["resources"]:
        pipe = resource.get("pipeline")
        if not pipe:
            continue
        group = member_of.get(resource["name"], {}).get("name")
        for op in ROLES:
            tasks = uses[resource["name"]][op]
            if not tasks and not (group and uses[group][op]):
                collapsed = "commit" if group and member_of[resource["name"]]["mode"] == "Fork" else "release"
                if not (group and op == collapsed):
                    assert document["kernel"].startswith("docs_"), (document["kernel"], resource, op)
                    tasks = {"partner": f"warps={partner(pipe['type'], op)}"}
            for task, words in tasks.items():
                yield f"task {op} {resource['name']} {task} {words}"


def ask(tool, document, what, *options):
    text = "\n".join(lines_of(document, *options)) + f"\nprint {what}\n"
    run = subprocess.run([tool, "-"], input=text, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{document['kernel']}: {run.stderr}\n{text}")
    return run.stdout


def main(tool, folder):
    pipelines = compared = wrong = 0
    unknown = []
    files = sorted(glob.glob(os.path.join(folder, "*.yaml")))
    for path in files:
        with open(path, encoding="utf-8") as stream:
            document = yaml.safe_load(stream)
        inferred = collections.defaultdict(list)
        for line in ask(tool, document, "counts", False).splitlines():
            head = line.split(" | ")[0]
            resource, what, value = head.split()
            inferred[resource, what.replace("-or", "")].append(None if value == "?" else int(value))
        for resource in document["resources"]:
            pipe = resource.get("pipeline")
            if not pipe:
                continue
            pipelines += 1
            for key, what in (("producer_count", "full"), ("consumer_count", "empty"), ("num_bytes", "bytes")):
                declared, found = pipe.get(key), inferred[resource["name"], what]
                where = f"{os.path.basename(path)}: {resource['name']}: {key}"
                if declared is None:
                    continue
                if not isinstance(declared, int) or found == [None]:
                    unknown.append(f"{where} declared {declared}, inferred {found}")
                    continue
                compared += 1
                if declared not in found:
                    wrong += 1
                    print(f"{where} declared {declared}, inferred {found}")
        findings = ask(tool, document, "findings", True)
        if findings:
            wrong += 1
            print(f"{os.path.basename(path)}: findings on a shipped kernel:\n{findings}")
        # The test of the test: with every count one too high, every count is reported.
        counts = sum("pipeline" in r for r in document["resources"]) * 2
        reported = ask(tool, document, "findings", True, 1).count("TS215")
        if reported != counts:
            wrong += 1
            print(f"{os.path.basename(path)}: {counts} wrong counts, but {reported} reported")
    for line in unknown:
        print("cannot be inferred:", line)
    print(f"{len(files)} files, {pipelines} pipelines, {compared} declared numbers compared, {wrong} wrong")
    # Only the symbolic `tile_bytes` of a documentation snippet has no number.
    return wrong or not pipelines or len(unknown) > 1


sys.exit(bool(main(*sys.argv[1:3])))
