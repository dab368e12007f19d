# Triton kernels that the emulator runs as they come from Triton's compiler for sm_100a: the PTX
# beside this file is compile.py's output. Not tuned: small, and each uses one more part of Blackwell.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import triton
import triton.language as tl


@triton.jit
def gemm(a, b, c, K, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a @ b, pointers and masks nowhere: tl.dot becomes tcgen05.mma fed by cp.async."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * stride_am + rk[None, :]
    pb = b + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * stride_bk
    tl.store(c + rm[:, None] * stride_cm + rn[None, :], acc)


@triton.jit
def gemm_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    """c = a @ b.T over host-made tensor descriptors; each program walks over tiles."""
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=True, warp_specialize=WS):
        m = (tile // tiles_n) * BM
        n = (tile % tiles_n) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
        c.store([m, n], acc.to(tl.bfloat16))


@triton.jit
def gemm_ws(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a @ b.T with the loop split over specialised warps: loads, products, epilogue."""
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(tl.bfloat16))


@triton.jit
def attention(q, k, v, o, scale, n, stride, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """o = softmax(q @ k.T * scale) @ v, online softmax."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    head = tl.program_id(1) * n * stride
    qt = tl.load(q + head + rm[:, None] * stride + rd[None, :])
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        kt = tl.load(k + head + (start + rn)[None, :] * stride + rd[:, None])
        s = tl.dot(qt, kt) * scale
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        old = tl.exp2(top - new)
        total = total * old + tl.sum(p, 1)
        vt = tl.load(v + head + (start + rn)[:, None] * stride + rd[None, :])
        acc = tl.dot(p.to(vt.dtype), vt, acc * old[:, None])
        top = new
    tl.store(o + head + rm[:, None] * stride + rd[None, :], acc / total[:, None])


@triton.jit
def gemm_scaled(a, b, sa, sb, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PACK: tl.constexpr,
                GROUP: tl.constexpr, FORMAT: tl.constexpr):
    """c = (a * sa) @ (b * sb).T with one scale per GROUP elements of K; e4m3 or packed e2m1."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK // PACK)
    rs = tl.arange(0, BK // GROUP)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        at = tl.load(a + rm[:, None] * (K // PACK) + (k // PACK + rk)[None, :])
        bt = tl.load(b + rn[:, None] * (K // PACK) + (k // PACK + rk)[None, :])
        sat = tl.load(sa + rm[:, None] * (K // GROUP) + (k // GROUP + rs)[None, :])
        sbt = tl.load(sb + rn[:, None] * (K // GROUP) + (k // GROUP + rs)[None, :])
        acc = tl.dot_scaled(at, sat, FORMAT, bt.T, sbt, FORMAT, acc)
    tl.store(c + rm[:, None] * (tl.num_programs(1) * BN) + rn[None, :], acc)


@triton.jit
def reduction(x, out, n, B: tl.constexpr):
    """out[row] = sum, out[rows + row] = max, out[2 rows + row] = index of the maximum."""
    row = tl.program_id(0)
    rows = tl.num_programs(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    tl.store(out + row, tl.sum(v, 0))
    w = tl.where(i < n, v, float("-inf"))
    tl.store(out + rows + row, tl.max(w, 0))
    tl.store(out + 2 * rows + row, tl.argmax(w, 0).to(tl.float32))


@triton.jit
def softmax(x, out, n, B: tl.constexpr):
    """One row per program."""
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * n + i, e / tl.sum(e, 0), mask=i < n)
