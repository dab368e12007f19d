# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""D = A B^T for bf16 A (M x K) and B (N x K) and f32 D on Hopper: TMA, wgmma, two warpgroups, persistent.

    python gemm_sm90.py [--m 256] [--n 256] [--k 128] [--device cuda]

The f32 kernel of examples/gemm_sm90.mlir: tiles of 128 x 256, 64 rows for each warpgroup, one step's products in
flight over the wait for the next. Accumulators are a task-local variable, which the loop carries in registers.
"""
import numpy as np

from common import compare, from_bf16, options, run, to_bf16
from mlir_ts import Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (MemoryResource, PersistentTileSchedulerParams, PipelineConfig, SmemAllocation,
                                     Task, TaskLocalVariable, TaskManager, TileSchedulerConfig, WorkAttr, WorkQueue,
                                     consumer_work, domain_loop, not_first_iter, producer_work, schedule, when_true,
                                     work_tile_loop)

ROWS = "memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>"
PIECE = "memref<16x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>"
ACCUMULATORS, SUMS = "!ts.wgmma<64x256xf32>", "!ts.fragment<64x256xf32>"


class Source(MemoryResource):
    @consumer_work
    def coords(self, stage_info):
        m, n = stage_info.work_tile.tile_idx
        return m * 128, n * 256


class Operands(MemoryResource):
    accumulators = TaskLocalVariable(ACCUMULATORS)

    def __init__(self, a, b):
        super().__init__(name="smem_ab", pipeline_config=PipelineConfig.create_tma_async_pipeline_cfg(
            num_stages=4, advance_on_wait=True))
        self.map_a, self.map_b = a, b

    def get_smem_requirements(self):
        return [SmemAllocation("a", "128x64xbf16", swizzle=128), SmemAllocation("b", "256x64xbf16", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, row_a, row_b):
        column = stage_info.loop_offset * 64
        dsl.tma_load(self.map_a, stage_info.a, coords=(row_a, column))
        dsl.tma_load(self.map_b, stage_info.b, coords=(row_b, column))

    @consumer_work(work_attrs=WorkAttr.AUXILIARY, returns="accumulators")
    def zero(self, stage_info):
        return dsl.wgmma_zero(ACCUMULATORS)

    @consumer_work(returns="accumulators")
    def multiply(self, stage_info, *, accumulators):
        rows = dsl.subview(stage_info.a, (stage_info.replica * 64, 0), (64, 64), ROWS)
        issued = dsl.wgmma(rows, stage_info.b, accumulators)
        dsl.wgmma_commit()
        return dsl.wgmma_wait(1, issued)

    @consumer_work(work_attrs=WorkAttr.AUXILIARY)
    def sums(self, stage_info, *, accumulators):
        return dsl.wgmma_wait(0, accumulators, results=SUMS)


class Destination(MemoryResource):
    memory_space = "gmem"

    def __init__(self, d):
        super().__init__(name="gmem_d")
        self.map_d = d

    def get_smem_requirements(self):
        return [SmemAllocation("stage", "8x2x16x32xf32", swizzle=128)]  # two pieces for each warp

    @producer_work
    def store(self, stage_info, *, sums):
        slot = stage_info.task_cache
        m, n = stage_info.work_tile.tile_idx
        row, column = m * 128 + slot * 16, n * 256
        pieces = [dsl.subview(stage_info.stage, (slot, i, 0, 0), (1, 1, 16, 32), PIECE) for i in range(2)]
        for i in range(8):
            dsl.bulk_wait(1, read=True)
            dsl.warp_sync()
            dsl.fragment_store(sums, 32 * i, pieces[i % 2])
            dsl.fence("proxy_async_shared")
            dsl.warp_sync()
            dsl.tma_store(pieces[i % 2], self.map_d, coords=(row, column + 32 * i))
            dsl.bulk_commit()


class MultiplyTask(Task):
    def make_task_cache(self):
        return self.replica * 4 + dsl.info("warp", results="index")  # which of the eight warps


@schedule
def load_schedule(queue, source, ab, tiles_k):
    with work_tile_loop(queue):
        row_a, row_b = source.coords()
        with domain_loop(0, tiles_k, 1):
            ab.acquire()
            ab.load(row_a=row_a, row_b=row_b)
            ab.commit()


@schedule
def multiply_schedule(queue, ab, destination, tiles_k, some):
    with work_tile_loop(queue):
        accumulators = ab.zero()
        with domain_loop(0, tiles_k, 1):
            ab.wait()
            accumulators = ab.multiply(accumulators=accumulators)
            with not_first_iter():
                ab.release()
        sums = ab.sums(accumulators=accumulators)
        with when_true(some):
            ab.release()
        destination.store(sums=sums)


@kernel(arch="sm_90a", flush_denormals=True)
def gemm(A: TensorMap("bf16", box=(128, 64), swizzle=128), B: TensorMap("bf16", box=(256, 64), swizzle=128),
         D: TensorMap("f32", box=(16, 32), swizzle=128), tiles_m: Index("ceildiv(dim(A, 0), 128)"),
         tiles_n: Index("ceildiv(dim(B, 0), 256)"), tiles_k: Index("ceildiv(dim(A, 1), 64)")):
    source, ab, destination = Source(name="gmem_ab"), Operands(A, B), Destination(D)
    static = TileSchedulerConfig.create_static_persistent_tile_scheduler_params
    queue = WorkQueue(name="tiles", tile_scheduler_config=static(
        PersistentTileSchedulerParams((tiles_m, tiles_n), group=8)))
    TaskManager(
        tasks=[
            Task(name="load", src_resources=[source, queue], dst_resources=[ab], warp_idx=0, num_registers=40,
                 schedule=load_schedule(queue, source, ab, tiles_k)),
            MultiplyTask(name="mma", src_resources=[ab, queue], dst_resources=[destination], warp_idx=4, num_warps=8,
                         replicas=2, num_registers=232,
                         schedule=multiply_schedule(queue, ab, destination, tiles_k, tiles_k > 0)),
        ],
        resource_dependency_graph={ab: [source], destination: [ab]})


if __name__ == "__main__":
    args = options(__doc__, m=256, n=256, k=128)
    random = np.random.default_rng(args.seed)
    a, b = (to_bf16(random.standard_normal((rows, args.k))) for rows in (args.m, args.n))
    d = np.full((args.m, args.n), np.nan, np.float32)
    run(gemm, args, a, b, d)
    wanted = from_bf16(a).astype(np.float64) @ from_bf16(b).astype(np.float64).T
    compare("D = A @ B.T", d, wanted, 1e-4 * max(1, args.k) ** 0.5)
