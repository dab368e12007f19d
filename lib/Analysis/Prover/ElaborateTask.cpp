// One agent's code: control flow, and the barrier operations as the protocol component spells them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elaborate.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ts::prover {

using sched::EventKind;
using sched::StepKind;

/// Nested guards and loops multiply nothing; only the sheer length of one agent's code is bounded.
constexpr size_t maxCode = size_t(1) << 20;

int TaskElaborator::emit(Op op, int step, int a, int b, int cc) {
  Instr instr;
  instr.op = op;
  instr.step = step;
  instr.a = a;
  instr.b = b;
  instr.c = cc;
  agent().code.push_back(instr);
  if (agent().code.size() > maxCode)
    c.refuse("'" + task().name + "' is too long to follow");
  return int(agent().code.size()) - 1;
}

int TaskElaborator::variable(int unit, int64_t stages, int64_t start, int resource) {
  agent().variables.push_back({unit, stages, start, resource});
  return int(agent().variables.size()) - 1;
}

proto::TaskRole TaskElaborator::role(sched::StepId id) const { return roleOf(task(), id); }

bool TaskElaborator::executes(proto::Executor who) const {
  return who != proto::Executor::OneThreadOfTask || agent().leader;
}

int64_t TaskElaborator::countFor(proto::Executor who) const {
  switch (who) {
  case proto::Executor::EveryThread:
    return int64_t(agent().warps) * 32;
  case proto::Executor::ElectedLanePerWarp:
    return agent().warps;
  case proto::Executor::OneThreadOfTask:
    return 1;
  }
  return 1;
}

//--- Sides and their slots ----------------------------------------------------------------------

static bool isOpening(proto::Op op) { return op == proto::Op::Acquire || op == proto::Op::Wait; }

void TaskElaborator::collectSides(const Steps &steps) {
  for (sched::StepId id : steps) {
    const sched::Step &step = at(id);
    if (step.kind == StepKind::Event && step.event.resource >= 0 &&
        c.ringOf[size_t(step.event.resource)] >= 0) {
      int ring = c.ringOf[size_t(step.event.resource)];
      auto note = [&](proto::Op op) {
        Side &side = sides[{ring, proto::sideOf(op)}];
        if (op == proto::Op::TryAcquire || op == proto::Op::TryWait)
          side.probes = true;
        else
          (isOpening(op) ? side.opens : side.closes) = true;
      };
      if (auto op = sched::barrierOp(step.event.kind)) {
        note(*op);
      } else if (step.event.kind == EventKind::NextTile) {
        note(proto::Op::Wait);
        note(proto::Op::Release);
      }
    }
    collectSides(step.body);
    collectSides(step.orelse);
  }
}

void TaskElaborator::makeSide(int ringIndex, proto::Side which, Side &side) {
  const Ring &ring = c.rings[size_t(ringIndex)];
  bool producer = which == proto::Side::Producer;
  proto::Op open = producer ? proto::Op::Acquire : proto::Op::Wait;
  proto::Op close = producer ? proto::Op::Commit : proto::Op::Release;
  auto start = [&](proto::Op op) -> int64_t {
    int64_t stride = ring.spec.stride(op);
    if (stride <= 1)
      return 0;
    for (const proto::TaskRole &role : ring.by.of(op))
      if (role.task == task().name) {
        if (proto::laneMode(role, stride) == proto::LaneMode::Warp)
          return agent().lane < 0 ? 0 : agent().lane;
        if (proto::laneMode(role, stride) == proto::LaneMode::Domain)
          return proto::domainLane(role, stride);
      }
    return 0;
  };
  side.shared =
      proto::cursorRule(ring.spec, open, side.opens, side.closes).uses == proto::CursorMove::Shared;
  side.opening = variable(ring.unit, ring.stages, start(open), ring.resource);
  if (side.shared) {
    side.closing = side.opening;
  } else {
    if (side.closes)
      side.closing = variable(ring.unit, ring.stages, start(close), ring.resource);
    side.opened = variable(ring.unit, ring.stages, start(open), ring.resource);
  }
  if (side.probes)
    side.tried = variable(ring.unit, ring.stages, -1, ring.resource);
}

