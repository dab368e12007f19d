// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Normalise.h"

#include <algorithm>

namespace ts::prover {

namespace {

enum Tag : uint64_t {
  TagAgent = 1,
  TagFrame,
  TagVariable,
  TagTrip,
  TagKnown,
  TagBarrier,
  TagActive,
  TagBit,
  TagRace
};

/// Folds several numbers into one.
class Fold {
public:
  explicit Fold(uint64_t start) : value(Digest::mix(start + 0x51ed270b)) {}
  Fold &operator<<(uint64_t next) {
    value = Digest::mix(value * 0x9e3779b97f4a7c15ull + next + 1);
    return *this;
  }
  uint64_t value;
};

} // namespace

Normaliser::Normaliser(const Machine &machine) : machine(machine), program(machine.program) {
  size_t w = program.words;
  base.resize(program.units.size());
  live.resize(program.barriers.size());
  for (Bits *bits : {&mask, &all, &exitAny, &exitKnown})
    bits->assign(w, 0);
  names.resize(w * 64);
  for (const Bits &exit : program.exitMask)
    orInto(exitAny.data(), exit.data(), w);
}

uint64_t Normaliser::canonicalStage(int unit, int64_t stages, int64_t stage) const {
  if (unit < 0 || !program.units[size_t(unit)].rotates || stages <= 1)
    return uint64_t(stage);
  return uint64_t(((stage - base[size_t(unit)]) % stages + stages) % stages);
}

uint64_t Normaliser::canonicalEpoch(const State &state, int epoch) const {
  const EpochInfo &info = program.epochs[size_t(epoch)];
  const Family &family = program.families[size_t(info.family)];
  Fold fold{uint64_t(info.family)};
  fold << canonicalStage(family.unit, family.stages, info.stage);
  if (family.kind == Family::Kind::Arrival) {
    int64_t c = state.barriers[size_t(family.barrier + info.stage)].completed;
    fold << uint64_t(((c - info.generation) % 3 + 3) % 3);
  }
  return fold.value;
}

void Normaliser::control(const State &state, Digest &sum) {
  std::array<int64_t, maxContext> least;
  least.fill(INT64_MAX);
  for (size_t a = 0; a < program.agents.size(); ++a) {
    if (state.status[a] == Status::Done)
      continue;
    const Agent &agent = program.agents[a];
    for (int loop = machine.loopAt[a][size_t(state.pc[a])]; loop >= 0;
         loop = machine.loopParent[a][size_t(loop)]) {
      int depth = agent.loops[size_t(loop)].depth;
      if (depth < maxContext)
        least[size_t(depth)] =
            std::min(least[size_t(depth)], state.frames[size_t(agent.frameBase + depth)].i);
    }
  }
  for (size_t a = 0; a < program.agents.size(); ++a) {
    const Agent &agent = program.agents[a];
    bool done = state.status[a] == Status::Done;
    sum.add(TagAgent,
            (Fold(a) << (done ? ~uint64_t(0) : uint64_t(state.pc[a])) << uint64_t(state.status[a]))
                .value);
    if (done)
      continue;
    for (int loop = machine.loopAt[a][size_t(state.pc[a])]; loop >= 0;
         loop = machine.loopParent[a][size_t(loop)]) {
      const LoopInfo &info = agent.loops[size_t(loop)];
      const Frame &frame = state.frames[size_t(agent.frameBase + info.depth)];
      Fold fold{a};
      fold << uint64_t(info.depth);
      if (frame.total >= 0) {
        fold << 1 << uint64_t(frame.total - frame.i);
      } else {
        const Trip *trip = machine.findTrip(state, frame.trip);
        int64_t lag = trip ? machine.trips(state, int(a), info, trip->cap) - frame.i : 0;
        if (lag > maxLag)
          fold << 2 << uint64_t(frame.i);
        else
          fold << 3 << uint64_t(lag + 4);
      }
      fold << uint64_t(info.first && frame.i == 0) << uint64_t(frame.i % info.modulus);
      sum.add(TagFrame, fold.value);
    }
    const Instr &instr = agent.code[size_t(state.pc[a])];
    if (instr.op == Op::HandWait && state.status[a] == Status::Waiting) {
      const HandSpec &spec = agent.hands[size_t(instr.a)];
      sum.add(TagVariable,
              (Fold(a) << ~uint64_t(0)
                       << uint64_t(state.variables[size_t(agent.variableBase + spec.waited)] -
                                   state.barriers[size_t(spec.barrier)].completed + 8))
                  .value);
    }
  }
  for (const Trip &trip : state.trips) {
    const Symbol &symbol = program.symbols[size_t(trip.symbol)];
    Fold fold{uint64_t(trip.symbol)};
    fold << uint64_t(trip.occurrence);
    for (int i = 0; i < trip.depth; ++i)
      fold << uint64_t(trip.context[size_t(i)] -
                       (least[size_t(i)] == INT64_MAX ? 0 : least[size_t(i)]) + 64);
    if (trip.decided >= 0)
      fold << 1 << uint64_t(trip.decided);
    else
      fold << 2 << uint64_t(std::min(trip.cap, symbol.min)) << uint64_t(trip.cap % symbol.modulus)
           << uint64_t(std::min<int64_t>(trip.cap, !symbol.tiles &&
                                                           trip.symbol != machine.classSymbol &&
                                                           machine.awaited(state, trip)
                                                       ? keptTrips + 1
                                                       : 1))
           // Which conditions on the count are still open.
           << uint64_t(std::min<int64_t>(trip.cap, std::bit_width(uint64_t(symbol.limits))));
    sum.add(TagTrip, fold.value);
  }
  for (const Known &fact : state.known) {
    int64_t tile = fact.tile < 0 ? -1 : fact.tile - (least[0] == INT64_MAX ? 0 : least[0]);
    sum.add(TagKnown, (Fold(uint64_t(fact.what)) << uint64_t(fact.symbol) << uint64_t(fact.value)
                                                 << uint64_t(tile + 64) << uint64_t(fact.limit))
                          .value);
  }
}

void Normaliser::rings(const State &state, Digest &sum) {
  std::fill(base.begin(), base.end(), INT64_MAX);
  for (size_t a = 0; a < program.agents.size(); ++a) {
    if (state.status[a] == Status::Done)
      continue;
    const Agent &agent = program.agents[a];
    const Bits &alive = agent.live[size_t(state.pc[a])];
    forEachBit(alive.data(), alive.size(), [&](int v) {
      const Variable &variable = agent.variables[size_t(v)];
      int64_t value = state.variables[size_t(agent.variableBase + v)];
      if (variable.unit >= 0 && value >= 0)
        base[size_t(variable.unit)] = std::min(base[size_t(variable.unit)], value);
    });
  }
  for (size_t i = 0; i < program.barriers.size(); ++i) {
    const BarrierInfo &info = program.barriers[i];
    // Nothing depends on the phase of a barrier that nobody waits for.
    live[i] = !info.waits.empty() && std::any_of(info.users.begin(), info.users.end(), [&](int a) {
      return state.status[size_t(a)] != Status::Done;
    });
  }
  for (size_t u = 0; u < base.size(); ++u) {
    if (base[u] == INT64_MAX)
      base[u] = 0;
    const Unit &unit = program.units[u];
    if (!unit.rotates)
      base[u] -= base[u] % unit.stages;
  }
  for (size_t a = 0; a < program.agents.size(); ++a) {
    if (state.status[a] == Status::Done)
      continue;
    const Agent &agent = program.agents[a];
    const Bits &alive = agent.live[size_t(state.pc[a])];
    forEachBit(alive.data(), alive.size(), [&](int v) {
      const Variable &variable = agent.variables[size_t(v)];
      if (variable.unit < 0 && !variable.absolute)
        return;
      int64_t value = state.variables[size_t(agent.variableBase + v)];
      uint64_t relative = value < 0           ? ~uint64_t(0)
                          : variable.absolute ? uint64_t(value)
                                              : uint64_t(value - base[size_t(variable.unit)]);
      sum.add(TagVariable, (Fold(a) << uint64_t(v) << relative).value);
    });
  }
  for (size_t i = 0; i < program.barriers.size(); ++i) {
    if (!live[i])
      continue;
    const BarrierInfo &info = program.barriers[i];
    const BarrierState &b = state.barriers[i];
    Fold fold{uint64_t(i) - uint64_t(info.unit >= 0 ? info.stage : 0)};
    if (info.unit >= 0)
      fold << canonicalStage(info.unit, info.stages, info.stage)
           << uint64_t(b.completed * info.stages + info.stage - base[size_t(info.unit)] +
                       (1 << 20));
    else
      fold << uint64_t(b.completed & 1);
    // Of a broken barrier only that it is matters any more.
    if (b.broken) {
      sum.add(TagBarrier, (Fold{uint64_t(i) - uint64_t(info.unit >= 0 ? info.stage : 0)}
                           << canonicalStage(info.unit, info.stages, info.stage) << ~uint64_t(0))
                              .value);
      continue;
    }
    fold << uint64_t(b.waited) << uint64_t(b.pending) << uint64_t(b.tx) << uint64_t(b.armed)
         << uint64_t(b.issued);
    sum.add(TagBarrier, fold.value);
  }
}

void Normaliser::knowledge(const State &state, Digest &sum) {
  size_t w = program.words;
  std::fill(all.begin(), all.end(), ~Word(0));
  std::fill(exitKnown.begin(), exitKnown.end(), 0);
  for (size_t a = 0; a < program.agents.size(); ++a) {
    const Word *mine = machine.row(state, int(a));
    const Bits &exit = program.exitMask[size_t(program.agents[a].cta)];
    bool done = state.status[a] == Status::Done;
    for (size_t i = 0; i < w; ++i) {
      exitKnown[i] |= exit[i] & mine[i];
      if (!done)
        all[i] &= mine[i] | ~program.relevant[a][i];
    }
  }
  for (size_t i = 0; i < w; ++i)
    mask[i] = state.active[i] & ~(all[i] & (~exitAny[i] | exitKnown[i]));
  // Most words are empty; the rows below are walked over the others only.
  used.clear();
  for (size_t i = 0; i < w; ++i)
    if (mask[i])
      used.push_back(uint32_t(i));
  // A set of epochs is the sum of its members' names, so that a row costs two additions per bit.
  forEachBit(mask.data(), w, [&](int bit) {
    uint64_t epoch = canonicalEpoch(state, bit);
    names[size_t(bit)] = {epoch, Digest::mix(epoch + 0x2545f4914f6cdd1dull)};
    // What only the exit still asks for need not be told apart once it is known.
    sum.add(TagActive, (Fold(epoch) << uint64_t(testBit(exitKnown.data(), bit))).value);
  });
  auto add = [&](const Word *from, uint64_t name) {
    Digest set;
    Word any = 0;
    for (uint32_t i : used)
      for (Word rest = from[i] & mask[i]; rest; rest &= rest - 1) {
        const Digest &member = names[i * 64 + size_t(std::countr_zero(rest))];
        set.a += member.a;
        set.b += member.b;
        any |= rest;
      }
    if (any)
      sum.add(TagBit, (Fold(name) << set.a << set.b).value);
  };
  for (size_t a = 0; a < program.agents.size(); ++a) {
    if (state.status[a] == Status::Done)
      continue;
    add(machine.row(state, int(a)), a);
    for (const Queue &queue : program.agents[a].queues)
      for (int r = 0; r < queue.rows(); ++r)
        add(machine.row(state, queue.row + r), 0x10000 + uint64_t(queue.row + r));
  }
  add(state.fresh.data(), 0xfffff);
  for (size_t i = 0; i < program.barriers.size(); ++i) {
    if (!live[i] || state.barriers[i].broken)
      continue;
    const BarrierInfo &info = program.barriers[i];
    uint64_t name = 0x100000 + 2 * (uint64_t(i) - uint64_t(info.unit >= 0 ? info.stage : 0) +
                                    canonicalStage(info.unit, info.stages, info.stage));
    add(machine.row(state, machine.openRow(int(i))), name);
    add(machine.row(state, machine.lastRow(int(i))), name + 1);
  }
}

Digest Normaliser::controlDigest(const State &state) {
  Digest sum;
  rings(state, sum);
  control(state, sum);
  sum.add(TagRace, state.race ? 1 : 0);
  return sum;
}

Digest Normaliser::digest(const State &state) {
  Digest sum = controlDigest(state);
  knowledge(state, sum);
  return sum;
}

bool Normaliser::equals(const State &state, const Digest &control, const Digest &whole) {
  Digest sum = controlDigest(state);
  if (sum != control)
    return false;
  knowledge(state, sum);
  return sum == whole;
}

} // namespace ts::prover
