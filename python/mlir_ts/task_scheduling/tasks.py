# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks, and the manager that puts resources, dependencies and tasks together into one kernel."""
from mlir_ts import dsl, ir, ops
from mlir_ts._core import Attribute, Location
from mlir_ts.errors import Error, blamed
from mlir_ts.kernels import Builder
from mlir_ts.task_scheduling.emit import Emitter
from mlir_ts.task_scheduling.queues import Baton, PdlLaunchBarrier, PdlWaitBarrier, PipelineGroup, WorkQueue
from mlir_ts.task_scheduling.resources import MemoryResource
from mlir_ts.task_scheduling.schedule import ScheduleResult, caller, from_list

__all__ = ["Task", "TaskManager", "SmemAllocator", "TmemAllocator"]


class Task:
    """A contiguous range of warps that runs one schedule.

    src_resources, dst_resources: what it reads and writes. warp_idx, num_warps: its warps. schedule: what a
    @schedule function returned, or a raw list. num_registers: registers of a thread (setmaxnreg), for whole
    warpgroups. replicas: so many sibling roles of num_warps / replicas warps. only_cta: runs in that CTA of the
    cluster only.
    """

    def __init__(self, *, name="", src_resources=(), dst_resources=(), warp_idx, num_warps=1, schedule,
                 num_registers=None, replicas=1, only_cta=None):
        self.name, self.warp_idx, self.num_warps = name, warp_idx, num_warps
        self.src_resources, self.dst_resources = list(src_resources), list(dst_resources)
        self.num_registers, self.replicas, self.only_cta = num_registers, replicas, only_cta
        self.schedule = from_list(schedule, name) if isinstance(schedule, (list, tuple)) else schedule
        if not isinstance(self.schedule, ScheduleResult):
            raise Error(f"task '{name}': schedule is a {type(schedule).__name__}; call a function decorated with "
                        "@schedule, or give a list of (resource, ScheduleStage[, label])")
        self.place = caller()

    def make_task_cache(self):
        """Values that the task computes once, before its schedule; work bodies see them as stage_info.task_cache."""
        return None

    def __repr__(self):
        last = self.warp_idx + self.num_warps - 1
        return (f"<Task '{self.name}': warps {self.warp_idx}..{last}, reads {[r.name for r in self.src_resources]}, "
                f"writes {[r.name for r in self.dst_resources]}>")


class SmemAllocator:
    """Shared memory is placed by the compiler; here is said which resources may lie over each other.

    `alias_group(name, [a], [b, c])`: the phases' resources share one region and are never alive together.
    """

    def __init__(self):
        self.groups = []

    def alias_group(self, name, *phases):
        """Phases of whole resources that share memory; the prover shows that they are not alive together."""
        self.groups.append((name, [list(p) if isinstance(p, (list, tuple)) else [p] for p in phases], caller()))


class TmemAllocator(SmemAllocator):
    """The same for tensor memory."""


