# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipeline configurations: which barrier protocol guards a resource. Counts and bytes that are left out are
inferred; what is given is checked (TS2nn)."""
import dataclasses
import enum

from mlir_ts import _core
from mlir_ts._where import caller
from mlir_ts.errors import refuse
from mlir_ts.task_scheduling.enums import PipelineOp, PipelineType, SignalingThreads

__all__ = ["Agent", "CooperativeGroup", "PipelineConfig", "PipelineOp"]


class Agent(enum.Enum):
    """What a cooperative group counts."""

    Thread = "thread"


@dataclasses.dataclass(frozen=True)
class CooperativeGroup:
    """The threads of one side. `size` is the number of arrivals per phase; None: inferred."""

    agent: Agent = Agent.Thread
    size: int | None = None


def _signalling(value, place):
    names = {SignalingThreads.All: "all", SignalingThreads.CtaLeader: "cta_leader",
             SignalingThreads.TaskWarpLeader: "task_warp_leader"}
    parts = [name for flag, name in names.items() if flag in value]
    if SignalingThreads.All in value and len(parts) > 1:
        refuse("TS219", "SignalingThreads.All excludes the others; use CtaLeader, TaskWarpLeader or both", place)
    return " | ".join(parts)


@dataclasses.dataclass(frozen=True)
class PipelineConfig:
    """What guards a resource; made by the create_*_pipeline_cfg factories.

    num_stages: depth. num_bytes: transaction bytes of a stage (None: what the copies bring).
    producer_group, consumer_group: arrivals, if pinned. cta_layout_vmnk: the cluster as (V, M, N, K).
    *_signaling_threads: who executes barrier operations. advance_on_wait / advance_on_acquire: the stage
    advances at the opening operation. interleave_stride: one stride, or four for (producer acquire, producer
    commit, consumer wait, consumer release). mcast_mode_mn: TMA multicast in M and N.
    num_bytes_per_warp_per_cta: bytes of one producing warp of one CTA when a leader arms for all.
    barrier_ptr: an SmemAllocation that holds the barriers (16 bytes a stage); None: the compiler places them.
    """

    num_stages: int
    num_bytes: int | None
    producer_group: CooperativeGroup | None
    consumer_group: CooperativeGroup | None
    pipeline_type: PipelineType
    barrier_ptr: object | None = None
    cta_layout_vmnk: tuple | None = None
    producer_signaling_threads: SignalingThreads = SignalingThreads.All
    consumer_signaling_threads: SignalingThreads = SignalingThreads.All
    consumer_wait_signaling_threads: SignalingThreads | None = None
    umma_consumer_producer_op: PipelineOp = PipelineOp.AsyncThread
    advance_on_wait: bool = False
    advance_on_acquire: bool = False
    num_bytes_per_warp_per_cta: int | None = None
    mcast_mode_mn: tuple = (1, 1)
    interleave_stride: int | tuple = 1
    async_producer_op: PipelineOp = PipelineOp.AsyncThread

    def __post_init__(self):
        object.__setattr__(self, "place", caller())  # where errors about it point; no part of its value

    @property
    def interleave_strides(self):
        """(producer acquire, producer commit, consumer wait, consumer release)."""
        stride = self.interleave_stride
        return (stride,) * 4 if isinstance(stride, int) else tuple(stride)

    @property
    def producer_acquire_interleave_stride(self):
        """Stride of the producer's acquire cursor."""
        return self.interleave_strides[0]

    @property
    def producer_commit_interleave_stride(self):
        """Stride of the producer's commit cursor."""
        return self.interleave_strides[1]

    @property
    def consumer_wait_interleave_stride(self):
        """Stride of the consumer's wait cursor."""
        return self.interleave_strides[2]

    @property
    def consumer_release_interleave_stride(self):
        """Stride of the consumer's release cursor."""
        return self.interleave_strides[3]

    @property
    def max_interleave_stride(self):
        """The largest of the four strides."""
        return max(self.interleave_strides)

    @property
    def has_interleaved_stride(self):
        """Whether some role advances by more than one stage."""
        return self.max_interleave_stride > 1

    @property
    def loads_by_cp_async(self):
        """Whether the producer's copies arrive by themselves."""
        return PipelineOp.AsyncLoad in (self.async_producer_op, self.umma_consumer_producer_op)

    @property
    def engines(self):
        """(what writes, what reads) a stage: 'thread', 'cp_async', 'tma', 'umma' or 'clc'."""
        writer, reader = (side.replace("async", "thread") for side in _core.pipeline_sides(self.pipeline_type.value))
        return "cp_async" if writer == "thread" and self.loads_by_cp_async else writer, reader

    def attribute(self):
        """The MLIR attribute, as text."""
        fields = [self.pipeline_type.value, f"stages = {int(self.num_stages)}"]
        if self.num_bytes is not None:
            fields.append(f"num_bytes = {int(self.num_bytes)}")
        for side, group in (("producer", self.producer_group), ("consumer", self.consumer_group)):
            if group is not None and group.size is not None:
                fields.append(f"{side}_count = {int(group.size)}")
        if self.producer_signaling_threads != SignalingThreads.All:
            fields.append(f"producer_signal = {_signalling(self.producer_signaling_threads, self.place)}")
        if self.consumer_signaling_threads != SignalingThreads.All:
            fields.append(f"consumer_signal = {_signalling(self.consumer_signaling_threads, self.place)}")
        if self.consumer_wait_signaling_threads is not None:
            fields.append(f"consumer_wait_signal = {_signalling(self.consumer_wait_signaling_threads, self.place)}")
        fields += [flag for flag in ("advance_on_wait", "advance_on_acquire") if getattr(self, flag)]
        if self.has_interleaved_stride:
            strides = self.interleave_stride
            fields.append("interleave = " + (str(strides) if isinstance(strides, int) else
                                             "(" + ", ".join(map(str, strides)) + ")"))
        if self.loads_by_cp_async:
            fields.append("producer_op = load")
        if self.num_bytes_per_warp_per_cta is not None:
            fields.append(f"bytes_per_warp_per_cta = {int(self.num_bytes_per_warp_per_cta)}")
        if tuple(self.mcast_mode_mn) != (1, 1):
            fields.append(f"mcast = ({self.mcast_mode_mn[0]}, {self.mcast_mode_mn[1]})")
        if self.cta_layout_vmnk is not None and tuple(self.cta_layout_vmnk) != (1, 1, 1, 1):
            fields.append("cta_layout = (" + ", ".join(map(str, self.cta_layout_vmnk)) + ")")
        return f"#ts.pipeline<{', '.join(fields)}>"

    @staticmethod
    def create_async_async_pipeline_cfg(num_stages, producer_group=None, consumer_group=None, cta_layout_vmnk=None,
                                        producer_signaling_threads=SignalingThreads.All,
                                        consumer_signaling_threads=SignalingThreads.All, barrier_ptr=None,
                                        producer_op=PipelineOp.AsyncThread, advance_on_acquire=False,
                                        interleave_stride=1, advance_on_wait=False):
        """Threads write, threads read. With producer_op=AsyncLoad cp.async arrives by itself."""
        return PipelineConfig(num_stages, None, producer_group, consumer_group, PipelineType.AsyncAsync, barrier_ptr,
                              cta_layout_vmnk, producer_signaling_threads, consumer_signaling_threads,
                              advance_on_wait=advance_on_wait, advance_on_acquire=advance_on_acquire,
                              interleave_stride=interleave_stride, async_producer_op=producer_op)

    @staticmethod
    def create_tma_async_pipeline_cfg(num_stages, num_bytes=None, producer_group=None, consumer_group=None,
                                      cta_layout_vmnk=None, producer_signaling_threads=SignalingThreads.All,
                                      consumer_signaling_threads=SignalingThreads.All, barrier_ptr=None,
                                      interleave_stride=1, num_bytes_per_warp_per_cta=None, advance_on_wait=False,
                                      mcast_mode_mn=(1, 1)):
        """TMA writes, threads (or wgmma) read."""
        return PipelineConfig(num_stages, num_bytes, producer_group, consumer_group, PipelineType.TmaAsync, barrier_ptr,
                              cta_layout_vmnk, producer_signaling_threads, consumer_signaling_threads,
                              advance_on_wait=advance_on_wait, interleave_stride=interleave_stride,
                              num_bytes_per_warp_per_cta=num_bytes_per_warp_per_cta, mcast_mode_mn=mcast_mode_mn)

    @staticmethod
    def create_tma_umma_pipeline_cfg(num_stages, num_bytes=None, producer_group=None, consumer_group=None,
                                     cta_layout_vmnk=None, producer_signaling_threads=SignalingThreads.All,
                                     consumer_signaling_threads=SignalingThreads.All, barrier_ptr=None,
                                     advance_on_wait=False, interleave_stride=1, mcast_mode_mn=(1, 1),
                                     num_bytes_per_warp_per_cta=None):
        """TMA writes, the tensor core (tcgen05.mma) reads."""
        return PipelineConfig(num_stages, num_bytes, producer_group, consumer_group, PipelineType.TmaUmma, barrier_ptr,
                              cta_layout_vmnk, producer_signaling_threads, consumer_signaling_threads,
                              advance_on_wait=advance_on_wait, interleave_stride=interleave_stride,
                              mcast_mode_mn=mcast_mode_mn, num_bytes_per_warp_per_cta=num_bytes_per_warp_per_cta)

    @staticmethod
    def create_umma_async_pipeline_cfg(num_stages, producer_group=None, consumer_group=None, cta_layout_vmnk=None,
                                       producer_signaling_threads=SignalingThreads.All,
                                       consumer_signaling_threads=SignalingThreads.All, barrier_ptr=None,
                                       interleave_stride=1, advance_on_wait=False):
        """The tensor core writes, threads read."""
        return PipelineConfig(num_stages, None, producer_group, consumer_group, PipelineType.UmmaAsync, barrier_ptr,
                              cta_layout_vmnk, producer_signaling_threads, consumer_signaling_threads,
                              advance_on_wait=advance_on_wait, interleave_stride=interleave_stride)

    @staticmethod
    def create_async_umma_pipeline_cfg(num_stages, producer_group=None, consumer_group=None, cta_layout_vmnk=None,
                                       producer_signaling_threads=SignalingThreads.All,
                                       consumer_signaling_threads=SignalingThreads.All,
                                       consumer_wait_signaling_threads=None, producer_op=PipelineOp.AsyncThread,
                                       barrier_ptr=None, advance_on_wait=False, advance_on_acquire=False,
                                       interleave_stride=1):
        """Threads (or cp.async, with producer_op=AsyncLoad) write, the tensor core reads."""
        return PipelineConfig(num_stages, None, producer_group, consumer_group, PipelineType.AsyncUmma, barrier_ptr,
                              cta_layout_vmnk, producer_signaling_threads, consumer_signaling_threads,
                              consumer_wait_signaling_threads, producer_op, advance_on_wait, advance_on_acquire,
                              interleave_stride=interleave_stride)

    @staticmethod
    def create_umma_umma_pipeline_cfg(num_stages, producer_group=None, consumer_group=None, cta_layout_vmnk=None,
                                      producer_signaling_threads=SignalingThreads.All,
                                      consumer_signaling_threads=SignalingThreads.All, barrier_ptr=None):
        """UTCCP (tcgen05.cp) or the tensor core writes, the tensor core reads."""
        return PipelineConfig(num_stages, None, producer_group, consumer_group, PipelineType.UmmaUmma, barrier_ptr,
                              cta_layout_vmnk, producer_signaling_threads, consumer_signaling_threads)

    @staticmethod
    def create_clc_fetch_async_pipeline_cfg(num_stages, num_bytes=None, producer_group=None, consumer_group=None,
                                            cta_layout_vmnk=None, producer_signaling_threads=SignalingThreads.CtaLeader,
                                            consumer_signaling_threads=SignalingThreads.All, barrier_ptr=None):
        """Cluster launch control writes tile ids, threads read them."""
        return PipelineConfig(num_stages, num_bytes, producer_group, consumer_group, PipelineType.ClcFetchAsync,
                              barrier_ptr, cta_layout_vmnk, producer_signaling_threads, consumer_signaling_threads)
