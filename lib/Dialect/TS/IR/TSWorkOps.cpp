// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the work primitives that move data or name barriers: TMA, bulk copies, cp.async,
// distributed shared memory, barriers. The matrix primitives are in TSMatrixOps.cpp. Only what
// holds on every chip is checked here; whether a chip has the instruction is TS227 of ts-verify.
#include "ts/Dialect/TS/IR/HardwareLimits.h"
#include "ts/Dialect/TS/IR/MatrixTile.h"
#include "ts/Dialect/TS/IR/TS.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Shared checks ------------------------------------------------------------------------===//

static std::string dimsToString(ArrayRef<int64_t> dims) {
  return llvm::join(llvm::map_range(dims,
                                    [](int64_t dim) {
                                      return ShapedType::isDynamic(dim) ? std::string("?")
                                                                        : std::to_string(dim);
                                    }),
                    "x");
}

static SmallVector<int64_t> withoutUnitDims(ArrayRef<int64_t> dims) {
  return llvm::to_vector(llvm::make_filter_range(dims, [](int64_t dim) { return dim != 1; }));
}

static LogicalResult checkSmem(Operation *op, Type type, StringRef what) {
  if (isSmem(type)) {
    if (!isPadded(cast<MemRefType>(type)) || isa<TmaLoadOp, TmaStoreOp>(op))
      return success();
    return op->emitOpError() << what << " " << type
                             << " is padded; ts.tma_load writes such memory, ts.umma reads it";
  }
  return op->emitOpError() << what << " lies in shared memory (#ts.smem), found " << type;
}

static LogicalResult checkGlobal(Operation *op, Type type, StringRef what) {
  if (!isSmem(type) && !isTmem(type))
    return success();
  return op->emitOpError() << what << " lies in global memory, found " << type;
}

static LogicalResult checkIndices(Operation *op, size_t count, MemRefType type, StringRef what) {
  if (int64_t(count) == type.getRank())
    return success();
  return op->emitOpError() << "found " << count << " indices into " << what << " of type " << type
                           << ", expected one per dimension, " << type.getRank();
}

static LogicalResult checkSameElement(Operation *op, Type from, Type to) {
  if (from == to)
    return success();
  return op->emitOpError() << "copies do not convert: the source has element type " << from
                           << ", the destination " << to;
}

/// A copy engine sees a view as one run of bytes.
static LogicalResult checkContiguous(Operation *op, MemRefType type, StringRef what) {
  if (!type.hasStaticShape())
    return op->emitOpError() << what << " has the dynamic type " << type
                             << "; the bytes of a stage must be known at compile time";
  SmallVector<int64_t> strides;
  int64_t offset;
  bool contiguous = succeeded(type.getStridesAndOffset(strides, offset));
  int64_t expected = 1;
  for (int64_t i = type.getRank() - 1; contiguous && i >= 0; --i) {
    contiguous = type.getDimSize(i) == 1 || strides[i] == expected;
    // Shapes may be absurd here: the product only has to be right while it is small.
    if (type.getDimSize(i) > 0 && llvm::MulOverflow(expected, type.getDimSize(i), expected))
      contiguous = false;
  }
  if (contiguous)
    return success();
  return op->emitOpError() << what << " is copied as one contiguous block, but " << type
                           << " has gaps; copy row by row or take a whole tile";
}

static LogicalResult checkCtaGroup(Operation *op, int64_t group) {
  if (group == 1 || group == 2)
    return success();
  return op->emitOpError() << "cta_group is 1 or 2 (PTX ISA 8.8, tcgen05), found " << group;
}

static LogicalResult checkPending(Operation *op, int64_t pending) {
  if (pending >= 0 && pending <= std::numeric_limits<int32_t>::max())
    return success();
  return op->emitOpError()
         << "waits until at most 'pending' groups are in flight: expected a number "
            "from 0 to 2147483647, found "
         << pending;
}

