// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ts-lower-schedule: every ts.kernel of a gpu.module becomes a gpu.func.
#include "LowerScheduleKernel.h"

#include "ts/Dialect/TS/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ts {
#define GEN_PASS_DEF_TSLOWERSCHEDULE
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

using namespace mlir;
using namespace mlir::ts;

namespace {
struct LowerSchedulePass : public mlir::ts::impl::TSLowerScheduleBase<LowerSchedulePass> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      if (failed(lowerKernel(b, kernel)))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
