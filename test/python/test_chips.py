# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The architecture of a kernel that names none: one on which TS227 and TS228 find nothing."""
import pathlib

import pytest

from mlir_ts import Buffer, CompileError, Error, Index, _core, ir, kernel
from mlir_ts.task_scheduling import (MemoryResource, SmemAllocation, Task, TaskManager, TmemAllocation, consumer_work,
                                     domain_loop, producer_work, schedule)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = sorted([*(ROOT / "examples").glob("*.mlir"), *(ROOT / "test" / "Checks").glob("TS22[78]*.mlir")])
CHIPS = {"sm_90", "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_120a"}


def found_by_the_checks(text, chip):
    """Whether TS227 or TS228 is among what ts-verify-protocol says for this architecture."""
    module = ir.Module.parse(ir.Context(), text)
    for op in module.operation.walk():
        if op.name == "gpu.module":
            op.set_attribute("ts.chip", chip)
    try:
        ir.run_passes(module, "builtin.module(gpu.module(ts-verify-protocol))")
    except CompileError as error:
        return any(diagnostic.id in ("TS227", "TS228") for diagnostic in error.diagnostics)
    return False


@pytest.mark.parametrize("path", PROGRAMS, ids=[path.stem for path in PROGRAMS])
def test_the_checks_agree(path):
    for text in path.read_text().split("// -----"):
        module = ir.Module.parse(ir.Context(), text)
        fit = set.intersection(*(set(_core.chips_for(op)) for op in module.operation.walk() if op.name == "ts.kernel"))
        found = {chip for chip in CHIPS if found_by_the_checks(text, chip)}
        assert fit == CHIPS - found


class Place(MemoryResource):
    kind = "smem"

    def get_smem_requirements(self):
        return [SmemAllocation("x", "128x32xf32")] if self.kind == "smem" else []

    def get_tmem_requirements(self):
        return [TmemAllocation("x", "128x32xf32")] if self.kind == "tmem" else []

    @producer_work
    def write(self, stage_info):
        ...

    @consumer_work
    def read(self, stage_info):
        ...


def plain(kind):
    @kernel
    def made(X: Buffer("f32"), n: Index()):
        place, out = Place(name="place"), Place(name="out")
        place.kind, out.kind = kind, None

        @schedule
        def run():
            with domain_loop(0, n):
                place.write()
                place.read()
                out.write()
        TaskManager([Task(name="t", warp_idx=0, num_warps=4, src_resources=[place], dst_resources=[place, out],
                          schedule=run())], {out: [place]})
    return made


def test_what_a_kernel_uses_decides():
    # Tensor memory alone, without any op or pipeline that has "umma" in its name.
    assert [plain(kind).builder.arch for kind in ("smem", "tmem")] == ["sm_90a", "sm_100a"]


def test_an_op_that_is_not_right_is_reported_later():
    class Nowhere(Place):
        space = None  # hides what says where the memory is

    @kernel
    def made(X: Buffer("f32"), n: Index()):
        place = Nowhere(name="place")

        @schedule
        def run():
            with domain_loop(0, n):
                place.write()
        TaskManager([Task(name="t", warp_idx=0, dst_resources=[place], schedule=run())], {place: []})
    with pytest.raises(CompileError, match="requires attribute 'space'"):
        made.check()


def test_only_kernels_have_chips():
    module = ir.Module.parse(ir.Context(), "")
    with pytest.raises(Error, match="expected a ts.kernel"):
        _core.chips_for(module.operation)
