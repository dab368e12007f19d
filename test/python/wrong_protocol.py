# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More wrong programs: pipelines, memory, proofs, targets. See wrong.py."""
from mlir_ts import Index, TensorMap, dsl, kernel, symbol
from mlir_ts.task_scheduling import *  # noqa: F403
from wrong import ARRAY, FilledGmem, Gmem, Smem, case, filled, load, one, program, threads, tma


@case("TS215", "consumer count of 'smem' is 7, expected 1 arrival per phase")
def arrivals():
    pinned = tma(4, consumer_group=CooperativeGroup(Agent.Thread, 7))  # HERE
    return program(smem=Smem(name="smem", pipeline_config=pinned))


@case("TS216", "async_async pipelines have no transaction bytes")
def bytes_of_threads():
    wrong = PipelineConfig(4, 8192, None, None, PipelineType.AsyncAsync)  # HERE
    return program(smem=Smem(name="smem", pipeline_config=wrong))


@case("TS217", "bytes of 'smem' are 100, expected 8192 per phase")
def transaction_bytes():
    @kernel(arch="sm_90a")
    def k(A: ARRAY, n: Index()):
        program(smem=filled(tma(4, num_bytes=100), A), gmem=FilledGmem, trips=n)  # HERE
    return k


@case("TS218", "waits on the full barriers of 'smem' in CTA 1")
def other_cta():
    @kernel(arch="sm_90a", cluster=(2, 1, 1))
    def k(A: ARRAY, n: Index()):
        smem = filled(tma(4), A)  # HERE
        program(smem=smem, gmem=FilledGmem, trips=n, loader={"only_cta": 0})
    return k


@case("TS219", "consumer signalling of 'smem' is task_warp_leader")
def leader_of_readers():
    wrong = tma(4, consumer_signaling_threads=SignalingThreads.TaskWarpLeader)  # HERE
    return program(smem=Smem(name="smem", pipeline_config=wrong))


@case("TS219", "SignalingThreads.All excludes the others")
def all_and_some():
    wrong = tma(4, consumer_signaling_threads=SignalingThreads.All | SignalingThreads.CtaLeader)  # HERE
    return program(smem=Smem(name="smem", pipeline_config=wrong))


@case("TS220", "there is no split consumer", arch="sm_100a")
def override_without_split():
    wrong = PipelineConfig.create_async_umma_pipeline_cfg(  # HERE
        2, consumer_wait_signaling_threads=SignalingThreads.CtaLeader)
    return program(smem=Smem(name="smem", pipeline_config=wrong))


@case("TS221", "interleave stride 3 of 'acquire' on 'smem' does not divide its 4 stages")
def stride_does_not_divide():
    wrong = tma(4, interleave_stride=3)  # HERE
    return program(smem=Smem(name="smem", pipeline_config=wrong), loader={"num_warps": 3},
                   user={"warp_idx": 3, "num_warps": 3})


@case("TS222", "covers 4 CTAs, but the cluster is 1 x 1 x 1")
def layout_of_another_cluster():
    wrong = tma(4, cta_layout_vmnk=(1, 4, 1, 1))  # HERE
    return program(smem=Smem(name="smem", pipeline_config=wrong))


@case("TS223", "have different stages: 'a' has 2, 'b' has 3")
def group_of_unequal_rings():
    n = symbol("n")
    gmem, out = Gmem(name="gmem"), Gmem(name="out")
    a, b = Smem(name="a", pipeline_config=threads(2)), Smem(name="b", pipeline_config=threads(3))
    both = PipelineGroup(name="both", members=[a, b])  # HERE

    @schedule
    def fill():
        with domain_loop(0, n):
            for ring in (a, b):
                ring.acquire()
                ring.load(at=gmem.coords())
                ring.commit()

    @schedule
    def drain():
        with domain_loop(0, n):
            a.wait()
            b.wait()
            a.read()
            out.store(x=b.read())
            both.release()
    tasks = [Task(name="load", src_resources=[gmem], dst_resources=[a, b], warp_idx=0, schedule=fill()),
             Task(name="use", src_resources=[a, b], dst_resources=[out], warp_idx=1, schedule=drain())]
    return TaskManager(tasks, {a: [gmem], b: [gmem], out: [a, b]})


