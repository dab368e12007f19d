# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The enumerations of schedules and pipelines."""
import enum

__all__ = ["PipelineType", "PipelineOp", "SignalingThreads", "WorkAttr", "ScheduleStage", "TileSchedulerType",
           "GroupMode"]


class PipelineType(enum.Enum):
    """What writes a resource and what reads it: <producer><consumer>."""

    AsyncAsync = "async_async"
    TmaAsync = "tma_async"
    TmaUmma = "tma_umma"
    UmmaAsync = "umma_async"
    AsyncUmma = "async_umma"
    UmmaUmma = "umma_umma"
    ClcFetchAsync = "clc_fetch_async"


class PipelineOp(enum.Enum):
    """How async producers arrive: threads by themselves, or cp.async when the copies have landed."""

    AsyncThread = "thread"
    AsyncLoad = "load"


class SignalingThreads(enum.Flag):
    """Which threads execute a side's barrier operations. `All` excludes the others."""

    All = 1
    CtaLeader = 2
    TaskWarpLeader = 4


class WorkAttr(enum.Flag):
    """What verification should know of a work method. AUXILIARY work touches no memory of the resource."""

    NONE = 0
    AUXILIARY = 1


class ScheduleStage(enum.Enum):
    """The entries of a raw schedule list."""

    ProducerTryAcquire = "try_acquire"
    ProducerAcquire = "acquire"
    ProducerWork = "produce"
    ProducerAuxWork = "produce_aux"
    ProducerCommit = "commit"
    ConsumerTryWait = "try_wait"
    ConsumerWait = "wait"
    ConsumerWork = "consume"
    ConsumerAuxWork = "consume_aux"
    ConsumerRelease = "release"


class TileSchedulerType(enum.Enum):
    """How a work queue hands out tiles."""

    StaticPersistent = "static"
    ClcDynamicPersistent = "clc"


class GroupMode(enum.Enum):
    """Which side of a pipeline group is shared."""

    Merge = "merge"
    Fork = "fork"
    FusedMerge = "fused_merge"
