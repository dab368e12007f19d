// Conversions between number formats; see the header. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "SmallFloats.h"

#include "Exact.h"
#include "Rounding.h"

#include <bit>
#include <cmath>
#include <limits>

namespace ts::emu {
namespace {

/// What the largest exponent holds.
enum class Top : uint8_t {
  Ieee,    // infinity and NaNs
  OneNaN,  // numbers, and a NaN where the mantissa is all ones (e4m3)
  Numbers, // numbers only
};

struct Layout {
  unsigned exponentBits, mantissaBits;
  int bias;
  Top top;
  bool isSigned;
  uint64_t nan; // canonical, before shiftLeft
  unsigned shiftLeft = 0;
};

// NaN of f16 and bf16 is what the hardware makes of any NaN, and so is that of f32.
constexpr Layout layouts[] = {
    {5, 10, 15, Top::Ieee, true, 0x7fff},                        // F16
    {8, 7, 127, Top::Ieee, true, 0x7fff},                        // BF16
    {8, 10, 127, Top::Ieee, true, 0x3ffff, 13},                  // TF32
    {8, 23, 127, Top::Ieee, true, 0x7fffffff},                   // F32
    {11, 52, 1023, Top::Ieee, true, uint64_t(0x7ff80000) << 32}, // F64
    {4, 3, 7, Top::OneNaN, true, 0x7f},                          // E4M3
    {5, 2, 15, Top::Ieee, true, 0x7f},                           // E5M2
    {3, 2, 3, Top::Numbers, true, 0},                            // E3M2
    {2, 3, 1, Top::Numbers, true, 0},                            // E2M3
    {2, 1, 1, Top::Numbers, true, 0},                            // E2M1
    {8, 0, 127, Top::OneNaN, false, 0xff},                       // UE8M0
    {4, 3, 7, Top::OneNaN, false, 0x7f},                         // UE4M3
};

const Layout &layoutOf(Num format) { return layouts[size_t(format)]; }
bool isInteger(Num format) { return format >= Num::S8; }

uint64_t infinityOf(const Layout &f) {
  return ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
}
uint64_t largestOf(const Layout &f) {
  uint64_t all = (uint64_t(1) << (f.exponentBits + f.mantissaBits)) - 1;
  return f.top == Top::Ieee ? infinityOf(f) - 1 : f.top == Top::OneNaN ? all - 1 : all;
}

uint64_t withSign(const Layout &f, uint64_t magnitude, bool negative) {
  uint64_t sign = f.isSigned && negative ? uint64_t(1) << (f.exponentBits + f.mantissaBits) : 0;
  return (magnitude | sign) << f.shiftLeft;
}

/// Whether the magnitude goes up: `discarded` of `width` bits (and sticky) follow the last place.
bool roundsUp(Round round, bool negative, bool odd, uint64_t discarded, unsigned width, bool sticky,
              uint32_t random) {
  if (discarded == 0 && !sticky)
    return false;
  uint64_t half = uint64_t(1) << (width - 1);
  switch (round) {
  case Round::Nearest:
    return discarded > half || (discarded == half && (sticky || odd));
  case Round::NearestAway:
    return discarded >= half;
  case Round::Up:
    return !negative;
  case Round::Down:
    return negative;
  case Round::Stochastic: { // a carry out of the sum of both, most significant bits aligned
    uint64_t top = width >= 32 ? discarded >> (width - 32) : discarded << (32 - width);
    return top + random > 0xffffffffu;
  }
  default:
    return false;
  }
}

uint64_t overflow(const Layout &f, Round round, bool negative, bool saturate) {
  if (saturate || f.top == Top::Numbers)
    return largestOf(f);
  if (f.top == Top::OneNaN)
    return f.nan;
  bool toInfinity = round == Round::Up     ? !negative
                    : round == Round::Down ? negative
                                           : round != Round::Zero;
  return toInfinity ? infinityOf(f) : largestOf(f);
}

// Powers of two only, no zero and no sign: what is below the smallest becomes the smallest.
uint64_t roundToPower(const Exact &v, Round round, bool saturate) {
  const Layout &f = layoutOf(Num::UE8M0);
  if (v.kind == Exact::Kind::NaN)
    return f.nan;
  if (v.kind == Exact::Kind::Infinite)
    return saturate ? largestOf(f) : f.nan;
  if (v.mantissa == 0)
    return 0;
  int top = 63 - std::countl_zero(v.mantissa);
  int exponent = v.exponent + top + f.bias;
  uint64_t rest = v.mantissa ^ (uint64_t(1) << top);
  bool up = false;
  if (rest || v.sticky) // half of a binade is 1.5, and the exponent is even or odd
    up = round == Round::Up || ((round == Round::Nearest || round == Round::NearestAway) &&
                                top > 0 && rest >= uint64_t(1) << (top - 1));
  if (exponent < 0)
    return 0;
  exponent += up;
  return exponent > 254 ? (saturate ? 254 : f.nan) : uint64_t(exponent);
}

double integerLimit(Num format, bool low) {
  switch (format) {
  case Num::S8:
    return low ? -128 : 127;
  case Num::U8:
    return low ? 0 : 255;
  default:
    return low ? -2147483648.0 : 2147483647.0;
  }
}

double toIntegral(double value, Round round) {
  switch (round) {
  case Round::Zero:
    return std::trunc(value);
  case Round::Up:
    return std::ceil(value);
  case Round::Down:
    return std::floor(value);
  case Round::NearestAway:
    return std::round(value);
  default:
    return std::nearbyint(value); // the host's mode is never changed: nearest even
  }
}

uint64_t toInteger(Num format, double value, Round round) {
  if (std::isnan(value))
    return 0;
  double low = integerLimit(format, true), high = integerLimit(format, false);
  double whole = std::min(std::max(toIntegral(value, round), low), high);
  uint64_t mask = (uint64_t(1) << numBits(format)) - 1;
  return uint64_t(int64_t(whole)) & mask;
}
} // namespace

unsigned numBits(Num format) {
  switch (format) {
  case Num::F64:
    return 64;
  case Num::TF32:
  case Num::F32:
  case Num::S32:
    return 32;
  case Num::F16:
  case Num::BF16:
    return 16;
  case Num::E3M2:
  case Num::E2M3:
    return 6;
  case Num::E2M1:
    return 4;
  default:
    return 8;
  }
}

Exact exactOf(double value) {
  Exact v;
  auto bits = std::bit_cast<uint64_t>(value);
  v.negative = bits >> 63;
  uint64_t exponent = bits >> 52 & 0x7ff;
  v.mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7ff) {
    v.kind = v.mantissa ? Exact::Kind::NaN : Exact::Kind::Infinite;
    return v;
  }
  if (exponent)
    v.mantissa |= uint64_t(1) << 52;
  v.exponent = int(std::max<uint64_t>(exponent, 1)) - 1075;
  return v;
}

