// The measured sum of sm_90a. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AlignedSum.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ts::emu {
namespace {
/// x * 2^shift, cut off towards zero.
int64_t scaled(int64_t x, int shift) {
  if (shift >= 0)
    return x << shift; // a few places only: `addend` less the length of the product's fraction
  if (shift <= -63)
    return 0;
  return x < 0 ? -(-x >> -shift) : x >> -shift;
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
  int largest = d == 0 ? none : std::max(std::ilogb(d), smallestExponent(Num::F32));
  for (unsigned i = 0; i < k; ++i)
    if (x[i].mantissa && y[i].mantissa)
      largest = std::max(largest, x[i].exponent + y[i].exponent);
  if (largest == none)
    return 0;
  int unit = largest - int(precision.addend); // everything is a multiple of 2^unit from here on
  int64_t sum = int64_t(std::trunc(std::ldexp(double(d), -unit)));
  for (unsigned i = 0; i < k; ++i)
    sum += scaled(int64_t(x[i].mantissa) * y[i].mantissa,
                  x[i].exponent + y[i].exponent - 2 * fraction - unit);
  // Cut off to the result's fraction.
  int length = 64 - std::countl_zero(uint64_t(sum < 0 ? -sum : sum));
  int drop = length - 1 - int(precision.result);
  if (drop > 0)
    sum = scaled(scaled(sum, -drop), drop);
  return float(std::ldexp(double(sum), unit));
}

} // namespace ts::emu
