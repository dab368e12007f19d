// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of layers 1 and 2 without which a schedule says nothing that could be compared.
#include "Refused.h"

#include <initializer_list>

namespace ts::oracle {

using namespace schedule;

namespace {

/// Whether a value of step `def` can be used in step `use`.
bool defined(const Task &task, StepId def, StepId use) {
  if (def > use)
    return false;
  StepId scope = task.steps[size_t(def)].parent;
  for (StepId at = use; at >= 0; at = task.steps[size_t(at)].parent)
    if (at == def || task.steps[size_t(at)].parent == scope)
      return true;
  return false;
}

/// Whether an operation on an interleaved ring stands in a loop that says which lane it is.
bool laneKnown(const Kernel &kernel, const Task &task, StepId op) {
  const auto &strides =
      kernel.resources[size_t(task.steps[size_t(op)].event.resource)].pipeline->interleave;
  std::optional<protocol::Op> which = barrierOp(task.steps[size_t(op)].event.kind);
  int64_t stride = which ? strides[protocol::roleIndex(*which)] : 1;
  if (stride < 2 || task.warps == stride)
    return true;
  for (StepId at = op; at >= 0; at = task.steps[size_t(at)].parent)
    if (task.steps[size_t(at)].kind == StepKind::Loop &&
        task.steps[size_t(at)].loop.step.offset == stride)
      return true;
  return false;
}

bool somebody(const Kernel &kernel, int resource, EventKind kind) {
  for (const Task &task : kernel.tasks)
    for (const Step &step : task.steps)
      if (step.kind == StepKind::Event && step.event.resource == resource &&
          step.event.kind == kind)
        return true;
  return false;
}

/// Check 223: the closing op of the collapsed side stands on the group, all other ops on the
/// members; what the members have in common is stated alike.
std::string brokenGroup(const Kernel &kernel) {
  using protocol::GroupMode;
  for (const Resource &group : kernel.resources) {
    if (group.kind != ResourceKind::Group)
      continue;
    const protocol::PipelineSpec &first = *kernel.resources[size_t(group.members[0])].pipeline;
    for (int member : group.members) {
      const protocol::PipelineSpec &spec = *kernel.resources[size_t(member)].pipeline;
      if (spec.stages != first.stages ||
          (group.mode == GroupMode::Fork && spec.numBytes != first.numBytes))
        return "members of a group that differ (check 223)";
      bool tma = spec.type == protocol::PipelineType::TmaAsync ||
                 spec.type == protocol::PipelineType::TmaUmma;
      if (group.mode == GroupMode::FusedMerge &&
          !somebody(kernel, member, tma ? EventKind::Acquire : EventKind::Commit))
        return "a member of a fused merge that nobody fills (check 105)";
    }
  }
  for (const Task &task : kernel.tasks)
    for (const Step &step : task.steps) {
      if (step.kind != StepKind::Event || step.event.resource < 0)
        continue;
      const Resource &resource = kernel.resources[size_t(step.event.resource)];
      auto op = barrierOp(step.event.kind);
      if (!op)
        continue;
      const Resource *group = resource.kind == ResourceKind::Group ? &resource
                              : resource.group >= 0 ? &kernel.resources[size_t(resource.group)]
                                                    : nullptr;
      if (!group)
        continue;
      bool closing =
          *op == (group->mode == GroupMode::Fork ? protocol::Op::Commit : protocol::Op::Release);
      bool fusedWait = group->mode == GroupMode::FusedMerge && *op == protocol::Op::Wait;
      if (closing != (group == &resource) && !fusedWait)
        return "an operation that belongs on the group or its member (check 223)";
    }
  return "";
}

} // namespace

std::string refused(const Kernel &kernel) {
  if (std::string why = brokenGroup(kernel); !why.empty())
    return why;
  // How many slots a lane waits for at the end would depend on where it stands.
  for (const Resource &resource : kernel.resources)
    if (resource.pipeline && resource.pipeline->stages % resource.pipeline->interleave[0])
      return "lanes that do not divide the stages (check 221)";
  for (const Task &task : kernel.tasks)
    for (size_t s = 0; s < task.steps.size(); ++s) {
      const Step &step = task.steps[s];
      if (step.kind != StepKind::Event)
        continue;
      // Half of a bracket may stand on the group.
      int group =
          step.event.resource < 0 ? -2 : kernel.resources[size_t(step.event.resource)].group;
      if (group < 0)
        group = -2;
      auto has = [&](std::initializer_list<EventKind> kinds) {
        for (const Step &other : task.steps)
          for (EventKind kind : kinds)
            if (other.kind == StepKind::Event &&
                (other.event.resource == step.event.resource || other.event.resource == group) &&
                other.event.kind == kind)
              return true;
        return false;
      };
      bool ring = step.event.resource >= 0 &&
                  kernel.resources[size_t(step.event.resource)].pipeline.has_value();
      if (ring && !laneKnown(kernel, task, StepId(s)))
        return "an interleaved operation outside the loop that gives its lane (check 221)";
      // Which stage would it see?
      if (ring &&
          ((step.event.kind == EventKind::Produce &&
            !has({EventKind::Acquire, EventKind::Commit})) ||
           (step.event.kind == EventKind::Consume && !has({EventKind::Wait, EventKind::Release}))))
        return "work outside any bracket (check 105)";
      if ((step.event.kind == EventKind::TryAcquire && !has({EventKind::Acquire})) ||
          (step.event.kind == EventKind::TryWait && !has({EventKind::Wait})))
        return "a try without its blocking op (check 105)";
      for (const Access &access : step.event.accesses)
        if (access.via >= 0 && !defined(task, access.via, StepId(s)))
          return "a view used where it is not defined (SSA)";
    }
  return "";
}

} // namespace ts::oracle
