// mma.sync: the fragments go from and to memory as they are. Small integers: every sum is exact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "mma_bf16", "buffers": {"a": {"type": "bf16", "count": 256, "init": "ints", "low": -4, "high": 4}, "b": {"type": "bf16", "count": 128, "init": "ints", "low": -3, "high": 3, "seed": 2},
//@   "c": {"type": "f32", "count": 128, "init": "ints", "low": -9, "high": 9}, "d": {"type": "f32", "count": 128, "compare": "exact"}}, "params": ["a", "b", "c", "d"]}
KERNEL mma_bf16(const uint32_t *a, const uint32_t *b, const float *c, float *d) {
  unsigned l = threadIdx.x;
  a += l * 4, b += l * 2, c += l * 4, d += l * 4;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

//@ {"name": "mma_f16", "buffers": {"a": {"type": "f16", "count": 256, "init": "ints", "low": -4, "high": 4}, "b": {"type": "f16", "count": 128, "init": "ints", "low": -3, "high": 3, "seed": 2},
//@   "c": {"type": "f16", "count": 128, "init": "ints", "low": -9, "high": 9}, "d": {"type": "f16", "count": 256, "compare": "exact"}}, "params": ["a", "b", "c", "d"]}
KERNEL mma_f16(const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d) {
  unsigned l = threadIdx.x;
  a += l * 4, b += l * 2, c += l * 2, d += l * 4;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
               : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
               : "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}

//@ {"name": "mma_tf32", "buffers": {"a": {"type": "f32", "count": 128, "init": "ints", "low": -40, "high": 40}, "b": {"type": "f32", "count": 64, "init": "ints", "low": -30, "high": 30, "seed": 2},
//@   "c": {"type": "f32", "count": 128, "init": "ints", "low": -9, "high": 9}, "d": {"type": "f32", "count": 256, "compare": "exact"}}, "params": ["a", "b", "c", "d"]}
KERNEL mma_tf32(const uint32_t *a, const uint32_t *b, const float *c, float *d) {
  unsigned l = threadIdx.x;
  a += l * 4, b += l * 2, c += l * 4, d += l * 8;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
               : "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

//@ {"name": "mma_f64", "buffers": {"a": {"type": "f64", "count": 256, "init": "ints", "low": -400, "high": 400}, "b": {"type": "f64", "count": 128, "init": "ints", "low": -300, "high": 300, "seed": 2},
//@   "c": {"type": "f64", "count": 128, "init": "ints", "low": -9, "high": 9}, "d": {"type": "f64", "count": 192, "compare": "exact"}}, "params": ["a", "b", "c", "d"]}
KERNEL mma_f64(const double *a, const double *b, const double *c, double *d) {
  unsigned l = threadIdx.x;
  a += l * 8, b += l * 4, c += l * 4, d += l * 6;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};" : "=d"(d[0]), "=d"(d[1]) : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19};"
               : "=d"(d[2]), "=d"(d[3]), "=d"(d[4]), "=d"(d[5]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                 "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

//@ {"name": "mma_int", "buffers": {"a": {"type": "u32", "count": 128, "seed": 3}, "b": {"type": "u32", "count": 64, "seed": 4},
//@   "c": {"type": "i32", "count": 128, "init": "ints", "low": -900, "high": 900}, "d": {"type": "i32", "count": 640, "compare": "exact"}}, "params": ["a", "b", "c", "d"]}
// s8, u8 with saturation, s4, and b1 by and and by xor.
KERNEL mma_int(const uint32_t *a, const uint32_t *b, const int *c, int *d) {
  unsigned l = threadIdx.x;
  a += l * 4, b += l * 2, c += l * 4, d += l * 20;
#define INT(op, o) asm volatile("mma.sync.aligned." op " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
               : "=r"(d[o]), "=r"(d[o + 1]), "=r"(d[o + 2]), "=r"(d[o + 3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  INT("m16n8k32.row.col.s32.s8.s8.s32", 0)
  INT("m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4)
  INT("m16n8k64.row.col.s32.s4.u4.s32", 8)
  INT("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 12)
  INT("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16)
}

//@ {"name": "mma_fp8", "buffers": {"a": {"type": "f8e4m3", "count": 512, "init": "ints", "low": -4, "high": 4}, "b": {"type": "f8e4m3", "count": 256, "init": "ints", "low": -3, "high": 3, "seed": 2},
//@   "e": {"type": "f8e5m2", "count": 512, "init": "ints", "low": -4, "high": 4},
//@   "c": {"type": "f32", "count": 128, "init": "ints", "low": -9, "high": 9}, "d": {"type": "f32", "count": 256, "compare": "exact"}}, "params": ["a", "e", "b", "c", "d"]}
KERNEL mma_fp8(const uint32_t *a, const uint32_t *e, const uint32_t *b, const float *c, float *d) {
  unsigned l = threadIdx.x;
  a += l * 4, e += l * 4, b += l * 2, c += l * 4, d += l * 8;
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
               : "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]) : "r"(e[0]), "r"(e[1]), "r"(e[2]), "r"(e[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

//@ {"name": "mma_random",
//@   "buffers": {"a": {"type": "bf16", "count": 256, "init": "uniform", "low": -1, "high": 1}, "b": {"type": "bf16", "count": 128, "init": "uniform", "low": -1, "high": 1, "seed": 2},
//@   "c": {"type": "f32", "count": 128, "init": "uniform", "low": -1, "high": 1}, "d": {"type": "f32", "count": 128, "compare": "exact"}}, "entry": "mma_bf16", "params": ["a", "b", "c", "d"]}

//@ {"name": "mma_fp8_random", "entry": "mma_fp8",
//@   "buffers": {"a": {"type": "f8e4m3", "count": 512, "init": "uniform", "low": -4, "high": 4}, "b": {"type": "f8e4m3", "count": 256, "init": "uniform", "low": -4, "high": 4, "seed": 2},
//@   "e": {"type": "f8e5m2", "count": 512, "init": "uniform", "low": -4, "high": 4},
//@   "c": {"type": "f32", "count": 128, "init": "uniform", "low": -9, "high": 9}, "d": {"type": "f32", "count": 256, "compare": "exact"}}, "params": ["a", "e", "b", "c", "d"]}
//@ {"name": "mma_tf32_random", "entry": "mma_tf32",
//@   "buffers": {"a": {"type": "f32", "count": 128, "init": "uniform", "low": -1, "high": 1}, "b": {"type": "f32", "count": 64, "init": "uniform", "low": -1, "high": 1, "seed": 2},
//@   "c": {"type": "f32", "count": 128, "init": "uniform", "low": -1, "high": 1}, "d": {"type": "f32", "count": 256, "compare": "exact"}}, "params": ["a", "b", "c", "d"]}
