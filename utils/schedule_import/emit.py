# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel around the tasks as ts text: arguments, resources, dependencies. Tasks are task_text.py's."""
from __future__ import annotations

import re

from .model import (INEXPRESSIBLE, REFERENCE, Alloc, Depends, ImportFailure, Loop, Pipeline, Resource, Schedule,
                    walk)
from .reader import hint, identifier
from .trips import End

TYPES = {"AsyncAsync": "async_async", "TmaAsync": "tma_async", "TmaUmma": "tma_umma", "UmmaAsync": "umma_async",
         "AsyncUmma": "async_umma", "UmmaUmma": "umma_umma", "ClcFetchAsync": "clc_fetch_async"}
SIGNALS = {"All": "all", "CtaLeader": "cta_leader", "TaskWarpLeader": "task_warp_leader"}
MODES = {"Merge": "merge", "Fork": "fork", "FusedMerge": "fused_merge"}
TMEM_ROWS = 128


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def numbers(values) -> str:
    return "(" + ", ".join(str(value) for value in values) + ")"


def dictionary(entries: dict[str, str]) -> str:
    if not entries:
        return ""
    return " {" + ", ".join(f"{key} = {value}" if value else key for key, value in entries.items()) + "}"


def attribute(value) -> str:
    """A constant of the schedule file as an MLIR attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{value!r} : f64" if "." in repr(value) else f"{value:e} : f64"
    return quoted(str(value))


class Names:
    """SSA names, each used once in the kernel."""

    def __init__(self):
        self.used: set[str] = set()

    def new(self, wish: str) -> str:
        name, number = identifier(wish), 0
        while (word := name if not number else f"{name}_{number}") in self.used:
            number += 1
        self.used.add(word)
        return "%" + word


class KernelText:
    def __init__(self, schedule: Schedule, min_trips: int):
        self.schedule, self.min_trips = schedule, min_trips
        self.names = Names()
        self.arguments: dict[str, tuple[str, str]] = {}  # symbol -> SSA name, type
        self.minima: dict[str, int] = {}
        self.constants: dict[str, str] = {}  # SSA name -> definition
        self.ends: dict[End, str] = {}
        self.arithmetic: list[str] = []
        self.values: dict[str, str] = {}     # resource or group -> SSA name
        self.extra: dict[tuple[bool, str], str] = {}  # allocation outside of resources -> its resource
        self.notes = schedule.notes

    #--- Values of the kernel's level

    def argument(self, symbol: str, type: str = "index") -> str:
        if symbol not in self.arguments:
            self.arguments[symbol] = (self.names.new(symbol), type)
        name, known = self.arguments[symbol]
        if known != type:
            raise ImportFailure(INEXPRESSIBLE, self.schedule.pos, f"'{symbol}' is used both as {known} and as {type}")
        return name

    def constant(self, value: int | bool) -> str:
        if isinstance(value, bool):
            name, text = ("%true", "arith.constant true") if value else ("%false", "arith.constant false")
        else:
            name = f"%c{value}" if value >= 0 else f"%c_m{-value}"
            text = f"arith.constant {value} : index"
        self.names.used.add(name[1:])
        self.constants[name] = text
        return name

    def floor(self, symbol: str, bounds) -> None:
        """The argument `symbol` is an end: its smallest value so that the loop has min_trips trips."""
        start, _, step = bounds
        least = self.min_trips
        if isinstance(start, int) and isinstance(step, int):
            least = start + (self.min_trips - 1) * step + 1
        if self.min_trips:
            self.minima[symbol] = max(self.minima.get(symbol, 0), least)

    def end(self, end: End) -> str:
        if end not in self.ends:
            value = self.argument(end.symbol)
            self.minima[end.symbol] = self.min_trips
            for op, amount in (("muli", end.unit if end.unit != 1 else 0), ("subi", end.distance)):
                if amount:
                    result = self.names.new(end.symbol)
                    self.arithmetic.append(f"{result} = arith.{op} {value}, {self.constant(amount)} : index")
                    value = result
            self.ends[end] = value
        return self.ends[end]

    #--- Resources

    def alloc(self, resource: Resource, alloc: Alloc) -> str:
        stages = resource.pipeline.stages if resource.pipeline else 1
        staged = alloc.size % stages == 0
        size = alloc.size // stages if staged else alloc.size
        if alloc.tmem:
            text = f"memref<{TMEM_ROWS}x{size}xi32, #ts.tmem>"
        else:
            text = f"memref<{size}xi8, #ts.smem>"
        text = f"{identifier(alloc.name)}: {text}" + ("" if staged else " unstaged")
        return text + (f" align {alloc.align}" if alloc.align else "")

    def pipeline(self, pipeline: Pipeline) -> str:
        parts = [TYPES[pipeline.type], f"stages = {pipeline.stages}"]
        if isinstance(pipeline.num_bytes, str):
            self.notes.append(f"{pipeline.pos}: note: num_bytes is the name '{pipeline.num_bytes}'; a pipeline takes "
                              "numbers, so it is left out and inferred")
        elif pipeline.num_bytes is not None:
            parts.append(f"num_bytes = {pipeline.num_bytes}")
        for key, value in (("producer_count", pipeline.producer_count), ("consumer_count", pipeline.consumer_count)):
            if value is not None:
                parts.append(f"{key} = {value}")
        for key, name in (("producer", "producer_signal"), ("consumer", "consumer_signal"),
                          ("consumer_wait", "consumer_wait_signal")):
            signals = pipeline.signalling.get(key)
            if signals and (signals != ["All"] or key == "consumer_wait"):
                parts.append(f"{name} = " + "|".join(SIGNALS[word] for word in signals))
        if pipeline.advance_on_wait:
            parts.append("advance_on_wait")
        if pipeline.advance_on_acquire:
            parts.append("advance_on_acquire")
        if pipeline.interleave:
            parts.append("interleave = " + numbers(pipeline.interleave))
        if pipeline.async_load:
            parts.append("producer_op = load")
        if pipeline.bytes_per_warp is not None:
            parts.append(f"bytes_per_warp_per_cta = {pipeline.bytes_per_warp}")
        if pipeline.mcast:
            parts.append("mcast = " + numbers(pipeline.mcast))
        if pipeline.layout:
            parts.append("cta_layout = " + numbers(pipeline.layout))
        return f" pipeline({', '.join(parts)})"

    def resource(self, resource: Resource) -> str:
        value = self.values[resource.name] = self.names.new(resource.name)
        space = {"gmem+smem_scratch": "gmem", "none": "barrier", "barrier_only": "barrier",
                 "smem+tmem": "tmem"}.get(resource.space, resource.space)
        text = f"{value} = ts.resource {quoted(resource.name)} {space}"
        if resource.allocs:
            text += "(" + ", ".join(self.alloc(resource, alloc) for alloc in resource.allocs) + ")"
        if resource.pipeline:
            text += self.pipeline(resource.pipeline)
        extra = {}
        if resource.is_barrier:
            extra["is_barrier"] = ""
        if not resource.memory_declared:
            extra["memory_undeclared"] = ""
        return text + dictionary(extra)

    def queue(self, resource: Resource) -> list[str]:
        value = self.values[resource.name] = self.names.new(resource.name)
        tiles = self.argument(f"tiles_{resource.name}")
        clc = resource.scheduler == "ClcDynamicPersistent"
        text = f"{value} = ts.work_queue {quoted(resource.name)} {'clc' if clc else 'static'} over({tiles})"
        if resource.pipeline:
            if not clc:
                raise ImportFailure(INEXPRESSIBLE, resource.pos, f"'{resource.name}' is static, so it has no pipeline")
            text += self.pipeline(resource.pipeline)
        if throttle := self.throttle(resource):
            text += f" throttle({self.values[throttle]})"
        skips = {step.skip_if for task in self.schedule.tasks for step in walk(task.schedule)
                 if isinstance(step, Loop) and step.queue == resource.name} - {None}
        if not skips:
            return [text]
        if len(skips) > 1:
            raise ImportFailure(INEXPRESSIBLE, resource.pos, f"'{resource.name}' has several skip predicates "
                                f"({', '.join(sorted(skips))}); a queue has one")
        predicate = self.argument(next(iter(skips)), "memref<?xi1>")
        tile, skip = self.names.new("t"), self.names.new("skip")
        return [text + f" skip({tile}) {{", f"  {skip} = memref.load {predicate}[{tile}] : memref<?xi1>",
                f"  ts.yield {skip} : i1", "}"]

    def throttle(self, queue: Resource) -> str | None:
        """The resource, other than itself, that a queue waits for before it fetches."""
        for edge in self.schedule.depends:
            for name in edge.upstream:
                up = self.schedule.resource(name)
                if edge.downstream == queue.name and up and not up.queue:
                    return name
        return None

    def split_aliased(self) -> None:
        """An alias group of ts text takes whole resources: an allocation that is not aliased like its
        neighbours becomes a scratch resource of its own."""
        named = {(group.space, name) for group in self.schedule.alias_groups for phase in group.phases
                 for name, _ in phase}
        result = []
        for resource in self.schedule.resources:
            aliased = [("tmem" if alloc.tmem else "smem", alloc.name) in named for alloc in resource.allocs]
            result.append(resource)
            if not any(aliased) or all(aliased):
                continue
            scratch = Resource(resource.name + ".scratch", "smem", resource.pos)
            for alloc, shared in zip(list(resource.allocs), aliased):
                if not shared:
                    resource.allocs.remove(alloc)
                    scratch.allocs.append(alloc)
                    scratch.space = "tmem" if alloc.tmem else "smem"
            if resource.space == "smem+tmem":
                resource.space = "tmem" if resource.allocs[0].tmem else "smem"
            result.append(scratch)
            self.notes.append(f"{resource.pos}: note: alias groups take whole resources, so "
                              f"{', '.join(a.name for a in scratch.allocs)} of '{resource.name}' is the resource "
                              f"'{scratch.name}', without stages")
        self.schedule.resources = result

    def alias_groups(self) -> list[str]:
        owner = {(alloc.tmem, alloc.name): r.name for r in self.schedule.resources for alloc in r.allocs}
        owner |= self.extra
        lines = []
        for number, group in enumerate(self.schedule.alias_groups):
            members, counts = [], []
            for phase in group.phases:
                whole = list(dict.fromkeys(owner[(group.space == "tmem", name)] for name, _ in phase))
                members += [self.values[name] for name in whole]
                counts.append(str(len(whole)))
            lines.append(f"ts.alias_group \"alias_{number}\" ({', '.join(members)}) phases [{', '.join(counts)}]")
        return lines

    #--- Dependencies

    def ordering(self, down: str, up: str) -> bool:
        """Edges that carry no data: PDL, what throttles a queue, and credits that go back."""
        source, target = self.schedule.resource(up), self.schedule.resource(down)
        if not source or not target or source.pdl or target.queue or source.added:
            return True
        if down == up or any(up in task.src and down in task.dst for task in self.schedule.tasks):
            return False
        credit = target.space == "barrier_only" or not target.allocs and target.pipeline
        return source.queue or source.space == "barrier_only" or bool(credit)

    def depends(self) -> list[str]:
        lines = []
        for edge in self.schedule.depends:
            plain, ordered = [], []
            for up in edge.upstream:
                if up == edge.downstream and self.schedule.resource(up).queue:
                    continue  # implied by a queue
                if up in edge.labels:
                    lines.append(self.edge(edge, [up], False, edge.labels[up]))
                else:
                    (ordered if self.ordering(edge.downstream, up) else plain).append(up)
            lines += [self.edge(edge, ups, kind) for ups, kind in ((plain, False), (ordered, True)) if ups]
        return lines

    def edge(self, edge: Depends, upstream: list[str], ordering: bool, labels=None) -> str:
        text = f"ts.depends {self.values[edge.downstream]} on {', '.join(self.values[up] for up in upstream)}"
        text += " ordering" if ordering else ""
        return text + dictionary({"consume_labels": "[" + ", ".join(map(quoted, labels)) + "]"} if labels else {})

    #--- The whole

    def check_graph(self):
        names = [item.name for item in self.schedule.resources + self.schedule.groups]
        uses = [(name, edge.pos) for edge in self.schedule.depends for name in [edge.downstream, *edge.upstream]]
        uses += [(name, task.pos) for task in self.schedule.tasks for name in task.src + task.dst]
        for name, pos in uses:
            if name not in names:
                raise ImportFailure(REFERENCE, pos, f"unknown resource '{name}'" + hint(name, names)
                                    + "; --complete declares what a fragment leaves out")

    def text(self) -> str:
        from .task_text import TaskText

        self.check_graph()
        self.split_aliased()
        body: list[str] = []
        plain = [r for r in self.schedule.resources if not r.queue]
        for resource in plain:
            if resource.pdl:
                value = self.values[resource.name] = self.names.new(resource.name)
                body.append(f"{value} = ts.pdl {quoted(resource.name)}")
            else:
                body.append(self.resource(resource))
        for alloc in self.schedule.extra:
            name = alloc.name if not self.schedule.resource(alloc.name) else alloc.name + ".extra"
            self.extra[(alloc.tmem, alloc.name)] = name
            scratch = Resource(name, "tmem" if alloc.tmem else "smem", alloc.pos, [alloc])
            body.append(self.resource(scratch))
        for group in self.schedule.groups:
            value = self.values[group.name] = self.names.new(group.name)
            members = ", ".join(self.values[name] for name in group.members)
            body.append(f"{value} = ts.pipeline_group {quoted(group.name)} {MODES[group.mode]}({members})")
        for resource in self.schedule.resources:
            if resource.queue:
                body += self.queue(resource)
        body += self.alias_groups() + self.depends()
        for task in self.schedule.tasks:
            body += [""] + TaskText(self, task).lines()

        warps = max((task.first_warp + task.warps for task in self.schedule.tasks), default=1)
        arguments = ", ".join(f"{name}: {type}" + (f" min {self.minima[symbol]}" if self.minima.get(symbol) else "")
                              for symbol, (name, type) in self.arguments.items())
        head = f"ts.kernel @{identifier(self.schedule.name)}({arguments}) warps({warps})"
        if self.schedule.cluster != [1, 1, 1]:
            head += f" cluster{numbers(self.schedule.cluster)}"
        facts = {}
        if self.schedule.layout:
            facts["cta_layout"] = "[" + ", ".join(str(n) for n in self.schedule.layout) + "]"
        if self.schedule.cta_group:
            facts["cta_group"] = f"{self.schedule.cta_group} : i64"
        if facts:
            head += " attributes" + dictionary(facts)
        constants = [f"{name} = {text}" for name, text in sorted(self.constants.items())]
        name = re.sub(r".*/", "", self.schedule.file)
        lines = [f"// Made by utils/import_schedule.py from {name}; work has no bodies.",
                 'gpu.module @schedule attributes {ts.chip = "sm_100a"} {', f"  {head} {{"]
        lines += ["    " + line if line else "" for line in constants + self.arithmetic + body]
        return "\n".join(lines + ["  }", "}", ""])
