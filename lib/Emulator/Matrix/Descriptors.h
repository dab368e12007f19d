// Shared-memory matrix descriptors (wgmma and tcgen05 kinds), decoded and checked, and the address
// of an element of an operand they describe. Not for what is done with the elements: that is
// MatrixCore.h. Sources: PTX ISA, "Shared memory matrix layout", "Matrix descriptor format",
// "Canonical layouts", "Shared memory descriptor"; CUTLASS C++ headers for the layout with 32-byte
// atoms. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_MATRIX_DESCRIPTORS_H
#define TS_EMULATOR_MATRIX_DESCRIPTORS_H

#include "../Numbers/SmallFloats.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ts::emu {

/// Layout of one operand tile in shared memory.
struct SmemLayout {
  uint32_t start = 0;       // byte address in the shared window (18 bits, CTA-relative)
  uint32_t leading = 0;     // leading-dimension byte offset (or absolute address in that mode)
  uint32_t stride = 0;      // stride-dimension byte offset
  uint32_t base = 0;        // base offset (3 bits)
  uint8_t swizzle = 0;      // 0 none, 1 32B, 2 64B, 3 128B
  bool atomicity32 = false; // 128B with 32-byte atoms
  bool absolute = false;    // leading is an absolute address
  /// Bytes of a row of the swizzle pattern; 16 without one.
  uint32_t span() const { return 16u << swizzle; }
};
/// Both fault with Descriptor when reserved bits or modes are impossible.
SmemLayout wgmmaLayout(uint64_t descriptor);
SmemLayout tcgen05Layout(uint64_t descriptor);

/// Every layout moves whole chunks of 16 bytes, which hold neighbours along the major dimension.
inline constexpr uint32_t operandChunkBytes = 16;
/// Addresses of the chunks (18-bit window, swizzle applied). `rows` is M or N, `k` the number of
/// elements along K, `bits` what an element takes in memory (8 for the 4- and 6-bit formats that
/// are padded to 16 elements per chunk). With T = 128 / bits elements per chunk:
///   K-major:  chunks[row * (k / T) + j] has K elements j * T ... of the row
///   MN-major: chunks[kk * (rows / T) + j] has rows j * T ... of column kk
/// Faults (Descriptor) when the tile does not consist of whole chunks or leaves its pattern.
void operandChunks(const SmemLayout &layout, bool kMajor, unsigned rows, unsigned k, unsigned bits,
                   std::vector<uint32_t> &chunks);

/// The same by element: offsets[row * k + j] is the byte in which element (row, j) begins. Two
/// 4-bit elements share one: the one with even index along the major dimension is the low half.
void operandOffsets(const SmemLayout &layout, bool kMajor, unsigned rows, unsigned k, unsigned bits,
                    std::vector<uint32_t> &offsets);
/// The byte ranges (begin, size) an operand covers, merged: what the checker is told. Takes chunks
/// with 16 as `elementBytes`, too.
std::vector<std::pair<uint32_t, uint32_t>> operandRanges(const std::vector<uint32_t> &offsets,
                                                         unsigned elementBytes);

} // namespace ts::emu

#endif // TS_EMULATOR_MATRIX_DESCRIPTORS_H
