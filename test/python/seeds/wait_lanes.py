# The per-role lanes of the patterns page: D = A |A| on tiles of 32 x 32. One dense warp loads, four warps only wait and
# square, each every fourth tile, and one dense warp releases when it has stored what they made.
import mlir_ts
from mlir_ts import Index, TensorMap, dsl
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskManager, consumer_work,
                                     domain_loop, pipeline, producer_work, schedule)

tile_bytes = 32 * 32 * 4
cta_layout_vmnk = (1, 1, 1, 1)
cfg = PipelineConfig.create_tma_async_pipeline_cfg(
    num_stages=8,
    num_bytes=tile_bytes,
    producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
    consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
    cta_layout_vmnk=cta_layout_vmnk,
    advance_on_wait=True,
    interleave_stride=(1, 1, 4, 1),  # only consumer_wait is interleaved
)
# The wait task is declared with num_warps=4; the dense producer and the
# release task each use num_warps=1.


class Source(MemoryResource):
    @consumer_work
    def row(self, stage_info):
        return stage_info.loop_offset * 32


class Tile(MemoryResource):
    def get_smem_requirements(self):
        return [SmemAllocation("x", "32x32xf32", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, row):
        dsl.tma_load(self.source, stage_info.x, coords=(row, 0))

    @consumer_work
    def read(self, stage_info):
        return dsl.vector_load(stage_info.x, (dsl.info("lane", results="index"), 0), "vector<32xf32>")

    @producer_work
    def write(self, stage_info, *, row):
        dsl.vector_store(row * dsl.absolute(row), stage_info.x, (dsl.info("lane", results="index"), 0))

    @consumer_work
    def tile(self, stage_info):
        return stage_info.x


class Destination(MemoryResource):
    @producer_work
    def store(self, stage_info, *, tile):
        dsl.fence("proxy_async_shared")
        dsl.warp_sync()
        dsl.tma_store(tile, self.target, coords=(stage_info.loop_offset * 32, 0))
        dsl.bulk_commit()
        dsl.bulk_wait(0, read=True)


@schedule
def load_schedule(source, inputs, tiles):
    with domain_loop(0, tiles, 1):
        row = source.row()
        inputs.acquire()
        inputs.load(row=row)
        inputs.commit()


@schedule
def square_schedule(inputs, outputs, rounds):
    with domain_loop(0, rounds, 1):
        inputs.wait()
        row = inputs.read()
        outputs.acquire()
        outputs.write(row=row)
        outputs.commit()


@schedule
def store_schedule(inputs, outputs, destination, tiles):
    with domain_loop(0, tiles, 1):
        outputs.wait()
        inputs.release()
        tile = outputs.tile()
        destination.store(tile=tile)
        outputs.release()


@mlir_ts.kernel(arch="sm_90a")
def kernel(A: TensorMap("f32", (32, 32), 128), D: TensorMap("f32", (32, 32), 128),
           rounds: Index("ceildiv(dim(A, 0), 128)")):
    source, destination, inputs = Source(name="a"), Destination(name="d"), Tile(name="inputs", pipeline_config=cfg)
    outputs = Tile(name="outputs", pipeline_config=PipelineConfig.create_async_async_pipeline_cfg(
        num_stages=4, interleave_stride=(4, 4, 1, 1)))
    inputs.source, destination.target = A, D
    tiles = rounds * 4
    TaskManager(
        tasks=[
            Task(name="square", src_resources=[inputs], dst_resources=[outputs], warp_idx=0, num_warps=4,
                 schedule=square_schedule(inputs, outputs, rounds)),
            Task(name="load", src_resources=[source], dst_resources=[inputs], warp_idx=4,
                 schedule=load_schedule(source, inputs, tiles)),
            Task(name="store", src_resources=[inputs, outputs], dst_resources=[destination], warp_idx=5,
                 schedule=store_schedule(inputs, outputs, destination, tiles)),
        ],
        resource_dependency_graph={inputs: [source], outputs: [inputs], destination: [outputs]})
