# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Capturing schedules: a function decorated with `@schedule` records, in the order of the calls, what a
task does. Nothing is executed and no IR is made here; `emit.py` makes it of what was recorded.

The record is a tree: `Call` is one operation on a resource, the others hold a body.
"""
import dataclasses
import dis
import functools
import sys
import threading
import weakref

from mlir_ts import display
from mlir_ts._where import Place, caller
from mlir_ts.errors import Error, refuse
from mlir_ts.task_scheduling.enums import ScheduleStage

__all__ = ["schedule", "ScheduleResult", "domain_loop", "work_tile_loop", "skippable", "first_iter", "last_iter",
           "not_first_iter", "not_last_iter", "every", "when_true", "when_false", "replica_index", "from_list"]

_state = threading.local()


@dataclasses.dataclass(eq=False)
class Call:
    """One operation on a resource. `stage` is a ScheduleStage, or a word for what only we have."""

    stage: object
    resource: object
    place: Place
    method: object = None  # of work: a resources.WorkMethod
    arguments: dict = dataclasses.field(default_factory=dict)
    variables: list = None  # what it writes; None until the call site says how many


@dataclasses.dataclass(eq=False)
class Body:
    """Something with a body. `kind`: 'for', 'tiles', 'guard', 'when', 'skippable'."""

    kind: str
    place: Place
    items: list = dataclasses.field(default_factory=list)
    data: dict = dataclasses.field(default_factory=dict)


class Variable:
    """A value that a consumer's work leaves, or a loop gives: a task-local register.

    What later work takes as an argument. It has no value while a schedule is captured; the work body
    that takes it sees the value.
    """

    of_schedule = True

    def __init__(self, name, slot=None, default=None):
        self.name, self.slot, self._default = name, slot, default

    @property
    def default(self):
        return self.slot if self.slot is not None and self.slot.has_default else self._default

    def __repr__(self):
        return f"<task-local value {self.name}>"

    def __bool__(self):
        refuse("TS109", f"'{self.name}' has no value while a schedule is captured: use when_true / when_false for what "
               "is decided at run time, and Python's if only for what is known now")


class Returned(Variable):
    """What a work call returns: one variable, or as many as the call site unpacks."""

    def __init__(self, call, name):
        super().__init__(name)
        self.call = weakref.ref(call)  # the schedule holds it; without a cycle a kernel goes when its last user does
        call.variables = [self]

    def __iter__(self):
        frame = sys._getframe(1)
        count = _unpacked(frame)
        if count is None:
            raise Error(f"'{self.name}' can only be unpacked directly: a, b = {self.name}(...)")
        variables = [Variable(f"{self.name}[{i}]") for i in range(count)]
        self.call().variables = variables
        return iter(variables)


def _unpacked(frame):
    """How many values the instruction that a frame executes wants."""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            return instruction.arg if instruction.opname == "UNPACK_SEQUENCE" else None
    return None


#: What `replica_index` gives; the emitter knows its value.
REPLICA = Variable("replica_index()")


def replica_index():
    """Which of a task's replicas this is (index), for the bounds of loops and as an argument of work."""
    return REPLICA


def written(slot):
    """The variable of a task-local slot that the schedule which is being captured wrote last, or None."""
    def last(items):
        for item in reversed(items):
            inner = last(item.items) if isinstance(item, Body) else [v for v in item.variables or () if v.slot is slot]
            if inner:
                return inner
        return []
    found = last(_state.stack[0]) if capturing() else []
    return found[0] if found else None


def record(item):
    """Adds an item to the schedule that is being captured."""
    stack = getattr(_state, "stack", None)
    if not stack:
        raise Error("this may only be called in a function decorated with @schedule")
    stack[-1].append(item)
    return item


def capturing():
    """Whether a schedule is being captured."""
    return bool(getattr(_state, "stack", None))


