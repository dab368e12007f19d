// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The copies that complete on a pipeline's full barrier and the bytes they bring, per work body and
// path through it. Which bodies belong to one phase is not decided here.
#ifndef TS_ANALYSIS_SCHEDULE_ISSUEDCOPIES_H
#define TS_ANALYSIS_SCHEDULE_ISSUEDCOPIES_H

#include "ts/Analysis/Schedule/Model.h"
#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {

/// Bytes of one copy that completes on the enclosing work's full barrier, or nothing if `op` is no
/// such copy. A barrier named by hand that is not the stage's own takes the copy out.
std::optional<int64_t> copyBytes(Operation *op);

/// What the body of `work` issues when one replica of `task` runs it once: the sum over its warps
/// (`perWarp`: of one warp), with multicast sorted by the direction it goes in.
::ts::schedule::IssuedBytes issuedBy(ProduceOp work, TaskOp task, int64_t replica, bool perWarp,
                                     const ::ts::protocol::PipelineSpec &spec,
                                     const ::ts::protocol::ClusterSpec &cluster);

} // namespace mlir::ts

#endif
