# The leader-routed completion of the patterns page: the row sums of A (128 rows) by tiles of 128 x 32. Two warps load
# 64 rows each, and the first of them arms the barrier for both.
import mlir_ts
from mlir_ts import Buffer, Index, TensorMap, dsl
from mlir_ts.task_scheduling import (CooperativeGroup, MemoryResource, PipelineConfig, SignalingThreads, SmemAllocation,
                                     Task, TaskLocalVariable, TaskManager, WorkAttr, consumer_work, domain_loop,
                                     producer_work, schedule)

bytes_one_warp_one_cta = 64 * 32 * 4
total_bytes = 2 * bytes_one_warp_one_cta
cta_layout_vmnk = (1, 1, 1, 1)
cfg = PipelineConfig.create_tma_async_pipeline_cfg(
    num_stages=3,
    num_bytes=total_bytes,                 # sum across all covered producers
    producer_group=CooperativeGroup(),
    consumer_group=CooperativeGroup(),
    cta_layout_vmnk=cta_layout_vmnk,       # must be inspectable (a tuple)
    producer_signaling_threads=SignalingThreads.TaskWarpLeader,
    num_bytes_per_warp_per_cta=bytes_one_warp_one_cta,
)


class Source(MemoryResource):
    @consumer_work
    def row(self, stage_info):
        return dsl.info("warp", results="index") * 64


class Tile(MemoryResource):
    total = TaskLocalVariable("f32")

    def get_smem_requirements(self):
        return [SmemAllocation("a", "128x32xf32", swizzle=128)]

    @producer_work
    def load_half(self, stage_info, *, row):
        half = dsl.subview(stage_info.a, (row, 0), (64, 32),
                           "memref<64x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>")
        dsl.tma_load(self.source, half, coords=(row, stage_info.loop_offset * 32))

    @consumer_work(work_attrs=WorkAttr.AUXILIARY, returns="total")
    def zero(self, stage_info):
        return 0.0

    @consumer_work(returns="total")
    def add(self, stage_info, *, total):
        row = dsl.vector_load(stage_info.a, (dsl.info("thread", results="index"), 0), "vector<32xf32>")
        return total + dsl.vector_reduce("add", row)


class Destination(MemoryResource):
    @producer_work
    def store(self, stage_info, *, total):
        dsl.store(total, self.target, dsl.info("thread", results="index"))


@schedule
def load_schedule(source, tile, rounds):
    row = source.row()
    with domain_loop(0, rounds, 1):
        tile.acquire()
        tile.load_half(row=row)
        tile.commit()


@schedule
def add_schedule(tile, destination, rounds):
    total = tile.zero()
    with domain_loop(0, rounds, 1):
        tile.wait()
        total = tile.add(total=total)
        tile.release()
    destination.store(total=total)


@mlir_ts.kernel(arch="sm_90a")
def kernel(A: TensorMap("f32", (64, 32), 128), D: Buffer("f32", (128,)), rounds: Index("ceildiv(dim(A, 1), 32)")):
    source, destination = Source(name="gmem_a"), Destination(name="gmem_d")
    tile = Tile(name="smem_a", pipeline_config=cfg)
    tile.source, destination.target = A, D
    TaskManager(
        tasks=[
            Task(name="add", src_resources=[tile], dst_resources=[destination], warp_idx=0, num_warps=4,
                 schedule=add_schedule(tile, destination, rounds)),
            Task(name="load", src_resources=[source], dst_resources=[tile], warp_idx=4, num_warps=2,
                 schedule=load_schedule(source, tile, rounds)),
        ],
        resource_dependency_graph={tile: [source], destination: [tile]})
