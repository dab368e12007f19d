// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that choose a part of a buffer at run time: numbers that one thread never changes, and
// positions in a ring that follow loops. Not an alias analysis: what is neither is unknown.
#ifndef TS_ANALYSIS_SCHEDULE_PARTINDEX_H
#define TS_ANALYSIS_SCHEDULE_PARTINDEX_H

#include "ts/Analysis/Schedule/Values.h"

namespace mlir::ts {

/// ((sum of scale * iteration + offset) / divisor) mod count.
struct PartIndex {
  SmallVector<std::pair<Operation *, int64_t>, 2> terms; ///< loop and scale
  int64_t offset = 0, divisor = 1, count = 1;
};

/// `value` as a position in a ring of at most 64 parts.
std::optional<PartIndex> periodicIndex(Value value, ValueEvaluator &evaluator);

/// Text that is equal for values which are the same number wherever one thread looks at them; empty
/// for values that may change.
std::string fixedIndex(Value value);

} // namespace mlir::ts

#endif // TS_ANALYSIS_SCHEDULE_PARTINDEX_H
