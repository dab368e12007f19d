# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""D = A B^T for bf16 A (M x K) and B (N x K) and f32 D on Blackwell: TMA, tcgen05.mma, persistent, CLC or static.

    python gemm_sm100.py [--m 256] [--n 256] [--k 256] [--static 1]

The same kernel as examples/gemm_sm100.mlir with --static 1; otherwise the hardware hands out the tiles (cluster
launch control) and a scheduler task asks for them.
"""
import numpy as np

from common import compare, from_bf16, options, run, to_bf16
from mlir_ts import Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (ClcDynamicPersistentTileSchedulerParams, MemoryResource,
                                     PersistentTileSchedulerParams, PipelineConfig, SmemAllocation, Task, TaskManager,
                                     TileSchedulerConfig, TmemAllocation, WorkAttr, WorkQueue, consumer_work,
                                     domain_loop, last_iter, producer_work, schedule, work_tile_loop)

PIECE = "memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>"


class Source(MemoryResource):
    @consumer_work
    def coords(self, stage_info):
        m, n = stage_info.work_tile.tile_idx
        return m * 128, n * 128


class Operands(MemoryResource):
    def __init__(self, a, b):
        super().__init__(name="smem_ab", pipeline_config=PipelineConfig.create_tma_umma_pipeline_cfg(num_stages=4))
        self.map_a, self.map_b = a, b

    def get_smem_requirements(self):
        return [SmemAllocation("a", "128x64xbf16", swizzle=128), SmemAllocation("b", "128x64xbf16", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, row_a, row_b):
        column = stage_info.loop_offset * 64
        dsl.tma_load(self.map_a, stage_info.a, coords=(row_a, column))
        dsl.tma_load(self.map_b, stage_info.b, coords=(row_b, column))

    @consumer_work
    def operands(self, stage_info):
        return stage_info.a, stage_info.b


class Accumulator(MemoryResource):
    def __init__(self):
        super().__init__(name="tmem_c", pipeline_config=PipelineConfig.create_umma_async_pipeline_cfg(num_stages=2))

    def get_tmem_requirements(self):
        return [TmemAllocation("c", "128x128xf32")]

    @producer_work
    def mma(self, stage_info, *, a, b):
        dsl.umma(stage_info.c, a, b, accumulate=stage_info.loop_offset != 0)

    @consumer_work
    def columns(self, stage_info):
        return dsl.tmem_load(stage_info.c, stage_info.loop_offset * 32, results="vector<32xf32>")


class Destination(MemoryResource):
    memory_space = "gmem"

    def __init__(self, d):
        super().__init__(name="gmem_d")
        self.map_d = d

    def get_smem_requirements(self):
        return [SmemAllocation("stage", "4x2x32x32xf32", swizzle=128)]

    @consumer_work(work_attrs=WorkAttr.AUXILIARY)
    def origin(self, stage_info):
        _, _, row_warp = stage_info.task_cache
        m, n = stage_info.work_tile.tile_idx
        return m * 128 + row_warp, n * 128

    @producer_work
    def store(self, stage_info, *, values, row, column):
        warp, lane, _ = stage_info.task_cache
        j = stage_info.loop_offset
        piece = dsl.subview(stage_info.stage, (warp, j % 2, 0, 0), (1, 1, 32, 32), PIECE)
        dsl.bulk_wait(1, read=True)
        dsl.warp_sync()
        dsl.vector_store(values, piece, (lane, 0))
        dsl.fence("proxy_async_shared")
        dsl.warp_sync()
        dsl.tma_store(piece, self.map_d, coords=(row, column + j * 32))
        dsl.bulk_commit()


class StoreTask(Task):
    def make_task_cache(self):
        warp, lane = dsl.info("warp", results="index"), dsl.info("lane", results="index")
        return warp, lane, warp * 32


@schedule
def fetch_schedule(queue):
    with work_tile_loop(queue):
        queue.acquire()
        queue.fetch_tile()
        queue.commit()


@schedule
def load_schedule(queue, source, ab, tiles_k):
    with work_tile_loop(queue):
        row_a, row_b = source.coords()
        with domain_loop(0, tiles_k, 1):
            ab.try_acquire()
            ab.acquire()
            ab.load(row_a=row_a, row_b=row_b)
            ab.commit()


@schedule
def mma_schedule(queue, ab, acc, tiles_k):
    with work_tile_loop(queue):
        acc.acquire()
        with domain_loop(0, tiles_k, 1):
            ab.try_wait()
            ab.wait()
            a, b = ab.operands()
            acc.mma(a=a, b=b)
            ab.release()
        acc.commit()


@schedule
def store_schedule(queue, acc, destination):
    with work_tile_loop(queue):
        row, column = destination.origin()
        acc.wait()
        with domain_loop(0, 4, 1):
            values = acc.columns()
            with last_iter():
                acc.release()
            destination.store(values=values, row=row, column=column)


def make(dynamic):
    """The kernel, with tiles from the hardware or by a fixed rule."""
    @kernel(arch="sm_100a")
    def gemm(A: TensorMap("bf16", box=(128, 64), swizzle=128), B: TensorMap("bf16", box=(128, 64), swizzle=128),
             D: TensorMap("f32", box=(32, 32), swizzle=128), tiles_m: Index("ceildiv(dim(A, 0), 128)"),
             tiles_n: Index("ceildiv(dim(B, 0), 128)"), tiles_k: Index("ceildiv(dim(A, 1), 64)")):
        source, ab, acc, destination = Source(name="gmem_ab"), Operands(A, B), Accumulator(), Destination(D)
        if dynamic:
            queue = WorkQueue(
                name="tiles", pipeline_config=PipelineConfig.create_clc_fetch_async_pipeline_cfg(num_stages=2),
                tile_scheduler_config=TileSchedulerConfig.create_clc_dynamic_persistent_tile_scheduler_params(
                    ClcDynamicPersistentTileSchedulerParams((tiles_m, tiles_n), group=8)))
        else:
            static = TileSchedulerConfig.create_static_persistent_tile_scheduler_params
            queue = WorkQueue(name="tiles", tile_scheduler_config=static(
                PersistentTileSchedulerParams((tiles_m, tiles_n), group=8)))
        tasks = [
            Task(name="load", src_resources=[source, queue], dst_resources=[ab], warp_idx=5,
                 schedule=load_schedule(queue, source, ab, tiles_k)),
            Task(name="mma", src_resources=[ab, queue], dst_resources=[acc], warp_idx=4,
                 schedule=mma_schedule(queue, ab, acc, tiles_k)),
            StoreTask(name="store", src_resources=[acc, queue], dst_resources=[destination], warp_idx=0, num_warps=4,
                      schedule=store_schedule(queue, acc, destination)),
        ]
        if dynamic:
            tasks.append(Task(name="scheduler", src_resources=[queue], dst_resources=[queue], warp_idx=6,
                              schedule=fetch_schedule(queue)))
        TaskManager(tasks=tasks, resource_dependency_graph={ab: [source], acc: [ab], destination: [acc]})
    return gemm


if __name__ == "__main__":
    args = options(__doc__, m=256, n=256, k=256, static=0)
    random = np.random.default_rng(args.seed)
    a, b = (to_bf16(random.standard_normal((rows, args.k))) for rows in (args.m, args.n))
    d = np.full((args.m, args.n), np.nan, np.float32)
    run(make(dynamic=not args.static), args, a, b, d)
    wanted = from_bf16(a).astype(np.float64) @ from_bf16(b).astype(np.float64).T
    compare("D = A @ B.T", d, wanted, 1e-4 * max(1, args.k) ** 0.5)
