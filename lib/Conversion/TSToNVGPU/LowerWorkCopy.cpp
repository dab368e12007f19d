// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work primitives that move bytes or order them: TMA, bulk copies, cp.async, tensor-map changes,
// fences, warp and cluster synchronisation, distributed shared memory.
#include "LowerWork.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

using namespace mlir;
using namespace mlir::ts;

//===-- TMA ----------------------------------------------------------------------------------===//

/// The generic pointer that a tensor map is a kernel argument by.
static Value getDescriptorPointer(WorkBuilder &b, Value map) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (auto cast = map.getDefiningOp<UnrealizedConversionCastOp>())
    if (cast.getInputs().size() == 1 && cast.getInputs()[0].getType() == pointer)
      return cast.getInputs()[0];
  return UnrealizedConversionCastOp::create(b, pointer, map).getResult(0);
}

/// Coordinates in the instruction's order, fastest first; row indices of gather and scatter follow
/// the column.
static SmallVector<Value> getCoordinates(WorkBuilder &b, ValueRange coords, ValueRange rows) {
  SmallVector<Value> result = b.toI32Reversed(coords);
  for (Value row : rows)
    result.push_back(b.toI32(row));
  return result;
}

static FailureOr<Value> getBarrier(WorkBuilder &b, Value barrier) {
  if (barrier && barrier.getType() == LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace))
    return barrier;
  return b.emitUnsupported()
         << "the load has no barrier to complete on, expected barrier(... : !llvm.ptr<3>); run "
            "ts-lower-schedule first, which gives it the one of the enclosing ts.produce";
}

static NVVM::CTAGroupKindAttr getGroup(MLIRContext *context, int64_t group) {
  return NVVM::CTAGroupKindAttr::get(context, group == 2 ? NVVM::CTAGroupKind::CTA_2
                                                         : NVVM::CTAGroupKind::CTA_1);
}

LogicalResult mlir::ts::lowerOp(TmaLoadOp op) {
  WorkBuilder b(op);
  FailureOr<Value> barrier = getBarrier(b, op.getBarrier());
  FailureOr<Value> address = failed(barrier) ? FailureOr<Value>() : b.sharedAddress(op.getDst());
  if (failed(address))
    return failure();
  auto mode = op.getGather().empty() ? NVVM::TMALoadMode::TILE : NVVM::TMALoadMode::TILE_GATHER4;
  // Not the op's predicate: it loses cta_group::2. The group is stated for pairs only, sm_90 has
  // none.
  NVVM::CTAGroupKindAttr group =
      op.getCtaGroup() == 2 ? getGroup(b.getContext(), 2) : NVVM::CTAGroupKindAttr();
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, b.pointer(*address, kClusterSpace), getDescriptorPointer(b, op.getMap()),
      getCoordinates(b, op.getCoords(), op.getGather()), *barrier, ValueRange(), op.getMulticast(),
      Value(), mode, /*isCTAOnly=*/false, group, Value());
  return success();
}

static NVVM::TMAReduxKind getReduction(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Add:
    return NVVM::TMAReduxKind::ADD;
  case ReduceKind::Min:
    return NVVM::TMAReduxKind::MIN;
  case ReduceKind::Max:
    return NVVM::TMAReduxKind::MAX;
  case ReduceKind::Inc:
    return NVVM::TMAReduxKind::INC;
  case ReduceKind::Dec:
    return NVVM::TMAReduxKind::DEC;
  case ReduceKind::And:
    return NVVM::TMAReduxKind::AND;
  case ReduceKind::Or:
    return NVVM::TMAReduxKind::OR;
  case ReduceKind::Xor:
    return NVVM::TMAReduxKind::XOR;
  }
  llvm_unreachable("every reduction has a case");
}

LogicalResult mlir::ts::lowerOp(TmaStoreOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = b.sharedAddress(op.getSrc());
  if (failed(address))
    return failure();
  Value source = b.pointer(*address, kSharedSpace);
  Value descriptor = getDescriptorPointer(b, op.getMap());
  SmallVector<Value> coords = getCoordinates(b, op.getCoords(), op.getScatter());
  if (op.getReduce()) {
    NVVM::CpAsyncBulkTensorReduceOp::create(b, descriptor, source, getReduction(*op.getReduce()),
                                            NVVM::TMAStoreMode::TILE, coords, Value());
    return success();
  }
  auto mode =
      op.getScatter().empty() ? NVVM::TMAStoreMode::TILE : NVVM::TMAStoreMode::TILE_SCATTER4;
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, descriptor, source, coords, Value(), mode,
                                                     Value());
  return success();
}

LogicalResult mlir::ts::lowerOp(TmaPrefetchOp op) {
  WorkBuilder b(op);
  Value descriptor = getDescriptorPointer(b, op.getMap());
  if (op.getCoords().empty()) {
    NVVM::PrefetchOp::create(b, /*cacheLevel=*/NVVM::PrefetchCacheLevelAttr(),
                             NVVM::CacheEvictionPriorityAttr(), descriptor, Value(),
                             b.getUnitAttr());
    return success();
  }
  NVVM::CpAsyncBulkTensorPrefetchOp::create(b, descriptor,
                                            getCoordinates(b, op.getCoords(), ValueRange()),
                                            ValueRange(), NVVM::TMALoadMode::TILE, Value());
  return success();
}

//===-- Bulk ---------------------------------------------------------------------------------===//

