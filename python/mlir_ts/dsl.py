# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run-time values of work bodies: arithmetic by operators, control flow, memory, and every ts op.

A work body is ordinary Python that runs once, when the kernel is built. What it computes with `Value`s
becomes code of the kernel; Python's own `if` and `for` decide what code there is. Run-time decisions are
`where`, `if_` and `for_`. Each op records the line of the user's source that made it.

    i = stage_info.loop_offset * 64          # index arithmetic
    dsl.tma_load(A, stage_info.a, coords=(row, i))
    x = dsl.load(view, (r, c)); dsl.store(x * 2.0, view, (r, c))

Not for whole kernels: see `mlir_ts.kernels` and `mlir_ts.task_scheduling`.
"""
import contextlib
import functools
import inspect

from mlir_ts import ir, ops
from mlir_ts._core import Attribute, Location
from mlir_ts._where import caller
from mlir_ts.errors import Error, blamed

__all__ = ["Value", "const", "cast", "where", "minimum", "maximum", "exp2", "log2", "sqrt", "rsqrt", "exp", "absolute",
           "load", "store", "subview", "if_", "for_", "op", "ceildiv"]


def _context():
    return ir.current_point().block.owner.context


def here(context):
    """The user's line as a location."""
    place = caller()
    return Location.file(context, place.file, place.line)


def type_of(text):
    """A type in its MLIR spelling, in the module that is being built."""
    if isinstance(text, ir.Type):
        return text
    with blamed(f"'{text}'"):
        return ir.Type.parse(_context(), text)


def emit(name, operands=(), results=None, attributes=None, regions=0):
    """Creates an op at the current place with the user's line, and returns it."""
    return ir.create(name, [unwrap(v) for v in operands], results, attributes, regions, location=here(_context()))


def unwrap(value, like=None):
    """The IR value of a Value or a number; a number gets the type of `like`, or index / f32."""
    if isinstance(value, Value):
        return value.ir
    if isinstance(value, ir.Value):
        return value
    if isinstance(value, (bool, int, float)):
        return const(value, like).ir
    if getattr(value, "of_schedule", False):
        raise Error(f"{value!r} is of the schedule; a work body sees its value as an argument")
    raise Error(f"a {type(value).__name__} is no run-time value; expected a Value, an int, a float or a bool")


def const(value, type=None):
    """A constant: of the given type, else i1 for bool, index for int, f32 for float."""
    if type is None:
        type = "i1" if isinstance(value, bool) else "index" if isinstance(value, int) else "f32"
    kind = type_of(type)
    attribute = Attribute.float(kind, float(value)) if kind.is_float else Attribute.integer(kind, int(value))
    return Value(emit("arith.constant", (), [kind], {"value": attribute}).result)


# Operator -> (ops on integers and index, on floats).
_ARITHMETIC = {"add": ("arith.addi", "arith.addf"), "sub": ("arith.subi", "arith.subf"),
               "mul": ("arith.muli", "arith.mulf"), "truediv": (None, "arith.divf"),
               "floordiv": ("arith.floordivsi", None), "mod": ("arith.remsi", "arith.remf"),
               "and": ("arith.andi", None), "or": ("arith.ori", None), "xor": ("arith.xori", None),
               "lshift": ("arith.shli", None), "rshift": ("arith.shrsi", None)}
# Comparison -> (predicate of cmpi, of cmpf), as numbers of the arith dialect.
_COMPARISONS = {"eq": (0, 1), "ne": (1, 6), "lt": (2, 4), "le": (3, 5), "gt": (4, 2), "ge": (5, 3)}


def _scalar(type):
    return type.element or type


def _pair(a, b):
    """Both operands, a number on either side in the type of the other."""
    if isinstance(a, Value):
        return a, b if isinstance(b, Value) else _like(b, a)
    return _like(a, b), b


def _like(number, value):
    kind = _scalar(value.type)
    if isinstance(number, float) and not kind.is_float:
        raise Error(f"{number} is a float, the other operand {value.type}; convert one: dsl.cast")
    scalar = const(number, kind)
    if value.type.element is None:
        return scalar
    return Value(emit("vector.broadcast", [scalar], [value.type]).result)


def _binary(name, a, b):
    a, b = _pair(a, b)
    if a.type != b.type:
        raise Error(f"operands of types {a.type} and {b.type}; convert one: dsl.cast(value, '{a.type}')")
    op = _ARITHMETIC[name][_scalar(a.type).is_float]
    if op is None:
        other = "//" if name == "truediv" else "dsl.cast"
        raise Error(f"'{name}' does not work on {a.type}; use {other}")
    return Value(emit(op, [a, b], [a.type]).result)


