# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels: functions that declare arguments, resources and tasks.

    @mlir_ts.kernel(arch="sm_90a")
    def copy(A: TensorMap("f32", box=(64, 32)), B: TensorMap("f32", box=(64, 32)),
             tiles: Index("ceildiv(dim(A, 0), 64)")):
        ...
        TaskManager(tasks=[...], resource_dependency_graph={...})

    copy.check()                 # every check and the proof
    copy(a, b)                   # compiles once, runs: NumPy in the emulator, CUDA tensors on the device

The function runs once, when the kernel is built; its arguments are run-time values. Launch expressions are
those of docs/running.md: dim(A, i), stride(A, i), ceildiv, min, max, sms(), ...
"""
import contextlib
import contextvars
import dataclasses
import functools
import inspect
import sys

from mlir_ts import compiler, display, dsl, ir, ops
from mlir_ts._core import Attribute, Location, chips_for
from mlir_ts._where import caller
from mlir_ts.errors import CompileError, Error, Note, blamed

__all__ = ["kernel", "KernelFunction", "TensorMap", "Buffer", "Scalar", "Index", "symbol"]

_current = contextvars.ContextVar("mlir_ts_kernel", default=None)
_implicit = contextvars.ContextVar("mlir_ts_implicit_kernel", default=None)


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """An array argument that TMA reads or writes: `element` ('bf16'), `box` (one tile, slowest dimension first).

    swizzle: bytes, 0, 32, 64 or 128; the box's innermost dimension is at most that. fill: 'zero' or 'nan', what a
    load finds outside the array.
    """

    element: str
    box: tuple
    swizzle: int = 0
    fill: str = "zero"

    def spelling(self):
        shape = "x".join("?" * len(self.box))
        box = "x".join(map(str, self.box))
        return (f"!ts.tensor_map<{shape}x{self.element}, box = {box}" +
                (f", swizzle = {self.swizzle}" if self.swizzle else "") +
                (f", fill = {self.fill}" if self.fill != "zero" else "") + ">")


@dataclasses.dataclass(frozen=True)
class Buffer:
    """An array argument that threads read and write: `element`, and `shape` with None for sizes of the launch.

    contiguous=False: rows may be apart; the kernel takes the strides.
    """

    element: str
    shape: tuple = (None,)
    contiguous: bool = True

    def spelling(self):
        shape = "x".join("?" if s is None else str(s) for s in self.shape)
        if self.contiguous:
            return f"memref<{shape}x{self.element}>"
        strides = ", ".join(["?"] * (len(self.shape) - 1) + ["1"])
        return f"memref<{shape}x{self.element}, strided<[{strides}]>>"


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A number the caller passes: `type` ('f32', 'i32', 'index'); `min` is the smallest value a launch may give."""

    type: str = "f32"
    min: int = 0
    expression: str = ""

    def spelling(self):
        return self.type


def Index(expression="", min=0):
    """A trip count or size: derived by a launch expression, or given by the caller without one."""
    return Scalar("index", min, expression)


#: Checks of what a PipelineConfig says; the compiler finds them at the resource.
_OF_PIPELINES = {"TS215", "TS216", "TS217", "TS218", "TS219", "TS220", "TS221", "TS222"}


