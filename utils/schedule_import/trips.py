# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends of loops that are numbers. A kernel whose loops all end at numbers was written out for one problem size
(its authors build it that way to validate it); the program that they ship takes any. So the largest end of a
nesting level becomes a run-time symbol, the others keep their distance to it: [0, 15] beside [0, 16] is
[0, n - 1] beside [0, n]. Steps that fix lanes or passes when the kernel is built divide n: with steps of 8 it
is 8 h. `--fixed-bounds` leaves the numbers."""
from __future__ import annotations

import math
from dataclasses import dataclass

from .model import Guard, Loop, Op, Schedule, Step, Task, ops, walk


@dataclass(frozen=True)
class End:
    """unit * symbol - distance."""

    symbol: str
    unit: int
    distance: int


@dataclass(frozen=True)
class TileEnd:
    """A value of the work tile, less a distance."""

    name: str
    distance: int = 0


def per_tile(schedule: Schedule) -> None:
    """`per_tile: f` is a method of each task. Tasks that fill and drain the same rings go around as often as
    each other but for what they peel: the distances follow from the balance of the rings in one tile."""
    ends: dict[str, set[str]] = {}  # task -> methods
    for task in schedule.tasks:
        for step in walk(task.schedule):
            if isinstance(step, Loop) and step.bounds and isinstance(step.bounds[1], tuple):
                ends.setdefault(task.name, set()).add(step.bounds[1][1])
    distance = {name: 0 for name in ends}
    for methods in {frozenset(names) for names in ends.values()}:
        alike = [task for task in schedule.tasks if ends.get(task.name) == methods]
        if len(methods) == 1 and (found := balance(schedule, alike)):
            distance |= found
            if any(found.values()):
                schedule.notes.append(
                    f"{schedule.file}: note: '{next(iter(methods))}' is a method of each task; the rings balance when "
                    "it is " + ", ".join(f"n{f' - {d}' if d else ''} in '{task}'" for task, d in found.items()))
    for task in schedule.tasks:
        for step in walk(task.schedule):
            if isinstance(step, Loop) and step.bounds:
                step.bounds = [TileEnd(bound[1], distance.get(task.name, 0) if number == 1 else 0)
                               if isinstance(bound, tuple) else bound for number, bound in enumerate(step.bounds)]


def balance(schedule: Schedule, tasks: list[Task]) -> dict[str, int] | None:
    """Distances, the smallest 0; nothing if the rings contradict each other."""
    # Uses of a ring per tile: slope * (n - distance) + peeled, for every task of every side.
    links: list[tuple[str, str, int]] = []  # distance of the second = distance of the first + number
    for resource in schedule.resources:
        counts = []
        for task in tasks:
            for side in (("acquire", "commit"), ("wait", "release")):
                for op in side:
                    slope, peeled = uses(task.schedule, resource.name, op, False)
                    if slope:
                        counts.append((task.name, slope, peeled))
                        break
        for (first, slope, peeled), (second, other, rest) in zip(counts, counts[1:]):
            if slope != other or (rest - peeled) % slope:
                return None
            links.append((first, second, (rest - peeled) // slope))
    result: dict[str, int] = {}
    for task in tasks:
        group = {task.name: 0} if task.name not in result else {}
        changed = bool(group)
        while changed:
            changed = False
            for first, second, number in links:
                for a, b, sign in ((first, second, 1), (second, first, -1)):
                    if a in group and b not in group:
                        group[b] = group[a] + sign * number
                        changed = True
        if any(group[b] != group[a] + n for a, b, n in links if a in group and b in group):
            return None
        least = min(group.values(), default=0)
        result |= {name: d - least for name, d in group.items()}
    return result


def uses(steps: list[Step], resource: str, op: str, inside: bool) -> tuple[int, int]:
    """How often per trip of a per-tile loop, and how often besides."""
    slope = peeled = 0
    for step in steps:
        if isinstance(step, Op):
            hit = step.op == op and step.res == resource
            slope, peeled = slope + (hit and inside), peeled + (hit and not inside)
            continue
        loops = isinstance(step, Loop) and step.kind == "domain"
        more = uses(step.body, resource, op, inside or loops and isinstance(step.bounds[1], tuple))
        if isinstance(step, Guard) and inside and step.kind in ("first", "last"):
            more = (0, sum(more))
        slope, peeled = slope + more[0], peeled + more[1]
    return slope, peeled


def generalise(schedule: Schedule) -> None:
    levels: dict[int, list[Loop]] = {}
    for task in schedule.tasks:
        collect(task.schedule, 0, levels)
    loops = [loop for level in levels.values() for loop in level]
    if not loops or not all(isinstance(bound, int) for loop in loops for bound in loop.bounds):
        return
    for depth, level in sorted(levels.items()):
        largest = max(loop.bounds[1] for loop in level)
        unit = math.lcm(*(loop.bounds[2] for loop in level if loop.bounds[2] > 0)) or 1
        if largest <= 0 or largest % unit:
            continue
        symbol = "trips" if depth == 0 else f"trips_{depth}"
        changed = []
        for loop in level:
            start, end, step = loop.bounds
            changed.append(f"[{start}, {end}, {step}]")
            loop.bounds = [start, End(symbol, unit, largest - end), step]
        schedule.notes.append(
            f"{schedule.file}: note: every loop ends at a number; {', '.join(dict.fromkeys(changed))} end at a symbol, "
            f"{f'{unit} * ' if unit > 1 else ''}{symbol} for {largest} (--fixed-bounds leaves the numbers)")


def collect(steps: list[Step], depth: int, levels: dict[int, list[Loop]]) -> None:
    """Domain loops with something in them, by how many stand around them."""
    for step in steps:
        if isinstance(step, Op):
            continue
        domain = isinstance(step, Loop) and step.kind == "domain"
        if domain and any(True for _ in ops(step.body)):
            levels.setdefault(depth, []).append(step)
        collect(step.body, depth + domain, levels)
