# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""YAML to the model: every key, type and name is looked at, and what is not known is an error with its
place. Only spelling and references are checked here; whether the schedule is right is ts-verify's."""
from __future__ import annotations

import difflib
import re

from .model import (FILE, REFERENCE, SCHEMA, Alloc, AliasGroup, Depends, Group, Guard, ImportFailure, Loop,
                    Op, Pipeline, Pos, Resource, Schedule, Skippable, Step, Task, When, walk)

PIPELINE_TYPES = ("AsyncAsync", "TmaAsync", "TmaUmma", "UmmaAsync", "AsyncUmma", "UmmaUmma", "ClcFetchAsync")
SPACES = ("gmem", "smem", "tmem", "none", "smem+tmem", "gmem+smem_scratch", "barrier_only", "work_queue",
          "pdl_wait", "pdl_launch")
SIGNALS = ("All", "CtaLeader", "TaskWarpLeader")
STEPS = ("try_acquire", "acquire", "commit", "try_wait", "wait", "release")
WORK = ("produce", "consume")
MAX_DEPTH = 64
# How the original was built: nothing to say in a program.
IGNORED = ("kernel", "source", "config", "provenance", "notes", "note", "assumed", "manager_options",
           "custom_task_subclass", "entries", "outside_framework", "manual_memory", "grid",
           "layout_vmnk_declared", "barriers")


