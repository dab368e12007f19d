# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Step 5: the hardware hands out the tiles, and one tile is stored while the next is multiplied."""
import step3
from mlir_ts import Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (ClcDynamicPersistentTileSchedulerParams, MemoryResource, PipelineConfig,
                                     SmemAllocation, Task, TaskManager, TileSchedulerConfig, WorkQueue, domain_loop,
                                     last_iter, producer_work, schedule, work_tile_loop)
from step4 import Source, load_schedule, mma_schedule

PIECE = "memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>"


class Destination(MemoryResource):
    memory_space = "gmem"  # what it writes; the allocation below is only the way there

    def __init__(self, array):
        super().__init__(name="gmem_d")
        self.array = array

    def get_smem_requirements(self):
        return [SmemAllocation("staging", "4x2x32x32xf32", swizzle=128)]  # two pieces for each of four warps

    @producer_work
    def store(self, stage_info, *, values):
        warp, lane = dsl.info("warp", results="index"), dsl.info("lane", results="index")
        m, n = stage_info.work_tile.tile_idx
        part = stage_info.loop_offset
        piece = dsl.subview(stage_info.staging, (warp, part % 2, 0, 0), (1, 1, 32, 32), PIECE)
        dsl.bulk_wait(1, read=True)
        dsl.warp_sync()
        dsl.vector_store(values, piece, (lane, 0))
        dsl.fence("proxy_async_shared")
        dsl.warp_sync()
        dsl.tma_store(piece, self.array, coords=(m * 128 + warp * 32, n * 128 + part * 32))
        dsl.bulk_commit()


@schedule
def fetch_schedule(queue):
    with work_tile_loop(queue):
        queue.acquire()
        queue.fetch_tile()
        queue.commit()


@schedule
def store_schedule(queue, acc, destination):
    with work_tile_loop(queue):
        acc.wait()
        with domain_loop(0, 4):
            values = acc.columns()
            with last_iter():
                acc.release()
            destination.store(values=values)


@kernel(arch="sm_100a")
def gemm(A: step3.OPERAND, B: step3.OPERAND, D: TensorMap("f32", box=(32, 32), swizzle=128),
         tiles_m: Index("ceildiv(dim(A, 0), 128)"), tiles_n: Index("ceildiv(dim(B, 0), 128)"),
         tiles_k: Index("ceildiv(dim(A, 1), 64)", min=1)):
    queue = WorkQueue(
        name="tiles", pipeline_config=PipelineConfig.create_clc_fetch_async_pipeline_cfg(num_stages=2),
        tile_scheduler_config=TileSchedulerConfig.create_clc_dynamic_persistent_tile_scheduler_params(
            ClcDynamicPersistentTileSchedulerParams((tiles_m, tiles_n), group=8)))
    source, ab, acc = Source(name="gmem_ab"), step3.Operands(A, B), step3.Accumulator(2)
    destination = Destination(D)
    TaskManager(
        tasks=[Task(name="fetch", src_resources=[queue], dst_resources=[queue], warp_idx=6,
                    schedule=fetch_schedule(queue)),
               Task(name="load", src_resources=[source, queue], dst_resources=[ab], warp_idx=4,
                    schedule=load_schedule(queue, source, ab, tiles_k)),
               Task(name="mma", src_resources=[ab, queue], dst_resources=[acc], warp_idx=5,
                    schedule=mma_schedule(queue, ab, acc, tiles_k)),
               Task(name="store", src_resources=[acc, queue], dst_resources=[destination], warp_idx=0, num_warps=4,
                    schedule=store_schedule(queue, acc, destination))],
        resource_dependency_graph={ab: [source], acc: [ab], destination: [acc]})


if __name__ == "__main__":
    step3.check(gemm, 300, 200, 200, sms=2)
