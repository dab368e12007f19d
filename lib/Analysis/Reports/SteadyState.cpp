// From the event graph to rates, the critical cycle and stage counts; and their text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Reports/SteadyState.h"

#include "ts/Analysis/Reports/Text.h"

#include <algorithm>
#include <cmath>

namespace ts::reports {

using namespace schedule;

namespace {

constexpr double fullShare = 0.995; ///< rounding of issue costs is no lost rate
constexpr int64_t maxStages = 64;
constexpr int64_t maxEvents = 3000000; ///< of all graphs together that stage counts are tried on

class Modeller {
public:
  explicit Modeller(const KernelInput &input)
      : input(input), latencies(latenciesOf(input.kernel.chip)) {}

  SteadyState run() {
    state.chip = std::string(latencies.chip);
    for (int64_t trips : {32, 16, 8, 4, 2, 1}) {
      state.run = elaborate(input, latencies, trips);
      if (state.run.graph.nodes <= maxNodesForSweep || !state.run.problem.empty())
        if (state.run.problem.empty() || state.run.problem.find("events") == std::string::npos)
          break;
    }
    state.problem = state.run.problem;
    if (state.problem.empty() && state.run.graph.edges.empty())
      state.problem = "no task";
    if (!state.problem.empty())
      return std::move(state);
    CycleMean mean = maximumCycleMean(state.run.graph);
    critical(mean);
    if (mean.kind == CycleMean::Kind::Deadlock) {
      state.deadlock = true;
    } else if (mean.kind != CycleMean::Kind::Cyclic || mean.ratio() <= 0) {
      state.problem = "the critical cycle was not found";
      return std::move(state);
    } else {
      state.cycles = mean.ratio();
      state.shown = state.run.persistent ? 3 : 1;
      state.times = earliestTimes(state.run.graph, state.shown);
      loads();
    }
    rings();
    return std::move(state);
  }

private:
  static constexpr int maxNodesForSweep = 4000;

  void critical(const CycleMean &mean) {
    std::vector<int64_t> resources(input.kernel.resources.size(), 0);
    std::vector<int64_t> tracks(state.run.tracks.size(), 0);
    for (int e : mean.cycle) {
      int tag = state.run.graph.edges[size_t(e)].tag;
      if (tag >= 0)
        ++resources[size_t(tag)];
      else if (tag <= -2)
        ++tracks[size_t(-2 - tag)];
    }
    for (size_t r = 0; r < resources.size(); ++r)
      if (resources[r])
        state.criticalResources.push_back(int(r));
    std::sort(state.criticalResources.begin(), state.criticalResources.end(), [&](int a, int b) {
      return std::pair(-resources[size_t(a)], a) < std::pair(-resources[size_t(b)], b);
    });
    for (size_t t = 0; t < tracks.size(); ++t)
      if (tracks[t])
        state.criticalTracks.push_back(state.run.tracks[t].name);
  }

  void loads() {
    for (size_t t = 0; t < state.run.tracks.size(); ++t)
      state.engines.push_back({state.run.tracks[t].name, double(state.run.busy[t]) / state.cycles});
    std::sort(state.engines.begin(), state.engines.end(), [](const auto &a, const auto &b) {
      return a.share != b.share ? a.share > b.share : a.engine < b.engine;
    });
  }

  /// Cycles of a period with other stage counts; nothing for a deadlock.
  std::optional<double> cyclesWith(const std::vector<int> &members, int64_t stages) {
    StageOverrides overrides;
    for (int member : members)
      overrides[member] = stages;
    Elaboration run = elaborate(input, latencies, state.run.trips, overrides);
    spent += run.graph.nodes;
    CycleMean mean = maximumCycleMean(run.graph);
    return mean.kind == CycleMean::Kind::Cyclic ? std::optional(mean.ratio()) : std::nullopt;
  }

  void rings() {
    for (size_t r = 0; r < input.kernel.resources.size(); ++r) {
      const Resource &resource = input.kernel.resources[r];
      std::vector<int> members{int(r)};
      if (resource.kind == ResourceKind::Group)
        members = resource.members; // they have their stages in common
      bool used = std::any_of(members.begin(), members.end(), [&](int member) {
        return member >= 0 && state.run.slots[size_t(member)] > 0;
      });
      if (resource.group < 0 && used)
        ring(int(r), members);
    }
  }

  void ring(int resource, const std::vector<int> &members) {
    const Resource &first = input.kernel.resources[size_t(members.front())];
    if (!first.pipeline || spent > maxEvents)
      return;
    RingModel model;
    model.resource = resource;
    model.declared = first.pipeline->stages;
    std::optional<double> best = cyclesWith(members, -1);
    if (!best) {
      // No number of stages of this ring alone helps.
      state.rings.push_back(model);
      return;
    }
    int64_t stride =
        *std::max_element(first.pipeline->interleave.begin(), first.pipeline->interleave.end());
    stride = std::max<int64_t>(stride, 1);
    model.share = 0;
    for (int64_t stages = stride; stages <= maxStages && spent <= maxEvents; stages += stride) {
      if (model.fullRate && stages > model.declared)
        break;
      std::optional<double> cycles = cyclesWith(members, stages);
      if (!cycles)
        continue;
      double share = std::min(1.0, *best / *cycles);
      if (!model.deadlockFree)
        model.deadlockFree = stages;
      if (!model.fullRate)
        model.rates.push_back({stages, share});
      if (share >= fullShare && !model.fullRate)
        model.fullRate = stages;
      if (stages == model.declared)
        model.share = share;
    }
    model.waiter = waiter(members);
    state.rings.push_back(std::move(model));
  }

