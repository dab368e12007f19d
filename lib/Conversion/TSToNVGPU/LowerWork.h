// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of ts-lower-work share: a builder with the arithmetic and addresses that they all
// emit, and one function per work primitive. Private to this library.
#ifndef TS_LIB_CONVERSION_TSTONVGPU_LOWERWORK_H
#define TS_LIB_CONVERSION_TSTONVGPU_LOWERWORK_H

#include "MatrixDescriptor.h"
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ts {

inline constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3, kTmemSpace = 6, kClusterSpace = 7;

/// Emits at one op. Constants fold, so that addresses with known parts come out short.
class WorkBuilder : public ImplicitLocOpBuilder {
public:
  explicit WorkBuilder(Operation *op) : ImplicitLocOpBuilder(op->getLoc(), op), op(op) {}

  InFlightDiagnostic emitUnsupported() { return op->emitError() << "[TS404] "; }

  Value i1(bool value);
  Value i16(int64_t value);
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value add(Value lhs, Value rhs);
  Value add(Value lhs, int64_t rhs);
  Value mul(Value lhs, int64_t rhs);
  Value bitAnd(Value lhs, int64_t mask);
  Value bitOr(Value lhs, Value rhs);
  Value bitXor(Value lhs, Value rhs);
  Value shiftLeft(Value lhs, int64_t count);
  Value shiftRight(Value lhs, int64_t count);
  /// `count` elements of `bits` bits in bytes; packed ones make whole bytes.
  Value toBytes(Value count, int64_t bits);
  /// index -> i32; other types pass.
  Value toI32(Value value);
  SmallVector<Value> toI32Reversed(ValueRange values);

  Value lane();
  /// 0..3: the warp within its warpgroup. Blocks are one-dimensional.
  Value warpOfGroup();

  Value pointer(Value address, unsigned space);
  /// A type that LLVM knows with the width of `type` (f8 and narrower are plain integers there).
  Type storageType(Type type);
  Value bitcast(Value value, Type type);
  Value load(Value pointer, Type type, unsigned align);
  void store(Value value, Value pointer, unsigned align);

  /// i32 byte address of the first element of a view of shared memory.
  FailureOr<Value> sharedAddress(Value view);
  /// i32 address (lane << 16 | column) of a view of tensor memory.
  FailureOr<Value> tmemAddress(Value view);
  /// i64 byte address of one element in global memory.
  Value globalAddress(Value memory, ValueRange indices);
  /// i32 byte address of one element of a shared-memory view, swizzle applied.
  FailureOr<Value> elementAddress(Value view, ValueRange indices);
  /// Applies the swizzle of `type` to a byte address.
  Value swizzle(Value address, MemRefType type);
  /// Address in a view whose rows are one swizzle span: `row` is the address of the row's start,
  /// `offset` + `fixed`, which share no bits, the byte within it. What depends on the row and on
  /// `offset` is the same for all `fixed`.
  Value swizzleInRow(Value row, Value offset, int64_t fixed, MemRefType type);
  /// True when each row of the view is one whole swizzle span, which `swizzleInRow` needs.
  static bool hasSpanRows(MemRefType type);

  /// Registers behind a !ts.wgmma, !ts.fragment or !ts.async value, and the way back.
  SmallVector<Value> registers(Value tile);
  Value tile(ArrayRef<Value> registers, Type type);
  /// 16-bit pair (low, high) in one i32; f32 inputs are rounded to nearest even.
  Value packPair(Value low, Value high, Type element);
  /// Inline assembly over registers: `outs` are tied to the first results, `uses` only read.
  SmallVector<Value> assembly(const Twine &text, ArrayRef<Value> inouts, ArrayRef<Value> uses,
                              bool readsMemory = true);

private:
  Operation *op;
};

/// What a !ts type becomes: !ts.wgmma and !ts.fragment a struct of N/2 registers per thread (N/4
/// registers of i32 for 16-bit elements, two in each), !ts.async<vector> the vector of i32 columns
/// that the load writes, !ts.tensor_map a pointer. Others unchanged.
Type convertWorkType(Type type);

// One function per op; each emits before the op and replaces its results, and leaves the op itself
// to be erased by the caller.
LogicalResult lowerOp(TmaLoadOp op);
LogicalResult lowerOp(TmaStoreOp op);
LogicalResult lowerOp(TmaPrefetchOp op);
LogicalResult lowerOp(BulkLoadOp op);
LogicalResult lowerOp(BulkStoreOp op);
LogicalResult lowerOp(BulkCommitOp op);
LogicalResult lowerOp(BulkWaitOp op);
LogicalResult lowerOp(TensorMapReplaceOp op);
LogicalResult lowerOp(CpAsyncOp op);
LogicalResult lowerOp(CpAsyncCommitOp op);
LogicalResult lowerOp(CpAsyncWaitOp op);
LogicalResult lowerOp(FenceOp op);
LogicalResult lowerOp(WarpSyncOp op);
LogicalResult lowerOp(ClusterSyncOp op);
LogicalResult lowerOp(UmmaOp op);
LogicalResult lowerOp(TmemLoadOp op);
LogicalResult lowerOp(TmemWaitOp op);
LogicalResult lowerOp(TmemStoreOp op);
LogicalResult lowerOp(TmemCopyOp op);
LogicalResult lowerOp(WgmmaZeroOp op);
LogicalResult lowerOp(WgmmaStartOp op);
LogicalResult lowerOp(WgmmaOp op, bool fence);
LogicalResult lowerOp(WgmmaCommitOp op);
LogicalResult lowerOp(WgmmaWaitOp op);
LogicalResult lowerOp(FragmentMapOp op);
LogicalResult lowerOp(FragmentReduceOp op);
LogicalResult lowerOp(FragmentStoreOp op);
LogicalResult lowerOp(FragmentLoadOp op);
LogicalResult lowerOp(LdMatrixOp op);
LogicalResult lowerOp(StMatrixOp op);

/// True when the op needs a wgmma.fence: not when it follows another wgmma of its group with
/// nothing in between that writes registers it uses.
bool needsWgmmaFence(WgmmaOp op);

/// Lowers a load or store of memref or vector when it is on swizzled or a peer CTA's memory; true
/// if it was.
FailureOr<bool> lowerSmemAccess(Operation *op);
/// TS407: `op` uses swizzled memory in a way that knows nothing of the swizzle.
LogicalResult checkSwizzledUse(Operation *op);

} // namespace mlir::ts

#endif