int TaskElaborator::currentSlot(int resource, proto::Side which) {
  if (resource < 0 || c.ringOf[size_t(resource)] < 0)
    return -1;
  int ring = c.ringOf[size_t(resource)];
  auto it = sides.find({ring, which});
  // A member that is only used through its group follows the group's slots.
  if (it == sides.end() && c.rings[size_t(ring)].group >= 0)
    it = sides.find({c.rings[size_t(ring)].group, which});
  if (it == sides.end())
    return -1;
  const Side &side = it->second;
  if (side.opened >= 0 && side.opens)
    return side.opened;
  return side.closing >= 0 ? side.closing : side.opening;
}

//--- Barrier operations -------------------------------------------------------------------------

void TaskElaborator::waitFor(const Ring &ring, const Side &side, const proto::WaitStep &wait,
                             sched::StepId id, int64_t ahead, bool drain) {
  int base = ring.barrier(wait.barrier == proto::Barrier::Full, agent().cta);
  if (base < 0)
    return;
  WaitSpec spec;
  spec.barrier = base;
  spec.stages = ring.stages;
  spec.offset = wait.generationOffset;
  spec.slot = side.opening;
  spec.ahead = ahead;
  spec.drain = drain;
  spec.resource = ring.resource;
  spec.producer = wait.barrier == proto::Barrier::Empty;
  spec.tried = side.tried;
  spec.epoch = c.waitFamily(base, ring.stages, agentIndex);
  agent().waits.push_back(spec);
  emit(wait.blocking || drain ? Op::Wait : Op::Try, id, int(agent().waits.size()) - 1);
}

void TaskElaborator::arriveAt(const Ring &ring, const Side &side, const proto::ArriveStep &arrive,
                              proto::Op op, sched::StepId id) {
  bool full = arrive.barrier == proto::Barrier::Full;
  ArriveSpec spec;
  spec.count = countFor(arrive.who);
  spec.stages = ring.stages;
  spec.slot = isOpening(op) || side.closing < 0 ? side.opening : side.closing;
  spec.full = full;
  spec.resource = ring.resource;
  switch (arrive.kind) {
  case proto::ArrivalKind::TcgenCommit:
  case proto::ArrivalKind::TcgenCommitMulticast:
    spec.async = true;
    spec.queue = queue(Umma);
    break;
  case proto::ArrivalKind::CpAsyncArriveNoInc:
    spec.async = spec.copies = true;
    spec.queue = queue(CpAsync);
    break;
  default:
    break;
  }
  proto::CtaMask mask =
      proto::targetMask(ring.spec, c.kernel.cluster, ring.by, arrive.barrier, agent().cta);
  for (int cta = 0; cta < c.program.ctas; ++cta) {
    int base = ring.barrier(full, cta);
    if (!(mask >> cta & 1) || base < 0)
      continue;
    ArriveSpec::Target target;
    target.barrier = base;
    target.epoch = c.arrivalFamily(base, ring.stages, agentIndex, spec.async);
    if (arrive.kind == proto::ArrivalKind::ArriveExpectTx) {
      int64_t total = ring.armers;
      int64_t share = arrive.who == proto::Executor::OneThreadOfTask ? total : spec.count;
      target.bytes = proto::producerKind(ring.spec.type) == proto::SideKind::Clc
                         ? ring.bytes
                         : int64_t(__int128(ring.bytes) * std::min(share, total) / total);
    }
    spec.targets.push_back(target);
  }
  if (spec.targets.empty())
    return;
  agent().arrives.push_back(std::move(spec));
  emit(Op::Arrive, id, int(agent().arrives.size()) - 1);
}

