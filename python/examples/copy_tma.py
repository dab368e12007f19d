# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""D = A through the bulk copy engine: one warp loads tiles by TMA into four stages, another stores them.

    python copy_tma.py [--rows 200] [--columns 100] [--device cuda]
"""
import numpy as np

from common import compare, options, run
from mlir_ts import Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (MemoryResource, PersistentTileSchedulerParams, PipelineConfig, SmemAllocation,
                                     Task, TaskManager, TileSchedulerConfig, WorkQueue, consumer_work, producer_work,
                                     schedule, work_tile_loop)


class Source(MemoryResource):
    @consumer_work
    def coords(self, stage_info):
        m, n = stage_info.work_tile.tile_idx
        return m * 64, n * 32


class Tile(MemoryResource):
    def __init__(self, source):
        super().__init__(name="smem_tile", pipeline_config=PipelineConfig.create_tma_async_pipeline_cfg(num_stages=4))
        self.source = source

    def get_smem_requirements(self):
        return [SmemAllocation("x", "64x32xf32", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, row, col):
        dsl.tma_load(self.source, stage_info.x, coords=(row, col))

    @consumer_work
    def view(self, stage_info):
        return stage_info.x


class Destination(MemoryResource):
    def __init__(self, target):
        super().__init__(name="gmem_d")
        self.target = target

    @producer_work
    def store(self, stage_info, *, tile):
        m, n = stage_info.work_tile.tile_idx
        dsl.tma_store(tile, self.target, coords=(m * 64, n * 32))
        dsl.bulk_commit()
        dsl.bulk_wait(0, read=True)


@schedule
def load_schedule(queue, source, tile):
    with work_tile_loop(queue):
        row, col = source.coords()
        tile.acquire()
        tile.load(row=row, col=col)
        tile.commit()


@schedule
def store_schedule(queue, tile, destination):
    with work_tile_loop(queue):
        tile.wait()
        view = tile.view()
        destination.store(tile=view)
        tile.release()


@kernel(arch="sm_90a")
def copy_tma(A: TensorMap("f32", box=(64, 32), swizzle=128), D: TensorMap("f32", box=(64, 32), swizzle=128),
             tiles_m: Index("ceildiv(dim(A, 0), 64)"), tiles_n: Index("ceildiv(dim(A, 1), 32)")):
    source, tile, destination = Source(name="gmem_a"), Tile(A), Destination(D)
    static = TileSchedulerConfig.create_static_persistent_tile_scheduler_params
    queue = WorkQueue(name="tiles", tile_scheduler_config=static(PersistentTileSchedulerParams((tiles_m, tiles_n))))
    TaskManager(
        tasks=[
            Task(name="load", src_resources=[source, queue], dst_resources=[tile], warp_idx=0,
                 schedule=load_schedule(queue, source, tile)),
            Task(name="store", src_resources=[tile, queue], dst_resources=[destination], warp_idx=1,
                 schedule=store_schedule(queue, tile, destination)),
        ],
        resource_dependency_graph={tile: [source, queue], destination: [tile, queue]})


if __name__ == "__main__":
    args = options(__doc__, rows=200, columns=100)
    a = np.random.default_rng(args.seed).standard_normal((args.rows, args.columns), dtype=np.float32)
    d = np.full_like(a, np.nan)
    run(copy_tma, args, a, d)
    compare("D = A", d, a, 0.0)
