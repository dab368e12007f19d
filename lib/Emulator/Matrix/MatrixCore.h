// The arithmetic of the matrix units, in bulk: operand tiles out of shared memory as plain numbers,
// and their product. Which instruction wants what, where D lies and when it happens is wgmma's and
// tcgen05's part.
//
// Accumulation model. A product of two elements is exact; the products of one instruction (one K
// block) are summed in double, which is exact as long as the sum fits 53 bits, so that their order
// does not matter; the sum is added to D in double and rounded once to D's format, to nearest even.
// A result is therefore equal to the hardware's bit by bit whenever all sums are exactly
// representable in D's format. Hardware aligns and truncates small addends otherwise; PTX ISA
// leaves that open (what sm_90a does is measured: AlignedSum.h, used by wgmma with f32 results). A
// NaN result is the canonical one. Subnormals are kept. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_MATRIX_MATRIXCORE_H
#define TS_EMULATOR_MATRIX_MATRIXCORE_H

#include "Descriptors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace ts::emu {

/// Elements in memory: dense, or 4- and 6-bit ones padded to 16 elements per 16 bytes (kind::f8f6f4
/// and mxf8f6f4: 8 bytes of e2m1 and 8 unused, 12 bytes of e3m2 or e2m3 and 4 unused).
enum class Packing : uint8_t { Dense, Padded16 };
/// Bits an element takes in memory, as operandChunks wants them.
unsigned storedBits(Num format, Packing packing);

/// Decodes `count` elements that lie densely from bit 0 of `bytes` on.
void decodeElements(Num format, const uint8_t *bytes, unsigned count, float *out);
void decodeElements(Num format, const uint8_t *bytes, unsigned count, int32_t *out); // S8, U8

/// Reads an operand: out[row * k + j]. `shared` is the shared memory of a CTA, indexed by the
/// addresses of descriptors. Faults outside of it (`what` names the operand).
void loadOperand(std::span<const uint8_t> shared, const SmemLayout &layout, bool kMajor,
                 unsigned rows, unsigned k, Num format, Packing packing, const char *what,
                 std::vector<float> &out);
void loadOperand(std::span<const uint8_t> shared, const SmemLayout &layout, bool kMajor,
                 unsigned rows, unsigned k, Num format, const char *what,
                 std::vector<int32_t> &out);
/// Rows of K / 32 words of bits (b1; K-major only).
void loadBits(std::span<const uint8_t> shared, const SmemLayout &layout, unsigned rows, unsigned k,
              const char *what, std::vector<uint32_t> &out);
/// Whether chunks lie in the CTA's memory; faults if not.
void checkChunks(std::span<const uint8_t> shared, std::span<const uint32_t> chunks,
                 const char *what);

/// sums[i * n + j] = sum over k of a[i * k + .] * b[j * k + .]; In is float or double (scaled
/// operands).
template <class In>
void multiply(const In *a, const In *b, unsigned m, unsigned n, unsigned k, double *sums);
void multiply(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k,
              int32_t *sums);
/// sums = population count of a & b; k in bits.
void multiplyBits(const uint32_t *a, const uint32_t *b, unsigned m, unsigned n, unsigned k,
                  int32_t *sums);

inline float accumulateF32(double d, double sum) {
  double value = d + sum;
  return std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : float(value);
}
inline uint16_t accumulateF16(double d, double sum) {
  double value = d + sum;
  return std::isnan(value) ? uint16_t(0x7fff) : uint16_t(fromDouble(Num::F16, value));
}
inline int32_t accumulateS32(int32_t d, int32_t sum, bool saturate) {
  if (!saturate)
    return int32_t(uint32_t(d) + uint32_t(sum));
  int64_t value = int64_t(d) + sum;
  return int32_t(std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX));
}

} // namespace ts::emu

#endif // TS_EMULATOR_MATRIX_MATRIXCORE_H
