// One rounding of a value that is known exactly: the common end of every conversion and of directed
// arithmetic. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_NUMBERS_EXACT_H
#define TS_EMULATOR_NUMBERS_EXACT_H

#include "SmallFloats.h"

namespace ts::emu {

/// (-1)^negative * mantissa * 2^exponent, plus something less than one in the mantissa's last place
/// where `sticky` is set.
struct Exact {
  enum class Kind : uint8_t { Finite, Infinite, NaN };
  Kind kind = Kind::Finite;
  bool negative = false;
  bool sticky = false;
  uint64_t mantissa = 0;
  int exponent = 0;
};

Exact exactOf(double value);
/// Of the exact results; a zero sum has the sign of `round` (negative zero only for Down).
Exact exactFma(double a, double b, double c, Round round);
Exact exactProduct(double a, double b);
Exact exactQuotient(double a, double b);
Exact exactSqrt(double a);

/// The bits in a floating-point format (not S8, U8, S32); the arguments as for fromDouble.
uint64_t roundExact(Num format, const Exact &value, Round round, bool saturate = false,
                    uint32_t random = 0);

} // namespace ts::emu

#endif // TS_EMULATOR_NUMBERS_EXACT_H
