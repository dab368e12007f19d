// Joining the events of the tasks: rings, groups of asynchronous work, shared units.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elaborate.h"

#include <algorithm>

namespace ts::reports {

using namespace schedule;
namespace p = protocol;

/// The least number of occurrences that a group wait in front of the first group goes back.
static std::pair<int64_t, int64_t> wrap(int64_t index, int64_t period) {
  int64_t back = index >= 0 ? 0 : (-index + period - 1) / period;
  return {index + back * period, back};
}

/// All roles of a ring have to use it equally often in a period, or there is no steady state.
std::string Elaborator::ringProblem() const {
  for (size_t r = 0; r < rings.size(); ++r) {
    const Resource &resource = input.kernel.resources[r];
    int64_t known = -1;
    std::string first;
    for (const Agent &agent : agents)
      for (int role = 0; role < 4; ++role) {
        if (!agent.used.count({int(r), role}))
          continue;
        int64_t stride = 1;
        if (resource.pipeline)
          stride = modest(resource.pipeline->interleave[size_t(role)]);
        else if (resource.kind == ResourceKind::Baton)
          stride = modest(resource.holders);
        int64_t uses = agent.uses[r][size_t(role)] * stride;
        if (known >= 0 && uses != known)
          return "'" + first + "' and '" + agent.name + "' use '" + resource.name +
                 "' a different number of times (" + std::to_string(known) + " and " +
                 std::to_string(uses) + ") with " + std::to_string(trips) + " iterations";
        known = uses;
        first = agent.name;
      }
  }
  return "";
}

void Elaborator::join(int ring, const std::vector<Waiting> &waits,
                      const std::vector<Arrival> &arrivals, int64_t distance, int64_t slots) {
  // Wait j in occurrence k stands for use j + k * slots, and so do arrivals.
  std::map<int64_t, std::vector<const Arrival *>> bySlot;
  for (const Arrival &arrival : arrivals)
    bySlot[arrival.slot % slots].push_back(&arrival);
  for (const Waiting &wait : waits) {
    auto found = bySlot.find((((wait.slot - distance) % slots) + slots) % slots);
    if (found == bySlot.end())
      continue;
    for (const Arrival *arrival : found->second)
      edge(arrival->node, wait.node, arrival->weight,
           (arrival->slot - wait.slot + distance) / slots, ring);
  }
}

void Elaborator::joinRings() {
  for (size_t r = 0; r < rings.size(); ++r) {
    const Resource &resource = input.kernel.resources[r];
    int64_t uses = 0;
    for (const Agent &agent : agents)
      for (int role = 0; role < 4; ++role)
        if (agent.used.count({int(r), role})) {
          int64_t stride = resource.pipeline ? modest(resource.pipeline->interleave[size_t(role)])
                                             : modest(resource.holders);
          uses = std::max(uses, agent.uses[r][size_t(role)] * stride);
        }
    result.slots[r] = resource.pipeline ? uses : 0;
    if (!uses)
      continue;
    if (resource.pipeline)
      join(int(r), rings[r].waits[0], rings[r].arrivals[0], 0, uses);
    int64_t stages = resource.pipeline ? resource.pipeline->stages : 1;
    if (auto asked = overrides.find(int(r)); asked != overrides.end() && asked->second)
      stages = asked->second;
    if (stages > 0)
      join(int(r), rings[r].waits[1], rings[r].arrivals[1], modest(stages), uses);
  }
  for (size_t r = 0; r < syncWaits.size(); ++r)
    for (auto [passed, k] : syncWaits[r])
      for (auto [reached, other] : syncArrivals[r])
        if (other == k)
          edge(reached, passed, latencies.arrive, 0, int(r));
}

void Elaborator::joinGroups() {
  for (Agent &agent : agents)
    for (size_t family = 0; family < numFamilies; ++family) {
      const auto &groups = agent.groups[family];
      for (const GroupWait &wait : agent.groupWaits[family]) {
        if (groups.empty())
          continue;
        auto [index, back] = wrap(wait.group, int64_t(groups.size()));
        if (const Issued &job = groups[size_t(index)]; job.node >= 0)
          edge(job.node, wait.node, job.occupancy + job.latency, back, trackTag(agent.track));
      }
    }
}

/// A unit takes the jobs of several agents one after the other. In which order is decided at run
/// time; here, it is the order in which they come up when nobody else stands in the way.
void Elaborator::shareUnits() {
  for (Agent &agent : agents)
    for (size_t unit = 0; unit < numUnits; ++unit)
      if (const Issued &latest = agent.latest[unit]; latest.node >= 0)
        edge(latest.node, agent.first[unit].node, std::max<int64_t>(latest.occupancy, 1), 1,
             trackTag(unitTracks[unit]));
  std::vector<int64_t> times;
  constexpr int periods = 3;
  for (size_t unit = 0; unit < numUnits; ++unit) {
    auto &jobs = unitJobs[unit];
    bool shared = std::any_of(jobs.begin(), jobs.end(),
                              [&](const auto &job) { return job.first != jobs.front().first; });
    if (!shared)
      continue;
    if (times.empty())
      times = earliestTimes(result.graph, periods);
    if (times.empty())
      return; // a deadlock without that
    auto time = [&](const Issued &job) {
      return times[size_t(periods - 1) * size_t(result.graph.nodes) + size_t(job.node)];
    };
    std::sort(jobs.begin(), jobs.end(), [&](const auto &a, const auto &b) {
      return std::pair(time(a.second), a.second.node) < std::pair(time(b.second), b.second.node);
    });
    size_t before = result.graph.edges.size();
    for (size_t i = 0; i < jobs.size(); ++i) {
      const Issued &from = jobs[i].second, &to = jobs[(i + 1) % jobs.size()].second;
      edge(from.node, to.node, std::max<int64_t>(from.occupancy, 1), i + 1 == jobs.size(),
           trackTag(unitTracks[unit]));
    }
    if (earliestTimes(result.graph, 1).empty()) {
      result.graph.edges.resize(before);
      ignore("tasks that share the " + std::string(name(Unit(unit))));
    }
  }
}

Elaboration Elaborator::run() {
  const Kernel &kernel = input.kernel;
  result.trips = trips;
  result.slots.assign(kernel.resources.size(), 0);
  // Persistent: whoever uses a ring does so tile by tile.
  bool anyTiles = false, anyOther = false;
  for (const Task &task : kernel.tasks) {
    bool tiles = std::any_of(task.body.begin(), task.body.end(), [&](StepId id) {
      const Step &step = task.steps[size_t(id)];
      return step.kind == StepKind::Loop && step.loop.kind == LoopKind::Tile;
    });
    bool rings = std::any_of(task.steps.begin(), task.steps.end(), [](const Step &step) {
      return step.kind == StepKind::Event && barrierOp(step.event.kind);
    });
    anyTiles |= tiles;
    anyOther |= rings && !tiles;
  }
  result.persistent = anyTiles && !anyOther;
  makeAgents();
  for (Agent &agent : agents) {
    if (!result.problem.empty())
      return std::move(result);
    walkPeriod(agent);
    // Bulk copies of a ring without commits: each arrival belongs to the use that was acquired.
    for (size_t r = 0; r < agent.pending.size(); ++r) {
      auto &pending = agent.pending[r];
      const Resource &resource = kernel.resources[r];
      int64_t uses = agent.uses[r][p::roleIndex(p::Op::Acquire)];
      if (pending.empty() || !resource.pipeline || uses == 0 ||
          agent.used.count({int(r), int(p::roleIndex(p::Op::Commit))}))
        continue;
      for (size_t i = 0; i < pending.size(); ++i)
        rings[r].arrivals[0].push_back(
            {pending[i].node, pending[i].occupancy + pending[i].latency + latencies.arrive,
             int64_t(i) * uses / int64_t(pending.size())});
    }
  }
  if (result.problem.empty())
    result.problem = ringProblem();
  if (!result.problem.empty())
    return std::move(result);
  joinRings();
  joinGroups();
  shareUnits();
  return std::move(result);
}

Elaboration elaborate(const KernelInput &input, const Latencies &latencies, int64_t trips,
                      const StageOverrides &overrides) {
  return Elaborator(input, latencies, trips, overrides).run();
}

} // namespace ts::reports
