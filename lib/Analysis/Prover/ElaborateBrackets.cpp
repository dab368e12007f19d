// Which of several acquires of a group, and of several works on a ring, is the last of its bracket.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elaborate.h"

#include <algorithm>

namespace ts::prover {

using sched::EventKind;
using sched::StepKind;

/// Whether no pass around both runs both: opposite guards on one loop, the two ways of a condition
/// that is the same for both.
bool TaskElaborator::exclusive(sched::StepId one, sched::StepId other) const {
  using sched::GuardKind;
  auto opposite = [](GuardKind a, GuardKind b) {
    return (a == GuardKind::First && b == GuardKind::NotFirst) ||
           (a == GuardKind::Last && b == GuardKind::NotLast);
  };
  auto way = [&](sched::StepId up, sched::StepId from) {
    const Steps &body = at(up).body;
    return at(up).condition.expected == (std::find(body.begin(), body.end(), from) != body.end());
  };
  for (sched::StepId a = at(one).parent, fromA = one; a >= 0; fromA = a, a = at(a).parent)
    for (sched::StepId b = at(other).parent, fromB = other; b >= 0; fromB = b, b = at(b).parent) {
      const sched::Step &left = at(a), &right = at(b);
      if (left.kind != right.kind)
        continue;
      if (left.kind == StepKind::Guard && left.guard.loop == right.guard.loop &&
          (opposite(left.guard.kind, right.guard.kind) ||
           opposite(right.guard.kind, left.guard.kind)))
        return true;
      if ((left.kind == StepKind::When || left.kind == StepKind::Branch) &&
          (a == b || (left.condition.shared && right.condition.shared &&
                      left.condition.key == right.condition.key)) &&
          way(a, fromA) != way(b, fromB))
        return true;
    }
  return false;
}

void TaskElaborator::markLastOfBracket() {
  // Steps stand in the arena in program order.
  lastAcquire.assign(task().steps.size(), true);
  lastProduce.assign(task().steps.size(), true);
  std::map<int, std::vector<sched::StepId>> pending;
  std::map<int, sched::StepId> produces;
  for (size_t i = 0; i < task().steps.size(); ++i) {
    const sched::Step &step = at(sched::StepId(i));
    if (step.kind != StepKind::Event || step.event.resource < 0)
      continue;
    int ring = c.ringOf[size_t(step.event.resource)];
    if (step.event.kind == EventKind::Produce && !step.event.aux) {
      if (auto it = produces.find(step.event.resource); it != produces.end())
        lastProduce[size_t(it->second)] = false;
      produces[step.event.resource] = sched::StepId(i);
    } else if (step.event.kind == EventKind::Acquire || step.event.kind == EventKind::Commit) {
      produces.erase(step.event.resource);
    }
    int group = ring < 0 ? -1 : c.rings[size_t(ring)].isGroup ? ring : c.rings[size_t(ring)].group;
    if (group < 0)
      continue;
    if (step.event.kind == EventKind::Acquire) {
      // Of acquires that exclude each other, each is the last one where it runs.
      std::vector<sched::StepId> &open = pending[group];
      std::erase_if(open, [&](sched::StepId earlier) {
        if (exclusive(earlier, sched::StepId(i)))
          return false;
        lastAcquire[size_t(earlier)] = false;
        return true;
      });
      open.push_back(sched::StepId(i));
    } else if (step.event.kind == EventKind::Produce || step.event.kind == EventKind::Commit) {
      pending.erase(group);
    }
  }
}

} // namespace ts::prover
