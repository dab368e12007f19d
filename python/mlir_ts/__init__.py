# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR-TS: asynchronous, warp-specialised GPU kernels, proven before they run.

Level 2, for authors of kernels: `mlir_ts.kernel`, `mlir_ts.task_scheduling` (resources, pipelines, schedules,
tasks) and `mlir_ts.dsl` (work bodies). Level 1, the IR: `mlir_ts.ir` and `mlir_ts.ops`. `compile`, `check` and
`Kernel` turn a program into PTX, a proof and a launch. Importing this needs no GPU and no CUDA.
"""
import sys

try:
    import mlir_ts._core as _core
except ModuleNotFoundError as error:
    raise ImportError(f"{__path__[0]} has no mlir_ts._core for Python {sys.version_info[0]}.{sys.version_info[1]}: in "
                      "the project `ninja -C build mlir_ts_core mlir_ts_ops` makes it, for Debian's Python, in "
                      "build/python, which belongs into PYTHONPATH; `pip install .` installs it") from error
from mlir_ts import dsl, errors, ir, ops
from mlir_ts.compiler import Checked, Kernel, check, compile
from mlir_ts.kernels import Buffer, Index, KernelFunction, Scalar, TensorMap, kernel, symbol
from mlir_ts.errors import (CompileError, Diagnostic, EnvironmentError, Error, KernelFault, LaunchError, RefutedError)

__version__, explain = _core.__version__, _core.explain

__all__ = ["dsl", "errors", "ir", "ops", "kernel", "KernelFunction", "TensorMap", "Buffer", "Scalar", "Index", "symbol",
           "explain", "check", "compile", "Checked", "Kernel", "CompileError", "Diagnostic", "EnvironmentError",
           "Error", "KernelFault", "LaunchError", "RefutedError", "__version__"]
