# The warp lanes of the patterns page: D = A B^T for B of 64 rows, 512 rows of A at a time. Four warps load; warp w owns
# lane w of the eight stages, which carries rows 128 w to 128 w + 127 of A. Each lane has a warp that multiplies, a task
# of its own, since a task completes an accumulator once.
import mlir_ts
from mlir_ts import Index, TensorMap, dsl
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskManager, TmemAllocation,
                                     consumer_work, domain_loop, last_iter, pipeline, producer_work, schedule)

tile_bytes = (128 + 64) * 64 * 2
cta_layout_vmnk = (1, 1, 1, 1)
cfg = PipelineConfig.create_tma_umma_pipeline_cfg(
    num_stages=8,
    num_bytes=tile_bytes,
    producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
    consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
    cta_layout_vmnk=cta_layout_vmnk,
    interleave_stride=4,        # 4 warps share the 8 stages (lanes 0..3)
)
# The task using this resource is declared with num_warps=4, so its four
# warps own lanes 0..3.


class Source(MemoryResource):
    @consumer_work
    def row(self, stage_info):
        return dsl.info("warp", results="index") * 128


class Operands(MemoryResource):
    def get_smem_requirements(self):
        return [SmemAllocation("a", "128x64xbf16", swizzle=128), SmemAllocation("b", "64x64xbf16", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, row):
        column = stage_info.loop_offset * 64
        dsl.tma_load(self.map_a, stage_info.a, coords=(row, column))
        dsl.tma_load(self.map_b, stage_info.b, coords=(0, column))

    @consumer_work
    def operands(self, stage_info):
        return stage_info.a, stage_info.b


class Accumulator(MemoryResource):
    def get_tmem_requirements(self):
        return [TmemAllocation("c", "128x64xf32")]

    @producer_work
    def multiply(self, stage_info, *, a, b):
        dsl.umma(stage_info.c, a, b, accumulate=stage_info.loop_offset != stage_info.loop_start)

    @consumer_work
    def columns(self, stage_info):
        return dsl.tmem_load(stage_info.c, stage_info.loop_offset * 32, results="vector<32xf32>")


class Destination(MemoryResource):
    memory_space = "gmem"

    def get_smem_requirements(self):
        return [SmemAllocation("stage", "4x32x32xf32", swizzle=128)]

    @producer_work
    def store(self, stage_info, *, values, block):
        warp, lane = dsl.info("warp", results="index"), dsl.info("lane", results="index")
        piece = dsl.subview(stage_info.stage, (warp, 0, 0), (1, 32, 32),
                            "memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>")
        dsl.bulk_wait(0, read=True)
        dsl.warp_sync()
        dsl.vector_store(values, piece, (lane, 0))
        dsl.fence("proxy_async_shared")
        dsl.warp_sync()
        dsl.tma_store(piece, self.target, coords=(block * 128 + warp * 32, stage_info.loop_offset * 32))
        dsl.bulk_commit()


@schedule
def load_schedule(source, ab, rounds):
    row = source.row()
    with domain_loop(0, rounds, 1):
        ab.acquire()
        ab.load(row=row)
        ab.commit()


@schedule
def multiply_schedule(ab, acc, lane, tiles):
    acc.acquire()
    with domain_loop(lane, tiles, 4):
        ab.wait()
        a, b = ab.operands()
        acc.multiply(a=a, b=b)
        ab.release()
    acc.commit()


@schedule
def store_schedule(accumulators, destination):
    for block, acc in enumerate(accumulators):
        acc.wait()
        with domain_loop(0, 2, 1):
            values = acc.columns()
            with last_iter():
                acc.release()
            destination.store(values=values, block=block)


@mlir_ts.kernel(arch="sm_100a")
def kernel(A: TensorMap("bf16", (128, 64), 128), B: TensorMap("bf16", (64, 64), 128),
           D: TensorMap("f32", (32, 32), 128), rounds: Index("ceildiv(dim(A, 1), 64)")):
    source, destination = Source(name="gmem_ab"), Destination(name="gmem_d")
    ab = Operands(name="ab", pipeline_config=cfg)
    single = PipelineConfig.create_umma_async_pipeline_cfg(num_stages=1)
    accumulators = [Accumulator(name=f"acc{lane}", pipeline_config=single) for lane in range(4)]
    ab.map_a, ab.map_b, destination.target = A, B, D
    tiles = rounds * 4
    TaskManager(
        tasks=[
            Task(name="store", src_resources=accumulators, dst_resources=[destination], warp_idx=0, num_warps=4,
                 schedule=store_schedule(accumulators, destination)),
            Task(name="load", src_resources=[source], dst_resources=[ab], warp_idx=4, num_warps=4,
                 schedule=load_schedule(source, ab, rounds)),
            *(Task(name=f"mma{lane}", src_resources=[ab], dst_resources=[acc], warp_idx=8 + lane,
                   schedule=multiply_schedule(ab, acc, lane, tiles)) for lane, acc in enumerate(accumulators)),
        ],
        resource_dependency_graph={ab: [source], destination: accumulators} | {acc: [ab] for acc in accumulators})