/// Tile and box of one TMA copy; `rows` are the row indices of a gather or scatter.
static LogicalResult checkTma(Operation *op, TensorMapType map, MemRefType tile, StringRef what,
                              size_t coords, size_t rows, StringRef rowsWord) {
  if (failed(checkSmem(op, tile, what)) || failed(checkContiguous(op, tile, what)))
    return failure();
  if (map.getElementType() != tile.getElementType())
    return op->emitOpError() << what << " has element type " << tile.getElementType()
                             << ", the tensor map " << map.getElementType()
                             << "; TMA does not convert";
  SmallVector<int64_t> moved(map.getBox());
  size_t expectedCoords = map.getRank();
  if (rows) {
    if (int64_t(rows) != kGatherRows)
      return op->emitOpError() << "'" << rowsWord << "' takes " << kGatherRows
                               << " row indices (PTX ISA 8.8, tile::" << rowsWord << "4), found "
                               << rows;
    if (map.getRank() != 2 || map.getBox().front() != 1)
      return op->emitError() << "[TS228] '" << rowsWord
                             << "' needs a tensor map of rank 2 whose box is one row (PTX ISA 8.8, "
                                "tile::"
                             << rowsWord << "4), found rank " << map.getRank() << " and box "
                             << dimsToString(map.getBox());
    moved.front() = kGatherRows;
    expectedCoords = 1;
  }
  if (coords != expectedCoords)
    return op->emitOpError() << "found " << coords << " coordinates, expected " << expectedCoords
                             << (rows ? ": the row indices replace the first one"
                                      : ", one per dimension of the tensor map");
  if (withoutUnitDims(moved) != withoutUnitDims(tile.getShape()))
    return op->emitOpError() << "one copy moves " << dimsToString(moved) << " elements, but "
                             << what << " is " << dimsToString(tile.getShape())
                             << "; make box and view the same, or copy into a subview";
  if (map.getSwizzle() != getSwizzle(tile))
    return op->emitError() << "[TS228] the tensor map swizzles over " << map.getSwizzle()
                           << " bytes, " << what << " over " << getSwizzle(tile)
                           << "; readers would find the elements in other places";
  if (isPadded(tile) && isa<TmaStoreOp>(op))
    return op->emitOpError() << what << " " << tile
                             << " is padded, and padded elements can only be loaded";
  if (isPadded(tile) && map.getBox().back() != kPaddedBox)
    return op->emitError() << "[TS228] " << what << " is padded, so the innermost box dimension is "
                           << kPaddedBox << " elements (CUDA driver, 16U4_ALIGN16B), found "
                           << map.getBox().back();
  SmallVector<int64_t> strides;
  int64_t offset;
  // Element widths that do not divide the alignment step over it in whole alignments only.
  int64_t bits = getStoredBits(tile);
  int64_t step = kTmaSmemAlignment * 8;
  if (bits && step % bits == 0)
    step /= bits;
  if (succeeded(tile.getStridesAndOffset(strides, offset)) && !ShapedType::isDynamic(offset) &&
      offset % step)
    return op->emitError() << "[TS228] " << what << " starts at element " << offset
                           << ", which is not a multiple of " << kTmaSmemAlignment
                           << " bytes (PTX ISA 8.8, cp.async.bulk.tensor)";
  return success();
}

//===-- TMA ----------------------------------------------------------------------------------===//

LogicalResult TmaLoadOp::verify() {
  if (failed(checkCtaGroup(*this, getCtaGroup())))
    return failure();
  if (std::optional<StringRef> along = getAlong()) {
    if (*along != "m" && *along != "n")
      return emitOpError()
             << "multicasts along \"" << *along
             << "\"; expected \"n\" (to all CTAs with the same m, operand A) or \"m\" "
                "(to all with the same n, operand B)";
    if (getMulticast())
      return emitOpError() << "has both 'along' and the mask that follows from it; leave one out";
  }
  // One tensor map writes elements in one way.
  bool padded = isPadded(getDst().getType());
  for (Operation *user : getMap().getUsers()) {
    auto other = dyn_cast<TmaLoadOp>(user);
    if ((other && isPadded(other.getDst().getType()) != padded) ||
        (padded && isa<TmaStoreOp>(user)))
      return (emitOpError() << "writes " << (padded ? "padded" : "packed")
                            << " elements, and another copy by the same tensor map moves them "
                            << (padded ? "packed" : "padded")
                            << "; the tensor map says which it is, so take two")
                 .attachNote(user->getLoc())
             << "the other copy";
  }
  return checkTma(*this, getMap().getType(), getDst().getType(), "the destination",
                  getCoords().size(), getGather().size(), "gather");
}

LogicalResult TmaStoreOp::verify() {
  TensorMapType map = getMap().getType();
  if (failed(checkTma(*this, map, getSrc().getType(), "the source", getCoords().size(),
                      getScatter().size(), "scatter")))
    return failure();
  if (!getReduce())
    return success();
  if (!getScatter().empty())
    return emitOpError() << "'reduce' and 'scatter' exclude each other (PTX ISA 8.8, "
                            "cp.reduce.async.bulk.tensor has no scatter mode)";
  bool arithmetic =
      llvm::is_contained({ReduceKind::Add, ReduceKind::Min, ReduceKind::Max}, *getReduce());
  if (!arithmetic && !map.getElementType().isInteger())
    return emitOpError() << "reduction '" << stringifyReduceKind(*getReduce())
                         << "' needs integer elements (PTX ISA 8.8, cp.reduce.async.bulk.tensor), "
                            "found "
                         << map.getElementType() << "; floats take add, min and max";
  return success();
}

