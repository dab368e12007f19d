// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which memory an operation touches: the accesses of one op by engine, and where a memref operand
// comes from by SSA use-def. No order between accesses is derived here.
#ifndef TS_ANALYSIS_SCHEDULE_MEMORYTRACE_H
#define TS_ANALYSIS_SCHEDULE_MEMORYTRACE_H

#include "ts/Analysis/Protocol/Types.h"
#include "ts/Analysis/Schedule/PartIndex.h"
#include "ts/Analysis/Schedule/Values.h"
#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {

/// One memref operand that an op reads or writes.
struct MemrefAccess {
  Value memref;
  bool write = false;
  ::ts::protocol::Engine engine = ::ts::protocol::EngineGeneric;
  bool remote = false;
  /// Columns within the view, for tensor memory accesses at a known column.
  std::optional<std::pair<int64_t, int64_t>> columns;
};

/// The accesses of `op` itself, not of its regions. `evaluator` resolves columns.
SmallVector<MemrefAccess> accessesOf(Operation *op, ValueEvaluator &evaluator);

/// Whether anything of `op`'s own semantics touches memory through an engine or a thread.
bool mayAccessMemory(Operation *op);

/// Bytes from a place that run-time numbers decide (see schedule::Part).
struct RelativeWindow {
  bool known = true;
  std::string base;
  int64_t begin = 0, size = -1; ///< size -1: all of it
  std::optional<PartIndex> index;
  int64_t stride = 0;
};

/// Where a view begins: a stage view of a work call, or a global array of the kernel.
struct MemrefRoot {
  Operation *work = nullptr; ///< ts.produce or ts.consume, null for a kernel argument
  unsigned index = 0;        ///< number of the stage view or of the kernel argument
  bool carried = false;      ///< came over a loop back edge
  /// Bytes (columns for tensor memory) of the stage that the view covers.
  int64_t offset = 0, size = 0;
  bool exact = true;
  RelativeWindow relative;

  Value resource() const;
  ::ts::protocol::Side side() const;
};

/// All roots that `memref` can have, empty where it cannot be followed.
SmallVector<MemrefRoot> traceMemref(Value memref, ValueEvaluator &evaluator);

} // namespace mlir::ts

#endif
