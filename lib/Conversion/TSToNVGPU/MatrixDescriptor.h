// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bit fields that tell the tensor cores how operands are stored and multiplied: matrix
// descriptors of wgmma and tcgen05, the instruction descriptor of tcgen05.mma. Plain numbers in,
// plain numbers out; emitting code around them is LowerWorkWgmma.cpp's and LowerWorkUmma.cpp's
// part.
#ifndef TS_LIB_CONVERSION_TSTONVGPU_MATRIXDESCRIPTOR_H
#define TS_LIB_CONVERSION_TSTONVGPU_MATRIXDESCRIPTOR_H

#include "ts/Dialect/TS/IR/MatrixTile.h"

namespace mlir::ts {

/// A tile as a descriptor sees it. `mnMajor`: rows of the tile run along K (the transposed forms).
struct OperandTile {
  MatrixTile tile;
  unsigned swizzle = 0;
  int64_t bits = 0;
  bool mnMajor = false;

  int64_t getInnerBytes() const { return tile.inner * bits / 8; }
  int64_t getPanelBytes() const { return tile.panelStride * bits / 8; }
  int64_t getK() const { return mnMajor ? tile.rows : tile.getCols(); }
};

/// The two strides of a descriptor, in bytes (PTX ISA 8.8, "Canonical layouts").
struct DescriptorStrides {
  int64_t leading = 0, stride = 0;
};
DescriptorStrides getDescriptorStrides(const OperandTile &operand);

/// Bytes from the start of the tile to instruction `step`, each taking `k` elements of K.
int64_t getStepOffset(const OperandTile &operand, int64_t step, int64_t k);

/// wgmma matrix descriptor without the start address (PTX ISA 8.8, wgmma "Matrix descriptor").
uint64_t encodeWgmmaDescriptor(const OperandTile &operand);
/// tcgen05 shared-memory descriptor without the start address (PTX ISA 8.8, tcgen05 "Shared memory
/// descriptor").
uint64_t encodeUmmaDescriptor(DescriptorStrides strides, unsigned swizzle);

/// What the instruction descriptor of tcgen05.mma says (PTX ISA 8.8, "Instruction descriptor").
struct UmmaInstruction {
  StringRef kind;
  Type a, b, d, scale;
  /// Over both CTAs with cta_group 2.
  int64_t m = 0, n = 0;
  bool transposeA = false, transposeB = false;
  /// Byte of the scale column that a block-scaled step starts at.
  unsigned scaleId = 0;
};
uint32_t encodeUmmaInstruction(const UmmaInstruction &instruction);

} // namespace mlir::ts

#endif
