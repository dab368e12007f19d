// What an agent knows of the others: vector clocks. Agents are warps and engine channels (a channel
// is a sequence of asynchronous operations that completes in order, or is waited for as a prefix).
// Three vectors are kept: what happened before (`order`), which generic-proxy accesses a
// fence.proxy.async has made visible to engines (`proxy`), and what tcgen05 fences have let through
// (`tensor`). Not the accesses themselves: that is the Shadow. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#ifndef TS_EMULATOR_CHECK_CLOCK_H
#define TS_EMULATOR_CHECK_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ts::emu {

using AgentId = uint32_t;

struct Event {
  AgentId agent = 0;
  uint32_t time = 0; // 1-based; 0 is before everything
};

class ClockVector {
public:
  uint32_t operator[](AgentId agent) const { return agent < times.size() ? times[agent] : 0; }
  bool knows(Event event) const { return (*this)[event.agent] >= event.time; }
  void learn(Event event) {
    if (event.agent >= times.size())
      times.resize(event.agent + 1, 0);
    times[event.agent] = std::max(times[event.agent], event.time);
  }
  void join(const ClockVector &other) {
    if (times.size() < other.times.size())
      times.resize(other.times.size(), 0);
    for (size_t i = 0; i < other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }
  /// Of that agent only what is not later than the event.
  void limit(Event event) {
    if (event.agent < times.size())
      times[event.agent] = std::min(times[event.agent], event.time);
  }
  void clear() { times.clear(); }
  bool empty() const { return times.empty(); }

private:
  std::vector<uint32_t> times;
};

struct Clock {
  ClockVector order;
  ClockVector proxy;         // generic accesses visible to the async proxy
  ClockVector tensor;        // tcgen05 accesses ordered before this agent's next tcgen05 access
  ClockVector tensorOffered; // before_thread_sync took place: what a partner may take over
  ClockVector tensorTaken;   // received with a synchronisation, waits for after_thread_sync

  /// What a synchronisation hands from its releasing side to its acquiring side.
  void acquire(const Clock &released) {
    order.join(released.order);
    proxy.join(released.proxy);
    tensorTaken.join(released.tensorOffered);
  }
  void joinAll(const Clock &other) { // accumulate several releases, as a barrier does
    order.join(other.order);
    proxy.join(other.proxy);
    tensorOffered.join(other.tensorOffered);
  }
};

} // namespace ts::emu

#endif // TS_EMULATOR_CHECK_CLOCK_H
