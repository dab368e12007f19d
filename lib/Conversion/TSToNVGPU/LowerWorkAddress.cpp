// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses of views: followed through the view ops to the start of dynamic shared memory, so that
// what is known at compile time folds. Swizzled accesses of memref and vector ops are here too.
// Not done with memref.extract_strided_metadata throughout, because expand-strided-metadata loses
// the shift of a memref.view.
#include "LowerWork.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Views --------------------------------------------------------------------------------===//

/// The view that `value` is a plain reinterpretation of, or null.
static Value getSameAddress(Value value) {
  Operation *def = value.getDefiningOp();
  if (isa_and_nonnull<memref::MemorySpaceCastOp, memref::CastOp, memref::CollapseShapeOp,
                      memref::ExpandShapeOp, memref::AssumeAlignmentOp>(def))
    return def->getOperand(0);
  return {};
}

/// Byte offset that a subview adds, with the source's strides known.
static FailureOr<Value> getSubviewOffset(WorkBuilder &b, memref::SubViewOp subview) {
  auto source = cast<MemRefType>(subview.getSource().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(source.getStridesAndOffset(strides, offset)))
    return failure();
  int64_t bits = getStoredBits(source);
  Value result = b.i32(0);
  for (auto [position, stride] : llvm::zip_equal(subview.getMixedOffsets(), strides)) {
    if (ShapedType::isDynamic(stride))
      return failure();
    if (std::optional<int64_t> constant = getConstantIntValue(position)) {
      result = b.add(result, *constant * stride * bits / 8);
      continue;
    }
    Value index = b.toI32(cast<Value>(position));
    result = b.add(result, b.toBytes(index, stride * bits));
  }
  return result;
}

FailureOr<Value> WorkBuilder::sharedAddress(Value view) {
  if (Value source = getSameAddress(view))
    return sharedAddress(source);
  if (auto cast = view.getDefiningOp<memref::ViewOp>()) {
    FailureOr<Value> base = sharedAddress(cast.getSource());
    if (failed(base))
      return failure();
    return add(*base, toI32(cast.getByteShift()));
  }
  if (auto subview = view.getDefiningOp<memref::SubViewOp>()) {
    FailureOr<Value> base = sharedAddress(subview.getSource());
    if (failed(base))
      return failure();
    FailureOr<Value> offset = getSubviewOffset(*this, subview);
    if (failed(offset))
      return emitUnsupported() << "the strides of the view " << subview.getSource().getType()
                               << " are not known at compile time";
    return add(*base, *offset);
  }
  auto type = cast<MemRefType>(view.getType());
  Value base = arith::IndexCastOp::create(
      *this, getI32Type(), memref::ExtractAlignedPointerAsIndexOp::create(*this, view));
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(type.getStridesAndOffset(strides, offset)) && !ShapedType::isDynamic(offset))
    return add(base, offset * getStoredBits(type) / 8);
  // A view that comes through control flow carries its offset with it.
  auto metadata = memref::ExtractStridedMetadataOp::create(*this, view);
  return add(base, toBytes(toI32(metadata.getOffset()), getStoredBits(type)));
}

FailureOr<Value> WorkBuilder::tmemAddress(Value view) {
  if (Value source = getSameAddress(view))
    return tmemAddress(source);
  if (auto start = view.getDefiningOp<TmemViewOp>())
    return start.getAddress();
  // The same columns, seen as other elements.
  if (auto cast = view.getDefiningOp<UnrealizedConversionCastOp>())
    if (cast.getInputs().size() == 1 && isTmem(cast.getInputs()[0].getType()))
      return tmemAddress(cast.getInputs()[0]);
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  if (!subview || subview.getSourceType().getRank() != 2)
    return emitUnsupported()
           << "the tensor-memory view " << view.getType()
           << " is not a subview of an allocation of rank 2, so its address is not "
              "known here; take it with memref.subview where it is used";
  FailureOr<Value> base = tmemAddress(subview.getSource());
  if (failed(base))
    return failure();
  int64_t bits = getElementBits(subview.getSourceType().getElementType());
  SmallVector<OpFoldResult> offsets = subview.getMixedOffsets();
  auto scaled = [&](OpFoldResult offset, int64_t times, int64_t shift) -> Value {
    if (std::optional<int64_t> constant = getConstantIntValue(offset))
      return i32((*constant * times) >> shift);
    return shiftRight(mul(toI32(cast<Value>(offset)), times), shift);
  };
  Value column = scaled(offsets[1], bits, 5);
  return add(add(*base, scaled(offsets[0], 1 << 16, 0)), column);
}

