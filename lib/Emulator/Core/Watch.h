// Watches a cluster that has changed nothing for long, to tell an endless loop from a long one: an
// endless one has been in the same state before, or polls. Costs nothing until a cluster is
// watched. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_WATCH_H
#define TS_EMULATOR_CORE_WATCH_H

#include "State.h"

#include <optional>

namespace ts::emu {

/// What an instruction can see of some lanes of a warp and nobody else can: where their splits are,
/// their registers, their local memory. As long as memory and barriers stay as they are, lanes that
/// are in such a state twice are in it for ever.
class LaneState {
public:
  void save(const Warp &warp, uint32_t lanes);
  bool equals(const Warp &warp, uint32_t lanes) const;

private:
  struct Place { // of a register lane
    uint32_t split = 0, frame = 0, slot = 0, lane = 0;
  };
  template <class Sink> static bool visit(const Warp &warp, uint32_t lanes, Sink &&sink);
  bool differsAtHint(const Warp &warp) const;

  std::vector<uint64_t> words;
  std::vector<std::pair<uint32_t, uint32_t>> places; // mask and pc of the splits
  /// The register that differed at the last comparison: a loop's counter differs at each.
  mutable std::optional<std::pair<Place, uint64_t>> hint;
};

class Watch {
public:
  explicit Watch(const Cluster &cluster) : cluster(cluster), since(cluster.lastChange) {}

  /// False once something has changed: what was seen before counts no more.
  bool holds() const { return cluster.lastChange == since; }
  /// Only what is seen from now on counts, and no verdict before `steps` more; once for each `key`.
  void restart(uint64_t key, uint64_t steps);
  /// `lanes` of a warp have executed one instruction.
  void stepped(const Warp &warp, uint32_t lanes, bool polled);
  /// Whether nothing can go on by itself: all lanes are blocked, poll, or go round in a state in
  /// which they have been before.
  bool standsStill() const;

private:
  /// Lanes that have run together since the watch began: what they do depends on no others.
  struct Group {
    explicit Group(uint32_t lanes) : lanes(lanes) {}
    uint32_t lanes;
    uint64_t steps = 0;
    uint64_t polledAt = 0; // of `steps`; 0: never
    // Brent's search: compare with a state that is saved anew each time after twice as many steps.
    uint64_t power = 0, sinceSaved = 0;
    bool cameBack = false; // for good: what the lanes see is the same as before
    LaneState saved;
  };
  Group &groupOf(const Warp &warp, uint32_t lanes);
  static bool polls(const Group &group);
  static void compare(const Warp &warp, Group &group);

  const Cluster &cluster;
  uint64_t since;
  uint64_t key = 0, verdictFrom = 0;
  std::unordered_map<const Warp *, std::vector<Group>> groups;
};

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_WATCH_H
