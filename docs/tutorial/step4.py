# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Step 4: a persistent GEMM. As many CTAs as there are multiprocessors walk over a queue of tiles."""
import step3
from mlir_ts import Buffer, Index, kernel
from mlir_ts.task_scheduling import (MemoryResource, PersistentTileSchedulerParams, Task, TaskManager,
                                     TileSchedulerConfig, WorkQueue, consumer_work, domain_loop, schedule,
                                     work_tile_loop)


class Source(MemoryResource):
    @consumer_work
    def rows(self, stage_info):
        m, n = stage_info.work_tile.tile_idx
        return m * 128, n * 128


class Destination(step3.Destination):
    def corner(self, stage_info):
        m, n = stage_info.work_tile.tile_idx
        return m * 128, n * 128


@schedule
def load_schedule(queue, source, ab, tiles_k):
    with work_tile_loop(queue):
        row_a, row_b = source.rows()
        with domain_loop(0, tiles_k):
            ab.acquire()
            ab.load(row_a=row_a, row_b=row_b)
            ab.commit()


@schedule
def mma_schedule(queue, ab, acc, tiles_k):
    with work_tile_loop(queue):
        acc.acquire()
        with domain_loop(0, tiles_k):
            ab.wait()
            a, b = ab.operands()
            acc.mma(a=a, b=b)
            ab.release()
        acc.commit()


@schedule
def store_schedule(queue, acc, destination):
    with work_tile_loop(queue):
        acc.wait()
        with domain_loop(0, 4):
            values = acc.columns()
            destination.store(values=values)
        acc.release()


@kernel(arch="sm_100a")
def gemm(A: step3.OPERAND, B: step3.OPERAND, D: Buffer("f32", (None, None)), tiles_m: Index("div(dim(A, 0), 128)"),
         tiles_n: Index("div(dim(B, 0), 128)"), tiles_k: Index("ceildiv(dim(A, 1), 64)", min=1)):
    queue = WorkQueue(
        name="tiles", tile_scheduler_config=TileSchedulerConfig.create_static_persistent_tile_scheduler_params(
            PersistentTileSchedulerParams((tiles_m, tiles_n))))
    source, ab, acc = Source(name="gmem_ab"), step3.Operands(A, B), step3.Accumulator(1)
    destination = Destination(D)
    TaskManager(
        tasks=[Task(name="load", src_resources=[source, queue], dst_resources=[ab], warp_idx=4,
                    schedule=load_schedule(queue, source, ab, tiles_k)),
               Task(name="mma", src_resources=[ab, queue], dst_resources=[acc], warp_idx=5,
                    schedule=mma_schedule(queue, ab, acc, tiles_k)),
               Task(name="store", src_resources=[acc, queue], dst_resources=[destination], warp_idx=0, num_warps=4,
                    schedule=store_schedule(queue, acc, destination))],
        resource_dependency_graph={ab: [source], acc: [ab], destination: [acc]})


if __name__ == "__main__":
    step3.check(gemm, 256, 384, 200, sms=2)