@case("TS224", "tasks 'load' and 'use' share warp 0", at="Task(schedule=use(smem, out, n)")
def warps_overlap():
    return program(user={"warp_idx": 0})


@case("TS225", "the register budgets", at="tasks = [Task(schedule=load(")
def registers():
    return program(loader={"num_warps": 4, "num_registers": 24},
                   user={"warp_idx": 4, "num_warps": 12, "num_registers": 240})


@case("TS226", "bytes of dynamic shared memory, but sm_90a gives at most", at="return TaskManager(")
def memory():
    return program(smem=Smem(name="smem", pipeline_config=tma(40)))


@case("TS227", "sm_90a has no pipeline with a UMMA side", arch="sm_90a")
def tensor_core_of_blackwell():
    return program(smem=Smem(name="smem", pipeline_config=PipelineConfig.create_tma_umma_pipeline_cfg(4)))  # HERE


@case("TS228", "which TMA of sm_90a does not have")
def four_bits_on_hopper():
    @kernel(arch="sm_90a")  # HERE
    def k(A: TensorMap("f4E2M1FN", box=(128, 128))):
        out = FilledGmem(name="out")
        one(out, lambda: out.store())
    return k


@case("TS230", "it has 24 bytes, of which 16 are taken")
def barriers_in_too_little():
    store = SmemAllocation("bars", "3xi64", staged=False)

    class Bars(MemoryResource):
        def get_smem_requirements(self):
            return [store]

        @consumer_work(work_attrs=WorkAttr.AUXILIARY)
        def nothing(self, stage_info):
            ...
    bars = Bars(name="bars")
    smem = Smem(name="smem", pipeline_config=tma(2, barrier_ptr=store))  # HERE

    @schedule
    def loads(gmem, smem, n):
        bars.nothing()
        load(gmem, smem, n)
    gmem = Gmem(name="gmem")
    return program(load=lambda _, smem, n: loads(gmem, smem, n), smem=smem, loader={"src_resources": [gmem, bars]},
                   graph=lambda _, smem, out: {smem: [gmem, bars], out: [smem]})


@case("TS231", "'ts.tmem_load' reads columns 48 to 79", arch="sm_100a")
def columns_past_the_view():
    class Wrong(MemoryResource):
        def get_tmem_requirements(self):
            return [TmemAllocation("c", "128x64xf32")]

        @producer_work
        def columns(self, stage_info):
            sums = dsl.tmem_load(stage_info.c, 48, results="vector<32xf32>")  # HERE
            dsl.tmem_store(sums, stage_info.c, 0)
    acc = Wrong(name="acc")
    return one(acc, lambda: acc.columns(), warps=4)


@case("TS232", "execute no 'ts.fence proxy_async_shared' in between")
def no_fence():
    class Wrong(MemoryResource):
        memory_space = "gmem"

        def get_smem_requirements(self):
            return [SmemAllocation("x", "32x32xf32", swizzle=128)]

        @producer_work
        def store(self, stage_info):
            lane = dsl.info("lane", results="index")
            dsl.op("vector.store", dsl.op("vector.broadcast", dsl.const(1.0), results=["vector<32xf32>"]),
                   stage_info.x, lane, dsl.const(0), results=[])
            dsl.warp_sync()
            dsl.tma_store(stage_info.x, self.target, coords=(0, 0))  # HERE
            dsl.bulk_commit()
            dsl.bulk_wait(0, read=True)

    @kernel(arch="sm_90a")
    def k(D: TensorMap("f32", box=(32, 32), swizzle=128)):
        out = Wrong(name="out")
        out.target = D
        one(out, lambda: out.store())
    return k


