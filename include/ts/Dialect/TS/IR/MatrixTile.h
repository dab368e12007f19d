// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a memref stores a matrix operand, and which tensor-core instruction its types select. Used by
// the verifiers and the lowering, so that both read a tile alike. Descriptor bits are not here.
#ifndef TS_DIALECT_TS_IR_MATRIXTILE_H
#define TS_DIALECT_TS_IR_MATRIXTILE_H

#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {
/// A matrix operand as it is stored: `panels` blocks side by side, each `rows` x `inner` elements.
/// memref<RxC> is one panel, memref<PxRxC> is the R x (P * C) matrix in P panels: a swizzled row is
/// exactly one span long, so wider matrices come in panels.
struct MatrixTile {
  int64_t panels = 1, rows = 0, inner = 0;
  /// Elements from one panel (row) to the next.
  int64_t panelStride = 0, rowStride = 0;
  int64_t getCols() const { return panels * inner; }
};

/// The tile that `type` stores; nothing when it is not a static, strided matrix of rank 2 or 3.
std::optional<MatrixTile> getMatrixTile(MemRefType type);

/// Bits of one element; 0 for types without a fixed width.
int64_t getElementBits(Type type);

/// UMMA kinds that the element types allow, preferred one first; empty when none does.
/// `scale` is the element type of the block scales, null without.
SmallVector<StringRef> getUmmaKinds(Type a, Type b, Type scale);
/// The kind an op names, or else the one its types select ("" for types that no kind takes).
StringRef getUmmaKind(UmmaOp op);
/// Elements of K per instruction.
int64_t getUmmaK(StringRef kind, Type a);
int64_t getWgmmaK(Type a);
/// Block scales of a row that one instruction of a scaled kind takes.
int64_t getScalesPerStep(StringRef kind, Type scale);
/// Columns of tensor memory that the block scales of a matrix take: a column of 32 bits has four
/// scales of each of 32 rows, in all four quarters of the lanes (PTX ISA 8.8, "Scale factor
/// layouts").
int64_t getScaleColumns(int64_t rows, int64_t scalesPerRow);
} // namespace mlir::ts

#endif