void TaskElaborator::barrierOp(sched::StepId id, int resource, proto::Op op) {
  int ringIndex = resource < 0 ? -1 : c.ringOf[size_t(resource)];
  if (ringIndex < 0)
    return;
  const Ring &ring = c.rings[size_t(ringIndex)];
  const Side &side = sides[{ringIndex, proto::sideOf(op)}];
  proto::Action action =
      ring.group >= 0
          ? proto::memberAction(c.groups[c.rings[size_t(ring.group)].resource], c.kernel.cluster,
                                size_t(ring.member), op, lastAcquire[size_t(id)])
          : proto::actionFor(ring.spec, c.kernel.cluster, op);
  proto::TaskRole who = role(id);
  int cta = agent().cta;
  // A probe without its blocking op decides nothing.
  if (action.wait && (action.wait->blocking || side.opens) && executes(action.wait->who) &&
      (proto::waitingCtas(ring.spec, c.kernel.cluster, op, who) >> cta & 1))
    waitFor(ring, side, *action.wait, id, 0, false);
  if ((op == proto::Op::Commit || op == proto::Op::Release) && holds(resource, proto::sideOf(op)))
    emit(Op::Flush, id, queue(heldBy(ringIndex, proto::sideOf(op))));
  if (action.arrive && executes(action.arrive->who) &&
      (proto::arrivingCtas(ring.spec, c.kernel.cluster, op, who) >> cta & 1))
    arriveAt(ring, side, *action.arrive, op, id);
  if (action.engineCompletes && proto::countsBytes(ring.spec.type))
    issueDeclared(ring, side, id);
  proto::CursorRule rule = proto::cursorRule(ring.spec, op, side.opens, side.closes);
  if (!rule.advances)
    return;
  int cursor = isOpening(op) || side.closing < 0 ? side.opening : side.closing;
  if (isOpening(op) && side.opened >= 0)
    emit(Op::Bind, id, side.opened, cursor);
  emit(Op::Advance, id, cursor, 0, int(std::clamp<int64_t>(ring.spec.stride(op), 1, 1 << 20)));
}

//--- Control flow -------------------------------------------------------------------------------

/// Whether running `steps` once stands for running them any number of times.
bool TaskElaborator::relevant(const Steps &steps) const {
  for (sched::StepId id : steps) {
    const sched::Step &step = at(id);
    if (step.kind == StepKind::Event)
      switch (step.event.kind) {
      case EventKind::Fence:
      case EventKind::WarpSync:
        continue;
      case EventKind::Access:
        for (const sched::Access &access : step.event.accesses)
          if (access.engine != proto::EngineGeneric)
            return true;
        continue;
      case EventKind::Produce:
      case EventKind::Consume:
        if (step.event.aux ||
            (step.event.resource >= 0 && c.ringOf[size_t(step.event.resource)] < 0 &&
             step.event.accesses.empty() && !relevant(step.body)))
          continue;
        return true;
      default:
        return true;
      }
    // Of a question for the CTA's rank, one way is never taken here.
    bool here = true, other = true;
    if ((step.kind == StepKind::When || step.kind == StepKind::Branch) && step.condition.ctas) {
      here = (*step.condition.ctas >> agent().cta & 1) == step.condition.expected;
      other = !here;
    }
    if ((here && relevant(step.body)) || (other && relevant(step.orelse)))
      return true;
  }
  return false;
}

