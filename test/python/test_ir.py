# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level 1: parsing, building, stale handles, and every example rebuilt op by op."""
import glob
import os

import pytest

import mlir_ts
from mlir_ts import ir, ops

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = sorted(glob.glob(os.path.join(ROOT, "examples", "**", "*.mlir"), recursive=True))


@pytest.mark.parametrize("path", EXAMPLES, ids=[os.path.relpath(p, ROOT) for p in EXAMPLES])
def test_examples_rebuilt_through_the_builders(path):
    with open(path) as file:
        text = file.read()
    context = ir.Context()
    module = ir.Module.parse(context, text, path)
    rebuilt = ir.Module.create(context)
    for op in module.body.operations:
        ir.clone_into(op, rebuilt.body)
    rebuilt.verify()
    assert str(rebuilt) == str(module)


def test_parse_error_is_an_exception_with_a_place():
    with pytest.raises(mlir_ts.CompileError) as caught:
        ir.Module.parse(ir.Context(), "gpu.module @m {\n  ts.kernel @k() warps(x) {}\n}", "bad.mlir")
    assert caught.value.file == "bad.mlir" and caught.value.line == 2
    assert "integer" in str(caught.value).splitlines()[0]


def test_stale_handles_raise():
    context = ir.Context()
    module = ir.Module.parse(context, "module { arith.constant 1 : index }")
    op = module.body.operations[0]
    value = op.result
    op.erase()
    for use in (lambda: op.name, lambda: value.type, lambda: str(op)):
        with pytest.raises(mlir_ts.Error, match="gone"):
            use()
    assert len(module.body) == 0


def test_passes_make_handles_stale():
    module = ir.Module.parse(ir.Context(), "module { arith.constant 1 : index }")
    op = module.body.operations[0]
    ir.run_passes(module, "builtin.module(canonicalize)")
    with pytest.raises(mlir_ts.Error, match="gone"):
        op.name
    with pytest.raises(mlir_ts.Error, match="no pass pipeline"):
        ir.run_passes(module, "builtin.module(no-such-pass)")


def test_unknown_op_suggests():
    module = ir.Module.create(ir.Context())
    with pytest.raises(mlir_ts.Error, match="did you mean 'arith.constant'"):
        ir.create("arith.constnat", at=module.body)


def test_wrong_operand_is_named():
    module = ir.Module.create(ir.Context())
    with ir.at(module.body), pytest.raises(mlir_ts.Error, match="expected a Value"):
        ops.acquire(3)


def test_erase_of_a_used_value_is_refused():
    context = ir.Context()
    module = ir.Module.create(context)
    with ir.at(module.body):
        one = ir.constant(1, ir.index(context))
        ir.create("arith.addi", [one, one])
    with pytest.raises(mlir_ts.Error, match="still used by 'arith.addi'"):
        one.owner.erase()


def test_kernel_by_builders():
    """A compiler of another project: a kernel without the authoring layer."""
    context = ir.Context()
    module = ir.Module.create(context)
    gpu = ir.create("gpu.module", (), [], {"sym_name": "m", "ts.chip": "sm_90a"}, 1, at=module.body)
    kernel = ops.kernel("k", ["X"], [""], [0], 1, [1, 1, 1], at=ir.add_block(gpu))
    block = ir.add_block(kernel, [ir.Type.parse(context, "memref<64xf32>")])
    with ir.at(block):
        source = ops.resource("source", "gmem", []).result
        out = ops.resource("out", "gmem", []).result
        ops.depends(out, upstream=[source])
        task = ops.task("fill", 0, 1, reads=[source], writes=[out])
        with ir.at(ir.add_block(task)):
            with ir.at(ir.add_block(ops.consume(source, "nothing"))):
                ops.yield_()
            work = ops.produce(out, "fill")
            with ir.at(ir.add_block(work)):
                lane = ops.info("lane", results=ir.index(context)).result
                two = ir.constant(2.0, ir.Type.parse(context, "f32"))
                ir.create("memref.store", [two, block.arguments[0], lane], [])
                ops.yield_()
            ops.yield_()
        ops.yield_()
    module.verify()
    compiled = mlir_ts.compile(module)
    assert compiled.proven and ".entry k" in compiled.ptx
    import numpy as np
    x = np.zeros(64, np.float32)
    compiled(x)
    assert (x[:32] == 2).all() and (x[32:] == 0).all()
