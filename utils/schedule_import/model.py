# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A schedule as plain data, and the error that every part raises. Knows neither YAML nor ts text."""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Iterator


@dataclass(frozen=True)
class Pos:
    """A place in the schedule file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class ImportFailure(Exception):
    """One clear sentence at one place. `check` is the TS6nn id."""

    def __init__(self, check: str, pos: Pos, text: str):
        super().__init__(f"{pos}: error: [{check}] {text}")


# Ids of include/ts/Support/Checks.def.
FILE, SCHEMA, REFERENCE, INEXPRESSIBLE = "TS601", "TS602", "TS603", "TS604"


@dataclass
class Alloc:
    name: str
    size: int  # bytes of shared memory, columns of tensor memory; all stages
    align: int
    tmem: bool
    pos: Pos


@dataclass
class Pipeline:
    type: str
    stages: int
    pos: Pos
    num_bytes: int | str | None = None  # a name stands for a number that the file does not give
    producer_count: int | None = None
    consumer_count: int | None = None
    signalling: dict[str, list[str]] = field(default_factory=dict)
    advance_on_wait: bool = False
    advance_on_acquire: bool = False
    interleave: list[int] | None = None
    mcast: list[int] | None = None
    async_load: bool = False
    bytes_per_warp: int | None = None
    layout: list[int] | None = None

    def stride(self, op: str) -> int:
        return self.interleave[("acquire", "commit", "wait", "release").index(op)] if self.interleave else 1

    @property
    def tma(self) -> bool:
        return self.type in ("TmaAsync", "TmaUmma")


@dataclass
class Resource:
    name: str
    space: str
    pos: Pos
    allocs: list[Alloc] = field(default_factory=list)
    pipeline: Pipeline | None = None
    scheduler: str | None = None
    is_barrier: bool = False
    memory_declared: bool = True
    group: str | None = None
    added: bool = False  # by --complete

    @property
    def queue(self) -> bool:
        return self.space == "work_queue"

    @property
    def pdl(self) -> bool:
        return self.space in ("pdl_wait", "pdl_launch")


@dataclass
class Group:
    name: str
    mode: str
    members: list[str]
    pos: Pos


@dataclass
class AliasGroup:
    space: str
    phases: list[list[tuple[str, int]]]
    pos: Pos


@dataclass
class Depends:
    downstream: str
    upstream: list[str]
    pos: Pos
    labels: dict[str, list[str]] = field(default_factory=dict)  # upstream -> consume labels
    added: bool = False


@dataclass
class Step:
    pos: Pos

    def blocks(self) -> list[list["Step"]]:
        return [self.body] if hasattr(self, "body") else []


@dataclass
class Op(Step):
    op: str
    res: str
    label: str | None = None
    aux: bool = False
    uses: dict[str, Any] = field(default_factory=dict)
    returns: list[str] = field(default_factory=list)
    via_group: str | None = None
    bytes: int | None = None  # what a copy engine brings to the phase, filled in by the emitter


@dataclass
class Loop(Step):
    kind: str  # domain, work_tile
    body: list[Step]
    bounds: list[Any] | None = None  # int, str (a run-time symbol) or ("per_tile", name)
    unroll: int | None = None
    queue: str | None = None
    skip_if: str | None = None


@dataclass
class Guard(Step):
    kind: str  # first, last, every
    period: int
    body: list[Step]


@dataclass
class When(Step):
    cond: str
    expected: bool
    key: str | None
    body: list[Step]


@dataclass
class Skippable(Step):
    body: list[Step]


@dataclass
class Task:
    name: str
    first_warp: int
    warps: int
    pos: Pos
    registers: int | None = None
    src: list[str] = field(default_factory=list)
    dst: list[str] = field(default_factory=list)
    only_cta: int | None = None
    schedule: list[Step] = field(default_factory=list)


@dataclass
class Schedule:
    name: str
    file: str
    pos: Pos
    cluster: list[int] = field(default_factory=lambda: [1, 1, 1])
    layout: list[int] | None = None
    cta_group: int | None = None
    resources: list[Resource] = field(default_factory=list)
    extra: list[Alloc] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    alias_groups: list[AliasGroup] = field(default_factory=list)
    depends: list[Depends] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # remarks for the user

    def resource(self, name: str) -> Resource | None:
        return next((r for r in self.resources if r.name == name), None)

    def group(self, name: str) -> Group | None:
        return next((g for g in self.groups if g.name == name), None)


def walk(steps: list[Step]) -> Iterator[Step]:
    """All steps, outer ones first."""
    for step in steps:
        yield step
        for block in step.blocks():
            yield from walk(block)


def ops(steps: list[Step]) -> Iterator[Op]:
    return (step for step in walk(steps) if isinstance(step, Op))


def replace(obj, **changes):
    return dataclasses.replace(obj, **changes)
