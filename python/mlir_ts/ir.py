# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level 1: the IR. Contexts, modules, ops, types, attributes; building any op; running passes.

    from mlir_ts import ir, ops
    context = ir.Context()
    module = ir.Module.parse(context, open("gemm.mlir").read(), "gemm.mlir")
    for op in module.operation.walk():
        print(op.name)

New ops go to the current insertion point, and get the current location:

    with ir.at(ir.InsertionPoint.at_end(block)), ir.location(ir.Location.file(context, "k.py", 3)):
        zero = ir.constant(0, ir.index(context))
        ops.acquire(resource)

Programs that are wrong raise `CompileError` when they are parsed, verified or compiled. Building does
not verify: `Operation.verify()` does. Not for authoring kernels by hand: see `mlir_ts.task_scheduling`.
"""
import contextlib
import contextvars
import numbers

from mlir_ts._core import (Attribute, Block, Context, InsertionPoint, Location, Module, Operation, Region, Type,
                           Value, run_passes)
from mlir_ts import _core
from mlir_ts.errors import Error

__all__ = ["Attribute", "Block", "Context", "InsertionPoint", "Location", "Module", "Operation", "Region", "Type",
           "Value", "run_passes", "create", "at", "location", "current_point", "current_location", "add_block",
           "constant", "index", "type_of", "clone_into"]

_point = contextvars.ContextVar("mlir_ts_insertion_point", default=None)
_location = contextvars.ContextVar("mlir_ts_location", default=None)


@contextlib.contextmanager
def at(point):
    """New ops go there: an `InsertionPoint`, or a `Block` (its end)."""
    if isinstance(point, Block):
        point = InsertionPoint.at_end(point)
    token = _point.set(point)
    try:
        yield point
    finally:
        _point.reset(token)


def enter(block):
    """As `at`, for what leaves by hand: returns what `leave` wants."""
    outer = _point.get()
    _point.set(InsertionPoint.at_end(block))
    return outer


def leave(block, outer):
    """Back to where `enter` was called, unless that is left already: generators end late after an exception."""
    point = _point.get()
    if point is not None and point.block == block:
        _point.set(outer)


@contextlib.contextmanager
def location(place):
    """New ops come from there."""
    token = _location.set(place)
    try:
        yield place
    finally:
        _location.reset(token)


def current_point():
    """The insertion point of the innermost `at`; raises where there is none."""
    point = _point.get()
    if point is None:
        raise Error("there is no insertion point: use 'with ir.at(...)', or pass at=")
    return point


def current_location(context):
    """The location of the innermost `location`, or an unknown one."""
    place = _location.get()
    return place if place is not None else Location.unknown(context)


def create(name, operands=(), results=None, attributes=None, regions=0, *, at=None, location=None, successors=()):
    """Creates any op of any dialect and returns it.

    `results` are the types of the results; without them they follow from the operands, where the op has
    such a rule. `attributes` are plain Python values or `Attribute`; None leaves one out.
    """
    point = at if at is not None else current_point()
    if isinstance(point, Block):
        point = InsertionPoint.at_end(point)
    place = location if location is not None else current_location(point.block.owner.context)
    attributes = {key: value for key, value in (attributes or {}).items() if value is not None}
    return _core.create(point, name, list(operands), None if results is None else list(results), attributes, regions,
                        place, list(successors))


def add_block(region, types=(), location=None):
    """Appends a block with arguments of these types to a region, or to the first region of an op."""
    if isinstance(region, Operation):
        region = region.regions[0]
    if location is None:
        location = _location.get()
    if location is None:
        # A block argument without a place of its own has that of the op around it.
        location = region.owner.location
    return region.add_block(list(types), location)


def index(context):
    """The type `index`."""
    return Type.parse(context, "index")


def type_of(context, text):
    """Short for `Type.parse`, for types in their MLIR spelling."""
    return Type.parse(context, text)


def constant(value, type, *, at=None, location=None):
    """An `arith.constant` of an integer, index or float type; returns its value."""
    if not isinstance(value, numbers.Real):
        raise Error(f"a constant of type {type} is a number, not {value!r}")
    attribute = Attribute.float(type, value) if type.is_float else Attribute.integer(type, int(value))
    return create("arith.constant", (), [type], {"value": attribute}, at=at, location=location).result


def clone_into(op, block, values=None):
    """Builds `op`, with everything in it, again at the end of `block`, op by op through `create`.

    `values` maps values that are defined outside `op` to what stands for them; it is extended by what is
    built. Returns the new op. A program copied so prints as the one it was copied from.
    """
    values = {} if values is None else values
    attributes = dict(op.attributes)
    new = create(op.name, [values.get(v, v) for v in op.operands], [v.type for v in op.results], attributes,
                 len(op.regions), at=InsertionPoint.at_end(block), location=op.location)
    values.update(zip(op.results, new.results))
    for old, made in zip(op.regions, new.regions):
        for inner in old.blocks:
            target = made.add_block([a.type for a in inner.arguments], op.location)
            values.update(zip(inner.arguments, target.arguments))
            for child in inner.operations:
                clone_into(child, target, values)
    return new
