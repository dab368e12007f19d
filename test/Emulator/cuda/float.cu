// f32 and f64 arithmetic. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "float_round", "block": [128], "buffers": {
//@   "x": {"type": "f32", "count": 384, "init": "uniform", "low": -3, "high": 3}, "y": {"type": "f32", "count": 2304, "compare": "exact"}},
//@   "params": ["x", "y"]}
//@ {"name": "float_round_bits", "entry": "float_round", "block": [128], "buffers": {
//@   "x": {"type": "u32", "count": 384, "seed": 9}, "y": {"type": "f32", "count": 2304, "compare": "exact"}},
//@   "params": ["x", "y"]}
// The four roundings of sum, product, fma, quotient and root. With random bits: infinities, NaN, subnormals.
KERNEL float_round(const float *x, float *y) {
  unsigned i = linear();
  float a = x[i], b = x[i + 128], c = x[i + 256];
  float *o = y + i * 18;
  o[0] = __fadd_rn(a, b), o[1] = __fadd_rz(a, b), o[2] = __fadd_rd(a, b), o[3] = __fadd_ru(a, b);
  o[4] = __fmul_rn(a, b), o[5] = __fmul_rz(a, b), o[6] = __fmul_rd(a, b), o[7] = __fmul_ru(a, b);
  o[8] = __fmaf_rn(a, b, c), o[9] = __fmaf_rz(a, b, c), o[10] = __fmaf_rd(a, b, c), o[11] = __fmaf_ru(a, b, c);
  o[12] = __fdiv_rn(a, b), o[13] = __fdiv_rz(a, b), o[14] = __frcp_rn(b);
  o[15] = __fsqrt_rn(fabsf(c)), o[16] = __fsqrt_ru(fabsf(c)), o[17] = __fsub_rn(a, c);
}

//@ {"name": "float_ftz", "block": [128], "buffers": {
//@   "x": {"type": "u32", "count": 256, "seed": 10}, "y": {"type": "f32", "count": 1024, "compare": "exact"}},
//@   "params": ["x", "y"]}
// Subnormal inputs and results with and without .ftz, and .sat.
KERNEL float_ftz(const uint32_t *x, float *y) {
  unsigned i = linear();
  float a = __uint_as_float(x[i] & 0x80ffffff), b = __uint_as_float(x[i + 128] & 0x80ffffff);
  float *o = y + i * 8;
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(o[0]) : "f"(a), "f"(b));
  asm("add.f32 %0, %1, %2;" : "=f"(o[1]) : "f"(a), "f"(b));
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(o[2]) : "f"(a), "f"(0.37f));
  asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(o[3]) : "f"(a), "f"(1.5f), "f"(b));
  asm("max.ftz.f32 %0, %1, %2;" : "=f"(o[4]) : "f"(a), "f"(b));
  asm("add.sat.f32 %0, %1, %2;" : "=f"(o[5]) : "f"(a * 0x1p126f), "f"(b * 0x1p125f));
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(o[6]) : "f"(a * 0x1p126f), "f"(3.0f), "f"(b));
  asm("abs.ftz.f32 %0, %1;" : "=f"(o[7]) : "f"(a));
}

//@ {"name": "float_double", "block": [64], "buffers": {
//@   "x": {"type": "f64", "count": 192, "init": "uniform", "low": -100, "high": 100}, "y": {"type": "f64", "count": 896, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL float_double(const double *x, double *y) {
  unsigned i = linear();
  double a = x[i], b = x[i + 64], c = x[i + 128];
  double *o = y + i * 14;
  o[0] = a + b, o[1] = a * b, o[2] = fma(a, b, c), o[3] = a / b, o[4] = sqrt(fabs(c));
  o[5] = __dadd_rz(a, b), o[6] = __dmul_ru(a, b), o[7] = __fma_rd(a, b, c), o[8] = __ddiv_rd(a, c);
  o[9] = fmin(a, b), o[10] = fmax(a, c), o[11] = -fabs(a), o[12] = (double)(float)a, o[13] = trunc(b) + rint(a) + floor(c) + ceil(a);
}

