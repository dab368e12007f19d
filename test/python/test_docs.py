# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/python.md: its Python blocks are a program that runs, its links lead somewhere, its names are there."""
import pathlib
import re
import subprocess
import sys

import mlir_ts
from mlir_ts import dsl, task_scheduling
from mlir_ts.task_scheduling import PipelineConfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "python.md").read_text()


def test_the_blocks_are_a_program(tmp_path):
    program = tmp_path / "page.py"  # a file, since work methods are looked up in their source
    program.write_text("\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True,
                          env={"PYTHONPATH": str(pathlib.Path(mlir_ts.__file__).parents[1])})
    assert done.returncode == 0, done.stderr


def test_links():
    for link in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / link).exists(), link


def test_examples_are_listed():
    listed = set(re.findall(r"`(\w+\.py)`", TEXT[TEXT.index("## Examples"):TEXT.index("## Installing")]))
    assert listed == {p.name for p in (ROOT / "python" / "examples").glob("*.py")} - {"common.py"}


def test_names_are_there():
    factories = set(re.findall(r"`(create_\w+_cfg)`", TEXT))
    assert factories == {name for name in vars(PipelineConfig) if name.startswith("create_")}
    work = TEXT[TEXT.index("`dsl` has arithmetic"):].split("\n")[0]
    for name in re.findall(r"`(\w+)`", work):
        assert name == "dsl" or hasattr(dsl, name), name
    schedules = TEXT[TEXT.index("**Schedules**"):].split("\n")[0]
    for name in re.findall(r"`(\w+)(?:\(\w+\))?`", schedules):
        assert hasattr(task_scheduling, name) or hasattr(task_scheduling.MemoryResource, name), name
    wrong = TEXT[TEXT.index("## When it is wrong"):TEXT.index("## The IR")]
    for name in re.findall(r"^\| `(\w+)` \|", wrong, re.MULTILINE):
        assert issubclass(getattr(mlir_ts, name), mlir_ts.Error), name
