"""Rewrites that keep a program right: each of them has to be accepted."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re

from breaking import each, ring
from program import Node

REWRITES = []


def rewrite(name):
    def register(function):
        REWRITES.append((name, function))
        return function

    return register


@rewrite("one stage less or more")
def stages(base):
    for label, copy, place in each(base, "ts.resource", keep=lambda p: "pipeline(" in p.node.head):
        # Stages of a group agree, places that are pinned have no room, lanes divide them.
        if copy.places("ts.pipeline_group", "ts.alias_group"):
            continue
        # Several stages held need them all.
        if re.search(r"interleave| at |barriers\(|advance_on", place.node.head):
            continue
        stages = int(re.search(r"stages = (\d+)", place.node.head).group(1))
        if stages >= 3:
            place.node.head = place.node.head.replace(f"stages = {stages}", f"stages = {stages - 1}", 1)
            yield label, copy
        elif " smem(" not in place.node.head and " tmem(" not in place.node.head:
            place.node.head = place.node.head.replace(f"stages = {stages}", f"stages = {stages + 1}", 1)
            yield label, copy


@rewrite("rename a resource")
def rename_resource(base):
    for label, copy, place in each(base, "ts.resource"):
        place.node.head = re.sub(r'ts\.resource "[^"]*"', 'ts.resource "renamed"', place.node.head, count=1)
        yield label, copy


@rewrite("rename a task")
def rename_task(base):
    for label, copy, place in each(base, "ts.task"):
        place.node.head = re.sub(r'ts\.task "[^"]*"', 'ts.task "renamed"', place.node.head, count=1)
        yield label, copy


@rewrite("swap neighbouring declarations")
def swap_declarations(base):
    for label, copy, place in each(base, "ts.resource"):
        after = place.index + 1
        if after < len(place.siblings) and place.siblings[after].op in ("ts.resource", "ts.pdl"):
            first = place.node.head.split("=")[0].strip()
            if first + " " not in place.siblings[after].head and first + ")" not in place.siblings[after].head:
                place.siblings[place.index], place.siblings[after] = place.siblings[after], place.siblings[place.index]
                yield label, copy


@rewrite("swap the order of tasks")
def swap_tasks(base):
    for label, copy, place in each(base, "ts.task"):
        after = place.index + 1
        if after < len(place.siblings) and place.siblings[after].op == "ts.task":
            place.siblings[place.index], place.siblings[after] = place.siblings[after], place.siblings[place.index]
            yield label, copy


def add_try(base, op):
    for label, copy, place in each(base, "ts." + op, keep=ring):
        before = place.siblings[place.index - 1] if place.index else None
        probed = any(p.node.op == "ts.try_" + op and p.node.operand == place.node.operand for p in base.walk())
        if not probed and (before is None or before.op != "ts.try_" + op):
            place.insert(0, f"ts.try_{op} {place.node.operand}")
            yield label, copy


@rewrite("a try before an acquire")
def try_acquire(base):
    yield from add_try(base, "acquire")


@rewrite("a try before a wait")
def try_wait(base):
    yield from add_try(base, "wait")


@rewrite("drop a try")
def drop_try(base):
    for label, copy, place in each(base, "ts.try_acquire", "ts.try_wait", keep=lambda p: not p.guarded()):
        place.remove()
        yield label, copy


def covering(base, op, guards):
    for label, copy, place in each(base, "ts." + op, keep=lambda p: ring(p) and p.loops() and not p.guarded()):
        parts = []
        for kind in guards:
            guard = Node(f"{place.indent}ts.guard {kind} {{")
            guard.regions, guard.end = [[Node(place.node.head)]], place.indent + "}"
            parts.append(guard)
        place.siblings[place.index : place.index + 1] = parts
        yield label, copy


@rewrite("guards first and not_first that cover all")
def cover_release(base):
    yield from covering(base, "release", ("first", "not_first"))


@rewrite("guards not_last and last that cover all")
def cover_wait(base):
    yield from covering(base, "acquire", ("not_last", "last"))


@rewrite("auxiliary work")
def auxiliary(base):
    for label, copy, place in each(base, "ts.commit", "ts.release", keep=ring):
        kind = "produce" if place.node.op == "ts.commit" else "consume"
        node = Node(f'{place.indent}ts.{kind} {place.node.operand} "mutant" aux {{')
        node.regions, node.end = [[]], place.indent + "}"
        place.siblings.insert(place.index + 1, node)
        yield label, copy


@rewrite("arithmetic nobody uses")
def arithmetic(base):
    for label, copy, place in each(base, "ts.acquire", "ts.wait"):
        place.insert(0, "%mutant = arith.constant 5 : index")
        yield label, copy


@rewrite("a larger smallest count")
def minimum(base):
    kernel = base.kernel().head
    for match in re.finditer(r"(%\w+): index(?= = |,|\))", kernel):
        copy = base.edit()
        node = copy.kernel()
        end, depth = match.end(), 0  # of the argument and its expression
        while depth or kernel[end] not in ",)":
            depth += {"(": 1, ")": -1}.get(kernel[end], 0)
            end += 1
        if node.head == kernel and not re.search(r"min \d+$", kernel[:end]):
            node.head = kernel[:end] + " min 1" + kernel[end:]
            yield match.group(1), copy


@rewrite("the engine commits unwritten")
def engine_commits(base):
    for node in base.kernel().regions[0]:
        name = node.head.split("=")[0].strip()
        if node.op != "ts.resource" or not re.search(r"pipeline\(tma_", node.head) or base.places("ts.pipeline_group"):
            continue
        copy = base.edit()
        commits = [p for p in copy.places("ts.commit") if p.node.operand == name]
        if not commits or any(p.guarded() for p in commits):
            continue
        for place in reversed(commits):
            place.remove()
        yield name, copy
