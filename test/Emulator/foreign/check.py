#!/usr/bin/env python3
"""PTX for sm_100a from other compilers, run by the emulator and checked against NumPy.

  check.py [--run build/bin/ts-ptx-run] [--schedule random:3] [--forms FILE] [--keep FOLDER] [--no-races] [NAME ...]

The PTX comes from Triton (triton/, made by compile.py from kernels.py) and from nvcc (cuda/, made by
../cuda/build.py). Those compilers' encodings of descriptors and layouts work on hardware, so right numbers
here say that the emulator reads them as the hardware does. Where the inputs are small integers the
result has to be exact; elsewhere the bound stands beside the reference.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from formats import E2M1, E4M3, UE8M0, encode, from_bf16, to_bf16, to_tf32  # noqa: F401 (for the tables)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(HERE + "/../../..")
TYPES = {"bf16": "u16", "f16": "f16", "f32": "f32", "e4m3": "u8", "u8": "u8", "u32": "u32"}


class Array:
    """Host data of a kernel argument: the bytes, and the values they stand for."""

    def __init__(self, kind, data, values=None, output=False):
        self.kind, self.data, self.output = kind, np.ascontiguousarray(data), output
        self.values = data if values is None else values


def integers(shape, seed, top=3):
    return np.random.default_rng(seed).integers(-top, top + 1, shape).astype(np.float64)


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


def array(kind, values):
    if kind == "bf16":
        words = to_bf16(values)
        return Array(kind, words, from_bf16(words).astype(np.float64))
    if kind == "f16":
        half = values.astype(np.float16)
        return Array(kind, half, half.astype(np.float64))
    if kind == "e4m3":
        codes = encode(values, E4M3)
        return Array(kind, codes, E4M3[codes])
    if kind == "e2m1": # two a byte, the even one in the low half
        codes = encode(values, E2M1)
        return Array("u8", codes[..., 0::2] | codes[..., 1::2] << 4, E2M1[codes])
    single = values.astype(np.float32)
    return Array(kind, single, single.astype(np.float64))


def output(kind, shape):
    size = {"f32": np.uint32, "bf16": np.uint16}[kind]
    return Array(kind, np.full(shape, 0xCDCDCDCD & np.iinfo(size).max, size), output=True)


class Launch:
    def __init__(self, ptx, entry, grid, block, params, smem=0, cluster=(1, 1, 1)):
        self.ptx, self.entry, self.grid, self.block = ptx, entry, list(grid), list(block)
        self.params, self.smem, self.cluster = params, smem, list(cluster)


class Check:
    """A launch with what its outputs should be: {parameter index: (values, bound)}."""

    def __init__(self, name, launch, expected):
        self.name, self.launch, self.expected = name, launch, expected


def tensor_map(array_, rows, columns, box_rows, box_columns, kind, swizzle):
    size = {"bf16": 2, "f16": 2, "f32": 4, "u8": 1}[kind]
    return {"map": array_, "type": kind, "sizes": [columns, rows], "strides": [columns * size], "box": [box_columns, box_rows],
            "swizzle": swizzle, "l2": 128}


def run(check, options):
    launch = check.launch
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        buffers, params, names = {}, [], {}

        def name_of(data):
            if id(data) not in names:
                name = names[id(data)] = f"{check.name}.b{len(names)}"
                data.data.tofile(os.path.join(folder, name + ".in"))
                buffers[name] = {"type": TYPES.get(data.kind, "u8"), "count": int(data.data.size), "init": f"file:{name}.in"}
                if data.output:
                    buffers[name]["compare"] = "bound"
            return names[id(data)]

        for param in launch.params:
            if isinstance(param, Array):
                params.append(name_of(param))
            elif "map" in param:
                params.append(dict(param, map=name_of(param["map"])))
            else:
                params.append(param)
        case = {"name": "c", "entry": launch.entry, "grid": launch.grid, "block": launch.block, "cluster": launch.cluster,
                "dynamic_smem": launch.smem, "buffers": buffers, "params": params}
        file = os.path.join(folder, check.name + ".json")
        with open(file, "w") as out:
            json.dump({"cases": [case]}, out)
        command = [options.run, launch.ptx, file, "--out", folder, "--schedule", options.schedule]
        if options.no_races:
            command.append("--no-races")
        if options.forms:
            command += ["--forms", os.path.abspath(options.forms)]
        start = time.time()
        try:
            done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return "does not end", options.timeout
        seconds = time.time() - start
        if done.returncode:
            return done.stderr.strip(), seconds
        problems = []
        for index, (wanted, bound) in check.expected.items():
            data = launch.params[index]
            data = data["map"] if isinstance(data, dict) else data
            found = np.fromfile(os.path.join(folder, f"c.{names[id(data)]}.bin"), data.data.dtype)
            found = from_bf16(found) if data.kind == "bf16" else found.view(np.float32)
            found = found.astype(np.float64).reshape(wanted.shape)
            wrong = ~(np.abs(found - wanted) <= bound)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                problems.append(f"parameter {index}: {int(wrong.sum())} of {wanted.size} wrong; at {at} expected {wanted[at]}, found {found[at]}"
                                + (f" (bound {np.broadcast_to(bound, wanted.shape)[at]:.3g})" if np.any(bound) else ""))
        return "; ".join(problems), seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", default=os.path.join(ROOT, "build/bin/ts-ptx-run"))
    parser.add_argument("--schedule", default="fair")
    parser.add_argument("--forms")
    parser.add_argument("--no-races", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    import nvcc_checks
    import triton_checks

    passed = failed = 0
    for check in triton_checks.checks() + nvcc_checks.checks():
        if options.names and not any(check.name.startswith(name) for name in options.names):
            continue
        problem, seconds = run(check, options)
        failed += bool(problem)
        passed += not problem
        print(f"{check.name}: {'ok' if not problem else 'FAILED: ' + problem} ({seconds:.2f} s)", flush=True)
    print(f"{passed} right, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    sys.modules["check"] = sys.modules["__main__"]
    sys.exit(main())
