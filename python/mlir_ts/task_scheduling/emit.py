# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From captured schedules to ts ops. Work bodies run here, once, on run-time values; task-local variables
become values that loops carry and conditionals return. Not for users."""
import contextlib

from mlir_ts import dsl, ir, ops
from mlir_ts._core import Attribute, Location
from mlir_ts.errors import Error, blamed, refuse
from mlir_ts.task_scheduling.enums import ScheduleStage
from mlir_ts.task_scheduling.resources import ResourceContext, StageInfo, WorkTileInfo
from mlir_ts.task_scheduling.schedule import REPLICA, Call, Returned, Variable

_SIMPLE = {
    ScheduleStage.ProducerAcquire: ops.acquire, ScheduleStage.ProducerTryAcquire: ops.try_acquire,
    ScheduleStage.ProducerCommit: ops.commit, ScheduleStage.ConsumerWait: ops.wait,
    ScheduleStage.ConsumerTryWait: ops.try_wait, ScheduleStage.ConsumerRelease: ops.release,
    "fetch_tile": ops.fetch_tile, "next_tile": ops.next_tile,
    "griddep_wait": ops.griddep_wait, "griddep_launch": ops.griddep_launch,
    "take": ops.take, "pass": ops.pass_,
}


def variables_of(values):
    return {v for v in values if isinstance(v, Variable)}


def reads(item):
    """The variables that an item itself reads, without its body."""
    if isinstance(item, Call):
        return variables_of(item.arguments.values())
    data = item.data
    return variables_of([data.get("condition"), data.get("start"), data.get("end"), data.get("step")])


def writes(items):
    """The variables that items write, at any depth, in order of the first write."""
    found = {}
    for item in items:
        if isinstance(item, Call):
            found.update(dict.fromkeys(item.variables or ()))
        else:
            found.update(dict.fromkeys(writes(item.items)))
    return list(found)


def reads_first(items):
    """The variables that may be read before items have written them."""
    needed, written = set(), set()
    for item in items:
        needed |= reads(item) - written
        if isinstance(item, Call):
            written |= set(item.variables or ())
        else:  # a body may not run, so it writes nothing for sure
            own = set(item.data.get("coords", ())) | {item.data.get("index")}
            needed |= reads_first(item.items) - written - own
    return needed


class Emitter:
    """Emits the tasks of one kernel. `handles` maps resources to the values of their ops."""

    STAGE_INFO = ("loop_offset", "loop_start", "loop_end", "loop_step", "stage_idx", "barrier", "work_tile",
                  "num_active_stages", "context", "task_cache", "call_index", "replica")

    def __init__(self, context, handles, replica=None):
        self.context, self.handles = context, handles
        self.values, self.loops, self.tile, self.cache = {}, [], None, None
        if replica is not None:
            self.values[REPLICA] = replica

    # Schedules.
    def items(self, items, live):
        """Emits items; `live` are the variables that are read behind them."""
        for number, item in enumerate(items):
            with ir.location(Location.file(self.context, item.place.file, item.place.line)):
                behind = live | reads_first(items[number + 1:])
                if isinstance(item, Call):
                    self.call(item, behind)
                else:
                    getattr(self, "body_" + item.kind)(item, behind)

    def value(self, thing, place):
        """The run-time value of what a schedule passes on."""
        if not isinstance(thing, Variable):
            return thing
        if thing not in self.values:
            if thing is REPLICA:
                refuse("TS108", "replica_index(): this task has no replicas; give it replicas=", place)
            if thing.default is None:
                refuse("TS111", f"'{thing.name}' is read before anything was written to it, and it has no default; "
                       "give its TaskLocalVariable one, or write it first", place)
            self.values[thing] = self.default(thing)
        return self.values[thing]

    def default(self, variable):
        slot = variable.slot
        value = slot.default
        return value if isinstance(value, dsl.Value) else dsl.const(value, slot.dtype)

    def carried(self, body, live, place, what):
        """The variables that a body hands on to its next run or to what follows, with their values now."""
        inside = reads_first(body.items)
        chosen = [v for v in writes(body.items) if v in live or v in inside]
        for variable in chosen:
            if variable not in self.values and variable.default is None:
                refuse("TS111", f"'{variable.name}' is written in a {what} that may not run and read behind it; give "
                       "its TaskLocalVariable a default", place)
        return chosen, [self.value(v, place) for v in chosen]

    @contextlib.contextmanager
    def scope(self, block):
        """In a block; what is written there is unknown behind it."""
        before = dict(self.values)
        with ir.at(block):
            yield
        self.values = before

    def bound(self, value, place):
        value = self.value(value, place)
        value = value if isinstance(value, dsl.Value) else dsl.const(int(value))
        return value if value.type.is_index else dsl.cast(value, "index")

    def loop(self, op, names, carried, values, body, live, loop=None):
        block = ir.add_block(op, [self.index] * len(names) + [v.type for v in values])
        arguments = [dsl.Value(a) for a in block.arguments]
        with self.scope(block):
            self.values.update(zip([*names, *carried], arguments))
            if loop:
                self.loops.append((arguments[0], *loop))
            self.items(body.items, live | set(carried) | reads_first(body.items))
            if loop:
                self.loops.pop()
            if body.kind == "tiles" and body.data["advance"] and not self.advances(body.items):
                ops.next_tile(self.handles[body.data["queue"]])
            ops.yield_(values=[self.checked(self.values[v], old, v, body.place).ir for v, old in zip(carried, values)])
        self.values.update(zip(carried, [dsl.Value(r) for r in op.results]))

    def checked(self, value, old, variable, place):
        if value.type != old.type:
            refuse(None, f"'{variable.name}' is {old.type} before the loop and {value.type} behind an iteration; the "
                   "default and what is written have to be of one type", place)
        return value

    @staticmethod
    def advances(items):
        return any(i.stage == "next_tile" if isinstance(i, Call) else Emitter.advances(i.items) for i in items)

    @property
    def index(self):
        return ir.index(self.context)

    def body_for(self, item, live):
        data = item.data
        start, end = self.bound(data["start"], item.place), self.bound(data["end"], item.place)
        step = self.bound(data["step"], item.place)
        carried, values = self.carried(item, live, item.place, "loop")
        plain = isinstance(data["step"], int) and data["step"] == 1
        op = ops.for_(start.ir, end.ir, step=None if plain else step.ir, inits=[v.ir for v in values],
                      unroll=data["unroll"], results=[v.type for v in values])
        self.loop(op, [data["index"]], carried, values, item, live, (start, end, step))

    def body_tiles(self, item, live):
        carried, values = self.carried(item, live, item.place, "tile loop")
        op = ops.tile_loop(self.handles[item.data["queue"]], inits=[v.ir for v in values],
                           results=[v.type for v in values])
        outer, self.tile = self.tile, item.data["coords"]
        self.loop(op, item.data["coords"], carried, values, item, live)
        self.tile = outer

    def branch(self, make, item, live):
        """A body that may not run. `make(results)` creates the op."""
        carried, values = self.carried(item, live, item.place, "conditional")
        probe = make([])
        block = ir.add_block(probe)
        with self.scope(block):
            self.items(item.items, live)
            out = [self.checked(self.values[v], old, v, item.place) for v, old in zip(carried, values)]
            ops.yield_(values=[v.ir for v in out])
        if not carried:
            return
        final = make([v.type for v in values])
        final.regions[0].take(probe.regions[0])
        probe.erase()
        with ir.at(ir.add_block(final.regions[1])):
            ops.yield_(values=[v.ir for v in values])
        self.values.update(zip(carried, [dsl.Value(r) for r in final.results]))

    def body_guard(self, item, live):
        data = item.data
        self.branch(lambda results: ops.guard(data["guard"], period=data["period"], results=results), item, live)

    def body_when(self, item, live):
        data = item.data
        condition = self.value(data["condition"], item.place)
        condition = condition if isinstance(condition, dsl.Value) else dsl.const(bool(condition))
        self.branch(lambda results: ops.when(condition.ir, expected=data["expected"], key=data["key"], results=results),
                    item, live)

    def body_skippable(self, item, live):
        carried, _ = self.carried(item, live, item.place, "skippable region")
        if carried:
            refuse("TS111", f"'{carried[0].name}' is written in a skippable region and read behind it; a skipped tile "
                   "leaves nothing", item.place)
        op = ops.skippable()
        with self.scope(ir.add_block(op)):
            self.items(item.items, live)
            ops.yield_()

    # Calls.
    def call(self, item, live):
        handle = self.handles[item.resource]
        if item.stage in _SIMPLE:
            _SIMPLE[item.stage](handle)
        elif item.stage in (ScheduleStage.ProducerWork, ScheduleStage.ConsumerWork):
            self.work(item, handle, live)
        else:
            raise Error(f"'{item.stage}' is no operation of a schedule")

    def work(self, item, handle, live):
        method, resource = item.method, item.resource
        make = ops.produce if method.produces else ops.consume
        aux = method.auxiliary
        if not method.has_body():
            wanted = item.variables if any(v in live for v in item.variables) else []
            with blamed("the dtype of a TaskLocalVariable", item.place):
                types = [ir.Type.parse(self.context, v.slot.dtype) if v.slot is not None and v.slot.dtype
                         else self.index for v in wanted]
            op = make(handle, method.name, aux=aux, effects=self.effects(item), results=types)
            self.values.update(zip(wanted, [dsl.Value(r) for r in op.results]))
            return
        arguments = {name: self.value(v, item.place) for name, v in item.arguments.items()}
        probe = make(handle, method.name, aux=aux, results=[])
        views = {} if aux else {a.name: a for a in resource.allocations()}
        block = ir.add_block(probe, [ir.Type.parse(self.context, a.memory) for a in views.values()])
        with ir.at(block):
            views = dict(zip(views, [dsl.Value(a) for a in block.arguments]))
            info = StageInfo(resource, method.name, views, self)
            with ir.location(None):
                out = method.function(resource, info, **arguments)
            out = [] if out is None else list(out) if isinstance(out, (tuple, list)) else [out]
            out = [v if isinstance(v, dsl.Value) else dsl.const(v) for v in out]
            if method.produces and out:
                refuse(None, f"producer work '{method.name}' returns a value; only consumer work hands values on",
                       item.place)
            variables = self.fitting(item, out)
            ops.yield_(values=[v.ir for v in out])
        if not out:
            return
        final = make(handle, method.name, aux=aux, results=[v.type for v in out])
        final.regions[0].take(probe.regions[0])
        probe.erase()
        self.values.update(zip(variables, [dsl.Value(r) for r in final.results]))

    def fitting(self, item, out):
        """The variables that the values of a work body go to."""
        variables = item.variables or []
        if len(variables) == 1 and isinstance(variables[0], Returned) and not out:
            return []  # nothing is returned, and nobody asked
        if len(out) != len(variables):
            refuse(None, f"'{item.resource.name}.{item.method.name}' returns {len(out)} values; the schedule takes "
                   f"{len(variables)}", item.place)
        return variables

    def effects(self, item):
        """What a declared work call accesses: all of its resource, by the engine of the pipeline's side."""
        resource, method = item.resource, item.method
        if method.auxiliary or resource.space not in ("smem", "tmem") or not resource.allocations():
            return None
        config = resource.pipeline_config
        engine = config.engines[not method.produces] if config else "thread"
        access = "write" if method.produces else "read"
        return [Attribute.parse(self.context, f'#ts.effect<{access} "{a.name}", engine = {engine}>')
                for a in resource.allocations()]

    # What a work body asks for.
    def stage_info(self, name):
        if name.startswith("loop_"):
            if not self.loops:
                refuse("TS108", f"stage_info.{name}: this work is in no domain loop")
            return self.loops[-1][("loop_offset", "loop_start", "loop_end", "loop_step").index(name)]
        if name == "work_tile":
            coords = self.tile or ()
            return WorkTileInfo(tuple(self.values[c] for c in coords), bool(coords))
        if name == "task_cache":
            return self.cache
        if name == "replica":
            return self.value(REPLICA, None)
        if name == "context":
            return ResourceContext(dsl.info("smem_base", results="i32"), dsl.info("tmem_base", results="i32"))
        kind = {"stage_idx": "stage", "num_active_stages": "in_flight"}.get(name, name)
        return dsl.info(kind, results="i32" if name == "barrier" else "index")
