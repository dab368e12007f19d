# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The authoring layer beyond resources and tasks: replicas, batons, barriers by hand, fragments, values taken from
task-local variables. All of it runs in the emulator."""
import numpy as np
import pytest

import mlir_ts
from mlir_ts import Buffer, Index, dsl, kernel
from mlir_ts.task_scheduling import (Baton, MemoryResource, PipelineConfig, PipelineOp, SmemAllocation, Task,
                                     TaskLocalVariable, TaskManager, consumer_work, domain_loop, producer_work,
                                     replica_index, schedule)

SCHEDULES = ("fair", "random:1", "adversarial:0", "adversarial:2")


def thread():
    return dsl.info("thread", results="index")


class Out(MemoryResource):
    """Global memory that work writes by a function of (stage_info, what the schedule passes)."""

    def __init__(self, function, name="d"):
        super().__init__(name=name)
        self.function = function

    @producer_work
    def store(self, stage_info, **values):
        self.function(stage_info, **values)


class In(MemoryResource):
    def __init__(self, function, name="a"):
        super().__init__(name=name)
        self.function = function

    @consumer_work
    def read(self, stage_info, **values):
        return self.function(stage_info, **values)


def single(function, number_of_warps=1, replicas=1):
    """A kernel of one task that reads A and writes D by one function of (A, D, stage_info)."""
    @kernel(arch="sm_90a")
    def one(A: Buffer("f32"), D: Buffer("f32")):
        source, target = In(lambda info: dsl.const(0)), Out(lambda info, i: function(A, D, info))

        @schedule
        def run():
            target.store(i=source.read())
        TaskManager([Task(name="one", warp_idx=0, num_warps=number_of_warps, replicas=replicas, src_resources=[source],
                          dst_resources=[target], schedule=run())], {target: [source]})
    return one


def ran(function, size=32, **options):
    """What such a kernel makes of 0, 1, 2, ..."""
    a, d = np.arange(size, dtype=np.float32), np.full(size, np.nan, np.float32)
    single(function, **options)(a, d)
    return a, d


def test_vectors():
    def body(a, d, info):
        x = dsl.vector_load(a, (thread() * 4,), "vector<4xf32>")
        total = dsl.broadcast(dsl.vector_reduce("add", x), "vector<4xf32>")
        dsl.vector_store(dsl.fma(x, x, 1.0) + total, d, (thread() * 4,))
    a, d = ran(body, 128)
    assert (d == a * a + 1 + np.repeat(a.reshape(32, 4).sum(axis=1), 4)).all()


def test_elect():
    def body(a, d, info):
        with dsl.elect():
            for i in dsl.for_(0, 32):
                dsl.store(dsl.load(a, i) * 2.0, d, i)
    a, d = ran(body)
    assert (d == 2 * a).all()


def test_replicas():
    def body(a, d, info):
        i = info.replica * 32 + dsl.info("lane", results="index")
        dsl.store(dsl.load(a, i) + dsl.cast(dsl.cast(info.replica, "i32"), "f32"), d, i)
    a, d = ran(body, 64, number_of_warps=2, replicas=2)
    assert (d == a + np.repeat([0, 1], 32)).all()


def test_replica_index_of_a_task_without_replicas():
    with pytest.raises(mlir_ts.Error, match="this task has no replicas; give it replicas=") as caught:
        ran(lambda a, d, info: dsl.store(1.0, d, info.replica))
    assert caught.value.id == "TS108"


@pytest.mark.parametrize("trips", [0, 1, 2, 6])
def test_loops_that_begin_at_the_replica(trips):
    # Each replica takes every second step.
    @kernel(arch="sm_90a")
    def steps(D: Buffer("f32"), n: Index()):
        source = In(lambda info: info.loop_offset)
        target = Out(lambda info, i: dsl.store(dsl.cast(dsl.cast(info.replica + 1, "i32"), "f32"), D, i))

        @schedule
        def run():
            with domain_loop(replica_index(), n, 2):
                target.store(i=source.read())
        TaskManager([Task(name="t", warp_idx=0, num_warps=2, replicas=2, src_resources=[source], dst_resources=[target],
                          schedule=run())], {target: [source]})
    d = np.zeros(8, np.float32)
    assert steps.check().proven
    steps(d, n=trips)
    assert (d == [1 + i % 2 if i < trips else 0 for i in range(8)]).all()


def test_baton():
    # Two replicas append to one list in turn: without the order the positions would be anybody's.
    @kernel(arch="sm_90a")
    def turns(D: Buffer("f32"), n: Index()):
        source, turn = In(lambda info: info.loop_offset), Baton(name="turn", holders=2, first=1)

        def append(info, i):
            end = dsl.cast(dsl.cast(dsl.load(D, 0), "i32"), "index")
            dsl.warp_sync()
            with dsl.elect():
                dsl.store(dsl.cast(dsl.cast(info.replica + 1, "i32"), "f32"), D, end + 1)
                dsl.store(dsl.load(D, 0) + 1.0, D, 0)
            dsl.warp_sync()
        target = Out(append)

        @schedule
        def run():
            with domain_loop(0, n, 1):
                i = source.read()
                turn.take()
                target.store(i=i)
                turn.pass_()
        TaskManager([Task(name="t", warp_idx=0, num_warps=2, replicas=2, src_resources=[source], dst_resources=[target],
                          schedule=run())], {target: [source]})
    assert turns.check().proven
    for order in SCHEDULES:
        d = np.zeros(9, np.float32)
        turns(d, n=4, schedule=order)
        assert d.tolist() == [8, 2, 1, 2, 1, 2, 1, 2, 1]


@pytest.mark.parametrize("by_hand", ["named", "mbarrier"])
def test_barriers_by_hand(by_hand):
    # Four warps write, and each thread reads what its neighbour warp wrote.
    class Stage(MemoryResource):
        def get_smem_requirements(self):
            return [SmemAllocation("x", "128xf32")]

        @producer_work
        def write(self, stage_info):
            dsl.store(dsl.load(self.source, thread()), stage_info.x, thread())
            if by_hand == "named":
                dsl.barrier_sync(self.barrier)
            else:
                dsl.mbarrier_arrive(self.barrier)
                dsl.mbarrier_wait(self.barrier, dsl.const(0, "i32"))
            dsl.store(dsl.load(stage_info.x, (thread() + 32) % 128), self.target, thread())

    @kernel(arch="sm_90a")
    def exchange(A: Buffer("f32", (128,)), D: Buffer("f32", (128,))):
        stage, source = Stage(name="x"), In(lambda info: dsl.const(0))
        stage.barrier = dsl.named_barrier("all", 128) if by_hand == "named" else dsl.mbarrier("all", 128)
        stage.source, stage.target = A, D

        @schedule
        def run():
            source.read()
            stage.write()
        TaskManager([Task(name="t", warp_idx=0, num_warps=4, src_resources=[source], dst_resources=[stage],
                          schedule=run())], {stage: [source]})
    a = np.arange(128, dtype=np.float32)
    for order in SCHEDULES:
        d = np.full(128, np.nan, np.float32)
        exchange(a, d, schedule=order)
        assert (d == np.roll(a, -32)).all()


def test_fragments():
    # Row sums, row maxima and a triangle of i + j, 64 x 64, that begins as a fragment.
    frag, rows = "!ts.fragment<64x64xf32>", "vector<2xf32>"

    def body(a, d, info):
        f = dsl.fragment_map(lambda i, j: dsl.cast(i + j, "f32"), results=frag, at=True)
        total = dsl.fragment_reduce("add", dsl.fragment_reduce("add", f, partial=True))
        low = dsl.fragment_map(lambda x, top, i, j: dsl.where(j <= i, x, top), f, dsl.fragment_reduce("max", f),
                               results=frag, at=True)
        spread = dsl.fragment_reduce("add", low)
        assert str(total.type) == rows
        row = dsl.info("warp", results="index") * 16 + dsl.info("lane", results="index") // 4
        for half in range(2):
            dsl.store(dsl.extract(spread, half) - dsl.extract(total, half), d, row + 8 * half)
    a, d = ran(body, 64, number_of_warps=4)
    i, j = np.mgrid[:64, :64]
    wanted = np.where(j <= i, i + j, i + 63).sum(axis=1) - (i + j).sum(axis=1)
    assert (d == wanted).all()


def chain(write_first=True):
    """A producer's work that takes what a consumer's work has left."""
    left = TaskLocalVariable("f32")

    class Source(MemoryResource):
        value = left

        @consumer_work(returns="value")
        def read(self, stage_info):
            return dsl.load(self.array, thread())

    class Target(MemoryResource):
        @producer_work
        def store(self, stage_info, *, x=left):
            dsl.store(x * 3.0, self.array, thread())

    @kernel(arch="sm_90a")
    def taken(A: Buffer("f32", (32,)), D: Buffer("f32", (32,))):
        source, target = Source(name="a"), Target(name="d")
        source.array, target.array = A, D

        @schedule
        def run():
            if write_first:
                source.read()
            target.store()
        TaskManager([Task(name="t", warp_idx=0, src_resources=[source], dst_resources=[target], schedule=run())],
                    {target: [source]})
    return taken


def test_a_value_that_is_taken():
    a, d = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    chain()(a, d)
    assert (d == 3 * a).all()


def test_a_value_that_nothing_has_written():
    with pytest.raises(mlir_ts.Error, match="takes 'x' from a task-local variable that nothing in") as caught:
        chain(write_first=False).module
    assert caught.value.id == "TS111"


def test_a_baton_for_the_wrong_number_of_replicas():
    @kernel(arch="sm_90a")
    def wrong(D: Buffer("f32"), n: Index()):
        source, target = In(lambda info: dsl.const(0)), Out(lambda info, i: dsl.store(1.0, D, i))
        turn = Baton(name="turn", holders=3)

        @schedule
        def run():
            with domain_loop(0, n, 1):
                turn.take()
                target.store(i=source.read())
                turn.pass_()
        TaskManager([Task(name="t", warp_idx=0, num_warps=2, replicas=2, src_resources=[source], dst_resources=[target],
                          schedule=run())], {target: [source]})
    with pytest.raises(mlir_ts.RefutedError, match="deadlock") as caught:  # the second round waits for a third replica
        wrong.check()
    assert caught.value.id == "TS301"


def test_a_stage_released_under_products_in_flight():
    import gemm_sm90
    with open(gemm_sm90.__file__) as file:
        text = file.read()
    early = text.replace("with not_first_iter():\n                ab.release()", "ab.release()")
    early = early.replace("        with when_true(some):\n            ab.release()\n", "")
    assert early != text
    names = {"__name__": "early"}
    exec(compile(early, gemm_sm90.__file__, "exec"), names)  # noqa: S102
    with pytest.raises(mlir_ts.RefutedError, match="race when tiles_k >= 5") as caught:
        names["gemm"].check()
    assert caught.value.id == "TS302"


@pytest.mark.parametrize("name, engines", [
    ("async_async", ("thread", "thread")), ("tma_async", ("tma", "thread")), ("tma_umma", ("tma", "umma")),
    ("umma_async", ("umma", "thread")), ("async_umma", ("thread", "umma")), ("umma_umma", ("umma", "umma")),
    ("clc_fetch_async", ("clc", "thread"))])
def test_engines_of_a_pipeline_are_the_protocols(name, engines):
    make = getattr(PipelineConfig, f"create_{name}_pipeline_cfg")
    assert make(num_stages=2).engines == engines
    if name.startswith("async"):
        assert make(num_stages=2, producer_op=PipelineOp.AsyncLoad).engines == ("cp_async", engines[1])


AT_A_PROMPT = '''
class Typed(MemoryResource):
    @producer_work
    def dots(self, stage_info): ...
    @producer_work
    def nothing_yet(self, stage_info):
        """Only a docstring."""
        pass
    @producer_work
    def returns(self, stage_info):
        return
    @producer_work
    def works(self, stage_info):
        stage_info.x
'''


def test_bodies_without_source():
    names = {"MemoryResource": MemoryResource, "producer_work": producer_work}
    exec(compile(AT_A_PROMPT, "<stdin>", "exec"), names)
    methods = ("dots", "nothing_yet", "returns", "works")
    assert [getattr(names["Typed"], name).has_body() for name in methods] == [False, False, True, True]