@case("TS301", "deadlock when n = 0: 'use' waits for ever")
def waits_once_too_often():
    @schedule
    def wrong(smem, out, n):
        with domain_loop(0, n):
            smem.wait()
            out.store(x=smem.read())
            smem.release()
        smem.wait()  # HERE
        out.store(x=smem.read())
        smem.release()
    return program(use=wrong)


@case("TS301", "deadlock when n = 0: 'load' waits for ever")
def produces_one_more():
    @schedule
    def wrong(gmem, smem, n):
        with domain_loop(0, n):
            smem.acquire()
            smem.load(at=gmem.coords())
            smem.commit()
        for _ in range(5):
            smem.acquire()  # HERE
            smem.load(at=gmem.coords())
            smem.commit()
    return program(load=wrong)


@case("TS301", "deadlock: 'load' and 'use' wait for each other")
def two_rings_in_other_order():
    n = symbol("n", min=8)
    gmem, out = Gmem(name="gmem"), Gmem(name="out")
    a, b = Smem(name="a", pipeline_config=tma(2)), Smem(name="b", pipeline_config=tma(2))

    @schedule
    def fill():
        for ring in (a, b):
            with domain_loop(0, n):
                ring.acquire()  # HERE
                ring.load(at=gmem.coords())
                ring.commit()

    @schedule
    def drain():
        with domain_loop(0, n):
            a.wait()
            b.wait()
            out.store(x=a.read())
            out.store(x=b.read())
            a.release()
            b.release()
    tasks = [Task(name="load", src_resources=[gmem], dst_resources=[a, b], warp_idx=0, schedule=fill()),
             Task(name="use", src_resources=[a, b], dst_resources=[out], warp_idx=1, schedule=drain())]
    return TaskManager(tasks, {a: [gmem], b: [gmem], out: [a, b]})


@case("TS302", "race")
def nothing_guards_the_memory():
    plain = Smem(name="plain")

    @schedule
    def wrong(gmem, smem, n):
        plain.load(at=gmem.coords())
        smem.acquire()
        smem.load()
        smem.commit()

    @schedule
    def reads(smem, out, n):
        smem.wait()
        smem.read()
        smem.release()
        out.store(x=plain.read())
    n = symbol("n")
    gmem, out, smem = Gmem(name="gmem"), Gmem(name="out"), Smem(name="smem", pipeline_config=tma(4))

    @schedule
    def again(gmem, smem, n):
        with domain_loop(0, n):
            plain.load(at=gmem.coords())  # HERE
    tasks = [Task(name="load", src_resources=[gmem], dst_resources=[smem, plain], warp_idx=0,
                  schedule=wrong(gmem, smem, n)),
             Task(name="use", src_resources=[smem, plain], dst_resources=[out], warp_idx=1,
                  schedule=reads(smem, out, n)),
             Task(name="more", src_resources=[gmem], dst_resources=[plain], warp_idx=2, schedule=again(gmem, smem, n))]
    return TaskManager(tasks, {smem: [gmem], plain: [gmem], out: [smem, plain]})


@case("TS307", "imbalance", at="smem.release()")
def one_item_is_left():
    @schedule
    def wrong(gmem, smem, n):
        with domain_loop(0, n):
            smem.acquire()
            smem.load(at=gmem.coords())
            smem.commit()
        smem.acquire()
        smem.load(at=gmem.coords())
        smem.commit()
    return program(load=wrong, smem=Smem(name="smem", pipeline_config=threads(4)))


@case("TS401", "has no body", at="at = gmem.coords()", use="compile")
def no_body():
    return program()


@case("TS406", "unknown arch 'sm_42'", arch="sm_42", at="getattr(program, use)(arch)")
def arch_of_no_chip():
    return program()
