// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a run: who is stuck and why, what is still on its way, and the texts of a witness.
#include "Machine.h"

#include <algorithm>

namespace ts::prover {

static std::string number(int64_t n) { return std::to_string(n); }

/// Steps that a blocked agent would still make are looked at for W2, up to this many.
constexpr int64_t maxWalk = 20000;

/// A blocked agent's later waits may be overtaken already: then that is the fault.
void Machine::walkStuck(State &state) {
  for (size_t a = 0; a < program.agents.size() && !fault; ++a) {
    const Agent &agent = program.agents[a];
    if (state.status[a] == Status::Done)
      continue;
    int64_t *variables = state.variables.data() + agent.variableBase;
    for (int64_t n = 0; n < maxWalk && !fault; ++n) {
      const Instr &instr = agent.code[size_t(state.pc[a])];
      if (instr.op == Op::Done)
        break;
      if (instr.op == Op::Wait || instr.op == Op::Try) {
        const WaitSpec &spec = agent.waits[size_t(instr.a)];
        int64_t slot = variables[spec.slot] + spec.ahead;
        int64_t generation = slot / spec.stages + spec.offset;
        int barrier = spec.barrier + int(slot % spec.stages);
        if (!looksAt(state, barrier))
          return;
        if (instr.op == Op::Wait && state.barriers[size_t(barrier)].completed > generation + 1)
          blame(FaultKind::Overrun, Rule::W2, int(a), instr,
                "use " + number(generation + 1) + " of " + describeBarrier(program, barrier) +
                    " completes before '" + agent.name + "' has seen use " + number(generation));
        ++state.pc[a];
        continue;
      }
      bool control = instr.op == Op::Enter || instr.op == Op::Head || instr.op == Op::Next ||
                     instr.op == Op::Guard || instr.op == Op::Branch || instr.op == Op::Jump ||
                     instr.op == Op::Bind || instr.op == Op::Advance;
      if (!control) {
        ++state.pc[a];
        continue;
      }
      state.status[a] = Status::Ready;
      if (step(state, int(a), instr) != Outcome::Next)
        break;
    }
  }
}

void Machine::write(const State &state, int a, const Instr &instr, bool blocked) const {
  if (!log || instr.step < 0)
    return;
  const Agent &agent = program.agents[size_t(a)];
  int64_t slot = -1;
  if (instr.op == Op::Wait)
    slot = state.variables[size_t(agent.variableBase + agent.waits[size_t(instr.a)].slot)] +
           agent.waits[size_t(instr.a)].ahead;
  else if (instr.op == Op::Arrive)
    slot = state.variables[size_t(agent.variableBase + agent.arrives[size_t(instr.a)].slot)];
  else if (instr.op == Op::Access && agent.accesses[size_t(instr.a)].slot >= 0)
    slot = state.variables[size_t(agent.variableBase + agent.accesses[size_t(instr.a)].slot)];
  std::string text = describeInstr(program, agent, instr, slot);
  // An acquire that also arms is one line.
  if (!log->empty() && log->back().agent == a && log->back().text == text)
    return;
  log->push_back({a, program.locOf(agent, instr.step), std::move(text), blocked});
}

/// Who else could arrive, and where: somebody who still runs, or one who has ended.
void Machine::nameWaker(const State &state, int barrier, BlockedAgent &blocked) const {
  for (bool ended : {false, true})
    for (size_t o = 0; o < program.agents.size() && blocked.wakerAgent < 0; ++o) {
      if (int(o) == blocked.agent || (state.status[o] == Status::Done) != ended)
        continue;
      const Agent &other = program.agents[o];
      for (const Instr &step : other.code) {
        bool arrives = false;
        int64_t uses = -1;
        auto here = [&](const auto &spec) {
          for (const auto &target : spec.targets)
            arrives |= barrier >= target.barrier && barrier < target.barrier + spec.stages;
          if (spec.slot >= 0)
            uses = state.variables[size_t(other.variableBase + spec.slot)];
        };
        if (step.op == Op::Arrive)
          here(other.arrives[size_t(step.a)]);
        else if (step.op == Op::Issue)
          here(other.issues[size_t(step.a)]);
        else if (step.op == Op::HandArrive)
          arrives = other.hands[size_t(step.a)].barrier == barrier;
        if (!arrives)
          continue;
        blocked.wakerAgent = int(o);
        blocked.wakerLoc = program.locOf(other, step.step);
        blocked.waker = "'" + other.name + "' would arrive here, but ";
        blocked.waker += !ended ? "does not get this far"
                         : uses >= 0
                             ? "has ended after " + number(uses) + (uses == 1 ? " use" : " uses")
                             : "has ended";
        break;
      }
    }
}

void Machine::describeBlocked(const State &state, Fault &result) const {
  for (size_t a = 0; a < program.agents.size(); ++a) {
    if (state.status[a] == Status::Done)
      continue;
    const Agent &agent = program.agents[a];
    const Instr &instr = agent.code[size_t(state.pc[a])];
    BlockedAgent blocked;
    blocked.agent = int(a);
    blocked.loc = program.locOf(agent, instr.step);
    int barrier = -1;
    if (instr.op == Op::Wait) {
      const WaitSpec &spec = agent.waits[size_t(instr.a)];
      int64_t slot = state.variables[size_t(agent.variableBase + spec.slot)] + spec.ahead;
      barrier = spec.barrier + int(slot % spec.stages);
      const std::string &ring = program.kernel->resources[size_t(spec.resource)].name;
      blocked.waitsFor = spec.drain ? "the return of use " + number(slot - spec.stages) + " of '" +
                                          ring + "' before it exits"
                         : spec.producer ? "a free stage of '" + ring + "'"
                                         : "the data of '" + ring + "'";
      if (!spec.drain)
        blocked.waitsFor += " (use " + number(slot) + ", stage " + number(slot % spec.stages) +
                            " of " + number(spec.stages) + ")";
    } else if (instr.op == Op::HandWait) {
      barrier = agent.hands[size_t(instr.a)].barrier;
      blocked.waitsFor = describeBarrier(program, barrier);
    } else {
      continue;
    }
    const BarrierState &b = state.barriers[size_t(barrier)];
    if (b.pending > 0)
      blocked.waitsFor += "; " + number(b.pending) + " of " +
                          number(program.barriers[size_t(barrier)].count) + " arrivals are missing";
    nameWaker(state, barrier, blocked);
    result.blocked.push_back(std::move(blocked));
    if (log)
      write(state, int(a), instr, true);
  }
}

/// Whether somebody is stuck between arming the open phase of `barrier` and bringing its bytes:
/// then what blocks it is the fault.
bool Machine::mayStillIssue(const State &state, int barrier) const {
  const BarrierInfo &info = program.barriers[size_t(barrier)];
  int64_t slot = state.barriers[size_t(barrier)].completed * info.stages + info.stage;
  for (size_t a = 0; a < program.agents.size(); ++a) {
    if (state.status[a] == Status::Done)
      continue;
    const Agent &agent = program.agents[a];
    for (const IssueSpec &spec : agent.issues)
      for (const IssueSpec::Target &target : spec.targets) {
        if (barrier != target.barrier + info.stage ||
            state.variables[size_t(agent.variableBase + spec.slot)] != slot)
          continue;
        int bit =
            target.epoch + 3 * info.stage + int(state.barriers[size_t(barrier)].completed % 3);
        if (!testBit(state.active.data(), bit))
          return true;
      }
  }
  return false;
}

void Machine::judgeEnd(State &state) {
  if (fault)
    return;
  // Bytes that were expected and never come.
  for (size_t i = 0; i < state.barriers.size(); ++i) {
    const BarrierState &b = state.barriers[i];
    if (b.broken || b.pending > 0 || b.tx == 0 || mayStillIssue(state, int(i)))
      continue;
    Instr none;
    const BarrierInfo &info = program.barriers[i];
    int agent = info.users.empty() ? 0 : info.users.front();
    blame(FaultKind::Bytes, Rule::X, agent, none,
          describeBarrier(program, int(i)) + " expects " + number(b.armed) + " bytes for use " +
              number(b.completed) + ", the copies bring " + number(b.issued));
    // Name the place that armed it.
    for (const Agent &other : program.agents)
      for (const Instr &instr : other.code)
        if (instr.op == Op::Arrive)
          for (const ArriveSpec::Target &target : other.arrives[size_t(instr.a)].targets)
            if (target.bytes && int(i) >= target.barrier &&
                int(i) < target.barrier + other.arrives[size_t(instr.a)].stages) {
              fault->agent = int(&other - program.agents.data());
              fault->loc = program.locOf(other, instr.step);
            }
    // Where nobody ever looks, missing bytes harm nobody; whoever is stuck may be about to look.
    if (defer(state, int(i)))
      continue;
    return;
  }
  if (!allDone(state)) {
    Fault deadlock;
    deadlock.kind = FaultKind::Deadlock;
    describeBlocked(state, deadlock);
    State walk = state;
    auto *kept = log;
    log = nullptr;
    walkStuck(walk);
    log = kept;
    if (fault)
      return;
    if (state.race) {
      fault = *state.race;
      return;
    }
    std::string who;
    size_t shown = std::min<size_t>(deadlock.blocked.size(), 4);
    for (size_t i = 0; i < shown; ++i)
      who += (i == 0                             ? "'"
              : i + 1 == deadlock.blocked.size() ? " and '"
                                                 : ", '") +
             program.agents[size_t(deadlock.blocked[i].agent)].name + "'";
    if (shown < deadlock.blocked.size())
      who += " and others";
    deadlock.message =
        who + (deadlock.blocked.size() == 1 ? " waits for ever" : " wait for each other");
    if (!deadlock.blocked.empty()) {
      deadlock.agent = deadlock.blocked.front().agent;
      deadlock.loc = deadlock.blocked.front().loc;
    }
    fault = std::move(deadlock);
    return;
  }
  if (state.race) {
    fault = *state.race;
    return;
  }
  for (int cta = 0; cta < program.ctas; ++cta) {
    Bits known(program.words, 0);
    for (size_t a = 0; a < program.agents.size(); ++a)
      if (program.agents[a].cta == cta)
        orInto(known.data(), row(state, int(a)), program.words);
    const Bits &mask = program.exitMask[size_t(cta)];
    for (size_t i = 0; i < program.words; ++i)
      if (Word open = mask[i] & state.active[i] & ~known[i]) {
        const EpochInfo &epoch = program.epochs[i * 64 + size_t(std::countr_zero(open))];
        const Family &family = program.families[size_t(epoch.family)];
        const Agent &agent = program.agents[size_t(family.agent)];
        Fault exit;
        exit.kind = FaultKind::Exit;
        exit.agent = family.agent;
        exit.loc = program.locOf(agent, family.step);
        std::string what = family.allocation >= 0
                               ? "a " + describeAccess(program, epoch.family, epoch.stage)
                               : "an arrival of '" + agent.name + "' on " +
                                     describeBarrier(program, family.barrier + epoch.stage);
        exit.message = what + " can be outstanding when " +
                       (program.ctas > 1 ? "CTA " + number(cta) : std::string("the CTA")) +
                       " exits";
        if (family.allocation < 0)
          for (const Instr &instr : agent.code) {
            auto here = [&](const auto &targets, int64_t stages) {
              for (const auto &target : targets)
                if (family.barrier >= target.barrier && family.barrier < target.barrier + stages)
                  exit.loc = program.locOf(agent, instr.step);
            };
            if (instr.op == Op::Arrive)
              here(agent.arrives[size_t(instr.a)].targets, agent.arrives[size_t(instr.a)].stages);
            else if (instr.op == Op::Issue)
              here(agent.issues[size_t(instr.a)].targets, agent.issues[size_t(instr.a)].stages);
          }
        fault = std::move(exit);
        return;
      }
  }
}

} // namespace ts::prover
