# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as people meet it: installed somewhere, in help(), in an editor (stubs), at the prompt, in a notebook."""
import ast
import html
import inspect
import os
import pathlib
import pydoc
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import mlir_ts
import wrong
from copy_tma import copy_tma
from mlir_ts import _core, display, ir, ops

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(mlir_ts.__file__).parent
BUILD = pathlib.Path(os.environ.get("TS_BUILD", ROOT / "build"))


def stubs(name):
    """The classes of a stub, each with its members, and its functions under ''."""
    found = {"": {}}
    for node in ast.parse((PACKAGE / name).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found[""][node.name] = node
        elif isinstance(node, ast.ClassDef):
            found[node.name] = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    return found


def test_sources_that_are_not_built_say_so():
    done = subprocess.run([sys.executable, "-c", "import mlir_ts"], capture_output=True, text=True, cwd="/",
                          env={"PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == 1
    assert "ImportError: " + str(ROOT / "python" / "mlir_ts") + " has no mlir_ts._core for Python" in done.stderr
    assert "`ninja -C build mlir_ts_core mlir_ts_ops`" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_names_in_docstrings_exist(path):
    for name in set(re.findall(r"`(mlir_ts(?:\.\w+)+)", path.read_text())):
        assert pydoc.locate(name) is not None, name


def test_the_stub_of_the_extension_is_complete():
    told = stubs("_core.pyi")
    classes = {n for n, v in vars(_core).items() if inspect.isclass(v)}
    functions = {n for n, v in vars(_core).items() if inspect.isbuiltin(v)}
    assert classes == set(told) - {""}
    assert functions == set(told[""])
    for name in classes:
        real = {m for m in vars(getattr(_core, name)) if not m.startswith("__") and not m.startswith("_pybind11")}
        assert real == {m for m in told[name] if not m.startswith("__")}, name
        for member, node in told[name].items():
            doc = inspect.getdoc(getattr(getattr(_core, name), member, None)) or ""
            for argument in node.args.args[1 if node.args.args[:1] and node.args.args[0].arg == "self" else 0:]:
                if doc.startswith(f"{member}(") and not member.startswith("__"):
                    assert f"{argument.arg}: " in doc.splitlines()[0], f"{name}.{member}"


def test_the_stub_of_the_builders_fits():
    told = stubs("ops.pyi")[""]
    assert set(told) == set(ops.__all__)
    for name, node in told.items():
        real = inspect.signature(getattr(ops, name)).parameters
        assert [a.arg for a in [*node.args.args, *node.args.kwonlyargs]] == list(real), name


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("thing", [mlir_ts, ir, ops, mlir_ts.dsl, mlir_ts.kernel, mlir_ts.compile, mlir_ts.Kernel,
                                   mlir_ts.task_scheduling.PipelineConfig, mlir_ts.task_scheduling.MemoryResource,
                                   mlir_ts.task_scheduling.Task, _core.Operation, _core.Module, ops.tma_load])
def test_help_reads_well(thing):
    text = pydoc.plain(pydoc.render_doc(thing))
    assert not re.search(r"(mlir_ts|mlir|ts)::\w|std::|<object object", text)  # no C++ shows through
    assert inspect.getdoc(thing)


def test_everything_public_has_a_docstring():
    missing = [f"{module.__name__}.{name}" for module in (mlir_ts, ir, ops, mlir_ts.dsl, mlir_ts.task_scheduling)
               for name in getattr(module, "__all__", dir(module)) if not name.startswith("_")
               for thing in [getattr(module, name)] if callable(thing) and not inspect.getdoc(thing)]
    assert not missing


def test_reprs():
    manager = wrong.program()
    module = manager.builder.module
    kernel = copy_tma.compile()
    context = module.context
    task = module.operation.walk()[-1]
    says = {module: "<Module of 1 ops>", context: "<Context>", task: "<Operation ts.yield>",
            task.block: "<Block of ", task.parent.regions[0]: "<Region 0 of ts.", task.location: "Location(loc(",
            ir.InsertionPoint.at_end(task.block): "<InsertionPoint at the end of a block in ts.",
            ir.index(context): "Type(index)", manager: "<TaskManager of 'kernel': load, use>",
            manager.tasks[0]: "<Task 'load': warps 0..0, reads ['gmem'], writes ['smem']>",
            manager.tasks[0].schedule: "<ScheduleResult load: 4 operations>", copy_tma: "<kernel copy_tma>",
            kernel: "<Kernel copy_tma for sm_90a: ok>", copy_tma.check(): "<Checked: ok>"}
    for thing, begin in says.items():
        assert repr(thing).startswith(begin), repr(thing)


def framed(shown):
    """The document in a frame."""
    inside = re.fullmatch(r'<iframe sandbox srcdoc="([^"]*)" style="[^"]*"></iframe>', shown)
    assert inside
    return html.unescape(inside[1])


def test_notebooks_show_table_and_timeline():
    manager = wrong.program()
    for thing in (copy_tma, copy_tma.compile(), copy_tma.check(), manager):
        document = framed(thing._repr_html_())
        assert document.startswith("<!DOCTYPE html>") and "<table" in document and "<svg" in document
    with mlir_ts.kernels.fresh():
        refused = framed(wrong.program(user={"warp_idx": 0})._repr_html_())
    assert "share warp 0" in refused
    shown = manager.tasks[0].schedule._repr_html_()
    rows = [["".join(cell.itertext()) for cell in row] for row in ElementTree.fromstring(shown)]
    assert [row[0] for row in rows[1:]] == ["loop", "  consume", "  acquire", "  produce", "  commit"]
    assert rows[4][1:3] == ["smem", "load"] and rows[4][4] == "smem.load(at=at)"


def test_notebooks_show_runs(tmp_path):
    a = np.ones((128, 64), np.float32)
    told = copy_tma(a, a.copy())
    assert "instructions" in told._repr_html_() and "<svg" not in told._repr_html_()
    told = copy_tma(a, a.copy(), trace=str(tmp_path / "trace.json"))
    svg = ElementTree.fromstring(told._repr_html_().partition("</table>")[2])
    texts = [e.text for e in svg.iter() if e.tag.endswith("text")]
    assert "CTA 0 warp 0" in texts and "CTA 0 warp 1" in texts
    assert sum(e.tag.endswith("rect") for e in svg.iter()) > 50
    assert display.timeline('{"traceEvents": []}') == "<p>the trace is empty</p>"
    assert "<svg" in display.timeline(copy_tma.check().report("perfetto"))


def test_the_component_that_the_wheel_takes(tmp_path):
    """Installs the built component and runs an example with it, without a rebuild. docs/python.md has the wheel."""
    if not (BUILD / "cmake_install.cmake").exists() or not shutil.which("cmake"):
        pytest.skip("no build tree")
    subprocess.run(["cmake", "--install", str(BUILD), "--component", "python", "--prefix", str(tmp_path)], check=True,
                   capture_output=True)
    installed = {p.name for p in (tmp_path / "mlir_ts").iterdir()}
    assert installed >= {"ops.py", "ops.pyi"} and any(name.startswith("_core.") for name in installed)
    # scikit-build-core copies the sources of wheel.packages beside that.
    shutil.copytree(ROOT / "python" / "mlir_ts", tmp_path / "mlir_ts", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "python" / "examples", tmp_path / "elsewhere", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run([sys.executable, "-c", "import mlir_ts, runpy; print(mlir_ts.__file__); "
                           "runpy.run_path('copy_tma.py', run_name='__main__')"], cwd=tmp_path / "elsewhere",
                          env={**os.environ, "PYTHONPATH": f"{tmp_path}:{tmp_path / 'elsewhere'}"}, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(tmp_path / "mlir_ts" / "__init__.py")
    assert "D = A: largest error 0" in done.stdout
