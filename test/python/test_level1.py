# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example of a compiler that emits ts by builders: programs of its language are right, errors point into them."""
import ast
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import level1_kernel
import mlir_ts
from level1_kernel import Lowering

PROGRAMS = {
    "one_input": ("r = mul x x", lambda x: x * x),
    "constants": ("a = add x 1.5\nr = max a 0.25", lambda x: np.maximum(x + 1.5, 0.25)),
    "three_inputs": ("a = mul x y\nb = add a z\nr = min b x", lambda x, y, z: np.minimum(x * y + z, x)),
    "unary": ("a = mul x x\nb = sqrt a\nr = neg b", lambda x: -np.abs(x)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    text, wanted = PROGRAMS[name]
    lowering = Lowering(name, text)
    module = lowering.build()
    arrays = [np.random.default_rng(i).standard_normal(1000, dtype=np.float32) for i in range(len(lowering.inputs))]
    out = np.full_like(arrays[0], np.nan)
    kernel = mlir_ts.compile(module)
    assert kernel.proven
    kernel(*arrays, out, sms=2)  # two blocks for each CTA
    assert np.allclose(out, wanted(*arrays), rtol=1e-6, atol=1e-6)


def test_errors_point_at_the_program(monkeypatch):
    monkeypatch.setitem(level1_kernel.ELEMENTWISE, "erf", ("math.erf", 1))  # not there without a device library
    with pytest.raises(mlir_ts.CompileError) as caught:
        mlir_ts.compile(Lowering("wrong", "a = mul x x\nr = erf a").build())
    assert (caught.value.id, caught.value.file, caught.value.line) == ("TS408", "wrong.txt", 2)


def test_wrong_programs():
    with pytest.raises(ValueError, match="line 2: expected 'name = operation operands', found 'r = mul a'"):
        Lowering("wrong", "a = mul x x\nr = mul a")


def test_without_the_authoring_layer():
    imported = [node for node in ast.walk(ast.parse(pathlib.Path(level1_kernel.__file__).read_text()))
                if isinstance(node, ast.ImportFrom) and node.module.startswith("mlir_ts")]
    assert {name.name for node in imported for name in node.names} == {"ir", "ops"}


def test_as_a_program():
    done = subprocess.run([sys.executable, level1_kernel.__file__, "--n", "300"], capture_output=True, text=True,
                          env={"PYTHONPATH": str(pathlib.Path(mlir_ts.__file__).parents[1])})
    assert done.returncode == 0 and "largest error" in done.stdout, done.stderr
