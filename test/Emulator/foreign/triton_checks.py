"""Launches and references of the Triton kernels. A kernel's parameters: those of the function in order,
without the constants; a descriptor is the map, its sizes (i32) and its strides (i64); then two pointers to
scratch memory that these kernels do not use."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

import numpy as np

from check import E4M3, UE8M0, Array, Check, Launch, array, encode, integers, normal, output, tensor_map, to_tf32

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triton")
SCRATCH = [{"u64": 0}, {"u64": 0}]


def launch(name, grid, params):
    with open(os.path.join(FOLDER, name + ".meta.json")) as file:
        facts = json.load(file)
    return Launch(f"triton/{name}.ptx", facts["entry"], grid, [facts["threads"]], params + SCRATCH, facts["shared"])


def descriptor(data, rows, columns, box_rows, box_columns):
    return [tensor_map(data, rows, columns, box_rows, box_columns, "bf16", 128), {"i32": rows}, {"i32": columns}, {"i64": columns}, {"i64": 1}]


def products(a, b, eps):
    """A bound on the error of a sum of products that is rounded at each step."""
    return np.abs(a) @ np.abs(b) * eps


def gemm(name, kind, m, n, k, tile, exact):
    a, b = ((integers if exact else normal)(shape, seed) for shape, seed in (((m, k), 1), ((k, n), 2)))
    a, b, c = array(kind, a), array(kind, b), output("f32", (m, n))
    x, y = a.values, b.values
    if kind == "f32":
        x, y = (to_tf32(v.astype(np.float32)).astype(np.float64) for v in (x, y))
    params = [a, b, c, {"i32": k}, {"i32": k}, {"i32": n}, {"i32": n}]
    bound = 0 if exact else products(x, y, k * 2.0 ** -23)
    return Check(name + ("" if exact else "_normal"), launch(name, (m // tile[0], n // tile[1]), params), {2: (x @ y, bound)})


def persistent(name, grid, exact=True, m=256, n=192, k=192):
    a, b = ((integers if exact else normal)(shape, seed) for shape, seed in (((m, k), 3), ((n, k), 4)))
    a, b, c = array("bf16", a), array("bf16", b), output("bf16", (m, n))
    params = descriptor(a, m, k, 128, 64) + descriptor(b, n, k, 64, 64) + descriptor(c, m, n, 128, 64)
    params += [{"i32": k}] if name == "gemm_ws" else [{"i32": m}, {"i32": n}, {"i32": k}]
    wanted = a.values @ b.values.T
    bound = np.abs(wanted) * 2.0 ** -8 + (0 if exact else products(a.values, b.values.T, k * 2.0 ** -23))
    return Check(name + ("" if exact else "_normal"), launch(name, grid, params), {10: (wanted, bound)})


def attention(heads=2, n=256, d=64):
    q, k, v = (array("bf16", normal((heads, n, d), seed)) for seed in (5, 6, 7))
    o = output("f32", (heads, n, d))
    scale = 1 / np.sqrt(d)
    s = q.values @ k.values.transpose(0, 2, 1) * scale
    p = np.exp(s - s.max(-1, keepdims=True))
    wanted = p @ v.values / p.sum(-1, keepdims=True)
    # P is rounded to bf16: each of its entries, at most 1, errs by 2^-9 of itself.
    bound = 2.0 ** -8 * (p @ np.abs(v.values)) / p.sum(-1, keepdims=True) + 1e-5
    params = [q, k, v, o, {"f32": float(np.float32(scale * np.log2(np.e)))}, {"i32": n}, {"i32": d}]
    return Check("attention", launch("attention", (n // 128, heads), params), {3: (wanted, bound)})


def scaled(name, kind, group, scale_kind, m=256, n=256, k=256):
    a, b = array(kind, integers((m, k), 8)), array(kind, integers((n, k), 9))
    rng = np.random.default_rng(10)

    def scales(rows):
        shape = (rows, k // group)
        if scale_kind == "ue8m0":
            codes = rng.integers(125, 130, shape).astype(np.uint8)
            return Array("u8", codes, UE8M0[codes])
        codes = encode(rng.choice([0.5, 1.0, 1.5, 2.0, 3.0], shape), E4M3)
        return Array("u8", codes, E4M3[codes])

    sa, sb, c = scales(m), scales(n), output("f32", (m, n))
    wanted = (a.values * np.repeat(sa.values, group, 1)) @ (b.values * np.repeat(sb.values, group, 1)).T
    return Check(name, launch(name, (m // 128, n // 128), [a, b, sa, sb, c, {"i32": k}]), {4: (wanted, 0)})


def reduction(rows=6, n=1000):
    x, out = array("f32", normal((rows, n), 11)), output("f32", (3, rows))
    wanted = np.stack([x.values.sum(1), x.values.max(1), x.values.argmax(1)])
    bound = np.zeros((3, rows))
    bound[0] = np.abs(x.values).sum(1) * 12 * 2.0 ** -24
    return Check("reduction", launch("reduction", (rows,), [x, out, {"i32": n}]), {1: (wanted, bound)})


def softmax(rows=4, n=500):
    x, out = array("f32", 3 * normal((rows, n), 12)), output("f32", (rows, n))
    e = np.exp(x.values - x.values.max(1, keepdims=True))
    wanted = e / e.sum(1, keepdims=True)
    # The argument of ex2.approx errs by a few units in the last place of numbers up to 32.
    return Check("softmax", launch("softmax", (rows,), [x, out, {"i32": n}]), {1: (wanted, wanted * 2.0 ** -17)})


def checks():
    return [
        gemm("gemm", "bf16", 256, 128, 192, (128, 64), True), gemm("gemm", "bf16", 128, 64, 256, (128, 64), False),
        gemm("gemm_f16_256", "f16", 128, 256, 96, (128, 128), True), gemm("gemm_tf32", "f32", 128, 128, 96, (128, 64), True),
        gemm("gemm_tf32", "f32", 128, 64, 64, (128, 64), False), gemm("gemm_fp8", "e4m3", 128, 128, 256, (128, 64), True),
        persistent("gemm_persistent", (4,)), persistent("gemm_persistent_ws", (4,)),
        persistent("gemm_ws", (2, 3)), persistent("gemm_ws", (1, 1), False, 128, 64, 256),
        attention(), scaled("gemm_mxf8", "e4m3", 32, "ue8m0"), scaled("gemm_mxf4", "e2m1", 32, "ue8m0"),
        scaled("gemm_nvf4", "e2m1", 16, "e4m3"), reduction(), softmax(),
    ]
