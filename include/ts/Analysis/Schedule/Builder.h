// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a ts.kernel to the schedule model, with the way back from each place in the model to its op.
#ifndef TS_ANALYSIS_SCHEDULE_BUILDER_H
#define TS_ANALYSIS_SCHEDULE_BUILDER_H

#include "ts/Analysis/Schedule/Model.h"
#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {

struct ScheduleModel {
  ::ts::schedule::Kernel kernel;
  std::vector<Operation *> places; ///< by LocId

  /// The op of a place, the kernel for none.
  Operation *opAt(::ts::schedule::LocId id) const {
    return id >= 0 && size_t(id) < places.size() ? places[size_t(id)] : places.front();
  }
};

/// Fails with a diagnostic where the program is larger or deeper than the model follows.
FailureOr<ScheduleModel> buildSchedule(KernelOp kernel);

} // namespace mlir::ts

#endif
