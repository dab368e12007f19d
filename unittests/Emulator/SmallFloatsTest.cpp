// Number formats: every value of every format of at most 16 bits against a decode by its
// definition, and every rounding between neighbours. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "../../lib/Emulator/Numbers/SmallFloats.h"
#include "../../lib/Emulator/Numbers/Exact.h"
#include "../../lib/Emulator/Numbers/Rounding.h"

#include <cfenv>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace ts::emu;

namespace {
struct Shape {
  Num format;
  unsigned exponent, mantissa;
  int bias;
  bool infinity, nan;
};
const Shape shapes[] = {
    {Num::F16, 5, 10, 15, true, true},  {Num::BF16, 8, 7, 127, true, true},
    {Num::E4M3, 4, 3, 7, false, true},  {Num::E5M2, 5, 2, 15, true, true},
    {Num::E3M2, 3, 2, 3, false, false}, {Num::E2M3, 2, 3, 1, false, false},
    {Num::E2M1, 2, 1, 1, false, false}, {Num::UE4M3, 4, 3, 7, false, true},
};

double decode(const Shape &s, unsigned bits) {
  unsigned width = s.exponent + s.mantissa;
  unsigned m = bits & ((1u << s.mantissa) - 1), e = bits >> s.mantissa & ((1u << s.exponent) - 1);
  double sign = s.format != Num::UE4M3 && bits >> width & 1 ? -1 : 1;
  bool top = e == (1u << s.exponent) - 1;
  if (top && s.infinity)
    return m ? NAN : sign * INFINITY;
  if (top && s.nan && m == (1u << s.mantissa) - 1)
    return NAN;
  double unit = std::pow(2.0, 1 - s.bias - int(s.mantissa));
  return e ? sign * unit * ((1u << s.mantissa) + m) * std::pow(2.0, int(e) - 1) : sign * unit * m;
}

unsigned bitsOf(const Shape &s) { return s.exponent + s.mantissa + (s.format != Num::UE4M3); }
} // namespace

TEST(SmallFloats, EveryValueDecodes) {
  for (const Shape &s : shapes)
    for (unsigned bits = 0; bits < 1u << bitsOf(s); ++bits) {
      double expected = decode(s, bits), got = toDouble(s.format, bits);
      float narrow = toFloat(s.format, bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got) && std::isnan(narrow)) << int(s.format) << " " << bits;
        continue;
      }
      ASSERT_EQ(got, expected) << int(s.format) << " " << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(expected)) << int(s.format) << " " << bits;
      ASSERT_EQ(double(narrow), expected) << int(s.format) << " " << bits;
      ASSERT_EQ(fromDouble(s.format, expected), bits) << int(s.format);
    }
}

TEST(SmallFloats, KnownValues) {
  EXPECT_EQ(toFloat(Num::E4M3, 0x7e), 448.0f);
  EXPECT_EQ(toFloat(Num::E5M2, 0x7b), 57344.0f);
  EXPECT_EQ(toFloat(Num::E3M2, 0x1f), 28.0f);
  EXPECT_EQ(toFloat(Num::E2M3, 0x1f), 7.5f);
  const float fp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(toFloat(Num::E2M1, i), fp4[i]);
    EXPECT_EQ(toFloat(Num::E2M1, i | 8), -fp4[i]);
  }
  EXPECT_EQ(toFloat(Num::UE8M0, 127), 1.0f);
  EXPECT_EQ(toDouble(Num::UE8M0, 0), std::pow(2.0, -127));
  EXPECT_TRUE(std::isnan(toFloat(Num::UE8M0, 255)));
  EXPECT_EQ(toDouble(Num::S8, 0x80), -128.0);
  EXPECT_EQ(toDouble(Num::U8, 0x80), 128.0);
  EXPECT_EQ(toDouble(Num::TF32, 0x3f801fff), 1.0);
}

