# The ping-pong snippet of the patterns page, its ellipses filled in: a running sum kept in one buffer. Each step
# the producer adds one to every element in place, and the consumer adds what it finds to the total it keeps.
import mlir_ts
from mlir_ts import Buffer, Index, dsl
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskManager, consumer_work,
                                     domain_loop, producer_work, schedule)


class SmemPingPongResource(MemoryResource):
    def get_smem_requirements(self):
        return [SmemAllocation("x", "32xf32")]

    @consumer_work
    def read_current(self, stage_info):
        lane = dsl.info("lane", results="index")
        first = stage_info.loop_offset == 0
        return dsl.where(first, 0.0, dsl.load(stage_info.x, lane))

    @producer_work
    def write_next(self, stage_info, *, cur):
        dsl.store(cur + 1.0, stage_info.x, dsl.info("lane", results="index"))

    @consumer_work
    def transform_inplace(self, stage_info):
        lane = dsl.info("lane", results="index")
        dsl.store(dsl.load(self.total, lane) + dsl.load(stage_info.x, lane), self.total, lane)


def make(num_k_tiles, total):
    smem_pp = SmemPingPongResource(
        name="smem_pp", pipeline_config=PipelineConfig.create_async_async_pipeline_cfg(num_stages=1))
    smem_pp.total = total
    # Producer side: reads the current contents and writes the next contents
    # back into the same buffer (transform in place).
    @schedule
    def producer_schedule(smem_pp: SmemPingPongResource) -> None:
        with domain_loop(0, num_k_tiles, 1):
            smem_pp.acquire()
            cur = smem_pp.read_current()
            smem_pp.write_next(cur=cur)
            smem_pp.commit()

    # Consumer side (the other task): transforms in place.
    @schedule
    def consumer_schedule(smem_pp: SmemPingPongResource) -> None:
        with domain_loop(0, num_k_tiles, 1):
            smem_pp.wait()
            smem_pp.transform_inplace()
            smem_pp.release()

    # The buffer is the producer's dst and the consumer's src; the self-edge
    # ties the two sides together.
    producer_task = Task(name="producer", warp_idx=0, schedule=producer_schedule(smem_pp), dst_resources=[smem_pp])
    consumer_task = Task(name="consumer", warp_idx=1, schedule=consumer_schedule(smem_pp), src_resources=[smem_pp])

    task_manager = TaskManager(
        tasks=[producer_task, consumer_task],
        resource_dependency_graph={smem_pp: [smem_pp]},
    )
    return task_manager


@mlir_ts.kernel(arch="sm_90a")
def kernel(total: Buffer("f32", (32,)), num_k_tiles: Index()):
    make(num_k_tiles, total)
