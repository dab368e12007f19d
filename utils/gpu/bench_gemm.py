#!/usr/bin/env python3
"""Compares a compiled ts GEMM (D = A B^T, A [M, K], B [N, K], bf16) with cuBLAS through torch.

  python3 utils/gpu/bench_gemm.py .gpu/gemm_sm90.cubin [--shapes 8192x8192x8192,4096x4096x4096] [--rounds 10]

Both run in this process, on the same random normal inputs, rotated among several sets so that no launch
finds its inputs in the cache. Each round times a block of launches of one and then of the other, after a
rest each, and the order alternates from round to round; figures are medians over the rounds. Launches are
captured into CUDA graphs, so neither side pays for Python. A kernel that adds to D gets it cleared before each
launch, which counts. Before timing, every element of our result is
compared with a double precision product (the bound is the one of include/ts/Runtime/Tolerance.h).

Needs torch and the CUDA driver only; the launch comes from the manifest beside the kernel.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import argparse
import ctypes
import json
import math
import os
import statistics
import sys
import time

import torch

CACHE_BYTES = 256 << 20  # what the input sets have to exceed together; the L2 of an H200 is 60 MiB
TYPES = {"bf16": (torch.bfloat16, 9, 8), "f16": (torch.float16, 6, 11), "f32": (torch.float32, 7, 24)}


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("smem", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


class Kernel:
    """One kernel of a manifest, loaded into torch's context."""

    def __init__(self, path, manifest, name):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        kernels = json.load(open(manifest or os.path.splitext(path)[0] + ".json"))["kernels"]
        self.spec = next((k for k in kernels if name in (None, k["name"])), None)
        if self.spec is None:
            sys.exit(f"error: the manifest has no kernel '{name}'")
        self.args = {a["name"]: a for a in self.spec["args"]}
        self.scalars = {}  # those that the caller gives
        image = open(path, "rb").read() + b"\0"
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(self.function), module, self.spec["name"].encode())
        smem = self.spec.get("dynamic_smem", 0)
        if smem:
            self.call("cuFuncSetAttribute", self.function, 8, smem)

    def call(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            sys.exit(f"error: {name}: {text.value.decode() if text.value else code}")

    def outputs(self):
        return [n for n, a in self.args.items() if a["kind"] != "scalar" and a["access"] != "read"]

    def evaluate(self, text, tensors):
        """Launch expressions are Python expressions once their functions and names are defined."""
        names = {"ceildiv": lambda a, b: -(-a // b), "div": lambda a, b: a // b, "mod": lambda a, b: a % b,
                 "min": min, "max": max, "dim": lambda n, i: tensors[n].shape[i],
                 "stride": lambda n, i: tensors[n].stride(i),
                 "sms": lambda: torch.cuda.get_device_properties(0).multi_processor_count}

        class Scope(dict):
            def __missing__(scope, key):
                if key in self.scalars:
                    return self.scalars[key]
                arg = self.args[key]
                return key if arg["kind"] != "scalar" else self.evaluate(arg["value"], tensors)

        return eval(text, {"__builtins__": {}}, Scope(names))

    def prepare(self, tensors):
        """A function that launches on torch's current stream."""
        keep = []
        for param in self.spec["params"]:
            if param["kind"] == "value":
                kind = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "index": ctypes.c_int64,
                        "f32": ctypes.c_float}[param["type"]]
                keep.append(kind(self.evaluate(param["value"], tensors)))
            elif param["kind"] == "pointer":
                keep.append(ctypes.c_uint64(tensors[param["arg"]].data_ptr()))
            else:
                keep.append(self.tensor_map(self.args[param["arg"]], tensors[param["arg"]]))
        pointers = (ctypes.c_void_p * len(keep))(*[ctypes.cast(ctypes.byref(k), ctypes.c_void_p) for k in keep])
        attributes = (Attribute * 2)()
        count = 0
        cluster = self.spec.get("cluster", [1, 1, 1])
        if math.prod(cluster) > 1:
            attributes[count].id = 4
            attributes[count].value[:3] = cluster
            count += 1
        if self.spec.get("pdl"):
            attributes[count].id = 6
            attributes[count].value[0] = 1
            count += 1
        grid = [self.evaluate(g, tensors) for g in self.spec["grid"]]
        config = Config((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*self.spec["block"]),
                        self.spec.get("dynamic_smem", 0), None, attributes, count)

        def launch():
            config.stream = torch.cuda.current_stream().cuda_stream
            self.call("cuLaunchKernelEx", ctypes.byref(config), self.function, pointers, None)

        launch.keep = (keep, tensors, attributes)
        return launch

    def tensor_map(self, arg, tensor):
        storage = (ctypes.c_uint8 * 192)()
        offset = -ctypes.addressof(storage) % 64  # the driver wants the map aligned
        map_ = (ctypes.c_uint8 * 128).from_buffer(storage, offset)
        rank, size = tensor.dim(), tensor.element_size()

        def reverse(kind, values):
            return (kind * rank)(*reversed(list(values)))

        def code(value, first):
            return 0 if value < first else int(math.log2(value // first)) + 1

        self.call("cuTensorMapEncodeTiled", map_, TYPES[arg["element"]][1], rank, ctypes.c_void_p(tensor.data_ptr()),
                  reverse(ctypes.c_uint64, tensor.shape),
                  (ctypes.c_uint64 * rank)(*[s * size for s in reversed(tensor.stride()[:-1])]),
                  reverse(ctypes.c_uint32, arg["box"]),
                  reverse(ctypes.c_uint32, arg.get("element_strides", [1] * rank)),
                  code(arg.get("interleave", 0), 16), code(arg.get("swizzle", 0), 32),
                  code(arg.get("l2_promotion", 0), 64), int(arg.get("fill") == "nan"))
        return map_


def check(a, b, d, bits):
    """The number of elements outside the bound; works through D in rows so that memory stays small."""
    wrong, right = 0, b.double().T
    for begin in range(0, a.shape[0], 1024):
        rows = a[begin : begin + 1024].double()
        reference = rows @ right
        bound = 2 * math.sqrt(a.shape[1]) * 2.0**-24 * (rows.abs() @ right.abs())
        exponent = torch.frexp(reference.abs() + bound)[1].double()
        allowed = bound + torch.exp2(exponent - bits - 1)
        error = (d[begin : begin + 1024].double() - reference).abs()
        wrong += int((~(error <= allowed)).sum())  # NaN counts as wrong
    return wrong


def graph_of(launches):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for launch in launches:
            launch()  # whatever is loaded or allocated lazily, before capturing
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for launch in launches:
            launch()
    return graph


def timed(graph, count, rest):
    """Milliseconds of one launch: a rest, a warm-up, one timed replay."""
    torch.cuda.synchronize()
    time.sleep(rest)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / count


def bench(kernel, shape, options):
    m, n, k = shape
    out = kernel.outputs()[0]
    dtype, _, bits = TYPES[kernel.args[out]["element"]]
    per_set = 2 * (m * k + n * k) + m * n * (4 if dtype == torch.float32 else 2)
    sets, ours, theirs = max(2, min(16, math.ceil(CACHE_BYTES / per_set))), [], []
    for i in range(sets):
        generator = torch.Generator("cuda").manual_seed(1 + i)
        a = torch.randn(m, k, device="cuda", generator=generator).bfloat16()
        b = torch.randn(n, k, device="cuda", generator=generator).bfloat16()
        d = torch.empty(m, n, device="cuda", dtype=dtype)
        peer = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        launch = kernel.prepare({"A": a, "B": b, out: d})
        ours.append(launch if kernel.args[out]["access"] == "write" else
                    lambda launch=launch, d=d: (d.zero_(), launch()))
        theirs.append(lambda a=a, b=b, peer=peer: torch.matmul(a, b.T, out=peer))
        if i == 0:
            d.view(torch.uint8).fill_(0xFF)
            ours[0]()
            torch.cuda.synchronize()
            wrong = check(a, b, d, bits)
            if wrong:
                print(f"{m}x{n}x{k}: WRONG, {wrong} of {m * n} elements outside the bound", flush=True)
                return False
    flops = 2.0 * m * n * k
    # Blocks of about `block` milliseconds at 600 TFLOP/s, each input set equally often.
    count = sets * max(1, min(64, round(options.block / (flops / 600e9) / sets)))
    graphs = {"ours": graph_of([ours[i % sets] for i in range(count)]),
              "cublas": graph_of([theirs[i % sets] for i in range(count)])}
    times = {(who, place): [] for who in graphs for place in (0, 1)}
    for i in range(options.rounds):
        order = ("ours", "cublas") if i % 2 == 0 else ("cublas", "ours")
        for place, who in enumerate(order):
            times[who, place].append(timed(graphs[who], count, options.rest))

    def rate(values):
        return flops / statistics.median(values) * 1e-9

    both = {who: rate(times[who, 0] + times[who, 1]) for who in graphs}
    ratios = [rate(times["ours", p]) / rate(times["cublas", 1 - p]) for p in (0, 1)]
    name = f"{m}x{n}x{k}"
    print(f"{name:>20} {both['ours']:8.1f} {both['cublas']:8.1f} {both['ours'] / both['cublas']:7.3f}"
          f" {ratios[0]:10.3f} {ratios[1]:10.3f} {sets:5d} {count:6d}", flush=True)
    return True


def parser_of(description, rounds):
    """What every comparison of a kernel with torch lets choose."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("kernel", help=".cubin or .ptx; its manifest stands beside it")
    parser.add_argument("--manifest")
    parser.add_argument("--name", help="the kernel, if the manifest has several")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--rest", type=float, default=0.2, help="seconds before each block: the card is power-limited")
    parser.add_argument("--block", type=float, default=15, help="milliseconds of launches per block")
    return parser


def open_kernel(options):
    """The kernel in torch's context, which is made here, and the element type of its output."""
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.zeros(1, device="cuda")
    kernel = Kernel(options.kernel, options.manifest, options.name)
    return kernel, kernel.args[kernel.outputs()[0]]["element"]


def main():
    parser = parser_of(__doc__, rounds=10)
    parser.add_argument("--shapes", default="8192x8192x8192,4096x4096x4096,2048x2048x2048,16384x4096x4096,"
                        "8192x8192x512,4096x11008x4096", help="MxNxK, separated by commas")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("--rounds has to be 2 or more: one for each order")
    kernel, out = open_kernel(options)
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, {options.kernel}: bf16 x bf16 -> {out}, "
          f"cuBLAS: bf16 x bf16 -> bf16; medians of {options.rounds} rounds, both orders")
    print(f"{'M x N x K':>20} {'ours':>8} {'cuBLAS':>8} {'ratio':>7} {'ours 1st':>10} {'ours 2nd':>10} {'sets':>5} "
          f"{'block':>6}   (TFLOP/s)")
    good = True
    for text in options.shapes.split(","):
        good &= bench(kernel, tuple(int(x) for x in text.split("x")), options)
        torch.cuda.empty_cache()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
