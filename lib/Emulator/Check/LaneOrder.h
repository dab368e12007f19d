// Order between the lanes of one warp. To the clocks a warp is one agent; what one lane wrote to
// shared memory may be read by another one, or by an engine that another one starts, only behind a
// synchronisation of the warp. Kept as who wrote a byte last, and in which interval between two
// synchronisations. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CHECK_LANEORDER_H
#define TS_EMULATOR_CHECK_LANEORDER_H

#include "Checker.h"

#include <optional>

namespace ts::emu {

class LaneOrder {
public:
  LaneOrder(unsigned ctas, size_t warps) : written(ctas), intervals(warps, 1), partial(warps) {}

  /// bar.warp.sync, or anything else that orders the lanes of a warp.
  void synchronised(AgentId warp);
  void wrote(AgentId warp, unsigned lane, SharedRange range, uint32_t sharedBytes);
  /// The bytes hold something else now (a strong store).
  void forget(SharedRange range);
  struct Other {
    unsigned lane;
    uint32_t at; // the first such byte
  };
  /// Another lane of the warp that wrote one of the bytes since the last synchronisation.
  std::optional<Other> unordered(AgentId warp, unsigned lane, SharedRange range) const;

  /// Some lanes have waited for events of an engine: (from, to] of its agent.
  void learned(AgentId warp, uint32_t lanes, AgentId engine, uint32_t from, uint32_t to);
  /// The lanes that know an event which the warp's clock knows: all, or those that have waited.
  uint32_t knowing(AgentId warp, Event event) const;

private:
  // A code of `written`: agent, lane, interval; 0: no lane.
  static constexpr uint32_t intervalBits = 18, laneBits = 5;
  static uint32_t codeOf(AgentId warp, unsigned lane, uint32_t interval) {
    return (warp << laneBits | lane) << intervalBits | interval;
  }
  static constexpr uint32_t laneMask = ((1u << laneBits) - 1) << intervalBits;

  struct Knowledge {
    AgentId engine;
    uint32_t from, to, lanes;
  };
  std::vector<std::vector<uint32_t>> written;  // by CTA and byte; empty before the first store
  std::vector<uint32_t> intervals;             // by warp
  std::vector<std::vector<Knowledge>> partial; // by warp, since the last synchronisation
};

} // namespace ts::emu

#endif // TS_EMULATOR_CHECK_LANEORDER_H
