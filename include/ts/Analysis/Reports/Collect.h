// From a ts.kernel to the input of the reports. Changes nothing, emits no diagnostic.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_COLLECT_H
#define TS_ANALYSIS_REPORTS_COLLECT_H

#include "ts/Analysis/Reports/Input.h"
#include "ts/Dialect/TS/IR/TS.h"

#include <optional>

namespace mlir::ts {

/// Nothing where the program is larger or deeper than the schedule model follows.
std::optional<::ts::reports::KernelInput> collectReport(KernelOp kernel);

/// "file:line:col" of a location, as far as it has one.
::ts::reports::Place reportPlace(Location location);

} // namespace mlir::ts

#endif // TS_ANALYSIS_REPORTS_COLLECT_H
