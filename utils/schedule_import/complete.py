# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--complete: makes a whole schedule out of a fragment, by the least that is missing. A work call without a
bracket gets one, a ring that is used on one side only gets a partner task with the same loops, names that only
the graph mentions are declared, and a number of bytes that stands as a name becomes a small one."""
from __future__ import annotations

from .model import (INEXPRESSIBLE, Depends, Guard, ImportFailure, Loop, Op, Pipeline, Pos, Resource, Schedule,
                    Skippable, Step, Task, When, ops, replace)

LABEL = "complete"
SMALLEST_COPY = 16  # bytes of one bulk copy


def complete(schedule: Schedule) -> None:
    declare_names(schedule)
    for resource in schedule.resources:
        if resource.pipeline and not resource.queue:
            if resource.pipeline.tma and not isinstance(resource.pipeline.num_bytes, int):
                resource.pipeline.num_bytes = SMALLEST_COPY
            bracket(schedule, resource)
    for resource in list(schedule.resources):
        if resource.pipeline and not resource.queue:
            add_partners(schedule, resource)
    for task in schedule.tasks:
        use_all(schedule, task)
    join_graph(schedule)


def names_of(schedule: Schedule, resource: str) -> set[str]:
    """The resource and the groups that stand for it."""
    return {resource} | {group.name for group in schedule.groups if resource in group.members}


def executed(schedule: Schedule, resource: str, kinds) -> bool:
    names = names_of(schedule, resource)
    return any(op.op in kinds and op.res in names for task in schedule.tasks for op in ops(task.schedule))


#--- Names and brackets


def declare_names(schedule: Schedule) -> None:
    wanted = [(name, edge.pos) for edge in schedule.depends for name in [edge.downstream, *edge.upstream]]
    wanted += [(name, task.pos) for task in schedule.tasks for name in task.src + task.dst]
    for name, pos in wanted:
        if not schedule.resource(name) and not schedule.group(name):
            schedule.resources.append(Resource(name, "none", pos, added=True))


def bracket(schedule: Schedule, resource: Resource) -> None:
    for work, first, last, list_of in (("produce", "acquire", "commit", "dst"), ("consume", "wait", "release", "src")):
        if executed(schedule, resource.name, (first, last)):
            continue
        for task in schedule.tasks:
            if resource.name in getattr(task, list_of):
                put_around(task.schedule, resource.name, work, first, last)


def put_around(steps: list[Step], resource: str, work: str, first: str, last: str) -> None:
    for step in list(steps):
        for block in step.blocks():
            put_around(block, resource, work, first, last)
        if isinstance(step, Op) and step.op == work and step.res == resource and not step.aux:
            at = steps.index(step)
            steps[at:at + 1] = [Op(step.pos, first, resource), step, Op(step.pos, last, resource)]


#--- Partner tasks


def add_partners(schedule: Schedule, resource: Resource) -> None:
    produced = executed(schedule, resource.name, ("acquire", "commit"))
    consumed = executed(schedule, resource.name, ("wait", "release"))
    if produced == consumed:
        return
    known = ("acquire", "commit") if produced else ("wait", "release")
    trigger = next(kind for kind in known if executed(schedule, resource.name, (kind,)))
    names = names_of(schedule, resource.name)
    model = next(task for task in schedule.tasks
                 if any(op.op == trigger and op.res in names for op in ops(task.schedule)))
    side = "consumer" if produced else "producer"
    warps = partner_warps(resource.pipeline, side)
    first = max((task.first_warp + task.warps for task in schedule.tasks), default=0)
    partner = Task(f"{LABEL}_{resource.name}_{side}", -(-first // 4) * 4 if warps > 1 else first, warps, resource.pos)
    before, after = edge_work(schedule, resource, side, partner)
    (partner.src if produced else partner.dst).append(resource.name)
    open_, work, close = ("wait", "consume", "release") if produced else ("acquire", "produce", "commit")
    stride = resource.pipeline.stride(trigger)

    def steps_for(op: Op) -> list[Step]:
        at = op.pos
        return [*before, Op(at, open_, resource.name), Op(at, work, resource.name, LABEL), *after,
                Op(at, close, resource.name)]

    partner.schedule = mirror(schedule, model.schedule, trigger, names, stride, steps_for, partner)
    schedule.tasks.append(partner)


def partner_warps(pipeline: Pipeline, side: str) -> int:
    """As many as the declared count asks for."""
    producer, consumer = {"AsyncAsync": ("threads", "threads"), "TmaAsync": ("warps", "warps"),
                          "TmaUmma": ("warps", "one"), "UmmaAsync": ("one", "threads"),
                          "AsyncUmma": ("threads", "one"), "UmmaUmma": ("one", "one"),
                          "ClcFetchAsync": ("one", "threads")}[pipeline.type]
    how, count = (producer, pipeline.producer_count) if side == "producer" else (consumer, pipeline.consumer_count)
    if how == "one" or count is None:
        return 1
    return max(1, count // 32 if how == "threads" else count)


def edge_work(schedule: Schedule, resource: Resource, side: str, partner: Task) -> tuple[list[Step], list[Step]]:
    """Work on the neighbours in the graph whose edge no task carries out yet."""
    before: list[Step] = []
    after: list[Step] = []
    for edge in schedule.depends:
        pairs = [(edge.downstream, up) for up in edge.upstream]
        for down, up in pairs:
            carried = any(up in task.src and down in task.dst for task in schedule.tasks)
            other = schedule.resource(up if side == "producer" else down)
            ours = down if side == "producer" else up
            if carried or ours != resource.name or not other or other.pipeline or other.queue or other.added:
                continue
            if side == "producer":
                partner.src.append(other.name)
                before.append(Op(edge.pos, "consume", other.name, LABEL))
            else:
                partner.dst.append(other.name)
                after.append(Op(edge.pos, "produce", other.name, LABEL))
    return before, after


def mirror(schedule: Schedule, steps: list[Step], trigger: str, names: set[str], stride: int, steps_for,
           partner: Task) -> list[Step]:
    """The loops around each `trigger`, with the partner's steps in its place."""
    result: list[Step] = []
    for step in steps:
        if isinstance(step, Op):
            if step.op == trigger and step.res in names:
                result += steps_for(step)
            continue
        inside = mirror(schedule, step.body, trigger, names, stride, steps_for, partner)
        if not inside:
            continue
        if isinstance(step, When):
            raise ImportFailure(INEXPRESSIBLE, step.pos, f"cannot add a partner for '{next(iter(names))}': its "
                                "operations depend on a condition that only this task has")
        if isinstance(step, Loop) and step.queue:
            inside += [op for op in step.body if isinstance(op, Op) and op.res == step.queue
                       and op.op in ("try_wait", "wait", "consume", "release")]
            if step.queue not in partner.src:
                partner.src.append(step.queue)
        elif isinstance(step, Loop) and stride > 1:
            # Sibling tasks share the slots as lanes; the partner takes them all.
            start, end, width = step.bounds
            if isinstance(width, int) and width % stride == 0:
                step = replace(step, bounds=[0 if isinstance(start, int) and 0 < start < stride else start, end,
                                             width // stride])
        assert isinstance(step, (Loop, Guard, Skippable))
        result.append(replace(step, body=inside))
    return result


#--- The graph


def use_all(schedule: Schedule, task: Task) -> None:
    used = {op.res for op in ops(task.schedule)} | {step.queue for step in task.schedule if isinstance(step, Loop)}
    for name, work in [(name, "consume") for name in task.src] + [(name, "produce") for name in task.dst]:
        resource = schedule.resource(name)
        if resource and not resource.pipeline and not resource.queue and not resource.pdl and name not in used:
            task.schedule.insert(0, Op(task.pos, work, name, LABEL))


def join_graph(schedule: Schedule) -> None:
    """A resource that no edge names hangs on a source that stands for the rest of the program."""
    joined = {name for edge in schedule.depends if edge.upstream for name in [edge.downstream, *edge.upstream]}
    used = {name for task in schedule.tasks for name in task.src + task.dst}
    loose = [r for r in schedule.resources if r.name in used - joined and not r.queue and not r.pdl]
    if not loose:
        return
    source = Resource(f"{LABEL}_source", "none", Pos(schedule.file), added=True)
    schedule.resources.append(source)
    schedule.depends += [Depends(r.name, [source.name], r.pos, added=True) for r in loose]