Value WorkBuilder::globalAddress(Value memory, ValueRange indices) {
  auto metadata = memref::ExtractStridedMetadataOp::create(*this, memory);
  Value element = metadata.getOffset();
  for (auto [index, stride] : llvm::zip_equal(indices, metadata.getStrides()))
    element = add(element, createOrFold<arith::MulIOp>(index, stride));
  int64_t bits = getElementBits(cast<MemRefType>(memory.getType()).getElementType());
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(*this, memory);
  return arith::IndexCastOp::create(*this, getI64Type(), add(base, toBytes(element, bits)));
}

//===-- Swizzle ------------------------------------------------------------------------------===//

// PTX ISA 8.8, "Swizzling modes": within a span, bits 4.. of the address (16-byte chunk) are XORed
// with bits 7.. (128-byte line). Works on whole addresses since stages start at the repeat.
static int64_t getSwizzleMask(unsigned span) { return span ? int64_t(span) - 16 : 0; }

Value WorkBuilder::swizzle(Value address, MemRefType type) {
  int64_t mask = getSwizzleMask(getSwizzle(type));
  if (!mask)
    return address;
  return bitXor(address, bitAnd(shiftRight(address, 3), mask));
}

Value WorkBuilder::swizzleInRow(Value row, Value offset, int64_t fixed, MemRefType type) {
  // A row starts at a span, so the line bits of its elements are those of its start.
  int64_t mask = getSwizzleMask(getSwizzle(type));
  Value swizzled = bitXor(bitAnd(shiftRight(row, 3), mask), offset);
  return add(row, fixed ? bitXor(swizzled, i32(fixed)) : swizzled);
}

bool WorkBuilder::hasSpanRows(MemRefType type) {
  std::optional<MatrixTile> tile = getMatrixTile(type);
  int64_t bits = getElementBits(type.getElementType());
  return tile && getSwizzle(type) && tile->inner * bits == int64_t(getSwizzle(type)) * 8 &&
         tile->rowStride == tile->inner;
}

FailureOr<Value> WorkBuilder::elementAddress(Value view, ValueRange indices) {
  auto type = cast<MemRefType>(view.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return emitUnsupported() << "the strides of the view " << type
                             << " are not known at compile time";
  FailureOr<Value> address = sharedAddress(view);
  if (failed(address))
    return failure();
  int64_t bits = getElementBits(type.getElementType());
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    address = add(*address, toBytes(toI32(index), stride * bits));
  return swizzle(*address, type);
}

//===-- memref and vector accesses -----------------------------------------------------------===//

/// A number that `value` is certainly a multiple of.
static int64_t getKnownMultiple(Value value, unsigned depth = 0) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant == 0 ? int64_t(1) << 30 : std::abs(*constant);
  if (depth > 8)
    return 1;
  Operation *def = value.getDefiningOp();
  auto operand = [&](unsigned i) { return getKnownMultiple(def->getOperand(i), depth + 1); };
  if (isa_and_nonnull<arith::MulIOp>(def))
    return std::min(operand(0), int64_t(1) << 20) * std::min(operand(1), int64_t(1) << 20);
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(def))
    return std::gcd(operand(0), operand(1));
  if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(def))
    return operand(0);
  if (isa_and_nonnull<arith::ShLIOp>(def))
    if (std::optional<int64_t> count = getConstantIntValue(def->getOperand(1));
        count && *count < 20)
      return operand(0) << *count;
  return 1;
}

/// A number of elements that the start of `view` is certainly a multiple of, counted from the start
/// of its allocation, which is aligned to the repeat of its swizzle.
static int64_t getStartMultiple(Value view) {
  if (Value source = getSameAddress(view))
    return getStartMultiple(source);
  auto type = cast<MemRefType>(view.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  if (!subview)
    return succeeded(type.getStridesAndOffset(strides, offset)) && !ShapedType::isDynamic(offset)
               ? offset
               : 1;
  int64_t multiple = getStartMultiple(subview.getSource());
  if (failed(subview.getSourceType().getStridesAndOffset(strides, offset)))
    return 1;
  for (auto [position, stride] : llvm::zip_equal(subview.getMixedOffsets(), strides)) {
    if (ShapedType::isDynamic(stride))
      return 1;
    std::optional<int64_t> constant = getConstantIntValue(position);
    int64_t steps = constant ? *constant : getKnownMultiple(cast<Value>(position));
    multiple = std::gcd(multiple, steps * stride);
  }
  return multiple;
}

namespace {
/// One access of a memref, vector or distributed shared memory op.
struct Access {
  Value memory;
  ValueRange indices;
  Value stored; // null for a load
  Type type;
  Value cta; // whose memory it is; null for the own
};
} // namespace

static std::optional<Access> getAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Access{load.getMemRef(), load.getIndices(), {}, load.getType(), {}};
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return Access{load.getBase(), load.getIndices(), {}, load.getType(), {}};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Access{
        store.getMemRef(), store.getIndices(), store.getValue(), store.getValue().getType(), {}};
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return Access{store.getBase(),
                  store.getIndices(),
                  store.getValueToStore(),
                  store.getValueToStore().getType(),
                  {}};
  if (auto load = dyn_cast<DsmemLoadOp>(op))
    return Access{load.getSrc(), load.getIndices(), {}, load.getResult().getType(), load.getCta()};
  if (auto store = dyn_cast<DsmemStoreOp>(op))
    return Access{store.getDst(), store.getIndices(), store.getValue(), store.getValue().getType(),
                  store.getCta()};
  return std::nullopt;
}

