# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong programs (wrong.py) give one exception whose first line says what is wrong, at the user's line."""
import linecache
import pathlib
import re

import pytest

import mlir_ts
import wrong
import wrong_protocol  # noqa: F401 (more cases of wrong.CASES)
from mlir_ts import ir, symbol
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskManager, consumer_work,
                                     domain_loop, schedule)
from mlir_ts.task_scheduling.schedule import capturing


def no_state_is_left():
    """Nothing of a program that failed is there for the next one."""
    return ir._point.get() is None and ir._location.get() is None and not capturing()


@pytest.mark.parametrize("name", wrong.CASES)
def test_wrong_program(name):
    check, says, at, arch, use, function = wrong.CASES[name]
    with mlir_ts.kernels.fresh(), pytest.raises(mlir_ts.Error) as caught:
        program = function()
        getattr(program, use)(arch)
    error = caught.value
    first, *rest = str(error).splitlines()
    line = linecache.getline(error.file, error.line).strip()
    assert error.id == check, str(error)
    assert first.startswith(f"[{check}] ") and says in first
    assert line.startswith(at) if at else "# HERE" in line, f"{error.file}:{error.line}: {line}\n{error}"
    assert no_state_is_left()
    if isinstance(error, mlir_ts.CompileError):  # the place is in the text as well
        assert f"{error.file}:{error.line}:" in rest[0]


def test_options_of_the_wrong_type():
    for options in ({"arch": 90}, {"emit": None}, {"verify": True}, {"ptxas": 3}):
        (name, value), = options.items()
        with pytest.raises(mlir_ts.Error, match=f"^{name}={value}: expected a text$"):
            mlir_ts.compile("", **options)
    with pytest.raises(mlir_ts.Error, match="^arch=90: expected a text$"):
        mlir_ts.check("", arch=90)


def test_what_builds_ir_names_what_is_wrong():
    context = ir.Context()
    with pytest.raises(mlir_ts.CompileError, match="^'foo' is no type: "):
        ir.Type.parse(context, "foo")
    with pytest.raises(mlir_ts.CompileError, match="^'#foo' is no attribute: "):
        ir.Attribute.parse(context, "#foo")
    with ir.at(ir.Module.create(context).body):
        with pytest.raises(mlir_ts.CompileError, match="^the types of the results of 'arith.constant' do not follow"):
            ir.create("arith.constant")
        with pytest.raises(mlir_ts.Error, match="^a constant of type index is a number, not 'x'$"):
            ir.constant("x", ir.index(context))


def test_errors_of_no_check_have_no_id():
    with pytest.raises(mlir_ts.Error) as caught:
        mlir_ts.compile(7)
    assert caught.value.id is None
    with pytest.raises(mlir_ts.CompileError) as caught:  # what the parser says
        mlir_ts.ir.Module.parse(mlir_ts.ir.Context(), "gpu.module @m { nonsense }")
    assert caught.value.id is None and [diagnostic.id for diagnostic in caught.value.diagnostics] == [None]
    assert "None" not in str(caught.value)


