# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the seed documents: as they are written there, up to imports and their ellipses."""
import importlib.util
import os
import re
import textwrap

import numpy as np
import pytest

import mlir_ts

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")


def load(name):
    """Runs seeds/NAME.py as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"seeds_{name}", os.path.join(FOLDER, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return file.read()


def bf16(array):
    """The bits of bf16 of small integers, which it holds exactly."""
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def holds(snippet, program):
    """Whether a program contains a snippet whose `...` stand for anything, at any indentation."""
    lines = [re.escape(line.strip()) for line in snippet.splitlines() if line.strip()]
    pattern = r"\s*\n\s*".join(line.replace(r"\.\.\.", r"[\s\S]*?") for line in lines)
    return re.search(pattern, re.sub(r"\n\s*\n", "\n", textwrap.dedent(program))) is not None


def test_the_skeleton_is_reported(capsys):
    with mlir_ts.kernels.fresh(), pytest.raises(mlir_ts.CompileError) as caught:
        load("skeleton")
    error = caught.value
    assert error.id == "TS104" and "'smem_a' is used on one side only" in str(error).splitlines()[0]
    assert error.file.endswith("skeleton.py")
    assert "smem_a = SmemAResource(" in read("skeleton.py").splitlines()[error.line - 1]
    assert "acquire smem_a" in capsys.readouterr().out  # the table comes before the verdict


@pytest.mark.parametrize("name", ["ping_pong", "split_consumer"])
def test_only_the_ellipses_are_filled(name):
    assert holds(read(name + ".txt"), read(name + ".py"))


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_ping_pong(trips):
    total = np.zeros(32, np.float32)
    kernel = load("ping_pong").kernel
    assert kernel.check().proven
    for schedule in ("fair", "random:1", "adversarial:0"):
        total[:] = 0
        kernel(total, num_k_tiles=trips, schedule=schedule)
        assert (total == trips * (trips + 1) / 2).all()


@pytest.mark.parametrize("k", [0, 64, 200])
def test_split_consumer(k):
    random = np.random.default_rng(k)
    a, b = (random.integers(-2, 3, (rows, k)).astype(np.float32) for rows in (130, 140))
    kernel = load("split_consumer").kernel
    assert kernel.check().proven
    d = np.full((130, 140), np.nan, np.float32)
    kernel(*(bf16(x) for x in (a, b)), d, schedule="random:2")
    assert (d == a @ b.T).all()
