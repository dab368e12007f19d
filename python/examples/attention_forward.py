# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""O = softmax(scale Q K^T) V on Hopper, bf16 in and out, f32 inside: attention forward with heads of 64.

    python attention_forward.py [--heads 2] [--queries 200] [--keys 300] [--causal 1] [--device cuda]

Q and O are heads x queries x 64, K and V heads x keys x 64. A simpler form of examples/attention_sm90.mlir: a tile is
128 queries of one head, 64 for each of two warpgroups, and three warps load Q, K and V. Row maximum, row sum and output
are task-local variables, which the loop over blocks of 128 keys carries in registers; the probabilities go from one
product to the next in registers too. The warpgroups take turns in issuing products (a baton), so that the softmax of
one overlaps with the products of the other.
"""
import numpy as np

from common import compare, from_bf16, options, run, to_bf16
from mlir_ts import Index, Scalar, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (Baton, MemoryResource, PersistentTileSchedulerParams, PipelineConfig,
                                     SmemAllocation, Task, TaskLocalVariable, TaskManager, TileSchedulerConfig,
                                     WorkAttr, WorkQueue, consumer_work, domain_loop, producer_work, schedule,
                                     work_tile_loop)

S_ACCUMULATORS, S, P = "!ts.wgmma<64x128xf32>", "!ts.fragment<64x128xf32>", "!ts.fragment<64x128xbf16>"
OUT, ROWS = "!ts.fragment<64x64xf32>", "vector<2xf32>"
PIECE = "memref<16x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>"
PANEL = "memref<128x64xbf16, strided<[64, 1]>, #ts.smem<128>>"
MASKED, LOG2E = -1e30, 1.44269504


class Source(MemoryResource):
    @consumer_work
    def row(self, stage_info):
        return stage_info.work_tile.tile_idx[1] * 128

    @consumer_work
    def head(self, stage_info):
        return stage_info.work_tile.tile_idx[0]


class Tile(MemoryResource):
    """128 rows of Q, K or V."""

    def __init__(self, name, source):
        super().__init__(name=name, pipeline_config=PipelineConfig.create_tma_async_pipeline_cfg(num_stages=2))
        self.source = source

    def get_smem_requirements(self):
        return [SmemAllocation("x", "128x64xbf16", swizzle=128)]

    @producer_work
    def load(self, stage_info, *, head, row):
        dsl.tma_load(self.source, dsl.subview(stage_info.x, (0, 0), (128, 64), PANEL), coords=(head, row, 0))

    @producer_work
    def load_block(self, stage_info, *, head):
        panel = dsl.subview(stage_info.x, (0, 0), (128, 64), PANEL)
        dsl.tma_load(self.source, panel, coords=(head, stage_info.loop_offset * 128, 0))


class Queries(Tile):
    @consumer_work
    def rows(self, stage_info):
        return dsl.subview(stage_info.x, (stage_info.replica * 64, 0), (64, 64),
                           "memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>")


class Keys(Tile):
    @consumer_work
    def issue(self, stage_info, *, queries):
        issued = dsl.wgmma(queries, stage_info.x, dsl.wgmma_zero(S_ACCUMULATORS), accumulate=False)
        dsl.wgmma_commit()
        return issued

    @consumer_work
    def scores(self, stage_info, *, issued):
        return dsl.wgmma_wait(0, issued, results=S)


class Values(Tile):
    out = TaskLocalVariable(OUT)

    @consumer_work(work_attrs=WorkAttr.AUXILIARY, returns="out")
    def nothing(self, stage_info):
        return dsl.fragment_map(lambda i, j: 0.0, results=OUT, at=True)

    @consumer_work(returns="out")
    def add(self, stage_info, *, p, factor, out):
        scaled = dsl.fragment_map(lambda x, f: x * f, out, factor, results=OUT)
        issued = dsl.wgmma(p, stage_info.x, dsl.wgmma_start(scaled), transpose_b=True)
        dsl.wgmma_commit()
        return dsl.wgmma_wait(0, issued, p, results=(OUT, P))[0]


class Softmax(MemoryResource):
    """What a thread knows of its two rows: nothing of it is in memory."""

    row_max, row_sum = TaskLocalVariable(ROWS), TaskLocalVariable(ROWS)

    @consumer_work(work_attrs=WorkAttr.AUXILIARY, returns=("row_max", "row_sum"))
    def begin(self, stage_info):
        return dsl.broadcast(MASKED, ROWS), dsl.broadcast(0.0, ROWS)

    @consumer_work(work_attrs=WorkAttr.AUXILIARY)
    def mask(self, stage_info, *, scores):
        """Keys behind the end, and with causal those behind the query, do not count."""
        first_key = stage_info.loop_offset * 128
        end = dsl.cast(self.keys - first_key, "i32")
        query = dsl.cast(stage_info.work_tile.tile_idx[1] * 128 + stage_info.replica * 64 - first_key, "i32")
        last = self.causal > 0

        def masked(x, i, j):
            seen = dsl.where(last, dsl.minimum(query + i + 1, end), end)
            return dsl.where(j < seen, x, MASKED)
        return dsl.fragment_map(masked, scores, results=S, at=True)

    @consumer_work(work_attrs=WorkAttr.AUXILIARY)
    def maximum(self, stage_info, *, scores, row_max):
        return dsl.maximum(row_max, dsl.fragment_reduce("max", scores))

    @consumer_work(work_attrs=WorkAttr.AUXILIARY, returns=("row_max", "row_sum"))
    def update(self, stage_info, *, row_sum, new_max, factor, e):
        return new_max, dsl.fma(row_sum, factor, dsl.fragment_reduce("add", e, partial=True))

    @consumer_work(work_attrs=WorkAttr.AUXILIARY)
    def factor(self, stage_info, *, row_max, new_max):
        return dsl.exp2((row_max - new_max) * dsl.broadcast(self.to_log2, ROWS))

    @consumer_work(work_attrs=WorkAttr.AUXILIARY)
    def exponentials(self, stage_info, *, scores, new_max):
        shift = new_max * dsl.broadcast(self.to_log2, ROWS)
        return dsl.fragment_map(lambda x, s: dsl.exp2(dsl.fma(x, self.to_log2, -s)), scores, shift, results=S)

    @consumer_work(work_attrs=WorkAttr.AUXILIARY)
    def rounded(self, stage_info, *, e):
        return dsl.fragment_map(lambda x: dsl.cast(x, "bf16"), e, results=P)


class Destination(MemoryResource):
    memory_space = "gmem"

    def __init__(self, o):
        super().__init__(name="gmem_o")
        self.map_o = o

    def get_smem_requirements(self):
        return [SmemAllocation("stage", "8x16x64xbf16", swizzle=128)]

    @producer_work
    def store(self, stage_info, *, out, row_sum):
        head, tile = stage_info.work_tile.tile_idx
        slot = stage_info.replica * 4 + dsl.info("warp", results="index")
        total = dsl.fragment_reduce("add", row_sum)
        one, none = dsl.broadcast(1.0, ROWS), dsl.broadcast(0.0, ROWS)
        factor = dsl.where(total == none, none, one / total)  # without keys the result is zero
        result = dsl.fragment_map(lambda x, f: x * f, out, factor, results=OUT)
        piece = dsl.subview(stage_info.stage, (slot, 0, 0), (1, 16, 64), PIECE)
        dsl.bulk_wait(0, read=True)
        dsl.warp_sync()
        dsl.fragment_store(result, 0, piece)
        dsl.fence("proxy_async_shared")
        dsl.warp_sync()
        dsl.tma_store(piece, self.map_o, coords=(head, tile * 128 + slot * 16, 0))
        dsl.bulk_commit()


@schedule
def load_queries(queue, source, q):
    with work_tile_loop(queue):
        head, row = source.head(), source.row()
        q.acquire()
        q.load(head=head, row=row)
        q.commit()


@schedule
def load_blocks(queue, source, tile, blocks):
    with work_tile_loop(queue):
        head = source.head()
        with domain_loop(0, blocks, 1):
            tile.acquire()
            tile.load_block(head=head)
            tile.commit()


@schedule
def attend(queue, q, k, v, softmax, turn, destination, blocks):
    with work_tile_loop(queue):
        q.wait()
        queries = q.rows()
        row_max, row_sum = softmax.begin()
        out = v.nothing()
        with domain_loop(0, blocks, 1):
            k.wait()
            turn.take()
            issued = k.issue(queries=queries)
            turn.pass_()
            scores = k.scores(issued=issued)
            k.release()
            scores = softmax.mask(scores=scores)
            new_max = softmax.maximum(scores=scores, row_max=row_max)
            factor = softmax.factor(row_max=row_max, new_max=new_max)
            e = softmax.exponentials(scores=scores, new_max=new_max)
            row_max, row_sum = softmax.update(row_sum=row_sum, new_max=new_max, factor=factor, e=e)
            p = softmax.rounded(e=e)
            v.wait()
            out = v.add(p=p, factor=factor, out=out)
            v.release()
        q.release()
        destination.store(out=out, row_sum=row_sum)


MAP = TensorMap("bf16", box=(1, 128, 64), swizzle=128)


@kernel(arch="sm_90a", flush_denormals=True)
def attention(Q: MAP, K: MAP, V: MAP, O: TensorMap("bf16", box=(1, 16, 64), swizzle=128),  # noqa: E741
              scale: Scalar("f32"), causal: Index(), heads: Index("dim(Q, 0)"), tiles: Index("ceildiv(dim(Q, 1), 128)"),
              keys: Index("dim(K, 1)"), blocks: Index("ceildiv(dim(K, 1), 128)")):
    source, softmax, destination = Source(name="gmem_qkv"), Softmax(name="softmax"), Destination(O)
    softmax.to_log2, softmax.keys, softmax.causal = scale * LOG2E, keys, causal
    q, k, v = Queries("smem_q", Q), Keys("smem_k", K), Values("smem_v", V)
    turn = Baton(name="turn", holders=2)
    static = TileSchedulerConfig.create_static_persistent_tile_scheduler_params
    queue = WorkQueue(name="tiles", tile_scheduler_config=static(PersistentTileSchedulerParams((heads, tiles))))

    def loader(warp, tile, captured):
        return Task(name=f"load_{tile.name}", src_resources=[source, queue], dst_resources=[tile], warp_idx=warp,
                    num_registers=40, schedule=captured)
    TaskManager(
        tasks=[
            loader(0, q, load_queries(queue, source, q)),
            loader(1, k, load_blocks(queue, source, k, blocks)),
            loader(2, v, load_blocks(queue, source, v, blocks)),
            Task(name="attend", src_resources=[q, k, v, softmax, queue], dst_resources=[destination], warp_idx=4,
                 num_warps=8, replicas=2, num_registers=232,
                 schedule=attend(queue, q, k, v, softmax, turn, destination, blocks)),
        ],
        resource_dependency_graph={q: [source], k: [source], v: [source],
                                   destination: [q, k, v, softmax]})


def reference(q, k, v, scale, causal):
    """The same in f64; rows without keys are zero."""
    s = scale * q @ k.transpose(0, 2, 1)
    if causal:
        s[:, np.arange(q.shape[1])[:, None] < np.arange(k.shape[1])] = -np.inf
    e = np.exp(s - s.max(axis=2, keepdims=True, initial=-1e30))
    return (e @ v) / np.maximum(e.sum(axis=2, keepdims=True), 1e-30)


if __name__ == "__main__":
    args = options(__doc__, heads=2, queries=200, keys=300, causal=0)
    random = np.random.default_rng(args.seed)
    q, k, v = (to_bf16(random.standard_normal((args.heads, n, 64))) for n in (args.queries, args.keys, args.keys))
    o = np.full((args.heads, args.queries, 64), 0x7FC0, np.uint16)
    run(attention, args, q, k, v, o, scale=0.125, causal=args.causal)
    wanted = reference(*(from_bf16(x).astype(np.float64) for x in (q, k, v)), 0.125, args.causal)
    compare("O = softmax(scale * Q @ K.T) @ V", from_bf16(o), wanted, 2e-2)
