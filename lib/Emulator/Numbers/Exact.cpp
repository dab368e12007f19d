// Exact sums, products, quotients and roots of doubles, by integer arithmetic: the host's rounding
// mode is never touched. For directed roundings and for narrow formats; round to nearest of f32 and
// f64 is the host's own. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Exact.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ts::emu {
namespace {

using Wide = unsigned __int128;

int topBit(Wide value) { // -1 for zero
  auto high = uint64_t(value >> 64), low = uint64_t(value);
  return high ? 127 - std::countl_zero(high) : low ? 63 - std::countl_zero(low) : -1;
}

Exact special(Exact::Kind kind, bool negative) {
  Exact v;
  v.kind = kind;
  v.negative = negative;
  return v;
}

Exact narrow(Wide mantissa, int exponent, bool negative, bool sticky) {
  Exact v;
  v.negative = negative;
  int shift = std::max(topBit(mantissa) - 63, 0);
  v.sticky = sticky || (shift && (mantissa & ((Wide(1) << shift) - 1)) != 0);
  v.mantissa = uint64_t(mantissa >> shift);
  v.exponent = exponent + shift;
  return v;
}

/// Shifts right; what falls off stays as a one in the last place.
Wide shiftRightSticky(Wide value, int by) {
  if (by <= 0)
    return value;
  if (by > 127)
    return value != 0;
  Wide lost = value & ((Wide(1) << by) - 1);
  return (value >> by) | Wide(lost != 0);
}

/// Up to bit 125, so that a sum has room.
void raise(Wide &mantissa, int &exponent) {
  int up = 125 - topBit(mantissa);
  mantissa <<= up;
  exponent -= up;
}
} // namespace

Exact exactProduct(double a, double b) {
  Exact x = exactOf(a), y = exactOf(b);
  bool negative = x.negative != y.negative;
  if (x.kind == Exact::Kind::NaN || y.kind == Exact::Kind::NaN)
    return special(Exact::Kind::NaN, false);
  if (x.kind == Exact::Kind::Infinite || y.kind == Exact::Kind::Infinite)
    return special(a == 0 || b == 0 ? Exact::Kind::NaN : Exact::Kind::Infinite, negative);
  return narrow(Wide(x.mantissa) * y.mantissa, x.exponent + y.exponent, negative, false);
}

Exact exactFma(double a, double b, double c, Round round) {
  Exact x = exactOf(a), y = exactOf(b), z = exactOf(c);
  Exact product = exactProduct(a, b);
  if (product.kind != Exact::Kind::Finite || z.kind != Exact::Kind::Finite) {
    if (product.kind == Exact::Kind::NaN || z.kind == Exact::Kind::NaN)
      return special(Exact::Kind::NaN, false);
    if (product.kind == Exact::Kind::Infinite && z.kind == Exact::Kind::Infinite &&
        product.negative != z.negative)
      return special(Exact::Kind::NaN, false);
    return product.kind == Exact::Kind::Infinite ? product : z;
  }
  Wide p = Wide(x.mantissa) * y.mantissa, q = z.mantissa;
  int pe = x.exponent + y.exponent, qe = z.exponent;
  if (p == 0 && q == 0)
    return special(Exact::Kind::Finite,
                   product.negative == z.negative ? z.negative : round == Round::Down);
  if (p == 0)
    return z;
  if (q == 0)
    return product;
  raise(p, pe);
  raise(q, qe);
  // The smaller loses bits only when it is far below the larger: then nothing cancels, and the bit
  // it leaves in the last place is far below the place of any rounding.
  if (pe < qe)
    p = shiftRightSticky(p, qe - pe);
  else
    q = shiftRightSticky(q, pe - qe);
  int exponent = std::max(pe, qe);
  if (product.negative == z.negative)
    return narrow(p + q, exponent, z.negative, false);
  if (p == q)
    return special(Exact::Kind::Finite, round == Round::Down);
  return p > q ? narrow(p - q, exponent, product.negative, false)
               : narrow(q - p, exponent, z.negative, false);
}

Exact exactQuotient(double a, double b) {
  Exact x = exactOf(a), y = exactOf(b);
  bool negative = x.negative != y.negative;
  if (std::isnan(a) || std::isnan(b) || (a == 0 && b == 0) || (std::isinf(a) && std::isinf(b)))
    return special(Exact::Kind::NaN, false);
  if (std::isinf(a) || b == 0)
    return special(Exact::Kind::Infinite, negative);
  if (std::isinf(b) || a == 0)
    return special(Exact::Kind::Finite, negative);
  Wide dividend = x.mantissa;
  int exponent = x.exponent;
  raise(dividend, exponent);
  Wide quotient = dividend / y.mantissa; // 72 bits and more
  return narrow(quotient, exponent - y.exponent, negative, dividend % y.mantissa != 0);
}

Exact exactSqrt(double a) {
  Exact x = exactOf(a);
  if (std::isnan(a) || (x.negative && a != 0))
    return special(Exact::Kind::NaN, false);
  if (a == 0 || std::isinf(a))
    return x;
  Wide square = x.mantissa;
  int exponent = x.exponent;
  raise(square, exponent);
  if (exponent & 1) { // an even exponent, to halve it
    square <<= 1;
    --exponent;
  }
  Wide root = 0; // bit by bit: the largest whose square is not larger
  for (int bit = 63; bit >= 0; --bit) {
    Wide next = root | Wide(1) << bit;
    if (next * next <= square)
      root = next;
  }
  return narrow(root, exponent / 2, false, root * root != square);
}

} // namespace ts::emu
