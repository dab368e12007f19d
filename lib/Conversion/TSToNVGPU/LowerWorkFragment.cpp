// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles between memory and arithmetic: element-wise maps, stmatrix and ldmatrix. Thread
// t of a warpgroup holds, per group of 8 columns, registers for its row and the row 8 below (PTX
// ISA 8.8, wgmma register fragments); for 16-bit elements that is one packed register each.
#include "LowerWork.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Elements of registers ----------------------------------------------------------------===//

/// The N/2 elements of a thread, unpacked where two share a register.
static SmallVector<Value> unpack(WorkBuilder &b, Value fragment) {
  Type element = cast<FragmentType>(fragment.getType()).getElementType();
  SmallVector<Value> registers = b.registers(fragment);
  SmallVector<Value> elements;
  if (getElementBits(element) != 16) {
    for (Value reg : registers)
      elements.push_back(b.bitcast(reg, element));
    return elements;
  }
  auto pair = VectorType::get({2}, element);
  for (Value reg : registers) {
    Value both = LLVM::BitcastOp::create(b, pair, reg);
    for (int64_t i : {0, 1})
      elements.push_back(LLVM::ExtractElementOp::create(b, both, b.i32(i)));
  }
  return elements;
}

/// Of element `i` of a thread: which of its two rows it belongs to, and its column without the
/// thread's own offset.
static int64_t rowOf(int64_t i) { return i / 2 % kRowsPerThread; }
static int64_t columnOf(int64_t i) { return i / 4 * kWgmmaNStep + i % 2; }

LogicalResult mlir::ts::lowerOp(FragmentMapOp op) {
  WorkBuilder b(op);
  FragmentType type = op.getType();
  Type element = type.getElementType();
  SmallVector<SmallVector<Value>> inputs;
  for (Value input : op.getInputs()) {
    if (isa<FragmentType>(input.getType())) {
      inputs.push_back(unpack(b, input));
      continue;
    }
    SmallVector<Value> &rows = inputs.emplace_back();
    for (int64_t row = 0; row < kRowsPerThread; ++row)
      rows.push_back(b.createOrFold<vector::ExtractOp>(input, row));
  }
  Value rows[kRowsPerThread], column;
  if (op.hasPlace()) {
    Value lane = b.lane();
    rows[0] = b.bitOr(b.shiftLeft(b.warpOfGroup(), 4), b.shiftRight(lane, 2));
    rows[1] = b.add(rows[0], kWarpTileRows / kRowsPerThread);
    column = b.shiftLeft(b.bitAnd(lane, 3), 1);
  }

  Block &body = op.getBody().front();
  SmallVector<Value> results;
  for (int64_t i = 0, e = type.getShape()[1] / 2; i < e; ++i) {
    IRMapping mapping;
    for (auto [argument, input, values] : llvm::zip(body.getArguments(), op.getInputs(), inputs))
      mapping.map(argument, values[isa<FragmentType>(input.getType()) ? i : rowOf(i)]);
    if (op.hasPlace()) {
      mapping.map(body.getArgument(inputs.size()), rows[rowOf(i)]);
      mapping.map(body.getArgument(inputs.size() + 1), b.add(column, columnOf(i)));
    }
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    results.push_back(
        mapping.lookupOrDefault(cast<YieldOp>(body.getTerminator()).getValues().front()));
  }

  SmallVector<Value> registers;
  if (getElementBits(element) == 16) {
    for (size_t i = 0; i < results.size(); i += 2)
      registers.push_back(b.packPair(results[i], results[i + 1], element));
    // Roundings that went into the packed conversion have no use left.
    for (Value result : results)
      if (Operation *def = result.getDefiningOp(); def && isOpTriviallyDead(def))
        def->erase();
  } else {
    for (Value result : results)
      registers.push_back(b.bitcast(result, b.storageType(element)));
  }
  op.getResult().replaceAllUsesWith(b.tile(registers, type));
  return success();
}

//===-- Rows ---------------------------------------------------------------------------------===//

static Value combine(WorkBuilder &b, ReduceKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case ReduceKind::Max:
    return isFloat ? arith::MaximumFOp::create(b, x, y).getResult()
                   : arith::MaxSIOp::create(b, x, y).getResult();
  case ReduceKind::Min:
    return isFloat ? arith::MinimumFOp::create(b, x, y).getResult()
                   : arith::MinSIOp::create(b, x, y).getResult();
  default:
    return isFloat ? arith::AddFOp::create(b, x, y).getResult()
                   : arith::AddIOp::create(b, x, y).getResult();
  }
}