  /// The consumer that waits longest for the ring in the last period that was laid out.
  std::string waiter(const std::vector<int> &members) const {
    if (state.times.empty())
      return "";
    std::map<int, int64_t> waited; // also who never has to
    size_t base = size_t(state.shown - 1) * size_t(state.run.graph.nodes);
    for (const Interval &interval : state.run.intervals)
      if (interval.waiting && interval.label.starts_with("wait ") &&
          std::find(members.begin(), members.end(), interval.resource) != members.end())
        waited[interval.track] +=
            state.times[base + size_t(interval.to)] - state.times[base + size_t(interval.from)];
    auto most = std::max_element(waited.begin(), waited.end(),
                                 [](const auto &a, const auto &b) { return a.second < b.second; });
    return most == waited.end() ? "" : state.run.tracks[size_t(most->first)].name;
  }

  const KernelInput &input;
  const Latencies &latencies;
  SteadyState state;
  int64_t spent = 0;
};

} // namespace

SteadyState modelSteadyState(const KernelInput &input) { return Modeller(input).run(); }

//--- Text ---------------------------------------------------------------------------------------

static std::string stagesText(int64_t stages) {
  return std::to_string(stages) + (stages == 1 ? " stage" : " stages");
}

static std::string ringText(const KernelInput &input, const SteadyState &state,
                            const RingModel &ring) {
  std::string text = ring.waiter.empty() ? "" : ring.waiter + " waits on ";
  text += input.resourceName(ring.resource) + ": ";
  if (!ring.deadlockFree)
    return text + "no number of its stages alone (up to " + std::to_string(maxStages) +
           ") avoids the deadlock";
  // The last three that lead to the full rate say enough.
  size_t from = ring.rates.size() > 3 ? ring.rates.size() - 3 : 0;
  for (size_t i = from; i < ring.rates.size(); ++i) {
    const StageRate &rate = ring.rates[i];
    text += i == from ? stagesText(rate.stages) : ", " + std::to_string(rate.stages);
    text += (rate.stages == 1 ? " sustains " : " sustain ") + formatPercent(rate.share);
  }
  text += " (declared " + std::to_string(ring.declared);
  if (ring.fullRate && *ring.fullRate < ring.declared)
    text += ", " + std::to_string(ring.declared - *ring.fullRate) + " more than needed";
  if (ring.share > 0 && ring.share < fullShare)
    text += ": " + formatPercent(ring.share);
  if (ring.share == 0 && ring.declared < *ring.deadlockFree)
    text += ": deadlock" +
            (state.run.symbolic ? " with " + std::to_string(state.run.trips) + " iterations"
                                : std::string()) +
            ", needs " + std::to_string(*ring.deadlockFree);
  return text + ")";
}

std::string formatModel(const KernelInput &input, const SteadyState &state, bool brief) {
  const std::string prefix = "  model: ";
  if (!state.problem.empty())
    return prefix + "none: " + state.problem + "\n";
  std::string list;
  for (int resource : state.criticalResources)
    list += (list.empty() ? "" : ", ") + input.resourceName(resource);
  std::string text;
  if (state.deadlock) {
    text = prefix + "no steady state: a deadlock around " +
           (list.empty() ? "the order of the tasks" : list) + "\n";
  } else {
    const EngineLoad &busiest = state.engines.front();
    std::string unit = busiest.engine;
    std::replace(unit.begin(), unit.end(), ' ', '-');
    text = prefix +
           (busiest.share >= 0.9 ? unit + "-bound, " : "latency-bound, " + busiest.engine + " ") +
           formatPercent(std::min(busiest.share, 1.0)) +
           (busiest.share >= 0.9 ? " of peak; " : " busy; ");
    std::string tracks;
    for (const std::string &track : state.criticalTracks)
      tracks += (tracks.empty() ? "" : ", ") + track;
    text += list.empty() ? "critical: " + tracks : "critical ring " + list + " (" + tracks + ")";
    text += "; " + std::to_string(std::llround(state.cycles)) + " cycles per " +
            (state.run.persistent ? "tile" : "launch") +
            (state.run.symbolic ? " of " + std::to_string(state.run.trips) + " iterations" : "") +
            " by the table of " + state.chip + "\n";
  }
  for (const RingModel &ring : brief ? std::vector<RingModel>() : state.rings)
    text += prefix + ringText(input, state, ring) + "\n";
  if (!state.run.ignored.empty()) {
    text += prefix + "leaves out ";
    for (size_t i = 0; i < state.run.ignored.size(); ++i)
      text += (i ? ", " : "") + state.run.ignored[i];
    text += "\n";
  }
  return text;
}

} // namespace ts::reports
