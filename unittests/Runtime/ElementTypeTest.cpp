// f4e2m1 and f8e8m0, which no NumPy file holds or which are unlike the other floats: every code,
// and values between and on the middle of two. The wider types are tested through ts-run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/ElementType.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace ts;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

uint8_t codeOf(ElementType type, double value) {
  uint8_t code = 0xaa;
  storeElement(type, &code, value);
  return code;
}

TEST(ElementType, FourBitCodes) {
  constexpr double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint8_t i = 0; i < 8; ++i) {
    uint8_t positive = i, negative = i | 8;
    EXPECT_EQ(loadElement(ElementType::F4E2M1, &positive), values[i]);
    EXPECT_EQ(loadElement(ElementType::F4E2M1, &negative), -values[i]);
    EXPECT_EQ(codeOf(ElementType::F4E2M1, values[i]), i);
    EXPECT_EQ(codeOf(ElementType::F4E2M1, -values[i]), i | 8);
    if (i + 1 == 8)
      continue;
    // The middle goes to the even code, its neighbourhood to the nearer one.
    double middle = (values[i] + values[i + 1]) / 2;
    EXPECT_EQ(codeOf(ElementType::F4E2M1, middle), i % 2 ? i + 1 : i) << middle;
    EXPECT_EQ(codeOf(ElementType::F4E2M1, std::nextafter(middle, 0)), i) << middle;
    EXPECT_EQ(codeOf(ElementType::F4E2M1, std::nextafter(middle, 9)), i + 1) << middle;
    EXPECT_EQ(halfUlp(ElementType::F4E2M1, middle), (values[i + 1] - values[i]) / 2) << middle;
  }
}

TEST(ElementType, FourBitsHoldNumbersOnly) {
  EXPECT_EQ(codeOf(ElementType::F4E2M1, 1e9), 7);
  EXPECT_EQ(codeOf(ElementType::F4E2M1, -kInf), 15);
  EXPECT_EQ(codeOf(ElementType::F4E2M1, kNan) & 7, 7);
  EXPECT_TRUE(isFloat(ElementType::F4E2M1));
  EXPECT_FALSE(hasNan(ElementType::F4E2M1));
  EXPECT_EQ(maxFinite(ElementType::F4E2M1), 6);
}

TEST(ElementType, PowersOfTwo) {
  for (int code = 0; code < 255; ++code) {
    auto byte = static_cast<uint8_t>(code);
    double value = std::ldexp(1.0, code - 127);
    EXPECT_EQ(loadElement(ElementType::F8E8M0, &byte), value);
    EXPECT_EQ(codeOf(ElementType::F8E8M0, value), code);
    if (code == 254)
      continue;
    EXPECT_EQ(codeOf(ElementType::F8E8M0, 1.5 * value), code % 2 ? code + 1 : code) << code;
    EXPECT_EQ(codeOf(ElementType::F8E8M0, 1.49 * value), code) << code;
    EXPECT_EQ(codeOf(ElementType::F8E8M0, 1.51 * value), code + 1) << code;
  }
  uint8_t nan = 0xff;
  EXPECT_TRUE(std::isnan(loadElement(ElementType::F8E8M0, &nan)));
  for (double value : {kNan, kInf, -kInf, -1.0, 0x1p128})
    EXPECT_EQ(codeOf(ElementType::F8E8M0, value), 0xff) << value;
  EXPECT_EQ(codeOf(ElementType::F8E8M0, 0), 0);
  EXPECT_FALSE(isSigned(ElementType::F8E8M0));
  EXPECT_TRUE(hasNan(ElementType::F8E8M0));
}

TEST(ElementType, TwoElementsShareAByte) {
  uint8_t bytes[3] = {0xff, 0xff, 0xff};
  storeElementAt(ElementType::F4E2M1, bytes, 2, 1.5);
  storeElementAt(ElementType::F4E2M1, bytes, 1, -0.5);
  EXPECT_EQ(bytes[0], 0x9f);
  EXPECT_EQ(bytes[1], 0xf3);
  EXPECT_EQ(bytes[2], 0xff);
  EXPECT_EQ(loadElementAt(ElementType::F4E2M1, bytes, 0), -6);
  EXPECT_EQ(loadElementAt(ElementType::F4E2M1, bytes, 1), -0.5);
  EXPECT_EQ(loadElementAt(ElementType::F4E2M1, bytes, 2), 1.5);
  EXPECT_EQ(elementBytes(ElementType::F4E2M1, 5), 3);
  EXPECT_EQ(elementBytes(ElementType::F32, 5), 20);
  EXPECT_EQ(elementSize(ElementType::F4E2M1), 1);
}

TEST(ElementType, Names) {
  for (const char *name : {"f4e2m1", "f8e8m0", "f8e4m3", "bf16", "ui8", "i64"}) {
    auto type = parseElementType(name);
    ASSERT_TRUE(type) << name;
    EXPECT_STREQ(elementTypeName(*type), name);
  }
  EXPECT_FALSE(parseElementType("f6e2m3"));
}
} // namespace
