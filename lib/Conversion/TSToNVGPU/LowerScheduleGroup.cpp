// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline groups: whose barriers a member uses, and what an operation on a member or on the group
// does. Which sides are shared, and what remains for a member to do, are the Protocol component's
// answers (sharesBarrier, memberAction).
#include "LowerScheduleTask.h"

#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

static int64_t offsetOf(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : -1;
}

LogicalResult mlir::ts::collectGroup(KernelValues &values, PipelineGroupOp group) {
  LoweredPipeline whole;
  whole.members = groupSpecOf(group);
  const proto::GroupSpec &spec = *whole.members;
  whole.spec = proto::groupPipeline(spec, values.cluster);
  whole.by = spec.by;
  proto::GroupCounts counts = proto::expectedCounts(spec, values.cluster);
  whole.ownsFull = proto::sharesBarrier(spec.mode, proto::Barrier::Full);
  whole.ownsEmpty = proto::sharesBarrier(spec.mode, proto::Barrier::Empty);
  whole.fullOffset = offsetOf(group, kFullOffsetAttr);
  whole.emptyOffset = offsetOf(group, kEmptyOffsetAttr);
  whole.spec.producerCount = counts.shared.fullArrivals.value;
  whole.spec.consumerCount = counts.shared.emptyArrivals.value;
  whole.spec.numBytes = proto::sharedBytes(spec, counts);
  if ((whole.ownsFull && !whole.spec.producerCount) ||
      (whole.ownsEmpty && !whole.spec.consumerCount))
    return group.emitError("the arrival counts of the barriers that the members of '")
           << group.getName() << "' share are not known; complete the schedule, or declare them";
  for (auto [index, value] : llvm::enumerate(group.getMembers())) {
    LoweredPipeline &member = values.pipelines[value];
    Operation *op = value.getDefiningOp();
    member.spec = resolvedSpecOf(value);
    member.by = participantsOf(value);
    member.group = group.getResult();
    member.member = index;
    member.ownsFull = !whole.ownsFull;
    member.ownsEmpty = !whole.ownsEmpty;
    const proto::ExpectedCounts &own = counts.members[index];
    if (!member.spec.producerCount)
      member.spec.producerCount = own.fullArrivals.value;
    if (!member.spec.consumerCount)
      member.spec.consumerCount = own.emptyArrivals.value;
    if (spec.mode == proto::GroupMode::Fork)
      member.spec.numBytes = whole.spec.numBytes;
    else if (!member.spec.numBytes)
      member.spec.numBytes = own.fullBytes.value;
    member.fullOffset = member.ownsFull ? offsetOf(op, kFullOffsetAttr) : whole.fullOffset;
    member.emptyOffset = member.ownsEmpty ? offsetOf(op, kEmptyOffsetAttr) : whole.emptyOffset;
    if (member.fullOffset < 0 || member.emptyOffset < 0)
      return op->emitError("'") << getResourceName(value)
                                << "' has no place for its barriers; run ts-allocate before "
                                   "ts-lower-schedule";
  }
  values.pipelines[group.getResult()] = std::move(whole);
  return success();
}

/// Whether no pass executes both: they stand in the two regions of one branch, under opposite
/// guards of one loop, or under one condition both ways.
static bool exclusive(Operation *one, Operation *other) {
  auto opposite = [](GuardKind a, GuardKind b) {
    return (a == GuardKind::First && b == GuardKind::NotFirst) ||
           (a == GuardKind::Last && b == GuardKind::NotLast);
  };
  for (Operation *a = one; a && !isa<TaskOp>(a); a = a->getParentOp())
    for (Operation *b = other; b && !isa<TaskOp>(b); b = b->getParentOp()) {
      if (a->getParentOp() && a->getParentOp() == b->getParentOp() &&
          a->getParentRegion() != b->getParentRegion())
        return true;
      if (a == b || a->getBlock() != b->getBlock())
        continue;
      auto guardA = dyn_cast<GuardOp>(a), guardB = dyn_cast<GuardOp>(b);
      if (guardA && guardB &&
          (opposite(guardA.getKind(), guardB.getKind()) ||
           opposite(guardB.getKind(), guardA.getKind())))
        return true;
      auto whenA = dyn_cast<WhenOp>(a), whenB = dyn_cast<WhenOp>(b);
      if (whenA && whenB && whenA.getCondition() == whenB.getCondition() &&
          whenA.getExpected() != whenB.getExpected())
        return true;
    }
  return false;
}

/// A fork group arms at the last acquire of a bracket; of acquires that exclude each other, at
/// each.
void TaskLowering::markLastAcquires() {
  llvm::DenseMap<Value, SmallVector<Operation *>> pending;
  task.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    Value resource;
    auto step = protocolStep(*op);
    if (step)
      resource = step->first;
    else if (auto produce = dyn_cast<ProduceOp>(op); produce && !produce.getAux())
      resource = produce.getResource();
    auto found = resource ? kernel.pipelines.find(resource) : kernel.pipelines.end();
    if (found == kernel.pipelines.end())
      return;
    Value group = found->second.members ? resource : found->second.group;
    if (!group)
      return;
    if (step && step->second == proto::Op::Acquire) {
      SmallVector<Operation *> &open = pending[group];
      llvm::erase_if(open, [&](Operation *earlier) {
        if (exclusive(earlier, op))
          return false;
        notLastAcquire.insert(earlier);
        return true;
      });
      open.push_back(op);
    } else if (!step || step->second == proto::Op::Commit) {
      pending.erase(group);
    }
  });
}

proto::Action TaskLowering::actionOf(const LoweredPipeline &pipeline, proto::Op op, Operation *at) {
  if (!pipeline.group)
    return proto::actionFor(pipeline.spec, kernel.cluster, op);
  const LoweredPipeline &whole = kernel.pipelines.find(pipeline.group)->second;
  return proto::memberAction(*whole.members, kernel.cluster, pipeline.member, op,
                             !at || !notLastAcquire.contains(at));
}
