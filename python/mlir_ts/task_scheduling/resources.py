# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resources: what tasks communicate through, and the work methods that read and write it."""
import ast
import dis
import dataclasses
import inspect
import textwrap

from mlir_ts.errors import Error, near, refuse, unknown
from mlir_ts.task_scheduling.enums import ScheduleStage, WorkAttr
from mlir_ts.task_scheduling.names import INSTEAD
from mlir_ts.task_scheduling.schedule import Call, Returned, Variable, caller, record, written

__all__ = ["MemoryResource", "TaskLocalVariable", "consumer_work", "producer_work", "SmemAllocation", "TmemAllocation",
           "StageInfo", "WorkTileInfo", "ResourceContext"]

_UNSET = object()


class TaskLocalVariable:
    """A value that consumer work leaves for later work: `dtype` ('index', 'f32', ...), `default`.

    The default feeds a read before the first write; without one such a read is an error (TS111).
    """

    def __init__(self, dtype=None, default=_UNSET, default_factory=None, docs=None, runtime_slot_name=None):
        if default is not _UNSET and default_factory is not None:
            raise Error("default and default_factory exclude each other")
        self.dtype, self._default, self._factory, self.docs = dtype, default, default_factory, docs
        self.runtime_slot_name = runtime_slot_name
        self.owner, self.field_name = None, None

    @property
    def has_default(self):
        return self._default is not _UNSET or self._factory is not None

    @property
    def default(self):
        """The value before any write."""
        return self._factory() if self._factory is not None else self._default

    @property
    def slot_name(self):
        """The name of the register: the field's, or runtime_slot_name."""
        return self.runtime_slot_name or self.field_name

    @staticmethod
    def uninitialized():
        """A dataclass field that has to get its TaskLocalVariable in __init__ or __post_init__."""
        return dataclasses.field(default=None, metadata={"ts": "task_local"})

    def __set_name__(self, owner, name):
        self.field_name = name

    def __repr__(self):
        return f"TaskLocalVariable({self.field_name or '?'}: {self.dtype})"


@dataclasses.dataclass(eq=False)
class SmemAllocation:
    """Shared memory of one stage: `type` as in MLIR ('128x64xbf16'), `swizzle` in bytes (0, 32, 64, 128).

    align: bytes. at: byte offset in the CTA's shared memory, if the user places it. staged=False: one copy.
    """

    name: str
    type: str
    swizzle: int = 0
    align: int = 0
    at: int | None = None
    staged: bool = True
    offset = None  # known after compilation; see the report

    def __post_init__(self):
        self.place = caller()

    @property
    def memory(self):
        """The MLIR type of a stage's view."""
        return f"memref<{self.type}, #ts.smem{f'<{self.swizzle}>' if self.swizzle else ''}>"

    def attribute(self):
        extra = (f", align = {self.align}" if self.align else "") + (f", at = {self.at}" if self.at is not None else "")
        return f'#ts.alloc<"{self.name}" : {self.memory}{extra}{"" if self.staged else ", unstaged"}>'


@dataclasses.dataclass(eq=False)
class TmemAllocation(SmemAllocation):
    """Tensor memory of one stage: `type` is 128 lanes by columns ('128x128xf32'); `at` is the first column."""

    @property
    def memory(self):
        return f"memref<{self.type}, #ts.tmem>"


@dataclasses.dataclass
class ResourceContext:
    """Where memory begins: `smem_base` (bytes, i32) and `tmem_ptr_i32`, as values."""

    smem_base: object = None
    tmem_ptr_i32: object = None


@dataclasses.dataclass
class WorkTileInfo:
    """The tile at hand: `tile_idx`, one value for each dimension of the queue; `is_valid_tile` is true inside."""

    tile_idx: tuple = ()
    is_valid_tile: bool = True


class StageInfo:
    """What a work body is told: loop, stage, label, barrier, tile, memory.

    Attributes are those of the seeds; `view(name)` is the stage's view of an allocation, and so is an
    attribute of that name. Values are made when they are asked for.
    """

    def __init__(self, resource, label, views, emitter):
        self._resource, self.label, self._views, self._emitter = resource, label, views, emitter

    def view(self, allocation):
        """The stage's memory of an allocation, by name or by the allocation itself."""
        name = allocation if isinstance(allocation, str) else allocation.name
        if name not in self._views:
            unknown(f"'{self._resource.name}' has no allocation '{name}' here" + near(name, self._views))
        return self._views[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._views:
            return self._views[name]
        if name in self._emitter.STAGE_INFO:
            return self._emitter.stage_info(name)
        unknown(f"stage_info has no '{name}', and '{self._resource.name}' has no such allocation" +
                near(name, [*self._emitter.STAGE_INFO, *self._views]))


def _does_nothing(function):
    """Whether the code of a function is that of `...` or `pass` (or `return None`); `return` has a longer place."""
    code = [i for i in dis.get_instructions(function) if i.opname not in ("RESUME", "NOP")]
    if [i.opname for i in code] not in (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"]) or code[0].argval is not None:
        return False
    place = code[-1].positions
    return bool(place.col_offset is not None and place.end_col_offset - place.col_offset < len("return"))


class WorkMethod:
    """A method that reads or writes a resource, as a schedule sees it."""

    def __init__(self, function, produces, attrs, returns):
        self.function, self.produces, self.attrs = function, produces, attrs
        self.returns = [] if returns is None else list(returns) if isinstance(returns, (list, tuple)) else [returns]
        self.name = function.__name__
        self.__doc__ = function.__doc__

    @property
    def auxiliary(self):
        return WorkAttr.AUXILIARY in self.attrs

    def has_body(self):
        """Whether there is more than a docstring, `...` or `pass`."""
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(self.function)))
        except (OSError, SyntaxError, TypeError):  # typed at a prompt: there is no source
            return not _does_nothing(self.function)
        body = next((n.body for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), [])
        return any(not (isinstance(n, ast.Pass) or isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
                   for n in body)

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, resource, owner=None):
        return self if resource is None else _Bound(self, resource)


