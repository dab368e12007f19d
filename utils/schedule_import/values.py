# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Task-local variables as SSA values: which of them a loop carries and a branch hands on.

A schedule file names variables ($resource.name) that keep their value until something returns a new one.
Backward liveness says where a new value is still wanted."""
from __future__ import annotations

from .model import (INEXPRESSIBLE, REFERENCE, Guard, ImportFailure, Loop, Op, Skippable, Step, Task, When,
                    ops, walk)

Variable = tuple[str, str]  # resource, name


def reference(value) -> Variable | None:
    """$resource.name, or None for a constant."""
    if isinstance(value, str) and value.startswith("$") and "." in value:
        resource, name = value[1:].rsplit(".", 1)
        return resource, name
    return None


def reads(op: Op) -> list[Variable]:
    return [ref for value in op.uses.values() if (ref := reference(value))]


def writes(op: Op) -> list[Variable]:
    return [(op.res, name) for name in op.returns]


class Liveness:
    """`carried[id(step)]`: variables that a loop takes around its back edge or hands on, or that a guard or
    `when` hands on."""

    def __init__(self, task: Task):
        self.carried: dict[int, list[Variable]] = {}
        self.written = {var for op in ops(task.schedule) for var in writes(op)}
        self.flags: set[Variable] = set()  # i1: somebody branches on them
        for step in walk(task.schedule):
            wanted = reads(step) if isinstance(step, Op) else []
            if isinstance(step, When):
                ref = reference(step.cond)
                if not ref:
                    raise ImportFailure(INEXPRESSIBLE, step.pos, f"the condition '{step.cond}' is no value of the "
                                        "schedule; a 'when' asks for a value that a work call returned "
                                        "($resource.name)")
                self.flags.add(ref)
                wanted = [ref]
            for var in wanted:
                if var not in self.written:
                    raise ImportFailure(REFERENCE, step.pos, f"task '{task.name}' reads ${var[0]}.{var[1]}, which "
                                        "no work call of this task returns")
        self.block(task.schedule, set())

    def block(self, steps: list[Step], live: set[Variable]) -> set[Variable]:
        live = set(live)
        for step in reversed(steps):
            live = self.step(step, live)
        return live

    def step(self, step: Step, live: set[Variable]) -> set[Variable]:
        if isinstance(step, Op):
            return (live - set(writes(step))) | set(reads(step))
        changed = {var for op in ops(step.body) for var in writes(op)}
        if isinstance(step, Loop):
            at_edge = set(live)
            while True:
                wanted = live | self.block(step.body, at_edge)
                if wanted == at_edge:
                    break
                at_edge = wanted
            self.carried[id(step)] = sorted(changed & at_edge)
            return at_edge
        handed = sorted(changed & live)
        if isinstance(step, Skippable) and handed:
            name = "$" + ".".join(handed[0])
            raise ImportFailure(INEXPRESSIBLE, step.pos, f"{name} is returned inside a skippable region and read "
                                "after it or for the next tile; ts.skippable hands no values on")
        self.carried[id(step)] = handed
        wanted = live | self.block(step.body, live)
        if isinstance(step, When):
            wanted.add(reference(step.cond))
        return wanted


__all__ = ["Liveness", "Variable", "reads", "reference", "writes", "Guard"]
