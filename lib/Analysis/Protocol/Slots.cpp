// Lane selection and cursor rules of interleaved and split pipelines.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Protocol/Slots.h"

namespace ts::protocol {

LaneMode laneMode(const TaskRole &role, int64_t stride) {
  if (stride <= 1)
    return LaneMode::Single;
  if (role.warps == stride)
    return LaneMode::Warp;
  if (role.domainStart && role.domainStep && *role.domainStep == stride && *role.domainStart >= 0 &&
      *role.domainStart < stride)
    return LaneMode::Domain;
  return LaneMode::Unknown;
}

CursorRule cursorRule(const PipelineSpec &spec, Op op, bool taskOpens, bool taskCloses) {
  bool opening = op == Op::Acquire || op == Op::Wait;
  bool closing = op == Op::Commit || op == Op::Release;
  bool flag = sideOf(op) == Side::Producer ? spec.advanceOnAcquire : spec.advanceOnWait;
  if (!flag && taskOpens && taskCloses)
    return {CursorMove::Shared, closing};
  // Split counters: each op has its own; a try_ op looks at the opening one and moves nothing.
  return {closing ? CursorMove::Closing : CursorMove::Opening, opening || closing};
}

} // namespace ts::protocol
