// f16 and bf16, alone and in pairs. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "half_f16", "block": [128], "buffers": {
//@   "x": {"type": "f16", "count": 384, "init": "uniform", "low": -4, "high": 4}, "y": {"type": "u16", "count": 2048, "compare": "exact"}},
//@   "params": ["x", "y"]}
//@ {"name": "half_f16_bits", "entry": "half_f16", "block": [128], "buffers": {
//@   "x": {"type": "u16", "count": 384, "seed": 21}, "y": {"type": "u16", "count": 2048, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL half_f16(const uint16_t *x, uint16_t *y) {
  unsigned i = linear();
  uint16_t a = x[i], b = x[i + 128], c = x[i + 256];
  uint16_t *o = y + i * 16;
#define TWO(n, op) asm(op " %0, %1, %2;" : "=h"(o[n]) : "h"(a), "h"(b));
#define THREE(n, op) asm(op " %0, %1, %2, %3;" : "=h"(o[n]) : "h"(a), "h"(b), "h"(c));
  TWO(0, "add.f16") TWO(1, "sub.f16") TWO(2, "mul.f16") THREE(3, "fma.rn.f16") TWO(4, "min.f16") TWO(5, "max.NaN.f16")
  TWO(6, "add.ftz.f16") TWO(7, "mul.sat.f16") THREE(8, "fma.rn.relu.f16") TWO(9, "max.xorsign.abs.f16")
  asm("neg.f16 %0, %1;" : "=h"(o[10]) : "h"(a));
  asm("abs.f16 %0, %1;" : "=h"(o[11]) : "h"(b));
  asm("{\n\t.reg .pred p;\n\tsetp.lt.f16 p, %1, %2;\n\tselp.u16 %0, 1, 0, p;\n\t}" : "=h"(o[12]) : "h"(a), "h"(b));
  asm("set.geu.u16.f16 %0, %1, %2;" : "=h"(o[13]) : "h"(a), "h"(b));
  THREE(14, "fma.rn.ftz.f16") TWO(15, "mul.rn.f16")
}

//@ {"name": "half_bf16", "block": [128], "buffers": {
//@   "x": {"type": "bf16", "count": 384, "init": "uniform", "low": -4, "high": 4}, "y": {"type": "u16", "count": 1536, "compare": "exact"}},
//@   "params": ["x", "y"]}
//@ {"name": "half_bf16_bits", "entry": "half_bf16", "block": [128], "buffers": {
//@   "x": {"type": "u16", "count": 384, "seed": 22}, "y": {"type": "u16", "count": 1536, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL half_bf16(const uint16_t *x, uint16_t *y) {
  unsigned i = linear();
  uint16_t a = x[i], b = x[i + 128], c = x[i + 256];
  uint16_t *o = y + i * 12;
  TWO(0, "add.bf16") TWO(1, "sub.bf16") TWO(2, "mul.bf16") THREE(3, "fma.rn.bf16") TWO(4, "min.bf16") TWO(5, "max.NaN.bf16")
  THREE(6, "fma.rn.relu.bf16") TWO(7, "min.xorsign.abs.bf16")
  asm("neg.bf16 %0, %1;" : "=h"(o[8]) : "h"(a));
  asm("abs.bf16 %0, %1;" : "=h"(o[9]) : "h"(b));
  asm("{\n\t.reg .pred p;\n\tsetp.ge.bf16 p, %1, %2;\n\tselp.u16 %0, 1, 0, p;\n\t}" : "=h"(o[10]) : "h"(a), "h"(b));
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(o[11]) : "h"(c), "h"(b), "h"(a));
}

//@ {"name": "half_pairs", "block": [128], "buffers": {
//@   "x": {"type": "f16", "count": 768, "init": "uniform", "low": -8, "high": 8}, "z": {"type": "bf16", "count": 768, "init": "uniform", "low": -8, "high": 8},
//@   "y": {"type": "u32", "count": 2048, "compare": "exact"}}, "params": ["x", "z", "y"]}
KERNEL half_pairs(const __half2 *x, const __nv_bfloat162 *z, uint32_t *y) {
  unsigned i = linear();
  __half2 a = x[i], b = x[i + 128], c = x[i + 256], r;
  __nv_bfloat162 d = z[i], e = z[i + 128], f = z[i + 256], s;
  uint32_t *o = y + i * 16;
#define OUT(n, v) { r = v; o[n] = *(uint32_t *)&r; }
#define OUTB(n, v) { s = v; o[n] = *(uint32_t *)&s; }
  OUT(0, __hadd2(a, b)) OUT(1, __hmul2(a, b)) OUT(2, __hfma2(a, b, c)) OUT(3, __hmax2(a, b)) OUT(4, __hsub2_sat(a, b))
  OUT(5, __hfma2_relu(a, b, c)) OUT(6, __hneg2(__habs2(a))) OUT(7, __lows2half2(a, b)) OUT(8, __hgt2(a, b))
  OUTB(9, __hadd2(d, e)) OUTB(10, __hmul2(d, e)) OUTB(11, __hfma2(d, e, f)) OUTB(12, __hmin2(d, e)) OUTB(13, __hfma2_relu(d, e, f))
  OUTB(14, __hneg2(d)) o[15] = __hbeq2(a, a) + 2 * __hble2(d, e);
}

//@ {"name": "half_approx", "block": [128], "reason": "PTX ISA: ex2.approx.f16 rel 2^-9.9, tanh.approx.f16 abs 2^-10.987, bf16 ex2 rel 2^-7, tanh abs 2^-8; doubled",
//@  "buffers": {"x": {"type": "f16", "count": 128, "init": "linear", "low": -6, "high": 6}, "z": {"type": "bf16", "count": 128, "init": "linear", "low": -6, "high": 6},
//@   "e": {"type": "f16", "count": 128, "compare": "rel:2.1e-3|abs:6e-8"}, "t": {"type": "f16", "count": 128, "compare": "abs:1e-3"},
//@   "f": {"type": "bf16", "count": 128, "compare": "rel:1.6e-2"}, "u": {"type": "bf16", "count": 128, "compare": "abs:8e-3"}},
//@  "params": ["x", "z", "e", "t", "f", "u"]}
KERNEL half_approx(const uint16_t *x, const uint16_t *z, uint16_t *e, uint16_t *t, uint16_t *f, uint16_t *u) {
  unsigned i = linear();
  asm("ex2.approx.f16 %0, %1;" : "=h"(e[i]) : "h"(x[i]));
  asm("tanh.approx.f16 %0, %1;" : "=h"(t[i]) : "h"(x[i]));
  asm("ex2.approx.ftz.bf16 %0, %1;" : "=h"(f[i]) : "h"(z[i]));
  asm("tanh.approx.bf16 %0, %1;" : "=h"(u[i]) : "h"(z[i]));
}
