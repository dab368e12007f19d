# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of work bodies (dsl.exp, dsl.log2, ...) compile and are right, of numbers and of vectors."""
import numpy as np
import pytest

import mlir_ts
from mlir_ts import Buffer, dsl, kernel
from mlir_ts.task_scheduling import MemoryResource, Task, TaskManager, consumer_work, producer_work, schedule

FUNCTIONS = {"exp2": np.exp2, "exp": np.exp, "log2": np.log2, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
             "absolute": np.abs}
DTYPES = {"f32": np.float32, "f16": np.float16}


def elementwise(function, kind, vector):
    """D = function(A), one element a thread, or four of them."""
    class Source(MemoryResource):
        @consumer_work
        def view(self, stage_info):
            return self.a

    class Out(MemoryResource):
        @producer_work
        def store(self, stage_info):
            thread = dsl.info("thread", results="index")
            if not vector:
                self.d[thread] = function(self.a[thread])
                return
            four = dsl.op("vector.load", self.a, thread * 4, results=[f"vector<4x{kind}>"])
            dsl.op("vector.store", function(four), self.d, thread * 4, results=[])

    @schedule
    def all_of_it(source, out):
        source.view()
        out.store()

    @kernel(arch="sm_90a")
    def compute(A: Buffer(kind), D: Buffer(kind)):
        source, out = Source(name="a"), Out(name="d")
        source.a = out.a = A
        out.d = D
        TaskManager([Task(name="compute", src_resources=[source], dst_resources=[out], warp_idx=0,
                          schedule=all_of_it(source, out))], {out: [source]})
    return compute


@pytest.mark.parametrize("vector", [False, True], ids=["number", "vector"])
@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, kind, vector):
    a = np.linspace(0.125, 6, 128 if vector else 32).astype(DTYPES[kind])
    d = np.zeros_like(a)
    elementwise(getattr(dsl, name), kind, vector)(a, d)
    wanted = FUNCTIONS[name](a.astype(np.float64))
    assert np.allclose(d, wanted, rtol=2e-6 if kind == "f32" else 2e-3, atol=1e-6)


def test_logarithms_of_small_numbers():
    a = np.array([1e-45, 1e-40, 2.0**-126, 1.0] * 8, np.float32)
    d = np.zeros_like(a)
    elementwise(dsl.log2, "f32", False)(a, d)
    assert np.allclose(d, np.log2(a.astype(np.float64)), rtol=1e-5, atol=1e-6)


def test_integers_are_refused():
    with pytest.raises(mlir_ts.Error, match=r"called with index; convert it"):
        elementwise(lambda x: dsl.exp(dsl.info("lane", results="index")), "f32", False).check()
    assert dsl.exp2.__name__ == "exp2" and "f32" in dsl.exp.__doc__
