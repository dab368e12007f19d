# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that the work calls of a copy engine bring to their phase. The file gives the sum of a phase; this
shares it out over the CTAs that it covers, the tasks that fill it, and the calls of one bracket."""
from __future__ import annotations

from .model import Loop, Op, Pipeline, Schedule, Step, Task, ops


def fill_in(schedule: Schedule) -> None:
    for resource in schedule.resources:
        pipeline = resource.pipeline
        if not pipeline or not pipeline.tma or not isinstance(pipeline.num_bytes, int):
            continue
        tasks = [task for task in schedule.tasks
                 if any(fills(op, resource.name) for op in ops(task.schedule))]
        for task in tasks:
            share = bytes_of(schedule, pipeline, task, len(tasks))
            if share is not None:
                give(task.schedule, resource.name, share, [])


def fills(op: Op, resource: str) -> bool:
    return op.op == "produce" and op.res == resource and not op.aux


def bytes_of(schedule: Schedule, pipeline: Pipeline, task: Task, tasks: int) -> int | None:
    """What `task` copies in one CTA for one phase."""
    lanes = pipeline.stride("acquire") > 1
    if pipeline.bytes_per_warp is not None:
        return pipeline.bytes_per_warp * (1 if lanes else task.warps)
    layout = pipeline.layout or schedule.layout or [1, 1, 1, 1]
    covered = layout[0] if pipeline.type == "TmaUmma" else 1
    parts = covered * (1 if lanes else tasks)
    return pipeline.num_bytes // parts if pipeline.num_bytes % parts == 0 else None


def give(steps: list[Step], resource: str, share: int, open_calls: list[Op]) -> list[Op]:
    """Walks in order of execution. The last call of a bracket gets the bytes, the others none: the file does
    not say how they share. A call in a loop inside a bracket has no known part."""
    for step in steps:
        if isinstance(step, Op):
            if step.op in ("acquire", "commit") and step.res == resource:
                open_calls = []
            elif fills(step, resource):
                for earlier in open_calls:
                    earlier.bytes = 0
                step.bytes = share
                open_calls = [step]
            continue
        for block in step.blocks():
            brackets = any(op.op == "acquire" and op.res == resource for op in ops(block))
            if isinstance(step, Loop) and not brackets:
                continue
            # On another path the earlier call still has to bring everything.
            open_calls = give(block, resource, share, open_calls if isinstance(step, Loop) or brackets else [])
    return open_calls
