#!/usr/bin/env python3
"""Compares the compiled attention kernels of examples/attention_sm90.mlir with torch's SDPA.

  python3 utils/gpu/bench_attention.py .gpu/attention_sm90.cubin [--shapes 64x4096,16x16384,256x1024] [--rounds 6]

A shape is heads of all batches x tokens. The way of measuring is that of bench_gemm.py: both in this process, on the
same random inputs, in alternating order, medians over the rounds. The peers are what torch offers: cuDNN and
FlashAttention. Before timing, our result is compared with softmax(scale Q K^T) V in f32, to 2^-7 of the largest
value: a rough check; ts-run has the strict one. TFLOP/s count 4 x heads x tokens^2 x D, half of it if causal.

Needs torch and the CUDA driver only; the launch comes from the manifest beside the kernel.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import argparse
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from bench_gemm import Kernel, graph_of, timed

PEERS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


def right(q, k, v, o, causal, scale):
    """Head by head, so that the matrix of scores stays small."""
    for head in {0, q.shape[0] - 1}:
        scores = scale * (q[head].float() @ k[head].float().T)
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
        reference = torch.softmax(scores, -1) @ v[head].float()
        if not bool(((o[head].float() - reference).abs().max() <= reference.abs().max() * 2**-7).item()):
            return False
    return True


def bench(options, heads, tokens, depth, causal):
    kernel = Kernel(options.kernel, options.manifest, f"attention_d{depth}")
    scale = depth**-0.5
    kernel.scalars = {"scale": scale, "causal": int(causal)}
    q, k, v = (torch.randn(heads, tokens, depth, device="cuda").bfloat16() for _ in range(3))
    o = torch.full_like(q, float("nan"))
    ours = kernel.prepare({"Q": q, "K": k, "V": v, "O": o})
    ours()
    torch.cuda.synchronize()
    name = f"{heads}x{tokens}x{depth} {'causal' if causal else 'full'}"
    if not right(q, k, v, o, causal, scale):
        print(f"{name}: WRONG", flush=True)
        return False
    flops = 4.0 * heads * tokens * tokens * depth * (0.5 if causal else 1)
    count = max(1, min(64, round(options.block / (flops / 500e9))))
    graphs = {"ours": graph_of([ours] * count)}
    batch = [x.unsqueeze(0) for x in (q, k, v)]
    for peer, backend in PEERS.items():
        def launch(backend=backend):
            with sdpa_kernel(backend):
                torch.nn.functional.scaled_dot_product_attention(*batch, is_causal=causal)
        try:
            graphs[peer] = graph_of([launch] * count)
        except RuntimeError as error:
            print(f"note: {peer}: {str(error).splitlines()[0]}")
    times = {who: [] for who in graphs}
    for i in range(options.rounds):
        for who in list(graphs) if i % 2 == 0 else reversed(list(graphs)):
            times[who].append(timed(graphs[who], count, options.rest))
    rates = {who: flops / statistics.median(values) * 1e-9 for who, values in times.items()}
    best = max((rate for who, rate in rates.items() if who != "ours"), default=float("nan"))
    print(f"{name:>24}" + "".join(f" {rates.get(who, float('nan')):8.1f}" for who in ["ours", *PEERS])
          + f" {rates['ours'] / best:7.3f}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernel", help=".cubin or .ptx; its manifest stands beside it")
    parser.add_argument("--manifest")
    parser.add_argument("--shapes", default="64x4096,16x16384,256x1024")
    parser.add_argument("--depths", default="128,64")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--rest", type=float, default=0.2, help="seconds before each block: the card is power-limited")
    parser.add_argument("--block", type=float, default=15, help="milliseconds of launches per block")
    options = parser.parse_args()
    torch.zeros(1, device="cuda")  # makes the context that the kernel is loaded into
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}; medians of {options.rounds} rounds, TFLOP/s")
    print(f"{'heads x tokens x D':>24}" + "".join(f" {who:>8}" for who in ["ours", *PEERS]) + "   ratio to the better")
    good = True
    for depth in options.depths.split(","):
        for text in options.shapes.split(","):
            heads, tokens = (int(x) for x in text.split("x"))
            for causal in (False, True):
                good &= bench(options, heads, tokens, int(depth), causal)
                torch.cuda.empty_cache()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
