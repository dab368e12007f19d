// Conversions among all types. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "convert_float_int", "block": [128], "buffers": {
//@   "x": {"type": "f32", "count": 128, "init": "uniform", "low": -300, "high": 300}, "y": {"type": "u32", "count": 2560, "compare": "exact"}},
//@   "params": ["x", "y"]}
//@ {"name": "convert_float_int_bits", "entry": "convert_float_int", "block": [128], "buffers": {
//@   "x": {"type": "u32", "count": 128, "seed": 31}, "y": {"type": "u32", "count": 2560, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL convert_float_int(const float *x, uint32_t *y) {
  unsigned i = linear();
  float a = x[i];
  uint32_t *o = y + i * 20;
  uint64_t w;
  uint16_t h;
#define CVT(n, op) asm("cvt." op " %0, %1;" : "=r"(o[n]) : "f"(a));
  CVT(0, "rni.s32.f32") CVT(1, "rzi.s32.f32") CVT(2, "rmi.s32.f32") CVT(3, "rpi.s32.f32")
  CVT(4, "rni.u32.f32") CVT(5, "rzi.u32.f32") CVT(6, "rzi.sat.u8.f32") CVT(7, "rni.sat.s8.f32")
  CVT(8, "rni.f32.f32") CVT(9, "rzi.f32.f32") CVT(10, "rmi.f32.f32") CVT(11, "rpi.f32.f32") CVT(12, "sat.f32.f32")
  asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(w) : "f"(a));
  o[13] = (uint32_t)w, o[14] = (uint32_t)(w >> 32);
  asm("cvt.rni.u64.f32 %0, %1;" : "=l"(w) : "f"(a));
  o[15] = (uint32_t)w, o[16] = (uint32_t)(w >> 32);
  asm("cvt.rzi.s16.f32 %0, %1;" : "=h"(h) : "f"(a));
  o[17] = h;
  asm("cvt.rni.u16.f32 %0, %1;" : "=h"(h) : "f"(a));
  o[18] = h;
  asm("cvt.rzi.ftz.s32.f32 %0, %1;" : "=r"(o[19]) : "f"(a));
}

//@ {"name": "convert_int", "block": [128], "buffers": {
//@   "x": {"type": "u64", "count": 128, "seed": 32}, "y": {"type": "u32", "count": 3072, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL convert_int(const uint64_t *x, uint32_t *y) {
  unsigned i = linear();
  uint64_t a = x[i] >> (i % 40);
  uint32_t b = (uint32_t)a, *o = y + i * 24, r;
  asm("cvt.rn.f32.s32 %0, %1;" : "=r"(o[0]) : "r"(b));
  asm("cvt.rz.f32.u32 %0, %1;" : "=r"(o[1]) : "r"(b));
  asm("cvt.rm.f32.s64 %0, %1;" : "=r"(o[2]) : "l"(a));
  asm("cvt.rp.f32.u64 %0, %1;" : "=r"(o[3]) : "l"(a));
  double d;
  asm("cvt.rn.f64.u64 %0, %1;" : "=d"(d) : "l"(a));
  o[4] = (uint32_t)__double_as_longlong(d), o[5] = (uint32_t)(__double_as_longlong(d) >> 32);
  asm("cvt.rz.f64.s64 %0, %1;" : "=d"(d) : "l"(a));
  o[6] = (uint32_t)__double_as_longlong(d), o[7] = (uint32_t)(__double_as_longlong(d) >> 32);
  asm("cvt.sat.s16.s32 %0, %1;" : "=r"(o[8]) : "r"(b));
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(o[9]) : "r"(b));
  asm("cvt.sat.s32.s64 %0, %1;" : "=r"(o[10]) : "l"(a));
  asm("cvt.sat.u32.s64 %0, %1;" : "=r"(o[11]) : "l"(a));
  asm("cvt.s32.s8 %0, %1;" : "=r"(o[12]) : "r"(b));
  asm("cvt.u32.u16 %0, %1;" : "=r"(o[13]) : "h"((uint16_t)b));
  int64_t w;
  asm("cvt.s64.s16 %0, %1;" : "=l"(w) : "h"((uint16_t)b));
  o[14] = (uint32_t)(w >> 32);
  o[15] = (uint32_t)((int64_t)(int8_t)b >> 20);
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(o[16]) : "r"((int)b >> 20), "r"((int)b >> 24), "r"(77));
  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(o[17]) : "r"(b), "r"((int)b >> 12));
  uint16_t h;
  asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(b));
  o[18] = h;
  asm("cvt.rz.f16.u64 %0, %1;" : "=h"(h) : "l"(a));
  o[19] = h;
  asm("cvt.rn.bf16.s32 %0, %1;" : "=h"(h) : "r"(b));
  o[20] = h;
  asm("cvt.rp.f16.u16 %0, %1;" : "=h"(h) : "h"((uint16_t)b));
  o[21] = h;
  asm("cvt.rn.f32.u8 %0, %1;" : "=r"(o[22]) : "r"(b));
  asm("cvt.rn.f32.s16 %0, %1;" : "=r"(r) : "h"((uint16_t)b));
  o[23] = r;
}