uint64_t roundExact(Num format, const Exact &v, Round round, bool saturate, uint32_t random) {
  if (format == Num::UE8M0)
    return roundToPower(v, round, saturate);
  const Layout &f = layoutOf(format);
  if (v.kind == Exact::Kind::NaN)
    return f.top == Top::Numbers ? largestOf(f) : f.shiftLeft ? 0x7fffffff : f.nan;
  bool negative = v.negative;
  if (negative && !f.isSigned)
    return 0;
  if (v.kind == Exact::Kind::Infinite)
    return withSign(f,
                    saturate || f.top == Top::Numbers ? largestOf(f)
                    : f.top == Top::OneNaN            ? f.nan
                                                      : infinityOf(f),
                    negative);
  // The place of the result's last bit: a whole mantissa above, the smallest subnormal at least.
  // Something far below the smallest is kept as a sticky bit.
  int least = 1 - f.bias - int(f.mantissaBits);
  uint64_t mantissa = v.mantissa;
  int exponent = v.exponent;
  bool sticky = v.sticky;
  if (mantissa == 0 && !sticky)
    return withSign(f, 0, negative);
  if (mantissa) {
    int up = std::countl_zero(mantissa);
    mantissa <<= up;
    exponent -= up;
  }
  int last = std::max(exponent + 63 - int(f.mantissaBits), least);
  int drop = last - exponent; // 11 for f64 at least, more for everything else
  uint64_t kept = 0, discarded = mantissa;
  unsigned width = 64;
  if (drop > 64) {
    int more = std::min(drop - 64, 63);
    sticky |= (mantissa & ((uint64_t(1) << more) - 1)) != 0 || drop - 64 > more;
    discarded = drop - 64 > more ? 0 : mantissa >> more;
  } else if (drop < 64) {
    kept = mantissa >> drop;
    discarded = mantissa & ((uint64_t(1) << drop) - 1);
    width = unsigned(drop);
  }
  if (roundsUp(round, negative, kept & 1, discarded, width, sticky, random))
    ++kept;
  // The mantissa's carry runs into the exponent by itself: bits are value * 2^-last plus exponent.
  uint64_t magnitude = kept;
  if (kept >> f.mantissaBits) {
    int biased = last - least + 1;
    if (biased > int((uint64_t(1) << f.exponentBits) + 1))
      return withSign(f, overflow(f, round, negative, saturate), negative);
    magnitude = kept - (uint64_t(1) << f.mantissaBits) + (uint64_t(biased) << f.mantissaBits);
  }
  if (magnitude > largestOf(f))
    magnitude = overflow(f, round, negative, saturate);
  return withSign(f, magnitude, negative);
}

