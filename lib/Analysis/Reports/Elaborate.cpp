// The walk over the tasks; how the events are joined stands in ElaborateJoin.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elaborate.h"

#include "ts/Analysis/Protocol/Slots.h"

#include <algorithm>

namespace ts::reports {

using namespace schedule;
namespace p = protocol;

Elaborator::Elaborator(const KernelInput &input, const Latencies &latencies, int64_t trips,
                       const StageOverrides &overrides)
    : input(input), latencies(latencies), trips(trips), overrides(overrides),
      rings(input.kernel.resources.size()), syncArrivals(input.kernel.resources.size()),
      syncWaits(input.kernel.resources.size()) {
  unitTracks.fill(-1);
}

//--- Nodes and edges ----------------------------------------------------------------------------

int Elaborator::node() {
  if (result.graph.nodes >= maxNodes && result.problem.empty())
    result.problem = "one period has more than " + std::to_string(maxNodes) + " events";
  return result.graph.nodes++;
}

void Elaborator::edge(int from, int to, int64_t weight, int64_t tokens, int tag) {
  result.graph.edges.push_back({from, to, weight, tokens, tag});
}

void Elaborator::ignore(const std::string &what) {
  if (std::find(result.ignored.begin(), result.ignored.end(), what) == result.ignored.end())
    result.ignored.push_back(what);
}

int Elaborator::operation(Agent &agent, const Step &step, std::string label, int64_t cost) {
  int n = node();
  edge(agent.last, n, agent.cost, 0, trackTag(agent.track));
  agent.last = n;
  agent.cost = cost;
  result.busy[size_t(agent.track)] += cost;
  if (!label.empty())
    result.intervals.push_back({agent.track, std::move(label), step.loc, n, -1, cost, false, -1});
  return n;
}

int Elaborator::blocking(Agent &agent, const Step &step, std::string label, int resource) {
  int reached = operation(agent, step, "", 0), passed = node();
  edge(reached, passed, 0, 0, trackTag(agent.track));
  agent.last = passed;
  agent.cost = latencies.issue;
  result.busy[size_t(agent.track)] += latencies.issue;
  result.intervals.push_back(
      {agent.track, std::move(label), step.loc, reached, passed, 0, true, resource});
  return passed;
}

int Elaborator::engineTrack(Unit unit) {
  int &track = unitTracks[size_t(unit)];
  if (track < 0) {
    track = int(result.tracks.size());
    result.tracks.push_back({true, std::string(name(unit))});
    result.busy.push_back(0);
  }
  return track;
}

//--- Agents -------------------------------------------------------------------------------------

void Elaborator::makeAgents() {
  const Kernel &kernel = input.kernel;
  for (const Task &task : kernel.tasks) {
    int64_t lanes = 1;
    for (const Step &step : task.steps)
      if (auto op = barrierOp(step.event.kind);
          op && step.kind == StepKind::Event && step.event.resource >= 0)
        if (const auto &spec = kernel.resources[size_t(step.event.resource)].pipeline)
          if (spec->stride(*op) > 1 && spec->stride(*op) == task.warps)
            lanes = task.warps;
    if (lanes > 64) {
      result.problem = "task '" + task.name + "' has more than 64 lanes";
      return;
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Agent agent;
      agent.task = &task;
      agent.lane = lane;
      agent.lanes = lanes;
      agent.name = task.name + (lanes > 1 ? " warp " + std::to_string(lane) : "");
      agent.track = int(result.tracks.size());
      agent.uses.assign(kernel.resources.size(), Uses{});
      agent.pending.resize(kernel.resources.size());
      agent.syncs.assign(kernel.resources.size(), 0);
      result.tracks.push_back({false, agent.name});
      result.busy.push_back(0);
      agents.push_back(std::move(agent));
    }
  }
}

void Elaborator::walkPeriod(Agent &agent) {
  agent.start = agent.last = node();
  const std::vector<StepId> &body = agent.task->body;
  auto isTileLoop = [&](StepId id) {
    const Step &step = agent.task->steps[size_t(id)];
    return step.kind == StepKind::Loop && step.loop.kind == LoopKind::Tile;
  };
  auto tiles = std::find_if(body.begin(), body.end(), isTileLoop);
  if (!result.persistent || tiles == body.end()) {
    if (!result.persistent)
      walk(agent, body);
  } else {
    // What stands before the loop shifts the numbers of the stage uses and costs nothing later.
    dry = true;
    walk(agent, {body.begin(), tiles});
    dry = false;
    agent.used.clear();
    std::vector<Uses> before = agent.uses;
    walk(agent, agent.task->steps[size_t(*tiles)].body);
    for (size_t r = 0; r < before.size(); ++r)
      for (size_t role = 0; role < 4; ++role)
        agent.uses[r][role] -= before[r][role]; // left: uses per period
  }
  edge(agent.last, agent.start, std::max<int64_t>(agent.cost, 1), 1, trackTag(agent.track));
}

//--- The walk -----------------------------------------------------------------------------------

bool Elaborator::taken(const Guard &guard) const {
  for (auto state = loops.rbegin(); state != loops.rend(); ++state) {
    if (state->id != guard.loop)
      continue;
    bool first = state->iteration == 0, last = state->iteration + 1 == state->trips;
    switch (guard.kind) {
    case GuardKind::First:
      return first;
    case GuardKind::Last:
      return last;
    case GuardKind::Every:
      return guard.period > 0 && state->iteration % guard.period == 0;
    case GuardKind::NotFirst:
      return !first;
    case GuardKind::NotLast:
      return !last;
    }
  }
  return true;
}

void Elaborator::loop(Agent &agent, StepId id) {
  const Step &step = agent.task->steps[size_t(id)];
  LoopState state;
  state.id = id;
  state.loop = &step.loop;
  if (step.loop.kind != LoopKind::Tile) {
    int64_t symbol =
        std::max({trips, step.loop.upper.min.value_or(0), step.loop.lower.min.value_or(0)});
    state.trips = std::max(step.loop.trips(symbol).value_or(trips), int64_t(0));
    result.symbolic |= !step.loop.constantTrips;
  }
  if (step.body.empty())
    return;
  loops.push_back(state);
  for (; loops.back().iteration < state.trips && result.problem.empty(); ++loops.back().iteration)
    walk(agent, step.body);
  loops.pop_back();
}

void Elaborator::walk(Agent &agent, const std::vector<StepId> &steps) {
  for (StepId id : steps) {
    if (!result.problem.empty())
      return;
    if (++walked > maxWalked) {
      result.problem =
          "one period has more than " + std::to_string(maxWalked) + " steps and events";
      return;
    }
    const Step &step = agent.task->steps[size_t(id)];
    switch (step.kind) {
    case StepKind::Loop:
      loop(agent, id);
      break;
    case StepKind::Guard:
      if (taken(step.guard))
        walk(agent, step.body);
      break;
    case StepKind::When: {
      // Conditions are taken to hold; the first CTA stands for all.
      bool holds = !step.condition.ctas || (*step.condition.ctas & 1);
      walk(agent, holds == step.condition.expected ? step.body : step.orelse);
      break;
    }
    case StepKind::Branch:
    case StepKind::Skippable:
      walk(agent, step.body);
      break;
    case StepKind::Event:
      event(agent, step);
      break;
    }
  }
}

void Elaborator::event(Agent &agent, const Step &step) {
  const Event &event = step.event;
  auto onRings = [&](p::Op op) {
    if (event.resource < 0)
      return;
    const Resource &resource = input.kernel.resources[size_t(event.resource)];
    if (resource.kind == ResourceKind::Group)
      for (int member : resource.members)
        barrier(agent, step, op, member);
    else
      barrier(agent, step, op, event.resource);
  };
  if (dry && !barrierOp(event.kind) && event.kind != EventKind::NextTile)
    return walk(agent, step.body);
  switch (event.kind) {
  case EventKind::TryAcquire:
  case EventKind::TryWait:
    return; // a hint: it costs nothing where the wait itself would block
  case EventKind::Acquire:
    return onRings(p::Op::Acquire);
  case EventKind::Commit:
    return onRings(p::Op::Commit);
  case EventKind::Wait:
    return onRings(p::Op::Wait);
  case EventKind::Release:
    return onRings(p::Op::Release);
  case EventKind::NextTile:
    if (event.resource >= 0 && input.kernel.resources[size_t(event.resource)].pipeline) {
      onRings(p::Op::Wait);
      return onRings(p::Op::Release);
    }
    if (!dry)
      operation(agent, step, "next_tile", latencies.issue);
    return;
  case EventKind::Produce:
  case EventKind::Consume:
    work(agent, step);
    return walk(agent, step.body);
  case EventKind::FetchTile:
  case EventKind::Access:
    return work(agent, step);
  case EventKind::BarrierSync:
  case EventKind::BarrierArrive:
    return rendezvous(agent, step);
  case EventKind::Take:
  case EventKind::Pass:
    return baton(agent, step);
  case EventKind::WgmmaCommit:
    return closeGroup(agent, Wgmma);
  case EventKind::BulkCommit:
    return closeGroup(agent, Bulk);
  case EventKind::CpAsyncCommit:
    return closeGroup(agent, CpAsync);
  case EventKind::WgmmaWait:
    return waitGroup(agent, step, Wgmma);
  case EventKind::BulkWait:
    return waitGroup(agent, step, Bulk);
  case EventKind::CpAsyncWait:
    return waitGroup(agent, step, CpAsync);
  case EventKind::MbarrierArrive:
  case EventKind::MbarrierWait:
    ignore("hand-written mbarriers");
    break;
  case EventKind::ClusterSync:
    ignore("cluster barriers");
    break;
  case EventKind::GridDepWait:
  case EventKind::GridDepLaunch:
    ignore("other grids");
    break;
  case EventKind::TmemWait:
  case EventKind::WarpSync:
  case EventKind::Fence:
    break;
  }
  operation(agent, step, "", latencies.issue);
}

//--- Rings --------------------------------------------------------------------------------------

int64_t Elaborator::slotOf(Agent &agent, int ring, p::Op op) {
  unsigned role = p::roleIndex(op);
  agent.used.insert({ring, int(role)});
  int64_t k = agent.uses[size_t(ring)][role]++;
  int64_t stride = modest(input.kernel.resources[size_t(ring)].pipeline->stride(op));
  if (stride <= 1)
    return k;
  if (agent.lanes == stride)
    return p::laneSlot(agent.lane, k, stride);
  // One sibling task per lane: the lane is where its loop starts.
  for (auto state = loops.rbegin(); state != loops.rend(); ++state)
    if (state->loop->step.isConstant() && state->loop->step.offset == stride &&
        state->loop->lower.isConstant())
      return p::laneSlot(state->loop->lower.offset % stride, k, stride);
  return p::laneSlot(0, k, stride);
}

void Elaborator::barrier(Agent &agent, const Step &step, p::Op op, int ring) {
  const Resource &resource = input.kernel.resources[size_t(ring)];
  if (!resource.pipeline) {
    if (!dry)
      operation(agent, step, "", latencies.issue);
    return;
  }
  int64_t slot = slotOf(agent, ring, op);
  if (dry)
    return;
  std::string label = std::string(p::name(op)) + " " + resource.name + " #" + std::to_string(slot);
  if (op == p::Op::Acquire || op == p::Op::Wait) {
    int passed = blocking(agent, step, std::move(label), ring);
    p::Barrier which = op == p::Op::Wait ? p::Barrier::Full : p::Barrier::Empty;
    rings[size_t(ring)].waits[size_t(which)].push_back({passed, slot});
    return;
  }
  operation(agent, step, std::move(label), latencies.issue);
  arrive(agent, ring, op, slot);
}

/// An arrival by the thread itself, or by the unit once what was given to it is done.
void Elaborator::arrive(Agent &agent, int ring, p::Op op, int64_t slot) {
  const p::PipelineSpec &spec = *input.kernel.resources[size_t(ring)].pipeline;
  bool full = op == p::Op::Commit;
  p::SideKind kind = full ? p::producerKind(spec.type) : p::consumerKind(spec.type);
  auto &arrivals = rings[size_t(ring)].arrivals[full ? 0 : 1];
  auto after = [&](const Issued &job) {
    arrivals.push_back({job.node, job.occupancy + job.latency + latencies.arrive, slot});
  };
  auto &pending = agent.pending[size_t(ring)];
  if (full && !pending.empty()) {
    for (const Issued &job : pending)
      after(job);
    pending.clear();
    if (kind == p::SideKind::Tma || kind == p::SideKind::Clc)
      return;
  }
  const Issued &tensor = agent.latest[size_t(Unit::Tensor)];
  if (kind == p::SideKind::Umma && tensor.node >= 0)
    after(tensor);
  else
    arrivals.push_back({agent.last, latencies.issue + latencies.arrive, slot});
}

//--- Other synchronisation ----------------------------------------------------------------------

void Elaborator::rendezvous(Agent &agent, const Step &step) {
  int resource = step.event.resource;
  if (resource < 0)
    return;
  int64_t k = agent.syncs[size_t(resource)]++;
  std::string label =
      std::string(schedule::name(step.event.kind)) + " " + input.resourceName(resource);
  if (step.event.kind == EventKind::BarrierArrive) {
    int n = operation(agent, step, std::move(label), latencies.issue);
    syncArrivals[size_t(resource)].push_back({n, k});
    return;
  }
  int passed = blocking(agent, step, std::move(label), resource);
  syncArrivals[size_t(resource)].push_back({passed - 1, k}); // the event of reaching it
  syncWaits[size_t(resource)].push_back({passed, k});
}

/// Takes and passes in the order of the holders: each take follows the pass before it.
void Elaborator::baton(Agent &agent, const Step &step) {
  int resource = step.event.resource;
  if (resource < 0)
    return;
  const Resource &entry = input.kernel.resources[size_t(resource)];
  int64_t holders = modest(entry.holders), first = entry.first % holders;
  int64_t position = ((agent.task->replica - first) % holders + holders) % holders;
  bool take = step.event.kind == EventKind::Take;
  unsigned role = take ? 2 : 3; // counted like the wait and the release of a ring
  agent.used.insert({resource, int(role)});
  int64_t turn = agent.uses[size_t(resource)][role]++ * holders + position;
  std::string label = std::string(schedule::name(step.event.kind)) + " " + entry.name;
  if (take) {
    int passed = blocking(agent, step, std::move(label), resource);
    rings[size_t(resource)].waits[1].push_back({passed, turn});
  } else {
    int n = operation(agent, step, std::move(label), latencies.issue);
    rings[size_t(resource)].arrivals[1].push_back({n, latencies.issue + latencies.arrive, turn});
  }
}

static Unit unitOf(size_t family) {
  return family == 0 ? Unit::Tensor : family == 1 ? Unit::TmaStore : Unit::CpAsync;
}

void Elaborator::closeGroup(Agent &agent, Family family) {
  agent.groups[family].push_back(agent.latest[size_t(unitOf(family))]);
}

void Elaborator::waitGroup(Agent &agent, const Step &step, Family family) {
  int passed = blocking(agent, step, std::string(schedule::name(step.event.kind)), -1);
  int64_t closed = int64_t(agent.groups[family].size());
  // More than there are in a few periods wait for nothing in any of them.
  int64_t pending = std::clamp<int64_t>(step.event.pending, 0, int64_t(1) << 31);
  agent.groupWaits[family].push_back({passed, closed - 1 - pending});
}

//--- Work ---------------------------------------------------------------------------------------

void Elaborator::work(Agent &agent, const Step &step) {
  std::string label = step.event.label;
  for (StepId at = step.parent; label.empty() && at >= 0; at = agent.task->steps[size_t(at)].parent)
    label = agent.task->steps[size_t(at)].event.label;
  bool isCall = step.event.kind == EventKind::Produce || step.event.kind == EventKind::Consume;
  std::vector<Job> jobs = jobsOf(input, latencies, *agent.task, step);
  if (jobs.empty() && isCall && !step.body.empty())
    return; // its sub-steps have the costs
  if (jobs.empty())
    operation(agent, step, label, latencies.issue);
  for (const Job &job : jobs) {
    if (job.unit == Unit::Threads) {
      operation(agent, step, label, job.occupancy + job.latency);
      continue;
    }
    operation(agent, step, "", latencies.issue);
    Issued issued{node(), job.unit, job.occupancy, job.latency};
    int track = engineTrack(job.unit);
    edge(agent.last, issued.node, latencies.issue, 0, trackTag(agent.track));
    Issued &latest = agent.latest[size_t(job.unit)];
    if (latest.node >= 0)
      edge(latest.node, issued.node, latest.occupancy, 0, trackTag(track));
    else
      agent.first[size_t(job.unit)] = issued;
    latest = issued;
    unitJobs[size_t(job.unit)].push_back({int(&agent - agents.data()), issued});
    result.busy[size_t(track)] += job.occupancy;
    result.intervals.push_back(
        {track, agent.name + ": " + label, step.loc, issued.node, -1, job.occupancy, false, -1});
    // The ring that the copy fills: that of the work call around it.
    if (job.unit == Unit::Tensor || job.unit == Unit::TmaStore)
      continue;
    const Step *call = &step;
    while (call->event.resource < 0 && call->parent >= 0)
      call = &agent.task->steps[size_t(call->parent)];
    if (call->event.resource >= 0)
      agent.pending[size_t(call->event.resource)].push_back(issued);
  }
}

} // namespace ts::reports
