# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launching compiled kernels: NumPy arrays in the emulator or copied to a device, CUDA tensors in place.

`launch(kernel, *arrays, **options)` is what calling a kernel does. Options: `scalars` by name,
`device` ('emulator', 'cuda' or None: what the arrays are), `schedule` ('fair', 'random:SEED',
'adversarial:K'), `grid` (only compared with what the manifest works out), `timeout` in seconds, `threads`,
`check_races`, `trace` (a Perfetto file), `sms`. Shapes, dtypes, strides and alignment that do not fit
raise `LaunchError` with what was expected. Not for checking results: that is NumPy's job.
"""
import ctypes
import json
import numbers
import os

import numpy as np

from mlir_ts import _core, display
from mlir_ts.errors import Error, KernelFault, LaunchError, near

__all__ = ["launch", "RunResult"]

#: What NumPy dtypes an element type of a manifest takes. bf16 and fp8 also come as ml_dtypes or as bits.
DTYPES = {
    "f64": ("float64",), "f32": ("float32",), "f16": ("float16",),
    "bf16": ("bfloat16", "uint16"), "f8e4m3": ("float8_e4m3fn", "uint8"), "f8e5m2": ("float8_e5m2", "uint8"),
    "f8e8m0": ("float8_e8m0fnu", "uint8"), "f4e2m1": ("float4_e2m1fn", "uint8"),
    "i64": ("int64",), "i32": ("int32",), "i16": ("int16",), "i8": ("int8",), "i1": ("bool",),
    "ui64": ("uint64",), "ui32": ("uint32",), "ui16": ("uint16",), "ui8": ("uint8",),
}


class RunResult:
    """How a launch in the emulator went: `instructions`, `actors`, `seconds`, `printed`, `warnings`.

    Notebooks show a table, and a timeline of the run if it was told to write a `trace`.
    """

    def __init__(self, told, trace=""):
        self.instructions, self.actors, self.seconds = told["instructions"], told["actors"], told["seconds"]
        self.printed, self.warnings = told["printed"], json.loads(told["warnings"])
        self.warning_text, self.trace = told["warning_text"], trace

    def _repr_html_(self):
        rows = [("instructions", self.instructions), ("warps and engines", self.actors),
                ("seconds", f"{self.seconds:.3f}"), *(("warning", w["message"]) for w in self.warnings)]
        if self.printed:
            rows.append(("printed", self.printed))
        shown = display.table(["emulator", ""], rows)
        if not self.trace:
            return shown
        with open(self.trace) as file:
            return shown + display.timeline(file.read())

    def __repr__(self):
        return f"<RunResult: {self.instructions} instructions in {self.seconds:.2f} s, {len(self.warnings)} warnings>"


class _Array:
    """An array as a launch needs it: address, shape, strides in elements, where it lives."""

    def __init__(self, arg, value):
        name, element = arg["name"], arg["element"]
        self.keep = value
        if isinstance(value, np.ndarray):
            interface = dict(value.__array_interface__, itemsize=value.itemsize)
            self.device = "host"
        elif hasattr(value, "__dlpack__"):
            # Before the older interface: that one has no bf16.
            self.device, interface, self.keep = _dlpack(name, value)
        elif hasattr(value, "__cuda_array_interface__"):
            interface = dict(value.__cuda_array_interface__)
            interface["itemsize"] = int(interface["typestr"][2:])
            self.device = "cuda"
        else:
            raise LaunchError(f"'{name}': a {type(value).__name__} is no array; expected a NumPy array, or anything "
                              "with __cuda_array_interface__ or __dlpack__")
        dtype = interface.get("dtype") or _dtype(value)
        dtype = dtype.removeprefix("torch.").replace("float8_e4m3fnuz", "?")
        if dtype.startswith("void16"):
            dtype = "uint16"
        if dtype not in DTYPES[element]:
            raise LaunchError(f"'{name}': the dtype is {dtype}; the kernel takes {element}, that is NumPy's "
                              f"{' or '.join(DTYPES[element])}")
        shape, size = list(interface["shape"]), interface["itemsize"]
        strides = interface["strides"]
        if strides is None:
            strides, step = [], size
            for dim in reversed(shape):
                strides.insert(0, step)
                step *= dim
        if element == "f4e2m1":
            shape, strides = _unpacked(name, shape, strides)
            size = 1
        if any(stride % size for stride in strides):
            raise LaunchError(f"'{name}': strides of {strides} bytes are no multiples of the {size} bytes of an "
                              "element")
        self.shape, self.strides = shape, [stride // size for stride in strides]
        self.address = interface["data"][0]
        # A host array is copied; only where a view begins in its array counts.
        self.offset = self.address % 1024 if self.device == "cuda" else _offset(value)
        if interface["data"][1] and arg["access"] != "read":
            raise LaunchError(f"'{name}' is read-only, and the kernel writes it")
        if len(shape) != arg["rank"]:
            raise LaunchError(f"'{name}': {len(shape)} dimensions; the kernel takes {arg['rank']}")
        if any(stride < 0 for stride in self.strides):
            raise LaunchError(f"'{name}': negative strides; pass a copy (numpy.ascontiguousarray)")

    @property
    def layout(self):
        return self.shape, self.strides, self.offset


def _dtype(value):
    """The name of an array's dtype; of a tensor that says nothing else, by its array interface."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return np.dtype(value.__cuda_array_interface__["typestr"]).name
    return dtype.name if hasattr(dtype, "name") else str(dtype)