/// In several chains, which do not wait for each other's latency.
static Value combineAll(WorkBuilder &b, ReduceKind kind, ArrayRef<Value> values) {
  constexpr size_t chains = 4;
  SmallVector<Value> results(values.take_front(chains));
  for (size_t i = chains; i < values.size(); ++i)
    results[i % chains] = combine(b, kind, results[i % chains], values[i]);
  while (results.size() > 1) {
    size_t half = (results.size() + 1) / 2;
    for (size_t i = half; i < results.size(); ++i)
      results[i - half] = combine(b, kind, results[i - half], results[i]);
    results.resize(half);
  }
  return results.front();
}

LogicalResult mlir::ts::lowerOp(FragmentReduceOp op) {
  WorkBuilder b(op);
  auto type = cast<VectorType>(op.getResult().getType());
  SmallVector<Value> rows;
  if (isa<FragmentType>(op.getValue().getType())) {
    SmallVector<Value> elements = unpack(b, op.getValue());
    for (int64_t row = 0; row < kRowsPerThread; ++row) {
      SmallVector<Value> own;
      for (auto [i, element] : llvm::enumerate(elements))
        if (rowOf(i) == row)
          own.push_back(element);
      rows.push_back(combineAll(b, op.getKind(), own));
    }
  } else {
    for (int64_t row = 0; row < kRowsPerThread; ++row)
      rows.push_back(b.createOrFold<vector::ExtractOp>(op.getValue(), row));
  }
  // The four threads of a row are neighbours.
  if (!op.getPartial())
    for (Value &row : rows)
      for (int64_t distance : {1, 2}) {
        Value other = NVVM::ShflOp::create(b, row.getType(), b.i32(-1), row, b.i32(distance),
                                           b.i32(31), NVVM::ShflKind::bfly, UnitAttr());
        row = combine(b, op.getKind(), row, other);
      }
  op.getResult().replaceAllUsesWith(vector::FromElementsOp::create(b, type, rows).getResult());
  return success();
}

//===-- stmatrix, ldmatrix -------------------------------------------------------------------===//

static NVVM::LdStMatrixShapeAttr getMatrixShape(WorkBuilder &b) {
  return NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
}

static void storeMatrices(WorkBuilder &b, Value address, ArrayRef<Value> registers,
                          bool transpose) {
  NVVM::StMatrixOp::create(b, b.pointer(address, kSharedSpace), registers,
                           transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                           getMatrixShape(b), NVVM::LdStMatrixEltType::B16);
}

static SmallVector<Value> loadMatrices(WorkBuilder &b, Value address, int64_t count,
                                       bool transpose) {
  Type i32 = b.getI32Type();
  Type type = count == 1
                  ? i32
                  : LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, i32));
  Value loaded =
      NVVM::LdMatrixOp::create(b, type, b.pointer(address, kSharedSpace), uint32_t(count),
                               transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                               getMatrixShape(b), NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {loaded};
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(LLVM::ExtractValueOp::create(b, loaded, i));
  return result;
}

LogicalResult mlir::ts::lowerOp(LdMatrixOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = b.elementAddress(op.getSrc(), op.getIndices());
  if (failed(address))
    return failure();
  auto type = cast<VectorType>(op.getResult().getType());
  SmallVector<Value> registers =
      loadMatrices(b, *address, type.getNumElements(), op.getTranspose());
  op.getResult().replaceAllUsesWith(vector::FromElementsOp::create(b, type, registers));
  return success();
}

LogicalResult mlir::ts::lowerOp(StMatrixOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = b.elementAddress(op.getDst(), op.getIndices());
  if (failed(address))
    return failure();
  SmallVector<Value> registers;
  for (int64_t i = 0, e = cast<VectorType>(op.getValue().getType()).getNumElements(); i < e; ++i)
    registers.push_back(vector::ExtractOp::create(b, op.getValue(), i));
  storeMatrices(b, *address, registers, op.getTranspose());
  return success();
}

//===-- Tiles --------------------------------------------------------------------------------===//

namespace {
/// Addresses in a tile, row by row of a warp: the row's part is computed once.
class TileAddress {
public:
  TileAddress(WorkBuilder &b, MemRefType type, Value base) : b(b), type(type), base(base) {
    tile = *getMatrixTile(type);
    bits = getElementBits(type.getElementType());
    spanRows = WorkBuilder::hasSpanRows(type);
  }

