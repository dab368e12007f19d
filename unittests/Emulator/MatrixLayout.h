// Where TMA puts the elements of an operand tile, for tests of descriptors and of the instructions
// that use them: written from the swizzle formulas of tensor copies and from the drawings of core
// matrices, not from the code under test. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_MATRIXLAYOUT_H
#define TS_UNITTESTS_EMULATOR_MATRIXLAYOUT_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ts::emu::test {

/// A tile of `rows` (M or N) by `k` elements at an address that is a multiple of 1024.
struct TileLayout {
  unsigned swizzle = 128; // bytes, 0: core matrices
  bool kMajor = true;
  unsigned rows = 0, k = 0, bits = 16;

  unsigned perChunk() const { return 128 / bits; }
  /// Bytes of one row of a box: TMA's inner dimension.
  unsigned panelElements() const { return swizzle * 8 / bits; }

  /// Byte of element (row, j), a box after the other: the boxes are `swizzle` bytes wide along the
  /// major dimension and as long as the tile along the other.
  uint32_t at(unsigned row, unsigned j) const {
    unsigned major = kMajor ? j : row, minor = kMajor ? row : j, lines = kMajor ? rows : k;
    if (!swizzle) {
      // Core matrices of 8 lines of 16 bytes; those of one group of lines follow each other.
      unsigned majors = (kMajor ? k : rows) / perChunk();
      unsigned core = minor / 8 * majors + major / perChunk();
      return core * 128 + minor % 8 * 16 + major % perChunk() * bits / 8;
    }
    unsigned box = major / panelElements(), inBox = major % panelElements() * bits / 8;
    unsigned chunk = inBox / 16;
    if (swizzle == 128)
      chunk ^= minor & 7;
    else if (swizzle == 64)
      chunk ^= minor >> 1 & 3;
    else
      chunk ^= minor >> 2 & 1;
    return box * lines * swizzle + minor * swizzle + chunk * 16 + inBox % 16;
  }
  uint32_t bytes() const {
    if (!swizzle)
      return rows * k * bits / 8;
    unsigned major = kMajor ? k : rows, lines = kMajor ? rows : k;
    return (major + panelElements() - 1) / panelElements() * lines * swizzle;
  }

  /// Byte at which the K step beginning at element j starts, for the descriptor.
  uint32_t stepStart(unsigned j) const {
    if (!kMajor)
      return swizzle ? j * swizzle : j / 8 * (rows / perChunk()) * 128;
    if (!swizzle)
      return j / perChunk() * 128;
    unsigned box = j / panelElements();
    return box * rows * swizzle + j % panelElements() * bits / 8;
  }
  // Offsets of the descriptor in bytes.
  uint32_t leading() const {
    if (!swizzle)
      return kMajor ? 128 : 128 * (rows / perChunk()); // next core matrix along K
    return kMajor ? 16 : k * swizzle;                  // next box along MN
  }
  uint32_t stride() const {
    if (!swizzle)
      return kMajor ? 128 * (k / perChunk()) : 128; // next core matrix along MN
    return 8 * swizzle;
  }
};

/// wgmma's descriptor without a start address.
inline uint64_t wgmmaBits(const TileLayout &tile) {
  uint64_t mode = tile.swizzle == 128 ? 1 : tile.swizzle == 64 ? 2 : tile.swizzle == 32 ? 3 : 0;
  return uint64_t(tile.leading() >> 4) << 16 | uint64_t(tile.stride() >> 4) << 32 | mode << 62;
}
inline uint64_t tcgen05Bits(const TileLayout &tile) {
  uint64_t mode = tile.swizzle == 128 ? 2 : tile.swizzle == 64 ? 4 : tile.swizzle == 32 ? 6 : 0;
  return uint64_t(tile.leading() >> 4) << 16 | uint64_t(tile.stride() >> 4) << 32 |
         uint64_t(1) << 46 | mode << 61;
}

/// A number that the format holds exactly, encoded: sign, exponent, mantissa.
inline uint32_t encodeFloat(double value, unsigned exponentBits, unsigned mantissaBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  uint32_t sign = std::signbit(value) ? 1u << (exponentBits + mantissaBits) : 0;
  if (value == 0)
    return sign;
  int exponent = 0;
  double fraction = std::frexp(std::fabs(value), &exponent); // 0.5 <= fraction < 1
  --exponent;
  if (exponent + bias < 1)
    return sign | uint32_t(std::ldexp(std::fabs(value), bias - 1 + int(mantissaBits)));
  auto mantissa = uint32_t(std::ldexp(fraction * 2 - 1, int(mantissaBits)));
  return sign | uint32_t(exponent + bias) << mantissaBits | mantissa;
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_MATRIXLAYOUT_H
