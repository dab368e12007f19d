# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Step 2: two warps and a ring of stages in shared memory; both copies are asynchronous."""
import numpy as np

from mlir_ts import Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskManager, consumer_work,
                                     domain_loop, producer_work, schedule)

BLOCK = TensorMap("f32", box=(64, 32))


class Source(MemoryResource):
    @consumer_work
    def row(self, stage_info):
        return stage_info.loop_offset * 64


class Ring(MemoryResource):
    def __init__(self, array):
        super().__init__(name="ring", pipeline_config=PipelineConfig.create_tma_async_pipeline_cfg(num_stages=3))
        self.array = array

    def get_smem_requirements(self):
        return [SmemAllocation("x", "64x32xf32")]

    @producer_work
    def load(self, stage_info, *, row):
        dsl.tma_load(self.array, stage_info.x, coords=(row, 0))

    @consumer_work
    def block(self, stage_info):
        return stage_info.x


class Destination(MemoryResource):
    def __init__(self, array):
        super().__init__(name="gmem_d")
        self.array = array

    @producer_work
    def store(self, stage_info, *, block):
        dsl.tma_store(block, self.array, coords=(stage_info.loop_offset * 64, 0))
        dsl.bulk_commit()
        dsl.bulk_wait(0, read=True)


@schedule
def load_schedule(source, ring, blocks):
    with domain_loop(0, blocks):
        row = source.row()
        ring.acquire()
        ring.load(row=row)
        ring.commit()


@schedule
def store_schedule(ring, destination, blocks):
    with domain_loop(0, blocks):
        ring.wait()
        block = ring.block()
        destination.store(block=block)
        ring.release()


@kernel(arch="sm_90a")
def copy(A: BLOCK, D: BLOCK, blocks: Index("ceildiv(dim(A, 0), 64)")):
    source, ring, destination = Source(name="gmem_a"), Ring(A), Destination(D)
    TaskManager(
        tasks=[Task(name="load", src_resources=[source], dst_resources=[ring], warp_idx=0,
                    schedule=load_schedule(source, ring, blocks)),
               Task(name="store", src_resources=[ring], dst_resources=[destination], warp_idx=1,
                    schedule=store_schedule(ring, destination, blocks))],
        resource_dependency_graph={ring: [source], destination: [ring]})


if __name__ == "__main__":
    print(copy.check().summary, end="")
    a = np.random.default_rng(1).standard_normal((500, 32), dtype=np.float32)
    d = np.zeros_like(a)
    copy(a, d)
    assert (d == a).all()
    print("D = A")
