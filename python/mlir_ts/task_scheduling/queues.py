# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resources that are no memory: queues of tiles, launches of other kernels, orders, groups of pipelines."""
import dataclasses

from mlir_ts.errors import Error
from mlir_ts.task_scheduling.enums import GroupMode, TileSchedulerType
from mlir_ts.task_scheduling.resources import MemoryResource
from mlir_ts.task_scheduling.schedule import Call, caller, record

__all__ = ["WorkQueue", "TileSchedulerConfig", "PersistentTileSchedulerParams",
           "ClcDynamicPersistentTileSchedulerParams", "PdlWaitBarrier", "PdlLaunchBarrier", "PipelineGroup", "Baton"]


@dataclasses.dataclass(frozen=True)
class PersistentTileSchedulerParams:
    """Tiles of a static persistent queue: `tiles`, one count for each dimension, slowest first; `group` as below."""

    tiles: tuple
    group: int = 1


@dataclasses.dataclass(frozen=True)
class ClcDynamicPersistentTileSchedulerParams:
    """Tiles of a CLC queue. `group` tiles of the first dimension are walked together, so that CTAs share operands."""

    tiles: tuple
    group: int = 1


@dataclasses.dataclass(frozen=True)
class TileSchedulerConfig:
    """How a queue hands out tiles, and with which parameters. response_ptr is placed by the compiler."""

    tile_scheduler_type: TileSchedulerType
    tile_scheduler_params: object
    response_ptr: object = None

    @staticmethod
    def create_static_persistent_tile_scheduler_params(tile_scheduler_params):
        """CTA (or cluster) i walks tiles i, i + n, i + 2 n, ..."""
        return TileSchedulerConfig(TileSchedulerType.StaticPersistent, tile_scheduler_params)

    @staticmethod
    def create_clc_dynamic_persistent_tile_scheduler_params(tile_scheduler_params, response_ptr=None):
        """The hardware hands out tiles (sm_100 and later)."""
        if response_ptr is not None:
            raise Error("response_ptr: the compiler places the responses; leave it out")
        return TileSchedulerConfig(TileSchedulerType.ClcDynamicPersistent, tile_scheduler_params)


class WorkQueue(MemoryResource):
    """The queue of tiles of a persistent kernel. throttle: a resource that the scheduler waits for.

    skip: a function of the tile's coordinates (values) that is true for tiles that no task runs.
    """

    def __init__(self, *, name="work_queue", tile_scheduler_config, pipeline_config=None, throttle=None, skip=None):
        super().__init__(name=name, pipeline_config=pipeline_config)
        self.tile_scheduler_config, self.throttle, self.skip = tile_scheduler_config, throttle, skip

    @property
    def rank(self):
        """How many coordinates a tile has."""
        return len(self.tile_scheduler_config.tile_scheduler_params.tiles)

    def fetch_tile(self):
        """The scheduler task asks the hardware for the next tile (CLC); between acquire and commit."""
        record(Call("fetch_tile", self, caller()))

    def next_tile(self):
        """The tile advances here instead of at the end of the work-tile loop."""
        record(Call("next_tile", self, caller()))


class PdlWaitBarrier(MemoryResource):
    """Waits for the kernel before this one (programmatic dependent launch)."""

    def __init__(self, *, name="pdl_wait"):
        super().__init__(name=name, is_barrier=True)

    def wait_griddep(self):
        """What the kernel before wrote is visible behind this."""
        record(Call("griddep_wait", self, caller()))


class PdlLaunchBarrier(MemoryResource):
    """Lets the kernel behind this one begin (programmatic dependent launch)."""

    def __init__(self, *, name="pdl_launch"):
        super().__init__(name=name, is_barrier=True)

    def launch_griddep(self):
        """The kernel behind this one may begin once every CTA was here."""
        record(Call("griddep_launch", self, caller()))


class Baton(MemoryResource):
    """An order among the replicas of a task: one after the other may be between `take` and `pass_`.

    holders: how many replicas; first: the one that begins. Nothing lies in it, and no task lists it.
    """

    def __init__(self, *, name="baton", holders, first=0):
        super().__init__(name=name, is_barrier=True)
        self.holders, self.first = holders, first

    def take(self):
        """Waits for this replica's turn."""
        record(Call("take", self, caller()))

    def pass_(self):
        """Hands over to the next replica."""
        record(Call("pass", self, caller()))


class PipelineGroup(MemoryResource):
    """Resources that share a side of their pipelines: Merge (one consumer), Fork (one producer), FusedMerge."""

    def __init__(self, *, name, members, mode=GroupMode.Merge):
        super().__init__(name=name)
        self.members, self.mode = list(members), mode
        for member in self.members:
            member.pipeline_group = self
