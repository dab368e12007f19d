// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How memrefs store matrix operands, and the instruction kinds that element types select.
#include "ts/Dialect/TS/IR/MatrixTile.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

using namespace mlir;
using namespace mlir::ts;

std::optional<MatrixTile> mlir::ts::getMatrixTile(MemRefType type) {
  int64_t rank = type.getRank();
  if (!type.hasStaticShape() || rank < 2 || rank > 3)
    return std::nullopt;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::nullopt;
  // Steps through memory must be known: they go into the descriptor. A panel count of one has none.
  MatrixTile tile;
  tile.panels = rank == 3 ? type.getDimSize(0) : 1;
  tile.rows = type.getDimSize(rank - 2);
  tile.inner = type.getDimSize(rank - 1);
  tile.rowStride = strides[rank - 2];
  tile.panelStride = rank == 3 && tile.panels > 1 ? strides[0] : 0;
  if (ShapedType::isDynamic(tile.rowStride) || ShapedType::isDynamic(tile.panelStride))
    return std::nullopt;
  return tile;
}

int64_t mlir::ts::getElementBits(Type type) {
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

static bool is8Bit(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }
static bool isFp4(Type type) { return isa<Float4E2M1FNType>(type); }
static bool isNarrowFloat(Type type) {
  return is8Bit(type) || isFp4(type) || isa<Float6E2M3FNType, Float6E3M2FNType>(type);
}

SmallVector<StringRef> mlir::ts::getUmmaKinds(Type a, Type b, Type scale) {
  if (scale) {
    SmallVector<StringRef> kinds;
    bool e8m0 = isa<Float8E8M0FNUType>(scale);
    if (isFp4(a) && isFp4(b)) {
      if (e8m0)
        kinds.push_back("mxf4");
      if (e8m0 || isa<Float8E4M3FNType>(scale))
        kinds.push_back("mxf4nvf4");
    }
    if (e8m0 && isNarrowFloat(a) && isNarrowFloat(b))
      kinds.push_back("mxf8f6f4");
    return kinds;
  }
  if (a == b && (a.isF16() || a.isBF16()))
    return {"f16"};
  if (a.isF32() && b.isF32())
    return {"tf32"};
  if (isNarrowFloat(a) && isNarrowFloat(b))
    return {"f8f6f4"};
  if (a.isInteger(8) && b.isInteger(8))
    return {"i8"};
  return {};
}

StringRef mlir::ts::getUmmaKind(UmmaOp op) {
  if (op.getKind())
    return *op.getKind();
  Type scale;
  if (!op.getScales().empty())
    scale = cast<MemRefType>(op.getScales().front().getType()).getElementType();
  SmallVector<StringRef> kinds = getUmmaKinds(op.getA().getType().getElementType(),
                                              op.getB().getType().getElementType(), scale);
  return kinds.empty() ? StringRef() : kinds.front();
}

int64_t mlir::ts::getUmmaK(StringRef kind, Type a) {
  if (kind == "f8f6f4" || kind == "mxf8f6f4")
    return kMmaKPadded;
  int64_t bits = getElementBits(a);
  return bits ? kMmaKBits / bits : 0;
}

int64_t mlir::ts::getWgmmaK(Type a) {
  int64_t bits = getElementBits(a);
  return bits ? kMmaKBits / bits : 0;
}

int64_t mlir::ts::getScalesPerStep(StringRef kind, Type scale) {
  // mxf8f6f4 has one scale per 32 elements of K = 32; the 4-bit kinds have K = 64, with one per 32
  // or, for e4m3 scales, one per 16.
  if (kind == "mxf8f6f4")
    return 1;
  return isa<Float8E4M3FNType>(scale) ? 4 : 2;
}

int64_t mlir::ts::getScaleColumns(int64_t rows, int64_t scalesPerRow) {
  // Blocks of 128 rows by four scales are 4 columns, as tcgen05.cp 32x128b.warpx4 writes them.
  return 4 * llvm::divideCeil(rows, 128) * llvm::divideCeil(scalesPerRow, 4);
}
