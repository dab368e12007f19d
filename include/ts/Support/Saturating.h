// Sums and products of numbers that a program may choose freely, for reports: what leaves 64 bits
// stays at the nearest end. Not for decisions: those have to notice (__builtin_*_overflow).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_SUPPORT_SATURATING_H
#define TS_SUPPORT_SATURATING_H

#include <cstdint>

namespace ts {

inline int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

inline int64_t saturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

} // namespace ts

#endif // TS_SUPPORT_SATURATING_H
