// Slot arithmetic: which stage, generation and parity a stage use has, and which slots a lane owns.
// Not about who arrives or how often (Counts.h).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROTOCOL_SLOTS_H
#define TS_ANALYSIS_PROTOCOL_SLOTS_H

#include "ts/Analysis/Protocol/Types.h"

namespace ts::protocol {

/// Slot q is the q-th stage use in resource order.
inline int64_t stageOf(int64_t slot, int64_t stages) { return slot % stages; }
inline int64_t generationOf(int64_t slot, int64_t stages) { return slot / stages; }

/// The k-th use of lane `lane` when `stride` lanes share the slots.
inline int64_t laneSlot(int64_t lane, int64_t k, int64_t stride) { return lane + k * stride; }
inline int64_t laneOfSlot(int64_t slot, int64_t stride) { return slot % stride; }

/// The generation that an opening op waits for: a consumer for its own, a producer for the one
/// before (-1: never completed, passes at once).
inline int64_t awaitedGeneration(Side side, int64_t generation) {
  return side == Side::Producer ? generation - 1 : generation;
}

/// Parity operand of mbarrier.try_wait.parity that passes once phase `generation` has completed.
inline unsigned parityOf(int64_t generation) { return unsigned(generation & 1); }
inline unsigned waitParity(Side side, int64_t generation) {
  return parityOf(awaitedGeneration(side, generation));
}

/// One lane's position in a ring, as the lowering carries it through loops.
struct Cursor {
  int64_t stage = 0;
  unsigned parity = 0; ///< of the wait at this position

  static Cursor start(Side side, int64_t lane = 0, int64_t stages = 1) {
    stages = stages < 1 ? 1 : stages;
    return {lane % stages, waitParity(side, lane / stages)};
  }
  /// Moves by `stride` slots. Crossing the end flips the parity once per lap.
  void advance(int64_t stages, int64_t stride = 1) {
    stages = stages < 1 ? 1 : stages;
    // Unsigned, since two numbers below `stages` may add up to more than 63 bits.
    uint64_t next = uint64_t(stage) + uint64_t(stride % stages);
    bool crosses = next >= uint64_t(stages);
    parity ^= unsigned((stride / stages + crosses) & 1);
    stage = int64_t(crosses ? next - uint64_t(stages) : next);
  }
};

/// How a task with a stride-N role finds its lane.
enum class LaneMode : uint8_t {
  Single, ///< stride 1
  Warp,   ///< lane = warp within the task; the task has N warps
  Domain, ///< lane = domain start; one sibling task per lane, step N, warps != N
  Unknown ///< neither: a fault of check 21
};
LaneMode laneMode(const TaskRole &role, int64_t stride);
/// Lane of a Domain-mode task.
inline int64_t domainLane(const TaskRole &role, int64_t stride) {
  return role.domainStart.value_or(0) % stride;
}

/// Which cursor an op moves. A side has one cursor, moved by its closing op, unless the advance
/// flag is set or the task does not execute the other op: then opening and closing op have their
/// own.
enum class CursorMove : uint8_t { None, Shared, Opening, Closing };
struct CursorRule {
  CursorMove uses; ///< cursor that gives stage and parity
  bool advances;   ///< whether the op moves it
};
CursorRule cursorRule(const PipelineSpec &spec, Op op, bool taskOpens, bool taskCloses);

} // namespace ts::protocol

#endif // TS_ANALYSIS_PROTOCOL_SLOTS_H