//@ {"name": "float_approx", "block": [256], "reason": "approximations: PTX ISA, the largest error of each instruction; compared by column",
//@  "buffers": {
//@   "x": {"type": "f32", "count": 256, "init": "linear", "low": 0.001, "high": 40},
//@   "ex2": {"type": "f32", "count": 256, "compare": "ulp:4"}, "lg2": {"type": "f32", "count": 256, "compare": "abs:2.4e-7|rel:2.4e-7"},
//@   "rcp": {"type": "f32", "count": 256, "compare": "ulp:2"}, "rsqrt": {"type": "f32", "count": 256, "compare": "ulp:4"},
//@   "sqrt": {"type": "f32", "count": 256, "compare": "ulp:4"}, "div": {"type": "f32", "count": 256, "compare": "ulp:4"},
//@   "tanh": {"type": "f32", "count": 256, "compare": "rel:9.8e-4"}},
//@  "params": ["x", "ex2", "lg2", "rcp", "rsqrt", "sqrt", "div", "tanh"]}
KERNEL float_approx(const float *x, float *ex2, float *lg2, float *rcp, float *rsqrt, float *sq, float *div, float *tanh_) {
  unsigned i = linear();
  float a = x[i], s = i & 1 ? a : -a;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(ex2[i]) : "f"(s));
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(lg2[i]) : "f"(a));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rcp[i]) : "f"(s));
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(rsqrt[i]) : "f"(a));
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(sq[i]) : "f"(a));
  asm("div.full.f32 %0, %1, %2;" : "=f"(div[i]) : "f"(3.25f), "f"(s));
  asm("tanh.approx.f32 %0, %1;" : "=f"(tanh_[i]) : "f"(s * 0.2f));
}

//@ {"name": "float_trig", "block": [256], "reason": "PTX ISA: absolute error of sin.approx and cos.approx in [-pi, pi] at most 2^-20.5 (doubled: both sides err)",
//@  "buffers": {
//@   "x": {"type": "f32", "count": 256, "init": "linear", "low": -3.14, "high": 3.14},
//@   "sin": {"type": "f32", "count": 256, "compare": "abs:1.4e-6"}, "cos": {"type": "f32", "count": 256, "compare": "abs:1.4e-6"}},
//@  "params": ["x", "sin", "cos"]}
KERNEL float_trig(const float *x, float *s, float *c) {
  unsigned i = linear();
  s[i] = __sinf(x[i]);
  c[i] = __cosf(x[i]);
}

//@ {"name": "float_special", "block": [32], "buffers": {
//@   "y": {"type": "u32", "count": 416, "compare": "exact"}}, "params": ["y"]}
// What the approximations make of 0, infinity, NaN, 1 and subnormals is exact.
__constant__ float specials[] = {0.f, -0.f, INFINITY, -INFINITY, 1.f, -1.f, 1e-40f, -1e-40f, 0x1p-126f, 0x1p127f, 2.f, 4.f, -2.f, 0x1p100f, 0x1p-100f, 0.5f};
KERNEL float_special(float *y) {
  unsigned i = threadIdx.x;
  float a = i < 16 ? specials[i] : NAN * (float)i;
  float *o = y + i * 13;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(o[0]) : "f"(i == 5 || i == 9 || i == 13 ? 3.f : truncf(a)));
  asm("lg2.approx.f32 %0, %1;" : "=f"(o[1]) : "f"(i == 6 || i == 8 || i >= 14 && i < 16 ? 1.f : a));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(o[2]) : "f"(a));
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(o[3]) : "f"(i == 9 || i == 10 || i == 6 || i == 15 ? 4.f : a));
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(o[4]) : "f"(i == 10 || i == 9 || i == 15 ? 4.f : a));
  asm("tanh.approx.f32 %0, %1;" : "=f"(o[5]) : "f"(i >= 4 && i < 16 ? 0.f : a));
  asm("rcp.rn.f32 %0, %1;" : "=f"(o[6]) : "f"(a));
  asm("sqrt.rn.f32 %0, %1;" : "=f"(o[7]) : "f"(a));
  asm("div.rn.f32 %0, %1, %2;" : "=f"(o[8]) : "f"(a), "f"(0.f));
  asm("rcp.approx.f32 %0, %1;" : "=f"(o[9]) : "f"(a));
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(o[10]) : "f"(i == 9 || i == 10 || i == 15 ? 4.f : a));
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(o[11]) : "f"(i >= 2 && i < 4 ? a : 0.f * a));
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(o[12]) : "f"(i >= 2 && i < 4 ? a : 0.f * a));
}

