# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vectors, wgmma accumulators and fragments, and barriers by hand: ops whose result types follow from what they
are given, or that have a body. Part of `mlir_ts.dsl`, under whose name users find all of it.

An accumulator (`!ts.wgmma<64xNxf32>`) is in flight between `wgmma` and `wgmma_wait`; what comes out of the wait
may be a fragment (`!ts.fragment<64xNxf32>`), on which one can compute. A value for each row of a fragment is a
`vector<2xf32>`: a thread has rows r and r + 8.
"""
import contextlib
import re

from mlir_ts import dsl, ir, ops

__all__ = ["broadcast", "fma", "vector_load", "vector_store", "extract", "vector_reduce", "elect", "fragment_map",
           "fragment_reduce", "wgmma", "wgmma_zero", "wgmma_start", "wgmma_wait", "named_barrier", "mbarrier"]


def _element(type):
    """The element type of a vector, accumulator or fragment."""
    return type.element or dsl.type_of(re.search(r"x([^x]+)>$", str(type))[1])


def _place():
    return dsl.here(dsl._context())


def _value(op):
    values = [dsl.Value(r) for r in op.results]
    return values[0] if len(values) == 1 else tuple(values)


def broadcast(value, type):
    """A vector ('vector<2xf32>') whose elements are all `value`, a number or a scalar of its element type."""
    kind = dsl.type_of(type)
    return dsl.Value(dsl.emit("vector.broadcast", [dsl.unwrap(value, kind.element)], [kind]).result)


def fma(a, b, c):
    """a * b + c, rounded once; floats or vectors of floats. Numbers get the type of `a`."""
    if not isinstance(b, dsl.Value):
        b = dsl._like(b, a)
    if not isinstance(c, dsl.Value):
        c = dsl._like(c, a)
    return dsl.Value(dsl.emit("math.fma", [a, b, c], [a.type]).result)


def vector_load(memory, indices, type):
    """Consecutive elements of the last dimension: `dsl.vector_load(view, (row, 0), "vector<32xf32>")`."""
    return dsl.Value(dsl.emit("vector.load", [memory, *map(dsl.unwrap, indices)], [dsl.type_of(type)]).result)


def vector_store(value, memory, indices):
    """Writes a vector to consecutive elements of the last dimension, from `indices` on."""
    dsl.emit("vector.store", [value, memory, *map(dsl.unwrap, indices)], [])


def extract(value, position):
    """One element of a vector; the position is an int."""
    attributes = {"static_position": ir.Attribute.array_i64(dsl._context(), [position])}
    return dsl.Value(dsl.emit("vector.extract", [value], [value.type.element], attributes).result)


def vector_reduce(kind, value):
    """The elements of a vector combined: kind 'add', 'mul', 'maximumf', 'minimumf', 'maxsi', 'minsi', 'and', 'or'."""
    attribute = ir.Attribute.parse(dsl._context(), f"#vector.kind<{kind}>")
    return dsl.Value(dsl.emit("vector.reduction", [value], [value.type.element], {"kind": attribute}).result)


@contextlib.contextmanager
def elect():
    """`with dsl.elect(): ...` runs its block in one thread of each warp."""
    made = ops.elect(location=_place())
    with ir.at(ir.add_block(made)):
        yield
        ops.yield_()


def fragment_map(function, *inputs, results, at=False):
    """Applies a function to each element of fragments of one shape: it gets the elements and returns one or several.

    `results` are the fragment types of what it returns. Of a `vector<2xT>` it gets the value of the element's row.
    at=True: behind the elements it also gets row and column in the 64 x N tile (i32); no input is needed then.
    """
    types = [dsl.type_of(r) for r in (results if isinstance(results, (list, tuple)) else [results])]
    made = ops.fragment_map(inputs=[v.ir for v in inputs], results=types, location=_place())
    block = ir.add_block(made, [*(_element(v.type) for v in inputs), *([dsl.type_of("i32")] * 2 if at else [])])
    with ir.at(block):
        out = function(*[dsl.Value(a) for a in block.arguments])
        out = list(out) if isinstance(out, (tuple, list)) else [out]
        ops.yield_(values=[dsl.unwrap(v, _element(t)) for v, t in zip(out, types, strict=True)])
    return _value(made)


def fragment_reduce(kind, value, *, partial=False):
    """'add', 'min' or 'max' over each row of a fragment: a `vector<2xT>`.

    partial: each thread combines its own quarter of a row only; the same op on the vector combines these later.
    """
    element = _element(value.type)
    return _value(ops.fragment_reduce(kind, value.ir, partial=partial, results=[dsl.type_of(f"vector<2x{element}>")],
                                      location=_place()))


def wgmma_zero(type):
    """Zero accumulators of type `!ts.wgmma<64xNxf32>`."""
    return _value(ops.wgmma_zero(results=[dsl.type_of(type)], location=_place()))


def wgmma_start(fragment):
    """Accumulators that start from a fragment."""
    kind = dsl.type_of(str(fragment.type).replace("fragment", "wgmma"))
    return _value(ops.wgmma_start(fragment.ir, results=[kind], location=_place()))


def wgmma(a, b, accumulators, *, accumulate=None, transpose_a=False, transpose_b=False):
    """Issues D (64 x N) += A (64 x K) B^T (N x K) of a warpgroup; A is shared memory or a fragment.

    accumulate: an i1 or a bool; false overwrites. transpose_b: B lies as K x N. Follow it with `wgmma_commit`.
    """
    if accumulate is not None:
        accumulate = dsl.unwrap(accumulate)
    return _value(ops.wgmma(a.ir, b.ir, accumulators.ir, accumulate=accumulate, transpose_a=transpose_a,
                            transpose_b=transpose_b, results=[accumulators.type], location=_place()))


def wgmma_wait(pending, *values, results=None):
    """Waits until at most `pending` groups are in flight; gives the values back, as `results` types if given.

    Pass the accumulators, and the fragments that products in flight read as A.
    """
    types = [v.type for v in values] if results is None else [
        dsl.type_of(r) for r in (results if isinstance(results, (list, tuple)) else [results])]
    return _value(ops.wgmma_wait(pending, values=[v.ir for v in values], results=types, location=_place()))


def named_barrier(name, threads, id=None):
    """A hardware barrier of the kernel, for `barrier_sync` and `barrier_arrive` in work bodies.

    Call it in the kernel function, in front of the TaskManager. id: 1 to 15, else the compiler chooses.
    """
    return _value(ops.named_barrier(name, threads, id=id, location=_place()))


def mbarrier(name, count):
    """An mbarrier of the kernel by hand, for `mbarrier_arrive` and `mbarrier_wait` in work bodies.

    count: arrivals of a phase. Call it in the kernel function, in front of the TaskManager.
    """
    return _value(ops.mbarrier(name, count, location=_place()))
