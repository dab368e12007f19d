# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every name of the seed documents is what the table says, and asking for one that is not here says why."""
import pytest

import mlir_ts.task_scheduling as ts
from mlir_ts.task_scheduling.names import NAMES


def instance_of(owner):
    """An object whose attributes a dotted name means; classes stand for what only a kernel makes."""
    if owner == "MemoryResource":
        return ts.MemoryResource(name="r")
    if owner == "PipelineConfig":
        return ts.PipelineConfig.create_tma_async_pipeline_cfg(num_stages=2)
    if owner == "TaskLocalVariable":
        return ts.TaskLocalVariable("index", 0)
    if owner == "PdlWaitBarrier":
        return ts.PdlWaitBarrier()
    if owner == "PdlLaunchBarrier":
        return ts.PdlLaunchBarrier()
    if owner == "TileSchedulerConfig":
        params = ts.PersistentTileSchedulerParams((4,))
        return ts.TileSchedulerConfig.create_static_persistent_tile_scheduler_params(params)
    return getattr(ts, owner)


@pytest.mark.parametrize("name, status, text", NAMES, ids=[n for n, _, _ in NAMES])
def test_name(name, status, text):
    assert status in ("same", "renamed", "derived", "refused")
    assert text or status == "same"
    owner, _, attribute = name.partition(".")
    if not attribute:
        assert status == "same" and getattr(ts, owner).__doc__
        return
    thing = instance_of(owner)
    if status == "same":
        if owner == "StageInfo":
            from mlir_ts.task_scheduling.emit import Emitter
            assert attribute == "label" or attribute in Emitter.STAGE_INFO
        elif attribute in ("consumer_work", "producer_work"):
            assert ts.MemoryResource.work_methods(attribute == "producer_work") == {}
        else:
            assert hasattr(thing, attribute)
    elif owner == "MemoryResource":
        with pytest.raises(AttributeError, match="no part of a resource here"):
            getattr(thing, attribute)


def test_no_name_twice():
    assert len({name for name, _, _ in NAMES}) == len(NAMES)


def test_misspelt_method_suggests():
    class R(ts.MemoryResource):
        @ts.producer_work
        def tma_load(self, stage_info):
            ...
    with pytest.raises(AttributeError, match="did you mean 'tma_load'"):
        R(name="r").tma_laod
    with pytest.raises(ValueError, match="did you mean 'tma_load'"):
        R(name="r").work_method(True, "tma_lod")