def hint(word: str, known) -> str:
    near = difflib.get_close_matches(word, [str(k) for k in known], n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


class Node:
    """A YAML value with its place."""

    def __init__(self, value, pos: Pos, what: str):
        self.value, self.pos, self.what = value, pos, what

    def fail(self, text: str, check: str = SCHEMA):
        raise ImportFailure(check, self.pos, text)

    def found(self) -> str:
        value = self.value
        if isinstance(value, dict):
            return "a mapping"
        if isinstance(value, list):
            return "a list"
        return "nothing" if value is None else f"'{value}'"

    def fields(self, required: str, optional: str = "") -> "Node":
        """Checks that this is a mapping with these keys (and remarks)."""
        if not isinstance(self.value, dict):
            self.fail(f"expected a mapping for {self.what}, found {self.found()}")
        needed, allowed = required.split(), required.split() + optional.split()
        for key, node in self.value.items():
            if key not in allowed and key not in IGNORED:
                node.fail(f"unknown key '{key}' of {self.what}; expected one of {', '.join(allowed)}"
                          + hint(key, allowed))
        for key in needed:
            if key not in self.value:
                self.fail(f"{self.what} lacks the key '{key}'")
        return self

    def __contains__(self, key: str) -> bool:
        node = self.value.get(key)
        return node is not None and node.value is not None

    def __getitem__(self, key: str) -> "Node":
        return self.value[key]

    def get(self, key: str, read, otherwise=None):
        return read(self.value[key]) if key in self else otherwise

    def items(self) -> list["Node"]:
        if not isinstance(self.value, list):
            self.fail(f"expected a list for {self.what}, found {self.found()}")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value:
            self.fail(f"expected a name for {self.what}, found {self.found()}")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.fail(f"expected true or false for {self.what}, found {self.found()}")
        return self.value

    def number(self, least: int = 0) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.fail(f"expected a number for {self.what}, found {self.found()}")
        if not least <= self.value < 1 << 62:
            self.fail(f"{self.what} is {self.value}; expected at least {least}")
        return self.value

    def numbers(self, count: int, least: int = 1) -> list[int]:
        if len(self.items()) != count:
            self.fail(f"expected {count} numbers for {self.what}, found {len(self.value)}")
        return [item.number(least) for item in self.value]

    def word(self, words) -> str:
        text = self.text()
        if text not in words:
            self.fail(f"unknown {self.what} '{text}'; expected one of {', '.join(words)}" + hint(text, words))
        return text

    def texts(self) -> list[str]:
        return [item.text() for item in self.items()]


def load(path: str, text: str) -> Node:
    import yaml

    def place(mark) -> Pos:
        return Pos(path, mark.line + 1, mark.column + 1)

    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            raise ImportFailure(FILE, Pos(path), "the file is empty")

        active: set[int] = set()

        def convert(node, what: str, depth: int) -> Node:
            pos = place(node.start_mark)
            if depth > MAX_DEPTH:
                raise ImportFailure(SCHEMA, pos, f"more than {MAX_DEPTH} levels of nesting")
            if id(node) in active:
                raise ImportFailure(SCHEMA, pos, "an alias that contains itself")
            active.add(id(node))
            if isinstance(node, yaml.MappingNode):
                value = {}
                for key, item in node.value:
                    if not isinstance(key, yaml.ScalarNode):
                        raise ImportFailure(SCHEMA, place(key.start_mark), "a key is a single word")
                    if key.value in value:
                        raise ImportFailure(SCHEMA, place(key.start_mark), f"key '{key.value}' stands twice")
                    value[key.value] = convert(item, f"'{key.value}'", depth + 1)
                    value[key.value].pos = place(key.start_mark)
            elif isinstance(node, yaml.SequenceNode):
                value = [convert(item, f"an entry of {what}", depth + 1) for item in node.value]
            else:
                value = loader.construct_object(node)
            active.discard(id(node))
            return Node(value, pos, what)

        return convert(root, "the schedule", 0)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ImportFailure(FILE, place(mark) if mark else Pos(path), f"no YAML: {what}") from error
    except (ValueError, RecursionError) as error:
        raise ImportFailure(FILE, Pos(path), f"no YAML: {error}") from error
    finally:
        loader.dispose()


#--- Resources -----------------------------------------------------------------------------------


def signal_set(node: Node) -> list[str]:
    words = node.text().split("|")
    for word in words:
        if word not in SIGNALS:
            node.fail(f"unknown signalling '{word}'; expected {', '.join(SIGNALS)}, joined by |" + hint(word, SIGNALS))
    return words


def read_pipeline(node: Node) -> Pipeline:
    node.fields("type stages", "num_bytes producer_count consumer_count signalling advance_on_wait "
                "advance_on_acquire interleave mcast_mode_mn producer_arrive num_bytes_per_warp_per_cta "
                "cta_layout_vmnk")
    signalling = {}
    if "signalling" in node:
        node["signalling"].fields("", "producer consumer consumer_wait")
        signalling = {key: signal_set(value) for key, value in node["signalling"].value.items()
                      if key not in IGNORED}

    def size(n: Node):
        return n.text() if isinstance(n.value, str) else n.number()

    return Pipeline(
        type=node["type"].word(PIPELINE_TYPES), stages=node["stages"].number(1), pos=node.pos,
        num_bytes=node.get("num_bytes", size),
        producer_count=node.get("producer_count", Node.number),
        consumer_count=node.get("consumer_count", Node.number), signalling=signalling,
        advance_on_wait=node.get("advance_on_wait", Node.flag, False),
        advance_on_acquire=node.get("advance_on_acquire", Node.flag, False),
        interleave=node.get("interleave", lambda n: n.numbers(4)),
        mcast=node.get("mcast_mode_mn", lambda n: n.numbers(2, 0)),
        async_load=node.get("producer_arrive", lambda n: n.word(("AsyncThread", "AsyncLoad")), "") == "AsyncLoad",
        bytes_per_warp=node.get("num_bytes_per_warp_per_cta", Node.number),
        layout=node.get("cta_layout_vmnk", lambda n: n.numbers(4)))


def read_allocs(node: Node) -> list[Alloc]:
    result = []
    for key, size, tmem in (("smem", "bytes", False), ("tmem", "columns", True)):
        for entry in (node[key].items() if key in node else []):
            entry.what = f"an allocation of '{node['name'].value}'"
            entry.fields(f"alloc {size}", "align")
            result.append(Alloc(entry["alloc"].text(), entry[size].number(1),
                                entry.get("align", lambda n: n.number(1), 0), tmem, entry.pos))
    return result


def read_resource(node: Node) -> Resource:
    node.what = "a resource"
    node.fields("name space", "smem tmem pipeline scheduler is_barrier memory_declared_to_framework pipeline_group")
    result = Resource(
        name=node["name"].text(), space=node["space"].word(SPACES), pos=node.pos, allocs=read_allocs(node),
        pipeline=node.get("pipeline", read_pipeline),
        scheduler=node.get("scheduler", lambda n: n.word(("StaticPersistent", "ClcDynamicPersistent"))),
        is_barrier=node.get("is_barrier", Node.flag, False),
        memory_declared=node.get("memory_declared_to_framework", Node.flag, True),
        group=node.get("pipeline_group", Node.text))
    if result.queue != (result.scheduler is not None):
        node.fail(f"'{result.name}': a work_queue, and nothing else, has a scheduler")
    spaces = {alloc.tmem for alloc in result.allocs}
    legal = {"smem": {False}, "gmem+smem_scratch": {False}, "tmem": {True}, "smem+tmem": {False, True}}
    if not spaces <= legal.get(result.space, set()):
        kind = "tensor" if True in spaces - legal.get(result.space, set()) else "shared"
        node.fail(f"'{result.name}' is in space {result.space}, but has {kind} memory")
    return result


#--- Schedules -----------------------------------------------------------------------------------


def read_bound(node: Node):
    if isinstance(node.value, dict):
        node.fields("per_tile")
        return ("per_tile", node["per_tile"].text())
    if isinstance(node.value, str):
        return node.text()
    return node.number(-(1 << 62))


def read_loop(node: Node) -> Loop:
    node.what = "a loop"
    node.fields("kind body", "bounds queue skip_if unroll")
    kind = node["kind"].word(("domain", "work_tile"))
    loop = Loop(node.pos, kind, [], queue=node.get("queue", Node.text), skip_if=node.get("skip_if", Node.text),
                unroll=node.get("unroll", lambda n: n.number(1)))
    if kind == "domain":
        if "bounds" not in node:
            node.fail("a domain loop lacks the key 'bounds'")
        bounds = node["bounds"]
        if len(bounds.items()) != 3:
            bounds.fail(f"expected [start, end, step] for 'bounds', found {len(bounds.value)} entries")
        loop.bounds = [read_bound(item) for item in bounds.value]
    elif loop.queue is None:
        node.fail("a work_tile loop lacks the key 'queue'")
    for key in ("bounds", "unroll") if kind == "work_tile" else ("queue", "skip_if"):
        if key in node:
            node[key].fail(f"a {kind} loop has no '{key}'")
    loop.body = read_steps(node["body"])
    return loop


def read_guard(node: Node) -> Guard:
    guard = node["guard"]
    if isinstance(guard.value, dict):
        guard.fields("every")
        every = guard["every"].items()
        if not 1 <= len(every) <= 2:
            guard["every"].fail(f"expected [period, first] for 'every', found {len(every)} entries")
        if len(every) == 2 and every[1].number() != 0:
            guard.fail("a guard 'every n' starts at iteration 0 in ts text; the file asks for "
                       f"{every[1].value}; start the loop there, or use 'when' on a condition", "TS604")
        return Guard(node.pos, "every", every[0].number(1), read_steps(node["body"]))
    word = guard.word(("first_iter", "last_iter", "every"))
    if word == "every":
        guard.fail("a guard 'every' lacks its period: every: [n, 0]")
    return Guard(node.pos, word.removesuffix("_iter"), 1, read_steps(node["body"]))


def read_op(node: Node) -> Op:
    node.what = "a schedule op"
    node.fields("op res", "label aux uses returns via_group queue")
    op = Op(node.pos, node["op"].word(STEPS + WORK), node["res"].text(), label=node.get("label", Node.text),
            aux=node.get("aux", Node.flag, False), returns=node.get("returns", Node.texts, []),
            via_group=node.get("via_group", Node.text))
    if "queue" in node and node["queue"].text() != op.res:
        node["queue"].fail(f"queue '{node['queue'].value}' of an operation on '{op.res}'")
    if "uses" in node:
        uses = node["uses"]
        if not isinstance(uses.value, dict):
            uses.fail(f"expected a mapping for 'uses', found {uses.found()}")
        for key, item in uses.value.items():
            if item.value is None or isinstance(item.value, (list, dict)):
                item.fail(f"expected $resource.value or a constant for '{key}', found {item.found()}")
            op.uses[key] = item.value
    if op.op in WORK and not op.label:
        node.fail(f"a {op.op} op lacks the key 'label'")
    if op.op in STEPS:
        for key in ("label", "aux", "uses", "returns"):
            if key in node:
                node[key].fail(f"a {op.op} op has no '{key}'; only produce and consume do")
    if len(set(op.returns)) != len(op.returns):
        node["returns"].fail("a value is returned twice")
    return op


def read_steps(node: Node) -> list[Step]:
    result: list[Step] = []
    for item in node.items():
        if not isinstance(item.value, dict):
            item.fail(f"expected a schedule step, found {item.found()}")
        kinds = [key for key in ("op", "loop", "guard", "when", "skippable") if key in item.value]
        if len(kinds) != 1:
            item.fail("a schedule step is one of op, loop, guard, when or skippable, found "
                      + (" and ".join(kinds) or ", ".join(item.value) or "nothing"))
        kind = kinds[0]
        if kind == "op":
            result.append(read_op(item))
            continue
        item.what = f"a {kind} step"
        item.fields(kind + (" body" if kind in ("guard", "when") else ""))
        if kind == "loop":
            result.append(read_loop(item["loop"]))
        elif kind == "guard":
            result.append(read_guard(item))
        elif kind == "skippable":
            result.append(Skippable(item.pos, read_steps(item["skippable"])))
        else:
            when = item["when"].fields("cond is", "key")
            result.append(When(item.pos, when["cond"].text(), when["is"].flag(), when.get("key", Node.text),
                               read_steps(item["body"])))
    return result


def read_task(node: Node) -> Task:
    node.what = "a task"
    node.fields("name warps schedule", "registers src dst run_only_on_cta_id")
    if len(node["warps"].items()) != 2:
        node["warps"].fail(f"expected [first, count] for 'warps', found {len(node['warps'].value)} entries")
    first, count = node["warps"].value
    return Task(node["name"].text(), first.number(), count.number(1), node.pos,
                registers=node.get("registers", lambda n: n.number(1)),
                src=node.get("src", Node.texts, []), dst=node.get("dst", Node.texts, []),
                only_cta=node.get("run_only_on_cta_id", Node.number),
                schedule=read_steps(node["schedule"]))


#--- The whole -----------------------------------------------------------------------------------


def read(path: str, text: str) -> Schedule:
    root = load(path, text)
    root.fields("kernel resources tasks", "cluster groups alias_groups smem_extra depends "
                "dma_consumer_release_labels")
    schedule = Schedule(root["kernel"].text(), path, root.pos)
    if "cluster" in root:
        cluster = root["cluster"].fields("shape", "layout_vmnk cta_group")
        schedule.cluster = cluster["shape"].numbers(3)
        schedule.layout = cluster.get("layout_vmnk", lambda n: n.numbers(4))
        schedule.cta_group = cluster.get("cta_group", lambda n: n.number(1))
    schedule.resources = [read_resource(node) for node in root["resources"].items()]
    for node in root["smem_extra"].items() if "smem_extra" in root else []:
        node.what = "an entry of smem_extra"
        node.fields("alloc bytes", "align")
        schedule.extra.append(Alloc(node["alloc"].text(), node["bytes"].number(1),
                                    node.get("align", lambda n: n.number(1), 0), False, node.pos))
    for node in root["groups"].items() if "groups" in root else []:
        node.what = "a group"
        node.fields("name mode members")
        schedule.groups.append(Group(node["name"].text(), node["mode"].word(("Merge", "Fork", "FusedMerge")),
                                     node["members"].texts(), node.pos))
    for node in root["alias_groups"].items() if "alias_groups" in root else []:
        schedule.alias_groups.append(read_alias_group(node))
    for node in root["depends"].items() if "depends" in root else []:
        node.what = "a dependency"
        node.fields("downstream", "upstream")
        schedule.depends.append(Depends(node["downstream"].text(), node.get("upstream", Node.texts, []), node.pos))
    schedule.tasks = [read_task(node) for node in root["tasks"].items()]
    for node in root["dma_consumer_release_labels"].items() if "dma_consumer_release_labels" in root else []:
        read_labels(node, schedule)
    check_names(schedule)
    return schedule


def read_alias_group(node: Node) -> AliasGroup:
    node.what = "an alias group"
    node.fields("space phases")
    space = node["space"].word(("smem", "tmem"))
    unit = "bytes" if space == "smem" else "columns"
    phases = []
    for phase in node["phases"].items():
        phases.append([])
        for entry in phase.items():
            entry.what = "an allocation of an alias group"
            entry.fields(f"alloc {unit}")
            phases[-1].append((entry["alloc"].text(), entry[unit].number(1)))
    return AliasGroup(space, phases, node.pos)


def read_labels(node: Node, schedule: Schedule):
    node.what = "an entry of dma_consumer_release_labels"
    node.fields("upstream downstream labels")
    up, down = node["upstream"].text(), node["downstream"].text()
    for edge in schedule.depends:
        if edge.downstream == down and up in edge.upstream:
            edge.labels[up] = node["labels"].texts()
            break
    else:
        node.fail(f"labels of an edge '{down}' <- '{up}' that 'depends' does not have", REFERENCE)
    known = {step.label for task in schedule.tasks for step in walk(task.schedule)
             if isinstance(step, Op) and step.op == "consume" and step.res == up}
    for label in node["labels"].texts():
        if label not in known:
            schedule.notes.append(f"{node.pos}: note: no consume of '{up}' has the label '{label}'" +
                                  hint(label, known))


def check_names(schedule: Schedule):
    """Names are defined once and refer to something."""
    seen: dict[str, Pos] = {}
    for item in schedule.resources + schedule.groups:
        if item.name in seen:
            raise ImportFailure(REFERENCE, item.pos,
                                f"'{item.name}' is defined twice; the first is at {seen[item.name]}")
        seen[item.name] = item.pos
    names = [resource.name for resource in schedule.resources]
    for resource in schedule.resources:
        group = schedule.group(resource.group) if resource.group else None
        if resource.group and (not group or resource.name not in group.members):
            raise ImportFailure(REFERENCE, resource.pos,
                                f"'{resource.name}' says it is in the group '{resource.group}', which "
                                + ("does not list it" if group else "does not exist"))
    for group in schedule.groups:
        for member in group.members:
            if member not in names:
                raise ImportFailure(REFERENCE, group.pos,
                                    f"group '{group.name}' has the unknown member '{member}'" + hint(member, names))
    allocs = schedule.extra + [alloc for resource in schedule.resources for alloc in resource.allocs]
    for group in schedule.alias_groups:
        for name, size in (entry for phase in group.phases for entry in phase):
            found = [a for a in allocs if a.name == name and a.tmem == (group.space == "tmem")]
            if not found:
                # A region that only the alias group knows: memory without a resource.
                schedule.extra.append(Alloc(name, size, 0, group.space == "tmem", group.pos))
                allocs.append(schedule.extra[-1])
                continue
            if found[0].size != size:
                raise ImportFailure(REFERENCE, group.pos, f"allocation '{name}' has the size {size} in the alias group "
                                    f"and {found[0].size} at its resource")
    tasks: dict[str, Pos] = {}
    for task in schedule.tasks:
        if task.name in tasks:
            raise ImportFailure(REFERENCE, task.pos, f"task '{task.name}' is defined twice")
        tasks[task.name] = task.pos
        for step in walk(task.schedule):
            if isinstance(step, Loop) and step.queue and not (
                    (queue := schedule.resource(step.queue)) and queue.queue):
                raise ImportFailure(REFERENCE, step.pos, f"'{step.queue}' is no work queue")
            if not isinstance(step, Op):
                continue
            if step.res not in seen:
                raise ImportFailure(REFERENCE, step.pos, f"unknown resource '{step.res}'" + hint(step.res, seen))
            group = schedule.group(step.via_group) if step.via_group else None
            if step.via_group and (not group or step.res not in group.members):
                raise ImportFailure(REFERENCE, step.pos, f"'{step.res}' is no member of a group '{step.via_group}'")


def identifier(name: str) -> str:
    """A name as ts text can spell it."""
    word = re.sub(r"\W+", "_", name).strip("_") or "x"
    return word if word[0].isalpha() or word[0] == "_" else "_" + word