def _compare(name, a, b):
    a, b = _pair(a, b)
    if a.type != b.type:
        raise Error(f"cannot compare {a.type} with {b.type}; convert one: dsl.cast")
    is_float = _scalar(a.type).is_float
    predicate = Attribute.integer(type_of("i64"), _COMPARISONS[name][is_float])
    shape = a.type.shape
    kind = type_of("i1" if shape is None else f"vector<{'x'.join(map(str, shape))}xi1>")
    return Value(emit("arith.cmpf" if is_float else "arith.cmpi", [a, b], [kind], {"predicate": predicate}).result)


class Value:
    """A run-time value: a number, vector, memory view, fragment, barrier... in `ir`, with `type`."""

    __slots__ = ("ir",)
    __hash__ = None

    def __init__(self, value):
        self.ir = value

    @property
    def type(self):
        """The MLIR type."""
        return self.ir.type

    def __bool__(self):
        raise Error("a run-time value has no truth while the kernel is built: use dsl.where or dsl.if_ for what is "
                    "decided when it runs")

    def __index__(self):
        raise Error("a run-time value is no Python int: use dsl.for_ for loops that run in the kernel")

    __int__ = __float__ = __iter__ = __index__

    def __neg__(self):
        if _scalar(self.type).is_float:
            return Value(emit("arith.negf", [self], [self.type]).result)
        return _binary("sub", 0, self)

    def __invert__(self):
        return _binary("xor", self, True if self.type.width == 1 else -1)

    def __getitem__(self, indices):
        return load(self, indices)

    def __setitem__(self, indices, value):
        store(value, self, indices)

    def __repr__(self):
        return f"<Value {self.type}>"


def _install():
    for name in _ARITHMETIC:
        setattr(Value, f"__{name}__", functools.partialmethod(lambda self, other, n: _binary(n, self, other), n=name))
        setattr(Value, f"__r{name}__", functools.partialmethod(lambda self, other, n: _binary(n, other, self), n=name))
    for name in _COMPARISONS:
        setattr(Value, f"__{name}__", functools.partialmethod(lambda self, other, n: _compare(n, self, other), n=name))


_install()


def ceildiv(a, b):
    """a / b rounded up, for integers of which b is positive."""
    a, b = _pair(a, b)
    return Value(emit("arith.ceildivsi", [a, b], [a.type]).result)


def where(condition, a, b):
    """a where the condition is true, else b."""
    a, b = _pair(a, b) if isinstance(a, Value) or isinstance(b, Value) else (const(a), const(b))
    return Value(emit("arith.select", [condition, a, b], [a.type]).result)


def minimum(a, b):
    """The smaller one; of floats, NaN if one is."""
    a, b = _pair(a, b)
    return Value(emit("arith.minimumf" if _scalar(a.type).is_float else "arith.minsi", [a, b], [a.type]).result)


def maximum(a, b):
    """The larger one; of floats, NaN if one is."""
    a, b = _pair(a, b)
    return Value(emit("arith.maximumf" if _scalar(a.type).is_float else "arith.maxsi", [a, b], [a.type]).result)


def _math(name, compute=None):
    """A function of f32 and of vectors of it; narrower floats go through f32, since PTX has no such instructions."""
    def function(value):
        value = value if isinstance(value, Value) else const(float(value))
        kind = _scalar(value.type)
        if not kind.is_float:
            raise Error(f"a function of floats, called with {value.type}; convert it: dsl.cast(value, 'f32')")
        if kind.width < 32:
            return cast(function(cast(value, _as(value.type, "f32"))), value.type)
        return compute(value) if compute else Value(emit(f"math.{name}", [value], [value.type]).result)
    function.__name__ = function.__qualname__ = "absolute" if name == "absf" else name
    function.__doc__ = f"math.{name} of a float or a vector of floats, computed in f32; f64 has no such instruction."
    return function


def _as(type, element):
    """The type with other elements: of a number, or of a vector."""
    shape = type.shape
    return type_of(element if shape is None else f"vector<{'x'.join(map(str, shape))}x{element}>")


def _each(function, vector):
    """A function of a number, for each element of a vector."""
    if vector.type.shape is None:
        return function(vector)
    out = vector
    for i in range(vector.type.shape[0]):
        at = {"static_position": Attribute.array_i64(_context(), [i])}
        element = Value(emit("vector.extract", [vector], [vector.type.element], at).result)
        out = Value(emit("vector.insert", [function(element), out], [vector.type], at).result)
    return out


