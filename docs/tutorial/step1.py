# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Step 1: one warp copies a vector. Resources, work, a schedule, a task."""
import numpy as np

from mlir_ts import Buffer, Index, dsl, kernel
from mlir_ts.task_scheduling import MemoryResource, Task, TaskManager, consumer_work, producer_work, schedule


class Source(MemoryResource):
    def __init__(self, array):
        super().__init__(name="gmem_a")
        self.array = array

    @consumer_work
    def view(self, stage_info):
        return self.array


class Destination(MemoryResource):
    def __init__(self, array, length):
        super().__init__(name="gmem_d")
        self.array, self.length = array, length

    @producer_work
    def copy(self, stage_info, *, source):
        lane = dsl.info("lane", results="index")
        for start in dsl.for_(0, self.length, 32):
            with dsl.if_(start + lane < self.length):
                self.array[start + lane] = source[start + lane]


@schedule
def copy_schedule(source, destination):
    view = source.view()
    destination.copy(source=view)


@kernel(arch="sm_90a")
def copy(A: Buffer("f32"), D: Buffer("f32"), length: Index("dim(A, 0)")):
    source, destination = Source(A), Destination(D, length)
    TaskManager(
        tasks=[Task(name="copy", src_resources=[source], dst_resources=[destination], warp_idx=0,
                    schedule=copy_schedule(source, destination))],
        resource_dependency_graph={destination: [source]})


if __name__ == "__main__":
    print(copy.check().summary, end="")
    a = np.arange(100, dtype=np.float32)
    d = np.zeros_like(a)
    copy(a, d)
    assert (d == a).all()
    print("D = A")
