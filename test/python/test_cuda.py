# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on a CUDA device, by the same call as in the emulator: tensors of torch in place (DLPack and
__cuda_array_interface__), NumPy arrays copied. Skipped without torch and a device of sm_90.

Also a program: `python test/python/test_cuda.py` prints one line per test (utils/gpu has no pytest).
"""
import importlib
import subprocess
import sys
import os

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conftest  # noqa: E402,F401  (finds the package)

import mlir_ts  # noqa: E402


class OnlyDlpack:
    """A tensor that offers DLPack and nothing else."""

    def __init__(self, tensor):
        self._tensor = tensor
        self.shape, self.dtype = tensor.shape, tensor.dtype

    def __dlpack__(self, **options):
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()

    def element_size(self):
        return self._tensor.element_size()

    def stride(self):
        return self._tensor.stride()

    def data_ptr(self):
        return self._tensor.data_ptr()


def missing():
    """Why these tests cannot run here, or ""."""
    try:
        import torch
    except ImportError:
        return "no torch here"
    if not torch.cuda.is_available():
        return "no CUDA device here"
    if torch.cuda.get_device_capability() != (9, 0):
        return "the device is not sm_90"
    return ""


def test_tensors_in_place():
    import torch
    copy = importlib.import_module("copy_tma").copy_tma
    a = torch.randn(200, 100, device="cuda")
    d = torch.full_like(a, float("nan"))
    copy(a, d)
    assert torch.equal(a, d)


def test_dlpack_in_place():
    import torch
    copy = importlib.import_module("copy_tma").copy_tma
    a = torch.randn(64, 32, device="cuda")
    d = torch.zeros_like(a)
    copy(OnlyDlpack(a), OnlyDlpack(d))
    assert torch.equal(a, d)


def test_padded_view_in_place():
    import torch
    copy = importlib.import_module("copy_tma").copy_tma
    whole = torch.randn(130, 128, device="cuda")
    a, d = whole[:, 32:96], torch.zeros(130, 64, device="cuda")
    copy(a, d)
    assert torch.equal(a, d)


def test_gemm_bf16():
    import torch
    gemm = importlib.import_module("gemm_sm90").gemm
    a, b = (torch.randint(-2, 3, (rows, 320), device="cuda").to(torch.bfloat16) for rows in (300, 520))
    d = torch.full((300, 520), float("nan"), device="cuda")
    gemm(a, b, d)
    assert torch.equal(d, a.float() @ b.float().T)


def test_numpy_is_copied():
    copy = importlib.import_module("copy_tma").copy_tma
    a = np.random.default_rng(1).standard_normal((65, 36)).astype(np.float32)
    d = np.zeros_like(a)
    copy(a, d, device="cuda")
    assert (a == d).all()
    copy(a, d * 0)  # and the same call in the emulator


def refused(call, kind, words):
    try:
        call()
    except kind as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"not refused: {words}")


def test_refusals():
    import torch
    copy = importlib.import_module("copy_tma").copy_tma
    a = torch.randn(64, 32, device="cuda")
    refused(lambda: copy(a, np.zeros((64, 32), np.float32)), mlir_ts.LaunchError, "some arrays are on the host")
    refused(lambda: copy(a.half(), a), mlir_ts.LaunchError, "float16")
    refused(lambda: copy(a, a, device="emulator"), mlir_ts.LaunchError, "emulator takes arrays on the host")
    flat = torch.zeros(64 * 32 + 1, device="cuda")[1:].reshape(64, 32)
    refused(lambda: copy(flat, a), mlir_ts.LaunchError, "16")
    blackwell = importlib.import_module("gemm_sm100").make(False)
    x = torch.zeros(128, 64, device="cuda", dtype=torch.bfloat16)
    y = torch.zeros(128, 128, device="cuda")
    refused(lambda: blackwell(x, x, y), mlir_ts.EnvironmentError, "sm_100a")


def test_examples_on_the_device():
    folder = os.path.join(conftest.ROOT, "python", "examples")
    for name in ("copy_tma", "gemm_sm90", "attention_forward"):
        done = subprocess.run([sys.executable, os.path.join(folder, name + ".py"), "--device", "cuda"],
                              capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=sys.path[1] if
                                                                       not os.environ.get("TS_PYTHON_PACKAGE") else
                                                                       os.environ["TS_PYTHON_PACKAGE"]))
        assert done.returncode == 0, done.stdout + done.stderr
        print("   ", name, done.stdout.strip().splitlines()[-1])


if __name__ != "__main__":
    import pytest
    lacking = missing()
    pytestmark = [pytest.mark.skip(reason=lacking)] if lacking else []
else:
    if missing():
        sys.exit("error: " + missing())
    failed = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                print("PASS", name, flush=True)
            except Exception as error:  # noqa: BLE001
                failed += 1
                import traceback
                traceback.print_exc()
                print("FAIL", name, error, flush=True)
    sys.exit(1 if failed else 0)