def _log2(value):
    """The instruction, for numbers of normal size: smaller ones are multiplied by 2^64 first, exactly."""
    small = value < 2.0**-126
    scaled = where(small, value * 2.0**64, value)
    attributes = {"intrin": "llvm.nvvm.lg2.approx.f", "op_bundle_sizes": Attribute.array_i32(_context(), []),
                  "operandSegmentSizes": Attribute.array_i32(_context(), [1, 0])}
    found = Value(emit("llvm.call_intrinsic", [scaled], [value.type], attributes).result)
    return found - where(small, const(64.0), const(0.0))


# Those that are not one instruction of PTX are made of those that are.
exp2, sqrt, absolute = (_math(n) for n in ("exp2", "sqrt", "absf"))
exp = _math("exp", lambda value: exp2(value * 1.4426950408889634))
log2 = _math("log2", lambda value: _each(_log2, value))
rsqrt = _math("rsqrt", lambda value: 1.0 / sqrt(value))


def cast(value, type):
    """Converts between index, integers and floats (rounding to nearest, towards zero to integers)."""
    value = value if isinstance(value, Value) else const(value)
    source, target = value.type, type_of(type)
    if source == target:
        return value
    a, b = _scalar(source), _scalar(target)
    if a.is_float and b.is_float:
        name = "arith.extf" if a.width < b.width else "arith.truncf"
    elif a.is_index or b.is_index:
        if a.is_float or b.is_float:
            return cast(cast(value, "i64"), target)
        name = "arith.index_cast"
    elif a.is_float:
        name = "arith.fptosi"
    elif b.is_float:
        name = "arith.uitofp" if a.width == 1 else "arith.sitofp"
    else:
        name = "arith.trunci" if a.width > b.width else "arith.extui" if a.width == 1 else "arith.extsi"
    return Value(emit(name, [value], [target]).result)


def load(memory, indices):
    """One element of a memory view."""
    indices = indices if isinstance(indices, tuple) else (indices,)
    return Value(emit("memref.load", [memory, *indices], [memory.type.element]).result)


def store(value, memory, indices):
    """Writes one element of a memory view."""
    indices = indices if isinstance(indices, tuple) else (indices,)
    kind = memory.type.element
    emit("memref.store", [Value(unwrap(value, kind)), memory, *indices], [])


def subview(memory, offsets, sizes, result):
    """A window into a memory view: offsets are values or ints, sizes ints; `result` is its MLIR type."""
    dynamic, static = [], []
    for offset in offsets:
        if isinstance(offset, int):
            static.append(offset)
        else:
            static.append(-(2**63))
            dynamic.append(offset)
    context = _context()
    attributes = {"static_offsets": Attribute.array_i64(context, static),
                  "static_sizes": Attribute.array_i64(context, list(sizes)),
                  "static_strides": Attribute.array_i64(context, [1] * len(static)),
                  "operandSegmentSizes": Attribute.array_i32(context, [1, len(dynamic), 0, 0])}
    return Value(emit("memref.subview", [memory, *dynamic], [type_of(result)], attributes).result)


class _Traced:
    """A block that was traced, and what it yields."""

    def __init__(self):
        self.values = None

    def yield_(self, *values):
        """The values that leave the block."""
        self.values = list(values)


def _results(op):
    return [Value(r) for r in op.results]


def if_(condition, then=None, otherwise=None):
    """A run-time decision.

    `with dsl.if_(c): ...` runs the block where c is true. `dsl.if_(c, f, g)` calls two functions, once each,
    and returns what they return, chosen at run time: a Value or a tuple of them.
    """
    if then is None:
        return _if_block(condition)
    context = _context()
    probe = emit("scf.if", [condition], [], None, 2)
    outcomes = []
    for region, function in zip(probe.regions, (then, otherwise or (lambda: ()))):
        block = region.add_block([], here(context))
        with ir.at(block):
            out = function()
            out = [] if out is None else list(out) if isinstance(out, (tuple, list)) else [out]
            out = [v if isinstance(v, Value) else const(v) for v in out]
            emit("scf.yield", out, [])
        outcomes.append(out)
    types = [[v.type for v in out] for out in outcomes]
    if types[0] != types[1]:
        raise Error(f"the two sides of an if_ give {[str(t) for t in types[0]]} and {[str(t) for t in types[1]]}")
    final = emit("scf.if", [condition], types[0], None, 2)
    for region, traced in zip(final.regions, probe.regions):
        region.take(traced)
    probe.erase()
    results = _results(final)
    return None if not results else results[0] if len(results) == 1 else tuple(results)


