// The sum of sm_90a's tensor cores on addends whose bits run out: values worked out by hand from
// the rule in AlignedSum.h. That the rule is the hardware's is for test/Emulator/agreement.test.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../lib/Emulator/Matrix/AlignedSum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace ts::emu;

namespace {
float sum(std::vector<float> a, std::vector<float> b, float d, Num type,
          AlignedSum::Precision precision) {
  return AlignedSum(a.data(), type, 1, b.data(), type, 1, unsigned(a.size()), precision)(0, 0, d);
}
float fp8(std::vector<float> a, std::vector<float> b, float d) {
  return sum(std::move(a), std::move(b), d, Num::E4M3, AlignedSum::fp8);
}

TEST(AlignedSum, SmallIntegersAreExact) {
  EXPECT_EQ(fp8({1, 2, -3, 4}, {5, -6, 7, 8}, 100), 5 - 12 - 21 + 32 + 100);
  EXPECT_EQ(fp8({0, 0}, {1, 2}, 0), 0);
  EXPECT_EQ(fp8({0, 0}, {1, 2}, -7), -7);
  EXPECT_EQ(fp8({1, -1}, {3, 3}, 0), 0);
}

TEST(AlignedSum, AddendsAreCutOffThirteenPlacesBelowTheLargest) {
  EXPECT_EQ(fp8({1, 0x1p-6f}, {1, 0x1p-7f}, 0), 1 + 0x1p-13f);
  EXPECT_EQ(fp8({1, 0x1p-6f}, {1, 0x1p-8f}, 0), 1);
  // Each is cut off by itself: four halves of the last place are nothing.
  EXPECT_EQ(
      fp8({1, 0x1p-6f, 0x1p-6f, 0x1p-6f, 0x1p-6f}, {1, 0x1p-8f, 0x1p-8f, 0x1p-8f, 0x1p-8f}, 0), 1);
  // Towards zero on both sides of it.
  EXPECT_EQ(fp8({-1, -0x1.8p-6f}, {1, 0x1p-7f}, 0), -1 - 0x1p-13f);
  // The accumulator counts, and is cut off as well.
  EXPECT_EQ(fp8({0x1p-6f}, {0x1p-1f}, 128), 128);
  EXPECT_EQ(fp8({16}, {16}, 0x1p-5f + 0x1p-6f), 256 + 0x1p-5f);
}

TEST(AlignedSum, AProductsExponentIsTheSumOfItsFactors) {
  // 1.5 * 1.5 = 2.25 counts as exponent 0: 2^-13 is kept by the alignment, but not by the result,
  // whose own exponent is 1.
  EXPECT_EQ(fp8({1.5f, 0x1p-6f, 0x1p-6f}, {1.5f, 0x1p-7f, 0x1p-7f}, 0), 2.25f + 0x1p-12f);
  EXPECT_EQ(fp8({1.5f, 0x1p-6f}, {1.5f, 0x1p-7f}, 0), 2.25f);
}

TEST(AlignedSum, WideKeepsTwentyFivePlaces) {
  auto wide = [](std::vector<float> a, std::vector<float> b, float d) {
    return sum(std::move(a), std::move(b), d, Num::BF16, AlignedSum::wide);
  };
  EXPECT_EQ(wide({1, 0x1p-12f}, {1, 0x1p-11f}, 0), 1 + 0x1p-23f);
  // Two of 2^-24 are one last place; one of them is cut off with the result, not rounded up.
  EXPECT_EQ(wide({1, 0x1p-12f, 0x1p-12f}, {1, 0x1p-12f, 0x1p-12f}, 0), 1 + 0x1p-23f);
  EXPECT_EQ(wide({1, 0x1p-12f, 0x1p-12f}, {1, 0x1p-12f, 0x1p-13f}, 0), 1);
  EXPECT_EQ(wide({1, 0x1p-13f, 0x1p-13f}, {1, 0x1p-13f, 0x1p-13f}, 0), 1);
}

TEST(AlignedSum, NotANumberAndInfinity) {
  float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fp8({1}, {2}, infinity), infinity);
  EXPECT_TRUE(std::isnan(fp8({1}, {2}, std::nanf(""))));
  EXPECT_TRUE(std::isnan(sum({infinity, infinity}, {1, -1}, 0, Num::E5M2, AlignedSum::fp8)));
}
} // namespace