class Builder:
    """The module of one kernel while it is built, and after."""

    def __init__(self, name, arguments=(), arch="", cluster=(1, 1, 1), grid=None, flush_denormals=False,
                 trips_per_tile=False, place=None):
        place = place or caller()
        self.name, self.arch, self.has_manager = name, arch, False
        self._symbols = {}
        self.pipelines = []  # (name of the resource, its place, the place of its PipelineConfig)
        self.allocations = []  # (names in messages, name of the resource, its place, the place of the allocation)
        self.context = ir.Context()
        self.module = ir.Module.create(self.context, Location.file(self.context, place.file, place.line))
        with ir.at(self.module.body), ir.location(Location.file(self.context, place.file, place.line)):
            self.gpu = ir.create("gpu.module", (), [], {"sym_name": "kernels"}, 1)
            body = ir.add_block(self.gpu)
        self.place = place
        self._make(body, arguments, cluster, grid, flush_denormals, trips_per_tile)

    def _make(self, body, arguments, cluster, grid, flush_denormals, trips_per_tile):
        at = Location.file(self.context, self.place.file, self.place.line)
        options = {"grid": list(map(str, grid)) if grid is not None else None, "flush_denormals": flush_denormals,
                   "trips_per_tile": trips_per_tile}
        self.op = ops.kernel(self.name, [n for n, _ in arguments],
                             [getattr(a, "expression", "") for _, a in arguments],
                             [getattr(a, "min", 0) for _, a in arguments], 1, list(cluster), at=body, location=at,
                             **options)
        types = [self._type(n, a) for n, a in arguments]
        self.block = ir.add_block(self.op, types, at)
        self.arguments = {n: dsl.Value(v) for (n, _), v in zip(arguments, self.block.arguments)}

    def _type(self, name, argument):
        with blamed(f"argument '{name}', {argument.spelling()}", self.place):
            return ir.Type.parse(self.context, argument.spelling())

    def inside(self):
        """New ops go to the end of the kernel."""
        return ir.at(self.block)

    def add_argument(self, name, argument):
        """Another argument, of a kernel whose arguments come one by one."""
        at = Location.file(self.context, self.place.file, self.place.line)
        value = dsl.Value(self.block.add_argument(self._type(name, argument), at))
        attributes = self.op.attributes
        self.op.set_attribute("arg_names", attributes["arg_names"].value + [name])
        self.op.set_attribute("arg_exprs", attributes["arg_exprs"].value + [argument.expression])
        self.minima = getattr(self, "minima", []) + [argument.min]
        self.op.set_attribute("arg_mins", Attribute.array_i64(self.context, self.minima))
        return value

    def symbol(self, name, argument):
        """An argument of a kernel whose arguments come one by one; asked for again, the same one."""
        if name not in self.arguments:
            self.arguments[name] = self.add_argument(name, argument)
            self._symbols[name] = argument
        elif self._symbols.get(name) != argument:
            raise Error(f"there is an argument '{name}' already, {self._symbols.get(name, 'of the kernel function')}")
        return self.arguments[name]

    def begin(self):
        """Called by the TaskManager. (It holds the builder, and nothing holds it.)"""
        if self.has_manager:
            raise Error("a kernel has one TaskManager; this is the second")
        self.has_manager = True

    def finish(self, warps):
        """Called once everything is in the kernel."""
        self.op.set_attribute("num_warps", Attribute.integer(ir.Type.parse(self.context, "i32"), warps))
        ops.yield_(at=self.block, location=self.op.location)
        if not self.arch:
            self.arch = self._usual_arch()
        self.gpu.set_attribute("ts.chip", self.arch)

    def _usual_arch(self):
        """Of the chips that have all that the kernel uses, the oldest with the instructions of its own architecture."""
        try:
            chips = chips_for(self.op)
        except CompileError:
            chips = []  # an op is not right, which check() and compile() report
        return next((chip for chip in chips if chip.endswith("a")), "sm_90a")  # none: TS227 says why

    def leave(self):
        """Called when the TaskManager is done or has failed: the next one outside a kernel begins a new one."""
        if _implicit.get() is self:
            _implicit.set(None)

    def check(self, arch="", raise_errors=True):
        with self.own_places():
            return compiler.check(self.module, arch=arch, raise_errors=raise_errors)

    def compile(self, arch="", **options):
        with self.own_places():
            return compiler.compile(self.module, arch=arch, **options)

    def print_and_verify(self, arch="", file=None):
        """See TaskManager."""
        checked = self.check(arch, raise_errors=False)
        print(checked.report("table"), file=file or sys.stdout)
        if checked.status in ("ok", "undecided"):
            print(checked.summary, file=file or sys.stdout)
        else:
            with self.own_places():
                checked.raise_errors()
        return checked

    def _repr_html_(self):
        # What a notebook shows of a wrong program is what is wrong with it, not an exception.
        return display.frame(self.check(raise_errors=False).report("html"))

    @contextlib.contextmanager
    def own_places(self):
        """Errors about a pipeline point at the line that makes its PipelineConfig, those about an allocation at the
        line that makes that, and both say where the resource is."""
        try:
            yield
        except CompileError as error:
            for diagnostic in error.diagnostics:
                self._move(diagnostic)
            moved = type(error)(str(error), error.diagnostics)
            moved.report = error.report
            raise moved from None

    def _move(self, diagnostic):
        parts = [([f"allocation '{name}'" for name in names], *rest) for names, *rest in self.allocations]
        if diagnostic.id in _OF_PIPELINES:
            parts += [([f"'{name}'"], name, place, config) for name, place, config in self.pipelines]
        for names, resource, place, own in parts:
            if ((place.file, place.line) == (diagnostic.file, diagnostic.line) and
                    any(name in diagnostic.message for name in names)):
                diagnostic.notes.append(Note(f"of resource '{resource}'", place.file, place.line))
                diagnostic.file, diagnostic.line, diagnostic.column = own.file, own.line, 0
                return

    @staticmethod
    def current(name=None):
        """The kernel that is being built, or one of its own for a TaskManager outside any."""
        builder = _current.get() or _implicit.get()
        if builder is None:
            builder = Builder(name or "kernel")
            _implicit.set(builder)
        return builder

    @property
    def is_implicit(self):
        """Whether it is of a TaskManager outside any kernel function, and still being built."""
        return _implicit.get() is self


