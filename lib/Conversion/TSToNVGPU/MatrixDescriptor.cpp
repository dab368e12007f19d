// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header. Facts from PTX ISA 8.8; every function names its table.
#include "MatrixDescriptor.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

using namespace mlir;
using namespace mlir::ts;

/// Offsets and strides are stored in units of 16 bytes, 14 bits each.
static uint64_t encodeBytes(int64_t bytes) { return uint64_t(bytes >> 4) & 0x3fff; }

// Canonical layouts, T = 16 bytes of elements, span = swizzle span in T:
//   K-major,  no swizzle: ((8, m), (T, 2k)) : ((1T, SBO), (1, LBO))
//   K-major,  swizzled:   ((8, m), (T, 2k)) : ((span T, SBO), (1, T)), LBO unused
//   MN-major, no swizzle: ((T, 1, m), (8, k)) : ((1, T, SBO), (1T, LBO))
//   MN-major, swizzled:   ((T, span, m), (8, k)) : ((1, T, LBO), (span T, SBO))
// The tiles of this dialect have rows of one span (one core-matrix row without swizzle), so eight
// rows are one atom, and what lies beyond a row is the next panel.
DescriptorStrides mlir::ts::getDescriptorStrides(const OperandTile &operand) {
  int64_t atom = kCoreMatrixRows * operand.getInnerBytes();
  int64_t panel = operand.getPanelBytes();
  bool swizzled = operand.swizzle != 0;
  if (operand.mnMajor)
    return swizzled ? DescriptorStrides{panel, atom} : DescriptorStrides{atom, panel};
  // The hardware takes the leading offset of a swizzled K-major tile as 1 unit.
  return {swizzled ? kCoreMatrixRowBytes : panel, atom};
}

int64_t mlir::ts::getStepOffset(const OperandTile &operand, int64_t step, int64_t k) {
  if (operand.mnMajor)
    return step * k * operand.getInnerBytes();
  // Without swizzle a panel is narrower than a step, so a step starts at a whole panel.
  int64_t byte = step * k * operand.bits / 8;
  int64_t inner = operand.getInnerBytes();
  return byte / inner * operand.getPanelBytes() + byte % inner;
}

uint64_t mlir::ts::encodeWgmmaDescriptor(const OperandTile &operand) {
  DescriptorStrides strides = getDescriptorStrides(operand);
  // Bits 62-63: 1 = 128 bytes, 2 = 64, 3 = 32, 0 = none. Bits 49-51 (base offset) stay 0: stages
  // start at the repeat of the pattern.
  uint64_t mode = operand.swizzle == 128  ? 1
                  : operand.swizzle == 64 ? 2
                  : operand.swizzle == 32 ? 3
                                          : 0;
  return encodeBytes(strides.leading) << 16 | encodeBytes(strides.stride) << 32 | mode << 62;
}

uint64_t mlir::ts::encodeUmmaDescriptor(DescriptorStrides strides, unsigned swizzle) {
  // Bits 61-63: 2 = 128 bytes (16-byte atoms), 4 = 64, 6 = 32, 0 = none. Bits 46-48 are the
  // constant 0b001 of this descriptor version.
  uint64_t mode = swizzle == 128 ? 2 : swizzle == 64 ? 4 : swizzle == 32 ? 6 : 0;
  return encodeBytes(strides.leading) << 16 | encodeBytes(strides.stride) << 32 |
         uint64_t(1) << 46 | mode << 61;
}

/// Type codes of A and B, whose meaning depends on the kind.
static uint32_t encodeOperandType(StringRef kind, Type type) {
  if (kind == "f16")
    return type.isBF16() ? 1 : 0;
  if (kind == "tf32")
    return 2;
  if (kind == "i8")
    return type.isUnsignedInteger() ? 0 : 1;
  if (kind == "mxf4" || kind == "mxf4nvf4")
    return 1; // e2m1
  if (isa<Float8E5M2Type>(type))
    return 1;
  if (isa<Float6E2M3FNType>(type))
    return 3;
  if (isa<Float6E3M2FNType>(type))
    return 4;
  if (isa<Float4E2M1FNType>(type))
    return 5;
  return 0; // e4m3
}

uint32_t mlir::ts::encodeUmmaInstruction(const UmmaInstruction &instruction) {
  // Common to all kinds: types at 7 and 10, transposes at 15 and 16, N/8 at 17, M/16 at 24 (the
  // block-scaled tables write it M/128 at 27, the same bits for their multiples of 128).
  uint32_t bits = encodeOperandType(instruction.kind, instruction.a) << 7 |
                  encodeOperandType(instruction.kind, instruction.b) << 10 |
                  uint32_t(instruction.transposeA) << 15 | uint32_t(instruction.transposeB) << 16 |
                  uint32_t(instruction.n / 8) << 17 | uint32_t(instruction.m / 16) << 24;
  if (instruction.kind.starts_with("mx")) {
    // Scale ids of B at 4 and of A at 29; scale type at 23: 1 = ue8m0, 0 = ue4m3.
    return bits | instruction.scaleId << 4 | instruction.scaleId << 29 |
           uint32_t(isa<Float8E8M0FNUType>(instruction.scale)) << 23;
  }
  // D's type at 4: f16 = 0, f32 = 1, s32 = 2.
  uint32_t d = instruction.d.isF32() ? 1 : instruction.d.isInteger(32) ? 2 : 0;
  return bits | d << 4;
}
