// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers and memory in the canonical run: the conformance rules and the race check.
#include "Machine.h"

#include <algorithm>

namespace ts::prover {

static int64_t generationOf(int64_t slot, int64_t stages) { return slot >= 0 ? slot / stages : -1; }
static std::string number(int64_t n) { return std::to_string(n); }

void Machine::forget(State &state, int bit) const {
  // Nobody knows the new epoch yet; what they knew was the old one.
  size_t word = size_t(bit) >> 6;
  Word keep = ~(Word(1) << (bit & 63));
  if (!testBit(state.active.data(), bit))
    return;
  state.fresh[word] &= keep;
  Word *at = state.rows.data() + word;
  for (int r = 0; r < program.rows; ++r, at += program.words)
    *at &= keep;
}

void Machine::retire(State &state) {
  // The bits of one barrier lie close together: one pass over the rows for each of their words.
  std::sort(retired.begin(), retired.end());
  for (size_t i = 0; i < retired.size();) {
    size_t word = size_t(retired[i]) >> 6;
    Word keep = ~Word(0);
    for (; i < retired.size() && size_t(retired[i]) >> 6 == word; ++i)
      keep &= ~(Word(1) << (retired[i] & 63));
    if ((state.active[word] & ~keep) == 0)
      continue;
    state.fresh[word] &= keep;
    state.active[word] &= keep;
    Word *at = state.rows.data() + word;
    for (int r = 0; r < program.rows; ++r, at += program.words)
      *at &= keep;
  }
  retired.clear();
}

bool Machine::knows(const State &state, int a, int barrier, int64_t generation) const {
  if (generation < 0)
    return true;
  if (state.barriers[size_t(barrier)].completed <= generation)
    return false;
  const Word *mine = row(state, a);
  for (int base : program.barriers[size_t(barrier)].arrivals) {
    int bit = base + int(generation % 3);
    if (testBit(state.active.data(), bit) && !testBit(mine, bit))
      return false;
  }
  return true;
}

void Machine::blame(FaultKind kind, Rule rule, int a, const Instr &instr, std::string message) {
  Fault found;
  found.kind = kind;
  found.rule = rule;
  found.agent = a;
  found.loc = program.locOf(program.agents[size_t(a)], instr.step);
  found.message = std::move(message);
  fault = std::move(found);
}

/// The fault at hand is about a barrier that nobody has waited for yet in this run: a phase that
/// nobody observes misleads nobody, so it counts only when somebody comes to look (looksAt).
bool Machine::defer(State &state, int barrier) {
  BarrierState &b = state.barriers[size_t(barrier)];
  if (b.waited)
    return false;
  b.broken = true;
  state.held.push_back({barrier, std::make_shared<const Fault>(std::move(*fault))});
  fault.reset();
  return true;
}

/// Somebody waits for `barrier` or probes it. False: what went wrong there before counts now.
bool Machine::looksAt(State &state, int barrier) {
  BarrierState &b = state.barriers[size_t(barrier)];
  b.waited = true;
  if (b.broken)
    for (const auto &[at, held] : state.held)
      if (at == barrier) {
        fault = *held;
        return false;
      }
  return true;
}

/// What the open phase of `barrier` tells those who see it complete. A thread's own arrival is a
/// release of all that it did and knows. An engine's (complete_tx, tcgen05.commit,
/// cp.async.mbarrier.arrive) is asynchronous to the thread and tracks the engine's work only: the
/// thread's plain accesses are over by then if a release of its own stands between, and only then;
/// an acquiring wait does not hold back what stands before it.
void Machine::publish(State &state, int a, int barrier, bool engine) const {
  Word *open = row(state, openRow(barrier));
  const Word *mine = row(state, a);
  const Bits &own = program.ownAccesses[size_t(a)];
  for (size_t i = 0; i < program.words; ++i)
    open[i] |= engine ? mine[i] & ~(own[i] & state.fresh[i]) : mine[i];
}

/// A release by the thread itself: its earlier accesses are over before whatever it does next.
void Machine::released(State &state, int a) const {
  const Bits &own = program.ownAccesses[size_t(a)];
  if (engines[size_t(a)])
    for (size_t i = 0; i < program.words; ++i)
      state.fresh[i] &= ~own[i];
}

//--- Completion of phases -----------------------------------------------------------------------

bool Machine::badBytes(const State &state, int barrier, int a, const Instr &instr) {
  const BarrierState &b = state.barriers[size_t(barrier)];
  if (b.pending > 0 || b.tx >= 0)
    return false;
  blame(FaultKind::Bytes, Rule::X, a, instr,
        "copies bring " + number(b.issued) + " bytes to " + describeBarrier(program, barrier) +
            ", which expects " + number(b.armed));
  return true;
}

/// Completes the phase if nothing is missing. False: a waiter of the phase before may come too
/// late.
bool Machine::complete(State &state, int barrier, int a, const Instr &instr) {
  BarrierState &b = state.barriers[size_t(barrier)];
  if (b.pending > 0 || b.tx != 0)
    return true;
  retired.clear();
  const BarrierInfo &info = program.barriers[size_t(barrier)];
  Word *open = row(state, openRow(barrier)), *last = row(state, lastRow(barrier));
  if (info.kind != BarrierInfo::Kind::Named)
    for (int bit : info.waits) {
      if (!testBit(state.active.data(), bit))
        continue;
      if (!testBit(open, bit)) {
        int waiter = program.families[size_t(program.epochs[size_t(bit)].family)].agent;
        blame(FaultKind::Overrun, Rule::W2, a, instr,
              "use " + number(b.completed) + " of " + describeBarrier(program, barrier) +
                  " can complete before '" + program.agents[size_t(waiter)].name +
                  "' has seen use " + number(b.completed - 1));
        return false;
      }
      retired.push_back(bit);
    }
  // The slot of the generation that opens after this one held the one three before.
  for (int base : info.arrivals)
    retired.push_back(base + int((b.completed + 1) % 3));
  retire(state);
  std::copy_n(open, program.words, last);
  std::fill_n(open, program.words, 0);
  ++b.completed;
  b.pending = info.count;
  b.tx = b.armed = b.issued = 0;
  return true;
}

/// A1 and A2 for an arrival (or bytes) meant for `generation`.
bool Machine::land(State &state, int a, const Instr &instr, int barrier, int64_t generation,
                   const char *what) {
  const BarrierState &b = state.barriers[size_t(barrier)];
  const std::string &name = program.agents[size_t(a)].name;
  if (b.completed != generation || (b.pending <= 0 && b.tx <= 0)) {
    blame(FaultKind::Overrun, Rule::A1, a, instr,
          std::string(what) + " of '" + name + "' for use " + number(generation) + " of " +
              describeBarrier(program, barrier) + " meets use " + number(b.completed));
    return false;
  }
  if (!knows(state, a, barrier, generation - 1)) {
    blame(FaultKind::Overrun, Rule::A2, a, instr,
          std::string(what) + " of '" + name + "' for use " + number(generation) + " of " +
              describeBarrier(program, barrier) + " can come while use " + number(generation - 1) +
              " is not complete");
    return false;
  }
  return true;
}

void Machine::recordArrival(State &state, int a, int barrier, int epoch, bool async) const {
  int bit = epoch + int(state.barriers[size_t(barrier)].completed % 3);
  forget(state, bit);
  setBit(state.active.data(), bit);
  if (!async)
    setBit(row(state, a), bit);
  setBit(row(state, openRow(barrier)), bit);
}

Machine::Outcome Machine::arrive(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const ArriveSpec &spec = agent.arrives[size_t(instr.a)];
  int64_t slot = state.variables[size_t(agent.variableBase + spec.slot)];
  int64_t generation = generationOf(slot, spec.stages);
  int stage = int(slot % spec.stages);
  write(state, a, instr);
  for (const ArriveSpec::Target &target : spec.targets) {
    int barrier = target.barrier + stage;
    BarrierState &b = state.barriers[size_t(barrier)];
    // What nobody ever waits for can go wrong only at the exit.
    if (program.barriers[size_t(barrier)].waits.empty() || b.broken) {
      recordArrival(state, a, barrier, target.epoch + 3 * stage, spec.async);
      continue;
    }
    bool lands = land(state, a, instr, barrier, generation, "an arrival");
    if (lands && b.pending < spec.count) {
      blame(FaultKind::Overrun, Rule::A1, a, instr,
            "'" + agent.name + "' arrives " + number(spec.count) + " times on " +
                describeBarrier(program, barrier) + ", which waits for only " + number(b.pending) +
                " more of its " + number(program.barriers[size_t(barrier)].count));
      lands = false;
    }
    if (!lands && !defer(state, barrier))
      return Outcome::Fault;
    recordArrival(state, a, barrier, target.epoch + 3 * stage, spec.async);
    if (!lands)
      continue;
    publish(state, a, barrier, spec.async);
    if (spec.queue >= 0) {
      const Queue &queue = agent.queues[size_t(spec.queue)];
      for (int r = 0; r < queue.rows(); ++r)
        orInto(row(state, openRow(barrier)), row(state, queue.row + r), program.words);
    }
    b.tx += target.bytes;
    b.armed += target.bytes;
    b.pending -= spec.count;
    if ((badBytes(state, barrier, a, instr) || !complete(state, barrier, a, instr)) &&
        !defer(state, barrier))
      return Outcome::Fault;
  }
  if (!spec.async)
    released(state, a);
  return Outcome::Next;
}

Machine::Outcome Machine::issue(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const IssueSpec &spec = agent.issues[size_t(instr.a)];
  int64_t *variables = state.variables.data() + agent.variableBase;
  int64_t slot = variables[spec.slot];
  if (spec.onlyIf >= 0) {
    if (variables[spec.onlyIf] != slot)
      return Outcome::Next;
    variables[spec.onlyIf] = -1;
  }
  int stage = int(slot % spec.stages);
  for (const IssueSpec::Target &target : spec.targets) {
    int barrier = target.barrier + stage;
    BarrierState &b = state.barriers[size_t(barrier)];
    if (program.barriers[size_t(barrier)].waits.empty() || b.broken) {
      recordArrival(state, a, barrier, target.epoch + 3 * stage, true);
      continue;
    }
    bool lands = land(state, a, instr, barrier, generationOf(slot, spec.stages), "a copy");
    if (!lands && !defer(state, barrier))
      return Outcome::Fault;
    recordArrival(state, a, barrier, target.epoch + 3 * stage, true);
    if (!lands)
      continue;
    publish(state, a, barrier, true);
    b.tx -= target.bytes;
    b.issued += target.bytes;
    if ((badBytes(state, barrier, a, instr) || !complete(state, barrier, a, instr)) &&
        !defer(state, barrier))
      return Outcome::Fault;
  }
  return Outcome::Next;
}

//--- Waits --------------------------------------------------------------------------------------

/// What a wait for `generation` that passed tells the agent, and that it has passed.
void Machine::passed(State &state, int a, int barrier, int64_t generation, int epoch) const {
  if (generation >= 0)
    orInto(row(state, a), row(state, lastRow(barrier)), program.words);
  forget(state, epoch);
  setBit(state.active.data(), epoch);
  setBit(row(state, a), epoch);
}

Machine::Outcome Machine::wait(State &state, int a, const Instr &instr, bool probe) {
  const Agent &agent = program.agents[size_t(a)];
  const WaitSpec &spec = agent.waits[size_t(instr.a)];
  int64_t *variables = state.variables.data() + agent.variableBase;
  int64_t slot = variables[spec.slot] + spec.ahead;
  int64_t generation = generationOf(slot, spec.stages) + spec.offset;
  int stage = int(slot % spec.stages), barrier = spec.barrier + stage;
  const BarrierState &b = state.barriers[size_t(barrier)];
  if (state.status[size_t(a)] == Status::Ready) {
    if (!looksAt(state, barrier))
      return Outcome::Fault;
    if (!probe && spec.tried >= 0) {
      if (variables[spec.tried] >= 0 && variables[spec.tried] != slot) {
        blame(FaultKind::Overrun, Rule::W1, a, instr,
              "the result of the probe for use " + number(variables[spec.tried]) +
                  " decides the wait for use " + number(slot) + " of " +
                  describeBarrier(program, barrier));
        return Outcome::Fault;
      }
      variables[spec.tried] = -1;
    }
    if (b.completed > generation + 1) {
      blame(FaultKind::Overrun, Rule::W2, a, instr,
            "'" + agent.name + "' looks for use " + number(generation) + " of " +
                describeBarrier(program, barrier) + " when use " + number(generation + 1) +
                " can be complete already");
      return Outcome::Fault;
    }
    if (!knows(state, a, barrier, generation - 1)) {
      blame(FaultKind::Overrun, Rule::W1, a, instr,
            std::string(probe ? "a probe" : "the wait") + " of '" + agent.name + "' for use " +
                number(generation) + " of " + describeBarrier(program, barrier) +
                " can pass on use " + number(generation - 2) + ", as use " +
                number(generation - 1) + " is not known to be complete");
      return Outcome::Fault;
    }
    if (probe) {
      variables[spec.tried] = slot;
      return Outcome::Next;
    }
    state.status[size_t(a)] = Status::Waiting;
  }
  if (b.completed < generation + 1)
    return Outcome::Blocked;
  if (b.completed > generation + 1) {
    blame(FaultKind::Overrun, Rule::W2, a, instr,
          "use " + number(generation + 1) + " of " + describeBarrier(program, barrier) +
              " can complete before '" + agent.name + "' has seen use " + number(generation));
    return Outcome::Fault;
  }
  state.status[size_t(a)] = Status::Ready;
  write(state, a, instr);
  passed(state, a, barrier, generation, spec.epoch + stage);
  return Outcome::Next;
}

//--- Barriers of the user's ---------------------------------------------------------------------

Machine::Outcome Machine::handArrive(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const HandSpec &spec = agent.hands[size_t(instr.a)];
  BarrierState &b = state.barriers[size_t(spec.barrier)];
  int64_t generation = b.completed;
  write(state, a, instr);
  if (program.barriers[size_t(spec.barrier)].waits.empty()) {
    recordArrival(state, a, spec.barrier, spec.epoch, false);
    released(state, a);
    return Outcome::Next;
  }
  b.waited = true;
  if (!land(state, a, instr, spec.barrier, generation, "an arrival"))
    return Outcome::Fault;
  if (b.pending < spec.count) {
    blame(FaultKind::Overrun, Rule::A1, a, instr,
          "'" + agent.name + "' arrives with " + number(spec.count) + " threads on " +
              describeBarrier(program, spec.barrier) + ", which waits for only " +
              number(b.pending) + " more");
    return Outcome::Fault;
  }
  recordArrival(state, a, spec.barrier, spec.epoch, false);
  publish(state, a, spec.barrier, false);
  released(state, a);
  b.pending -= spec.count;
  if (spec.waits)
    state.variables[size_t(agent.variableBase + spec.waited)] = generation;
  return complete(state, spec.barrier, a, instr) ? Outcome::Next : Outcome::Fault;
}

Machine::Outcome Machine::handWait(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const HandSpec &spec = agent.hands[size_t(instr.a)];
  BarrierState &b = state.barriers[size_t(spec.barrier)];
  int64_t &generation = state.variables[size_t(agent.variableBase + spec.waited)];
  if (state.status[size_t(a)] == Status::Ready && spec.parityWait) {
    int64_t i = 0;
    if (spec.loop >= 0)
      i = state.frames[size_t(agent.frameBase + agent.loops[size_t(spec.loop)].depth)].i;
    __int128 parity = spec.parity.offset;
    if (spec.parity.kind == schedule::Parity::Kind::Linear)
      parity = (__int128(spec.parity.scale) * i + spec.parity.offset) /
               std::max<int64_t>(1, spec.parity.divisor);
    else if (spec.parity.kind == schedule::Parity::Kind::Flips)
      parity += i;
    // The youngest completion that is known; the barrier may be one further.
    int64_t known = b.completed;
    if (!knows(state, a, spec.barrier, known - 1))
      --known;
    generation = (known & 1) == (parity & 1) ? known : known - 1;
    if (!knows(state, a, spec.barrier, known - 1) || b.completed > generation + 1) {
      blame(FaultKind::Overrun, known < b.completed ? Rule::W2 : Rule::W1, a, instr,
            "the parity that '" + agent.name + "' waits for can mean use " + number(generation) +
                " or use " + number(generation + 2) + " of " +
                describeBarrier(program, spec.barrier));
      return Outcome::Fault;
    }
  }
  state.status[size_t(a)] = Status::Waiting;
  if (b.completed < generation + 1)
    return Outcome::Blocked;
  if (spec.parityWait && b.completed > generation + 1) {
    blame(FaultKind::Overrun, Rule::W2, a, instr,
          "use " + number(generation + 1) + " of " + describeBarrier(program, spec.barrier) +
              " can complete before '" + agent.name + "' has seen use " + number(generation));
    return Outcome::Fault;
  }
  state.status[size_t(a)] = Status::Ready;
  write(state, a, instr);
  int64_t awaited = generation;
  generation = -1;
  // A barrier that went on meanwhile has nothing older to tell.
  passed(state, a, spec.barrier, awaited, spec.waitEpoch);
  return Outcome::Next;
}

//--- Memory -------------------------------------------------------------------------------------

Machine::Outcome Machine::access(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const AccessSpec &spec = agent.accesses[size_t(instr.a)];
  const int64_t *variables = state.variables.data() + agent.variableBase;
  int64_t slot = spec.slot < 0 ? 0 : variables[spec.slot];
  if (slot < 0)
    return Outcome::Next;
  if (!spec.parts.empty()) {
    slot = spec.partShift;
    for (auto [loop, scale] : spec.parts)
      slot += scale * state.frames[size_t(agent.frameBase + agent.loops[size_t(loop)].depth)].i;
    // Rounded down: a number below zero, if one comes up, is a part like the others.
    slot = slot / spec.partDivisor - (slot % spec.partDivisor < 0);
    slot = (slot % spec.stages + spec.stages) % spec.stages;
  }
  int stage = int(slot % spec.stages);
  int bit = program.families[size_t(spec.family)].base + stage;
  write(state, a, instr);
  const Bits &conflicts = program.conflicts[size_t(bit)];
  if (!conflicts.empty() && !state.race) {
    const Word *mine = row(state, a);
    for (size_t i = 0; i < program.words && !state.race; ++i)
      if (Word unknown = conflicts[i] & state.active[i] & ~mine[i]) {
        int other = int(i * 64) + std::countr_zero(unknown);
        const EpochInfo &epoch = program.epochs[size_t(other)];
        const Family &family = program.families[size_t(epoch.family)];
        Fault race;
        race.kind = FaultKind::Race;
        race.agent = a;
        race.loc = program.locOf(agent, instr.step);
        race.message = "'" + agent.name + "' and '" + program.agents[size_t(family.agent)].name +
                       "' touch the same memory and nothing orders them";
        race.sites.push_back({a, race.loc, describeAccess(program, spec.family, stage)});
        race.sites.push_back({family.agent,
                              program.locOf(program.agents[size_t(family.agent)], family.step),
                              describeAccess(program, epoch.family, epoch.stage)});
        state.race = std::make_shared<const Fault>(std::move(race));
      }
  }
  forget(state, bit);
  setBit(state.active.data(), bit);
  if (!spec.barriers.empty()) {
    int64_t at = spec.barrierSlot < 0 ? 0 : std::max<int64_t>(0, variables[spec.barrierSlot]);
    for (int base : spec.barriers)
      setBit(row(state, openRow(base + int(at % spec.barrierStages))), bit);
  } else if (spec.queue >= 0) {
    setBit(row(state, agent.queues[size_t(spec.queue)].row), bit);
  } else {
    setBit(row(state, a), bit);
    if (engines[size_t(a)])
      setBit(state.fresh.data(), bit);
  }
  return Outcome::Next;
}

} // namespace ts::prover
