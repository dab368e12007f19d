// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of a stage that each warp of a role touches by one access, as far as the warp, the
// replica and the CTA decide them. Lanes of a warp are not told apart.
#ifndef TS_ANALYSIS_SCHEDULE_WARPPLACES_H
#define TS_ANALYSIS_SCHEDULE_WARPPLACES_H

#include "ts/Analysis/Schedule/Model.h"
#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {

/// Where the view `memref` of `op` lies for each warp and CTA that gets to `op`; nothing where that
/// is not known, or where the view stands for more than one stage view.
/// `staged`: the memory is a stage of a ring.
std::optional<std::vector<::ts::schedule::WarpPlace>>
warpPlaces(Operation *op, Value memref, TaskOp task, int64_t replica, int64_t ctas, bool staged);

/// The CTAs that the copy `load` of `task` reaches, by the CTA that issues it; empty if not known.
std::vector<::ts::protocol::CtaMask> ctasReached(TmaLoadOp load, TaskOp task, int64_t replica,
                                                 const ::ts::protocol::CtaGrid &grid);

} // namespace mlir::ts

#endif // TS_ANALYSIS_SCHEDULE_WARPPLACES_H
