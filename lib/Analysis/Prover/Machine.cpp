// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow of the canonical run: loops, guards, conditions, and what they have to wait for.
#include "Machine.h"

#include <algorithm>

namespace ts::prover {

Machine::Machine(const Program &program, const Options &options)
    : fixed(program.symbols.size(), -1), program(program), options(options) {
  loopsOver.resize(program.symbols.size());
  for (size_t a = 0; a < program.agents.size(); ++a) {
    const Agent &agent = program.agents[a];
    std::vector<int32_t> inside(agent.code.size(), -1), parent(agent.loops.size(), -1);
    std::vector<int> stack;
    for (size_t pc = 0; pc < agent.code.size(); ++pc) {
      while (!stack.empty() && int(pc) >= agent.loops[size_t(stack.back())].exitPc)
        stack.pop_back();
      inside[pc] = stack.empty() ? -1 : stack.back();
      const Instr &instr = agent.code[pc];
      if (instr.op != Op::Enter)
        continue;
      parent[size_t(instr.a)] = inside[pc];
      stack.push_back(instr.a);
      const LoopInfo &info = agent.loops[size_t(instr.a)];
      if (info.symbol >= 0) {
        auto &list = loopsOver[size_t(info.symbol)];
        if (list.size() <= size_t(info.occurrence))
          list.resize(size_t(info.occurrence) + 1);
        list[size_t(info.occurrence)].push_back({int(a), instr.a});
      }
    }
    loopAt.push_back(std::move(inside));
    loopParent.push_back(std::move(parent));
    engines.push_back(!agent.issues.empty() ||
                      std::any_of(agent.arrives.begin(), agent.arrives.end(),
                                  [](const ArriveSpec &spec) { return spec.async; }));
  }
}

State Machine::initial() const {
  State state;
  size_t agents = program.agents.size();
  state.pc.assign(agents, 0);
  state.status.assign(agents, Status::Ready);
  state.frames.resize(size_t(program.frameCount));
  for (const Agent &agent : program.agents)
    for (const Variable &variable : agent.variables)
      state.variables.push_back(variable.start);
  for (const BarrierInfo &info : program.barriers) {
    BarrierState barrier;
    barrier.pending = std::max<int64_t>(1, info.count - info.preArrived);
    state.barriers.push_back(barrier);
  }
  state.rows.assign(size_t(program.rows) * program.words, 0);
  state.active.assign(program.words, 0);
  state.fresh.assign(program.words, 0);
  return state;
}

bool Machine::allDone(const State &state) const {
  return std::all_of(state.status.begin(), state.status.end(),
                     [](Status status) { return status == Status::Done; });
}

int64_t Machine::tileOf(const State &state, int a) const {
  const Agent &agent = program.agents[size_t(a)];
  for (int loop = loopAt[size_t(a)][size_t(state.pc[size_t(a)])]; loop >= 0;
       loop = loopParent[size_t(a)][size_t(loop)])
    if (agent.loops[size_t(loop)].tile)
      return state.frames[size_t(agent.frameBase + agent.loops[size_t(loop)].depth)].i;
  return -1;
}

const Trip *Machine::findTrip(const State &state, int serial) const {
  for (const Trip &trip : state.trips)
    if (trip.serial == serial)
      return &trip;
  return nullptr;
}

/// Counters of the loops around `loop`, outermost first.
int Machine::context(const State &state, int a, int loop,
                     std::array<int64_t, maxContext> &out) const {
  const Agent &agent = program.agents[size_t(a)];
  int depth = std::min(agent.loops[size_t(loop)].depth, maxContext);
  for (int i = 0; i < depth; ++i)
    out[size_t(i)] = state.frames[size_t(agent.frameBase + i)].i;
  return depth;
}

//--- Choices ------------------------------------------------------------------------------------

void Machine::park(const State &state, int a, int loop, Decision decision) {
  decision.agent = a;
  std::array<int64_t, maxContext> around{};
  const Agent &agent = program.agents[size_t(a)];
  decision.depth = 0;
  if (loop >= 0) {
    int depth = context(state, a, loop, around);
    for (int i = 0; i < depth; ++i)
      decision.position[size_t(i)] = around[size_t(i)];
    decision.position[size_t(depth)] =
        state.frames[size_t(agent.frameBase + agent.loops[size_t(loop)].depth)].i;
    decision.depth = depth + 1;
  }
  auto before = [](const Decision &x, const Decision &y) {
    if (y.kind == Decision::Kind::None)
      return true;
    auto end = [](const Decision &d) { return d.position.begin() + d.depth; };
    return std::lexicographical_compare(x.position.begin(), end(x), y.position.begin(), end(y));
  };
  if (before(decision, best))
    best = decision;
}

int64_t Machine::trips(const State &state, int a, const LoopInfo &info, int64_t value) const {
  if (info.carried < 0)
    return info.trips(value);
  const Agent &agent = program.agents[size_t(a)];
  return info.tripsFrom(state.variables[size_t(agent.variableBase + info.carried)], value);
}

void Machine::settle(State &state, int a, const LoopInfo &info, Frame &frame, int64_t value) const {
  frame.total = trips(state, a, info, value);
  frame.trip = -1;
  if (info.carried < 0)
    return;
  int64_t &start = state.variables[size_t(program.agents[size_t(a)].variableBase + info.carried)];
  start = info.nextStart(start, value);
}

void Machine::enter(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const LoopInfo &info = agent.loops[size_t(instr.a)];
  Frame &frame = state.frames[size_t(agent.frameBase + info.depth)];
  frame = Frame();
  if (info.symbol < 0) {
    settle(state, a, info, frame, 0);
    return;
  }
  if (fixed[size_t(info.symbol)] >= 0) {
    settle(state, a, info, frame, fixed[size_t(info.symbol)]);
    return;
  }
  const Symbol &symbol = program.symbols[size_t(info.symbol)];
  Trip trip;
  trip.symbol = info.symbol;
  trip.occurrence = info.occurrence;
  trip.depth = context(state, a, instr.a, trip.context);
  if (tripBound >= 0) {
    // One value per tile, whatever the loop.
    trip.occurrence = 0;
    trip.depth = symbol.perTile && trip.depth ? 1 : 0;
  }
  for (const Trip &known : state.trips)
    if (known.symbol == trip.symbol && known.occurrence == trip.occurrence &&
        known.depth == trip.depth &&
        std::equal(known.context.begin(), known.context.begin() + known.depth,
                   trip.context.begin())) {
      if (known.decided >= 0)
        settle(state, a, info, frame, known.decided);
      else
        frame.trip = known.serial;
      return;
    }
  trip.cap = symbol.min;
  trip.tile = tileOf(state, a);
  if (!symbol.tiles)
    while (auto more = isAbove(state, info.symbol, trip.cap, scopeOf(symbol, trip.tile))) {
      if (!*more) {
        settle(state, a, info, frame, trip.cap);
        return;
      }
      ++trip.cap;
    }
  trip.serial = state.nextSerial++;
  frame.trip = trip.serial;
  state.trips.push_back(trip);
}

Machine::Outcome Machine::head(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const LoopInfo &info = agent.loops[size_t(instr.a)];
  Frame &frame = state.frames[size_t(agent.frameBase + info.depth)];
  bool more;
  if (frame.total >= 0) {
    more = frame.i < frame.total;
  } else {
    const Trip *trip = findTrip(state, frame.trip);
    more = trip && frame.i < trips(state, a, info, trip->cap);
    if (!more) {
      Decision decision;
      decision.kind = Decision::Kind::Trip;
      decision.trip = frame.trip;
      park(state, a, instr.a, decision);
      return Outcome::Parked;
    }
  }
  state.pc[size_t(a)] = more ? state.pc[size_t(a)] + 1 : instr.target;
  return Outcome::Next;
}

Machine::Outcome Machine::guard(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  const LoopInfo &info = agent.loops[size_t(instr.a)];
  Frame &frame = state.frames[size_t(agent.frameBase + info.depth)];
  auto kind = schedule::GuardKind(instr.b);
  bool holds = false;
  switch (kind) {
  case schedule::GuardKind::First:
  case schedule::GuardKind::NotFirst:
    holds = (frame.i == 0) == (kind == schedule::GuardKind::First);
    break;
  case schedule::GuardKind::Every:
    holds = frame.i % std::max<int64_t>(1, instr.c) == 0;
    break;
  case schedule::GuardKind::Last:
  case schedule::GuardKind::NotLast: {
    bool last;
    if (frame.total >= 0) {
      last = frame.i + 1 >= frame.total;
    } else {
      const Trip *trip = findTrip(state, frame.trip);
      last = !trip || frame.i + 1 >= trips(state, a, info, trip->cap);
      if (last) {
        Decision decision;
        decision.kind = Decision::Kind::Trip;
        decision.trip = frame.trip;
        park(state, a, instr.a, decision);
        return Outcome::Parked;
      }
    }
    holds = last == (kind == schedule::GuardKind::Last);
    break;
  }
  }
  state.pc[size_t(a)] = holds ? state.pc[size_t(a)] + 1 : instr.target;
  return Outcome::Next;
}

Machine::Outcome Machine::branch(State &state, int a, const Instr &instr) {
  const ConditionInfo &info = program.conditions[size_t(instr.a)];
  int64_t tile = info.perTile ? tileOf(state, a) : -1;
  std::optional<bool> value;
  if (info.symbol >= 0) {
    const Symbol &symbol = program.symbols[size_t(info.symbol)];
    int64_t scope = scopeOf(symbol, tileOf(state, a));
    if (fixed[size_t(info.symbol)] >= 0)
      value = fixed[size_t(info.symbol)] > info.limit;
    else if (symbol.min > info.limit)
      value = true;
    else
      value = isAbove(state, info.symbol, info.limit, scope);
    tile = scope;
  } else if (const Known *known = lookUp(state, instr.a, tile)) {
    value = known->value;
  }
  if (!value) {
    Decision decision;
    decision.kind = Decision::Kind::Condition;
    decision.condition = instr.a;
    decision.tile = tile;
    park(state, a, loopAt[size_t(a)][size_t(state.pc[size_t(a)])], decision);
    return Outcome::Parked;
  }
  if (info.free)
    std::erase_if(state.known,
                  [&](const Known &known) { return !known.symbol && known.what == instr.a; });
  state.pc[size_t(a)] = *value == (instr.b != 0) ? state.pc[size_t(a)] + 1 : instr.target;
  return Outcome::Next;
}

//--- Running ------------------------------------------------------------------------------------

bool Machine::runAgent(State &state, int a) {
  const Agent &agent = program.agents[size_t(a)];
  bool progress = false;
  while (state.status[size_t(a)] != Status::Done) {
    const Instr &instr = agent.code[size_t(state.pc[size_t(a)])];
    ++steps;
    switch (step(state, a, instr)) {
    case Outcome::Next:
      progress = true;
      break;
    case Outcome::Fault:
      return true;
    case Outcome::Blocked:
    case Outcome::Parked:
      return progress;
    }
    if (exhausted())
      return false;
  }
  return progress;
}

bool Machine::run(State &state) {
  bool progress = true;
  while (progress && !exhausted()) {
    progress = false;
    best = Decision();
    for (size_t a = 0; a < program.agents.size(); ++a) {
      if (state.status[a] == Status::Done)
        continue;
      progress |= runAgent(state, int(a));
      if (fault)
        return false;
    }
  }
  return true;
}

Machine::Outcome Machine::step(State &state, int a, const Instr &instr) {
  const Agent &agent = program.agents[size_t(a)];
  int64_t *variables = state.variables.data() + agent.variableBase;
  switch (instr.op) {
  case Op::Enter:
    enter(state, a, instr);
    break;
  case Op::Head:
    return head(state, a, instr);
  case Op::Next:
    ++state.frames[size_t(agent.frameBase + agent.loops[size_t(instr.a)].depth)].i;
    state.pc[size_t(a)] = instr.target;
    return Outcome::Next;
  case Op::Guard:
    return guard(state, a, instr);
  case Op::Branch:
    return branch(state, a, instr);
  case Op::Jump:
    state.pc[size_t(a)] = instr.target;
    return Outcome::Next;
  case Op::Bind:
    variables[instr.a] = variables[instr.b];
    break;
  case Op::Advance:
    variables[instr.a] += instr.c;
    break;
  case Op::Wait:
  case Op::Try:
    if (Outcome result = wait(state, a, instr, instr.op == Op::Try); result != Outcome::Next)
      return result;
    break;
  case Op::Arrive:
    if (Outcome result = arrive(state, a, instr); result != Outcome::Next)
      return result;
    break;
  case Op::Issue:
    if (Outcome result = issue(state, a, instr); result != Outcome::Next)
      return result;
    break;
  case Op::Access:
    if (Outcome result = access(state, a, instr); result != Outcome::Next)
      return result;
    break;
  case Op::HandArrive:
    if (Outcome result = handArrive(state, a, instr); result != Outcome::Next)
      return result;
    break;
  case Op::HandWait:
    if (Outcome result = handWait(state, a, instr); result != Outcome::Next)
      return result;
    break;
  case Op::GroupCommit: {
    const Queue &queue = agent.queues[size_t(instr.a)];
    // The oldest closed group joins the rest, the others move up.
    size_t w = program.words;
    Word *rest = row(state, queue.row + queue.depth + 1);
    Word *oldest = row(state, queue.row + queue.depth);
    orInto(rest, oldest, w);
    for (int i = queue.depth; i >= 1; --i)
      std::copy_n(row(state, queue.row + i - 1), w, row(state, queue.row + i));
    std::fill_n(row(state, queue.row), w, 0);
    break;
  }
  case Op::GroupWait:
    groupWait(state, a, instr);
    break;
  case Op::Flush: {
    const Queue &queue = agent.queues[size_t(instr.a)];
    orInto(row(state, a), row(state, queue.row), program.words);
    std::fill_n(row(state, queue.row), program.words, 0);
    break;
  }
  case Op::PdlWait:
    forget(state, agent.pdlEpoch);
    setBit(row(state, a), agent.pdlEpoch);
    setBit(state.active.data(), agent.pdlEpoch);
    write(state, a, instr);
    break;
  case Op::PdlLaunch: {
    write(state, a, instr);
    bool known = !program.anyPdlWait;
    const Bits &waits = program.pdlWaits[size_t(agent.cta)];
    for (size_t i = 0; i < program.words; ++i)
      known |= (waits[i] & state.active[i] & row(state, a)[i]) != 0;
    if (!known && !state.race) {
      blame(FaultKind::Pdl, Rule::None, a, instr,
            "'" + agent.name +
                "' lets the next grid start before any task is known to have waited for the "
                "previous one");
      state.race = std::make_shared<const Fault>(std::move(*fault));
      fault.reset();
    }
    break;
  }
  case Op::Done:
    state.status[size_t(a)] = Status::Done;
    return Outcome::Next;
  }
  ++state.pc[size_t(a)];
  return Outcome::Next;
}

void Machine::groupWait(State &state, int a, const Instr &instr) {
  const Queue &queue = program.agents[size_t(a)].queues[size_t(instr.a)];
  size_t w = program.words;
  Word *mine = row(state, a);
  // Row 0 is the open group, which no wait covers.
  for (int r = std::min(instr.b, queue.depth) + 1; r <= queue.depth + 1; ++r) {
    Word *group = row(state, queue.row + r);
    for (size_t i = 0; i < w; ++i) {
      Word done = instr.c ? group[i] & program.sourceReads[i] : group[i];
      mine[i] |= done;
      group[i] &= ~done;
    }
  }
}

} // namespace ts::prover
