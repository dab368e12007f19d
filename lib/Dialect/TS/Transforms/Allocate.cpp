// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ts-allocate: records the plan of Allocation.h as attributes. Decides nothing itself.
#include "ts/Dialect/TS/Transforms/Allocation.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::ts;

namespace mlir::ts {
#define GEN_PASS_DEF_TSALLOCATE
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

namespace {
/// Takes away what an earlier run recorded, so that the result does not depend on it.
void removeRecords(KernelOp kernel) {
  constexpr StringLiteral kNames[] = {
      kOffsetsAttr,        kStridesAttr,    kFullOffsetAttr, kEmptyOffsetAttr, kResponseOffsetAttr,
      kMbarrierOffsetAttr, kBarrierIdsAttr, kSmemBytesAttr,  kTmemColumnsAttr, kTmemSlotAttr};
  kernel->walk([&](Operation *op) {
    for (StringRef name : kNames)
      op->removeDiscardableAttr(name);
  });
}

void record(KernelOp kernel, const AllocationPlan &plan) {
  Builder b(kernel.getContext());
  auto setInt = [&](Operation *op, StringRef name, int64_t value) {
    op->setDiscardableAttr(name, b.getI64IntegerAttr(value));
  };
  for (const Placement &p : plan.placements)
    switch (p.kind) {
    case PlacementKind::Data:
      break; // below, all of one resource at once
    case PlacementKind::FullBarriers:
      setInt(p.owner, kFullOffsetAttr, p.offset);
      break;
    case PlacementKind::EmptyBarriers:
      setInt(p.owner, kEmptyOffsetAttr, p.offset);
      break;
    case PlacementKind::Responses:
      setInt(p.owner, kResponseOffsetAttr, p.offset);
      break;
    case PlacementKind::Mbarrier:
      setInt(p.owner, kMbarrierOffsetAttr, p.offset);
      break;
    case PlacementKind::TmemSlot:
      setInt(p.owner, kTmemSlotAttr, p.offset);
      break;
    }
  kernel.walk([&](ResourceOp resource) {
    SmallVector<int64_t> offsets, strides;
    for (size_t i = 0; i < resource.getAllocs().size(); ++i) {
      const Placement *p = plan.find(resource, PlacementKind::Data, i);
      offsets.push_back(p->offset);
      strides.push_back(p->stride);
    }
    resource->setDiscardableAttr(kOffsetsAttr, b.getDenseI64ArrayAttr(offsets));
    resource->setDiscardableAttr(kStridesAttr, b.getDenseI64ArrayAttr(strides));
  });
  for (auto &[op, ids] : plan.barrierIds)
    op->setDiscardableAttr(kBarrierIdsAttr, b.getDenseI64ArrayAttr(ids));
  setInt(kernel, kSmemBytesAttr, plan.smemBytes);
  setInt(kernel, kTmemColumnsAttr, plan.tmemColumns);
}

struct AllocatePass : mlir::ts::impl::TSAllocateBase<AllocatePass> {
  using TSAllocateBase::TSAllocateBase;
  void runOnOperation() override {
    bool valid = true;
    getOperation().walk([&](KernelOp kernel) {
      removeRecords(kernel);
      AllocationPlan plan = planAllocation(kernel);
      valid &= plan.valid;
      if (!plan.valid)
        return;
      record(kernel, plan);
      if (printMap)
        emitRemark(kernel.getLoc()) << formatMemoryMap(plan, kernel.getSymName());
    });
    if (!valid)
      signalPassFailure();
  }
};
} // namespace