TEST(SmallFloats, EveryRoundingBetweenNeighbours) {
  for (const Shape &s : shapes) {
    unsigned half = 1u << (s.exponent + s.mantissa);
    for (unsigned low = 0; low + 1 < half; ++low) {
      double a = decode(s, low), b = decode(s, low + 1);
      if (!std::isfinite(a) || !std::isfinite(b))
        continue;
      for (double part : {0.25, 0.5, 0.75})
        for (double sign : {1.0, -1.0}) {
          double value = sign * (a + (b - a) * part);
          if (sign < 0 && s.format == Num::UE4M3)
            continue;
          unsigned signBit = sign < 0 ? half : 0;
          unsigned down = low | signBit, up = (low + 1) | signBit;
          unsigned nearest = part < 0.5 ? down : part > 0.5 ? up : low & 1 ? up : down;
          ASSERT_EQ(fromDouble(s.format, value), nearest) << int(s.format) << " " << value;
          ASSERT_EQ(fromDouble(s.format, value, Round::NearestAway), part < 0.5 ? down : up);
          ASSERT_EQ(fromDouble(s.format, value, Round::Zero), down);
          ASSERT_EQ(fromDouble(s.format, value, Round::Up), sign > 0 ? up : down);
          ASSERT_EQ(fromDouble(s.format, value, Round::Down), sign > 0 ? down : up);
          // A quarter needs random bits of three quarters to be carried up.
          uint32_t least = uint32_t(int64_t((1 - part) * 4294967296.0));
          ASSERT_EQ(fromDouble(s.format, value, Round::Stochastic, true, false, least), up);
          ASSERT_EQ(fromDouble(s.format, value, Round::Stochastic, true, false, least - 1), down);
          ASSERT_EQ(fromDouble(s.format, value, Round::Nearest, true, true),
                    sign > 0 ? nearest : 0);
        }
    }
  }
}

TEST(SmallFloats, Overflow) {
  EXPECT_EQ(fromDouble(Num::F16, 65519), 0x7bffu);
  EXPECT_EQ(fromDouble(Num::F16, 65520), 0x7c00u);
  EXPECT_EQ(fromDouble(Num::F16, 1e9, Round::Zero), 0x7bffu);
  EXPECT_EQ(fromDouble(Num::F16, -1e9, Round::Up), 0xfbffu);
  EXPECT_EQ(fromDouble(Num::F16, -1e9, Round::Down), 0xfc00u);
  EXPECT_EQ(fromDouble(Num::F16, -1e9, Round::Nearest, true), 0xfbffu);
  EXPECT_EQ(fromDouble(Num::F16, INFINITY, Round::Nearest, true), 0x7bffu);
  EXPECT_EQ(fromDouble(Num::F16, NAN, Round::Nearest, true), 0x7fffu);
  EXPECT_EQ(fromDouble(Num::F16, 1e300), 0x7c00u);
  EXPECT_EQ(fromDouble(Num::F16, 1e-300, Round::Up), 1u);
  EXPECT_EQ(fromDouble(Num::E4M3, 464, Round::Nearest, true), 0x7eu);
  EXPECT_EQ(fromDouble(Num::E4M3, -INFINITY, Round::Nearest, true), 0xfeu);
  EXPECT_EQ(fromDouble(Num::E4M3, NAN, Round::Nearest, true), 0x7fu);
  EXPECT_EQ(fromDouble(Num::E5M2, 1e6, Round::Nearest, true), 0x7bu);
  EXPECT_EQ(fromDouble(Num::E5M2, 1e6), 0x7cu);
  EXPECT_EQ(fromDouble(Num::E2M1, -100), 0xfu);
  EXPECT_EQ(fromDouble(Num::E2M1, NAN), 0x7u); // no NaN: the largest
  EXPECT_EQ(fromDouble(Num::E2M1, 5), 0x6u);   // a tie: to the even one, 4
  EXPECT_EQ(fromDouble(Num::E3M2, 1e9), 0x1fu);
  EXPECT_EQ(fromDouble(Num::F32, 1e300), 0x7f800000u);
  EXPECT_EQ(fromDouble(Num::TF32, 1.0 + std::pow(2.0, -11), Round::NearestAway), 0x3f802000u);
  EXPECT_EQ(fromDouble(Num::TF32, 1.0 + std::pow(2.0, -11)), 0x3f800000u);
  EXPECT_EQ(fromDouble(Num::TF32, NAN), 0x7fffffffu);
  EXPECT_EQ(fromDouble(Num::S8, -1000), 0x80u);
  EXPECT_EQ(fromDouble(Num::U8, 2.5), 2u);
  EXPECT_EQ(fromDouble(Num::S32, 3e9), 0x7fffffffu);
}