def test_messages_name_no_option_of_a_command_line():
    texts = []
    for path in sorted((pathlib.Path(__file__).parents[2] / "lib").rglob("*.cpp")):
        if path.name.startswith(("Check", "LaunchSequence")):  # for ts-run
            continue
        for literals in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', path.read_text()):
            texts.append("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)))
    option = re.compile(r"(?<!var\()(?<![\w-])--[a-z]")  # var(--x) is of a style sheet
    texts = [text for text in texts if option.search(text)]
    assert len(texts) >= 9
    for text in texts:  # behind an option at the end comes its value
        said = mlir_ts.errors.in_python(text + ("A=64x33:stride0=36" if text[-1] in " =" else ""))
        assert not option.search(said), said
    assert mlir_ts.errors.in_python("pad the rows, e.g. --array A=64x33:stride0=36") == \
        "pad the rows, e.g. to a stride of 36 elements"
    with pytest.raises(mlir_ts.CompileError, match=r"or stop at verification with check\(\)\n"):
        wrong.program().compile()


def test_there_are_enough():
    assert len({case[0] for case in wrong.CASES.values()}) >= 25


def test_the_right_program_is_proven():
    with mlir_ts.kernels.fresh():
        assert wrong.program().check().proven


def test_a_failure_leaves_nothing_behind():
    with pytest.raises(mlir_ts.CompileError):
        wrong.program(load=schedule(lambda gmem, smem, n: smem.lode()))
    with pytest.raises(mlir_ts.CompileError):
        wrong.program(smem=wrong.Smem(name="smem", pipeline_config=wrong.tma(0)))
    assert wrong.program().check().proven


def test_pipelines_point_at_the_line_that_makes_them():
    config = PipelineConfig.create_tma_async_pipeline_cfg(num_stages=0)  # HERE
    with mlir_ts.kernels.fresh(), pytest.raises(mlir_ts.CompileError) as caught:
        wrong.program(smem=wrong.Smem(name="smem", pipeline_config=config))
    assert "a pipeline has 1 to 1024 stages, found 0" in str(caught.value).splitlines()[0]
    assert caught.value.line == config.place.line and caught.value.file == __file__
    assert "#ts.pipeline<tma_async, stages = 0>" in str(caught.value)  # as a note


def test_allocations_point_at_the_line_that_makes_them():
    class Wrong(MemoryResource):
        def get_smem_requirements(self):
            return [SmemAllocation("x", "64x32xf23")]  # HERE
    with mlir_ts.kernels.fresh(), pytest.raises(mlir_ts.CompileError) as caught:
        wrong.program(smem=Wrong(name="smem", pipeline_config=wrong.tma(2)),
                      load=schedule(lambda *_: None), use=schedule(lambda *_: None))
    assert "# HERE" in linecache.getline(caught.value.file, caught.value.line)


def test_allocations_that_do_not_fit_point_at_the_line_that_makes_them():
    class Wrong(wrong.Smem):
        def get_smem_requirements(self):
            return [SmemAllocation("x", "64x128xf32", swizzle=128)]  # HERE
    with mlir_ts.kernels.fresh(), pytest.raises(mlir_ts.CompileError) as caught:
        wrong.program(smem=Wrong(name="smem", pipeline_config=wrong.tma(2))).check()
    assert caught.value.id == "TS228" and "innermost dimension of allocation 'x' is 512 bytes" in str(caught.value)
    assert "# HERE" in linecache.getline(caught.value.file, caught.value.line)
    assert "note: of resource 'smem'" in str(caught.value)


def test_a_misspelt_type_in_a_body():
    class Wrong(MemoryResource):
        @consumer_work
        def read(self, stage_info):
            return mlir_ts.dsl.const(0, "i23x")  # HERE
    resource = Wrong(name="r")
    with mlir_ts.kernels.fresh(), pytest.raises(mlir_ts.CompileError) as caught:
        TaskManager([Task(name="t", warp_idx=0, src_resources=[resource],
                          schedule=schedule(lambda: resource.read())())])
    assert "# HERE" in linecache.getline(caught.value.file, caught.value.line)
    assert no_state_is_left()


def test_names_that_nothing_has():
    smem = wrong.Smem(name="smem", pipeline_config=wrong.tma(2))
    for name, meant in (("comit", "commit"), ("relase", "release"), ("laod", "load")):
        with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
            getattr(smem, name)
    assert not hasattr(smem, "nothing_like_it")
    with pytest.raises(ValueError, match="did you mean 'load'"):
        smem.work_method(True, "laod")
    with pytest.raises(mlir_ts.Error, match="did you mean 'ts.acquire'"):
        module = ir.Module.create(ir.Context())
        ir.create("ts.aquire", at=module.body)


def test_an_exception_of_a_body_is_the_user_s():
    class Broken(wrong.Filled):
        @mlir_ts.task_scheduling.producer_work
        def load(self, stage_info, *, at=None):
            with mlir_ts.dsl.if_(mlir_ts.dsl.const(True)):
                for _ in mlir_ts.dsl.for_(0, 4):
                    raise ZeroDivisionError("mine")

    @mlir_ts.kernel
    def k(A: wrong.ARRAY, n: mlir_ts.Index()):
        wrong.program(smem=wrong.filled(wrong.tma(2), A, Broken), gmem=wrong.FilledGmem, trips=n)
    for _ in range(2):  # it is built anew, not half-built
        with pytest.raises(ZeroDivisionError, match="mine"):
            k.check()
    assert no_state_is_left()


def test_an_exception_in_a_schedule_ends_the_capture():
    @schedule
    def wrong_one(n):
        with domain_loop(0, n):
            raise KeyError("mine")
    with mlir_ts.kernels.fresh():
        n = symbol("n")
        with pytest.raises(KeyError):
            wrong_one(n)
        with pytest.raises(mlir_ts.Error, match="only be called in a function decorated with @schedule"):
            wrong.Smem(name="s").acquire()
    assert no_state_is_left()


def test_texts_of_types_and_attributes():
    context = ir.Context()
    for parse, text in ((ir.Type.parse, "memref<8xf23>"), (ir.Attribute.parse, "#ts.pipeline<tma_async, stages = x>")):
        with pytest.raises(mlir_ts.CompileError) as caught:
            parse(context, text)  # HERE
        assert caught.value.file == __file__ and "# HERE" in linecache.getline(__file__, caught.value.line)
