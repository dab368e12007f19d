# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the seed documents: as they are written there, up to imports and their ellipses."""
import importlib.util
import os
import re

import numpy as np
import pytest

import mlir_ts

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")
#: Programs that are examples for users at the same time: the module and its kernel.
EXAMPLES = {"split_consumer": ("split_consumer", "gemm"),
            "domain_lanes": ("interleaved_softmax", "interleaved_softmax")}
SCHEDULES = ("fair", "random:1", "random:2", "adversarial:0", "adversarial:1")


def path_of(name):
    """The program that holds seeds/NAME.txt."""
    if name in EXAMPLES:
        return importlib.util.find_spec(EXAMPLES[name][0]).origin
    return os.path.join(FOLDER, name + ".py")


def load(name):
    """Runs the program of a snippet as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"seeds_{name}", path_of(name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return file.read()


def bf16(array):
    """The bits of bf16 of small integers, which it holds exactly."""
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def integers(*shape):
    """Small ones, so that products and sums of them are exact; the same for the same shape."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)


def holds(snippet, program, paragraphs=None):
    """Whether a program contains a snippet whose `...` stand for anything but nothing.

    The paragraphs of a snippet come in its order, other lines may lie between them; all are indented by the same amount
    more than in the snippet. paragraphs: how many of the first ones count.
    """
    parts = re.split(r"\n\s*\n", snippet.strip("\n"))[:paragraphs]
    for indent in range(0, 13, 4):
        place = 0
        for part in parts:
            lines = "\n".join(re.escape(" " * indent + line) for line in part.splitlines())
            found = re.compile("^" + lines.replace(r"\.\.\.", r"[\s\S]+?") + "$", re.M).search(program, place)
            if found is None:
                break
            place = found.end()
        else:
            return True
    return False


def text_of(name):
    with open(path_of(name)) as file:
        return file.read()


def proven(name):
    """The kernel of a program, checked and proven."""
    kernel = getattr(load(name), EXAMPLES[name][1] if name in EXAMPLES else "kernel")
    assert kernel.check().proven
    return kernel


def test_holds():
    snippet = "with loop():\n    a(...)\n    b()\n\nc()\n"
    assert holds(snippet, "with loop():\n    a(1,\n      2)\n    b()\nx = 1\nc()\n")
    assert holds(snippet, "def f():\n    with loop():\n        a(1)\n        b()\n    c()\n")
    assert not holds(snippet, "with loop():\n    a(1)\nb()\nc()\n")  # b() is behind the loop
    assert not holds(snippet, "with loop():\n    a()\n    b()\nc()\n")  # nothing for the ellipsis
    assert not holds(snippet, "c()\nwith loop():\n    a(1)\n    b()\n")


def test_the_skeleton_is_reported(capsys):
    with mlir_ts.kernels.fresh(), pytest.raises(mlir_ts.CompileError) as caught:
        load("skeleton")
    error = caught.value
    assert error.id == "TS104" and "'smem_a' is used on one side only" in str(error).splitlines()[0]
    assert error.file.endswith("skeleton.py")
    assert "smem_a = SmemAResource(" in read("skeleton.py").splitlines()[error.line - 1]
    assert "acquire smem_a" in capsys.readouterr().out  # the table comes before the verdict


@pytest.mark.parametrize("name", ["ping_pong", "split_consumer", "warp_lanes", "wait_lanes", "domain_lanes",
                                  "leader_routed", "skeleton"])
def test_only_the_ellipses_are_filled(name):
    assert holds(read(name + ".txt"), text_of(name))


def test_the_skeleton_is_completed():
    # All but the TaskManager, which gets two tasks.
    assert holds(read("skeleton.txt"), read("complete.py"), paragraphs=6)


@pytest.mark.parametrize("columns", [0, 32, 200])
def test_complete(columns):
    kernel = proven("complete")
    a = integers(64, columns)
    for schedule in SCHEDULES:
        d = np.full(64, np.nan, np.float32)
        kernel(a, d, schedule=schedule)
        assert (d == a.sum(axis=1)).all()


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_ping_pong(trips):
    kernel = proven("ping_pong")
    for schedule in SCHEDULES:
        total = np.zeros(32, np.float32)
        kernel(total, num_k_tiles=trips, schedule=schedule)
        assert (total == trips * (trips + 1) / 2).all()


@pytest.mark.parametrize("k", [0, 64, 200])
def test_split_consumer(k):
    kernel = proven("split_consumer")
    a, b = integers(130, k), integers(140, k)
    for schedule in SCHEDULES:
        d = np.full((130, 140), np.nan, np.float32)
        kernel(bf16(a), bf16(b), d, schedule=schedule)
        assert (d == a @ b.T).all()


@pytest.mark.parametrize("k", [0, 64, 296])
def test_warp_lanes(k):
    kernel = proven("warp_lanes")
    a, b = integers(512, k), integers(64, k)
    for schedule in SCHEDULES:
        d = np.full((512, 64), np.nan, np.float32)
        kernel(bf16(a), bf16(b), d, schedule=schedule)
        assert (d == a @ b.T).all()


@pytest.mark.parametrize("rows", [0, 32, 100, 300])
def test_wait_lanes(rows):
    kernel = proven("wait_lanes")
    a = integers(rows, 32)
    for schedule in SCHEDULES:
        d = np.full_like(a, np.nan)
        kernel(a, d, schedule=schedule)
        assert (d == a * abs(a)).all()


@pytest.mark.parametrize("batch", [0, 1, 2, 5])
def test_domain_lanes(batch):
    module, kernel = load("domain_lanes"), proven("domain_lanes")
    q, k, v = integers(batch, 100, 64), integers(batch, 48, 64), integers(batch, 48, 64)
    for schedule in SCHEDULES:
        o = np.full_like(q, np.nan)
        kernel(bf16(q), bf16(k), bf16(v), o, schedule=schedule)
        assert np.max(np.abs(o - module.reference(q, k, v)), initial=0) < 0.02  # probabilities are bf16


@pytest.mark.parametrize("columns", [0, 32, 100, 300])
def test_leader_routed(columns):
    kernel = proven("leader_routed")
    a = integers(128, columns)
    for schedule in SCHEDULES:
        d = np.full(128, np.nan, np.float32)
        kernel(a, d, schedule=schedule)
        assert (d == a.sum(axis=1)).all()


def test_leader_routed_bytes_are_checked():
    # Half of what the two warps bring: the leader would arm for too little.
    text = text_of("leader_routed").replace("total_bytes = 2 *", "total_bytes = 1 *")
    names = {"__name__": "wrong"}
    exec(compile(text, path_of("leader_routed"), "exec"), names)  # noqa: S102
    with pytest.raises(mlir_ts.CompileError) as caught:
        names["kernel"].check()
    error = caught.value
    assert error.id == "TS217" and error.file.endswith("leader_routed.py")
    assert text.splitlines()[error.line - 1].startswith("cfg = ")
