// Declarations to numbers: rings, barriers with their counts, agents, symbols.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elaborate.h"

#include "Limits.h"

#include <algorithm>
#include <numeric>

namespace ts::prover {

using sched::EventKind;
using sched::ResourceKind;
using sched::StepKind;

/// Larger programs are refused, not searched without end.
constexpr size_t maxAgents = 512, maxEpochs = size_t(1) << 14, maxWords = size_t(1) << 19;

proto::TaskRole roleOf(const sched::Task &task, sched::StepId id) {
  proto::TaskRole role;
  role.task = task.name;
  role.warps = task.warps;
  role.firstWarp = task.firstWarp;
  role.pinnedCta = task.onlyCta.value_or(-1);
  if (const sched::Event &event = task.steps[size_t(id)].event;
      event.kind == EventKind::Acquire && event.issued.alternatives.size() == 1)
    role.issued = event.issued.alternatives.front();
  for (int at = id; at >= 0; at = task.steps[size_t(at)].parent) {
    const sched::Step &step = task.steps[size_t(at)];
    if (step.kind != StepKind::Loop || step.loop.kind != sched::LoopKind::Domain)
      continue;
    if (step.loop.lower.isConstant())
      role.domainStart = step.loop.lower.offset;
    if (step.loop.step.isConstant())
      role.domainStep = step.loop.step.offset;
    break;
  }
  return role;
}

void Elaborator::assume(std::string what) {
  if (std::find(program.assumptions.begin(), program.assumptions.end(), what) ==
      program.assumptions.end())
    program.assumptions.push_back(std::move(what));
}

int64_t Elaborator::commonPeriod(int64_t a, int64_t b) {
  constexpr int64_t most = int64_t(1) << 31;
  int64_t factor = std::max<int64_t>(1, b) / std::gcd(a, std::max<int64_t>(1, b)), period;
  if (!__builtin_mul_overflow(a, factor, &period) && period <= most)
    return period;
  refuse("the steps and periods of one loop come together only after more than 2^31 iterations");
  return a;
}

//--- Rings --------------------------------------------------------------------------------------

void Elaborator::addParticipants() {
  participants.resize(kernel.resources.size());
  auto add = [&](int resource, proto::Op op, const proto::TaskRole &role) {
    if (resource < 0)
      return;
    auto &list = participants[size_t(resource)].of(op);
    if (std::none_of(list.begin(), list.end(),
                     [&](const proto::TaskRole &known) { return known.task == role.task; }))
      list.push_back(role);
  };
  for (const sched::Task &task : kernel.tasks)
    for (size_t id = 0; id < task.steps.size(); ++id) {
      const sched::Step &step = task.steps[id];
      if (step.kind != StepKind::Event)
        continue;
      const sched::Event &event = step.event;
      if (auto op = sched::barrierOp(event.kind)) {
        if (*op != proto::Op::TryAcquire && *op != proto::Op::TryWait)
          add(event.resource, *op, roleOf(task, sched::StepId(id)));
      } else if (event.kind == EventKind::NextTile && event.resource >= 0 &&
                 kernel.resources[size_t(event.resource)].pipeline) {
        add(event.resource, proto::Op::Wait, roleOf(task, sched::StepId(id)));
        add(event.resource, proto::Op::Release, roleOf(task, sched::StepId(id)));
      } else if (event.kind == EventKind::FetchTile && event.resource >= 0) {
        add(event.resource, proto::Op::Commit, roleOf(task, sched::StepId(id)));
      }
    }
}

proto::GroupSpec Elaborator::groupSpec(int resource) const {
  const sched::Resource &entry = kernel.resources[size_t(resource)];
  proto::GroupSpec group;
  group.name = entry.name;
  group.mode = entry.mode;
  group.by = participants[size_t(resource)];
  for (int member : entry.members)
    if (kernel.resources[size_t(member)].pipeline)
      group.members.push_back(
          {*kernel.resources[size_t(member)].pipeline, participants[size_t(member)]});
  return group;
}

static int64_t valueAt(const proto::Expected &expected, int cta, int64_t fallback) {
  if (size_t(cta) < expected.perCta.size() && expected.perCta[size_t(cta)] > 0)
    return expected.perCta[size_t(cta)];
  return expected.value.value_or(fallback) > 0 ? *expected.value : fallback;
}

void Elaborator::addRingBarriers(Ring &ring, bool isFull) {
  std::vector<int> &bases = isFull ? ring.full : ring.empty;
  bases.assign(size_t(program.ctas), -1);
  const auto which = isFull ? proto::Barrier::Full : proto::Barrier::Empty;
  // A side that the group shares belongs to the group's ring; members borrow it.
  if (ring.isGroup) {
    if (!proto::sharesBarrier(kernel.resources[size_t(ring.resource)].mode, which))
      return;
  } else if (ring.group >= 0) {
    const Ring &whole = rings[size_t(ring.group)];
    if (proto::sharesBarrier(kernel.resources[size_t(whole.resource)].mode, which)) {
      bases = isFull ? whole.full : whole.empty;
      return;
    }
  }
  proto::Expected expected;
  std::optional<int64_t> declared = isFull ? ring.spec.producerCount : ring.spec.consumerCount;
  if (ring.isGroup) {
    proto::GroupCounts counts = proto::expectedCounts(groups[ring.resource], kernel.cluster);
    expected = isFull ? counts.shared.fullArrivals : counts.shared.emptyArrivals;
    declared.reset();
  } else {
    expected = proto::expectedArrivals(ring.spec, kernel.cluster, ring.by, which);
  }
  for (int cta = 0; cta < program.ctas; ++cta) {
    BarrierInfo info;
    info.kind = isFull ? BarrierInfo::Kind::Full : BarrierInfo::Kind::Empty;
    info.cta = cta;
    info.resource = ring.resource;
    info.stages = int(ring.stages);
    info.unit = ring.unit;
    info.count = std::max<int64_t>(1, declared ? *declared : valueAt(expected, cta, 1));
    for (int stage = 0; stage < int(ring.stages); ++stage) {
      info.stage = stage;
      int id = addBarrier(info);
      if (stage == 0)
        bases[size_t(cta)] = id;
    }
  }
}

void Elaborator::finishRing(Ring &ring) {
  ring.stages = std::clamp<int64_t>(ring.spec.stages, 1, mostStages);
  std::optional<int64_t> bytes = ring.spec.numBytes;
  if (ring.isGroup) {
    proto::GroupCounts counts = proto::expectedCounts(groups[ring.resource], kernel.cluster);
    bytes = proto::sharedBytes(groups[ring.resource], counts);
  } else if (!bytes) {
    bytes = proto::expectedBytes(ring.spec, kernel.cluster, ring.by).value;
  }
  bool counts = proto::countsBytes(ring.spec.type);
  // Without a number any will do, as long as both sides use the same.
  ring.bytes = counts ? std::clamp<int64_t>(bytes.value_or(1 << 10), 0, mostBytes) : 0;
  ring.armers = std::max<int64_t>(
      1, ring.isGroup
             ? 1
             : ring.spec.producerCount.value_or(
                   proto::expectedArrivals(ring.spec, kernel.cluster, ring.by, proto::Barrier::Full)
                       .value.value_or(1)));
  // The members of a fork are filled by one bracket, armed once.
  if (ring.group >= 0) {
    const Ring &whole = rings[size_t(ring.group)];
    if (kernel.resources[size_t(whole.resource)].mode == proto::GroupMode::Fork) {
      ring.bytes = whole.bytes;
      ring.armers = 1;
    }
  }
  addRingBarriers(ring, true);
  addRingBarriers(ring, false);
}

void Elaborator::addRings() {
  ringOf.assign(kernel.resources.size(), -1);
  for (size_t i = 0; i < kernel.resources.size(); ++i) {
    const sched::Resource &entry = kernel.resources[i];
    if (!entry.pipeline)
      continue;
    Ring ring;
    ring.resource = int(i);
    ring.isGroup = entry.kind == ResourceKind::Group;
    ring.by = participants[i];
    if (ring.isGroup)
      groups[int(i)] = groupSpec(int(i));
    if (ring.isGroup && groups[int(i)].members.empty())
      continue;
    ring.spec = ring.isGroup ? proto::groupPipeline(groups[int(i)], kernel.cluster)
                             : proto::resolveDeclared(*entry.pipeline, kernel.cluster, ring.by);
    ringOf[i] = int(rings.size());
    rings.push_back(std::move(ring));
  }
  for (size_t r = 0; r < rings.size(); ++r) {
    Ring &ring = rings[r];
    const sched::Resource &entry = kernel.resources[size_t(ring.resource)];
    if (entry.group >= 0 && ringOf[size_t(entry.group)] >= 0) {
      ring.group = ringOf[size_t(entry.group)];
      const auto &members = kernel.resources[size_t(entry.group)].members;
      ring.member = int(std::find(members.begin(), members.end(), ring.resource) - members.begin());
    }
  }
  // One rotation unit per ring, one for all rings of a group.
  for (Ring &ring : rings)
    if (ring.group < 0) {
      ring.unit = int(program.units.size());
      program.units.push_back({true, std::clamp<int64_t>(ring.spec.stages, 1, mostStages)});
    }
  for (Ring &ring : rings)
    if (ring.group >= 0)
      ring.unit = rings[size_t(ring.group)].unit;
  for (bool isGroup : {true, false})
    for (Ring &ring : rings)
      if (ring.isGroup == isGroup)
        finishRing(ring);
  for (const Ring &ring : rings)
    if (program.units[size_t(ring.unit)].stages != ring.stages)
      refuse("the members of a pipeline group have different stage counts");
}

void Elaborator::addOtherBarriers() {
  for (size_t i = 0; i < kernel.resources.size(); ++i) {
    const sched::Resource &entry = kernel.resources[i];
    BarrierInfo info;
    info.resource = int(i);
    bool hand = entry.kind == ResourceKind::Mbarrier;
    if (!hand && entry.kind != ResourceKind::NamedBarrier && entry.kind != ResourceKind::Baton)
      continue;
    info.kind = hand ? BarrierInfo::Kind::Hand : BarrierInfo::Kind::Named;
    for (int cta = 0; cta < program.ctas; ++cta) {
      info.cta = cta;
      handBarriers[{int(i), cta}] = int(program.barriers.size());
      if (entry.kind != ResourceKind::Baton) {
        info.count = std::max<int64_t>(1, entry.count);
        addBarrier(info);
        continue;
      }
      // One per holder: its predecessor's arrival and its own. The first holder starts with it.
      for (int64_t holder = 0; holder < std::max<int64_t>(1, entry.holders); ++holder) {
        info.stage = int(holder);
        info.count = 2;
        info.preArrived = holder == entry.first ? 1 : 0;
        addBarrier(info);
      }
    }
  }
}

//--- Symbols ------------------------------------------------------------------------------------

int Elaborator::symbolFor(const sched::Bound &bound, bool tile, int queue) {
  std::string key = tile ? "#" + std::to_string(queue) : bound.symbol;
  auto [it, fresh] = symbols.try_emplace(key, int(program.symbols.size()));
  if (fresh) {
    Symbol symbol;
    symbol.tiles = tile;
    if (tile) {
      const sched::Resource &entry = kernel.resources[size_t(std::max(queue, 0))];
      symbol.name = "number of tiles of '" + entry.name + "'";
      symbol.min = entry.clc ? 1 : 0;
    } else {
      symbol.name = bound.symbol;
      symbol.perTile = bound.kind == sched::Bound::Kind::PerTile || kernel.tripsPerTile;
      symbol.min = std::max<int64_t>(0, bound.min.value_or(0));
      symbol.bound = bound;
    }
    for (const auto &[name, least] : options.minima)
      if (name == symbol.name)
        symbol.min = std::max(symbol.min, least);
    program.symbols.push_back(std::move(symbol));
  } else if (!tile && bound.min) {
    Symbol &symbol = program.symbols[size_t(it->second)];
    symbol.min = std::max(symbol.min, *bound.min);
  }
  return it->second;
}

std::pair<int, int64_t> Elaborator::symbolForConstant(int64_t trips) {
  // Peeled loops run a few times less: the same symbol with an offset.
  for (auto [base, symbol] : constants)
    if (std::abs(base - trips) <= 8)
      return {symbol, trips - base};
  Symbol symbol;
  symbol.name = std::to_string(trips) + " trips";
  symbol.constant = true;
  symbol.min = widenedMin;
  program.symbols.push_back(symbol);
  int id = int(program.symbols.size()) - 1;
  constants[trips] = id;
  return {id, 0};
}

int64_t LoopInfo::trips(int64_t value) const {
  if (symbol < 0)
    return constant;
  return tile      ? value
         : widened ? std::max<int64_t>(0, value + offset)
                   : loop.trips(value).value_or(0);
}

int64_t LoopInfo::end(int64_t value) const {
  return loop.upper.isConstant() ? loop.upper.offset : loop.upper.scale * value + loop.upper.offset;
}

int64_t LoopInfo::tripsFrom(int64_t start, int64_t value) const {
  int64_t span = end(value) - start;
  return span <= 0 ? 0 : (span - 1) / loop.step.offset + 1;
}

int64_t LoopInfo::nextStart(int64_t start, int64_t value) const {
  int64_t step = loop.step.offset;
  return ((start - end(value)) % step + step) % step;
}

//--- Agents -------------------------------------------------------------------------------------

void Elaborator::findCluster() {
  int64_t size = 1;
  for (int64_t extent : kernel.cluster.shape)
    size = std::min<int64_t>(size * std::max<int64_t>(extent, 1), proto::maxCtas);
  program.ctas = int(size);
  if (size == 1)
    return;
  // CTAs that never touch each other need not be looked at together.
  auto crosses = [&] {
    for (const sched::Task &task : kernel.tasks) {
      if (task.onlyCta)
        return true;
      for (const sched::Step &step : task.steps) {
        if (step.condition.ctas || step.event.remote || step.event.kind == EventKind::ClusterSync)
          return true;
        for (const sched::Access &access : step.event.accesses)
          if (access.remote)
            return true;
        for (const proto::IssuedBytes &bytes : step.event.issued.alternatives)
          if (bytes.alongM || bytes.alongN)
            return true;
      }
    }
    for (size_t i = 0; i < kernel.resources.size(); ++i) {
      if (!kernel.resources[i].pipeline)
        continue;
      const proto::PipelineSpec &spec = *kernel.resources[i].pipeline;
      proto::CtaGrid grid(spec, kernel.cluster);
      for (proto::Op op :
           {proto::Op::Acquire, proto::Op::Commit, proto::Op::Wait, proto::Op::Release}) {
        proto::Action action = proto::actionFor(spec, kernel.cluster, op);
        if ((action.wait && action.wait->leaderOnly) ||
            (action.arrive &&
             (action.arrive->leaderOnly || action.arrive->target != proto::Target::OwnCta)))
          return true;
      }
    }
    return false;
  };
  if (!crosses())
    program.ctas = 1;
}

namespace {

/// How a task's warps wait: all alike, a leader apart from the others, or each on its own lane.
enum class Split { Whole, Leader, Lanes };

} // namespace

static Split splitOf(const sched::Kernel &kernel, const std::vector<Ring> &rings,
                     const std::vector<int> &ringOf, const std::map<int, proto::GroupSpec> &groups,
                     const sched::Task &task) {
  if (task.warps <= 1)
    return Split::Whole;
  bool alone = false, together = false;
  for (size_t id = 0; id < task.steps.size(); ++id) {
    const sched::Step &step = task.steps[id];
    if (step.kind != StepKind::Event || step.event.resource < 0)
      continue;
    auto op = sched::barrierOp(step.event.kind);
    if (step.event.kind == EventKind::NextTile)
      op = proto::Op::Wait;
    if (!op || ringOf[size_t(step.event.resource)] < 0) {
      together |= step.event.kind == EventKind::BarrierSync;
      continue;
    }
    const Ring &ring = rings[size_t(ringOf[size_t(step.event.resource)])];
    if (proto::laneMode(roleOf(task, sched::StepId(id)), ring.spec.stride(*op)) ==
        proto::LaneMode::Warp)
      return Split::Lanes;
    proto::Action action = proto::actionFor(ring.spec, kernel.cluster, *op);
    auto note = [&](proto::Executor who) {
      (who == proto::Executor::OneThreadOfTask ? alone : together) = true;
    };
    if (action.wait)
      note(action.wait->who);
    if (action.arrive)
      note(action.arrive->who);
  }
  return alone && together ? Split::Leader : Split::Whole;
}

void Elaborator::addAgents() {
  for (int cta = 0; cta < program.ctas; ++cta)
    for (size_t t = 0; t < kernel.tasks.size(); ++t) {
      const sched::Task &task = kernel.tasks[t];
      if (task.onlyCta && *task.onlyCta != cta && program.ctas > 1)
        continue;
      std::string name = task.name;
      if (program.ctas > 1)
        name += " (CTA " + std::to_string(cta) + ")";
      auto add = [&](const std::string &suffix, int64_t warps, bool leader) {
        Agent agent;
        agent.name = name + suffix;
        agent.task = int(t);
        agent.cta = cta;
        agent.warps = int(std::clamp<int64_t>(warps, 1, 1 << 10));
        agent.leader = leader;
        program.agents.push_back(std::move(agent));
      };
      switch (splitOf(kernel, rings, ringOf, groups, task)) {
      case Split::Whole:
        add("", task.warps, true);
        break;
      case Split::Leader:
        add(" warp 0", 1, true);
        add(" other warps", task.warps - 1, false);
        break;
      case Split::Lanes:
        for (int64_t warp = 0; warp < std::min<int64_t>(task.warps, 64); ++warp) {
          add(" warp " + std::to_string(warp), 1, warp == 0);
          program.agents.back().lane = int(warp);
        }
        break;
      }
    }
}

Program Elaborator::run() {
  program.kernel = &kernel;
  program.refused = beyondLimits(kernel, placement, options);
  if (!program.refused.empty())
    return std::move(program);
  findCluster();
  addParticipants();
  addRings();
  addOtherBarriers();
  addAgents();
  if (program.agents.size() > maxAgents)
    refuse("more than " + std::to_string(maxAgents) + " roles over the CTAs of the cluster");
  for (size_t i = 0; i < program.agents.size() && program.refused.empty(); ++i)
    TaskElaborator(*this, int(i)).run();
  if (!program.refused.empty())
    return std::move(program);
  if (clusterBarrier >= 0) {
    // All threads of the cluster have to come, also those of roles that never do.
    program.barriers[size_t(clusterBarrier)].count = int64_t(program.agents.size());
  }
  if (program.epochs.size() > maxEpochs)
    refuse("more than " + std::to_string(maxEpochs) + " accesses and arrivals to follow");
  if (!program.refused.empty())
    return std::move(program);
  numberRows();
  // A step looks at some rows, a state has all of them, and conflicts are found pair by pair.
  if (size_t(program.rows) * program.words > maxWords)
    refuse("too many barriers and accesses to follow");
  if (!program.refused.empty())
    return std::move(program);
  rotateUnits();
  finishEpochs();
  for (Agent &agent : program.agents) {
    agent.frameBase = program.frameCount;
    program.frameCount += agent.frames;
    agent.variableBase = program.variableCount;
    program.variableCount += int(agent.variables.size());
    computeLiveness(agent);
  }
  return std::move(program);
}

Program elaborate(const sched::Kernel &kernel, const Placement &placement, const Options &options,
                  bool widen) {
  return Elaborator(kernel, placement, options, widen).run();
}

} // namespace ts::prover
