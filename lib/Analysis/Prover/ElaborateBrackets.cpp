// Which of several acquires of a group, and of several works on a ring, is the last of its bracket.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elaborate.h"

#include "ts/Analysis/Schedule/Brackets.h"

namespace ts::prover {

using sched::EventKind;
using sched::StepKind;

void TaskElaborator::markLastOfBracket() {
  // Steps stand in the arena in program order.
  lastAcquire = sched::lastAcquires(c.kernel, task());
  lastProduce.assign(task().steps.size(), true);
  std::map<int, sched::StepId> produces;
  for (size_t i = 0; i < task().steps.size(); ++i) {
    const sched::Step &step = at(sched::StepId(i));
    if (step.kind != StepKind::Event || step.event.resource < 0)
      continue;
    if (step.event.kind == EventKind::Produce && !step.event.aux) {
      if (auto it = produces.find(step.event.resource); it != produces.end())
        lastProduce[size_t(it->second)] = false;
      produces[step.event.resource] = sched::StepId(i);
    } else if (step.event.kind == EventKind::Acquire || step.event.kind == EventKind::Commit) {
      produces.erase(step.event.resource);
    }
  }
}

} // namespace ts::prover
