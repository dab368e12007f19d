// Matrix descriptors: fields, layouts of every swizzle and major-ness, faults.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../lib/Emulator/Matrix/Descriptors.h"
#include "../../lib/Emulator/Core/Fault.h"
#include "MatrixLayout.h"

#include <gtest/gtest.h>

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

constexpr uint32_t base = 0x8000;

uint64_t atAddress(uint64_t bits, uint32_t address) { return bits | (address & 0x3ffff) >> 4; }

template <class F> std::string descriptorFault(F f) {
  try {
    f();
  } catch (const FaultException &e) {
    EXPECT_EQ(e.kind, FaultKind::Descriptor) << e.message;
    return e.message;
  }
  return "";
}

/// All steps of `step` elements along K of a tile, against the TMA layout.
void checkSteps(const TileLayout &tile, unsigned step) {
  for (unsigned first = 0; first < tile.k; first += step) {
    uint32_t start = base + tile.stepStart(first);
    for (bool blackwell : {false, true}) {
      SmemLayout layout = blackwell ? tcgen05Layout(atAddress(tcgen05Bits(tile), start))
                                    : wgmmaLayout(atAddress(wgmmaBits(tile), start));
      std::vector<uint32_t> offsets;
      operandOffsets(layout, tile.kMajor, tile.rows, step, tile.bits, offsets);
      for (unsigned row = 0; row < tile.rows; ++row)
        for (unsigned j = 0; j < step; ++j)
          ASSERT_EQ(offsets[row * step + j], base + tile.at(row, first + j))
              << "swizzle " << tile.swizzle << (tile.kMajor ? " K" : " MN") << "-major, "
              << tile.bits << " bits, row " << row << ", k " << first + j;
    }
  }
}
} // namespace

TEST(Descriptors, LayoutsAreThoseOfTensorCopies) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u})
    for (bool kMajor : {true, false})
      for (unsigned bits : {8u, 16u, 32u})
        for (unsigned rows : {8u, 64u, 128u, 256u}) {
          TileLayout tile{swizzle, kMajor, rows, 1024 / bits * 2, bits};
          // One instruction takes 32 bytes of K in its K-major form.
          unsigned step = 256 / bits;
          unsigned wide = swizzle ? tile.panelElements() : tile.perChunk();
          if (!kMajor && rows % wide)
            continue; // a box is not filled
          checkSteps(tile, step);
        }
}

// What measured kernels use (bf16, head dimension 128): V MN-major with LBO = keys x 128 bytes, SBO
// 1024 and 2048 bytes per step of 16; Q and K with SBO 1024 and 32 bytes per step.
TEST(Descriptors, MeasuredHopperLayouts) {
  TileLayout v{128, false, 128, 96, 16};
  EXPECT_EQ(v.leading(), 96u * 128);
  EXPECT_EQ(v.stride(), 1024u);
  EXPECT_EQ(v.stepStart(16), 2048u);
  checkSteps(v, 16);
  TileLayout q{128, true, 64, 64, 16};
  EXPECT_EQ(q.stride(), 1024u);
  EXPECT_EQ(q.stepStart(16), 32u);
  checkSteps(q, 16);
}

TEST(Descriptors, Fields) {
  SmemLayout layout = wgmmaLayout(uint64_t(2) << 62 | uint64_t(5) << 49 | uint64_t(0x40) << 32 |
                                  uint64_t(0x123) << 16 | 0x3abc);
  EXPECT_EQ(layout.start, 0x3abc0u);
  EXPECT_EQ(layout.leading, 0x1230u);
  EXPECT_EQ(layout.stride, 0x400u);
  EXPECT_EQ(layout.base, 5u);
  EXPECT_EQ(layout.swizzle, 2);
  const unsigned spans[] = {16, 128, 64, 32};
  for (uint64_t mode = 0; mode < 4; ++mode)
    EXPECT_EQ(wgmmaLayout(mode << 62).span(), spans[mode]);
  uint64_t version = uint64_t(1) << 46;
  EXPECT_EQ(tcgen05Layout(version).span(), 16u);
  EXPECT_EQ(tcgen05Layout(version | uint64_t(2) << 61).span(), 128u);
  EXPECT_EQ(tcgen05Layout(version | uint64_t(4) << 61).span(), 64u);
  EXPECT_EQ(tcgen05Layout(version | uint64_t(6) << 61).span(), 32u);
  EXPECT_TRUE(tcgen05Layout(version | uint64_t(1) << 61).atomicity32);
  EXPECT_TRUE(tcgen05Layout(version | uint64_t(2) << 61 | uint64_t(1) << 52).absolute);
}

