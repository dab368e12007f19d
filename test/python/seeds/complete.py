# The skeleton of the introduction as it is written there, with a consumer, work bodies and numbers: the sums of A's
# 64 rows over its column tiles. Arguments, the store task and the bodies are ours.
import mlir_ts
from mlir_ts import Buffer, Index, TensorMap, dsl
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskLocalVariable,
                                     TaskManager, WorkAttr, consumer_work, domain_loop, producer_work, schedule)

smem_a_pipeline_config = PipelineConfig.create_tma_async_pipeline_cfg(num_stages=2, num_bytes=8192)


@mlir_ts.kernel(arch="sm_90a")
def kernel(A: TensorMap("f32", (64, 32), 128), D: Buffer("f32", (64,)), num_k_tiles: Index("ceildiv(dim(A, 1), 32)")):
    # 1. Resource classes declare the schedule-facing operations.
    class GmemAResource(MemoryResource):
        @consumer_work
        def compute_coords(self, stage_info):
            return stage_info.loop_offset * 32, dsl.const(0), dsl.const(0)

    class SmemAResource(MemoryResource):
        @producer_work
        def tma_load_a(self, stage_info, coord_k, coord_m):
            dsl.tma_load(A, stage_info.a, coords=(coord_m, coord_k))

        total = TaskLocalVariable("f32")

        def get_smem_requirements(self):
            return [SmemAllocation("a", "64x32xf32", swizzle=128)]

        @consumer_work(work_attrs=WorkAttr.AUXILIARY, returns="total")
        def zero(self, stage_info):
            return 0.0

        @consumer_work(returns="total")
        def add_row(self, stage_info, total):
            row = dsl.info("thread", results="index")
            loop = dsl.for_(0, 32, init=(total,))
            with loop as (i, total):
                loop.yield_(total + dsl.load(stage_info.a, (row, i)))
            return loop.results[0]

    class GmemDResource(MemoryResource):
        @producer_work
        def store(self, stage_info, total):
            dsl.store(total, D, dsl.info("thread", results="index"))

    # 2. The kernel instantiates resources, optionally with pipeline configs.
    gmem_a = GmemAResource(name="gmem_a")
    smem_a = SmemAResource(
        name="smem_a",
        pipeline_config=smem_a_pipeline_config,
    )
    gmem_d = GmemDResource(name="gmem_d")

    # 3. The dependency graph states the intended resource ordering.
    resource_dependency_graph = {
        smem_a: [gmem_a],
    }
    resource_dependency_graph[gmem_d] = [smem_a]

    # 4. The captured schedule records the task ordering.
    @schedule
    def load_a_schedule(gmem_a: GmemAResource,
                        smem_a: SmemAResource) -> None:
        with domain_loop(0, num_k_tiles, 1):
            coord_k, coord_m, coord_n = gmem_a.compute_coords()
            smem_a.acquire()
            smem_a.tma_load_a(coord_k=coord_k, coord_m=coord_m)
            smem_a.commit()

    @schedule
    def add_schedule(smem_a: SmemAResource, gmem_d: GmemDResource) -> None:
        total = smem_a.zero()
        with domain_loop(0, num_k_tiles, 1):
            smem_a.wait()
            total = smem_a.add_row(total=total)
            smem_a.release()
        gmem_d.store(total=total)

    # 5. The task binds resources, schedule, and warp assignment.
    load_a_task = Task(
        name="load_a",
        src_resources=[gmem_a],
        dst_resources=[smem_a],
        warp_idx=0,
        num_warps=1,
        schedule=load_a_schedule(gmem_a, smem_a),
    )
    add_task = Task(name="add", src_resources=[smem_a], dst_resources=[gmem_d], warp_idx=4, num_warps=2,
                    schedule=add_schedule(smem_a, gmem_d))

    # 6. The manager validates the schedule before lowering.
    TaskManager(
        tasks=[load_a_task, add_task],
        resource_dependency_graph=resource_dependency_graph,
    )