LogicalResult TmaPrefetchOp::verify() {
  int64_t rank = getMap().getType().getRank();
  if (getCoords().empty() || int64_t(getCoords().size()) == rank)
    return success();
  return emitOpError()
         << "found " << getCoords().size() << " coordinates, expected " << rank
         << ", one per dimension of the tensor map, or none to prefetch the descriptor";
}

LogicalResult TensorMapReplaceOp::verify() {
  struct Field {
    StringRef name;
    int64_t ordinals;
    bool wide;
  };
  static constexpr int64_t kDims = kMaxTensorRank;
  static const Field fields[] = {{"global_address", 0, true},
                                 {"rank", 0, false},
                                 {"box_dim", kDims, false},
                                 {"global_dim", kDims, false},
                                 {"global_stride", kDims - 1, true},
                                 {"element_stride", kDims, false},
                                 {"elemtype", 0, false},
                                 {"interleave_layout", 0, false},
                                 {"swizzle_mode", 0, false},
                                 {"fill_mode", 0, false},
                                 {"swizzle_atomicity", 0, false}};
  if (failed(checkSmem(*this, getMap().getType(), "the tensor map")))
    return failure();
  MemRefType map = getMap().getType();
  if (!map.hasStaticShape() || getBytes(map) != kTensorMapBytes)
    return emitOpError() << "a tensor map has " << kTensorMapBytes << " bytes, found " << map;
  const Field *field = llvm::find_if(fields, [&](const Field &f) { return f.name == getField(); });
  if (field == std::end(fields)) {
    std::string names =
        llvm::join(llvm::map_range(fields, [](const Field &f) { return f.name.str(); }), ", ");
    return emitOpError() << "unknown field '" << getField() << "' of a tensor map; expected one of "
                         << names << " (PTX ISA 8.8, tensormap.replace)";
  }
  if (int64_t(getOrdinal()) < 0 || int64_t(getOrdinal()) >= std::max<int64_t>(field->ordinals, 1))
    return emitOpError() << "field '" << field->name << "' has ordinals 0.."
                         << std::max<int64_t>(field->ordinals, 1) - 1
                         << " (PTX ISA 8.8, tensormap.replace), found " << int64_t(getOrdinal());
  if (getValue().getType().isInteger(64) != field->wide)
    return emitOpError() << "field '" << field->name << "' takes "
                         << (field->wide ? "an i64" : "an i32")
                         << " (PTX ISA 8.8, tensormap.replace), found " << getValue().getType();
  return success();
}

//===-- Bulk copies, cp.async ----------------------------------------------------------------===//

static LogicalResult checkBulk(Operation *op, MemRefType global, size_t indices, MemRefType shared,
                               bool load) {
  StringRef globalWord = load ? "the source" : "the destination";
  StringRef sharedWord = load ? "the destination" : "the source";
  if (failed(checkGlobal(op, global, globalWord)) || failed(checkSmem(op, shared, sharedWord)) ||
      failed(checkIndices(op, indices, global, globalWord)) ||
      failed(checkSameElement(op, (load ? global : shared).getElementType(),
                              (load ? shared : global).getElementType())) ||
      failed(checkContiguous(op, shared, sharedWord)))
    return failure();
  if (int64_t bytes = getBytes(shared); bytes == 0 || bytes % kBulkGranularity)
    return op->emitError() << "[TS228] a bulk copy moves a multiple of " << kBulkGranularity
                           << " bytes (PTX ISA 8.8, cp.async.bulk), found " << bytes << " bytes in "
                           << shared;
  return success();
}

LogicalResult BulkLoadOp::verify() {
  return checkBulk(*this, getSrc().getType(), getIndices().size(), getDst().getType(), true);
}
LogicalResult BulkStoreOp::verify() {
  return checkBulk(*this, getDst().getType(), getIndices().size(), getSrc().getType(), false);
}
LogicalResult BulkWaitOp::verify() { return checkPending(*this, getPending()); }

