"""Launches and references of the CUDA C++ kernels."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np

from check import E4M3, UE8M0, Array, Check, Launch, array, encode, integers, normal, output, tensor_map

SMEM = 80 << 10


def gemm(name, kind, m, n, k, box_b, grid, cluster=(1, 1, 1)):
    a, b, c = array(kind, integers((m, k), 21)), array(kind, integers((n, k), 22)), output("f32", (m, n))
    params = [tensor_map(a, m, k, 128, 64, kind, 128), tensor_map(b, n, k, box_b, 64, kind, 128), c, {"i32": n}, {"i32": k // 64}]
    file = "gemm_pair" if name == "gemm_pair" else "gemm"
    return Check("nvcc_" + name, Launch(f"cuda/{file}.ptx", name, grid, [192], params, SMEM, cluster), {2: (a.values @ b.values.T, 0)})


def scaled(name, kind, group, k):
    a, b = array(kind, integers((128, k), 23)), array(kind, integers((128, k), 24))
    rng, shape = np.random.default_rng(25), (2, 128, k // group)
    if group == 32:
        codes = rng.integers(125, 130, shape).astype(np.uint8)
        values = UE8M0[codes]
    else:
        codes = encode(rng.choice([0.5, 1.0, 1.5, 2.0, 3.0], shape), E4M3)
        values = E4M3[codes]
    sa, sb = Array("u8", codes[0]), Array("u8", codes[1])
    wanted = (a.values * np.repeat(values[0], group, 1)) @ (b.values * np.repeat(values[1], group, 1)).T
    return Check("nvcc_" + name, Launch("cuda/gemm_scaled.ptx", name, (1,), [128], [a, b, sa, sb, output("f32", (128, 128)), {"i32": k}], SMEM),
                 {4: (wanted, 0)})


def attention():
    q, k, v = (array("bf16", normal(shape, seed)) for shape, seed in (((256, 64), 26), ((64, 64), 27), ((64, 64), 28)))
    s = q.values @ k.values.T / 8
    p = np.exp(s - s.max(1, keepdims=True))
    total = p.sum(1, keepdims=True)
    # P is rounded to bf16: each of its entries, at most 1, errs by 2^-9 of itself.
    bound = 2.0 ** -8 * (p @ np.abs(v.values)) / total + 1e-5
    params = [q, k, v, output("f32", (256, 64)), {"f32": float(np.float32(np.log2(np.e) / 8))}]
    return Check("nvcc_attention", Launch("cuda/attention.ptx", "attention_tile", (2,), [128], params, SMEM), {3: (p @ v.values / total, bound)})


def rows():
    x = array("f32", integers((5, 1000), 29, 1000))
    y = Array("f32", np.zeros((2, 5), np.uint32), output=True)
    total = Check("nvcc_row_sum", Launch("cuda/rows.ptx", "row_sum", (10,), [128], [x, y, {"i32": 1000}], 0, (2, 1, 1)),
                  {1: (np.stack([x.values.sum(1), x.values.max(1)]), 0)})
    z = array("f32", 3 * normal((4, 300), 30))
    e = np.exp(z.values - z.values.max(1, keepdims=True))
    wanted = e / e.sum(1, keepdims=True)
    softmax = Check("nvcc_softmax", Launch("cuda/rows.ptx", "row_softmax", (4,), [128], [z, output("f32", (4, 300)), {"i32": 300}]),
                    {1: (wanted, wanted * 2.0 ** -17)})
    w = array("f32", integers((40, 64), 31, 100))
    stolen = Check("nvcc_clc", Launch("cuda/rows.ptx", "stolen_tiles", (40,), [64], [w, output("f32", (40, 64))]), {1: (2 * w.values + 1, 0)})
    return [total, softmax, stolen]


def checks():
    return [gemm("gemm_bf16", "bf16", 256, 128, 256, 64, (2, 2)), gemm("gemm_pair", "f16", 512, 128, 192, 64, (4,), (2, 1, 1)),
            scaled("gemm_mxf8", "e4m3", 32, 384), scaled("gemm_nvf4", "e2m1", 16, 512), attention()] + rows()
