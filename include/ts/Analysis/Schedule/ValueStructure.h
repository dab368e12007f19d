// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A canonical text of how a scalar comes about: a search loop over an array, a state carried from
// tile to tile. Two values with one text are equal whenever both are computed for one tile, whoever
// computes them. Not for messages; plain expressions have a readable text in Values.h.
#ifndef TS_ANALYSIS_SCHEDULE_VALUESTRUCTURE_H
#define TS_ANALYSIS_SCHEDULE_VALUESTRUCTURE_H

#include "ts/Analysis/Schedule/Values.h"

namespace mlir::ts {

struct ValueStructure {
  std::string text;
  bool perTile = false; ///< it depends on the tile, else on launch arguments and memory alone

  /// Stands for the text.
  std::string digest() const;
};

/// Nothing if something that is not followed has a part in it: the thread's identity, memory that
/// the kernel writes, the variable of an enclosing loop of the schedule.
std::optional<ValueStructure> structureOf(Value value, ValueEvaluator &evaluator);

/// Whether a kernel does nothing but read this argument. Another argument may be the same memory:
/// arrays of a launch are taken to be distinct.
bool isOnlyRead(BlockArgument argument);

} // namespace mlir::ts

#endif
