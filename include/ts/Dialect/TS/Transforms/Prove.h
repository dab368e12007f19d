// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The prover on a ts.kernel: builds the schedule model and the memory plan, judges, and turns the
// verdict into diagnostics. Changes nothing. The other checks are Verify.h.
#ifndef TS_DIALECT_TS_TRANSFORMS_PROVE_H
#define TS_DIALECT_TS_TRANSFORMS_PROVE_H

#include "ts/Analysis/Prover/Prover.h"
#include "ts/Analysis/Schedule/Builder.h"
#include "ts/Dialect/TS/Transforms/Verify.h"

namespace mlir::ts {

/// The verdict on `kernel` without any diagnostic; fails where no model can be built (reported).
FailureOr<::ts::prover::Verdict> proveSchedule(KernelOp kernel, const ScheduleModel &model,
                                               const ::ts::prover::Options &options = {});

/// Reports a refutation as TS301 to TS308 with its witness, an unknown or bounded verdict as a
/// warning; a proof says nothing.
void reportVerdict(KernelOp kernel, const ScheduleModel &model,
                   const ::ts::prover::Verdict &verdict, CheckReporter &reporter);

} // namespace mlir::ts

#endif
