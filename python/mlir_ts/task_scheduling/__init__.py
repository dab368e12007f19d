# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level 2: schedules, in the names that authors of warp-specialised kernels know.

    from mlir_ts.task_scheduling import MemoryResource, PipelineConfig, Task, TaskManager, schedule, domain_loop

Resources say what memory there is and what guards it, schedules record the order of operations, tasks bind
them to warps, and `TaskManager(...).print_and_verify()` checks and proves all of it. docs/python.md has the
table of all names.
"""
from mlir_ts.task_scheduling.enums import *  # noqa: F401,F403
from mlir_ts.task_scheduling.pipeline import Agent, CooperativeGroup, PipelineConfig
from mlir_ts.task_scheduling.queues import *  # noqa: F401,F403
from mlir_ts.task_scheduling.resources import *  # noqa: F401,F403
from mlir_ts.task_scheduling.schedule import *  # noqa: F401,F403
from mlir_ts.task_scheduling.tasks import SmemAllocator, Task, TaskManager, TmemAllocator


def jit(function):
    """Marks a work method, as the seeds do; it changes nothing, since every work method is traced."""
    return function
