// What each barrier operation of each pipeline type does: which barrier it waits on, how, by whom
// and where it arrives, and the fences around that. The one table that verifier, prover and
// lowering read. It says nothing about how often an op is executed (Counts.h sums that up).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROTOCOL_ACTIONS_H
#define TS_ANALYSIS_PROTOCOL_ACTIONS_H

#include "ts/Analysis/Protocol/Slots.h"
#include "ts/Analysis/Protocol/Types.h"

namespace ts::protocol {

enum class ArrivalKind : uint8_t {
  None,
  ThreadArrive,        ///< mbarrier.arrive on the own CTA's barrier
  RemoteArrive,        ///< mbarrier.arrive on a mapped barrier (mapa), one per target CTA
  ElectedWarpArrive,   ///< one mbarrier.arrive by an elected lane per warp (remote if target says)
  ArriveExpectTx,      ///< mbarrier.arrive.expect_tx(bytes), one per target CTA
  CpAsyncArriveNoInc,  ///< cp.async.mbarrier.arrive.noinc, always the own CTA's barrier
  TcgenCommit,         ///< tcgen05.commit
  TcgenCommitMulticast ///< tcgen05.commit with a CTA mask
};

enum class Executor : uint8_t {
  EveryThread,
  ElectedLanePerWarp,
  OneThreadOfTask ///< an elected lane of the task's first warp
};

/// Which CTAs' barriers an arrival reaches; targetMask() turns the rule into ranks.
enum class Target : uint8_t {
  OwnCta,
  PairLeader, ///< the v = 0 CTA of the MMA pair
  Pair,       ///< every CTA of the pair where somebody waits on that barrier
  McastPeers, ///< CTAs that exchange multicast copies with this one
  McastPairs, ///< both CTAs of every pair that exchanges multicast copies with this one
  EveryCta,
  CtaZero
};

enum class Fence : uint8_t {
  WgmmaWaitGroup,    ///< wgmma.wait_group: nothing in flight reads the slot any more
  CpAsyncWaitAll,    ///< cp.async.wait_group 0 before a plain arrive stands for the copies
  BulkWaitGroupRead, ///< bulk stores out of the slot have read it (issuing thread)
  TcgenWaitLd,
  TcgenWaitSt,
  ProxyAsyncSharedCta, ///< fence.proxy.async.shared::cta
  TcgenBeforeThreadSync,
  TcgenAfterThreadSync,
  SyncWarp,     ///< the other lanes' accesses are done before the elected lane arrives
  MbarrierInit, ///< fence.mbarrier_init.release.cluster
  CtaSync,
  ClusterSync
};

struct WaitStep {
  Barrier barrier;
  int generationOffset; ///< awaited generation = slot generation + this
  unsigned startParity; ///< parity at slot 0
  bool blocking;        ///< false: one try_wait whose result is a hint for the blocking op
  Executor who;
  bool leaderOnly; ///< the other CTAs do not wait (their side signals through the leader)
};

struct ArriveStep {
  Barrier barrier;
  ArrivalKind kind;
  Executor who;
  Target target;
  bool leaderOnly; ///< executed by the leader CTA only, a no-op elsewhere
};

/// Emitted in this order: wait, afterWait, beforeArrive, arrive. All fences by every thread of the
/// task that accessed the stage.
struct Action {
  Op op;
  std::optional<WaitStep> wait;
  std::vector<Fence> afterWait;
  std::vector<Fence> beforeArrive;
  std::optional<ArriveStep> arrive;
  bool engineCompletes = false; ///< nothing to execute: the engine's complete_tx does it

  bool empty() const { return !wait && !arrive && afterWait.empty() && beforeArrive.empty(); }
};

Action actionFor(const PipelineSpec &spec, const ClusterSpec &cluster, Op op);
inline Action actionFor(const PipelineSpec &spec, Op op) {
  return actionFor(spec, ClusterSpec(), op);
}

/// The op whose execution arrives on a barrier: commit or release, acquire where it arms.
Op arrivingOp(PipelineType type, Barrier barrier);

/// CTAs whose `barrier` one arrival executed in `cta` reaches. `by` narrows commit masks to CTAs
/// that have somebody waiting there; ops nobody is known to execute do not narrow.
CtaMask targetMask(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by,
                   Barrier barrier, int64_t cta);

/// CTAs on which `role` waits when it executes `op` (pinning, signalling set; a TMA producer waits
/// on every CTA whatever the set).
CtaMask waitingCtas(const PipelineSpec &spec, const ClusterSpec &cluster, Op op,
                    const TaskRole &role);
/// CTAs on which `role` makes the arrival of `op` (also leader routing: of a pair only the leader
/// arms, and only the leader issues MMAs).
CtaMask arrivingCtas(const PipelineSpec &spec, const ClusterSpec &cluster, Op op,
                     const TaskRole &role);

/// Fences between two accesses to one stage inside a body, by the threads of the first.
std::vector<Fence> fencesBetween(SideAccess first, SideAccess second);

/// After barriers are initialised, before their first use.
std::vector<Fence> initFences(const ClusterSpec &cluster);

/// Whether the producer has to wait for its last `stages` slots before its CTA exits, because
/// somebody else's arrival (a peer's or an engine's) may still be on its way to its empty barriers.
bool needsDrain(const PipelineSpec &spec, const ClusterSpec &cluster);

std::string_view name(ArrivalKind kind);
std::string_view name(Executor who);
std::string_view name(Target target);
std::string_view name(Fence fence);
std::string toString(const Action &action);

} // namespace ts::protocol

#endif // TS_ANALYSIS_PROTOCOL_ACTIONS_H
