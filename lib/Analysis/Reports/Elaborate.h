// One period of a kernel as an event graph: each task is walked once with fixed trip counts, each
// stage use gets a number, and arrivals are joined to the waits they let through. Internal to the
// reports.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_LIB_ANALYSIS_REPORTS_ELABORATE_H
#define TS_LIB_ANALYSIS_REPORTS_ELABORATE_H

#include "Work.h"
#include "ts/Analysis/Reports/SteadyState.h"

#include <algorithm>
#include <array>
#include <set>

namespace ts::reports {

class Elaborator {
public:
  Elaborator(const KernelInput &input, const Latencies &latencies, int64_t trips,
             const StageOverrides &overrides);
  Elaboration run();

private:
  static constexpr int maxNodes = 8000;
  static constexpr int64_t maxWalked = 100000; ///< steps, also those without an event
  /// Counters of one agent and one ring: acquire, commit, wait, release.
  using Uses = std::array<int64_t, 4>;
  enum Family : size_t { Wgmma, Bulk, CpAsync, numFamilies };

  /// A job that an agent gave to a unit.
  struct Issued {
    int node = -1;
    Unit unit = Unit::Threads;
    int64_t occupancy = 0, latency = 0;
  };
  struct GroupWait {
    int node = -1;
    int64_t group = 0; ///< number of the group it needs, negative: of an earlier period
  };
  /// A task, or one warp of it where its warps take turns with the stages.
  struct Agent {
    const schedule::Task *task = nullptr;
    int64_t lane = 0, lanes = 1;
    std::string name;
    int track = -1;
    int last = -1, start = -1;
    int64_t cost = 0; ///< from `last` to what comes next
    std::vector<Uses> uses;
    std::set<std::pair<int, int>> used;       ///< (ring, role)
    std::vector<std::vector<Issued>> pending; ///< by ring: bulk copies since the last commit
    std::array<Issued, numUnits> latest, first;
    std::array<std::vector<Issued>, numFamilies> groups;
    std::array<std::vector<GroupWait>, numFamilies> groupWaits;
    std::vector<int64_t> syncs; ///< by resource: named barriers and batons
  };
  struct LoopState {
    schedule::StepId id = -1;
    const schedule::Loop *loop = nullptr;
    int64_t iteration = 0, trips = 1;
  };
  struct Arrival {
    int node = -1;
    int64_t weight = 0, slot = 0;
  };
  struct Waiting {
    int node = -1;
    int64_t slot = 0;
  };
  struct Ring {
    std::array<std::vector<Arrival>, 2> arrivals; ///< full, empty
    std::array<std::vector<Waiting>, 2> waits;
  };

  void makeAgents();
  void walkPeriod(Agent &agent);
  void walk(Agent &agent, const std::vector<schedule::StepId> &steps);
  void loop(Agent &agent, schedule::StepId id);
  bool taken(const schedule::Guard &guard) const;
  void event(Agent &agent, const schedule::Step &step);
  void barrier(Agent &agent, const schedule::Step &step, protocol::Op op, int ring);
  void arrive(Agent &agent, int ring, protocol::Op op, int64_t slot);
  void rendezvous(Agent &agent, const schedule::Step &step);
  void baton(Agent &agent, const schedule::Step &step);
  void closeGroup(Agent &agent, Family family);
  void waitGroup(Agent &agent, const schedule::Step &step, Family family);
  void work(Agent &agent, const schedule::Step &step);

  int node();
  /// The next operation of the agent, `cost` long.
  int operation(Agent &agent, const schedule::Step &step, std::string label, int64_t cost);
  /// An operation that may block; returns the event of its going on.
  int blocking(Agent &agent, const schedule::Step &step, std::string label, int resource);
  void edge(int from, int to, int64_t weight, int64_t tokens, int tag);
  int trackTag(int track) const { return -2 - track; }
  int engineTrack(Unit unit);
  /// A slot count times a use count fits 64 bits.
  static int64_t modest(int64_t value) { return std::clamp<int64_t>(value, 1, int64_t(1) << 31); }
  int64_t slotOf(Agent &agent, int ring, protocol::Op op);
  void ignore(const std::string &what);

  void joinRings();
  void join(int ring, const std::vector<Waiting> &waits, const std::vector<Arrival> &arrivals,
            int64_t distance, int64_t slots);
  void joinGroups();
  void shareUnits();
  std::string ringProblem() const;

  const KernelInput &input;
  const Latencies &latencies;
  int64_t trips;
  int64_t walked = 0;
  const StageOverrides &overrides;
  Elaboration result;
  std::vector<Agent> agents;
  std::vector<Ring> rings;
  std::vector<std::vector<std::pair<int, int64_t>>> syncArrivals, syncWaits; ///< (node, k)
  std::vector<LoopState> loops;
  std::array<int, numUnits> unitTracks;
  std::array<std::vector<std::pair<int, Issued>>, numUnits> unitJobs; ///< with the agent
  bool dry = false;                                                   ///< counts stage uses only
};

} // namespace ts::reports

#endif // TS_LIB_ANALYSIS_REPORTS_ELABORATE_H
