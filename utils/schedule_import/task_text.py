# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One task as ts text: its schedule with SSA values instead of variables, and the bytes that its copies
bring."""
from __future__ import annotations

from .emit import attribute, dictionary, quoted
from .model import INEXPRESSIBLE, REFERENCE, Guard, ImportFailure, Loop, Op, Skippable, Step, Task, When
from .trips import End
from .values import Liveness, Variable, reference


class TaskText:
    def __init__(self, kernel, task: Task):
        self.kernel, self.schedule, self.task = kernel, kernel.schedule, task
        self.live = Liveness(task)
        self.out: list[str] = []
        self.depth = 1
        self.tiles: list[tuple[str, str]] = []  # queue, tile coordinate; innermost last

    def put(self, line: str):
        self.out.append("  " * self.depth + line)

    def lines(self) -> list[str]:
        task, values = self.task, self.kernel.values
        head = f"ts.task {quoted(task.name)} warps({task.first_warp}, {task.warps})"
        if task.registers:
            head += f" registers({task.registers})"
        if task.only_cta is not None:
            head += f" only_cta({task.only_cta})"
        for word, names in (("reads", task.src), ("writes", task.dst)):
            if names:
                head += f" {word}({', '.join(values[name] for name in names)})"
        self.block(task.schedule, {})
        return [head + " {", *self.out, "}"]

    #--- Values

    def type(self, var: Variable) -> str:
        return "i1" if var in self.live.flags else "index"

    def value(self, var: Variable, env: dict[Variable, str], step: Step) -> str:
        if var not in env:
            raise ImportFailure(REFERENCE, step.pos, f"task '{self.task.name}' reads ${var[0]}.{var[1]} before "
                                "anything has returned it")
        return env[var]

    def start(self, var: Variable, env: dict[Variable, str]) -> str:
        """What a loop or branch starts from: the value so far, or none yet."""
        return env.get(var) or self.kernel.constant(False if self.type(var) == "i1" else 0)

    def types(self, variables: list[Variable]) -> str:
        return ", ".join(self.type(var) for var in variables)

    def define(self, variables: list[Variable], env: dict[Variable, str]) -> str:
        """New names for `variables`; "%a, %b = " or nothing."""
        for var in variables:
            env[var] = self.kernel.names.new(var[1])
        return ", ".join(env[var] for var in variables) + " = " if variables else ""

    def yields(self, variables: list[Variable], env: dict[Variable, str]):
        if variables:
            values = ", ".join(self.start(var, env) for var in variables)
            self.put(f"ts.yield {values} : {self.types(variables)}")

    #--- Steps

    def block(self, steps: list[Step], env: dict[Variable, str]):
        position = 0
        while position < len(steps):
            step = steps[position]
            used = 1
            if isinstance(step, Op):
                used = self.queue_steps(steps, position, env) if self.on_queue(step) else self.op(step, env)
            elif isinstance(step, Loop):
                self.loop(step, env)
            elif isinstance(step, Skippable):
                self.nested("ts.skippable {", step.body, dict(env), [])
            else:
                self.branch(step, env)
            position += used or 1

    def nested(self, head: str, body: list[Step], env: dict[Variable, str], handed: list[Variable], tail: str = "}"):
        self.put(head)
        self.depth += 1
        self.block(body, env)
        self.yields(handed, env)
        self.depth -= 1
        self.put(tail)

    def loop(self, loop: Loop, env: dict[Variable, str]):
        carried = self.live.carried[id(loop)]
        starts = [self.start(var, env) for var in carried]
        head = f"ts.tile_loop {self.kernel.values[loop.queue]}" if loop.queue else "ts.for "
        if loop.queue:
            tile = self.kernel.names.new("tile")
            head += f" ({tile})"
            self.tiles.append((loop.queue, tile))
        else:
            start, end, step = (self.bound(bound, loop, n == 1) for n, bound in enumerate(loop.bounds))
            head += f"{self.kernel.names.new('k')} = {start} to {end}"
            head += f" step {step}" if loop.bounds[2] != 1 else ""
            head += f" unroll({loop.unroll})" if loop.unroll else ""
        inside = dict(env)
        if carried:
            self.define(carried, inside)
            head += " iter(" + ", ".join(f"{inside[var]} = {start} : {self.type(var)}"
                                         for var, start in zip(carried, starts)) + ")"
        results = self.define(carried, env)
        self.nested(f"{results}{head} {{", loop.body, inside, carried)
        if loop.queue:
            self.tiles.pop()

    def bound(self, bound, loop: Loop, end: bool) -> str:
        if isinstance(bound, int):
            return self.kernel.constant(bound)
        if isinstance(bound, End):
            return self.kernel.end(bound)
        if isinstance(bound, str):
            if end:
                self.kernel.floor(bound, loop.bounds)
            return self.kernel.argument(bound)
        if not self.tiles:
            raise ImportFailure(INEXPRESSIBLE, loop.pos, f"the bound '{bound.name}' is evaluated per work tile, but no "
                                "work_tile loop stands around this one")
        table = self.kernel.argument(bound.name, "memref<?xindex>")
        value = self.kernel.names.new(bound.name)
        self.put(f"{value} = memref.load {table}[{self.tiles[-1][1]}] : memref<?xindex>")
        for op, amount in (("maxsi", self.kernel.min_trips if end else 0), ("subi", bound.distance)):
            if amount:
                result = self.kernel.names.new(bound.name)
                self.put(f"{result} = arith.{op} {value}, {self.kernel.constant(amount)} : index")
                value = result
        return value

    def branch(self, step: Guard | When, env: dict[Variable, str]):
        handed = self.live.carried[id(step)]
        if isinstance(step, Guard):
            head = f"ts.guard {step.kind}" + (f" {step.period}" if step.kind == "every" else "")
        else:
            head = f"ts.when {self.value(reference(step.cond), env, step)} is {'true' if step.expected else 'false'}"
            head += f" key({quoted(step.key)})" if step.key else ""
        if not handed:
            return self.nested(head + " {", step.body, dict(env), [])
        before = dict(env)
        results = self.define(handed, env)
        self.nested(f"{results}{head} -> {self.types(handed)} {{", step.body, dict(before), handed, "} else {")
        self.depth += 1
        self.yields(handed, before)
        self.depth -= 1
        self.put("}")

    #--- Queues and PDL

    def on_queue(self, op: Op) -> bool:
        resource = self.schedule.resource(op.res)
        return bool(resource and (resource.queue or resource.pdl))

    def queue_steps(self, steps: list[Step], position: int, env: dict[Variable, str]) -> int:
        """Operations on a queue or PDL resource; returns how many steps they took."""
        op = steps[position]
        resource = self.schedule.resource(op.res)
        value = self.kernel.values[op.res]
        if resource.pdl:
            waits = resource.space == "pdl_wait"
            if op.op != ("consume" if waits else "produce"):
                raise ImportFailure(INEXPRESSIBLE, op.pos, f"a {resource.space} resource has no {op.op}")
            self.put(f"ts.griddep_{'wait' if waits else 'launch'} {value}" + dictionary({"label": quoted(op.label)}))
            return 1
        if op.op in ("try_acquire", "acquire", "commit"):
            self.put(f"ts.{op.op} {value}")
            return 1
        if op.op == "produce":
            self.put(f"ts.fetch_tile {value}" + dictionary({"label": quoted(op.label)}))
            return 1
        # (try_wait) wait, consume, release are one step: the next tile.
        here = [s.op for s in steps[position:position + 4] if isinstance(s, Op) and s.res == op.res]
        probe = here[:1] == ["try_wait"]
        length = 4 if probe else 3
        if here[:length] != ["try_wait"] * probe + ["wait", "consume", "release"]:
            raise ImportFailure(INEXPRESSIBLE, op.pos, f"'{op.op}' of the queue '{op.res}' stands alone; wait, consume "
                                "and release of a queue are one step in ts text (ts.next_tile)")
        consume = steps[position + length - 2]
        facts = {"label": quoted(consume.label)} | ({"probed": ""} if probe else {})
        self.put(f"ts.next_tile {value}" + dictionary(facts))
        for name in consume.returns:
            tile = [tile for queue, tile in self.tiles if queue == op.res]
            if tile:
                env[(op.res, name)] = tile[-1]
        return length

    #--- Pipeline operations and work

    def op(self, op: Op, env: dict[Variable, str]) -> int:
        value = self.kernel.values[op.res]
        if op.op not in ("produce", "consume"):
            self.put(f"ts.{op.op} {value}")
            return 1
        operands, names, constants = [], [], {}
        for name, use in op.uses.items():
            if ref := reference(use):
                operands.append((self.value(ref, env, op), self.type(ref)))
                names.append(quoted(name))
            else:
                constants[name] = attribute(use)
        text = f"ts.{op.op} {value} {quoted(op.label)}" + (" aux" if op.aux else "")
        if operands:
            text += f" uses({', '.join(v for v, _ in operands)} : {', '.join(t for _, t in operands)})"
        results = [(op.res, name) for name in op.returns]
        if results:
            text += " -> " + self.types(results)
        text += " declared"
        if op.bytes is not None:
            text += f" bytes({op.bytes})"
        extra = {}
        if names:
            extra["use_names"] = "[" + ", ".join(names) + "]"
        if constants:
            extra["constants"] = dictionary({quoted(key): entry for key, entry in constants.items()}).strip()
        self.put(self.define(results, env) + text + dictionary(extra))
        return 1