class TaskManager:
    """Ties tasks and the dependency graph together; everything is checked by `print_and_verify`.

    tasks: the Task objects. resource_dependency_graph: {resource: [what it depends on]}.
    smem_allocator, tmem_allocator: what may share memory. Made in a function decorated with
    `mlir_ts.kernel`, it becomes that kernel; elsewhere it is a kernel of its own.
    """

    def __init__(self, tasks=(), resource_dependency_graph=None, smem_allocator=None, tmem_allocator=None, *,
                 name=None):
        self.tasks, self.graph = list(tasks), dict(resource_dependency_graph or {})
        self.allocators = [a for a in (smem_allocator, tmem_allocator) if a is not None]
        self.place = caller()
        self.builder = Builder.current(name)
        self.builder.begin()
        self.handles = {}
        if self.builder.is_implicit:
            self.builder.op.location = self._at(self.place)  # a symbol may have begun it
        try:
            with self.builder.inside(), ir.location(self._at(self.place)):
                self._resources()
                self._depends()
                for task in self.tasks:
                    self._task(task)
            self.builder.finish(max((t.warp_idx + t.num_warps for t in self.tasks), default=1))
        finally:
            self.builder.leave()

    def _at(self, place):
        return Location.file(self.builder.context, place.file, place.line)

    # Resources, each with what it needs in front of it.
    def resources(self):
        """All resources of the tasks and of the graph, in the order of their first mention."""
        found = {}
        for resource, upstream in self.graph.items():
            found.update(dict.fromkeys([*upstream, resource]))
        for task in self.tasks:
            found.update(dict.fromkeys([*task.src_resources, *task.dst_resources]))
            found.update(dict.fromkeys(call.resource for call in task.schedule.calls()))
        for resource in found:
            if not isinstance(resource, MemoryResource):
                raise Error(f"{resource!r} is no MemoryResource")
        return list(found)

    def _resources(self):
        for resource in self.resources():
            self._resource(resource)
        for allocator in self.allocators:
            for name, phases, place in allocator.groups:
                members = [self._resource(r) for phase in phases for r in phase]
                ops.alias_group(name, [len(phase) for phase in phases], members=members, location=self._at(place))

    def _resource(self, resource):
        if resource not in self.handles:
            with ir.location(self._at(resource.place)):
                self.handles[resource] = self._make(resource)
        return self.handles[resource]

    def _make(self, resource):
        config = resource.pipeline_config
        if config is not None:
            self.builder.pipelines.append((resource.name, resource.place, config.place))
        guard = self._parsed(config)
        if isinstance(resource, PipelineGroup):
            members = [self._resource(m) for m in resource.members]
            op = ops.pipeline_group(resource.name, resource.mode.value, members=members)
        elif isinstance(resource, Baton):
            op = ops.baton(resource.name, resource.holders, first=resource.first)
        elif isinstance(resource, (PdlWaitBarrier, PdlLaunchBarrier)):
            op = ops.pdl(resource.name)
        elif isinstance(resource, WorkQueue):
            op = self._queue(resource, guard)
        else:
            allocs = [self._parsed(a) for a in resource.allocations()]
            self.builder.allocations += [((a.name, f"{resource.name}.{a.name}"), resource.name, resource.place, a.place)
                                         for a in resource.allocations()]
            storage, place = self._barriers(config)
            op = ops.resource(resource.name or type(resource).__name__, resource.space, allocs, pipeline=guard,
                              producer_uses=self._names(resource.get_producer_requirements()),
                              consumer_uses=self._names(resource.get_consumer_requirements()),
                              barrier_storage=storage, barrier_alloc=place)
        return op.result

    def _parsed(self, thing):
        """The attribute of a pipeline configuration or an allocation, errors in it at the line that makes it."""
        if thing is None:
            return None
        text = thing.attribute()
        with blamed(f"'{text}'", thing.place):
            return Attribute.parse(self.builder.context, text)

    @staticmethod
    def _names(allocations):
        return None if allocations is None else [a.name for a in allocations]

    def _barriers(self, config):
        """The resource and the allocation that a user gives for the barriers of a pipeline."""
        allocation = config.barrier_ptr if config else None
        if allocation is None:
            return None, None
        for owner in self.resources():
            if allocation in owner.allocations():
                return self._resource(owner), allocation.name
        raise Error(f"barrier_ptr: '{allocation.name}' is an allocation of no resource of this kernel")

    def _queue(self, queue, guard):
        config = queue.tile_scheduler_config
        params = config.tile_scheduler_params
        tiles = [(t if isinstance(t, dsl.Value) else dsl.const(int(t))).ir for t in params.tiles]
        throttle = self._resource(queue.throttle) if queue.throttle is not None else None
        op = ops.work_queue(queue.name, config.tile_scheduler_type.value, tiles=tiles, group=params.group,
                            throttle=throttle, pipeline=guard)
        if queue.skip is not None:
            block = ir.add_block(op, [ir.index(self.builder.context)] * len(tiles))
            with ir.at(block):
                ops.yield_(values=[dsl.unwrap(queue.skip(*[dsl.Value(a) for a in block.arguments]))])
        return op

    def _depends(self):
        for resource, upstream in self.graph.items():
            if not upstream:
                continue
            order = [u for u in upstream if u.is_barrier]
            data = [u for u in upstream if not u.is_barrier and not isinstance(u, WorkQueue)]
            for group, ordering in ((data, False), (order, True)):
                if group:
                    ops.depends(self.handles[resource], upstream=[self.handles[u] for u in group], ordering=ordering)

    def _task(self, task):
        op = ops.task(task.name or f"task{task.warp_idx}", task.warp_idx, task.num_warps, replicas=task.replicas,
                      registers=task.num_registers, only_cta=task.only_cta,
                      reads=[self.handles[r] for r in task.src_resources],
                      writes=[self.handles[r] for r in task.dst_resources], location=self._at(task.place))
        types = [ir.index(self.builder.context)] if task.replicas > 1 else []
        block = ir.add_block(op, types)
        with ir.at(block):
            task.replica = dsl.Value(block.arguments[0]) if types else None
            emitter = Emitter(self.builder.context, self.handles, task.replica)
            emitter.cache = task.make_task_cache()
            emitter.items(task.schedule.items, set())
            ops.yield_()

    # What users ask for.
    @property
    def module(self):
        """The program as an `ir.Module`."""
        return self.builder.module

    def check(self, arch="", raise_errors=True):
        """Every check and the proof; returns a `mlir_ts.Checked`, raises `CompileError` on what is wrong."""
        return self.builder.check(arch, raise_errors)

    def print_and_verify(self, arch="", file=None):
        """Prints the schedule table and the verdict; raises `CompileError` when something is wrong.

        Works before any work method has a body.
        """
        return self.builder.print_and_verify(arch, file)

    def _repr_html_(self):
        return self.builder._repr_html_()

    def __repr__(self):
        return f"<TaskManager of '{self.builder.name}': {', '.join(t.name for t in self.tasks) or 'no tasks'}>"

    def compile(self, arch="", **options):
        """Compiles the kernel; see `mlir_ts.compile`."""
        return self.builder.compile(arch, **options)