namespace {
/// Every value of every format of at most 8 bits.
struct SmallTable {
  float values[size_t(Num::S32)][256];
  SmallTable() {
    for (size_t format = 0; format < size_t(Num::S32); ++format)
      for (unsigned bits = 0; bits < 256; ++bits)
        values[format][bits] =
            numBits(Num(format)) <= 8 ? float(toDouble(Num(format), bits)) : 0.0f;
  }
};
const SmallTable &smallTable() {
  static const SmallTable table;
  return table;
}
} // namespace

double toDouble(Num format, uint64_t bits) {
  switch (format) {
  case Num::F64:
    return std::bit_cast<double>(bits);
  case Num::F32:
    return std::bit_cast<float>(uint32_t(bits));
  case Num::TF32: { // matrix units do not look at the last 13 bits
    float whole = std::bit_cast<float>(uint32_t(bits));
    return std::isnan(whole) ? whole : std::bit_cast<float>(uint32_t(bits) & ~0x1fffu);
  }
  case Num::S8:
    return double(int8_t(bits));
  case Num::U8:
    return double(uint8_t(bits));
  case Num::S32:
    return double(int32_t(bits));
  case Num::UE8M0:
    return (bits & 0xff) == 0xff ? std::numeric_limits<double>::quiet_NaN()
                                 : std::ldexp(1.0, int(bits & 0xff) - 127);
  default:
    break;
  }
  const Layout &f = layoutOf(format);
  unsigned width = f.exponentBits + f.mantissaBits;
  bool negative = f.isSigned && bits >> width & 1;
  uint64_t magnitude = bits & ((uint64_t(1) << width) - 1);
  uint64_t exponent = magnitude >> f.mantissaBits;
  uint64_t mantissa = magnitude & ((uint64_t(1) << f.mantissaBits) - 1);
  double value;
  if (f.top == Top::Ieee && magnitude >= infinityOf(f))
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (f.top == Top::OneNaN && magnitude == f.nan)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(double(mantissa), 1 - f.bias - int(f.mantissaBits));
  else
    value = std::ldexp(double(mantissa | uint64_t(1) << f.mantissaBits),
                       int(exponent) - f.bias - int(f.mantissaBits));
  return negative ? -value : value;
}

float toFloat(Num format, uint64_t bits) {
  switch (format) {
  case Num::F32:
    return std::bit_cast<float>(uint32_t(bits));
  case Num::BF16:
    return std::bit_cast<float>(uint32_t(bits) << 16);
  case Num::F16:
    return halfToFloat(uint16_t(bits));
  case Num::F64:
  case Num::TF32:
  case Num::S32:
    return float(toDouble(format, bits));
  default:
    return smallTable().values[size_t(format)][bits & 0xff];
  }
}

uint64_t fromDouble(Num format, double value, Round round, bool saturate, bool relu,
                    uint32_t random) {
  if (relu && !std::isnan(value) && std::signbit(value))
    value = 0;
  if (isInteger(format))
    return toInteger(format, value, round);
  return roundExact(format, exactOf(value), round, saturate, random);
}

} // namespace ts::emu
