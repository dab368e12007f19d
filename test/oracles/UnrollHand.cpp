// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers that bodies name themselves: mbarriers with a parity of the user's, and the barrier of
// the cluster. An operation on an mbarrier or a named barrier does not say which phase it is meant
// for. What one run finds is taken for it: where another interleaving finds something else, that is
// the fault.
#include "AgentWriter.h"

#include <map>

namespace ts::oracle {

int AgentWriter::handBarrier(int resource, int64_t cta) {
  const Resource &r = kernel.resources[size_t(resource)];
  std::string name = r.name + "@" + std::to_string(cta);
  for (size_t b = 0; b < program.barriers.size(); ++b)
    if (program.barriers[b].name == name)
      return int(b);
  Barrier barrier;
  barrier.name = name;
  barrier.cta = int(cta);
  barrier.count = std::max<int64_t>(r.count, 1);
  barrier.hand = true;
  program.barriers.push_back(barrier);
  return int(program.barriers.size() - 1);
}

void AgentWriter::handArrive(const Event &e) {
  if (e.expect && *e.expect > 0)
    return fail("copies onto a hand-written mbarrier");
  if (e.remote && (!e.remoteCta || *e.remoteCta < 0 || *e.remoteCta >= program.ctas))
    return fail("an arrival on the barrier of a CTA whose rank is not constant");
  Micro op;
  op.kind = OpKind::Arrive;
  op.barrier = handBarrier(e.resource, e.remote ? *e.remoteCta : w.cta);
  op.count = e.elected ? w.warps : 32 * w.warps;
  add(op);
}

void AgentWriter::handWait(const Event &e) {
  Parity parity = e.parity.value_or(Parity());
  int64_t value = parity.offset;
  if (parity.kind == Parity::Kind::Unknown)
    return fail("a parity that is not affine");
  if (parity.kind != Parity::Kind::Constant) {
    auto it = positions.find(parity.loop);
    if (it == positions.end())
      return fail("a parity that follows a loop which is not around it");
    value = parity.kind == Parity::Kind::Flips ? parity.offset + it->second.at
                                               : (parity.scale * it->second.at + parity.offset) /
                                                     std::max<int64_t>(parity.divisor, 1);
  }
  Micro op;
  op.kind = OpKind::Wait;
  op.barrier = handBarrier(e.resource, w.cta);
  op.gen = value & 1; // so far only the parity
  add(op);
}

/// All threads of the cluster meet. PTX lets those that have exited count as arrived; a program
/// that rests on that is not one that the dialect's barrier is for, so here they do not.
void AgentWriter::clusterSync() {
  int at = -1;
  for (size_t b = 0; b < program.barriers.size(); ++b)
    if (program.barriers[b].name == "cluster")
      at = int(b);
  if (at < 0) {
    at = int(program.barriers.size());
    program.barriers.push_back({"cluster", 0, 1, true, 0});
  }
  named(at, 1, times[{-1, 0}]++, true, true);
}

namespace {

/// One run, each agent as far as it gets in turn and every engine at once: tells the operations on
/// hand-written and named barriers which phase they are meant for.
class FirstRun {
public:
  explicit FirstRun(Program &program) : p(program), at(program.agents.size()) {
    for (const Barrier &barrier : p.barriers)
      state.push_back({0, barrier.count - barrier.arrived, 0});
  }

  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t a = 0; a < p.agents.size(); ++a)
        while (at[a] < p.agents[a].ops.size() && step(int(a), p.agents[a].ops[at[a]])) {
          ++at[a];
          moved = true;
        }
    }
    // What the run does not reach is meant for no phase that it had; a wait that blocks is meant
    // for the one that it waits for.
    for (size_t a = 0; a < p.agents.size(); ++a)
      for (size_t i = at[a]; i < p.agents[a].ops.size(); ++i)
        if (Micro &op = p.agents[a].ops[i]; op.barrier >= 0 && (hand(op) || named(op))) {
          if (i != at[a] || op.kind != OpKind::Wait)
            op.gen += unreached;
          else if (hand(op))
            op.gen = state[size_t(op.barrier)].completed;
        }
  }

private:
  struct State {
    int64_t completed, pending, bytes;
  };
  static constexpr int64_t unreached = 10000;

  void arrive(int barrier, int64_t count, int64_t bytes) {
    if (barrier < 0)
      return;
    State &s = state[size_t(barrier)];
    s.bytes += bytes;
    s.pending -= count;
    if (s.pending <= 0 && s.bytes == 0) {
      ++s.completed;
      s.pending = p.barriers[size_t(barrier)].count;
    }
  }

  bool hand(const Micro &op) const { return p.barriers[size_t(op.barrier)].hand; }
  bool named(const Micro &op) const { return p.barriers[size_t(op.barrier)].named; }

  bool step(int agent, Micro &op) {
    switch (op.kind) {
    case OpKind::Wait: {
      const State &s = state[size_t(op.barrier)];
      if (named(op)) {
        op.gen = arrivedIn[{agent, op.barrier}];
        return s.completed > op.gen;
      }
      if ((s.completed & 1) == (op.gen & 1))
        return false;
      if (hand(op))
        op.gen = s.completed - 1;
      return true;
    }
    case OpKind::Arrive:
      if (hand(op) || named(op))
        arrivedIn[{agent, op.barrier}] = op.gen = state[size_t(op.barrier)].completed;
      arrive(op.barrier, op.count, op.bytes);
      return true;
    case OpKind::Copy:
      for (const Target &target : op.targets)
        arrive(target.barrier, 0, -target.bytes);
      return true;
    case OpKind::UmmaCommit:
    case OpKind::CpAsyncArrive:
      for (const Target &target : op.targets)
        arrive(target.barrier, op.count, 0);
      return true;
    default:
      return true;
    }
  }

  Program &p;
  std::vector<size_t> at;
  std::vector<State> state;
  std::map<std::pair<int, int>, int64_t> arrivedIn; ///< a sync waits for the phase it arrived in
};

} // namespace

void finishHandBarriers(Program &program) {
  bool hand = false;
  for (Barrier &barrier : program.barriers) {
    hand |= barrier.hand || barrier.named;
    if (barrier.named && barrier.name == "cluster")
      barrier.count = int64_t(program.agents.size());
  }
  if (hand)
    FirstRun(program).run();
}

} // namespace ts::oracle