LogicalResult CpAsyncOp::verify() {
  MemRefType src = getSrc().getType(), dst = getDst().getType();
  if (failed(checkGlobal(*this, src, "the source")) ||
      failed(checkSmem(*this, dst, "the destination")) ||
      failed(checkIndices(*this, getSrcIndices().size(), src, "the source")) ||
      failed(checkIndices(*this, getDstIndices().size(), dst, "the destination")) ||
      failed(checkSameElement(*this, src.getElementType(), dst.getElementType())))
    return failure();
  int64_t bytes = getBytes();
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return emitOpError() << "each thread copies 4, 8 or 16 bytes (PTX ISA 8.8, cp.async), found "
                         << bytes;
  int64_t bits = getElementBits(dst.getElementType());
  if (bits == 0 || bytes * 8 % bits)
    return emitOpError() << "copies whole elements: " << bytes << " bytes do not hold a number of "
                         << dst.getElementType();
  return success();
}
LogicalResult CpAsyncWaitOp::verify() { return checkPending(*this, getPending()); }

//===-- Barriers -----------------------------------------------------------------------------===//

LogicalResult NamedBarrierOp::verify() {
  int64_t threads = getThreads();
  if (threads < kWarpSize || threads > kMaxThreads || threads % kWarpSize)
    return emitOpError() << "a named barrier counts whole warps: expected a multiple of "
                         << kWarpSize << " from " << kWarpSize << " to " << kMaxThreads
                         << " threads (PTX ISA 8.8, barrier.cta), found " << threads;
  if (getId() && (int64_t(*getId()) < kMinNamedBarrier || int64_t(*getId()) > kMaxNamedBarrier))
    return emitOpError() << "a named barrier has an id from " << kMinNamedBarrier << " to "
                         << kMaxNamedBarrier
                         << " (PTX ISA 8.8, barrier.cta; 0 is the barrier of the whole CTA), found "
                         << int64_t(*getId()) << "; leave it out to have one assigned";
  return success();
}

LogicalResult MbarrierOp::verify() {
  int64_t count = getCount();
  if (count >= 1 && count <= kMaxMbarrierCount)
    return success();
  return emitOpError() << "an mbarrier takes 1 to " << kMaxMbarrierCount
                       << " arrivals per phase (PTX ISA 8.8, mbarrier), found " << count;
}

/// Everything known about a barrier stands on the op that defines it.
template <typename Def> static LogicalResult checkBarrier(Operation *op, Value barrier) {
  Operation *def = barrier.getDefiningOp();
  if (isa_and_nonnull<Def>(def))
    return success();
  InFlightDiagnostic diag = op->emitOpError() << "expected a barrier made by '"
                                              << Def::getOperationName() << "', found ";
  if (!def)
    return diag << "a block argument; name the barrier itself";
  diag << "the result of '" << def->getName() << "'";
  diag.attachNote(def->getLoc()) << "made here";
  return diag;
}

LogicalResult BarrierSyncOp::verify() { return checkBarrier<NamedBarrierOp>(*this, getBarrier()); }
LogicalResult BarrierArriveOp::verify() {
  return checkBarrier<NamedBarrierOp>(*this, getBarrier());
}
LogicalResult MbarrierWaitOp::verify() { return checkBarrier<MbarrierOp>(*this, getBarrier()); }
LogicalResult MbarrierArriveOp::verify() {
  if (getExpect() && (int64_t(*getExpect()) < 0 || int64_t(*getExpect()) > kMaxMbarrierCount))
    return emitOpError() << "an mbarrier counts 0 to " << kMaxMbarrierCount
                         << " transaction bytes (PTX ISA 8.8, mbarrier), found "
                         << int64_t(*getExpect());
  return checkBarrier<MbarrierOp>(*this, getBarrier());
}

//===-- Distributed shared memory ------------------------------------------------------------===//

static LogicalResult checkDsmem(Operation *op, MemRefType memory, size_t indices, Type value) {
  if (failed(checkSmem(op, memory, "a peer's memory")) ||
      failed(checkIndices(op, indices, memory, "a peer's memory")))
    return failure();
  auto vector = dyn_cast<VectorType>(value);
  if (getElementTypeOrSelf(value) != memory.getElementType() || (vector && vector.getRank() != 1))
    return op->emitOpError() << "the value has type " << value << ", expected the element type "
                             << memory.getElementType() << " of " << memory
                             << ", or a vector of it";
  if (vector && !memory.isLastDimUnitStride())
    return op->emitOpError()
           << "a vector takes consecutive elements, but the innermost dimension of " << memory
           << " has another stride than 1";
  return success();
}

LogicalResult DsmemLoadOp::verify() {
  return checkDsmem(*this, getSrc().getType(), getIndices().size(), getResult().getType());
}
LogicalResult DsmemStoreOp::verify() {
  return checkDsmem(*this, getDst().getType(), getIndices().size(), getValue().getType());
}