TEST(Descriptors, ImpossibleBitsAreNamed) {
  auto hopper = [](uint64_t bits) { return descriptorFault([=] { wgmmaLayout(bits); }); };
  auto blackwell = [](uint64_t bits) { return descriptorFault([=] { tcgen05Layout(bits); }); };
  EXPECT_NE(hopper(uint64_t(1) << 14).find("bits 14 to 15"), std::string::npos);
  EXPECT_NE(hopper(uint64_t(1) << 31).find("bits 30 to 31"), std::string::npos);
  EXPECT_NE(hopper(uint64_t(1) << 46).find("bits 46 to 48"), std::string::npos);
  EXPECT_NE(hopper(uint64_t(1) << 61).find("bits 52 to 61"), std::string::npos);
  uint64_t version = uint64_t(1) << 46;
  EXPECT_NE(blackwell(0).find("bits 46 to 48"), std::string::npos);
  EXPECT_NE(blackwell(version | uint64_t(1) << 60).find("bits 53 to 60"), std::string::npos);
  for (uint64_t mode : {3, 5, 7})
    EXPECT_NE(blackwell(version | mode << 61).find("swizzle mode"), std::string::npos);
  EXPECT_NE(blackwell(version | uint64_t(4) << 61 | uint64_t(1) << 52).find("absolute"),
            std::string::npos);
}

TEST(Descriptors, TilesThatDoNotFit) {
  std::vector<uint32_t> chunks;
  auto chunksOf = [&](uint64_t bits, bool kMajor, unsigned rows, unsigned k, unsigned elementBits) {
    return descriptorFault(
        [&] { operandChunks(wgmmaLayout(bits), kMajor, rows, k, elementBits, chunks); });
  };
  // 32 bytes from byte 112 of a row of 128.
  EXPECT_NE(chunksOf(uint64_t(1) << 62 | 0x807, true, 8, 16, 16).find("swizzle span"),
            std::string::npos);
  EXPECT_NE(chunksOf(uint64_t(3) << 62, true, 8, 32, 16).find("swizzle span"), std::string::npos);
  EXPECT_NE(chunksOf(0, false, 8, 32, 8).find("multiple of 16"), std::string::npos);
}

// 128-byte swizzle in atoms of 32 bytes: chunks of 32 bytes change places with bits 7 and 8 of the
// address, groups of four K rows are a stride apart.
TEST(Descriptors, AtomsOf32Bytes) {
  uint64_t bits =
      uint64_t(1) << 61 | uint64_t(1) << 46 | uint64_t(512 >> 4) << 32 | uint64_t(4096 >> 4) << 16;
  std::vector<uint32_t> offsets;
  operandOffsets(tcgen05Layout(atAddress(bits, base)), false, 64, 8, 32, offsets);
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned k = 0; k < 8; ++k) {
      unsigned inRow = row % 32 * 4, chunk = inRow / 32 ^ (k & 3);
      ASSERT_EQ(offsets[row * 8 + k],
                base + row / 32 * 4096 + k / 4 * 512 + k % 4 * 128 + chunk * 32 + inRow % 32);
    }
}

// Absolute leading address: 48 bytes of K from byte 96 of the rows, the last 16 in another buffer.
TEST(Descriptors, AbsoluteLeadingAddress) {
  constexpr uint32_t second = 0x10000;
  uint64_t bits = uint64_t(2) << 61 | uint64_t(1) << 52 | uint64_t(1) << 46 |
                  uint64_t(1024 >> 4) << 32 | uint64_t(second >> 4) << 16;
  std::vector<uint32_t> chunks;
  operandChunks(tcgen05Layout(atAddress(bits, base + 96)), true, 16, 96, 4, chunks);
  for (uint32_t row = 0; row < 16; ++row) {
    uint32_t line = row / 8 * 1024 + row % 8 * 128;
    EXPECT_EQ(chunks[row * 3], base + line + ((6 ^ row % 8) * 16));
    EXPECT_EQ(chunks[row * 3 + 1], base + line + ((7 ^ row % 8) * 16));
    EXPECT_EQ(chunks[row * 3 + 2], second + line + ((0 ^ row % 8) * 16));
  }
}

// A pattern that begins at 0x8180 (base offset 3): its first row is not swizzled.
TEST(Descriptors, BaseOffset) {
  uint64_t bits = uint64_t(1) << 62 | uint64_t(3) << 49 | uint64_t(1024 >> 4) << 32;
  std::vector<uint32_t> chunks;
  operandChunks(wgmmaLayout(atAddress(bits, base + 0x180)), true, 8, 16, 16, chunks);
  for (uint32_t row = 0; row < 8; ++row)
    EXPECT_EQ(chunks[row * 2], base + 0x180 + row * 128 + row * 16);
}

TEST(Descriptors, Ranges) {
  auto ranges = operandRanges({64, 16, 0, 128, 80}, 16);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0], std::make_pair(0u, 32u));
  EXPECT_EQ(ranges[1], std::make_pair(64u, 32u));
  EXPECT_EQ(ranges[2], std::make_pair(128u, 16u));
}
