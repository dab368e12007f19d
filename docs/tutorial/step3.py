# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Step 3: one 128 x 128 tile of D = A B^T on Blackwell: TMA, tcgen05.mma, tensor memory."""
import numpy as np

from mlir_ts import Buffer, Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskManager, TmemAllocation,
                                     consumer_work, domain_loop, producer_work, schedule)

OPERAND = TensorMap("f16", box=(128, 64), swizzle=128)


class Source(MemoryResource):
    @consumer_work
    def rows(self, stage_info):
        return 0, 0


class Operands(MemoryResource):
    def __init__(self, a, b):
        super().__init__(name="smem_ab", pipeline_config=PipelineConfig.create_tma_umma_pipeline_cfg(num_stages=3))
        self.array_a, self.array_b = a, b

    def get_smem_requirements(self):
        return [SmemAllocation("a", "128x64xf16", swizzle=128), SmemAllocation("b", "128x64xf16", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, row_a, row_b):
        column = stage_info.loop_offset * 64
        dsl.tma_load(self.array_a, stage_info.a, coords=(row_a, column))
        dsl.tma_load(self.array_b, stage_info.b, coords=(row_b, column))

    @consumer_work
    def operands(self, stage_info):
        return stage_info.a, stage_info.b


class Accumulator(MemoryResource):
    def __init__(self, num_stages):
        super().__init__(name="tmem_c", pipeline_config=PipelineConfig.create_umma_async_pipeline_cfg(num_stages))

    def get_tmem_requirements(self):
        return [TmemAllocation("c", "128x128xf32")]

    @producer_work
    def mma(self, stage_info, *, a, b):
        dsl.umma(stage_info.c, a, b, accumulate=stage_info.loop_offset != 0)

    @consumer_work
    def columns(self, stage_info):
        return dsl.tmem_load(stage_info.c, stage_info.loop_offset * 32, results="vector<32xf32>")


class Destination(MemoryResource):
    def __init__(self, array):
        super().__init__(name="gmem_d")
        self.array = array

    def corner(self, stage_info):
        return 0, 0

    @producer_work
    def store(self, stage_info, *, values):
        row, column = self.corner(stage_info)
        thread = dsl.info("thread", results="index")
        dsl.vector_store(values, self.array, (row + thread, column + stage_info.loop_offset * 32))


@schedule
def load_schedule(source, ab, tiles_k):
    row_a, row_b = source.rows()
    with domain_loop(0, tiles_k):
        ab.acquire()
        ab.load(row_a=row_a, row_b=row_b)
        ab.commit()


@schedule
def mma_schedule(ab, acc, tiles_k):
    acc.acquire()
    with domain_loop(0, tiles_k):
        ab.wait()
        a, b = ab.operands()
        acc.mma(a=a, b=b)
        ab.release()
    acc.commit()


@schedule
def store_schedule(acc, destination):
    acc.wait()
    with domain_loop(0, 4):
        values = acc.columns()
        destination.store(values=values)
    acc.release()


@kernel(arch="sm_100a")
def gemm(A: OPERAND, B: OPERAND, D: Buffer("f32", (128, 128)), tiles_k: Index("ceildiv(dim(A, 1), 64)", min=1)):
    source, ab, acc, destination = Source(name="gmem_ab"), Operands(A, B), Accumulator(1), Destination(D)
    TaskManager(
        tasks=[Task(name="load", src_resources=[source], dst_resources=[ab], warp_idx=4,
                    schedule=load_schedule(source, ab, tiles_k)),
               Task(name="mma", src_resources=[ab], dst_resources=[acc], warp_idx=5,
                    schedule=mma_schedule(ab, acc, tiles_k)),
               Task(name="store", src_resources=[acc], dst_resources=[destination], warp_idx=0, num_warps=4,
                    schedule=store_schedule(acc, destination))],
        resource_dependency_graph={ab: [source], acc: [ab], destination: [acc]})


def check(kernel, m, n, k, **options):
    """Multiplies in the emulator and compares with NumPy."""
    print(kernel.check().summary, end="")
    random = np.random.default_rng(1)
    a, b = (random.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    d = np.full((m, n), np.nan, np.float32)
    kernel(a, b, d, **options)
    assert np.abs(d - a.astype(np.float32) @ b.astype(np.float32).T).max() < 1e-3
    print("D = A @ B.T")


if __name__ == "__main__":
    check(gemm, 128, 128, 200)