class _Bound:
    """A work method of a resource: calling it in a schedule records it."""

    def __init__(self, method, resource):
        self._method, self._resource, self.__doc__ = method, resource, method.__doc__

    def __call__(self, **arguments):
        return self._resource.record_work(self._method, arguments)


def producer_work(method=None, *, work_attrs=WorkAttr.NONE):
    """Registers a method that writes the resource. It is called with `stage_info` and the schedule's keywords.

    A keyword whose default is a TaskLocalVariable is what consumer work of the task wrote to that variable last, if the
    schedule passes nothing else.
    """
    if method is None:
        return lambda m: WorkMethod(m, True, work_attrs, None)
    return WorkMethod(method, True, work_attrs, None)


def consumer_work(method=None, *, work_attrs=WorkAttr.NONE, returns=None):
    """Registers a method that reads the resource. `returns` names the TaskLocalVariable fields that it updates."""
    if method is None:
        return lambda m: WorkMethod(m, False, work_attrs, returns)
    return WorkMethod(method, False, work_attrs, returns)


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class MemoryResource:
    """A named piece of memory, and the pipeline that guards it.

    Subclasses say what memory it is (`get_smem_requirements`, `get_tmem_requirements`) and have methods with
    @producer_work and @consumer_work. name: in reports. pipeline_config: None for memory that nothing guards.
    is_barrier: a signal without data.
    """

    name: str = ""
    is_barrier: bool = False
    pipeline_config: object = None
    pipeline_group: object = dataclasses.field(default=None, init=False)
    #: A subclass may say where it lives: a 'gmem' resource may have staging memory, for example.
    memory_space = None

    def __new__(cls, *arguments, **options):
        # Whatever __init__ a subclass has: diagnostics point at the line that makes the resource.
        resource = super().__new__(cls)
        resource.place = caller()
        return resource

    # What subclasses may say.
    def get_smem_requirements(self):
        """The SmemAllocation objects of this resource; none by default."""
        return []

    def get_tmem_requirements(self):
        """The TmemAllocation objects of this resource; none by default."""
        return []

    def get_producer_requirements(self):
        """The allocations that producer work touches; None: all."""
        return None

    def get_consumer_requirements(self):
        """The allocations that consumer work touches; None: all."""
        return None

    def physical_ranges(self):
        """(space, start, end) of memory the user placed; derived from allocations with `at`."""
        return [("tmem" if isinstance(a, TmemAllocation) else "smem", a.at, None)
                for a in self.allocations() if a.at is not None]

    # Operations of a schedule.
    def acquire(self):
        """The producer waits for a free stage."""
        record(Call(ScheduleStage.ProducerAcquire, self, caller()))

    def try_acquire(self):
        """The producer looks for a free stage; the acquire behind it waits."""
        record(Call(ScheduleStage.ProducerTryAcquire, self, caller()))

    def commit(self):
        """The producer hands the stage over."""
        record(Call(ScheduleStage.ProducerCommit, self, caller()))

    def wait(self):
        """The consumer waits for a full stage."""
        record(Call(ScheduleStage.ConsumerWait, self, caller()))

    def try_wait(self):
        """The consumer looks for a full stage; the wait behind it waits."""
        record(Call(ScheduleStage.ConsumerTryWait, self, caller()))

    def release(self):
        """The consumer gives the stage back."""
        record(Call(ScheduleStage.ConsumerRelease, self, caller()))

    def allocations(self):
        """All memory of the resource, one list however often it is asked for."""
        if "_allocations" not in self.__dict__:
            self._allocations = [*self.get_smem_requirements(), *self.get_tmem_requirements()]
        return self._allocations

    @property
    def space(self):
        """Where it lives: 'barrier', 'tmem', 'smem' or 'gmem'."""
        if self.memory_space:
            return self.memory_space
        if self.is_barrier:
            return "barrier"
        if any(isinstance(a, TmemAllocation) for a in self.allocations()):
            return "tmem"
        if self.allocations():
            return "smem"
        if self.pipeline_config is None:
            return "gmem"
        return "tmem" if self.pipeline_config.engines[0] == "umma" else "smem"

    @classmethod
    def work_methods(cls, produces):
        """Its producer or consumer work methods by name."""
        found = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, WorkMethod) and value.produces == produces:
                    found[name] = value
        hook = "producer_work" if produces else "consumer_work"
        if not found and hook in vars(cls):  # the monolithic hook
            found[hook] = WorkMethod(vars(cls)[hook], produces, WorkAttr.NONE, None)
        return found

    def task_local_variables(self):
        """Its TaskLocalVariable objects by field name."""
        found = {}
        for base in reversed(type(self).__mro__):
            for name, value in vars(base).items():
                if isinstance(value, TaskLocalVariable):
                    found[name] = value
        for name, value in vars(self).items():
            if isinstance(value, TaskLocalVariable):
                value.field_name = name
                found[name] = value
        return found

    def record_work(self, method, arguments):
        stage = ScheduleStage.ProducerWork if method.produces else ScheduleStage.ConsumerWork
        call = record(Call(stage, self, caller(), method, arguments))
        parameters = inspect.signature(method.function).parameters
        accepted = [p for p in list(parameters)[2:]]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        for name in arguments:
            if name not in accepted and not takes_any:
                unknown(f"'{self.name}.{method.name}' takes no '{name}'" +
                        (near(name, accepted, "; it takes ") if accepted else "; it takes nothing"))
        for name in accepted:
            slot = parameters[name].default
            if name not in arguments and isinstance(slot, TaskLocalVariable):
                arguments[name] = written(slot)
                if arguments[name] is None:
                    refuse("TS111", f"'{self.name}.{method.name}' takes '{name}' from a task-local variable that "
                           "nothing in this schedule has written")
        missing = [p for p in accepted if p not in arguments and parameters[p].default is inspect.Parameter.empty and
                   parameters[p].kind is not inspect.Parameter.VAR_KEYWORD]
        if missing:
            refuse("TS111", f"'{self.name}.{method.name}' also wants {', '.join(missing)}")
        if method.produces:
            call.variables = []
            return None
        if method.returns:
            call.variables = [self.slot_variable(slot) for slot in method.returns]
            return call.variables[0] if len(call.variables) == 1 else tuple(call.variables)
        return Returned(call, f"{self.name}.{method.name}")

    def slot_variable(self, slot):
        """The variable of a TaskLocalVariable of this resource, given as the object, its name or its field."""
        slots = self.task_local_variables()
        if isinstance(slot, TaskLocalVariable):
            name = slot.field_name
        elif isinstance(slot, str):
            name = slot
        else:
            name = getattr(slot, "name", None) or next((n for n, v in vars(type(self)).items() if v is slot), None)
        found = slots.get(name) or (slot if isinstance(slot, TaskLocalVariable) else None)
        if found is None:
            unknown(f"'{self.name}' has no TaskLocalVariable '{name}'" +
                    near(name, slots, None) + ": assign one in __init__ or __post_init__")
        variables = self.__dict__.setdefault("_variables", {})
        return variables.setdefault(name, Variable(f"{self.name}.{name}", found))

    def run_stage(self, stage, label=None):
        """Records an entry of a raw schedule list."""
        if stage in (ScheduleStage.ProducerWork, ScheduleStage.ProducerAuxWork, ScheduleStage.ConsumerWork,
                     ScheduleStage.ConsumerAuxWork):
            produces = stage in (ScheduleStage.ProducerWork, ScheduleStage.ProducerAuxWork)
            return self.record_work(self.work_method(produces, label), {})
        return record(Call(stage, self, caller()))

    def work_method(self, produces, label):
        """The method that a label means; a single one needs no label."""
        methods = self.work_methods(produces)
        side = "producer" if produces else "consumer"
        if label is None:
            if len(methods) == 1:
                return next(iter(methods.values()))
            unknown(f"'{self.name}' has {len(methods)} {side} work methods, so a label has to say which: "
                    f"{', '.join(methods) or 'there is none'}")
        if label not in methods:
            unknown(f"'{self.name}' has no {side} work '{label}'" + near(label, methods))
        return methods[label]

    def __getattr__(self, name):
        # Only asked for what is not there: most often a misspelt work method.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in INSTEAD:
            raise AttributeError(f"'{name}' is no part of a resource here: {INSTEAD[name]}")
        known = [*self.work_methods(True), *self.work_methods(False), "acquire", "commit", "wait", "release",
                 "try_wait", "try_acquire"]
        unknown(f"'{self.__dict__.get('name') or type(self).__name__}' has no '{name}'" + near(name, known, None))

    def __repr__(self):
        config = self.pipeline_config
        guard = f", {config.pipeline_type.name} x {config.num_stages}" if config else ""
        return f"<{type(self).__name__} '{self.name}': {self.space}{guard}>"