def _offset(array):
    """How many bytes behind a multiple of 1024 the copy of a host array has to begin."""
    base = array
    while isinstance(getattr(base, "base", None), np.ndarray):
        base = base.base
    if base is array or not isinstance(base, np.ndarray):
        return 0
    return (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) % 1024


def _unpacked(name, shape, strides):
    """Two 4-bit elements to a byte: the shape and strides in elements."""
    if not shape or strides[-1] != 1:
        raise LaunchError(f"'{name}': packed 4-bit elements have to be contiguous in the last dimension")
    return shape[:-1] + [2 * shape[-1]], [2 * stride for stride in strides[:-1]] + [1]


class _DLTensor(ctypes.Structure):
    """A tensor as DLPack lays it out (dlpack.h)."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


#: DLPack's type codes and bits -> our names of dtypes; numbers beyond 6 are of DLPack 1.1.
_DLPACK = {(4, 16): "bfloat16", (6, 8): "bool", (10, 8): "float8_e4m3fn", (12, 8): "float8_e5m2",
           (14, 8): "float8_e8m0fnu"}
_DLPACK.update({(code, bits): f"{name}{bits}" for code, name in ((0, "int"), (1, "uint"), (2, "float"))
                for bits in (8, 16, 32, 64)})


def _dlpack(name, value):
    """Device, interface and what keeps it alive, of a tensor of another library."""
    kind, ordinal = value.__dlpack_device__()
    if kind == 1:
        array = np.from_dlpack(value)
        return "host", dict(array.__array_interface__, itemsize=array.itemsize, dtype=array.dtype.name), array
    if kind != 2:
        raise LaunchError(f"'{name}': a tensor on DLPack device type {kind}; expected the host (1) or CUDA (2)")
    if ordinal != 0:
        raise LaunchError(f"'{name}': a tensor on CUDA device {ordinal}; kernels run on the first one")
    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    dtype = _DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise LaunchError(f"'{name}': elements of DLPack type {tensor.code} of {tensor.bits} bits; no kernel takes "
                          "them")
    size = tensor.bits // 8
    strides = tuple(tensor.strides[i] * size for i in range(tensor.ndim)) if tensor.strides else None
    return "cuda", {"shape": tuple(tensor.shape[i] for i in range(tensor.ndim)), "strides": strides, "itemsize": size,
                    "dtype": dtype, "data": ((tensor.data or 0) + tensor.byte_offset, False)}, capsule


def _scalar(name, value):
    if not isinstance(value, (bool, np.bool_, int, np.integer, float, np.floating)):
        raise LaunchError(f"'{name}': a {type(value).__name__} is no number")
    return str(int(value)) if isinstance(value, (bool, np.bool_, int, np.integer)) else repr(float(value))


def _schedule(text):
    kind, _, number = text.partition(":") if isinstance(text, str) else ("", "", "")
    if kind not in ("fair", "random", "adversarial") or (number and not number.isdigit()):
        raise LaunchError(f"schedule '{text}': expected 'fair', 'random:SEED' or 'adversarial:K'")
    return kind, int(number or 0)


def _number(name, value, least, most, kind=numbers.Integral):
    """An option that is a number."""
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:
        what = "a whole number" if kind is numbers.Integral else "a number"
        raise LaunchError(f"{name}={value!r}: expected {what} from {least} to {most}")
    return int(value) if kind is numbers.Integral else float(value)


def launch(kernel, *arrays, scalars=None, device=None, schedule="fair", timeout=0, threads=0, check_races=True,
           trace="", sms=None, grid=None, **named):
    """Runs a compiled kernel on arrays; see the module. Returns a `RunResult` from the emulator, else None."""
    manifest = kernel.manifest
    names = kernel.names
    if not kernel._name and len(names) > 1:
        raise LaunchError(f"the program has {len(names)} kernels; choose one: kernel['{names[0]}'](...)")
    entry = next(k for k in manifest["kernels"] if k["name"] == (kernel._name or names[0]))
    wanted = [arg for arg in entry["args"] if arg["kind"] != "scalar"]
    free = [arg["name"] for arg in entry["args"] if arg["kind"] == "scalar" and "value" not in arg]
    scalars = dict(scalars or {})
    for name in [name for name in named if name in free]:
        scalars[name] = named.pop(name)
    given = dict(zip((arg["name"] for arg in wanted), arrays))
    if len(arrays) > len(wanted):
        raise LaunchError(f"{len(arrays)} arrays; '{entry['name']}' takes {len(wanted)}: "
                          f"{', '.join(arg['name'] for arg in wanted)}")
    for name, value in named.items():
        if name in given or name not in [arg["name"] for arg in wanted]:
            known = [arg["name"] for arg in entry["args"] if "value" not in arg]
            raise LaunchError(f"'{name}' of '{entry['name']}' is given twice" if name in given else
                              f"'{entry['name']}' has no argument '{name}'" + near(name, known, "; its arguments are "))
        given[name] = value
    missing = [arg["name"] for arg in wanted if arg["name"] not in given] + [n for n in free if n not in scalars]
    if missing:
        raise LaunchError(f"'{entry['name']}' also wants {', '.join(missing)}")
    held = {}
    for arg in wanted:
        value = given[arg["name"]]
        held[arg["name"]] = _Array(arg, value)
    places = {array.device for array in held.values()}
    if len(places) > 1:
        raise LaunchError("some arrays are on the host and some on a CUDA device: " +
                          ", ".join(f"{name} on the {a.device}" for name, a in held.items()))
    if device is None:
        device = "cuda" if places == {"cuda"} else "emulator"
    if device == "emulator" and places == {"cuda"}:
        raise LaunchError("the emulator takes arrays on the host; pass tensor.cpu().numpy()")
    if sms is None:
        sms = _core._cuda_device()["sms"] if device == "cuda" else 132
    sms, threads = _number("sms", sms, 1, 65535), _number("threads", threads, 0, 4096)
    timeout = _number("timeout", timeout, 0, 1e9, numbers.Real)
    if not isinstance(trace, (str, os.PathLike)):
        raise LaunchError(f"trace={trace!r}: expected the name of a file")
    plan = _plan(kernel, entry, held, scalars, sms)
    grid = (grid,) if isinstance(grid, numbers.Integral) else grid
    if grid is not None and list(plan.grid) != [*grid, *[1] * (3 - len(grid))]:
        raise LaunchError(f"grid {tuple(grid)}: '{entry['name']}' runs on {tuple(plan.grid)} for these arrays")
    addresses = {name: array.address for name, array in held.items()}
    if device == "cuda":
        image = kernel.ptx.encode() if kernel._cubin is None else kernel._cubin
        if places == {"cuda"}:
            if kernel._image is None:
                kernel._image = _core.CudaImage(image, kernel.arch)
            if not kernel._image._run(plan, addresses, timeout):
                raise Error(f"'{entry['name']}' did not end in time; the device is unusable until this process ends")
        else:
            _core._run_on_cuda(plan, image, addresses, timeout)
        return None
    if device != "emulator":
        raise LaunchError(f"device '{device}': expected 'emulator' or 'cuda'")
    kind, number = _schedule(schedule)
    told = _core._emulate(plan, kernel.ptx, addresses, kind, number, threads, timeout, bool(check_races),
                          os.fspath(trace), sms)
    if told["faults"] != "[]":
        raise KernelFault(told["fault_text"].strip(), json.loads(told["faults"]))
    if told["stopped"]:
        raise Error(f"'{entry['name']}': {told['stopped']}")
    return RunResult(told, trace)


def _plan(kernel, entry, held, scalars, sms):
    try:
        return _core._plan(kernel._compiled.manifest, entry["name"], {n: a.layout for n, a in held.items()},
                           {n: _scalar(n, v) for n, v in scalars.items()}, sms)
    except Error as error:
        raise LaunchError(str(error)) from None