FailureOr<bool> mlir::ts::lowerSmemAccess(Operation *op) {
  std::optional<Access> access = getAccess(op);
  if (!access)
    return false;
  auto memory = cast<MemRefType>(access->memory.getType());
  if (!access->cta && !getSwizzle(memory) && !isPadded(memory))
    return false;
  WorkBuilder b(op);
  Type element = getElementTypeOrSelf(access->type);
  int64_t bits = element.isIndex() ? 64 : getElementBits(element);
  auto vector = dyn_cast<VectorType>(access->type);
  if (access->cta && (bits % 8 || bits == 0))
    return b.emitUnsupported()
           << "elements of " << element
           << " are no whole bytes, so none can be read or written alone; view the "
              "memory as bytes";
  if (bits % 8 || bits == 0 || (vector && vector.getRank() != 1))
    return op->emitError() << "[TS407] an access to swizzled shared memory takes whole bytes and "
                              "vectors of rank 1, found "
                           << access->type << " in " << access->memory.getType()
                           << "; load bytes and convert, or use ts.ldmatrix";
  // Chunks of 16 bytes move as a whole; an access that may straddle them is split.
  int64_t count = vector ? vector.getNumElements() : 1, bytes = bits / 8;
  int64_t multiple =
      std::gcd(access->indices.empty() ? 1 : getKnownMultiple(access->indices.back()),
               getStartMultiple(access->memory));
  int64_t unit = 1;
  while (unit * 2 * bytes <= kCoreMatrixRowBytes && count % (unit * 2) == 0 &&
         multiple % (unit * 2) == 0)
    unit *= 2;

  Type storage = b.storageType(element);
  SmallVector<Value> elements;
  for (int64_t first = 0; first < count; first += unit) {
    SmallVector<Value> indices(access->indices);
    if (first)
      indices.back() = b.add(indices.back(), first);
    FailureOr<Value> address = b.elementAddress(access->memory, indices);
    if (failed(address))
      return failure();
    Value pointer = b.pointer(*address, kSharedSpace);
    if (access->cta)
      pointer = NVVM::MapaOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), kClusterSpace),
                                     pointer, b.toI32(access->cta));
    Type piece = unit == 1 ? storage : Type(VectorType::get({unit}, storage));
    if (!access->stored) {
      Value loaded = b.load(pointer, piece, unit * bytes);
      for (int64_t i = 0; i < unit; ++i)
        elements.push_back(b.bitcast(
            unit == 1 ? loaded : LLVM::ExtractElementOp::create(b, loaded, b.i32(i)).getResult(),
            element));
      continue;
    }
    SmallVector<Value> parts;
    for (int64_t i = first; i < first + unit; ++i)
      parts.push_back(b.bitcast(vector ? vector::ExtractOp::create(b, access->stored, i).getResult()
                                       : access->stored,
                                storage));
    b.store(unit == 1
                ? parts[0]
                : vector::FromElementsOp::create(b, cast<VectorType>(piece), parts).getResult(),
            pointer, unit * bytes);
  }
  if (!access->stored)
    op->getResult(0).replaceAllUsesWith(
        vector ? vector::FromElementsOp::create(b, vector, elements).getResult() : elements[0]);
  return true;
}

LogicalResult mlir::ts::checkSwizzledUse(Operation *op) {
  // Views keep the memory space, control flow passes them on; a space cast may only add a swizzle.
  bool knows =
      isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
          memref::DimOp, memref::AssumeAlignmentOp, memref::ExtractAlignedPointerAsIndexOp,
          memref::ExtractStridedMetadataOp, arith::SelectOp, RegionBranchOpInterface,
          RegionBranchTerminatorOpInterface>(op) ||
      isa_and_nonnull<scf::SCFDialect, TSDialect>(op->getDialect());
  if (auto cast = dyn_cast<memref::MemorySpaceCastOp>(op))
    knows = getSwizzle(llvm::cast<MemRefType>(cast.getSource().getType())) ==
            getSwizzle(llvm::cast<MemRefType>(cast.getType()));
  if (knows)
    return success();
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || (!getSwizzle(type) && !isPadded(type)))
      continue;
    return op->emitError()
           << "[TS407] '" << op->getName() << "' accesses " << type
           << " without its swizzle, expected memref.load/store, vector.load/store or "
              "a ts op: the 16-byte chunks of each "
           << getSwizzle(type) << "-byte span are permuted, so it would address other elements";
  }
  return success();
}
