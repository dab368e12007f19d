// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built-in tile orders are bijections, walk groups of rows column by column, and a decoding
// that wraps around is found. What the lowering emits for them is tested in test/Conversion.
#include "ts/Support/TileOrder.h"

#include <gtest/gtest.h>

using namespace ts;

namespace {
struct PlainMath {
  int64_t constant(int64_t value) const { return value; }
  int64_t add(int64_t a, int64_t b) const { return a + b; }
  int64_t sub(int64_t a, int64_t b) const { return a - b; }
  int64_t mul(int64_t a, int64_t b) const { return a * b; }
  int64_t divu(int64_t a, int64_t b) const { return a / b; }
  int64_t minu(int64_t a, int64_t b) const { return a < b ? a : b; }
};
} // namespace

TEST(TileOrder, EveryGroupOnEverySmallGridIsABijection) {
  for (int64_t group : {1, 2, 3, 4, 5, 7, 8, 16, 1 << 20})
    for (uint32_t rows = 0; rows <= 17; ++rows) {
      EXPECT_EQ(findTileOrderFault({rows}, group), std::nullopt);
      for (uint32_t cols = 0; cols <= 9; ++cols) {
        EXPECT_EQ(findTileOrderFault({rows, cols}, group), std::nullopt)
            << rows << " x " << cols << " group " << group;
        EXPECT_EQ(findTileOrderFault({3, rows, cols}, group), std::nullopt)
            << rows << " x " << cols << " group " << group;
      }
    }
}

TEST(TileOrder, GroupsAreWalkedColumnByColumn) {
  PlainMath math;
  std::vector<std::vector<int64_t>> order;
  for (int64_t t = 0; t < 6; ++t)
    order.push_back(decodeTile(math, t, std::vector<int64_t>{3, 2}, 2));
  std::vector<std::vector<int64_t>> expected = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}};
  EXPECT_EQ(order, expected);
}

TEST(TileOrder, AWrappedProductIsNamed) {
  // 2^20 * 4096 columns is 0 in 32 bits.
  EXPECT_EQ(findTileOrderFault({1, 4096}, 1 << 20),
            "in a grid of 1 x 4096 tiles the decoding of work id 0 divides by zero");
  // 2^20 * 4097 wraps to 2^20: ids are right as long as they stay below it.
  EXPECT_EQ(findTileOrderFault({2, 4097}, 1 << 20), std::nullopt);
  EXPECT_NE(findTileOrderFault({256, 4096}, 1 << 20), std::nullopt);
}
