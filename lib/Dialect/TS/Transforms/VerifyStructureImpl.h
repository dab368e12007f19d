// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of ts-verify-structure and the view of a kernel that they share.
#ifndef TS_LIB_DIALECT_TS_TRANSFORMS_VERIFYSTRUCTUREIMPL_H
#define TS_LIB_DIALECT_TS_TRANSFORMS_VERIFYSTRUCTUREIMPL_H

#include "ts/Analysis/Schedule/PathWalker.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/Transforms/Verify.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::ts::detail {

/// One op of a task that names a resource, in program order.
struct ResourceUse {
  Operation *op;
  Value resource;
};

struct KernelView {
  explicit KernelView(KernelOp kernel);

  // Op handles are pointers whose accessors are not const.
  mutable KernelOp kernel;
  mutable SmallVector<TaskOp> tasks;
  llvm::DenseMap<Operation *, SmallVector<ResourceUse>> uses; ///< by task
  llvm::DenseMap<Value, Value> groups;                        ///< by member
  mutable SmallVector<DependsOp> edges;

  /// The group of a member, the members of a group, and the value itself.
  SmallVector<Value> related(Value resource) const;
  /// Whether one is made from the other along any edges.
  bool reaches(Value upstream, Value downstream) const;
  bool hasSelfEdge(Value resource) const;
};

/// The consumer ops and the producer ops on pipelines, work included.
bool isConsumerOp(Operation *op);
bool isProducerOp(Operation *op);
/// Acquire, commit, wait, release or a try of one.
bool isBarrierOp(Operation *op);
bool isAuxiliary(Operation *op);
bool declares(TaskOp task, ValueRange list, Value resource, const KernelView &view);
/// "'smem_ab'".
std::string quoted(Value resource);

void checkRoles(const KernelView &view, CheckReporter &reporter);        // TS102
void checkDependencies(const KernelView &view, CheckReporter &reporter); // TS103
void checkCoverage(const KernelView &view, CheckReporter &reporter);     // TS104
void checkBrackets(const KernelView &view, CheckReporter &reporter);     // TS105
void checkQueues(const KernelView &view, CheckReporter &reporter);       // TS106
void checkOperands(const KernelView &view, CheckReporter &reporter);     // TS107
void checkPingPong(const KernelView &view, CheckReporter &reporter);     // TS112
void checkSkips(const KernelView &view, CheckReporter &reporter);        // TS113
void checkPdl(const KernelView &view, CheckReporter &reporter);          // TS114
void checkLoops(const KernelView &view, CheckReporter &reporter);        // TS101
void checkGuards(const KernelView &view, CheckReporter &reporter);       // TS108
void checkConditions(const KernelView &view, CheckReporter &reporter);   // TS109
void checkThreads(const KernelView &view, CheckReporter &reporter);      // TS109
void checkNames(const KernelView &view, CheckReporter &reporter);        // TS110
void checkValues(const KernelView &view, CheckReporter &reporter);       // TS111

/// Memory that is read and never written: TS111, of copies TS217, of a fork TS223.
void checkWritten(KernelOp kernel, CheckReporter &reporter);

} // namespace mlir::ts::detail

#endif