class ScheduleResult:
    """What a @schedule function recorded; `Task(schedule=...)` takes it."""

    def __init__(self, name, items, place):
        self.name, self.items, self.place = name, items, place

    def calls(self):
        """All calls, in order, whatever body they are in."""
        def walk(items):
            for item in items:
                if isinstance(item, Call):
                    yield item
                else:
                    yield from walk(item.items)
        return list(walk(self.items))

    def _repr_html_(self):
        return display.schedule_table(self)

    def __repr__(self):
        return f"<ScheduleResult {self.name}: {len(self.calls())} operations>"


def schedule(function):
    """Makes a function record what it calls. Calling it returns a `ScheduleResult`."""
    @functools.wraps(function)
    def capture(*arguments, **options):
        if capturing():
            return function(*arguments, **options)  # a part of another schedule
        items, place = [], Place(function.__code__.co_filename, function.__code__.co_firstlineno)
        _state.stack = [items]
        try:
            function(*arguments, **options)
        finally:
            _state.stack = None
        return ScheduleResult(function.__name__, items, place)
    return capture


class _Block:
    """A context manager that records what is called in it as the body of an item."""

    def __init__(self, kind, value=None, **data):
        self.item, self.value = Body(kind, caller(), data=data), value

    def __enter__(self):
        record(self.item)
        _state.stack.append(self.item.items)
        return self.value

    def __exit__(self, *exception):
        _state.stack.pop()


def domain_loop(start, end=None, step=1, *, unroll=None):
    """A loop of a schedule: `with domain_loop(0, num_k_tiles, 1) as k:`. Bounds are ints or values of the kernel.

    The end is exclusive, and a loop may have no iteration at all.
    """
    if end is None:
        start, end = 0, start
    index = Variable("loop index")
    return _Block("for", index, start=start, end=end, step=step, unroll=unroll, index=index)


class WorkTile:
    """The tile of a work-tile loop: `coords`, one value for each dimension of the queue."""

    def __init__(self, coords):
        self.coords = coords

    def __iter__(self):
        return iter(self.coords)

    def __getitem__(self, i):
        return self.coords[i]


def work_tile_loop(queue, advance=True):
    """The tile loop of a persistent task: `with work_tile_loop(queue) as (m, n):`.

    The tile advances at the end of the body; with advance=False a `queue.next_tile()` in it says where.
    """
    coords = [Variable(f"tile coordinate {i}") for i in range(queue.rank)]
    return _Block("tiles", WorkTile(coords), queue=queue, coords=coords, advance=advance)


def skippable():
    """A region that is left out as a whole in tiles that are skipped."""
    return _Block("skippable")


def first_iter():
    """Only in the first iteration of the innermost loop."""
    return _Block("guard", guard="first", period=None)


def last_iter():
    """Only in the last iteration of the innermost loop."""
    return _Block("guard", guard="last", period=None)


def not_first_iter():
    """In every iteration but the first."""
    return _Block("guard", guard="not_first", period=None)


def not_last_iter():
    """In every iteration but the last."""
    return _Block("guard", guard="not_last", period=None)


def every(period):
    """In iterations 0, period, 2 * period, ... of the innermost loop."""
    return _Block("guard", guard="every", period=int(period))


def when_true(condition, key=None):
    """Only when a condition (a value of the kernel, or what consumer work returned) is true.

    Conditions with the same `key` are the same in every task of a tile; the prover relies on that.
    """
    return _Block("when", condition=condition, expected=True, key=key)


def when_false(condition, key=None):
    """Only when a condition is false; see `when_true`."""
    return _Block("when", condition=condition, expected=False, key=key)


def from_list(entries, name="schedule"):
    """A `ScheduleResult` of a raw schedule list: tuples (resource, ScheduleStage[, label]), in order.

    A nested tuple ("loop", start, end, step, [entries]) is a domain loop.
    """
    @schedule
    def raw():
        def play(items):
            for entry in items:
                if entry[0] == "loop":
                    with domain_loop(*entry[1:4]):
                        play(entry[4])
                    continue
                resource, stage, *label = entry
                if not isinstance(stage, ScheduleStage):
                    raise Error(f"a schedule list wants (resource, ScheduleStage[, label]); found {entry!r}")
                resource.run_stage(stage, label[0] if label else None)
        play(entries)
    result = raw()
    result.name = name
    return result
