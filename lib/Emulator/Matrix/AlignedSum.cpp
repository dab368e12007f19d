// The measured sum of sm_90a. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AlignedSum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace ts::emu {
namespace {
/// x * 2^shift, cut off towards zero.
int64_t scaled(int64_t x, int shift) {
  if (shift >= 0)
    return x << shift; // a few places only
  if (shift <= -63)
    return 0;
  return x < 0 ? -(-x >> -shift) : x >> -shift;
}

constexpr int floatFraction = 23;

/// A finite f32 as mantissa and exponent; zero counts as a very small number.
std::pair<int64_t, int> splitAddend(float d) {
  uint32_t bits = std::bit_cast<uint32_t>(d);
  int exponent = int(bits >> 23 & 0xff);
  int64_t mantissa = bits & 0x7fffff;
  if (exponent)
    mantissa |= 0x800000;
  exponent = std::max(exponent, 1) - 127;
  return {bits >> 31 ? -mantissa : mantissa, mantissa ? exponent : -10000};
}

/// The exponent of a type's subnormal numbers, whose mantissas are not normalised.
int smallestExponent(Num type) {
  switch (type) {
  case Num::E4M3:
    return -6;
  case Num::E5M2:
  case Num::F16:
    return -14;
  default: // bf16, tf32
    return -126;
  }
}
} // namespace

void AlignedSum::split(const float *values, Num type, size_t count, std::vector<Factor> &factors) {
  const int smallest = smallestExponent(type);
  factors.resize(count);
  for (size_t i = 0; i < count; ++i) {
    factors[i] = {0, none};
    if (!std::isfinite(values[i])) {
      finite = false;
    } else if (values[i] != 0) {
      int exponent = std::max(std::ilogb(values[i]), smallest);
      factors[i] = {int32_t(std::ldexp(values[i], fraction - exponent)), exponent};
    }
  }
}

AlignedSum::AlignedSum(const float *a, Num typeA, unsigned m, const float *b, Num typeB, unsigned n,
                       unsigned k, Precision precision)
    : a(a), b(b), k(k), precision(precision) {
  split(a, typeA, size_t(m) * k, factorsA);
  split(b, typeB, size_t(n) * k, factorsB);
}

float AlignedSum::operator()(unsigned row, unsigned column, float d) const {
  const Factor *x = &factorsA[size_t(row) * k], *y = &factorsB[size_t(column) * k];
  if (!finite || !std::isfinite(d)) {
    double sum = double(d);
    for (unsigned i = 0; i < k; ++i)
      sum += double(a[size_t(row) * k + i]) * double(b[size_t(column) * k + i]);
    return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : float(sum);
  }
  auto [start, exponent] = splitAddend(d);
  int largest = exponent;
  for (unsigned i = 0; i < k; ++i) // a zero's exponent is too small to count
    largest = std::max(largest, x[i].exponent + y[i].exponent);
  if (largest <= none)
    return 0;
  int unit = largest - int(precision.addend); // everything is a multiple of 2^unit from here on
  int64_t sum = scaled(start, exponent - floatFraction - unit);
  // One product is mantissas * 2^(exponents - 2 * fraction); no branches, this is the inner loop.
  constexpr int ahead = int(wide.addend) - 2 * fraction;
  int base = largest + int(wide.addend - precision.addend);
  for (unsigned i = 0; i < k; ++i) {
    int64_t product = int64_t(x[i].mantissa) * y[i].mantissa * (1 << ahead);
    int down = std::min(base - (x[i].exponent + y[i].exponent), 62);
    int64_t towardsZero = product >> 63 & ((int64_t(1) << down) - 1);
    sum += (product + towardsZero) >> down;
  }
  // Cut off to the result's fraction.
  int length = 64 - std::countl_zero(uint64_t(sum < 0 ? -sum : sum));
  int drop = length - 1 - int(precision.result);
  if (drop > 0)
    sum = scaled(scaled(sum, -drop), drop);
  // The sum has few enough digits for f32; the product is exact unless it is subnormal.
  if (unit >= -126 && unit <= 127)
    return float(sum) * std::bit_cast<float>(uint32_t(unit + 127) << 23);
  return float(std::ldexp(double(sum), unit));
}

} // namespace ts::emu
