// A timed event graph and its maximum cycle ratio. An edge says that the k-th occurrence of `to`
// comes at least `weight` after occurrence k - tokens of `from`. It knows nothing of kernels
// (Elaborate.h makes one from a schedule).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_EVENTGRAPH_H
#define TS_ANALYSIS_REPORTS_EVENTGRAPH_H

#include <cstdint>
#include <vector>

namespace ts::reports {

struct EventEdge {
  int from = -1, to = -1;
  int64_t weight = 0, tokens = 0;
  int tag = -1; ///< the client's: which ring, task or engine the edge stands for
};

struct EventGraph {
  int nodes = 0;
  std::vector<EventEdge> edges;
};

struct CycleMean {
  enum class Kind : uint8_t { Cyclic, Acyclic, Deadlock, Cut };
  Kind kind = Kind::Acyclic;
  int64_t weight = 0, tokens = 0; ///< of the critical cycle; of the dead one, tokens are <= 0
  std::vector<int> cycle;         ///< edges in order

  double ratio() const { return tokens > 0 ? double(weight) / double(tokens) : 0; }
};

/// Largest weight / tokens over all cycles, by Howard's policy iteration on each strongly connected
/// component. A cycle without tokens (or with less) is a deadlock whatever the weights are.
CycleMean maximumCycleMean(const EventGraph &graph);

/// Earliest times of occurrences 0 ... count - 1, time[k * nodes + v]; empty after a deadlock.
std::vector<int64_t> earliestTimes(const EventGraph &graph, int count);

} // namespace ts::reports

#endif // TS_ANALYSIS_REPORTS_EVENTGRAPH_H
