// Shared-memory matrix descriptors (wgmma and tcgen05 kinds) and the tcgen05 instruction
// descriptor, decoded and checked, and the address of an element of an operand they describe.
// Sources: PTX ISA, "Shared memory matrix layout", "Instruction descriptor"; CUTLASS C++ headers
// for bit positions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_MATRIX_DESCRIPTORS_H
#define TS_EMULATOR_MATRIX_DESCRIPTORS_H

#include "../Numbers/SmallFloats.h"

#include <cstdint>
#include <string>
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
};
/// Both fault with Descriptor when reserved bits or modes are impossible.
SmemLayout wgmmaLayout(uint64_t descriptor);
SmemLayout tcgen05Layout(uint64_t descriptor);

/// The tile as rows x bytes: offsets (in the 256 KiB shared window, swizzle applied) of each
/// element. `rows` is M or N, `k` the number of elements of `bits` each along K. `kMajor`: K
/// contiguous. Fills offsets[row * k + j] with the bit offset / 8 of the element (6-bit and 4-bit
/// elements: the padded or packed form that `packed4` names; see .cpp).
void operandOffsets(const SmemLayout &layout, bool kMajor, unsigned rows, unsigned k, unsigned bits,
                    std::vector<uint32_t> &offsets);
/// The byte ranges an operand covers, merged: what the checker is told.
std::vector<std::pair<uint32_t, uint32_t>> operandRanges(const std::vector<uint32_t> &offsets,
                                                         unsigned elementBytes);

} // namespace ts::emu

#endif // TS_EMULATOR_MATRIX_DESCRIPTORS_H
