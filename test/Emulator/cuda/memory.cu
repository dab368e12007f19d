// Loads, stores, atomics and constant memory. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "memory_vectors", "block": [64], "buffers": {"x": {"type": "u32", "count": 512, "seed": 41}, "y": {"type": "u32", "count": 768, "compare": "exact"}},
//@   "params": ["x", "y"]}
// v2 and v4 of every width, sign extension, cache operators.
KERNEL memory_vectors(const uint32_t *x, uint32_t *y) {
  unsigned i = linear();
  const uint32_t *p = x + i * 8;
  uint32_t *o = y + i * 12;
  uint4 v = *(const uint4 *)p;
  uint2 w = *(const uint2 *)(p + 4);
  ulonglong2 q = *(const ulonglong2 *)(p + 4);
  char4 c = *(const char4 *)(p + 1);
  short2 s = *(const short2 *)(p + 2);
  *(uint4 *)o = make_uint4(v.w, v.z, v.y, v.x);
  o[4] = w.x ^ w.y;
  *(ulonglong1 *)(o + 6) = make_ulonglong1(q.x ^ q.y);
  o[5] = (uint32_t)(c.x + c.y * 3 + c.z * 5 + c.w * 7);
  o[8] = (uint32_t)(s.x - s.y);
  uint32_t r, t;
  asm volatile("ld.global.cg.u32 %0, [%1+4];" : "=r"(r) : "l"(p));
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u32 %0, [%1+8];" : "=r"(t) : "l"(p));
  o[9] = r + t;
  asm volatile("ld.volatile.global.s8 %0, [%1+3];" : "=r"(r) : "l"(p));
  asm volatile("ld.relaxed.gpu.global.u16 %0, [%1+6];" : "=r"(t) : "l"(p));
  o[10] = r * 3 + t;
  asm volatile("st.global.wt.u8 [%0+44], %1;" ::"l"(o), "r"(r));
  asm volatile("st.global.cs.u8 [%0+45], %1;" ::"l"(o), "r"(t));
  asm volatile("st.release.gpu.global.u16 [%0+46], %1;" ::"l"(o), "h"((uint16_t)v.x));
}

//@ {"name": "memory_constant", "block": [64], "buffers": {"y": {"type": "u32", "count": 64, "compare": "exact"}},
//@   "params": ["y", {"i64": 123456789123}, {"i16": -7}, {"f64": 2.5}, {"u8": 200}]}
__constant__ uint32_t powers[8] = {1, 7, 49, 343, 2401, 16807, 117649, 823543};
__constant__ uint32_t *const where = nullptr;
__device__ uint32_t counterInit = 17;
__device__ const uint8_t letters[] = "the quick brown fox jumps over the lazy dog, twice and then again.";
KERNEL memory_constant(uint32_t *y, int64_t a, int16_t b, double c, uint8_t d) {
  unsigned i = linear();
  y[i] = powers[i & 7] * (uint32_t)(a >> 8) + (uint32_t)b + (uint32_t)(c * i) + d + letters[i] * counterInit + (where != nullptr);
}

//@ {"name": "memory_atomics", "block": [128], "grid": [2], "buffers": {"x": {"type": "u32", "count": 256, "seed": 42}, "y": {"type": "u32", "count": 64, "init": "zero", "compare": "exact"}},
//@   "params": ["x", "y"]}
// Commutative read-modify-writes in global memory, 32 and 64 bits, all scopes and orders; exact in any order.
KERNEL memory_atomics(const uint32_t *x, uint32_t *y) {
  unsigned i = linear();
  uint32_t v = x[i];
  atomicAdd(y, v);
  atomicMax(y + 1, v);
  atomicMin((int *)y + 2, (int)v);
  atomicOr(y + 3, 1u << (v & 31));
  atomicXor(y + 4, v);
  atomicInc(y + 5, 99);
  atomicAdd((unsigned long long *)(y + 6), (unsigned long long)v << 7);
  atomicMax((unsigned long long *)(y + 8), (unsigned long long)v * v);
  atomicAdd((float *)y + 10, (float)(v & 1023));
  atomicAdd((double *)(y + 12), (double)(v & 0xffff) * 0.25);
  atomicAdd((__half2 *)(y + 14), __floats2half2_rn((float)(v & 3), (float)(v >> 4 & 3)));
  atomicAdd((__nv_bfloat162 *)(y + 15), __floats2bfloat162_rn(v & 1 ? 1.f : 0.f, 0.f));
  for (uint32_t old = y[16], seen = ~old; seen != old;) { // a sum by compare and swap
    old = *(volatile uint32_t *)(y + 16);
    seen = atomicCAS(y + 16, old, old + (v & 15));
  }
  asm volatile("red.relaxed.cta.global.add.u32 [%0], %1;" ::"l"(y + 17), "r"(v));
  asm volatile("red.release.gpu.global.and.b32 [%0], %1;" ::"l"(y + 18), "r"(v));
}