void TaskElaborator::loop(sched::StepId id, int depth) {
  const sched::Step &step = at(id);
  const sched::Loop &source = step.loop;
  if (source.kind != sched::LoopKind::Tile && !relevant(step.body)) {
    if (source.constantTrips.value_or(1) < 1)
      return;
    // Once stands for any number of times but none.
    const sched::Bound &upper = source.upper;
    bool countsUp = source.lower == sched::Bound::constant(0) && upper.scale == 1 &&
                    upper.offset == 0 && upper.kind != sched::Bound::Kind::Unknown;
    if (!countsUp || upper.isConstant() || source.minTrips > 0)
      return block(step.body, depth);
    int number = conditionFor(upper.symbol + " > 0", upper.symbol + " > 0");
    c.program.conditions[size_t(number)].symbol = c.symbolFor(upper, false, -1);
    int branch = emit(Op::Branch, id, number, 1);
    block(step.body, depth);
    agent().code[size_t(branch)].target = int(agent().code.size());
    return;
  }
  LoopInfo info;
  info.loop = source;
  info.depth = depth;
  info.tile = source.kind == sched::LoopKind::Tile;
  if (info.tile) {
    info.symbol = c.symbolFor({}, true, source.queue);
  } else if (source.constantTrips) {
    info.constant = std::max<int64_t>(0, *source.constantTrips);
    if (info.constant == 0)
      return;
    if (c.widen && info.constant > widenedFrom) {
      info.widened = true;
      std::tie(info.symbol, info.offset) = c.symbolForConstant(info.constant);
    }
  } else {
    const sched::Bound &lower = source.lower, &upper = source.upper;
    const sched::Bound &varying = upper.isConstant() ? lower : upper;
    bool known = lower.kind != sched::Bound::Kind::Unknown &&
                 upper.kind != sched::Bound::Kind::Unknown && source.step.isConstant() &&
                 source.step.offset > 0;
    if (!known)
      return c.refuse("the trip count of a loop in '" + task().name + "' (" +
                      sched::toString(lower) + " to " + sched::toString(upper) + " step " +
                      sched::toString(source.step) + ") is not affine in one launch value");
    if (source.carriesOn) {
      info.carried = variable(-1, 1, lower.offset, -1);
      agent().variables.back().absolute = true;
      info.constant = upper.isConstant() ? info.tripsFrom(lower.offset, 0) : 0;
    }
    if (!lower.isConstant() && !upper.isConstant() && lower.symbol != upper.symbol)
      return c.refuse("a loop in '" + task().name + "' runs from '" + lower.symbol + "' to '" +
                      upper.symbol + "': two values that the launch chooses apart");
    if (!source.carriesOn || !upper.isConstant()) {
      int64_t slope =
          (upper.isConstant() ? 0 : upper.scale) - (lower.isConstant() ? 0 : lower.scale);
      if (slope <= 0)
        return c.refuse("the trip count of a loop in '" + task().name + "' does not grow with '" +
                        varying.symbol + "'");
      info.symbol = c.symbolFor(varying, false, -1);
      Symbol &symbol = c.program.symbols[size_t(info.symbol)];
      symbol.modulus = c.commonPeriod(symbol.modulus, source.step.offset);
    }
  }
  if (info.symbol >= 0)
    info.occurrence = occurrences[{enclosing(id, false), info.symbol}]++;
  int number = int(agent().loops.size());
  loopNumber[id] = number;
  agent().loops.push_back(info);
  agent().frames = std::max(agent().frames, depth + 1);
  bool wasTile = tileLoop;
  tileLoop |= info.tile;
  emit(Op::Enter, id, number);
  int head = emit(Op::Head, id, number);
  block(step.body, depth + 1);
  int next = emit(Op::Next, id, number);
  agent().code[size_t(next)].target = head;
  int exit = int(agent().code.size());
  agent().code[size_t(head)].target = exit;
  agent().loops[size_t(number)].exitPc = exit;
  tileLoop = wasTile;
}

/// The closest loop around `id` that has a frame, -1 for none.
int TaskElaborator::enclosing(sched::StepId id, bool) const {
  for (int outer = at(id).parent; outer >= 0; outer = at(outer).parent)
    if (loopNumber.count(outer))
      return outer;
  return -1;
}

int TaskElaborator::conditionFor(const std::string &key, const std::string &name) {
  auto [it, fresh] = c.conditions.try_emplace({key, tileLoop}, int(c.program.conditions.size()));
  if (fresh) {
    ConditionInfo info;
    info.name = name;
    info.perTile = tileLoop;
    c.program.conditions.push_back(std::move(info));
  }
  return it->second;
}

