// Integer arithmetic. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "integer_wide", "block": [128], "buffers": {
//@   "x": {"type": "u64", "count": 256, "seed": 1}, "y": {"type": "u64", "count": 1536, "compare": "exact"}},
//@   "params": ["x", "y"]}
// 64-bit products, their upper halves, quotients and remainders.
KERNEL integer_wide(const uint64_t *x, uint64_t *y) {
  unsigned i = linear();
  uint64_t a = x[i], b = x[i + 128] | 1;
  int64_t sa = (int64_t)a, sb = (int64_t)b >> (i % 60);
  sb |= 1;
  uint64_t *o = y + i * 12;
  o[0] = a * b;
  o[1] = __umul64hi(a, b);
  o[2] = (uint64_t)__mul64hi(sa, sb);
  o[3] = a / (b >> (i % 64) | 1);
  o[4] = a % (b >> (i % 64) | 1);
  o[5] = (uint64_t)(sa / sb);
  o[6] = (uint64_t)(sa % sb);
  o[7] = (uint64_t)(uint32_t)a * (uint32_t)b;
  o[8] = (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
  o[9] = a + b - (a ^ b);
  o[10] = (uint64_t)min(sa, sb) ^ max(a, b);
  o[11] = (uint64_t)llabs(sa) + (a >> (b & 63)) + (uint64_t)(sa >> (b & 63)) + (a << (b & 63));
}

//@ {"name": "integer_narrow", "block": [128], "buffers": {
//@   "x": {"type": "u32", "count": 256, "seed": 2}, "y": {"type": "u32", "count": 2048, "compare": "exact"}},
//@   "params": ["x", "y"]}
// 32, 16 and 8 bits: products, quotients, shifts beyond the width, saturation.
KERNEL integer_narrow(const uint32_t *x, uint32_t *y) {
  unsigned i = linear();
  uint32_t a = x[i], b = x[i + 128];
  int32_t sa = (int32_t)a, sb = (int32_t)b;
  uint32_t *o = y + i * 16;
  o[0] = a * b + 7;
  o[1] = __umulhi(a, b);
  o[2] = (uint32_t)__mulhi(sa, sb);
  o[3] = a / (b >> (i & 31) | 1);
  o[4] = a % (b >> (i & 31) | 1);
  o[5] = (uint32_t)(sa / (sb >> (i & 31) | 1));
  o[6] = (uint32_t)(sa % (sb >> (i & 31) | 1));
  o[7] = (uint32_t)__mul24(sa, sb) + __umul24(a, b);
  o[8] = __sad(sa, sb, 3u) + __usad(a, b, 5u);
  o[9] = (uint32_t)__hadd(sa, sb) ^ __urhadd(a, b);
  int16_t s = (int16_t)a, t = (int16_t)b;
  uint16_t u = (uint16_t)a, v = (uint16_t)b;
  o[10] = (uint32_t)(int32_t)(int16_t)(s * t) + (uint32_t)(u / (v | 1)) + (uint32_t)(s % (t | 1));
  o[11] = (uint32_t)(int8_t)a + (uint32_t)(uint8_t)b + (uint32_t)(int32_t)(int8_t)(a >> 8);
  uint32_t r, q;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(q) : "r"(a), "r"(b));
  o[12] = r ^ (q * 3);
  asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 63));
  asm("shr.s32 %0, %1, %2;" : "=r"(q) : "r"(a), "r"(b & 63));
  o[13] = r + q;
  asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 63));
  asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(q) : "r"(a), "r"(b), "r"(i));
  o[14] = r + q;
  asm("neg.s32 %0, %1;" : "=r"(r) : "r"(a));
  asm("abs.s32 %0, %1;" : "=r"(q) : "r"(b));
  o[15] = r - q;
}