TEST(SmallFloats, Powers) {
  EXPECT_EQ(fromDouble(Num::UE8M0, 1.5, Round::Zero), 127u);
  EXPECT_EQ(fromDouble(Num::UE8M0, 1.5, Round::Up), 128u);
  EXPECT_EQ(fromDouble(Num::UE8M0, -1.0, Round::Up), 127u);
  EXPECT_EQ(fromDouble(Num::UE8M0, 0, Round::Up), 0u);
  EXPECT_EQ(fromDouble(Num::UE8M0, std::pow(2.0, -127) * 1.5, Round::Up), 1u);
  EXPECT_EQ(fromDouble(Num::UE8M0, std::pow(2.0, 127) * 1.5, Round::Up), 255u);
  EXPECT_EQ(fromDouble(Num::UE8M0, std::pow(2.0, 127) * 1.5, Round::Up, true), 254u);
  EXPECT_EQ(fromDouble(Num::UE8M0, NAN, Round::Up, true), 255u);
}

TEST(SmallFloats, LoopRoundingsAgree) {
  std::mt19937_64 random(1); // NOLINT(bugprone-random-generator-seed): the same every time
  for (unsigned bits = 0; bits < 65536; ++bits)
    for (unsigned low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xfffu, 0x1000u, 0x1001u, 0xffffu}) {
      float f = std::bit_cast<float>(bits << 16 | low);
      ASSERT_EQ(floatToHalf(f), fromDouble(Num::F16, f)) << f;
      ASSERT_EQ(floatToBf16(f), fromDouble(Num::BF16, f)) << f;
      double d = std::bit_cast<double>(uint64_t(std::bit_cast<uint32_t>(f)) << 29 |
                                       (random() & 0x1fffffff)) *
                 0x1p896;
      if (!std::isfinite(d) || random() % 3 == 0)
        continue;
      ASSERT_EQ(doubleToHalf(d), fromDouble(Num::F16, d)) << d;
      ASSERT_EQ(doubleToBf16(d), fromDouble(Num::BF16, d)) << d;
      ASSERT_EQ(std::bit_cast<uint32_t>(directedFloat<Round::Zero>(d)),
                fromDouble(Num::F32, d, Round::Zero));
      ASSERT_EQ(std::bit_cast<uint32_t>(directedFloat<Round::Up>(d)),
                fromDouble(Num::F32, d, Round::Up));
      ASSERT_EQ(std::bit_cast<uint32_t>(directedFloat<Round::Down>(d)),
                fromDouble(Num::F32, d, Round::Down));
    }
}

// Exact results against the host's own rounding, which the host does in hardware in every mode.
TEST(SmallFloats, ExactArithmetic) {
  std::mt19937_64 random(2); // NOLINT(bugprone-random-generator-seed): the same every time
  auto value = [&] {
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 1.0, -1.0, 5e-324, 1.7e308};
    if (random() % 8 == 0)
      return special[random() % 8];
    uint64_t bits = random();
    if (random() % 2) // close exponents, so that sums cancel
      bits = (bits & 0x800fffffffffffff) | (0x3f8 + random() % 16) << 52;
    return std::bit_cast<double>(bits);
  };
  struct Mode {
    Round round;
    int host;
  };
  for (Mode mode : {Mode{Round::Nearest, FE_TONEAREST}, Mode{Round::Zero, FE_TOWARDZERO},
                    Mode{Round::Up, FE_UPWARD}, Mode{Round::Down, FE_DOWNWARD}})
    for (int i = 0; i < 50000; ++i) {
      double a = value(), b = value(), c = value();
      volatile double va = a, vb = b, vc = c;
      fesetround(mode.host);
      volatile double product = va * vb, quotient = va / vb, fused = std::fma(va, vb, vc),
                      root = std::sqrt(va);
      fesetround(FE_TONEAREST);
      auto check = [&](const Exact &exact, double expected, const char *what) {
        double got = std::bit_cast<double>(roundExact(Num::F64, exact, mode.round));
        bool same = std::isnan(expected)
                        ? std::isnan(got)
                        : std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(expected);
        EXPECT_TRUE(same) << what << " " << a << " " << b << " " << c << " " << int(mode.round)
                          << ": " << got << ", expected " << expected;
      };
      check(exactProduct(a, b), product, "mul");
      check(exactQuotient(a, b), quotient, "div");
      check(exactFma(a, b, c, mode.round), fused, "fma");
      check(exactSqrt(a), root, "sqrt");
      if (HasFailure())
        return;
    }
}
