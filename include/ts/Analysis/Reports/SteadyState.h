// The model behind the rates that the reports print: what a kernel does once it runs evenly, from
// its event graph and the table of latencies. A model: it says which ring is the bottleneck and how
// many stages help, not how long a launch takes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_STEADYSTATE_H
#define TS_ANALYSIS_REPORTS_STEADYSTATE_H

#include "ts/Analysis/Reports/EventGraph.h"
#include "ts/Analysis/Reports/Input.h"
#include "ts/Analysis/Reports/Latencies.h"

namespace ts::reports {

/// What a node or an edge of the graph belongs to.
struct Track {
  bool engine = false;
  std::string name; ///< "mma", "tensor core"
};

/// A stretch of time of one period: from one event to another, or a fixed length from its start.
struct Interval {
  int track = -1;
  std::string label;
  schedule::LocId loc = -1;
  int from = -1, to = -1; ///< nodes; `to` -1: `length` long
  int64_t length = 0;
  bool waiting = false; ///< blocked on a barrier
  int resource = -1;    ///< of the barrier
};

struct Elaboration {
  std::string problem; ///< why there is no graph; empty if there is one
  EventGraph graph;    ///< tags: a resource, or -2 - track; -1 for neither
  std::vector<Track> tracks;
  std::vector<Interval> intervals;
  int64_t trips = 0;          ///< iterations that stand for a trip count that is not constant
  bool symbolic = false;      ///< there is such a trip count
  bool persistent = false;    ///< one period is a tile; otherwise the whole kernel, back to back
  std::vector<int64_t> slots; ///< stage uses per period, by resource; 0: no ring
  std::vector<int64_t> busy;  ///< cycles per period, by track
  std::vector<std::string> ignored; ///< what the model leaves out, one clause each
};

/// Stage counts to be tried instead of the declared ones; -1 unlimited, 0 as declared.
using StageOverrides = std::map<int, int64_t>;
Elaboration elaborate(const KernelInput &input, const Latencies &latencies, int64_t trips,
                      const StageOverrides &overrides = {});

struct StageRate {
  int64_t stages = 0;
  double share = 0; ///< of the rate with this ring unlimited
};

struct RingModel {
  int resource = -1;
  int64_t declared = 1;
  std::optional<int64_t> deadlockFree, fullRate; ///< smallest stage counts
  double share = 1;                              ///< of the full rate, with the declared stages
  std::vector<StageRate> rates;                  ///< for rising stage counts, up to the full rate
  std::string waiter;                            ///< task that spends the most time waiting for it
};

struct EngineLoad {
  std::string engine;
  double share = 0; ///< busy part of a period
};

struct SteadyState {
  std::string problem; ///< why there is no model; empty if there is one
  std::string chip;    ///< row of the table of latencies
  Elaboration run;
  std::vector<int64_t> times; ///< of `shown` periods, see earliestTimes()
  int shown = 0;
  bool deadlock = false;
  double cycles = 0; ///< of one period
  std::vector<int> criticalResources;
  std::vector<std::string> criticalTracks;
  std::vector<EngineLoad> engines; ///< busiest first
  std::vector<RingModel> rings;

  bool valid() const { return problem.empty() && !deadlock; }
};

SteadyState modelSteadyState(const KernelInput &input);

/// "model: tensor-core-bound, 97 % of peak; ...", and a line per ring unless `brief`.
std::string formatModel(const KernelInput &input, const SteadyState &state, bool brief = false);

} // namespace ts::reports

#endif // TS_ANALYSIS_REPORTS_STEADYSTATE_H
