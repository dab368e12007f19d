// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices of the canonical run: what a trip count or condition is settled to, for whom, and when
// that is forgotten again.
#include "Machine.h"

#include <algorithm>

namespace ts::prover {

const Known *lookUp(const State &state, int condition, int64_t tile) {
  for (const Known &known : state.known)
    if (!known.symbol && known.what == condition && known.tile == tile)
      return &known;
  return nullptr;
}

std::optional<bool> isAbove(const State &state, int symbol, int64_t limit, int64_t tile) {
  for (const Known &known : state.known)
    if (known.symbol && known.what == symbol && known.tile == tile &&
        (known.value ? known.limit >= limit : known.limit <= limit))
      return known.value;
  return std::nullopt;
}

std::optional<bool> Machine::forced(const State &state, const Decision &decision) const {
  if (decision.kind != Decision::Kind::Trip)
    return std::nullopt;
  const Trip *trip = findTrip(state, decision.trip);
  if (!trip)
    return false;
  const Symbol &symbol = program.symbols[size_t(trip->symbol)];
  if (trip->cap < symbol.min)
    return true;
  if (trip->symbol == classSymbol)
    return trip->cap < classValue;
  if (tripBound >= 0 && !symbol.tiles && trip->cap >= tripBound)
    return false;
  // A condition may have asked in the meantime.
  return symbol.tiles ? std::nullopt
                      : isAbove(state, trip->symbol, trip->cap, scopeOf(symbol, trip->tile));
}

void Machine::decide(State &state, const Decision &decision, bool value) const {
  auto rememberAbove = [&](int symbol, int64_t limit, bool known, int64_t tile) {
    if (!isAbove(state, symbol, limit, tile))
      state.known.push_back({symbol, true, known, tile, limit});
  };
  if (decision.kind == Decision::Kind::Condition) {
    const ConditionInfo &info = program.conditions[size_t(decision.condition)];
    if (info.symbol >= 0)
      rememberAbove(info.symbol, info.limit, value, decision.tile);
    else if (!lookUp(state, decision.condition, decision.tile))
      state.known.push_back({decision.condition, false, value, decision.tile});
    return;
  }
  size_t index = 0;
  while (state.trips[index].serial != decision.trip)
    ++index;
  Trip &trip = state.trips[index];
  const Symbol &symbol = program.symbols[size_t(trip.symbol)];
  // What conditions ask about, once the count that goes on or ends here says it.
  for (int64_t limit = trip.cap; limit <= maxLimit && !symbol.tiles; ++limit)
    if (symbol.limits >> limit & 1 && (!value || limit == trip.cap))
      rememberAbove(trip.symbol, limit, value, scopeOf(symbol, trip.tile));
  if (value) {
    ++trip.cap;
    return;
  }
  trip.decided = trip.cap;
  int64_t frozen = -1;
  for (size_t a = 0; a < program.agents.size(); ++a) {
    const Agent &agent = program.agents[a];
    if (state.status[a] == Status::Done)
      continue;
    for (int loop = loopAt[a][size_t(state.pc[a])]; loop >= 0; loop = loopParent[a][size_t(loop)]) {
      const LoopInfo &info = agent.loops[size_t(loop)];
      Frame &frame = state.frames[size_t(agent.frameBase + info.depth)];
      if (info.symbol != trip.symbol || frame.total >= 0 || frame.trip != trip.serial)
        continue;
      int64_t total = trips(state, int(a), info, trip.cap);
      if (tripBound < 0 && total - frame.i > maxLag) {
        // Far behind: it meets its own count later, as another visit.
        int64_t least = symbol.min;
        while (least < trip.cap && trips(state, int(a), info, least) <= frame.i)
          ++least;
        frozen = std::max(frozen, least);
        continue;
      }
      settle(state, int(a), info, frame, trip.cap);
    }
  }
  if (frozen >= 0) {
    trip.decided = -1;
    trip.cap = frozen;
  } else if (tripBound < 0 && (trip.cap > keptTrips || trip.symbol == classSymbol)) {
    state.trips.erase(state.trips.begin() + long(index));
  }
}

Choice Machine::describe(const State &state, const Decision &decision, bool value) const {
  Choice choice;
  choice.tile = decision.tile;
  if (decision.kind == Decision::Kind::Condition) {
    const ConditionInfo &info = program.conditions[size_t(decision.condition)];
    choice.name = info.name;
    choice.value = value;
    if (info.symbol >= 0 && (value || info.limit == 0)) {
      // It says something about the trip count.
      choice.name = program.symbols[size_t(info.symbol)].name;
      choice.value = value ? info.limit + 1 : 0;
      choice.isTrip = true;
      choice.atLeast = value;
    }
    return choice;
  }
  const Trip *trip = findTrip(state, decision.trip);
  const Symbol &symbol = program.symbols[size_t(trip->symbol)];
  choice.name = symbol.name;
  choice.isTrip = true;
  choice.value = trip->cap + (value ? 1 : 0);
  choice.atLeast = value;
  choice.tile = trip->tile;
  return choice;
}

/// Whether agent `a` needs nothing more of `trip`: it is beyond that visit, or inside with a count
/// of its own.
bool Machine::hasPassed(const State &state, const Trip &trip, int a, int loop,
                        bool orInside) const {
  if (state.status[size_t(a)] == Status::Done)
    return true;
  const Agent &agent = program.agents[size_t(a)];
  int pc = state.pc[size_t(a)];
  std::array<int, maxContext + 1> chain{};
  int depth = std::min(agent.loops[size_t(loop)].depth, maxContext);
  int at = loop;
  for (int i = depth; i >= 0; --i) {
    chain[size_t(i)] = at;
    at = at >= 0 ? loopParent[size_t(a)][size_t(at)] : -1;
  }
  for (int i = 0; i < depth; ++i) {
    int outer = chain[size_t(i)];
    bool inside = false;
    for (int l = loopAt[size_t(a)][size_t(pc)]; l >= 0; l = loopParent[size_t(a)][size_t(l)])
      inside |= l == outer;
    if (!inside)
      return pc >= agent.loops[size_t(outer)].exitPc;
    int64_t counter = state.frames[size_t(agent.frameBase + i)].i;
    if (i < trip.depth && counter != trip.context[size_t(i)])
      return counter > trip.context[size_t(i)];
  }
  if (orInside)
    for (int l = loopAt[size_t(a)][size_t(pc)]; l >= 0; l = loopParent[size_t(a)][size_t(l)])
      if (l == loop)
        return true;
  return pc >= agent.loops[size_t(loop)].exitPc;
}

void Machine::collectGarbage(State &state) const {
  int64_t tile = INT64_MAX;
  for (size_t a = 0; a < program.agents.size(); ++a) {
    if (state.status[a] == Status::Done)
      continue;
    const Agent &agent = program.agents[a];
    for (const LoopInfo &info : agent.loops)
      if (info.tile) {
        int64_t mine = tileOf(state, int(a));
        if (mine >= 0)
          tile = std::min(tile, mine);
        else if (state.pc[a] < info.exitPc)
          tile = 0;
      }
  }
  std::erase_if(state.known,
                [&](const Known &known) { return known.tile >= 0 && known.tile < tile; });
  if (tripBound >= 0) {
    std::erase_if(state.trips,
                  [&](const Trip &trip) { return trip.depth && trip.context[0] < tile; });
    return;
  }
  std::erase_if(state.trips, [&](const Trip &trip) {
    for (auto [a, loop] : loopsOver[size_t(trip.symbol)][size_t(trip.occurrence)])
      if (!hasPassed(state, trip, a, loop, trip.decided >= 0))
        return false;
    return true;
  });
}

bool Machine::awaited(const State &state, const Trip &trip) const {
  for (auto [a, loop] : loopsOver[size_t(trip.symbol)][size_t(trip.occurrence)])
    if (!hasPassed(state, trip, a, loop, true))
      return true;
  return false;
}

} // namespace ts::prover