void TaskElaborator::step(sched::StepId id, int depth) {
  const sched::Step &step = at(id);
  auto twoWays = [&](int branch) {
    block(step.body, depth);
    if (step.orelse.empty()) {
      agent().code[size_t(branch)].target = int(agent().code.size());
      return;
    }
    int jump = emit(Op::Jump, id);
    agent().code[size_t(branch)].target = int(agent().code.size());
    block(step.orelse, depth);
    agent().code[size_t(jump)].target = int(agent().code.size());
  };
  switch (step.kind) {
  case StepKind::Event:
    return event(id, depth);
  case StepKind::Loop:
    return loop(id, depth);
  case StepKind::Guard: {
    auto it = loopNumber.find(step.guard.loop);
    if (it == loopNumber.end())
      return block(step.body, depth);
    LoopInfo &info = agent().loops[size_t(it->second)];
    int64_t period = std::max<int64_t>(1, step.guard.period);
    if (step.guard.kind == sched::GuardKind::Every)
      info.modulus = c.commonPeriod(info.modulus, period);
    else
      info.first = true;
    return twoWays(emit(Op::Guard, id, it->second, int(step.guard.kind), int(period)));
  }
  case StepKind::When:
  case StepKind::Branch: {
    const sched::Condition &condition = step.condition;
    if (condition.ctas) {
      bool holds = *condition.ctas >> agent().cta & 1;
      return block(holds == condition.expected ? step.body : step.orelse, depth);
    }
    if (!relevant(step.body) && !relevant(step.orelse)) {
      block(step.body, depth);
      return block(step.orelse, depth);
    }
    int number;
    if (!condition.shared) {
      number =
          conditionFor("?" + std::to_string(agentIndex) + ":" + std::to_string(id), condition.key);
      c.program.conditions[size_t(number)].free = true;
    } else {
      number = conditionFor(condition.key, condition.key);
      if (condition.userKey) {
        std::string origin = condition.origin;
        if (origin.starts_with("?"))
          origin += " of " + std::to_string(agentIndex);
        auto [first, fresh] = c.keyOrigins.try_emplace(condition.key, origin);
        if (!fresh && first->second != origin)
          c.assume("the conditions of key '" + condition.key + "' are equal wherever it is used");
      }
      const auto &positive = condition.positive;
      if (positive && positive->scale == 1 && positive->offset <= 0 &&
          positive->offset >= -maxLimit && !positive->isConstant()) {
        ConditionInfo &info = c.program.conditions[size_t(number)];
        info.symbol = c.symbolFor(*positive, false, -1);
        info.limit = -positive->offset;
        c.program.symbols[size_t(info.symbol)].limits |= int64_t(1) << info.limit;
      }
    }
    return twoWays(emit(Op::Branch, id, number, condition.expected ? 1 : 0));
  }
  case StepKind::Skippable: {
    int queue = -1;
    for (int up = step.parent; up >= 0 && queue < 0; up = at(up).parent)
      if (at(up).kind == StepKind::Loop && at(up).loop.kind == sched::LoopKind::Tile)
        queue = at(up).loop.queue;
    if (queue < 0 || !c.kernel.resources[size_t(queue)].skips)
      return block(step.body, depth);
    int number = conditionFor("skip " + std::to_string(queue),
                              "skip of '" + c.kernel.resources[size_t(queue)].name + "'");
    return twoWays(emit(Op::Branch, id, number, 0));
  }
  }
}

void TaskElaborator::block(const Steps &steps, int depth) {
  for (sched::StepId id : steps) {
    if (!c.program.refused.empty())
      return;
    step(id, depth);
  }
}

//--- Everything together ------------------------------------------------------------------------

void TaskElaborator::drains() {
  for (auto &[key, side] : sides) {
    const Ring &ring = c.rings[size_t(key.first)];
    if (key.second != proto::Side::Producer || !side.opens ||
        !proto::needsDrain(ring.spec, c.kernel.cluster))
      continue;
    proto::Action action = proto::actionFor(ring.spec, c.kernel.cluster, proto::Op::Acquire);
    proto::TaskRole who;
    for (const proto::TaskRole &known : ring.by.acquire)
      if (known.task == task().name)
        who = known;
    if (!action.wait || !executes(action.wait->who) ||
        !(proto::waitingCtas(ring.spec, c.kernel.cluster, proto::Op::Acquire, who) >> agent().cta &
          1))
      continue;
    int64_t stride = std::max<int64_t>(1, ring.spec.stride(proto::Op::Acquire));
    // The probe belongs to an acquire of the program.
    Side plain = side;
    plain.tried = -1;
    for (int64_t i = 0; i < std::max<int64_t>(1, ring.stages / stride); ++i)
      waitFor(ring, plain, *action.wait, -1, i * stride, true);
  }
  // A store's source must have been read before the memory is given back; matrix operations and
  // copies into registers are the program's own to wait for.
  if (auto bulk = queues.find(Bulk); bulk != queues.end())
    emit(Op::GroupWait, -1, bulk->second, 0, 1);
}

void TaskElaborator::run() {
  // Parents stand before their children.
  std::vector<int> depth(task().steps.size(), 0);
  for (size_t i = 0; i < depth.size(); ++i)
    if (int parent = at(sched::StepId(i)).parent; parent >= 0 && size_t(parent) < i)
      if ((depth[i] = depth[size_t(parent)] + 1) > 4 * sched::maxDepth)
        return c.refuse("'" + task().name + "' is nested too deeply to follow");
  collectSides(task().body);
  markLastOfBracket();
  for (auto &[key, side] : sides)
    makeSide(key.first, key.second, side);
  block(task().body, 0);
  drains();
  emit(Op::Done, -1);
}

} // namespace ts::prover