@contextlib.contextmanager
def _if_block(condition):
    op = emit("scf.if", [condition], [], None, 2)
    block = op.regions[0].add_block([], here(op.context))
    with ir.at(block):
        yield
        emit("scf.yield", [], [])


class for_:
    """A loop that runs in the kernel.

    `for i in dsl.for_(0, n): ...` runs its body once while the kernel is built. With values that go from one
    iteration to the next:

        loop = dsl.for_(0, n, init=(total,))
        with loop as (i, total):
            loop.yield_(total + x)
        total, = loop.results
    """

    def __init__(self, start, end, step=1, init=()):
        bounds = [v if isinstance(v, Value) else const(v) for v in (start, end, step)]
        self._init = [v if isinstance(v, Value) else const(v) for v in init]
        self._op = emit("scf.for", [*bounds, *self._init], [v.type for v in self._init], None, 1)
        types = [bounds[0].type, *(v.type for v in self._init)]
        self._block = self._op.regions[0].add_block(types, here(self._op.context))
        self._yielded, self._outer = None, None
        self.results = None

    def yield_(self, *values):
        """The values of the next iteration."""
        if len(values) != len(self._init):
            raise Error(f"the loop carries {len(self._init)} values; yield_ got {len(values)}")
        self._yielded = [Value(unwrap(v, i.type)) for v, i in zip(values, self._init)]

    def __enter__(self):
        self._outer = ir.enter(self._block)
        arguments = [Value(a) for a in self._block.arguments]
        return arguments[0] if not self._init else tuple(arguments)

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                if self._init and self._yielded is None:
                    raise Error("the loop carries values; say with yield_ what the next iteration gets")
                emit("scf.yield", self._yielded or [], [])
                self.results = _results(self._op)
        finally:
            ir.leave(self._block, self._outer)

    def __iter__(self):
        if self._init:
            raise Error("a loop with init is used as 'with loop as (i, ...)'")
        with self as i:
            yield i


def op(name, *operands, results=None, **attributes):
    """Any op of any dialect; returns its value, a tuple of values, or None."""
    made = emit(name, operands, None if results is None else [type_of(r) for r in results], attributes)
    values = _results(made)
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _operand(argument):
    """What a builder takes for a value: numbers are constants."""
    if isinstance(argument, (tuple, list)):
        return [unwrap(a) for a in argument]
    return argument if argument is None else unwrap(argument)


def _ts(name):
    builder = getattr(ops, name)
    parameters = list(inspect.signature(builder).parameters)

    def given(parameter, argument):
        if parameter in ops.OPERANDS[name]:
            return _operand(argument)
        return argument.ir if isinstance(argument, Value) else argument

    @functools.wraps(builder)
    def function(*arguments, results=None, **options):
        if results is not None:
            results = [type_of(r) for r in (results if isinstance(results, (list, tuple)) else [results])]
        made = builder(*map(given, parameters, arguments), results=results, location=here(_context()),
                       **{key: given(key, value) for key, value in options.items()})
        values = _results(made)
        return None if not values else values[0] if len(values) == 1 else tuple(values)
    return function


# Work ops of the dialect under their own names: dsl.tma_load, dsl.umma, dsl.wgmma, dsl.tmem_load, ...
_SCHEDULE_OPS = {"acquire", "alias_group", "baton", "commit", "consume", "depends", "fetch_tile", "for_", "guard",
                 "kernel", "named_barrier", "next_tile", "pdl", "pipeline_group", "produce", "release", "resource",
                 "skippable", "task", "tile_loop", "try_acquire", "try_wait", "wait", "when", "work_queue", "yield_",
                 "mbarrier", "griddep_wait", "griddep_launch", "take", "pass_", "elect", "fragment_map",
                 "fragment_reduce", "wgmma", "wgmma_zero", "wgmma_start", "wgmma_wait"}
for _name in ops.__all__:
    if _name not in _SCHEDULE_OPS:
        globals()[_name] = _ts(_name)
        __all__.append(_name)


# What needs more than that: bodies, result types that follow from the operands.
from mlir_ts import registers  # noqa: E402
for _name in registers.__all__:
    globals()[_name] = getattr(registers, _name)
    __all__.append(_name)