//@ {"name": "integer_carry", "block": [64], "buffers": {
//@   "x": {"type": "u32", "count": 512, "seed": 3}, "y": {"type": "u32", "count": 704, "compare": "exact"}},
//@   "params": ["x", "y"]}
// Carry chains: 128-bit sum and difference, 64 x 64 by mad.cc.
KERNEL integer_carry(const uint32_t *x, uint32_t *y) {
  unsigned i = linear();
  const uint32_t *a = x + 8 * i, *b = a + 4;
  uint32_t *o = y + 11 * i;
  asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
      : "=r"(o[0]), "=r"(o[1]), "=r"(o[2]), "=r"(o[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
  asm("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\tsubc.cc.u32 %2, %6, %10;\n\tsubc.u32 %3, %7, %11;"
      : "=r"(o[4]), "=r"(o[5]), "=r"(o[6]), "=r"(o[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
  asm("mul.lo.u32 %0, %3, %5;\n\tmul.hi.u32 %1, %3, %5;\n\tmad.lo.cc.u32 %1, %4, %5, %1;\n\t"
      "madc.hi.u32 %2, %4, %5, 0;"
      : "=&r"(o[8]), "=&r"(o[9]), "=&r"(o[10])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

//@ {"name": "integer_bits", "block": [128], "buffers": {
//@   "x": {"type": "u32", "count": 384, "seed": 4}, "y": {"type": "u32", "count": 2560, "compare": "exact"}},
//@   "params": ["x", "y"]}
// Bit fields, counting, permutation, funnel shifts, any function of three inputs, dot products.
KERNEL integer_bits(const uint32_t *x, uint32_t *y) {
  unsigned i = linear();
  uint32_t a = x[i], b = x[i + 128], c = x[i + 256];
  uint32_t *o = y + i * 20, r, s;
  o[0] = __popc(a) | __clz(b >> (c & 31)) << 8 | __ffs(c << (a & 31)) << 16;
  o[1] = __brev(a);
  o[2] = __byte_perm(a, b, c);
  o[3] = __funnelshift_l(a, b, c);
  o[4] = __funnelshift_r(a, b, c);
  o[5] = __funnelshift_lc(a, b, c & 63);
  o[6] = __funnelshift_rc(a, b, c & 63);
  o[7] = (uint32_t)__dp4a((int)a, (int)b, (int)c);
  o[8] = __dp4a(a, b, c);
  o[9] = (uint32_t)__dp2a_lo((int)a, (int)b, (int)c) + (uint32_t)__dp2a_hi((int)a, (int)b, 3);
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 255), "r"(c & 255));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(s) : "r"(a), "r"(b & 31), "r"(c & 31));
  o[10] = r, o[11] = s;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[12]) : "r"(a), "r"(b), "r"(c & 255), "r"((c >> 8) & 255));
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(o[13]) : "r"(a), "r"(b), "r"(c));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(o[14]) : "r"(a), "r"(b), "r"(c));
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a >> (c & 31)));
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(s) : "r"((int)a >> (c & 31)));
  o[15] = r ^ s << 8;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c & 3));
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(s) : "r"(a), "r"(b), "r"(c & 3));
  o[16] = r, o[17] = s;
  asm("szext.wrap.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c));
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(s) : "r"(b & 63), "r"(c & 63));
  o[18] = r, o[19] = s;
}

//@ {"name": "integer_video", "block": [64], "buffers": {
//@   "x": {"type": "u32", "count": 192, "seed": 5}, "y": {"type": "u32", "count": 512, "compare": "exact"}},
//@   "params": ["x", "y"]}
// Packed 16- and 8-bit arithmetic as the CUDA headers make it of it, and min/max chains.
KERNEL integer_video(const uint32_t *x, uint32_t *y) {
  unsigned i = linear();
  uint32_t a = x[i], b = x[i + 64], c = x[i + 128];
  uint32_t *o = y + i * 8;
  o[0] = __vadd2(a, b) ^ __vsub4(a, c);
  o[1] = __vmaxs2(a, b) + __vminu2(b, c);
  o[2] = __vaddus2(a, b) ^ __vsetgts2(b, c);
  o[3] = __vcmpgtu4(a, b) & __vcmpeq2(b & 0x1010101, c & 0x1010101);
  o[4] = __vavgu4(a, b);
  o[5] = (uint32_t)max(min((int)a, (int)b), (int)c);
  o[6] = __viaddmax_s32_relu((int)a, (int)b, (int)c);
  o[7] = __vimax3_u32(a, b, c) + __vimin3_s16x2(a, b, c);
}
