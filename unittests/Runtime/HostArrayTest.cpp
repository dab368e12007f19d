// Arrays of elements of less than a byte, and the random values of types without a sign.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/HostArray.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace ts;

namespace {
HostArray make(ElementType type, const std::vector<int64_t> &shape,
               const std::vector<int64_t> &strides = {}) {
  ArrayLayout layout{shape, strides.empty() ? contiguousStrides(shape) : strides};
  Result<HostArray> array = HostArray::create("A", type, layout);
  EXPECT_TRUE(array) << array.error().message;
  return std::move(*array);
}

TEST(HostArray, FourBitElementsArePacked) {
  HostArray array = make(ElementType::F4E2M1, {3, 8}, {10, 1});
  EXPECT_EQ(static_cast<int64_t>(array.image().size()), 2 * HostArray::guardBytes + 14);
  EXPECT_EQ(array.byteOffset(8 + 3) - array.dataOffset(), 5 + 1);
  for (int64_t i = 0; i < 24; ++i)
    array.store(i, i % 13 - 6);
  for (int64_t i = 0; i < 24; ++i)
    EXPECT_EQ(array.load(i), roundToElement(ElementType::F4E2M1, static_cast<double>(i % 13 - 6)));
  // The gap between the rows is nobody's.
  int64_t where = 0;
  EXPECT_EQ(array.countStrayWrites(where), 0);
  array.image()[static_cast<size_t>(array.dataOffset() + 4)] = 0;
  EXPECT_EQ(array.countStrayWrites(where), 1);
  EXPECT_EQ(where, 4);
}

TEST(HostArray, RowsBeginAtWholeBytes) {
  ArrayLayout odd{{3, 7}, {7, 1}}, apart{{3, 4}, {16, 2}}, one{{1, 7}, {7, 1}},
      empty{{3, 0}, {1, 1}};
  Status status = HostArray::check("A", ElementType::F4E2M1, odd);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "array 'A': stride 0 is 7 elements of f4e2m1; rows begin at whole "
            "bytes, so it has to be a multiple of 2");
  status = HostArray::check("A", ElementType::F4E2M1, apart);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "array 'A': stride 1 is 2 elements of f4e2m1; elements of less "
                                    "than a byte lie side by side, so it has to be 1");
  EXPECT_TRUE(HostArray::check("A", ElementType::F4E2M1, one));
  EXPECT_TRUE(HostArray::check("A", ElementType::F4E2M1, empty));
  EXPECT_TRUE(HostArray::check("A", ElementType::F8E8M0, odd));
}

TEST(HostArray, RandomValuesDoNotDependOnPacking) {
  HostArray dense = make(ElementType::F4E2M1, {5, 6}),
            padded = make(ElementType::F4E2M1, {5, 6}, {8, 1});
  fillNormal(dense, 3);
  fillNormal(padded, 3);
  bool negative = false;
  for (int64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(dense.load(i), padded.load(i));
    negative |= dense.load(i) < 0;
  }
  EXPECT_TRUE(negative);
}

TEST(HostArray, MagnitudesAndPowers) {
  HostArray array = make(ElementType::F8E4M3, {200}), powers = make(ElementType::F8E8M0, {200});
  fillNormal(array, 5, /*magnitudes=*/true);
  fillNormal(powers, 5);
  double least = 1, most = 1;
  for (int64_t i = 0; i < 200; ++i) {
    EXPECT_GE(array.load(i), 0);
    double value = powers.load(i);
    EXPECT_EQ(std::exp2(std::rint(std::log2(value))), value);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_LT(least, 1);
  EXPECT_GT(most, 1);
  fillInts(array, 5, 2, /*magnitudes=*/true);
  fillInts(powers, 5, 2);
  for (int64_t i = 0; i < 200; ++i) {
    EXPECT_GE(array.load(i), 0);
    EXPECT_LE(array.load(i), 2);
    EXPECT_TRUE(powers.load(i) == 1 || powers.load(i) == 2 || powers.load(i) == 4);
  }
}
} // namespace
