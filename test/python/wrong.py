# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong programs in Python, each a small change of one that is right. Used by test_errors.py.

A case is a function that builds a TaskManager or a kernel, or that fails on the way. The line of it whose comment is
`# HERE` is the one that the error names; where that is none of the case, `at` is what the line begins with.
"""
from mlir_ts import Index, TensorMap, dsl, kernel, symbol
from mlir_ts.task_scheduling import *  # noqa: F403

CASES = {}


def case(check, says, at=None, arch="", use="check"):
    """Registers a wrong program: the check that finds it, words of the first line, and what is asked of it."""
    def register(function):
        CASES[f"{check}-{function.__name__}"] = (check, says, at, arch, use, function)
        return function
    return register


class Gmem(MemoryResource):
    @consumer_work
    def coords(self, stage_info):
        ...

    @producer_work
    def store(self, stage_info, *, x=None):
        ...


class Smem(MemoryResource):
    type = "64x32xf32"

    def get_smem_requirements(self):
        return [SmemAllocation("x", self.type)]

    @producer_work
    def load(self, stage_info, *, at=None):
        ...

    @consumer_work
    def read(self, stage_info):
        ...


tma = PipelineConfig.create_tma_async_pipeline_cfg
threads = PipelineConfig.create_async_async_pipeline_cfg


class Filled(Smem):
    """The same with bodies."""

    type = "64x32xf32"

    def get_smem_requirements(self):
        return [SmemAllocation("x", self.type, swizzle=128)]

    @producer_work
    def load(self, stage_info, *, at=None):
        dsl.tma_load(self.source, stage_info.x, coords=(0, 0))

    @consumer_work
    def read(self, stage_info):
        return dsl.const(0)


class FilledGmem(MemoryResource):
    @consumer_work
    def coords(self, stage_info):
        return dsl.const(0)

    @producer_work
    def store(self, stage_info, *, x=None):
        dsl.warp_sync()


ARRAY = TensorMap("f32", box=(64, 32), swizzle=128)


@schedule
def load(gmem, smem, n):
    with domain_loop(0, n):
        at = gmem.coords()
        smem.acquire()
        smem.load(at=at)
        smem.commit()


@schedule
def use(smem, out, n):
    with domain_loop(0, n):
        smem.wait()
        x = smem.read()
        out.store(x=x)
        smem.release()


def program(load=load, use=use, smem=None, loader=None, user=None, graph=None, gmem=Gmem, trips=None):
    """The right program, with what a case changes."""
    n = symbol("n") if trips is None else trips
    gmem, out = gmem(name="gmem"), gmem(name="out")
    smem = smem or Smem(name="smem", pipeline_config=tma(4))
    first = {"name": "load", "src_resources": [gmem], "dst_resources": [smem], "warp_idx": 0}
    second = {"name": "use", "src_resources": [smem], "dst_resources": [out], "warp_idx": 1}
    tasks = [Task(schedule=load(gmem, smem, n), **{**first, **(loader or {})}),
             Task(schedule=use(smem, out, n), **{**second, **(user or {})})]
    return TaskManager(tasks, {smem: [gmem], out: [smem]} if graph is None else graph(gmem, smem, out))


def filled(config, source, kind=Filled):
    """A resource with bodies, for a program in a kernel function."""
    smem = kind(name="smem", pipeline_config=config)
    smem.source = source
    return smem


def one(resource, work, warps=1):
    """A kernel of one task that writes one resource."""
    source = FilledGmem(name="source")

    @schedule
    def body():
        source.coords()
        work()
    return TaskManager([Task(name="only", warp_idx=0, num_warps=warps, src_resources=[source],
                             dst_resources=[resource], schedule=body())], {resource: [source]})


@case("TS101", "the step of this loop is")
def step_of_zero():
    step = symbol("step")

    @schedule
    def wrong(gmem, smem, n):
        with domain_loop(0, n, step):  # HERE
            smem.acquire()
            smem.load(at=gmem.coords())
            smem.commit()
    return program(load=wrong)


@case("TS102", "'consume' on resource 'gmem', which task 'load' does not declare", at="at = gmem.coords()")
def not_in_the_task():
    return program(loader={"src_resources": []})


@case("TS102", "'produce' on resource 'out', which task 'use' does not declare", at="out.store(x=x)")
def writes_what_it_only_reads():
    return program(user={"dst_resources": []})


@case("TS103", "no task reads 'out' and writes 'smem'", at="return TaskManager(")
def edge_that_nobody_carries():
    return program(graph=lambda gmem, smem, out: {smem: [gmem, out], out: [smem]})


@case("TS103", "'gmem' is in no dependency", at='gmem, out = gmem(name="gmem")')
def edge_missing():
    return program(graph=lambda gmem, smem, out: {out: [smem]})


@case("TS104", "task 'use' writes 'spare', but no op of its schedule uses it", at="Task(schedule=use(")
def declared_and_not_used():
    spare = Gmem(name="spare")
    return program(user={"dst_resources": [spare]}, use=schedule(lambda smem, out, n: smem.wait()),
                   graph=lambda gmem, smem, out: {smem: [gmem], spare: [smem]})


@case("TS105", "work 'load' writes 'smem' outside of acquire and commit")
def no_acquire():
    @schedule
    def wrong(gmem, smem, n):
        with domain_loop(0, n):
            at = gmem.coords()
            smem.load(at=at)  # HERE
            smem.commit()
    return program(load=wrong)


@case("TS105", "outside of acquire and commit")
def work_behind_commit():
    @schedule
    def wrong(gmem, smem, n):
        with domain_loop(0, n):
            at = gmem.coords()
            smem.acquire()
            smem.commit()
            smem.load(at=at)  # HERE
    return program(load=wrong)


@case("TS105", "outside of wait and release")
def read_behind_release():
    @schedule
    def wrong(smem, out, n):
        with domain_loop(0, n):
            smem.wait()
            smem.release()
            out.store(x=smem.read())  # HERE
    return program(use=wrong)


@case("TS105", "no task releases 'smem'", at="smem.acquire()")
def no_release():
    @schedule
    def wrong(smem, out, n):
        with domain_loop(0, n):
            smem.wait()
            out.store(x=smem.read())
    return program(use=wrong)


def queue_of(n):
    params = PersistentTileSchedulerParams((n,))
    config = TileSchedulerConfig.create_static_persistent_tile_scheduler_params(params)
    return WorkQueue(name="tiles", tile_scheduler_config=config)


def tiled(body, **options):
    """One task on a queue."""
    queue, out, gmem = queue_of(symbol("n")), Gmem(name="out"), Gmem(name="gmem")
    task = Task(name="t", warp_idx=0, src_resources=[queue, gmem], dst_resources=[out],
                schedule=body(queue, gmem, out), **options)
    return TaskManager([task], {out: [queue, gmem]})


@case("TS106", "advances 'tiles' more than once")
def takes_two_tiles():
    @schedule
    def wrong(queue, gmem, out):
        with work_tile_loop(queue, advance=False):  # HERE
            queue.next_tile()
            out.store(x=gmem.coords())
            queue.next_tile()
    return tiled(wrong)


class Operands(MemoryResource):
    def get_smem_requirements(self):
        return [SmemAllocation("a", "128x64xbf16", swizzle=128), SmemAllocation("b", "128x64xbf16", swizzle=128)]

    @producer_work
    def load(self, stage_info):
        ...

    @consumer_work
    def operands(self, stage_info):
        return stage_info.a, stage_info.b


class Accumulator(MemoryResource):
    def get_tmem_requirements(self):
        return [TmemAllocation("c", "128x128xf32")]

    @producer_work
    def mma(self, stage_info, *, a, b):
        dsl.umma(stage_info.c, a, b)

    @consumer_work
    def read(self, stage_info):
        ...


@case("TS107", "reads the stage of 'ab' that 'operands' saw, but task 'mma' has released it before",
      at="dsl.umma(stage_info.c, a, b)")
def released_before_the_product():
    n = symbol("n", min=1)
    gmem = Gmem(name="gmem")
    ab = Operands(name="ab", pipeline_config=PipelineConfig.create_tma_umma_pipeline_cfg(4, advance_on_wait=True))
    acc = Accumulator(name="acc", pipeline_config=PipelineConfig.create_umma_async_pipeline_cfg(1))

    @schedule
    def load():
        gmem.coords()
        with domain_loop(0, n):
            ab.acquire()
            ab.load()
            ab.commit()

    @schedule
    def mma():
        acc.acquire()
        with domain_loop(0, n):
            ab.wait()
            a, b = ab.operands()
            ab.release()
            acc.mma(a=a, b=b)
        acc.commit()

    @schedule
    def store():
        acc.wait()
        acc.read()
        acc.release()
    tasks = [Task(name="load", warp_idx=0, src_resources=[gmem], dst_resources=[ab], schedule=load()),
             Task(name="mma", warp_idx=1, src_resources=[ab], dst_resources=[acc], schedule=mma()),
             Task(name="store", warp_idx=4, num_warps=4, src_resources=[acc], schedule=store())]
    return TaskManager(tasks, {ab: [gmem], acc: [ab]})


@case("TS108", "guard 'first' stands outside of every loop")
def guard_without_loop():
    @schedule
    def wrong(gmem, smem, n):
        with first_iter():  # HERE
            smem.acquire()
            smem.load(at=gmem.coords())
            smem.commit()
    return program(load=wrong)


@case("TS109", "key 'some' is said to have one value")
def keys_that_differ():
    @schedule
    def loads(gmem, smem, flag):
        with when_true(flag, key="some"):
            smem.acquire()
            smem.load(at=gmem.coords())
            smem.commit()

    @schedule
    def uses(smem, out, flag):
        with when_true(flag, key="some"):  # HERE
            smem.wait()
            out.store(x=smem.read())
            smem.release()

    @kernel(arch="sm_90a")
    def k(n: Index()):
        some, other = n > 0, n > 1
        program(load=lambda gmem, smem, _: loads(gmem, smem, some), use=lambda smem, out, _: uses(smem, out, other),
                trips=n)
    return k


@case("TS109", "has no value while a schedule is captured")
def if_on_a_value_of_the_kernel():
    @schedule
    def wrong(gmem, smem, n):
        if gmem.coords():  # HERE
            smem.acquire()
    return program(load=wrong)


@case("TS110", "did you mean 'load'?")
def misspelt_work():
    @schedule
    def wrong(gmem, smem, n):
        smem.acquire()
        smem.laod()  # HERE
    return program(load=wrong)


@case("TS110", "did you mean 'load'?", at="return Task(")
def misspelt_label():
    smem = Smem(name="smem", pipeline_config=tma(4))
    return Task(name="load", warp_idx=0, dst_resources=[smem], schedule=[
        (smem, ScheduleStage.ProducerAcquire), (smem, ScheduleStage.ProducerWork, "laod")])


@case("TS110", "did you mean 'at'?")
def misspelt_argument():
    @schedule
    def wrong(gmem, smem, n):
        smem.load(att=gmem.coords())  # HERE
    return program(load=wrong)


@case("TS110", "stage_info has no 'y'")
def misspelt_allocation():
    class Wrong(Filled):
        @producer_work
        def load(self, stage_info, *, at=None):
            dsl.tma_load(self.source, stage_info.y, coords=(0, 0))  # HERE

    @kernel(arch="sm_90a")
    def k(A: ARRAY, n: Index()):
        program(smem=filled(tma(4), A, Wrong), gmem=FilledGmem, trips=n)
    return k


@case("TS111", "is written in a loop that may not run and read behind it")
def read_before_write():
    @schedule
    def wrong(gmem, smem, n):
        with domain_loop(0, n):  # HERE
            at = gmem.coords()
        smem.acquire()
        smem.load(at=at)
        smem.commit()
    return program(load=wrong)


@case("TS112", "the self-edge of 'out' declares a ping-pong, but the resource has no pipeline",
      at="return TaskManager(")
def ping_pong_without_a_pipeline():
    return program(graph=lambda gmem, smem, out: {smem: [gmem], out: [smem, out]})


@case("TS113", "skippable part outside of a tile_loop")
def skippable_outside():
    @schedule
    def wrong(gmem, smem, n):
        with skippable():  # HERE
            smem.acquire()
            smem.load(at=gmem.coords())
            smem.commit()
    return program(load=wrong)


@case("TS114", "which depends on 'pdl_wait', before a griddep_wait")
def reads_before_the_previous_kernel():
    barrier, out = PdlWaitBarrier(), Gmem(name="out")

    @schedule
    def wrong():
        out.store()  # HERE
        barrier.wait_griddep()
    return TaskManager([Task(name="t", warp_idx=0, src_resources=[barrier], dst_resources=[out], schedule=wrong())],
                       {out: [barrier]})
