// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-fill-bodies: products and copies into tensor memory that read whole stages. Operands are taken
// as bytes (kind i8), so any stage can be one, and the result is exact and equal in all columns.
#include "FillBodies.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::fill;
namespace proto = ::ts::protocol;

static constexpr int64_t kMinN = 16;
static constexpr int64_t kStepColumns = kStepBytes * 8 / kTmemColumnBits;

/// Starts of pieces of `piece` that cover `size`; the last one may overlap.
static SmallVector<int64_t> cover(int64_t size, int64_t piece) {
  SmallVector<int64_t> starts;
  for (int64_t at = 0; at < size; at += piece)
    starts.push_back(std::min(at, size - piece));
  return starts;
}

/// Columns [first, first + count) of a view.
static Value columnsOf(ImplicitLocOpBuilder &b, Value view, int64_t first, int64_t count) {
  auto type = cast<MemRefType>(view.getType());
  SmallVector<OpFoldResult> offsets = {b.getIndexAttr(0), b.getIndexAttr(first)};
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(type.getDimSize(0)), b.getIndexAttr(count)};
  SmallVector<OpFoldResult> strides = {b.getIndexAttr(1), b.getIndexAttr(1)};
  return memref::SubViewOp::create(b, view, offsets, sizes, strides);
}

namespace {
/// One piece of an operand. B's N says how many columns of the result it makes.
struct Piece {
  Value view;
  int64_t start = 0, n = 0;
};
} // namespace

LogicalResult BodyWriter::multiply(Value d, ArrayRef<Value> operands) {
  auto type = cast<MemRefType>(d.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1), group = kernel.ctasPerMma();
  if (columns % kMinN || (rows != 128 && !(rows == 64 && group == 1)))
    return refuse("a product of bytes has 128 rows and a multiple of 16 columns, found " +
                  Twine(rows) + " x " + Twine(columns));

  int64_t tile = rows * kStepBytes;
  SmallVector<Value> shared;
  SmallVector<Piece> as, bs;
  for (Value view : operands) {
    auto operand = cast<MemRefType>(view.getType());
    if (!isTmem(operand)) {
      shared.push_back(view);
      continue;
    }
    if (operand.getDimSize(0) != rows || operand.getDimSize(1) < kStepColumns) {
      kernel.remark(op, "an operand in tensor memory is too small for a product and not read");
      continue;
    }
    for (int64_t start : cover(operand.getDimSize(1), kStepColumns))
      as.push_back({view, start, 0});
  }
  auto size = [](Value view) { return getBytes(cast<MemRefType>(view.getType())); };
  // By hand: libstdc++'s stable sort uses what C++20 deprecates.
  auto largest = llvm::max_element(shared, [&](Value x, Value y) { return size(x) < size(y); });
  if (largest != shared.end())
    std::rotate(shared.begin(), largest, std::next(largest));
  // The largest stage is A, if it has to be, and B as well when it stands alone.
  if (as.empty() && !shared.empty() && size(shared.front()) >= tile) {
    for (int64_t start : cover(size(shared.front()), tile))
      as.push_back({shared.front(), start, 0});
    if (shared.size() > 1)
      shared.erase(shared.begin());
  }
  for (Value view : shared) {
    // The widest piece whose columns divide the result's, so that all columns get the same sum.
    int64_t n = std::min(columns, kMaxMmaN);
    while (n >= kMinN && (columns % n || n % kMinN || n / group * kStepBytes > size(view)))
      n -= kMinN;
    if (n < kMinN) {
      kernel.remark(op, "an operand of " + Twine(size(view)) +
                            " bytes is too small for a product and not read");
      continue;
    }
    for (int64_t start : cover(size(view), n / group * kStepBytes))
      bs.push_back({view, start, n});
  }
  if (as.empty() || bs.empty())
    return refuse("no stage that is held here is large enough to be " +
                  Twine(as.empty() ? "A" : "B") + " of a product with " + Twine(rows) + " x " +
                  Twine(columns) + " results");

  Type i8 = b.getI8Type();
  auto byteTile = [&](const Piece &piece, int64_t tileRows) {
    return bytes(piece.view, index(piece.start),
                 {kStepBytes / kCoreMatrixRowBytes, tileRows, kCoreMatrixRowBytes}, i8);
  };
  for (size_t i = 0; i < std::max(as.size(), bs.size()); ++i) {
    const Piece &a = as[i % as.size()], &bPiece = bs[i % bs.size()];
    Value left;
    if (isTmem(a.view.getType()))
      left = UnrealizedConversionCastOp::create(b,
                                                MemRefType::get({rows, kStepBytes}, i8,
                                                                MemRefLayoutAttrInterface(),
                                                                type.getMemorySpace()),
                                                columnsOf(b, a.view, a.start, kStepColumns))
                 .getResult(0);
    else
      left = byteTile(a, rows);
    Value right = byteTile(bPiece, bPiece.n / group);
    Value accumulate = arith::ConstantOp::create(b, b.getBoolAttr(i > 0));
    for (int64_t column = 0; column < columns; column += bPiece.n)
      UmmaOp::create(b, columnsOf(b, d, column, bPiece.n), left, right, accumulate, ValueRange(),
                     /*transpose_a=*/false, /*transpose_b=*/false, uint64_t(group), StringAttr());
  }
  return success();
}

LogicalResult BodyWriter::copyToTensorMemory(Value d, ArrayRef<Value> operands) {
  static constexpr int64_t kPieceBytes = 512, kPieceColumns = 4;
  int64_t columns = cast<MemRefType>(d.getType()).getDimSize(1), group = kernel.ctasPerMma();
  if (columns % kPieceColumns)
    return refuse("tcgen05.cp fills 4 columns at a time, '" + getResourceName(op->getOperand(0)) +
                  "' has " + Twine(columns));
  // Every byte of the sources, and every column at least once.
  int64_t column = 0, filled = 0;
  for (bool more = true; more;) {
    int64_t before = filled;
    for (Value view : operands) {
      if (isTmem(view.getType()))
        continue;
      int64_t size = getBytes(cast<MemRefType>(view.getType()));
      for (int64_t at = 0; at + kPieceBytes <= size;) {
        int64_t pieces = std::min((size - at) / kPieceBytes, (columns - column) / kPieceColumns);
        Value source = bytes(view, index(at), {pieces * kPieceBytes}, b.getI8Type());
        TmemCopyOp::create(b, source, columnsOf(b, d, column, pieces * kPieceColumns),
                           "32x128b.warpx4", uint64_t(group));
        at += pieces * kPieceBytes;
        filled += pieces * kPieceColumns;
        column = (column + pieces * kPieceColumns) % columns;
      }
    }
    if (filled == before)
      return refuse("no stage of at least 512 bytes is held here to copy from");
    more = filled < columns;
  }
  return success();
}
