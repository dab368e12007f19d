# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the generated builders of mlir_ts.ops share. Not for users."""
from mlir_ts import ir
from mlir_ts._core import Attribute, Block, InsertionPoint, Type, Value
from mlir_ts.errors import Error, blamed


def _group(group, name):
    """The values of an operand: none, one or several."""
    if group is None:
        return []
    if isinstance(group, Value):
        return [group]
    values = list(group)
    for value in values:
        if not isinstance(value, Value):
            raise Error(f"an operand of '{name}' is of type {type(value).__name__}; expected a Value (ir.constant and "
                        "dsl.const make one)")
    return values


def _spelled(context, kind, value):
    """A plain value as the attribute that the op's definition asks for."""
    if isinstance(value, Attribute):
        return value
    if kind.startswith("enum "):
        with blamed(f"'{value}'"):
            return Attribute.parse(context, f"#ts<{kind.removeprefix('enum ')} {value}>")
    if kind == "array_i64":
        return Attribute.array_i64(context, list(value))
    if kind == "array_i32":
        return Attribute.array_i32(context, list(value))
    if kind == "array_bool":
        return Attribute.parse(context, f"array<i1: {', '.join(str(bool(v)).lower() for v in value)}>")
    return Attribute.integer(Type.parse(context, kind), value)


def build(name, groups, attributes, units, *, segmented, regions, rule, kinds=None, results, at, location):
    point = at if at is not None else ir.current_point()
    if isinstance(point, Block):
        point = InsertionPoint.at_end(point)
    context = point.block.owner.context
    groups = [_group(group, name) for group in groups]
    given = {}
    for key, value in attributes.items():
        if key in units:
            if value:
                given[key] = None if value is True else value
        elif value is not None:
            given[key] = _spelled(context, kinds[key], value) if kinds and key in kinds else value
    if segmented:
        given["operandSegmentSizes"] = Attribute.array_i32(context, [len(group) for group in groups])
    place = location if location is not None else ir.current_location(context)
    if results is None and rule == "none":
        results = []
    elif results is not None and not isinstance(results, (list, tuple)):
        results = [results]
    from mlir_ts import _core
    return _core.create(point, name, [v for group in groups for v in group],
                        None if results is None else list(results), given, regions, place, [])
