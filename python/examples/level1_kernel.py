# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small compiler that emits ts: from a list of elementwise operations to a kernel, by builders alone.

    python level1_kernel.py [--n 3000] [--device cuda]

What a compiler with a representation of its own does: it lowers its program to ts ops by mlir_ts.ir and mlir_ts.ops,
without the authoring layer, and leaves barriers, memory and the proof to the compiler behind. The kernel: one warp
loads blocks of all inputs by TMA into a ring of three stages, four warps compute and store. Every op carries the line
of the program it comes from, so that diagnostics and faults point there and not into this compiler.
"""
import numpy as np

import mlir_ts
from common import compare, options, run
from mlir_ts import ir, ops

# The program of this compiler: name = operation operands, one for each line. Names that nothing defines are inputs.
SWIGLU = """\
minus = mul gate -1.4426950408889634
e = exp2 minus
below = add 1.0 e
sigmoid = div 1.0 below
swish = mul gate sigmoid
out = mul swish value
"""
ELEMENTWISE = {"add": ("arith.addf", 2), "sub": ("arith.subf", 2), "mul": ("arith.mulf", 2), "div": ("arith.divf", 2),
               "max": ("arith.maximumf", 2), "min": ("arith.minimumf", 2), "neg": ("arith.negf", 1),
               "exp2": ("math.exp2", 1), "sqrt": ("math.sqrt", 1)}
BLOCK, WARPS, STAGES = 256, 4, 3


def parse(text):
    """Lines (result, operation, operands), and the inputs in the order of their first use."""
    lines, known, inputs = [], set(), []
    for number, line in enumerate(text.splitlines(), 1):
        result, equals, operation, *operands = line.split()
        if equals != "=" or operation not in ELEMENTWISE or len(operands) != ELEMENTWISE[operation][1]:
            raise ValueError(f"line {number}: expected 'name = operation operands', found '{line}'")
        for operand in operands:
            if operand.isidentifier() and operand not in known and operand not in inputs:
                inputs.append(operand)
        known.add(result)
        lines.append((result, operation, operands))
    return lines, inputs


class Lowering:
    """Builds the module of one program."""

    def __init__(self, name, text):
        self.name = name
        self.lines, self.inputs = parse(text)
        self.context = ir.Context()
        self.module = ir.Module.create(self.context)
        self.index, self.f32 = ir.index(self.context), self.type("f32")

    def type(self, text):
        return ir.Type.parse(self.context, text)

    def line(self, number):
        """Ops made inside come from that line of the program."""
        return ir.location(ir.Location.file(self.context, f"{self.name}.txt", number))

    def build(self):
        """The whole kernel; verified, not yet proven."""
        with self.line(1):
            gpu = ir.create("gpu.module", (), [], {"sym_name": self.name, "ts.chip": "sm_90a"}, 1, at=self.module.body)
            names = [*self.inputs, "out", "length", "blocks"]
            sizes = [f"dim({self.inputs[0]}, 0)", f"ceildiv(dim({self.inputs[0]}, 0), {BLOCK})"]
            kernel = ops.kernel(self.name, names, [""] * (len(names) - 2) + sizes, [0] * len(names), 1 + WARPS,
                                [1, 1, 1], at=ir.add_block(gpu))
            maps = [self.type(f"!ts.tensor_map<?xf32, box = {BLOCK}>")] * len(self.inputs)
            body = ir.add_block(kernel, [*maps, self.type("memref<?xf32>"), self.index, self.index])
            with ir.at(body):
                self.kernel(body.arguments)
                ops.yield_()
        self.module.verify()
        return self.module

    def kernel(self, arguments):
        *self.maps, self.out, self.length, blocks = arguments
        self.zero, self.one, self.block = (ir.constant(n, self.index) for n in (0, 1, BLOCK))
        self.threads = ir.constant(32 * WARPS, self.index)
        allocs = [ir.Attribute.parse(self.context, f'#ts.alloc<"{name}" : memref<{BLOCK}xf32, #ts.smem>>')
                  for name in self.inputs]
        ring = ir.Attribute.parse(self.context, f"#ts.pipeline<tma_async, stages = {STAGES}>")
        self.source = ops.resource("gmem_in", "gmem", []).result
        self.ring = ops.resource("ring", "smem", allocs, pipeline=ring).result
        self.target = ops.resource("gmem_out", "gmem", []).result
        self.queue = ops.work_queue("blocks", "static", tiles=[blocks]).result
        ops.depends(self.ring, upstream=[self.source])
        ops.depends(self.target, upstream=[self.ring])
        self.task("load", 0, 1, [self.source, self.queue], [self.ring], self.load)
        self.task("compute", 1, WARPS, [self.ring, self.queue], [self.target], self.compute)

    def task(self, name, first, count, reads, writes, schedule):
        """A task that runs its schedule for each block of the queue."""
        with ir.at(ir.add_block(ops.task(name, first, count, reads=reads, writes=writes))):
            with ir.at(ir.add_block(ops.tile_loop(self.queue), [self.index])) as point:
                schedule(ir.create("arith.muli", [point.block.arguments[0], self.block]).result)
                ops.next_tile(self.queue)
                ops.yield_()
            ops.yield_()

    def load(self, start):
        with ir.at(ir.add_block(ops.consume(self.source, "inputs"))):
            ops.yield_()
        ops.acquire(self.ring)
        with ir.at(ir.add_block(ops.produce(self.ring, "load"), self.views())) as point:
            for tensor_map, view in zip(self.maps, point.block.arguments):
                ops.tma_load(tensor_map, view, coords=[start])
            ops.yield_()
        ops.commit(self.ring)

    def views(self):
        return [self.type(f"memref<{BLOCK}xf32, #ts.smem>")] * len(self.inputs)

    def compute(self, start):
        ops.wait(self.ring)
        read = ops.consume(self.ring, "blocks", results=self.views())
        with ir.at(ir.add_block(read, self.views())) as point:
            ops.yield_(values=point.block.arguments)
        with ir.at(ir.add_block(ops.produce(self.target, "store"))):
            thread = ops.info("thread", results=self.index).result
            loop = ir.create("scf.for", [thread, self.block, self.threads], [], None, 1)
            with ir.at(ir.add_block(loop, [self.index])) as point:
                self.element(start, point.block.arguments[0], read.results)
                ir.create("scf.yield")
            ops.yield_()
        ops.release(self.ring)

    def element(self, start, i, views):
        """out[start + i], if it is inside."""
        at = ir.create("arith.addi", [start, i]).result
        slt = ir.Attribute.integer(self.type("i64"), 2)
        inside = ir.create("arith.cmpi", [at, self.length], [self.type("i1")], {"predicate": slt}).result
        branch = ir.create("scf.if", [inside], [], None, 2)
        with ir.at(ir.add_block(branch)):
            values = {name: ir.create("memref.load", [view, i], [self.f32]).result
                      for name, view in zip(self.inputs, views)}
            for number, (result, operation, operands) in enumerate(self.lines, 1):
                with self.line(number):
                    taken = [values[o] if o in values else ir.constant(float(o), self.f32) for o in operands]
                    values[result] = ir.create(ELEMENTWISE[operation][0], taken, [self.f32]).result
            ir.create("memref.store", [values[result], self.out, at], [])
            ir.create("scf.yield")


class Compiled:
    """What `run` of the examples wants: the proof, and a call."""

    def __init__(self, module):
        self.module = module

    def check(self, arch=""):
        return mlir_ts.check(self.module, arch=arch)

    def __call__(self, *arrays, arch="", **more):
        return mlir_ts.compile(self.module, arch=arch)(*arrays, **more)


if __name__ == "__main__":
    args = options(__doc__, n=3000)
    random = np.random.default_rng(args.seed)
    gate, value = (random.standard_normal(args.n, dtype=np.float32) for _ in range(2))
    out = np.full_like(gate, np.nan)
    module = Lowering("swiglu", SWIGLU).build()
    run(Compiled(module), args, gate, value, out)
    wanted = gate.astype(np.float64) / (1 + np.exp(-gate.astype(np.float64))) * value
    compare("out = swiglu(gate, value)", out, wanted, 1e-5)