  /// Start of a row.
  Value row(Value index) { return b.add(base, b.mul(index, tile.rowStride * bits / 8)); }
  /// `row`'s byte `offset` + `fixed`; `offset` and `fixed` share no bits, and neither crosses a
  /// panel.
  Value at(Value row, Value offset, int64_t fixed) {
    int64_t inner = tile.inner * bits / 8;
    int64_t panel = fixed / inner;
    fixed %= inner;
    Value start = b.add(row, panel * tile.panelStride * bits / 8);
    if (spanRows)
      return b.swizzleInRow(start, offset, fixed, type);
    return b.swizzle(b.add(start, b.add(offset, fixed)), type);
  }

private:
  WorkBuilder &b;
  MemRefType type;
  Value base;
  MatrixTile tile;
  int64_t bits;
  bool spanRows;
};
} // namespace

/// A static tile of rank 2 or 3 with its address, or an error.
static FailureOr<TileAddress> getTileAddress(WorkBuilder &b, Value view) {
  auto type = cast<MemRefType>(view.getType());
  if (!getMatrixTile(type))
    return b.emitUnsupported() << "the tile " << type << " is no matrix with static strides";
  FailureOr<Value> base = b.sharedAddress(view);
  if (failed(base))
    return failure();
  return TileAddress(b, type, *base);
}

LogicalResult mlir::ts::lowerOp(FragmentStoreOp op) {
  WorkBuilder b(op);
  FailureOr<TileAddress> tile = getTileAddress(b, op.getDst());
  if (failed(tile))
    return failure();
  MemRefType dst = op.getDst().getType();
  Type from = op.getFragment().getType().getElementType(), to = dst.getElementType();
  int64_t groups = dst.getDimSize(1) / kWgmmaNStep, first = op.getColumn() / kWgmmaNStep;
  SmallVector<Value> registers = b.registers(op.getFragment());
  Value lane = b.lane();

  if (getElementBits(to) == 32) {
    // Two neighbouring elements of a row per thread: row lane/4 (+8), columns 2 (lane mod 4) + {0,
    // 1}.
    Type element = b.storageType(to);
    Value top = b.shiftRight(lane, 2);
    Value rows[] = {tile->row(top), tile->row(b.add(top, 8))};
    Value offset = b.shiftLeft(b.bitAnd(lane, 3), 3);
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t half : {0, 1}) {
        auto pair = ArrayRef(registers).slice((first + group) * 4 + half * 2, 2);
        Value both = vector::FromElementsOp::create(
            b, VectorType::get({2}, element),
            ValueRange{b.bitcast(pair[0], element), b.bitcast(pair[1], element)});
        Value address = tile->at(rows[half], offset, group * kWgmmaNStep * 4);
        b.store(both, b.pointer(address, kSharedSpace), 8);
      }
    return success();
  }

  // Two packed registers per group: rows 0-7 and 8-15.
  SmallVector<Value> packed;
  for (int64_t i = first * 2; i < (first + groups) * 2; ++i)
    packed.push_back(getElementBits(from) == 16
                         ? registers[i]
                         : b.packPair(registers[i * 2], registers[i * 2 + 1], to));
  // Lane l gives the address of row l mod 16, of the second group of a pair for lanes 16-31.
  Value row = tile->row(b.bitAnd(lane, 15));
  Value offset = b.bitAnd(lane, 16);
  Value none = b.i32(0);
  for (int64_t group = 0; group < groups; group += 2) {
    bool pair = group + 1 < groups;
    Value address = tile->at(row, pair ? offset : none, group * kCoreMatrixRowBytes);
    storeMatrices(b, address, ArrayRef(packed).slice(group * 2, pair ? 4 : 2), false);
  }
  return success();
}

LogicalResult mlir::ts::lowerOp(FragmentLoadOp op) {
  WorkBuilder b(op);
  FailureOr<TileAddress> tile = getTileAddress(b, op.getSrc());
  if (failed(tile))
    return failure();
  // The warp's 16 rows; lanes 0-15 address the rows of the first 8 columns, 16-31 of the next 8, so
  // that the four registers of each k step come out in operand order.
  Value lane = b.lane();
  Value row = tile->row(b.bitOr(b.shiftLeft(b.warpOfGroup(), 4), b.bitAnd(lane, 15)));
  Value offset = b.bitAnd(lane, 16);
  SmallVector<Value> registers;
  for (int64_t step = 0, e = op.getType().getShape()[1] / kWarpTileRows; step < e; ++step)
    llvm::append_range(
        registers,
        loadMatrices(b, tile->at(row, offset, step * 2 * kCoreMatrixRowBytes), 4, false));
  op.getResult().replaceAllUsesWith(b.tile(registers, op.getType()));
  return success();
}