//@ {"name": "memory_shared_atomics", "block": [128], "buffers": {"x": {"type": "u32", "count": 128, "seed": 43}, "y": {"type": "u32", "count": 32, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL memory_shared_atomics(const uint32_t *x, uint32_t *y) {
  __shared__ __align__(16) uint32_t s[32];
  unsigned i = threadIdx.x;
  if (i < 32)
    s[i] = 0;
  __syncthreads();
  uint32_t v = x[i];
  atomicAdd(s, v);
  atomicMax((int *)s + 1, (int)v);
  atomicMin(s + 2, v);
  atomicAnd(s + 3, v);
  atomicAdd((unsigned long long *)(s + 4), (unsigned long long)v * 3);
  atomicAdd((float *)s + 6, (float)(v & 255));
  atomicDec(s + 7, 50);
  atomicAdd(s + 8 + (v & 15), 1); // histogram
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(shared32(s + 24)), "r"(i));
  uint32_t old;
  asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(old) : "r"(shared32(s + 25)), "r"(77));
  asm volatile("atom.acq_rel.cta.shared::cta.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(shared32(s + 26)), "r"(2));
  atomicXor(s + 27, old);
  __syncthreads();
  if (i < 32)
    y[i] = s[i];
}

//@ {"name": "memory_atomics128", "block": [64], "buffers": {"y": {"type": "u64", "count": 4, "init": "zero", "compare": "exact"}}, "params": ["y"]}
// 128-bit compare and swap and exchange.
KERNEL memory_atomics128(uint64_t *y) {
  unsigned i = linear();
  uint64_t lo, hi, seenLo = 0, seenHi = 0;
  do {
    lo = seenLo, hi = seenHi;
    asm volatile("{\n\t.reg .b128 c, n, r;\n\tmov.b128 c, {%3, %4};\n\tmov.b128 n, {%5, %6};\n\t"
                 "atom.global.cas.b128 r, [%2], c, n;\n\tmov.b128 {%0, %1}, r;\n\t}"
                 : "=l"(seenLo), "=l"(seenHi) : "l"(y), "l"(lo), "l"(hi), "l"(lo + i + 1), "l"(hi + 3 * i) : "memory");
  } while (lo != seenLo || hi != seenHi);
  __syncthreads();
  if (i == 0)
    asm volatile("{\n\t.reg .b128 n, r;\n\tmov.b128 n, {%3, %4};\n\tatom.global.exch.b128 r, [%2], n;\n\tmov.b128 {%0, %1}, r;\n\t}"
                 : "=l"(lo), "=l"(hi) : "l"(y + 2), "l"(5ull), "l"(~7ull) : "memory");
}

//@ {"name": "memory_vector_red", "block": [32], "buffers": {"y": {"type": "f32", "count": 24, "init": "zero", "compare": "exact"}}, "params": ["y"]}
KERNEL memory_vector_red(float *y) {
  float f = (float)threadIdx.x;
  asm volatile("red.global.v4.f32.add [%0], {%1, %2, %3, %4};" ::"l"(y), "f"(f), "f"(2 * f), "f"(-f), "f"(1.f) : "memory");
  asm volatile("red.global.v2.f32.add [%0], {%1, %2};" ::"l"(y + 4), "f"(f), "f"(0.5f) : "memory");
  asm volatile("red.global.v4.f16x2.add.noftz [%0], {%1, %2, %3, %4};" ::"l"(y + 8), "r"(0x3c003c00), "r"(0x00003c00), "r"(0x40000000), "r"(0) : "memory");
  asm volatile("red.global.v8.bf16.add.noftz [%0], {%1, %1, %2, %2, %1, %1, %1, %1};" ::"l"(y + 12), "h"((uint16_t)0x3f80), "h"((uint16_t)0x4000) : "memory");
}
