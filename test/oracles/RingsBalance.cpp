// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the roles of a ring touched equally many slots, by counting the slots of the unrolled
// program. It knows no formulas: those are the prover's, and this is what they are held against.
#include "Rings.h"

#include <algorithm>

namespace ts::oracle {

void Rings::touch(const Writer &writer, int resource, protocol::Op op, int64_t slot) {
  Ring &ring = rings[size_t(resource)];
  // The lanes of a role share its slots.
  bool lanes = ring.spec->interleave[protocol::roleIndex(op)] > 1;
  ring.touched[{writer.cta, op, lanes ? -1 : writer.agent}].insert(slot);
}

/// Roles that are written down, but come to no slot at all, count too.
void Rings::addIdle(int resource, std::map<Role, std::set<int64_t>> &roles) const {
  for (size_t a = 0; a < program.agents.size(); ++a) {
    const schedule::Task &task = kernel.tasks[size_t(program.agents[a].task)];
    for (const schedule::Step &step : task.steps) {
      std::optional<protocol::Op> op = schedule::barrierOp(step.event.kind);
      int on = step.event.resource;
      if (step.kind != schedule::StepKind::Event || !op || on < 0 || *op == protocol::Op::TryWait ||
          *op == protocol::Op::TryAcquire ||
          (on != resource && on != rings[size_t(resource)].group))
        continue;
      // What a later op of the task closes is no use of its own.
      bool producer = *op == protocol::Op::Acquire || *op == protocol::Op::Commit;
      bool opens = *op == protocol::Op::Acquire || *op == protocol::Op::Wait;
      const protocol::PipelineSpec &s = *rings[size_t(on)].spec;
      if (opens && !(producer ? s.advanceOnAcquire : s.advanceOnWait) &&
          std::any_of(task.steps.begin(), task.steps.end(), [&](const schedule::Step &other) {
            return other.kind == schedule::StepKind::Event && other.event.resource == on &&
                   other.event.kind ==
                       (producer ? schedule::EventKind::Commit : schedule::EventKind::Release);
          }))
        continue;
      // A role that this CTA is not to play is none.
      bool elsewhere = false;
      for (int up = step.parent; up >= 0; up = task.steps[size_t(up)].parent)
        elsewhere |= task.steps[size_t(up)].condition.ctas.has_value();
      bool lanes = rings[size_t(on)].spec->interleave[protocol::roleIndex(*op)] > 1;
      if (!elsewhere)
        roles[{program.agents[a].cta, *op, lanes ? -1 : int(a)}];
    }
  }
}

/// Queues are left out: that a tile is taken once per pass is check 106.
bool Rings::imbalanced() const {
  for (size_t r = 0; r < rings.size(); ++r) {
    const Ring &ring = rings[r];
    if (!ring.spec || kernel.resources[r].kind != schedule::ResourceKind::Memory)
      continue;
    // What is done to a group is done to each of its members.
    std::map<Role, std::set<int64_t>> all = ring.touched;
    if (ring.group >= 0)
      for (const auto &[role, slots] : rings[size_t(ring.group)].touched)
        all[role].insert(slots.begin(), slots.end());
    addIdle(int(r), all);
    std::map<int, size_t> expected; // by CTA
    for (const auto &[role, slots] : all)
      if (expected.try_emplace(role.cta, slots.size()).first->second != slots.size())
        return true;
  }
  return false;
}

} // namespace ts::oracle
