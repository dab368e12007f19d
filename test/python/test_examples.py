# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples: each runs without arguments and checks itself, also with sizes that fit no tile; the GEMM has the PTX
of its text form."""
import importlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import mlir_ts
from conftest import ROOT

FOLDER = os.path.join(ROOT, "python", "examples")
EXAMPLES = sorted(f[:-3] for f in os.listdir(FOLDER) if f.endswith(".py") and f != "common.py")


def start(name, *options):
    """An example as users start it, and what it printed."""
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(mlir_ts.__file__)))
    return subprocess.run([sys.executable, os.path.join(FOLDER, name + ".py"), *options], capture_output=True,
                          text=True, env=environment, timeout=120)


def run(name, *options):
    """What an example prints; it has to succeed."""
    done = start(name, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", EXAMPLES)
def test_runs_without_arguments(name):
    told = run(name)
    assert ": proven for every " in told and "largest error" in told


@pytest.mark.parametrize("line", [
    "copy_tma --rows 1 --columns 4", "gemm_sm90 --m 1 --n 4 --k 8", "gemm_sm90 --m 130 --n 260 --k 0",
    "gemm_sm90 --m 300 --n 300 --k 200 --schedule adversarial:1", "gemm_sm100 --static 1 --m 100 --n 200 --k 72",
    "split_consumer --k 0", "interleaved_softmax --batch 1 --keys 8", "attention_forward --keys 0",
    "attention_forward --queries 130 --keys 130 --causal 1 --schedule random:5",
    "attention_forward --keys 100 --heads 1", "gemm_sm100 --arch sm_103a",
    # Several tiles for each CTA: rings and accumulators go on from tile to tile.
    "gemm_sm90 --sms 1 --m 300 --n 500 --k 152 --schedule random:3", "gemm_sm100 --sms 2 --m 300 --n 400",
    "gemm_sm100 --static 1 --sms 1 --m 300 --k 72 --schedule adversarial:1", "split_consumer --sms 1 --m 300",
    "copy_tma --sms 2", "attention_forward --sms 1 --heads 3 --causal 1 --schedule adversarial:2"])
def test_other_sizes(line):
    run(*line.split())


def test_a_size_that_cannot_be_is_refused():
    done = start("gemm_sm90", "--k", "65")
    assert done.returncode == 1 and "TMA needs a multiple of 16 bytes" in done.stderr and "Traceback" not in done.stderr


def test_an_architecture_that_lacks_an_instruction_is_refused():
    done = start("attention_forward", "--arch", "sm_100a")
    assert done.returncode == 1 and "sm_90a" in done.stderr and "Traceback" not in done.stderr


def test_a_wrong_result_fails():
    compare = importlib.import_module("common").compare
    compare("x", np.ones(3), np.ones(3), 0.0)
    for found in (np.full(3, 2.0), np.array([1.0, np.nan, 1.0])):
        with pytest.raises(SystemExit, match="x is WRONG"):
            compare("x", found, np.ones(3), 0.5)


def normalised(ptx):
    """PTX without comments, with registers, labels and symbols numbered in the order in which they appear."""
    text = re.sub(r"^\s*\.reg.*$", "", re.sub(r"//.*", "", ptx), flags=re.M)
    names = {}

    def number(match):
        kind = re.match(r"%[a-z]+|\D+", match[0])[0]
        return names.setdefault(match[0], f"{kind}#{len(names)}")
    text = re.sub(r"%(?:rd|r|p|rs|f|fd)\d+\b|\$L__BB\d+_\d+", number, text)
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a"])
def test_same_ptx_as_the_text_form(arch):
    python = importlib.import_module("gemm_sm100").make(dynamic=False).compile(arch=arch, line_info=False)
    with open(os.path.join(ROOT, "examples", "gemm_sm100.mlir")) as file:
        text = mlir_ts.compile(file.read(), arch=arch, line_info=False)
    assert normalised(python.ptx) == normalised(text.ptx)


def test_another_program_has_other_ptx():
    example = importlib.import_module("gemm_sm100")
    static, dynamic = (example.make(dynamic).compile(line_info=False).ptx for dynamic in (False, True))
    assert normalised(static) != normalised(dynamic)
    assert normalised("add.s32 %r1, %r2, %r3;") == normalised("add.s32 \t%r7, %r5, %r1; // x".replace("\t", ""))
    assert normalised("add.s32 %r1, %r2, %r3;") != normalised("add.s32 %r1, %r2, %r2;")
