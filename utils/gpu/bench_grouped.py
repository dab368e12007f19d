#!/usr/bin/env python3
"""Compares a compiled ts grouped GEMM (rows offsets[g] .. offsets[g + 1] - 1 of A meet B[g]^T) with torch.

  python3 utils/gpu/bench_grouped.py .gpu/gemm_sm90_grouped.cubin [--cases 8x4096x4096:8192:even,...] [--rounds 10]

A case is GROUPSxNxK:M:KIND: M rows in all, shared out evenly or skewed (drawn from an exponential
distribution with a fixed seed, some groups empty). The peer is torch's grouped product
(`torch.nn.functional.grouped_mm`, bf16 in and out), and beside it one cuBLAS call for each group that is not
empty. How the time is taken is bench_gemm.py's: see there. Before timing, every element of our result is
compared with a double precision product of its own group, and D's initial values have to be kept where no
group owns the row.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import math
import statistics
import sys

import torch

import bench_gemm
from bench_gemm import CACHE_BYTES, TYPES, graph_of, timed


def group_sizes(groups, rows, kind):
    if kind == "even":
        sizes = [rows // groups] * groups
    else:
        generator = torch.Generator().manual_seed(7)
        weights = torch.empty(groups).exponential_(generator=generator)
        weights[torch.randperm(groups, generator=generator)[: groups // 8]] = 0
        sizes = (weights / weights.sum() * rows).int().tolist()
    sizes[max(range(groups), key=lambda g: sizes[g])] += rows - sum(sizes)
    return sizes


def bench(kernel, text, options):
    shape, rows, kind = text.split(":")
    groups, n, k = (int(x) for x in shape.split("x"))
    m, sizes = int(rows), group_sizes(groups, int(rows), kind)
    offsets = [0]
    for size in sizes:
        offsets.append(offsets[-1] + size)
    out = kernel.outputs()[0]
    dtype, _, bits = TYPES[kernel.args[out]["element"]]
    per_set = 2 * (m * k + groups * n * k) + m * n * (4 if dtype == torch.float32 else 2)
    sets = max(2, min(16, math.ceil(CACHE_BYTES / per_set)))
    begins = torch.tensor(offsets, dtype=torch.int32, device="cuda")
    ends = begins[1:].contiguous()
    grouped = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    ours, theirs, singly = [], [], []
    for i in range(sets):
        generator = torch.Generator("cuda").manual_seed(1 + i)
        a = torch.randn(m, k, device="cuda", generator=generator).bfloat16()
        b = torch.randn(groups, n, k, device="cuda", generator=generator).bfloat16()
        d = torch.zeros(m, n, device="cuda", dtype=dtype)
        peer = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        ours.append(kernel.prepare({"A": a, "B": b, out: d, "offsets": begins}))
        theirs.append(lambda a=a, b=b: grouped(a, b.transpose(1, 2), offs=ends))

        def each(a=a, b=b, peer=peer):
            for g in range(groups):
                if sizes[g]:
                    part = slice(offsets[g], offsets[g + 1])
                    torch.matmul(a[part], b[g].T, out=peer[part])

        singly.append(each)
        if i == 0:
            ours[0]()
            torch.cuda.synchronize()
            wrong = sum(bench_gemm.check(a[offsets[g] : offsets[g + 1]], b[g], d[offsets[g] : offsets[g + 1]], bits)
                        for g in range(groups))
            if wrong:
                print(f"{text}: WRONG, {wrong} of {m * n} elements outside the bound", flush=True)
                return False
    flops = 2.0 * m * n * k
    count = sets * max(1, min(64, round(options.block / (flops / 600e9) / sets)))
    graphs = {name: graph_of([launches[i % sets] for i in range(count)])
              for name, launches in (("ours", ours), ("torch", theirs), ("each", singly))}
    times = {who: [] for who in graphs}
    names = list(graphs)
    for i in range(options.rounds):
        for who in names[i % 3 :] + names[: i % 3]:
            times[who].append(timed(graphs[who], count, options.rest))
    rate = {who: flops / statistics.median(times[who]) * 1e-9 for who in graphs}
    print(f"{text:>26} {rate['ours']:8.1f} {rate['torch']:8.1f} {rate['each']:8.1f} {rate['ours'] / rate['torch']:8.3f}"
          f" {rate['ours'] / rate['each']:8.3f} {min(sizes):6d} {max(sizes):6d} {sets:5d} {count:6d}", flush=True)
    return True


def main():
    parser = bench_gemm.parser_of(__doc__, rounds=9)
    parser.add_argument("--cases", default="8x4096x4096:8192:even,8x4096x4096:8192:skewed,64x2048x4096:8192:skewed,"
                                           "64x2048x4096:32768:skewed,4x8192x2048:16384:even,8x4096x14336:8192:skewed",
                        help="GROUPSxNxK:ROWS:even|skewed, separated by commas")
    options = parser.parse_args()
    kernel, out = bench_gemm.open_kernel(options)
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, {options.kernel}: bf16 x bf16 -> {out}; torch: "
          f"grouped_mm, bf16 -> bf16; each: one cuBLAS call per group; medians of {options.rounds} rounds")
    print(f"{'GROUPSxNxK:ROWS':>26} {'ours':>8} {'torch':>8} {'each':>8} {'/ torch':>8} {'/ each':>8} {'min M':>6} "
          f"{'max M':>6} {'sets':>5} {'block':>6}   (TFLOP/s)")
    good = True
    for text in options.cases.split(","):
        good &= bench(kernel, text, options)
        torch.cuda.empty_cache()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
