// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline groups: whose barriers a member uses, and what an operation on a member or on the group
// does. Which sides are shared, and what remains for a member to do, are the Protocol component's
// answers (sharesBarrier, memberAction).
#include "LowerScheduleTask.h"

#include "ts/Analysis/Schedule/Brackets.h"
#include "ts/Analysis/Schedule/Builder.h"
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

LogicalResult mlir::ts::markLastAcquires(KernelValues &values) {
  bool fork = llvm::any_of(values.pipelines, [](auto &entry) {
    return entry.second.members && entry.second.members->mode == proto::GroupMode::Fork;
  });
  if (!fork)
    return success();
  FailureOr<ScheduleModel> model = buildSchedule(values.kernel);
  if (failed(model))
    return failure();
  for (const ::ts::schedule::Task &task : model->kernel.tasks)
    for (auto [id, last] : llvm::enumerate(::ts::schedule::lastAcquires(model->kernel, task)))
      if (!last)
        values.notLastAcquire.insert(model->opAt(task.steps[id].loc));
  return success();
}

proto::Action TaskLowering::actionOf(const LoweredPipeline &pipeline, proto::Op op, Operation *at) {
  if (!pipeline.group)
    return proto::actionFor(pipeline.spec, kernel.cluster, op);
  const LoweredPipeline &whole = kernel.pipelines.find(pipeline.group)->second;
  return proto::memberAction(*whole.members, kernel.cluster, pipeline.member, op,
                             !at || !kernel.notLastAcquire.contains(at));
}
