# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""O[i] = softmax(Q[i] K[i]^T / 8) V[i] for a batch on Blackwell: two softmax tasks as domain lanes.

    python interleaved_softmax.py [--batch 5] [--rows 100] [--keys 64] [--device cuda]

Q and O are batch x rows x 64 with up to 128 rows, K and V batch x keys x 64 with up to 64 keys. One warp multiplies for
the scores, two groups of four warps take the even and the odd elements of the batch, turn scores into probabilities and
put them into tensor memory, and another warp multiplies these with V. All share two stages of scores and two of
probabilities; the lanes only interleave them. `scores_cfg` to `softmax_odd` is the snippet of the documentation.
"""
import numpy as np

from common import compare, from_bf16, options, run, to_bf16
from mlir_ts import Index, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskLocalVariable,
                                     TaskManager, TmemAllocation, consumer_work, domain_loop, producer_work, schedule)

PIECE = "memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>"
LOG2E, MASKED = 1.44269504, -1e30


class Source(MemoryResource):
    @consumer_work
    def batch(self, stage_info):
        return stage_info.loop_offset


class Tile(MemoryResource):
    """An element of Q, K or V."""

    def __init__(self, name, source, rows):
        super().__init__(name=name, pipeline_config=PipelineConfig.create_tma_umma_pipeline_cfg(num_stages=2))
        self.source, self.rows = source, rows

    def get_smem_requirements(self):
        return [SmemAllocation("x", f"{self.rows}x64xbf16", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, batch):
        dsl.tma_load(self.source, stage_info.x, coords=(batch, 0, 0))

    @consumer_work
    def operand(self, stage_info):
        return stage_info.x


class Scores(MemoryResource):
    row = TaskLocalVariable("vector<64xbf16>")

    def get_tmem_requirements(self):
        return [TmemAllocation("s", "128x64xf32")]

    @producer_work
    def multiply(self, stage_info, *, q, k):
        dsl.umma(stage_info.s, q, k, accumulate=False)

    @consumer_work(returns="row")
    def compute_softmax(self, stage_info):
        x = dsl.tmem_load(stage_info.s, dsl.const(0), results="vector<64xf32>")
        column = dsl.op("vector.step", results=["vector<64xindex>"])
        x = dsl.where(column < dsl.broadcast(self.keys, "vector<64xindex>"), x, dsl.broadcast(MASKED, "vector<64xf32>"))
        shift = dsl.vector_reduce("maximumf", x) * (0.125 * LOG2E)
        e = dsl.exp2(x * (0.125 * LOG2E) - dsl.broadcast(shift, "vector<64xf32>"))
        return dsl.cast(e * dsl.broadcast(1.0 / dsl.vector_reduce("add", e), "vector<64xf32>"), "vector<64xbf16>")


class Probabilities(MemoryResource):
    def get_tmem_requirements(self):
        return [TmemAllocation("p", "128x64xbf16")]

    @producer_work
    def store(self, stage_info, *, row=Scores.row):  # what compute_softmax has left
        dsl.tmem_store(row, stage_info.p, dsl.const(0))

    @consumer_work
    def operand(self, stage_info):
        return stage_info.p


class Products(MemoryResource):
    def get_tmem_requirements(self):
        return [TmemAllocation("o", "128x64xf32")]

    @producer_work
    def multiply(self, stage_info, *, p, v):
        dsl.umma(stage_info.o, p, v, accumulate=False, transpose_b=True)

    @consumer_work
    def rows(self, stage_info):
        return tuple(dsl.tmem_load(stage_info.o, dsl.const(32 * i), results="vector<32xf32>") for i in range(2))


class Destination(MemoryResource):
    memory_space = "gmem"

    def get_smem_requirements(self):
        return [SmemAllocation("stage", "4x2x32x32xf32", swizzle=128)]

    @producer_work
    def store(self, stage_info, *, left, right):
        warp, lane = dsl.info("warp", results="index"), dsl.info("lane", results="index")
        dsl.bulk_wait(0, read=True)
        dsl.warp_sync()
        for i, half in enumerate((left, right)):
            piece = dsl.subview(stage_info.stage, (warp, i, 0, 0), (1, 1, 32, 32), PIECE)
            dsl.vector_store(half, piece, (lane, 0))
            dsl.fence("proxy_async_shared")
            dsl.warp_sync()
            dsl.tma_store(piece, self.target, coords=(stage_info.loop_offset, warp * 32, 32 * i))
        dsl.bulk_commit()


@schedule
def load_schedule(source, q, k, v, n):
    with domain_loop(0, n, 1):
        batch = source.batch()
        for tile in (q, k, v):
            tile.acquire()
            tile.load(batch=batch)
            tile.commit()


@schedule
def scores_schedule(q, k, scores, n):
    with domain_loop(0, n, 1):
        q.wait()
        k.wait()
        a, b = q.operand(), k.operand()
        scores.acquire()
        scores.multiply(q=a, k=b)
        scores.commit()
        q.release()
        k.release()


@schedule
def products_schedule(probs, v, products, n):
    with domain_loop(0, n, 1):
        probs.wait()
        v.wait()
        a, b = probs.operand(), v.operand()
        products.acquire()
        products.multiply(p=a, v=b)
        products.commit()
        probs.release()
        v.release()


@schedule
def store_schedule(products, destination, n):
    with domain_loop(0, n, 1):
        products.wait()
        left, right = products.rows()
        products.release()
        destination.store(left=left, right=right)


@kernel(arch="sm_100a")
def interleaved_softmax(Q: TensorMap("bf16", box=(1, 128, 64), swizzle=128),
                        K: TensorMap("bf16", box=(1, 64, 64), swizzle=128),
                        V: TensorMap("bf16", box=(1, 64, 64), swizzle=128),
                        O: TensorMap("f32", box=(1, 32, 32), swizzle=128),  # noqa: E741
                        keys: Index("dim(K, 1)"), num_k_tiles: Index("2 * ceildiv(dim(Q, 0), 2)")):
    NUM_LANES = 2

    # Consumer and producer role pairs match because both resources derive
    # their lane from each task's domain_start.
    scores_cfg = PipelineConfig.create_umma_async_pipeline_cfg(
        num_stages=2,
        interleave_stride=(1, 1, NUM_LANES, NUM_LANES),
    )
    probs_cfg = PipelineConfig.create_async_umma_pipeline_cfg(
        num_stages=2,
        interleave_stride=(NUM_LANES, NUM_LANES, 1, 1),
    )

    source, destination = Source(name="gmem_qkv"), Destination(name="gmem_o")
    q, k, v = Tile("smem_q", Q, 128), Tile("smem_k", K, 64), Tile("smem_v", V, 64)
    scores = Scores(name="scores", pipeline_config=scores_cfg)
    probs = Probabilities(name="probs", pipeline_config=probs_cfg)
    products = Products(name="products", pipeline_config=PipelineConfig.create_umma_async_pipeline_cfg(num_stages=2))
    scores.keys, destination.target = keys, O

    def make_softmax_task(lane, warp_idx):
        @schedule
        def softmax_lane(scores, probs):
            with domain_loop(lane, num_k_tiles, NUM_LANES):
                scores.wait()
                scores.compute_softmax()
                probs.acquire()
                probs.store()
                probs.commit()
                scores.release()

        return Task(
            src_resources=[scores],
            dst_resources=[probs],
            warp_idx=warp_idx,
            num_warps=4,  # differs from NUM_LANES: select domain-lane mode
            schedule=softmax_lane(scores, probs),
            name=f"SoftmaxLane{lane}",
        )

    softmax_even = make_softmax_task(lane=0, warp_idx=0)
    softmax_odd = make_softmax_task(lane=1, warp_idx=4)

    TaskManager(
        tasks=[
            softmax_even, softmax_odd,
            Task(name="store", src_resources=[products], dst_resources=[destination], warp_idx=8, num_warps=4,
                 schedule=store_schedule(products, destination, num_k_tiles)),
            Task(name="load", src_resources=[source], dst_resources=[q, k, v], warp_idx=12,
                 schedule=load_schedule(source, q, k, v, num_k_tiles)),
            Task(name="scores", src_resources=[q, k], dst_resources=[scores], warp_idx=13,
                 schedule=scores_schedule(q, k, scores, num_k_tiles)),
            Task(name="products", src_resources=[probs, v], dst_resources=[products], warp_idx=14,
                 schedule=products_schedule(probs, v, products, num_k_tiles)),
        ],
        resource_dependency_graph={q: [source], k: [source], v: [source], scores: [q, k], probs: [scores],
                                   products: [probs, v], destination: [products]})


def reference(q, k, v):
    """The same in f64."""
    s = 0.125 * q @ k.transpose(0, 2, 1)
    e = np.exp(s - s.max(axis=2, keepdims=True))
    return e / e.sum(axis=2, keepdims=True) @ v


if __name__ == "__main__":
    args = options(__doc__, batch=5, rows=100, keys=64)
    random = np.random.default_rng(args.seed)
    q, k, v = (to_bf16(random.standard_normal((args.batch, n, 64))) for n in (args.rows, args.keys, args.keys))
    o = np.full((args.batch, args.rows, 64), np.nan, np.float32)
    run(interleaved_softmax, args, q, k, v, o)
    compare("O = softmax(Q @ K.T / 8) @ V", o, reference(*(from_bf16(x).astype(np.float64) for x in (q, k, v))), 2e-2)
