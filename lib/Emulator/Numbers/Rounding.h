// Rounding of f32, f16 and bf16 results inside lane loops: no branches, no calls, so that loops
// over lanes vectorise. Sums that doubles cannot hold are rounded to odd, which makes a second
// rounding to at most 51 bits exact. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_NUMBERS_ROUNDING_H
#define TS_EMULATOR_NUMBERS_ROUNDING_H

#include "SmallFloats.h"

#include <bit>
#include <cmath>

namespace ts::emu {

inline constexpr uint32_t nanF32 = 0x7fffffff; // what the hardware makes of every NaN
inline constexpr uint16_t nanF16 = 0x7fff, nanBF16 = 0x7fff;

/// f16 to f32 without branches, for lane loops; NaNs stay NaNs. Subnormals are made from their
/// mantissa as an integer: as f32 bits they would be subnormal too, which hosts are slow at.
inline float halfToFloat(uint16_t half) {
  uint32_t magnitude = half & 0x7fff;
  uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00 ? 0x70000000 : 0x38000000);
  uint32_t small = std::bit_cast<uint32_t>(float(int32_t(magnitude)) * 0x1p-24f);
  uint32_t bits = magnitude < 0x400 ? small : normal;
  return std::bit_cast<float>(bits | uint32_t(half & 0x8000) << 16);
}
inline float bf16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Nearest even.
inline uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  // One half has its last place where the smallest subnormal is: adding it rounds there.
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000;
  uint32_t normal = (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
  uint32_t result = bits < 0x38800000 ? small : normal;
  result = bits >= 0x47800000 ? 0x7c00 : result;
  return uint16_t(bits > 0x7f800000 ? nanF16 : sign | result);
}
inline uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? nanBF16 : rounded);
}

/// a + b where the sum is not a double: the neighbour with an odd last bit.
inline double oddSum(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  double error = (a - (sum - part)) + (b - part);
  auto bits = std::bit_cast<uint64_t>(sum);
  uint64_t towards = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  bool fix = (error > 0 || error < 0) && !(bits & 1) && std::fabs(sum) < HUGE_VAL;
  return std::bit_cast<double>(fix ? towards : bits);
}
/// a * b + c for values of at most 26 bits, rounded to odd.
inline double oddFma(double a, double b, double c) { return oddSum(a * b, c); }

/// A double as f32, rounded to odd.
inline float oddFloat(double value) {
  float nearest = float(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  bits -= std::fabs(double(nearest)) > std::fabs(value); // towards zero
  bits |= double(std::bit_cast<float>(bits)) != value && value == value;
  return std::bit_cast<float>(bits);
}
inline uint16_t doubleToHalf(double value) { return floatToHalf(oddFloat(value)); }
inline uint16_t doubleToBf16(double value) { return floatToBf16(oddFloat(value)); }

/// A double (exact, or rounded to odd) as f32 in the given direction.
template <Round round> inline float directedFloat(double value) {
  float nearest = float(value);
  if constexpr (round == Round::Nearest)
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  auto wide = double(nearest);
  bool up = false, down = false; // in magnitude
  if constexpr (round == Round::Zero) {
    down = std::fabs(wide) > std::fabs(value);
  } else if constexpr (round == Round::Up) {
    up = wide < value && !(bits >> 31);
    down = wide < value && bits >> 31;
  } else {
    up = wide > value && bits >> 31;
    down = wide > value && !(bits >> 31);
  }
  return std::bit_cast<float>(bits + up - down);
}

} // namespace ts::emu

#endif // TS_EMULATOR_NUMBERS_ROUNDING_H