LogicalResult mlir::ts::lowerOp(BulkLoadOp op) {
  WorkBuilder b(op);
  FailureOr<Value> barrier = getBarrier(b, op.getBarrier());
  FailureOr<Value> address = failed(barrier) ? FailureOr<Value>() : b.sharedAddress(op.getDst());
  if (failed(address))
    return failure();
  Value source = b.pointer(b.globalAddress(op.getSrc(), op.getIndices()), kGlobalSpace);
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(b, b.pointer(*address, kClusterSpace), source,
                                                   *barrier, b.i32(getBytes(op.getDst().getType())),
                                                   Value(), Value());
  return success();
}

LogicalResult mlir::ts::lowerOp(BulkStoreOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = b.sharedAddress(op.getSrc());
  if (failed(address))
    return failure();
  Value target = b.pointer(b.globalAddress(op.getDst(), op.getIndices()), kGlobalSpace);
  NVVM::CpAsyncBulkSharedCTAToGlobalOp::create(b, target, b.pointer(*address, kSharedSpace),
                                               b.i32(getBytes(op.getSrc().getType())), Value(),
                                               Value());
  return success();
}

LogicalResult mlir::ts::lowerOp(BulkCommitOp op) {
  WorkBuilder b(op);
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
  return success();
}

LogicalResult mlir::ts::lowerOp(BulkWaitOp op) {
  WorkBuilder b(op);
  NVVM::CpAsyncBulkWaitGroupOp::create(b, b.getI32IntegerAttr(op.getPending()),
                                       op.getRead() ? b.getUnitAttr() : UnitAttr());
  return success();
}

LogicalResult mlir::ts::lowerOp(TensorMapReplaceOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = b.sharedAddress(op.getMap());
  if (failed(address))
    return failure();
  StringRef field = op.getField();
  bool ordinal =
      llvm::is_contained({"box_dim", "global_dim", "global_stride", "element_stride"}, field);
  bool immediate = llvm::is_contained(
      {"elemtype", "interleave_layout", "swizzle_mode", "fill_mode", "swizzle_atomicity"}, field);
  Value value = op.getValue();
  if (immediate) {
    std::optional<int64_t> constant = getConstantIntValue(value);
    if (!constant)
      return b.emitUnsupported()
             << "field '" << field
             << "' takes an immediate (PTX ISA 8.8, tensormap.replace); found a "
                "run-time value, expected an arith.constant";
    value = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(*constant));
  }
  SmallVector<Value> operands{b.pointer(*address, kSharedSpace)};
  if (ordinal)
    operands.push_back(LLVM::ConstantOp::create(b, b.getI32IntegerAttr(op.getOrdinal())));
  operands.push_back(value);
  // NVVM has no op for tensormap.replace; LLVM has the intrinsics.
  std::string name = "llvm.nvvm.tensormap.replace." + field.str();
  llvm::replace(name, '_', '.');
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), operands);
  return success();
}

//===-- cp.async -----------------------------------------------------------------------------===//

LogicalResult mlir::ts::lowerOp(CpAsyncOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = b.elementAddress(op.getDst(), op.getDstIndices());
  if (failed(address))
    return failure();
  Value source = b.pointer(b.globalAddress(op.getSrc(), op.getSrcIndices()), kGlobalSpace);
  int64_t bits = getElementBits(op.getDst().getType().getElementType());
  Value valid;
  if (op.getValid())
    valid = b.toBytes(b.toI32(op.getValid()), bits);
  // .cg (around L1) exists for 16 bytes only.
  auto cache =
      op.getBytes() == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(b, b.pointer(*address, kSharedSpace), source, uint32_t(op.getBytes()),
                          cache, valid);
  return success();
}

LogicalResult mlir::ts::lowerOp(CpAsyncCommitOp op) {
  WorkBuilder b(op);
  NVVM::CpAsyncCommitGroupOp::create(b);
  return success();
}

LogicalResult mlir::ts::lowerOp(CpAsyncWaitOp op) {
  WorkBuilder b(op);
  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(op.getPending()));
  return success();
}

//===-- Fences and synchronisation -----------------------------------------------------------===//

LogicalResult mlir::ts::lowerOp(FenceOp op) {
  WorkBuilder b(op);
  auto threadFence = [&](StringRef scope) {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, scope);
  };
  switch (op.getKind()) {
  case FenceKind::ProxyAsyncShared:
    NVVM::FenceProxyOp::create(
        b, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    return success();
  case FenceKind::ProxyAsync:
    NVVM::FenceProxyOp::create(b, NVVM::ProxyKind::async, NVVM::SharedSpaceAttr());
    return success();
  case FenceKind::TcgenBefore:
    NVVM::Tcgen05FenceOp::create(b, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
    return success();
  case FenceKind::TcgenAfter:
    NVVM::Tcgen05FenceOp::create(b, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    return success();
  case FenceKind::MbarrierInit:
    NVVM::FenceMbarrierInitOp::create(b);
    return success();
  case FenceKind::Cluster:
    threadFence("cluster");
    return success();
  case FenceKind::Cta:
    threadFence("block");
    return success();
  case FenceKind::Gpu:
    threadFence("device");
    return success();
  }
  llvm_unreachable("every fence has a case");
}

LogicalResult mlir::ts::lowerOp(WarpSyncOp op) {
  WorkBuilder b(op);
  NVVM::SyncWarpOp::create(b, b.i32(-1));
  return success();
}

LogicalResult mlir::ts::lowerOp(ClusterSyncOp op) {
  WorkBuilder b(op);
  // Not the aligned form: the tasks of a CTA arrive from different places in the code.
  NVVM::ClusterArriveOp::create(b, /*aligned=*/UnitAttr());
  NVVM::ClusterWaitOp::create(b, /*aligned=*/UnitAttr());
  return success();
}
