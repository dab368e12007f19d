// The emulator's own encoding of a tensor map in the 128 bytes (of 64-byte alignment) that kernels
// pass around as opaque: what cp.async.bulk.tensor reads and tensormap.replace changes. Real
// CUtensorMap bytes mean nothing here. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_ENGINES_TENSORMAP_H
#define TS_EMULATOR_ENGINES_TENSORMAP_H

#include "ts/Runtime/LaunchPlan.h"

#include <cstdint>
#include <string>

namespace ts::emu {

struct TensorMap {
  static constexpr uint32_t expectedMagic = 0x70616d74; // "tmap"
  uint32_t magic = expectedMagic;
  uint8_t elementType = 0; // as tensormap.replace .elemtype numbers them (PTX ISA)
  uint8_t rank = 0;        // 1 to 5
  uint8_t swizzle = 0;     // 0 none, 1 32B, 2 64B, 3 128B (swizzle_mode of tensormap.replace)
  uint8_t swizzleAtomicity = 0;
  uint8_t interleave = 0; // 0 none, 1 16B, 2 32B
  uint8_t fillNan = 0;
  uint8_t empty = 0; // an array without elements: no copy may use it
  uint8_t reserved = 0;
  uint64_t address = 0;
  uint32_t sizes[5] = {1, 1, 1, 1, 1}; // innermost first; size as tensormap.replace global_dim
  uint16_t box[5] = {1, 1, 1, 1, 1};
  uint8_t elementStrides[5] = {1, 1, 1, 1, 1};
  uint8_t pad = 0;
  uint64_t strides[4] = {0, 0, 0, 0}; // bytes, of dimensions 1 to rank - 1
};
static_assert(sizeof(TensorMap) <= 128);

unsigned elementBits(uint8_t elementType); // 4 and 6 bit types too

/// Byte offset inside a swizzled shared-memory tile: XOR of 16-byte chunk bits, from the absolute
/// shared address. Source: PTX ISA, "Swizzling modes".
uint32_t swizzleAddress(uint8_t swizzle, uint8_t atomicity, uint32_t address);

/// "f16", "b4x16_p64", ...
const char *elementTypeName(uint8_t elementType);
enum : uint8_t { elementB4x16 = 13, elementB4x16P64 = 14, elementB6x16P32 = 15 };
/// The rules of the hardware for the fields together; empty if all hold.
std::string wrongInTensorMap(const TensorMap &map);

} // namespace ts::emu

#endif // TS_EMULATOR_ENGINES_TENSORMAP_H
