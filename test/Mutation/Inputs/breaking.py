"""Operators that break a program, each with the kinds of fault that the verifier has to name.

An operator is a generator over one base: it yields (what was done, broken program). Where an edit may
leave a program that is still right (a stage more or less, a wait that another one implies), the
operator does not make it.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re

from program import Node

OPERATORS = []
TMA = ("tma_async", "tma_umma", "clc_fetch_async", "queue")


def operator(name, *expected):
    def register(function):
        OPERATORS.append((name, {"TS" + str(number) for number in expected}, function))
        return function

    return register


def each(base, *ops, keep=lambda place: True):
    """(index, label, copy, the same place in the copy) for every place of the base that is kept."""
    for index, place in enumerate(base.places(*ops)):
        if not keep(place):
            continue
        copy = base.edit()
        task = place.task()
        name = re.search(r'"([^"]*)"', task.head).group(1) if task else "kernel"
        yield f"{place.node.head.strip()[:40]} in {name}", copy, copy.places(*ops)[index]


def ring(place):
    return place.pipeline() not in ("", "queue")


def alone(place):
    """The only step of its kind on its resource in its task."""
    same = [
        other
        for other in place.program.places(place.node.op)
        if other.node.operand == place.node.operand and other.task() is place.task()
    ]
    return len(same) == 1


def flags(place):
    declaration = place.program.declaration(place.node.operand)
    return declaration.head if declaration is not None else ""


def brackets_work(place):
    """Work on the resource stands in the same list, so the bracket matters to it."""
    kind = "ts.produce" if place.node.op in ("ts.acquire", "ts.commit") else "ts.consume"
    return any(n.op == kind and n.operand == place.node.operand and " aux" not in n.head for n in place.siblings)


#--- Steps left out ------------------------------------------------------------------------------


# With lanes, that one of them is left without the role is TS221.
@operator("drop a release", 104, 105, 221, 301)
def drop_release(base):
    for label, copy, place in each(
        base, "ts.release", keep=lambda p: ring(p) and alone(p) and "advance_on_wait" not in flags(p) and p.loops()
    ):
        place.remove()
        yield label, copy


@operator("drop a commit", 104, 105, 221, 301)
def drop_commit(base):
    # A copy engine commits by itself, and writing it nowhere is legal.
    for label, copy, place in each(
        base, "ts.commit", keep=lambda p: ring(p) and p.pipeline() not in TMA and alone(p) and p.loops()
    ):
        place.remove()
        yield label, copy


@operator("drop a wait", 105)
def drop_wait(base):
    for label, copy, place in each(base, "ts.wait", keep=lambda p: ring(p) and alone(p) and brackets_work(p)):
        place.remove()
        yield label, copy


@operator("drop an acquire", 105)
def drop_acquire(base):
    for label, copy, place in each(base, "ts.acquire", keep=lambda p: ring(p) and alone(p) and brackets_work(p)):
        place.remove()
        yield label, copy


@operator("drop one of several copies", 217)
def drop_copy(base):
    for label, copy, place in each(base, "ts.tma_load"):
        work = place.path[-1]
        declaration = copy.declaration(work.operand)
        if work.op != "ts.produce" or declaration is None or "num_bytes" in declaration.head:
            continue
        sizes = []
        for node in work.regions[0]:
            if node.op == "ts.tma_load":
                box = re.search(r"tensor_map<[\dx?]*x(\w+), box = ([\dx]+)", node.head)
                bits = int(re.search(r"\d+", box.group(1)).group())
                for extent in box.group(2).split("x"):
                    bits *= int(extent)
                sizes.append(bits // 8)
        if len(sizes) > 1 and "cluster(" not in copy.kernel().head:
            declaration.head = re.sub(r"(stages = \d+)", rf"\1, num_bytes = {sum(sizes)}", declaration.head)
            place.remove()
            yield label, copy


@operator("drop the only copy", 217)
def drop_only_copy(base):
    for label, copy, place in each(base, "ts.tma_load"):
        work = place.path[-1]
        if work.op == "ts.produce" and sum(n.op == "ts.tma_load" for n in work.regions[0]) == 1:
            place.remove()
            yield label, copy


@operator("skip next_tile in one task", 106)
def skip_next_tile(base):
    for label, copy, place in each(base, "ts.next_tile"):
        place.remove()
        yield label, copy


@operator("next_tile twice", 106)
def next_tile_twice(base):
    for label, copy, place in each(base, "ts.next_tile"):
        place.insert(1, place.node.head.strip())
        yield label, copy


@operator("drop bulk_wait", 302)
def drop_bulk_wait(base):
    for label, copy, place in each(base, "ts.bulk_wait"):
        # One of several waits of a tile may be implied by the next one: then all go.
        if len([p for p in base.places("ts.bulk_wait") if p.loop() is place.loop()]) == 1 and place.loops():
            place.remove()
            yield label, copy
    waits = base.places("ts.bulk_wait")
    if len(waits) > 1:
        copy = base.edit()
        for place in reversed(copy.places("ts.bulk_wait")):
            place.remove()
        yield "all of them", copy


@operator("drop a dependency", 103)
def drop_depends(base):
    for label, copy, place in each(base, "ts.depends", keep=lambda p: " ordering" not in p.node.head):
        names = set(re.findall(r"%\w+", place.node.head))
        place.remove()
        rest = {name for p in copy.places("ts.depends") for name in re.findall(r"%\w+", p.node.head)}
        # What has neither memory nor barriers is a label.
        flow = {
            n.head.split("=")[0].strip()
            for n in copy.kernel().regions[0]
            if n.op == "ts.resource" and not n.head.rstrip().endswith(" barrier")
        }
        used = {name for task in copy.tasks() for name in re.findall(r"%\w+", task.head)} & flow
        # An edge may be left out as long as both of its ends have another one.
        if (names - rest) & used:
            yield label, copy


@operator("drop the grid's wait", 104, 114, 306)
def drop_griddep_wait(base):
    for label, copy, place in each(base, "ts.griddep_wait"):
        place.remove()
        yield label, copy


#--- Steps in another order ----------------------------------------------------------------------


@operator("swap commit and work", 105)
def swap_commit_work(base):
    # With several stages open, the work may belong to another one.
    for label, copy, place in each(
        base,
        "ts.commit",
        keep=lambda p: ring(p) and p.pipeline() not in TMA and "advance_on_acquire" not in flags(p),
    ):
        work = [
            i
            for i, n in enumerate(place.siblings[: place.index])
            if n.op == "ts.produce" and n.operand == place.node.operand and " aux" not in n.head
        ]
        if work:
            commit = place.siblings.pop(place.index)
            place.siblings.insert(work[-1], commit)
            yield label, copy


@operator("read before the wait", 105)
def read_before_wait(base):
    for label, copy, place in each(base, "ts.wait", keep=ring):
        at = place.next("ts.consume", operand=place.node.operand)
        if at is not None and " aux" not in place.siblings[at].head and alone(place):
            wait = place.siblings.pop(place.index)
            place.siblings.insert(at, wait)
            yield label, copy


@operator("write before the acquire", 105)
def write_before_acquire(base):
    for label, copy, place in each(base, "ts.acquire", keep=ring):
        at = place.next("ts.produce", operand=place.node.operand)
        if at is not None and " aux" not in place.siblings[at].head and alone(place):
            acquire = place.siblings.pop(place.index)
            place.siblings.insert(at, acquire)
            yield label, copy


@operator("move a release before the use", 105, 107)
def release_before_use(base):
    for label, copy, place in each(base, "ts.release", keep=lambda p: ring(p) and alone(p)):
        waits = [
            i
            for i, n in enumerate(place.siblings[: place.index])
            if n.op == "ts.wait" and n.operand == place.node.operand
        ]
        between = place.siblings[waits[-1] + 1 : place.index] if waits else []
        if any(n.op == "ts.consume" and n.operand == place.node.operand and " aux" not in n.head for n in between):
            release = place.siblings.pop(place.index)
            place.siblings.insert(waits[-1] + 1, release)
            yield label, copy


@operator("move a wait out of its loop", 105)
def wait_out_of_loop(base):
    for label, copy, place in each(base, "ts.wait", keep=lambda p: ring(p) and alone(p) and not p.guarded()):
        loop = place.loop()
        if loop is None or loop.op != "ts.for":
            continue
        outer = place.path[-2].regions[0] if len(place.path) > 1 else None
        if outer is None or loop not in outer or place.siblings is not loop.regions[0]:
            continue
        wait = place.siblings.pop(place.index)
        outer.insert(outer.index(loop), wait)
        yield label, copy


@operator("release twice", 105, 107)
def release_twice(base):
    for label, copy, place in each(base, "ts.release", keep=ring):
        place.insert(1, place.node.head.strip())
        yield label, copy


@operator("commit twice", 105)
def commit_twice(base):
    for label, copy, place in each(base, "ts.commit", keep=ring):
        place.insert(1, place.node.head.strip())
        yield label, copy


@operator("wait for the MMA one group deeper", 302)
def deeper_wgmma_wait(base):
    for label, copy, place in each(base, "ts.wgmma_wait", keep=lambda p: p.loops() and p.loop().op == "ts.for"):
        place.node.head = re.sub(r"wgmma_wait (\d+)", lambda m: f"wgmma_wait {int(m.group(1)) + 1}", place.node.head)
        if "!ts.fragment" not in place.node.head.split("->")[-1]:
            yield label, copy


@operator("wait for the store one group deeper", 302)
def deeper_bulk_wait(base):
    copy = base.edit()
    places = copy.places("ts.bulk_wait")
    for place in places:
        place.node.head = re.sub(r"bulk_wait (\d+)", lambda m: f"bulk_wait {int(m.group(1)) + 1}", place.node.head)
    if places and all(place.loops() for place in places):
        yield "all of them", copy


#--- Numbers -------------------------------------------------------------------------------------


@operator("shrink num_bytes", 216, 217)
def shrink_bytes(base):
    for label, copy, place in each(
        base, "ts.resource", keep=lambda p: "pipeline(tma_" in p.node.head and grounded(base, p.node)
    ):
        head = place.node.head
        if "num_bytes" in head:
            head = re.sub(r"num_bytes = (\d+)", lambda m: f"num_bytes = {max(16, int(m.group(1)) // 2)}", head)
        else:
            head = re.sub(r"(stages = \d+)", r"\1, num_bytes = 16", head)
        place.node.head = head
        yield label, copy


def grounded(program, declaration):
    """Work with a body or with its bytes: without, there is nothing to compare a number with."""
    name = declaration.head.split("=")[0].strip()
    return any(
        place.node.operand == name and (place.node.regions or " bytes(" in place.node.head)
        for place in program.places("ts.produce")
    )


@operator("change an arrival count", 215)
def change_count(base):
    for label, copy, place in each(base, "ts.resource", keep=lambda p: "pipeline(" in p.node.head):
        if any(place.node.head.split("=")[0].strip() + "," in g.node.head.replace(")", ",") for g in
               copy.places("ts.pipeline_group")):
            continue
        for side in ("producer_count", "consumer_count"):
            other = copy.edit()
            node = other.declaration(place.node.head.split("=")[0].strip())
            if side in node.head:
                node.head = re.sub(side + r" = \d+", f"{side} = 77", node.head)
            else:
                node.head = re.sub(r"(stages = \d+)", rf"\1, {side} = 77", node.head)
            yield f"{side} of {label}", other


@operator("take a stage that is held", 105)
def take_stage(base):
    # A task that keeps one step's operands while it waits for the next needs two stages.
    for label, copy, place in each(base, "ts.resource", keep=lambda p: "advance_on_wait" in p.node.head):
        name = place.node.head.split("=")[0].strip()
        held = any(
            p.node.op == "ts.release" and p.node.operand == name and any("guard not_first" in n.head for n in p.path)
            for p in base.places("ts.release")
        )
        if held and re.search(r"stages = [2-9]", place.node.head):
            place.node.head = re.sub(r"stages = \d+", "stages = 1", place.node.head)
            yield label, copy


# With lanes, a loop that starts elsewhere is another lane (TS221).
@operator("one trip less in one task", 105, 221, 301, 302, 305, 307)
def one_trip_less(base):
    for label, copy, place in each(base, "ts.for"):
        used = any(
            p.node.op in ("ts.acquire", "ts.wait")
            and p.loop() is place.node
            and not p.guarded()
            and ring(p)
            for p in copy.walk()
        ) and one_sided(copy, place)
        match = re.search(r"= (%\S+) to (%[\w]+)", place.node.head)
        if used and match.group(1) == "%c0" and match.group(2) not in ("%c1", "%c2") and "guard" not in str(
            [p.node.head for p in copy.walk(place.node.regions[0])]
        ):
            kernel = copy.kernel().regions[0]
            if not any(n.head.strip().startswith("%c1 =") for n in kernel):
                kernel.insert(0, Node("      %c1 = arith.constant 1 : index"))
            place.node.head = place.node.head.replace("= %c0 to", "= %c1 to", 1)
            yield label, copy


def one_sided(program, place):
    """No ring has both of its sides in this loop, so a change of the loop is a change of the balance."""
    steps = list(program.walk(place.node.regions[0], place.path + (place.node,)))
    sides = [{p.node.operand for p in steps if p.node.op == op} for op in ("ts.acquire", "ts.wait")]
    return not sides[0] & sides[1]


#--- Declarations --------------------------------------------------------------------------------


@operator("alias two live buffers", 302)
def alias_live(base):
    live = []
    for node in base.kernel().regions[0]:
        if node.op == "ts.resource" and " smem(" in node.head and "pipeline(" in node.head and " at " not in node.head:
            name = node.head.split("=")[0].strip()
            sides = [
                {p.task() and p.task().head for p in base.places(op) if p.node.operand == name and accesses(p.node)}
                for op in ("ts.produce", "ts.consume")
            ]
            if all(sides) and not base.places("ts.alias_group"):
                live.append(name)
    for first, second in zip(live, live[1:]):
        copy = base.edit()
        kernel = copy.kernel().regions[0]
        at = next(i for i, n in enumerate(kernel) if n.op in ("ts.depends", "ts.task"))
        kernel.insert(at, Node(f'      ts.alias_group "mutant" ({first}, {second}) phases [1, 1]'))
        yield f"{first} and {second}", copy


def accesses(node):
    return " aux" not in node.head and (" declared" in node.head or node.regions)


@operator("use a resource that is not declared on the task", 102, 103)
def undeclared_use(base):
    for label, copy, place in each(base, "ts.task"):
        match = re.search(r" writes\((%[^)]*)\)", place.node.head)
        names = match.group(1).split(", ") if match else []
        for name in names:
            if any(p.node.op == "ts.acquire" and p.node.operand == name for p in base.walk()
                   if p.task() and p.task().head == place.node.head):
                rest = [n for n in names if n != name]
                clause = f" writes({', '.join(rest)})" if rest else ""
                place.node.head = place.node.head.replace(match.group(0), clause)
                yield label, copy
                break


@operator("put two tasks on one warp", 224, 225)
def overlap_warps(base):
    tasks = base.tasks()
    ranges = [re.search(r"warps\((\d+), (\d+)\)", task.head) for task in tasks]
    if any("only_cta" in task.head for task in tasks):
        return
    for index in range(1, len(tasks)):
        copy = base.edit()
        node = copy.tasks()[index]
        node.head = re.sub(r"warps\(\d+", f"warps({ranges[0].group(1)}", node.head)
        yield f"task {index} on the warps of task 0", copy


@operator("a warp more or less in a named barrier's count", 229)
def named_count(base):
    for change in (32, -32):
        for label, copy, place in each(base, "ts.named_barrier"):
            count = int(re.search(r"threads\((\d+)\)", place.node.head).group(1)) + change
            place.node.head = re.sub(r"threads\(\d+\)", f"threads({count})", place.node.head)
            yield f"{count} in {label}", copy


@operator("a guard at the other end", 105, 301, 302)
def other_guard(base):
    opposite = {"first": "last", "last": "first", "not_first": "not_last", "not_last": "not_first"}
    for label, copy, place in each(base, "ts.guard"):
        match = re.search(r"ts\.guard (\w+)", place.node.head)
        steps = [p for p in copy.walk(place.node.regions[0], place.path) if p.node.op in ("ts.release", "ts.wait")]
        if match.group(1) in opposite and any(alone_outside(p) for p in steps):
            place.node.head = place.node.head.replace(match.group(0), "ts.guard " + opposite[match.group(1)])
            yield label, copy


def alone_outside(place):
    """Work reads the same resource in the loop, outside of the guard."""
    loop = place.loop()
    return ring(place) and loop is not None and any(
        n.op == "ts.consume" and n.operand == place.node.operand and accesses(n) for n in loop.regions[0]
    )


@operator("tell no peer of a multicast", 302, 303)
def no_peer(base):
    for label, copy, place in each(base, "ts.resource"):
        name = place.node.head.split("=")[0].strip()
        multicast = any(
            p.node.op == "ts.tma_load" and " multicast(" in p.node.head and p.path[-1].operand == name
            for p in base.walk()
        )
        if multicast and "pipeline(" in place.node.head and "mcast" not in place.node.head:
            head = re.sub(r", (producer|consumer)_count = \d+", "", place.node.head)
            place.node.head = re.sub(r"(stages = \d+)", r"\1, mcast = (0, 0)", head)
            yield label, copy


@operator("a condition of one task's own", 105, 301, 302, 305, 307)
def own_condition(base):
    for label, copy, place in each(base, "ts.for", keep=lambda p: not p.guarded()):
        if "iter(" in place.node.head or not one_sided(copy, place) or not any(
            p.node.op in ("ts.acquire", "ts.wait") and ring(p) for p in base.walk(place.node.regions[0], place.path)
        ):
            continue
        kernel = copy.kernel()
        kernel.head = re.sub(
            r"\(([^()]*(?:\([^()]*\)[^()]*)*)\) warps",
            lambda m: "(" + (m.group(1) + ", " if m.group(1) else "") + "%mutant: i1) warps",
            kernel.head,
            count=1,
        )
        if "%mutant" not in kernel.head:
            continue
        when = Node(place.indent + "ts.when %mutant is true {")
        when.regions, when.end = [[place.node]], place.indent + "}"
        place.siblings[place.index] = when
        yield label, copy
