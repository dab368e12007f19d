# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""D = A B^T (bf16, f32 out, tiles of 128 x 128) on Blackwell, with an MMA task that waits for a proxy only.

    python split_consumer.py [--m 130] [--n 140] [--k 200] [--device cuda]

Two tasks share the consumer side of the operands: `sync` waits for both and signals a proxy, `mma` waits for the proxy,
reads the operands and releases them. The graph and these two schedules are the snippet of the documentation as it is
written there; what is around it - loads, the tile loop, the store - is ours.
"""
import numpy as np

from common import compare, from_bf16, options, run, to_bf16
from mlir_ts import Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (MemoryResource, PersistentTileSchedulerParams, PipelineConfig, SmemAllocation,
                                     Task, TaskManager, TileSchedulerConfig, TmemAllocation, WorkQueue, consumer_work,
                                     domain_loop, last_iter, producer_work, schedule, work_tile_loop)


class Gmem(MemoryResource):
    @consumer_work
    def row(self, stage_info):
        return stage_info.work_tile.tile_idx[self.dimension] * 128


class Smem(MemoryResource):
    def get_smem_requirements(self):
        return [SmemAllocation("x", "128x64xbf16", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, row):
        dsl.tma_load(self.source, stage_info.x, coords=(row, stage_info.loop_offset * 64))

    @consumer_work
    def build_desc(self, stage_info):
        return stage_info.x


class Proxy(MemoryResource):
    @producer_work
    def signal_ready(self, stage_info):
        dsl.warp_sync()


class Tmem(MemoryResource):
    def get_tmem_requirements(self):
        return [TmemAllocation("c", "128x128xf32")]

    @producer_work
    def mma(self, stage_info, *, desc_a, desc_b):
        dsl.umma(stage_info.c, desc_a, desc_b, accumulate=stage_info.loop_offset != 0)

    @consumer_work
    def columns(self, stage_info):
        return dsl.tmem_load(stage_info.c, stage_info.loop_offset * 32, results="vector<32xf32>")


class Output(MemoryResource):
    memory_space = "gmem"

    def get_smem_requirements(self):
        return [SmemAllocation("stage", "4x32x32xf32", swizzle=128)]

    @producer_work
    def store(self, stage_info, *, values):
        warp, lane = dsl.info("warp", results="index"), dsl.info("lane", results="index")
        m, n = stage_info.work_tile.tile_idx
        piece = dsl.subview(stage_info.stage, (warp, 0, 0), (1, 32, 32),
                            "memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>")
        dsl.bulk_wait(0, read=True)
        dsl.warp_sync()
        dsl.vector_store(values, piece, (lane, 0))
        dsl.fence("proxy_async_shared")
        dsl.warp_sync()
        dsl.tma_store(piece, self.target, coords=(m * 128 + warp * 32, n * 128 + stage_info.loop_offset * 32))
        dsl.bulk_commit()


@kernel(arch="sm_100a")
def gemm(A: TensorMap("bf16", (128, 64), 128), B: TensorMap("bf16", (128, 64), 128),
         D: TensorMap("f32", (32, 32), 128), tiles_m: Index("ceildiv(dim(A, 0), 128)"),
         tiles_n: Index("ceildiv(dim(B, 0), 128)"), num_k_tiles: Index("ceildiv(dim(A, 1), 64)")):
    config = PipelineConfig.create_tma_umma_pipeline_cfg(num_stages=3)
    gmem_a, gmem_b, gmem_d = Gmem(name="gmem_a"), Gmem(name="gmem_b"), Output(name="gmem_d")
    smem_a, smem_b = Smem(name="smem_a", pipeline_config=config), Smem(name="smem_b", pipeline_config=config)
    smem_a.source, smem_b.source, gmem_d.target = A, B, D
    gmem_a.dimension, gmem_b.dimension = 0, 1
    proxy = Proxy(name="proxy", is_barrier=True,
                  pipeline_config=PipelineConfig.create_async_umma_pipeline_cfg(num_stages=3))
    tmem_c = Tmem(name="tmem_c", pipeline_config=PipelineConfig.create_umma_async_pipeline_cfg(num_stages=2))
    work_queue = WorkQueue(tile_scheduler_config=TileSchedulerConfig.create_static_persistent_tile_scheduler_params(
        PersistentTileSchedulerParams((tiles_m, tiles_n))))

    # proxy is downstream of the two SMEM buffers.
    resource_dependency_graph = {
        smem_a:  [gmem_a, work_queue],
        smem_b:  [gmem_b, work_queue],
        proxy:   [smem_a, smem_b, work_queue],
        tmem_c:  [proxy, work_queue],
    }

    @schedule
    def sync_schedule(smem_a, smem_b, proxy) -> None:      # wait-only consumer
        with domain_loop(0, num_k_tiles, 1):
            smem_a.wait()
            smem_b.wait()
            proxy.acquire()
            proxy.signal_ready()
            proxy.commit()

    @schedule
    def mma_schedule(proxy, smem_a, smem_b, tmem_c) -> None:  # proxy consumer
        with domain_loop(0, num_k_tiles, 1):
            proxy.wait()
            desc_a = smem_a.build_desc()       # work, no direct wait
            desc_b = smem_b.build_desc()
            tmem_c.mma(desc_a=desc_a, desc_b=desc_b)
            smem_a.release()
            smem_b.release()
            proxy.release()

    @schedule
    def load_schedule(gmem, smem):
        with work_tile_loop(work_queue):
            row = gmem.row()
            with domain_loop(0, num_k_tiles, 1):
                smem.acquire()
                smem.load(row=row)
                smem.commit()

    @schedule
    def sync_tiles():
        with work_tile_loop(work_queue):
            sync_schedule(smem_a, smem_b, proxy)

    @schedule
    def mma_tiles():
        with work_tile_loop(work_queue):
            tmem_c.acquire()
            mma_schedule(proxy, smem_a, smem_b, tmem_c)
            tmem_c.commit()

    @schedule
    def store_schedule():
        with work_tile_loop(work_queue):
            tmem_c.wait()
            with domain_loop(0, 4, 1):
                values = tmem_c.columns()
                with last_iter():
                    tmem_c.release()
                gmem_d.store(values=values)

    TaskManager(
        tasks=[
            Task(name="load_a", src_resources=[gmem_a, work_queue], dst_resources=[smem_a], warp_idx=4,
                 schedule=load_schedule(gmem_a, smem_a)),
            Task(name="load_b", src_resources=[gmem_b, work_queue], dst_resources=[smem_b], warp_idx=5,
                 schedule=load_schedule(gmem_b, smem_b)),
            Task(name="sync", src_resources=[smem_a, smem_b, work_queue], dst_resources=[proxy], warp_idx=6,
                 schedule=sync_tiles()),
            Task(name="mma", src_resources=[proxy, smem_a, smem_b, work_queue], dst_resources=[tmem_c], warp_idx=7,
                 schedule=mma_tiles()),
            Task(name="store", src_resources=[tmem_c, work_queue], dst_resources=[gmem_d], warp_idx=0, num_warps=4,
                 schedule=store_schedule()),
        ],
        resource_dependency_graph=resource_dependency_graph | {gmem_d: [tmem_c]})


if __name__ == "__main__":
    args = options(__doc__, m=130, n=140, k=200)
    random = np.random.default_rng(args.seed)
    a, b = (to_bf16(random.standard_normal((rows, args.k))) for rows in (args.m, args.n))
    d = np.full((args.m, args.n), np.nan, np.float32)
    run(gemm, args, a, b, d)
    wanted = from_bf16(a).astype(np.float64) @ from_bf16(b).astype(np.float64).T
    compare("D = A @ B.T", d, wanted, 1e-4 * max(1, args.k) ** 0.5)
