# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C during a proof, during passes, during LLVM and during ptxas. (An emulation: test_robust.py.)"""
import contextlib
import functools
import os
import signal
import threading
import time

import mlir_ts
from mlir_ts import Buffer, Index, dsl, ir, kernel
from mlir_ts.task_scheduling import (MemoryResource, Task, TaskManager, consumer_work, domain_loop, producer_work,
                                     schedule)


@contextlib.contextmanager
def interrupted(after, within=1.0):
    """The block gets a SIGINT after so many seconds and has to raise KeyboardInterrupt soon."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(after, send)
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        took = time.monotonic() - sent[0]
        assert took < within, f"{took:.2f} s"
    else:
        timer.cancel()
        raise AssertionError("nothing was raised; it ended before the signal" if not sent else "nothing was raised")


def slow_to_prove(pairs):
    """Pairs of tasks, of which one has two loops over a count and the other has one: proven for each count up to a
    bound, together 3**pairs searches."""
    lines = ['gpu.module @m attributes {ts.chip = "sm_90a"} {',
             f"ts.kernel @slow({', '.join(f'%n{i}: index' for i in range(pairs))}) warps({2 * pairs}) {{",
             "%c0 = arith.constant 0 : index", '%in = ts.resource "in" gmem', '%out = ts.resource "out" gmem']
    for i in range(pairs):
        lines += [f'%a{i} = ts.resource "a{i}" smem(x: memref<1xf32>) pipeline(async_async, stages = 3)',
                  f"ts.depends %a{i} on %in", f"ts.depends %out on %a{i}"]
    for i in range(pairs):
        head = f"ts.for %i = %c0 to %n{i} {{"
        put = ['ts.consume %in "read" declared', f"ts.acquire %a{i}", f'ts.produce %a{i} "write" declared',
               f"ts.commit %a{i}"]
        get = [f"ts.wait %a{i}", f'ts.consume %a{i} "read" declared', 'ts.produce %out "write" declared',
               f"ts.release %a{i}"]
        lines += [f'ts.task "p{i}" warps({2 * i}, 1) reads(%in) writes(%a{i}) {{', *2 * [head, *put, "}"], "}"]
        lines += [f'ts.task "c{i}" warps({2 * i + 1}, 1) reads(%a{i}) writes(%out) {{', head, *get, *get, "}", "}"]
    return "\n".join(lines + ["}", "}"])


def test_the_slow_proof_is_one():
    checked = mlir_ts.check(slow_to_prove(3))
    assert checked.status == "undecided" and "proven only up to n0, n1, n2 = 2" in checked.summary


def test_a_proof():
    with interrupted(0.5):
        mlir_ts.check(slow_to_prove(15))
    with interrupted(0.5):
        mlir_ts.compile(slow_to_prove(15))


class Source(MemoryResource):
    @consumer_work
    def start(self, stage_info):
        return stage_info.loop_offset


class Target(MemoryResource):
    @producer_work
    def store(self, stage_info, *, start):
        x = self.array[start]
        for i in range(self.statements):
            x = dsl.where(x > float(i), dsl.exp(x * 1.5 + float(i)), x - self.array[start + i])
        self.array[start] = x


def straight_line(statements):
    @kernel(arch="sm_90a", grid=("1", "1", "1"))
    def line(X: Buffer("f32"), n: Index()):
        source, target = Source(name="source"), Target(name="target")
        target.array, target.statements = X, statements

        @schedule
        def run():
            with domain_loop(0, n):
                start = source.start()
                target.store(start=start)
        TaskManager([Task(name="t", warp_idx=0, src_resources=[source], dst_resources=[target], schedule=run())],
                    {target: [source]})
    return line


@functools.cache
def large():
    """A program whose compilation takes many seconds, in no single pass too long; its module."""
    return straight_line(6000).module


def test_a_compilation():
    # In the passes of MLIR, in LLVM's.
    for after in (0.2, 2.0):
        with interrupted(after, within=2.0):
            mlir_ts.compile(large(), verify="off")
    assert ".entry line" in straight_line(3).compile().ptx  # and everything goes on


def test_passes():
    module = ir.Module.parse(ir.Context(), str(large()))
    with interrupted(0.5, within=1.5):
        ir.run_passes(module, f"builtin.module({','.join(['cse', 'canonicalize', 'symbol-dce'] * 200)})")
    module.verify()


def test_ptxas(tmp_path):
    program, begun = tmp_path / "ptxas", tmp_path / "begun"
    program.write_text(f"#!/bin/sh\necho $$ >{begun}\nexec sleep 60\n")
    program.chmod(0o755)
    with interrupted(1.0):
        mlir_ts.compile(straight_line(3).module, emit="cubin", ptxas=str(program))
    number = int(begun.read_text())
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return
    os.kill(number, signal.SIGKILL)
    raise AssertionError("ptxas runs on")
