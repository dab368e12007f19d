// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --test-print-schedule: the schedule model of every kernel as text. For tests only.
#include "ts/Analysis/Schedule/Builder.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

namespace mlir::ts {
#define GEN_PASS_DEF_TESTPRINTSCHEDULE
#include "ts/Dialect/TS/Transforms/Passes.h.inc"

namespace {
struct TestPrintSchedule : public impl::TestPrintScheduleBase<TestPrintSchedule> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      FailureOr<ScheduleModel> model = buildSchedule(kernel);
      if (failed(model))
        return signalPassFailure();
      llvm::outs() << print(model->kernel);
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace mlir::ts
