// Asynchronous engines of a cluster: queues of operations that the scheduler lets go on piece by
// piece between their issue and their completion. What an operation does stands with its
// instruction. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_ENGINE_H
#define TS_EMULATOR_CORE_ENGINE_H

#include "State.h"

namespace ts::emu {

enum class EngineKind : uint32_t {
  TmaLoad,        // per (issuing warp, mbarrier address)
  BulkStore,      // per issuing warp: bulk groups
  CpAsync,        // per issuing warp: cp.async groups and arrivals
  Wgmma,          // per warpgroup: in order
  Tcgen05,        // mma, cp, shift, commit of an issuing CTA (pair): in order
  Tcgen05Arrival, // of commits of a warp, whose operations are complete: in any order
  TmemLoad,       // tcgen05.ld of a warp
  TmemStore,      // tcgen05.st of a warp
  Clc,            // cluster launch control
  AsyncStore,     // st.async, red.async: per (issuing warp, mbarrier address)
};
const char *engineName(EngineKind kind); // "TMA load", ...

/// The queue an operation waits in. Operations of an `ordered` channel complete in order; of
/// others in any order. Channels are also the actors that a scheduler may delay.
struct ChannelKey {
  EngineKind kind;
  uint64_t issuer = 0; // warp agent, or CTA rank for Tcgen05
  uint64_t tag = 0;    // mbarrier address, 0 where the kind has one queue per issuer
  bool operator==(const ChannelKey &) const = default;
};

class AsyncOp {
public:
  virtual ~AsyncOp() = default;
  /// At least 1; copies have at least 2, so that partial completion is seen.
  virtual unsigned pieces() const { return 1; }
  /// Does a piece; pieces of one operation may come in any order. May fault.
  virtual void perform(unsigned piece) = 0;
  /// After the last piece: arrivals, group counts.
  virtual void finish() {}
  /// Whether it may begin: false while it waits for something else than its queue.
  virtual bool ready() const { return true; }

  // Filled in by whoever issues it; for reports, history and trace.
  const CodeEntry *code = nullptr;
  Warp *warp = nullptr;
  uint32_t lane = 0;
  Event event; // of the channel's agent; published by what tracks the operation
};

class Engines {
public:
  explicit Engines(Cluster &cluster);
  ~Engines();
  /// `ordered`: completes after everything issued to the channel before.
  void issue(ChannelKey channel, bool ordered, std::unique_ptr<AsyncOp> op);
  bool idle() const;
  /// Operations of a channel that are not finished.
  unsigned outstanding(ChannelKey channel) const;

  // For the scheduler.
  struct Choice {
    uint32_t channel; // index
    uint32_t position, piece;
  };
  /// One choice per channel that can move (a random piece of a random eligible operation with
  /// `random`, else the first).
  void choices(std::vector<Choice> &out, uint64_t *random) const;
  void step(Choice choice);
  const AsyncOp *peek(Choice choice) const;
  const ChannelKey &key(uint32_t channel) const;
  unsigned numChannels() const;
  /// "TMA load of warp 4 at line 12: 1 of 2 pieces done", for the hang report.
  std::vector<Note> describe() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_ENGINE_H
