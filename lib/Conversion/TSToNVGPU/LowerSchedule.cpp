// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ts-lower-schedule: every ts.kernel of a gpu.module becomes a gpu.func.
#include "LowerScheduleKernel.h"
#include "ScheduleLowering.h"

#include "ts/Dialect/TS/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

namespace mlir::ts {
#define GEN_PASS_DEF_TSLOWERSCHEDULE
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

using namespace mlir;
using namespace mlir::ts;

/// Unrolls the loops whose ts.for asked for it, inner ones first.
static LogicalResult unrollLoops(OpBuilder &b, Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    if (loop->hasAttr(kUnrollAttr))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    int64_t factor = cast<IntegerAttr>(loop->removeAttr(kUnrollAttr)).getInt();
    if (factor == 1)
      continue;
    // The upstream utility counts the trips without a sign; an upper bound below the lower one is
    // no trip here.
    if (!matchPattern(loop.getUpperBound(), m_Constant()) ||
        !matchPattern(loop.getLowerBound(), m_Constant())) {
      b.setInsertionPoint(loop);
      loop.setUpperBound(
          arith::MaxSIOp::create(b, loop.getLoc(), loop.getUpperBound(), loop.getLowerBound()));
    }
    if (failed(loopUnrollByFactor(loop, factor)))
      return loop.emitError("[TS404] cannot unroll this loop by ") << factor;
  }
  return success();
}

/// All of what is only declared, so that its author sees at once what is left to write.
static LogicalResult checkBodies(KernelOp kernel) {
  LogicalResult result = success();
  kernel.walk([&](Operation *op) {
    if (!isa<ProduceOp, ConsumeOp>(op) || !op->getRegion(0).empty())
      return;
    result = op->emitError("[TS401] work \"")
             << op->getAttrOfType<StringAttr>("label").getValue() << "\" of '"
             << getResourceName(op->getOperand(0))
             << "' has no body yet, so there is no code to emit; give it a body, or stop at "
                "verification with --verify-only";
  });
  return result;
}

namespace {
struct LowerSchedulePass : public mlir::ts::impl::TSLowerScheduleBase<LowerSchedulePass> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      if (failed(checkBodies(kernel)) || failed(lowerKernel(b, kernel)))
        return signalPassFailure();
      kernel.erase();
    }
    if (failed(unrollLoops(b, getOperation())))
      return signalPassFailure();
  }
};
} // namespace
