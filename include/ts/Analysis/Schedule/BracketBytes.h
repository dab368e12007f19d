// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that a task's copies bring to one phase of a ring, on every path from an acquire to the
// next.
#ifndef TS_ANALYSIS_SCHEDULE_BRACKETBYTES_H
#define TS_ANALYSIS_SCHEDULE_BRACKETBYTES_H

#include "ts/Analysis/Protocol/Types.h"
#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {

struct PhaseBytes {
  struct Phase {
    ::ts::protocol::IssuedBytes bytes;
    AcquireOp acquire;
    SmallVector<ProduceOp> works; ///< that issue, or may issue, in order of execution
    bool known = true;            ///< false: some work does not say how many bytes it issues
    std::string path;             ///< what this path assumes, for messages
  };
  /// False: some bytes depend on values that are not known, or there are too many paths.
  bool known = true;
  SmallVector<Phase> phases; ///< one per distinct sum
};

/// `resource` is the one the acquires name; for a pipeline group the work is on its members, and
/// for a fork so are the acquires: its one phase begins with the first of them.
PhaseBytes bytesPerPhase(Value resource, TaskOp task, int64_t replica, bool perWarp,
                         const ::ts::protocol::PipelineSpec &spec,
                         const ::ts::protocol::ClusterSpec &cluster);

} // namespace mlir::ts

#endif