//@ {"name": "convert_small", "block": [128], "buffers": {
//@   "x": {"type": "f32", "count": 256, "init": "uniform", "low": -500, "high": 500}, "y": {"type": "u32", "count": 3072, "compare": "exact"}},
//@   "params": ["x", "y", {"f32": 1}]}
//@ {"name": "convert_small_tiny", "entry": "convert_small", "block": [128], "buffers": {
//@   "x": {"type": "f32", "count": 256, "init": "uniform", "low": -2, "high": 2}, "y": {"type": "u32", "count": 3072, "compare": "exact"}},
//@   "params": ["x", "y", {"f32": 0.002}]}
//@ {"name": "convert_small_bits", "entry": "convert_small", "block": [128], "buffers": {
//@   "x": {"type": "u32", "count": 256, "seed": 33}, "y": {"type": "u32", "count": 3072, "compare": "exact"}},
//@   "params": ["x", "y", {"f32": 1}]}
// f32 to f16, bf16, tf32, e4m3, e5m2 in every rounding, alone and in pairs, relu and satfinite.
KERNEL convert_small(const float *x, uint32_t *y, float scale) {
  unsigned i = linear();
  float a = x[i] * scale, b = x[i + 128] * scale;
  uint32_t *o = y + i * 24;
  uint16_t h;
#define TO16(n, op) asm("cvt." op " %0, %1;" : "=h"(h) : "f"(a)); o[n] = h;
#define PAIR(n, op) asm("cvt." op " %0, %1, %2;" : "=r"(o[n]) : "f"(a), "f"(b));
#define PAIR8(n, op) asm("cvt." op " %0, %1, %2;" : "=h"(h) : "f"(a), "f"(b)); o[n] = h;
  TO16(0, "rn.f16.f32") TO16(1, "rz.f16.f32") TO16(2, "rm.f16.f32") TO16(3, "rp.f16.f32") TO16(4, "rn.relu.f16.f32")
  TO16(5, "rn.bf16.f32") TO16(6, "rz.bf16.f32") TO16(7, "rn.relu.bf16.f32")
  PAIR(8, "rn.f16x2.f32") PAIR(9, "rz.f16x2.f32") PAIR(10, "rn.relu.f16x2.f32") PAIR(11, "rn.bf16x2.f32")
  PAIR(12, "rz.relu.bf16x2.f32")
  PAIR8(13, "rn.satfinite.e4m3x2.f32") PAIR8(14, "rn.satfinite.e5m2x2.f32") PAIR8(15, "rn.satfinite.relu.e4m3x2.f32")
  PAIR8(16, "rn.satfinite.relu.e5m2x2.f32")
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(o[17]) : "f"(a));
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(o[18]) : "f"(a));
  asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(o[19]) : "f"(a));
  asm("cvt.rna.satfinite.tf32.f32 %0, %1;" : "=r"(o[20]) : "f"(a));
  TO16(21, "rn.satfinite.f16.f32")
  TO16(22, "rn.satfinite.bf16.f32")
  TO16(23, "sat.rn.f16.f32")
}

