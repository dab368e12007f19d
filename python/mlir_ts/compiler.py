# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a program to a proof, PTX, cubin, manifest and a kernel that can be called.

    kernel = mlir_ts.compile(text_or_module, arch="sm_90a")
    kernel(A, B, D)              # NumPy arrays: the emulator; CUDA tensors: the device

A compilation leaves the module as it is. Not for launching: see `mlir_ts.run`.
"""
import json
import os
import warnings

from mlir_ts import _core, display, ir
from mlir_ts.errors import CompileError, CompileWarning, Diagnostic, EnvironmentError, Error, RefutedError, near

__all__ = ["check", "compile", "Checked", "Kernel"]


def _module(program):
    """A module and the name it has in reports, of a Module, a text or a path."""
    if isinstance(program, ir.Module):
        return program, "<module>"
    if isinstance(program, os.PathLike):
        path = os.fspath(program)
        try:
            with open(path) as file:
                return ir.Module.parse(ir.Context(), file.read(), path), path
        except OSError as error:
            raise EnvironmentError(f"cannot read '{path}': {error.strerror}") from None
    if isinstance(program, str):
        return ir.Module.parse(ir.Context(), program, "<text>"), "<text>"
    raise Error(f"expected a Module, the text of one, or a pathlib.Path; found {type(program).__name__}")


def _texts(**options):
    """Refuses options that are no texts."""
    for name, value in options.items():
        if not isinstance(value, str):
            raise Error(f"{name}={value!r}: expected a text")


class _Result:
    """What compilations and checks have in common."""

    def __init__(self, compiled):
        self._compiled = compiled

    @property
    def diagnostics(self):
        """Everything the compiler said, as `Diagnostic`."""
        return [Diagnostic(**d) for d in self._compiled.diagnostics]

    @property
    def status(self):
        """'ok', 'undecided' (proven up to a bound, or unknown), 'refuted' or 'error'."""
        return self._compiled.status

    @property
    def proven(self):
        """Whether every kernel is proven for every trip count and tile list."""
        return self._compiled.status == "ok"

    @property
    def summary(self):
        """The verdict and the size of each kernel, a few lines."""
        return self._compiled.summary()

    def report(self, form="text"):
        """A report: 'text', 'json', 'perfetto', 'sarif', 'html' or 'table'."""
        return self._compiled.report(form)

    def _repr_html_(self):
        return display.frame(self.report("html"))


class Checked(_Result):
    """The verdict on a program; `mlir_ts.check` makes one."""

    def raise_errors(self):
        """Raises what is wrong: `CompileError`, or `RefutedError` with a counter-example."""
        if self.status not in ("ok", "undecided"):
            _raise(self._compiled)

    def __repr__(self):
        return f"<Checked: {self.status}>"


def _raise(compiled):
    diagnostics = compiled.diagnostics
    if compiled.status == "environment":
        raise EnvironmentError(compiled.missing)
    kind = RefutedError if compiled.status == "refuted" else CompileError
    error = kind("the program is not right", diagnostics)
    error.report = compiled.report("text") if compiled.status == "refuted" else ""
    raise error


def check(program, *, arch="", raise_errors=True):
    """Runs every check and the prover, and returns a `Checked`.

    `program` is an `ir.Module`, a text, or a `pathlib.Path`. Work needs no bodies. A program that is wrong
    raises `CompileError` (`RefutedError` with a counter-example), or is returned with `raise_errors=False`.
    """
    module, source = _module(program)
    _texts(arch=arch)
    compiled = _core._compile(module, arch, "ptx", "error", True, False, False, False, "", source)
    if raise_errors and compiled.status not in ("ok", "undecided"):
        _raise(compiled)
    return Checked(compiled)


def compile(program, *, arch="", emit="ptx", verify="error", fill_bodies=False, line_info=True, usage=False, ptxas=""):
    """Compiles a program and returns a `Kernel`.

    `emit` is 'ptx', 'cubin', 'll', 'mlir' or 'lowered'; `arch` replaces the module's ts.chip; `verify` is
    'error', 'warn' or 'off'; `fill_bodies` gives work that is only declared bodies; `usage` asks ptxas for
    registers and spills. Raises `CompileError`, or `EnvironmentError` when ptxas is wanted and missing.
    """
    module, source = _module(program)
    ptxas = os.fspath(ptxas) if isinstance(ptxas, os.PathLike) else ptxas
    _texts(arch=arch, emit=emit, verify=verify, ptxas=ptxas)
    compiled = _core._compile(module, arch, emit, verify, False, bool(fill_bodies), bool(line_info), bool(usage), ptxas,
                              source)
    if compiled.status not in ("ok", "undecided"):
        _raise(compiled)
    kernel = Kernel(compiled, emit, module)
    for diagnostic in kernel.diagnostics:
        if diagnostic.severity == "warning":
            warnings.warn(str(diagnostic), CompileWarning, stacklevel=2)
    return kernel


class Kernel(_Result):
    """A compiled program: `ptx` (or `text`), `cubin`, `manifest`; calling it launches one of its kernels.

    `kernel(*arrays, **scalars)` takes arrays in the order of the kernel's arguments or by name. With several
    kernels in the program, `kernel["name"](...)` chooses one.
    """

    def __init__(self, compiled, emit, module, name=""):
        super().__init__(compiled)
        self._emit, self._module, self._name = emit, module, name
        self._image = None  # on a device, once it was launched there
        self._cubin = compiled.text if emit == "cubin" else None

    @property
    def text(self):
        """What was made: PTX, LLVM IR or MLIR text, or the bytes of a cubin."""
        return self._compiled.text if self._emit == "cubin" else self._compiled.text.decode()

    @property
    def ptx(self):
        """The PTX text."""
        if self._emit == "ptx":
            return self.text
        return compile(self._module, arch=self.arch, verify="off").text

    @property
    def cubin(self):
        """The bytes that ptxas makes of the PTX; raises `EnvironmentError` without ptxas."""
        if self._cubin is None:
            self._cubin = compile(self._module, arch=self.arch, emit="cubin", verify="off")._compiled.text
        return self._cubin

    @property
    def arch(self):
        """The target, for example 'sm_90a'."""
        return self._compiled.chip

    @property
    def manifest(self):
        """The launch manifest as a dict; docs/manifest.schema.json describes it."""
        return json.loads(self._compiled.manifest)

    @property
    def usage(self):
        """Registers, spills and barriers by kernel, if usage=True or a cubin was made."""
        return self._compiled.usage

    @property
    def names(self):
        """The kernels of the program."""
        return [kernel["name"] for kernel in self.manifest["kernels"]]

    def __getitem__(self, name):
        if name not in self.names:
            raise Error(f"there is no kernel '{name}'{near(name, self.names)}")
        return Kernel(self._compiled, self._emit, self._module, name)

    def __call__(self, *arrays, **options):
        from mlir_ts.run import launch
        return launch(self, *arrays, **options)

    def __repr__(self):
        return f"<Kernel {', '.join(self.names)} for {self.arch}: {self.status}>"
