// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-lower-work: work primitives of a gpu.module to nvvm and llvm ops, then the types of this
// dialect to plain ones, so that only upstream passes follow. Schedules are ts-lower-schedule's
// part; what a primitive becomes is in the other LowerWork*.cpp.
#include "LowerWork.h"

#include "ts/Dialect/TS/Transforms/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Iterators.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;

namespace mlir::ts {
#define GEN_PASS_DEF_TSLOWERWORK
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

namespace {
struct LowerWorkPass : public mlir::ts::impl::TSLowerWorkBase<LowerWorkPass> {
  void runOnOperation() override;
};
} // namespace

/// 0, 1, 2, ... as a constant: upstream's conversion to LLVM has a step for scalable vectors only.
static LogicalResult lowerStep(vector::StepOp op) {
  auto type = cast<VectorType>(op.getType());
  OpBuilder b(op);
  SmallVector<APInt> values;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    values.emplace_back(IndexType::kInternalStorageBitWidth, i);
  op.replaceAllUsesWith(
      arith::ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(type, values)).getResult());
  return success();
}

/// Arithmetic that the GPU has an instruction for, as the LLVM intrinsic that selects it:
/// upstream's conversion calls CUDA's device library, which is not linked.
static bool lowerMath(Operation *op) {
  StringRef intrinsic = llvm::TypeSwitch<Operation *, StringRef>(op)
                            .Case<math::Exp2Op>([](auto) { return "llvm.exp2"; })
                            .Case<math::Log2Op>([](auto) { return "llvm.log2"; })
                            .Case<math::AbsFOp>([](auto) { return "llvm.fabs"; })
                            .Case<math::SqrtOp>([](auto) { return "llvm.sqrt"; })
                            .Case<math::FmaOp>([](auto) { return "llvm.fma"; })
                            .Default([](Operation *) { return ""; });
  if (intrinsic.empty() || !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  OpBuilder b(op);
  op->replaceAllUsesWith(LLVM::CallIntrinsicOp::create(
      b, op->getLoc(), op->getResult(0).getType(), b.getStringAttr(intrinsic), op->getOperands()));
  return true;
}

/// Lowers one op; success without erasing it when it is none of ours.
static LogicalResult lower(Operation *op, bool fence, bool &lowered) {
  lowered = true;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<TmaLoadOp, TmaStoreOp, TmaPrefetchOp, BulkLoadOp, BulkStoreOp, BulkCommitOp, BulkWaitOp,
            TensorMapReplaceOp, CpAsyncOp, CpAsyncCommitOp, CpAsyncWaitOp, FenceOp, WarpSyncOp,
            ClusterSyncOp, UmmaOp, TmemLoadOp, TmemWaitOp, TmemStoreOp, TmemCopyOp, WgmmaZeroOp,
            WgmmaStartOp, WgmmaCommitOp, WgmmaWaitOp, FragmentMapOp, FragmentReduceOp,
            FragmentStoreOp, FragmentLoadOp, LdMatrixOp, StMatrixOp>(
          [](auto work) { return lowerOp(work); })
      .Case([&](WgmmaOp work) { return lowerOp(work, fence); })
      .Case([&](vector::StepOp step) { return lowerStep(step); })
      .Default([&](Operation *other) -> LogicalResult {
        FailureOr<bool> access = lowerSmemAccess(other);
        if (failed(access))
          return failure();
        lowered = *access || lowerMath(other);
        return lowered ? success() : checkSwizzledUse(other);
      });
}

/// Views and casts whose users are gone; they could not be lowered as they are.
static void eraseDead(Operation *root) {
  bool changed = true;
  while (changed) {
    changed = false;
    root->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      bool ours = isa<memref::MemRefDialect, TSDialect>(op->getDialect()) ||
                  isa<UnrealizedConversionCastOp>(op);
      if (!ours || !isOpTriviallyDead(op))
        return;
      op->erase();
      changed = true;
    });
  }
}

/// Plain types for ours, everywhere below `root`.
static void retype(Operation *root) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](WgmmaType type) -> Type { return convertWorkType(type); });
  replacer.addReplacement([](FragmentType type) -> Type { return convertWorkType(type); });
  replacer.addReplacement([](AsyncType type) -> Type { return convertWorkType(type); });
  replacer.addReplacement([](TensorMapType type) -> Type { return convertWorkType(type); });
  replacer.addReplacement([](SmemSpaceAttr space) -> Attribute {
    return gpu::AddressSpaceAttr::get(space.getContext(), gpu::AddressSpace::Workgroup);
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  root->walk([](Operation *op) {
    if (!isa<UnrealizedConversionCastOp, memref::MemorySpaceCastOp>(op) ||
        op->getNumOperands() != 1 || op->getNumResults() != 1 ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
}

/// What is left of this dialect can only be something that the lowering does not know.
static LogicalResult checkNothingLeft(Operation *root) {
  bool clean = true;
  auto isTmemValue = [](Type type) { return isTmem(type); };
  root->walk([&](Operation *op) {
    if (isa<TSDialect>(op->getDialect())) {
      op->emitError()
          << "[TS404] '" << op->getName()
          << "' is not lowered by ts-lower-work; run ts-lower-schedule before it, and use "
             "views of tensor memory in ts ops only";
      clean = false;
    } else if (llvm::any_of(op->getResultTypes(), isTmemValue)) {
      op->emitError() << "[TS404] '" << op->getName() << "' makes the tensor-memory view "
                      << op->getResult(0).getType()
                      << " that something else than a ts op uses; tensor memory is reached by "
                         "ts.tmem_load, ts.tmem_store and ts.umma only";
      clean = false;
    }
  });
  return success(clean);
}

void LowerWorkPass::runOnOperation() {
  gpu::GPUModuleOp module = getOperation();
  SmallVector<Operation *> work;
  llvm::SmallDenseSet<Operation *> fences;
  bool failed = false;
  // Inner ops first: a ts.fragment_map copies its body once per element, already lowered.
  module.walk([&](gpu::GPUFuncOp function) {
    function.walk([&](Operation *op) {
      work.push_back(op);
      if (auto wgmma = dyn_cast<WgmmaOp>(op); wgmma && needsWgmmaFence(wgmma))
        fences.insert(op);
    });
  });
  for (Operation *op : work) {
    bool lowered;
    if (mlir::failed(lower(op, fences.contains(op), lowered)))
      failed = true;
    else if (lowered)
      op->erase();
  }
  if (failed)
    return signalPassFailure();
  module.walk([](gpu::GPUFuncOp function) {
    eraseDead(function);
    retype(function);
    eraseDead(function);
  });
  if (mlir::failed(checkNothingLeft(module)))
    signalPassFailure();
}