def symbol(name, min=0, expression=""):
    """A run-time count for schedules outside a kernel function: `num_k_tiles = symbol("num_k_tiles", min=1)`.

    It becomes an argument of the kernel that the next TaskManager makes. The same name is the same argument until then.
    """
    return Builder.current().symbol(name, Scalar("index", min, expression))


class KernelFunction:
    """A function decorated with `kernel`."""

    def __init__(self, function, options):
        self._function, self._options, self._built, self._compiled = function, options, None, {}
        functools.update_wrapper(self, function)

    @property
    def builder(self):
        """The kernel's module; built when it is first asked for."""
        if self._built is None:
            code = self._function.__code__
            arguments = []
            annotations = inspect.get_annotations(self._function, eval_str=True)
            for name in inspect.signature(self._function).parameters:
                argument = annotations.get(name)
                if not isinstance(argument, (TensorMap, Buffer, Scalar)):
                    raise Error(f"'{self.__name__}': argument '{name}' is annotated with {argument!r}; expected "
                                "TensorMap, Buffer, Scalar or Index")
                arguments.append((name, argument))
            from mlir_ts._where import Place
            builder = Builder(self._options.get("name") or self.__name__, arguments, self._options.get("arch", ""),
                              place=Place(code.co_filename, code.co_firstlineno),
                              **{k: v for k, v in self._options.items() if k not in ("name", "arch")})
            token = _current.set(builder)
            try:
                with builder.inside():
                    self._function(**builder.arguments)
            finally:
                _current.reset(token)
            if not builder.has_manager:
                raise Error(f"'{self.__name__}' makes no TaskManager, so the kernel has no tasks")
            self._built = builder
        return self._built

    @property
    def module(self):
        """The program as an `ir.Module`."""
        return self.builder.module

    def check(self, arch="", raise_errors=True):
        """Every check and the proof; see `mlir_ts.check`."""
        return self.builder.check(arch, raise_errors)

    def print_and_verify(self, arch="", file=None):
        """Prints the schedule table and the verdict."""
        return self.builder.print_and_verify(arch, file)

    def compile(self, arch="", **options):
        """The compiled kernel; compiled once for each architecture and set of options."""
        key = (arch, tuple(sorted(options.items())))
        if key not in self._compiled:
            self._compiled[key] = self.builder.compile(arch, **options)
        return self._compiled[key]

    def __call__(self, *arrays, grid=None, arch="", **options):
        """Runs it; with options only, returns a launcher: `copy(schedule="random:3")(a, b)`."""
        names = self.builder.arguments
        if names and not arrays and not any(name in names for name in options):
            if options or arch or grid is not None:
                return functools.partial(self._launch, grid=grid, arch=arch, **options)
        return self._launch(*arrays, grid=grid, arch=arch, **options)

    def _launch(self, *arrays, grid, arch, **options):
        kernel = self.compile(arch)
        if grid is not None:
            options["grid"] = grid
        return kernel(*arrays, **options)

    def _repr_html_(self):
        return self.builder._repr_html_()

    def __repr__(self):
        return f"<kernel {self.__name__}>"


def kernel(function=None, *, arch="", name=None, cluster=(1, 1, 1), grid=None, flush_denormals=False,
           trips_per_tile=False):
    """Makes a kernel of a function; see the module. `grid` are launch expressions, for kernels without a queue."""
    options = {"arch": arch, "name": name, "cluster": cluster, "grid": grid, "flush_denormals": flush_denormals,
               "trips_per_tile": trips_per_tile}
    if function is None:
        return lambda f: KernelFunction(f, options)
    return KernelFunction(function, options)


@contextlib.contextmanager
def fresh():
    """Forgets symbols of a kernel that never came to be; for tests and notebooks."""
    token = _implicit.set(None)
    try:
        yield
    finally:
        _implicit.reset(token)