//@ {"name": "convert_fp8", "block": [256], "buffers": {
//@   "y": {"type": "u32", "count": 2048, "compare": "exact"}}, "params": ["y"]}
// All bytes as e4m3 and e5m2 to f16 pairs, and f16 pairs back.
KERNEL convert_fp8(uint32_t *y) {
  unsigned i = threadIdx.x;
  uint16_t pair = (uint16_t)(i | (mixed(i, 5) & 255) << 8), h;
  uint32_t *o = y + i * 8, v = mixed(i, 6);
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(o[0]) : "h"(pair));
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(o[1]) : "h"(pair));
  asm("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(o[2]) : "h"(pair));
  asm("cvt.rn.relu.f16x2.e5m2x2 %0, %1;" : "=r"(o[3]) : "h"(pair));
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(h) : "r"(v));
  o[4] = h;
  asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(h) : "r"(v));
  o[5] = h;
  asm("cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;" : "=h"(h) : "r"(v));
  o[6] = h;
  __nv_fp8_e4m3 f(__half2float(__ushort_as_half((uint16_t)v)));
  o[7] = __float_as_uint(float(f));
}

//@ {"name": "convert_wide", "block": [64], "buffers": {
//@   "x": {"type": "f64", "count": 64, "init": "uniform", "low": -70000, "high": 70000}, "y": {"type": "u64", "count": 896, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL convert_wide(const double *x, uint64_t *y) {
  unsigned i = linear();
  double a = x[i] * (i & 1 ? 1 : 1e-4), d;
  uint64_t *o = y + i * 14;
  uint32_t r;
  uint16_t h;
  asm("cvt.rn.f32.f64 %0, %1;" : "=r"(r) : "d"(a)); o[0] = r;
  asm("cvt.rz.f32.f64 %0, %1;" : "=r"(r) : "d"(a)); o[1] = r;
  asm("cvt.rm.f32.f64 %0, %1;" : "=r"(r) : "d"(a)); o[2] = r;
  asm("cvt.rp.f32.f64 %0, %1;" : "=r"(r) : "d"(a)); o[3] = r;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(a)); o[4] = h;
  asm("cvt.rz.f16.f64 %0, %1;" : "=h"(h) : "d"(a)); o[5] = h;
  asm("cvt.rni.s64.f64 %0, %1;" : "=l"(o[6]) : "d"(a));
  asm("cvt.rmi.s32.f64 %0, %1;" : "=r"(r) : "d"(a)); o[7] = r;
  asm("cvt.rpi.u64.f64 %0, %1;" : "=l"(o[8]) : "d"(a));
  asm("cvt.rzi.f64.f64 %0, %1;" : "=d"(d) : "d"(a)); o[9] = (uint64_t)__double_as_longlong(d);
  asm("cvt.f64.f16 %0, %1;" : "=d"(d) : "h"((uint16_t)mixed(i, 3))); o[10] = (uint64_t)__double_as_longlong(d);
  asm("cvt.f32.f16 %0, %1;" : "=r"(r) : "h"((uint16_t)mixed(i, 4))); o[11] = r;
  asm("cvt.f32.bf16 %0, %1;" : "=r"(r) : "h"((uint16_t)mixed(i, 5))); o[12] = r;
  asm("cvt.rni.s32.f16 %0, %1;" : "=r"(r) : "h"((uint16_t)mixed(i, 6))); o[13] = r;
}
