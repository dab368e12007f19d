// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the allocator's files share: the plan under construction and where to report.
#ifndef TS_LIB_DIALECT_TS_TRANSFORMS_ALLOCATEIMPL_H
#define TS_LIB_DIALECT_TS_TRANSFORMS_ALLOCATEIMPL_H

#include "ts/Dialect/TS/Transforms/Allocation.h"

namespace mlir::ts {
struct PlanBuilder {
  KernelOp kernel;
  AllocationPlan &plan;
  EmitDiagnostic emit;

  InFlightDiagnostic report(Operation *op) {
    plan.valid = false;
    return emit ? emit(op) : emitError(op->getLoc());
  }
};

/// A pipeline's barriers that go into an allocation of the user's.
struct UserStorage {
  size_t placement; ///< of the barriers, in the plan
  ResourceOp storage;
  StringAttr alloc;
};

/// Fills in every placement of the kernel but its offset. Pinned ones get that too.
void collectPlacements(PlanBuilder &builder, SmallVectorImpl<UserStorage> &storage);
/// Ids of named barriers and batons.
void assignBarrierIds(PlanBuilder &builder);
} // namespace mlir::ts

#endif