//@ {"name": "float_minmax", "block": [64], "buffers": {
//@   "y": {"type": "u32", "count": 1024, "compare": "exact"}}, "params": ["y"]}
// min and max with NaN and signed zero in all variants; comparisons with unordered operands; testp, copysign.
__constant__ float minmaxInputs[] = {0.f, -0.f, 1.f, -2.f, INFINITY, -INFINITY, NAN, 1e-40f};
KERNEL float_minmax(uint32_t *y) {
  unsigned i = threadIdx.x;
  float a = minmaxInputs[i & 7], b = minmaxInputs[i >> 3], r;
  uint32_t *o = y + i * 16, bits = 0;
  asm("min.f32 %0, %1, %2;" : "=r"(o[0]) : "f"(a), "f"(b));
  asm("max.f32 %0, %1, %2;" : "=r"(o[1]) : "f"(a), "f"(b));
  asm("min.NaN.f32 %0, %1, %2;" : "=r"(o[2]) : "f"(a), "f"(b));
  asm("max.NaN.f32 %0, %1, %2;" : "=r"(o[3]) : "f"(a), "f"(b));
  asm("min.xorsign.abs.f32 %0, %1, %2;" : "=r"(o[4]) : "f"(a), "f"(b));
  asm("max.ftz.NaN.f32 %0, %1, %2;" : "=r"(o[5]) : "f"(a), "f"(b));
  asm("copysign.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  o[6] = __float_as_uint(r);
#define COMPARE(op, bit) \
  asm("{\n\t.reg .pred p;\n\tsetp." op ".f32 p, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(o[7]) : "f"(a), "f"(b)); \
  bits |= o[7] << bit;
  COMPARE("eq", 0) COMPARE("ne", 1) COMPARE("lt", 2) COMPARE("le", 3) COMPARE("gt", 4) COMPARE("ge", 5)
  COMPARE("equ", 6) COMPARE("neu", 7) COMPARE("ltu", 8) COMPARE("leu", 9) COMPARE("gtu", 10) COMPARE("geu", 11)
  COMPARE("num", 12) COMPARE("nan", 13)
  o[7] = bits;
  bits = 0;
#define TEST(op, bit) \
  asm("{\n\t.reg .pred p;\n\ttestp." op ".f32 p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(o[8]) : "f"(a)); \
  bits |= o[8] << bit;
  TEST("finite", 0) TEST("infinite", 1) TEST("number", 2) TEST("notanumber", 3) TEST("normal", 4) TEST("subnormal", 5)
  o[8] = bits;
  asm("set.lt.f32.f32 %0, %1, %2;" : "=r"(o[9]) : "f"(a), "f"(b));
  asm("set.geu.u32.f32 %0, %1, %2;" : "=r"(o[10]) : "f"(a), "f"(b));
  asm("{\n\t.reg .pred p, q, r;\n\tsetp.gt.f32 p, %1, 0f00000000;\n\tsetp.lt.and.f32 q|r, %1, %2, p;\n\t"
      "selp.u32 %0, 1, 2, q;\n\t@r add.u32 %0, %0, 4;\n\t}" : "=r"(o[11]) : "f"(a), "f"(b));
  asm("slct.f32.s32 %0, %1, %2, %3;" : "=r"(o[12]) : "f"(a), "f"(b), "r"((int)i - 30));
  asm("neg.f32 %0, %1;" : "=r"(o[13]) : "f"(a));
  asm("abs.f32 %0, %1;" : "=r"(o[14]) : "f"(a));
  o[15] = __float_as_uint(fmaxf(fminf(a, b), 0.25f));
}

//@ {"name": "float_math", "block": [256], "reason": "libdevice code around approximations: ulp bounds of the CUDA Programming Guide, both sides may err",
//@  "buffers": {"x": {"type": "f32", "count": 256, "init": "uniform", "low": -8, "high": 8}, 
//@   "e": {"type": "f32", "count": 256, "compare": "ulp:4"}, "l": {"type": "f32", "count": 256, "compare": "ulp:2"},
//@   "s": {"type": "f32", "count": 256, "compare": "ulp:4"}, "p": {"type": "f32", "count": 256, "compare": "ulp:16"},
//@   "t": {"type": "f32", "count": 256, "compare": "ulp:4"}, "d": {"type": "f64", "count": 256, "compare": "ulp:2"}},
//@  "params": ["x", "e", "l", "s", "p", "t", "d"]}
KERNEL float_math(const float *x, float *e, float *l, float *s, float *p, float *t, double *d) {
  unsigned i = linear();
  float a = x[i];
  e[i] = expf(a);
  l[i] = logf(fabsf(a));
  s[i] = sinf(a * 100.f) ;
  p[i] = powf(fabsf(a), 1.7f);
  t[i] = tanhf(a) + erff(a);
  d[i] = exp((double)a) + sin((double)a);
}
