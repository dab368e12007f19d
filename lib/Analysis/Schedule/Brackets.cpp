// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of several acquires of a group is the last of its bracket.
#include "ts/Analysis/Schedule/Brackets.h"

#include <algorithm>
#include <map>

namespace ts::schedule {

/// Whether no pass around both runs both: opposite guards on one loop, the two ways of a condition
/// that is the same for both.
static bool exclusive(const Task &task, StepId one, StepId other) {
  auto at = [&](StepId id) -> const Step & { return task.steps[size_t(id)]; };
  auto opposite = [](GuardKind a, GuardKind b) {
    return (a == GuardKind::First && b == GuardKind::NotFirst) ||
           (a == GuardKind::Last && b == GuardKind::NotLast);
  };
  auto inBody = [&](StepId up, StepId from) {
    const std::vector<StepId> &body = at(up).body;
    return std::find(body.begin(), body.end(), from) != body.end();
  };
  for (StepId a = at(one).parent, fromA = one; a >= 0; fromA = a, a = at(a).parent)
    for (StepId b = at(other).parent, fromB = other; b >= 0; fromB = b, b = at(b).parent) {
      const Step &left = at(a), &right = at(b);
      if (left.kind != right.kind)
        continue;
      bool bodyA = inBody(a, fromA), bodyB = inBody(b, fromB);
      if (left.kind == StepKind::Guard) {
        // `else` of one guard, or the bodies of opposite ones.
        if (a == b ? bodyA != bodyB
                   : bodyA && bodyB && left.guard.loop == right.guard.loop &&
                         (opposite(left.guard.kind, right.guard.kind) ||
                          opposite(right.guard.kind, left.guard.kind)))
          return true;
      } else if (left.kind == StepKind::When || left.kind == StepKind::Branch) {
        if ((a == b || (left.condition.shared && right.condition.shared &&
                        left.condition.key == right.condition.key)) &&
            (left.condition.expected == bodyA) != (right.condition.expected == bodyB))
          return true;
      }
    }
  return false;
}

std::vector<bool> lastAcquires(const Kernel &kernel, const Task &task) {
  // Steps stand in the arena in program order.
  std::vector<bool> last(task.steps.size(), true);
  std::map<int, std::vector<StepId>> pending;
  for (size_t i = 0; i < task.steps.size(); ++i) {
    const Step &step = task.steps[i];
    if (step.kind != StepKind::Event || step.event.resource < 0)
      continue;
    const Resource &resource = kernel.resources[size_t(step.event.resource)];
    int group = resource.kind == ResourceKind::Group ? step.event.resource : resource.group;
    if (group < 0)
      continue;
    if (step.event.kind == EventKind::Acquire) {
      std::vector<StepId> &open = pending[group];
      std::erase_if(open, [&](StepId earlier) {
        if (exclusive(task, earlier, StepId(i)))
          return false;
        last[size_t(earlier)] = false;
        return true;
      });
      open.push_back(StepId(i));
    } else if ((step.event.kind == EventKind::Produce && !step.event.aux) ||
               step.event.kind == EventKind::Commit) {
      pending.erase(group);
    }
  }
  return last;
}

} // namespace ts::schedule
