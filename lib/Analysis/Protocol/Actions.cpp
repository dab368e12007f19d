// The action table: one row per pipeline type, one row per fence rule. Everything else here only
// resolves a row for a given cluster, signalling set and engine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Protocol/Actions.h"

#include <algorithm>

namespace ts::protocol {

namespace {

/// How the arrivals on one barrier are made.
struct ArrivalRow {
  Op op;
  ArrivalKind kind;
  Executor who;
  Target target;
  bool leaderOnly; ///< only the leader CTA (of the pair with UMMA, else CTA 0) makes it
};

struct TypeRow {
  ArrivalRow full, empty;
  Executor producerWaits, consumerWaits;
};

using A = ArrivalKind;
using X = Executor;
using T = Target;

constexpr TypeRow table[numPipelineTypes] = {
    // AsyncAsync: every CTA for itself.
    {{Op::Commit, A::ThreadArrive, X::EveryThread, T::OwnCta, false},
     {Op::Release, A::ThreadArrive, X::EveryThread, T::OwnCta, false},
     X::EveryThread,
     X::EveryThread},
    // TmaAsync: each arming warp arms the bytes of its own copies when it acquires.
    {{Op::Acquire, A::ArriveExpectTx, X::ElectedLanePerWarp, T::OwnCta, false},
     {Op::Release, A::ElectedWarpArrive, X::ElectedLanePerWarp, T::McastPeers, false},
     X::ElectedLanePerWarp,
     X::EveryThread},
    // TmaUmma: the leader of a pair arms for both; whether both commit is the consumer's
    // signalling.
    {{Op::Acquire, A::ArriveExpectTx, X::ElectedLanePerWarp, T::OwnCta, true},
     {Op::Release, A::TcgenCommit, X::OneThreadOfTask, T::McastPairs, false},
     X::ElectedLanePerWarp,
     X::OneThreadOfTask},
    // UmmaAsync: both CTAs of a pair hold half of the result, the leader hears when both are done.
    {{Op::Commit, A::TcgenCommit, X::OneThreadOfTask, T::Pair, true},
     {Op::Release, A::ThreadArrive, X::EveryThread, T::PairLeader, false},
     X::OneThreadOfTask,
     X::EveryThread},
    // AsyncUmma: the mirror image.
    {{Op::Commit, A::ThreadArrive, X::EveryThread, T::PairLeader, false},
     {Op::Release, A::TcgenCommit, X::OneThreadOfTask, T::Pair, true},
     X::EveryThread,
     X::OneThreadOfTask},
    // UmmaUmma: both ends are the leader's tensor core.
    {{Op::Commit, A::TcgenCommit, X::OneThreadOfTask, T::Pair, true},
     {Op::Release, A::TcgenCommit, X::OneThreadOfTask, T::Pair, true},
     X::OneThreadOfTask,
     X::OneThreadOfTask},
    // ClcFetchAsync: CTA 0 asks for all, so it arms every CTA and waits for all of them.
    {{Op::Acquire, A::ArriveExpectTx, X::OneThreadOfTask, T::EveryCta, true},
     {Op::Release, A::ThreadArrive, X::EveryThread, T::CtaZero, false},
     X::OneThreadOfTask,
     X::EveryThread},
};

constexpr EngineSet asyncProxy = EngineTma | EngineUmma | EngineUtccp | EngineWgmma | EngineClc;
constexpr EngineSet tmemThreads = EngineTmemLoad | EngineTmemStore;
constexpr EngineSet tcgen = tmemThreads | EngineUmma | EngineUtccp;
constexpr EngineSet anything = 0xffff;

enum class Place : uint8_t { AfterOpening, BeforeClosing, BeforeRelease };
enum class Arrives : uint8_t { Any, AsThread, ByCpAsync };

/// "When this side did `mine` and the other side does `other`, put `fence` there." In emission
/// order.
struct FenceRule {
  Place place;
  EngineSet myReads, myWrites,
      other; ///< a read or write of mine in the set triggers; other must meet
  Arrives arrives;
  Fence fence;
};

constexpr FenceRule fenceRules[] = {
    // tcgen05 work or its results pass between threads: order what follows the synchronisation.
    {Place::AfterOpening, tcgen, tcgen, tcgen, Arrives::Any, Fence::TcgenAfterThreadSync},
    // cp.async data (generic proxy) arrives by itself: the waiting thread makes it visible.
    {Place::AfterOpening, asyncProxy, asyncProxy, EngineCpAsync, Arrives::ByCpAsync,
     Fence::ProxyAsyncSharedCta},
    // What is still in flight must have ended before a thread says so.
    {Place::BeforeClosing, EngineWgmma, EngineWgmma, anything, Arrives::AsThread,
     Fence::WgmmaWaitGroup},
    {Place::BeforeClosing, 0, EngineCpAsync, anything, Arrives::AsThread, Fence::CpAsyncWaitAll},
    {Place::BeforeClosing, EngineTmemLoad, 0, anything, Arrives::AsThread, Fence::TcgenWaitLd},
    {Place::BeforeClosing, 0, EngineTmemStore, anything, Arrives::AsThread, Fence::TcgenWaitSt},
    {Place::BeforeClosing, EngineTma, 0, anything, Arrives::AsThread, Fence::BulkWaitGroupRead},
    // Generic writes that an async engine reads or overwrites next, through this ring or another
    // one on the same bytes. A generic read needs none...
    {Place::BeforeClosing, 0, EngineGeneric | EngineCpAsync, asyncProxy, Arrives::AsThread,
     Fence::ProxyAsyncSharedCta},
    // ... but a CLC response that was read is refetched over.
    {Place::BeforeRelease, EngineGeneric, 0, EngineClc, Arrives::AsThread,
     Fence::ProxyAsyncSharedCta},
    {Place::BeforeClosing, tmemThreads, tmemThreads, anything, Arrives::AsThread,
     Fence::TcgenBeforeThreadSync},
};

bool applies(Place place, Op op) {
  switch (place) {
  case Place::AfterOpening:
    return op == Op::Acquire || op == Op::Wait;
  case Place::BeforeClosing:
    return op == Op::Commit || op == Op::Release;
  case Place::BeforeRelease:
    return op == Op::Release;
  }
  return false;
}

bool asThread(ArrivalKind kind) {
  return kind == A::ThreadArrive || kind == A::RemoteArrive || kind == A::ElectedWarpArrive;
}

const ArrivalRow &rowOf(PipelineType type, Barrier barrier) {
  const TypeRow &row = table[unsigned(type)];
  return barrier == Barrier::Full ? row.full : row.empty;
}

SignalSet signalOf(const PipelineSpec &spec, Op op) {
  if (sideOf(op) == Side::Producer)
    return spec.producerSignal;
  bool waits = op == Op::Wait || op == Op::TryWait;
  return waits && spec.consumerWaitSignal ? *spec.consumerWaitSignal : spec.consumerSignal;
}

/// CTAs that count as leaders: of each MMA pair where an MMA takes part, else CTA 0.
CtaMask leaderCtas(const PipelineSpec &spec, const CtaGrid &grid) {
  if (!hasUmmaSide(spec.type))
    return 1;
  CtaMask mask = 0;
  for (int64_t cta = 0; cta < grid.size(); cta += grid.pairSize())
    mask |= CtaMask(1) << cta;
  return mask;
}

/// Whether only leaders wait: a TMA producer fills its own CTA's stages whatever the signalling.
bool leadersWait(const PipelineSpec &spec, Op op) {
  if (sideOf(op) == Side::Producer && hasTmaProducer(spec.type))
    return false;
  return (signalOf(spec, op) & SignalCtaLeader) ||
         (sideOf(op) == Side::Producer && producerKind(spec.type) == SideKind::Clc);
}

CtaMask pinnedMask(const CtaGrid &grid, const TaskRole &role) {
  // A pipeline whose layout is one CTA sees only its own CTA, whichever that is.
  if (role.pinnedCta < 0 || grid.size() == 1)
    return grid.all();
  return role.pinnedCta < grid.size() ? CtaMask(1) << role.pinnedCta : 0;
}

CtaMask ruleMask(const PipelineSpec &spec, const CtaGrid &grid, Target target, int64_t cta) {
  switch (target) {
  case T::OwnCta:
    return CtaMask(1) << cta;
  case T::PairLeader:
    return CtaMask(1) << grid.pairLeader(cta);
  case T::Pair:
    return grid.pairOf(cta);
  case T::McastPeers:
    return grid.peers(cta, spec.multicast);
  case T::McastPairs:
    return grid.peerPairs(cta, spec.multicast);
  case T::EveryCta:
    return grid.all();
  case T::CtaZero:
    return 1;
  }
  return 0;
}

/// The row for this pipeline: signalling, cp.async, release style and cluster applied.
ArriveStep resolve(const PipelineSpec &spec, const CtaGrid &grid, Barrier barrier) {
  const ArrivalRow &row = rowOf(spec.type, barrier);
  ArriveStep step{barrier, row.kind, row.who, row.target, row.leaderOnly};
  if (barrier == Barrier::Full) {
    if (hasTmaProducer(spec.type) && (spec.producerSignal & SignalTaskWarpLeader))
      step.who = X::OneThreadOfTask;
    if (spec.asyncLoad && step.kind == A::ThreadArrive) {
      step.kind = A::CpAsyncArriveNoInc;
      step.target = T::OwnCta;
    }
    step.leaderOnly |= bool(spec.producerSignal & SignalCtaLeader);
  } else {
    if (step.kind == A::ElectedWarpArrive && spec.releaseStyle == ReleaseStyle::PerThread) {
      step.kind = A::ThreadArrive;
      step.who = X::EveryThread;
    }
    if (step.target == T::McastPairs && spec.commitMask == CommitMask::WholeCluster)
      step.target = T::EveryCta;
    step.leaderOnly |= bool(spec.consumerSignal & SignalCtaLeader);
  }
  // Each warp that owns a lane issues its own MMAs and commits them.
  if (step.kind == A::TcgenCommit && spec.stride(row.op) > 1)
    step.who = X::ElectedLanePerWarp;
  bool elsewhere = false;
  for (int64_t cta = 0; cta < grid.size(); ++cta)
    elsewhere |= ruleMask(spec, grid, step.target, cta) != CtaMask(1) << cta;
  // One CTA, or rules that lead nowhere else: say so, the lowering need not know the cluster.
  if (!elsewhere)
    step.target = T::OwnCta;
  if (leaderCtas(spec, grid) == grid.all())
    step.leaderOnly = false;
  if (elsewhere && step.kind == A::ThreadArrive)
    step.kind = A::RemoteArrive;
  if (elsewhere && step.kind == A::TcgenCommit)
    step.kind = A::TcgenCommitMulticast;
  return step;
}

} // namespace

Op arrivingOp(PipelineType type, Barrier barrier) { return rowOf(type, barrier).op; }

Action actionFor(const PipelineSpec &spec, const ClusterSpec &cluster, Op op) {
  CtaGrid grid(spec, cluster);
  const TypeRow &row = table[unsigned(spec.type)];
  bool producer = sideOf(op) == Side::Producer;
  Side side = producer ? Side::Producer : Side::Consumer;
  Action action;
  action.op = op;

  if (op != Op::Commit && op != Op::Release) {
    Executor who = producer ? row.producerWaits : row.consumerWaits;
    if (who == X::OneThreadOfTask && spec.stride(op) > 1)
      who = X::ElectedLanePerWarp;
    bool blocking = op == Op::Acquire || op == Op::Wait;
    bool leaderOnly = leadersWait(spec, op) && leaderCtas(spec, grid) != grid.all();
    action.wait = WaitStep{producer ? Barrier::Empty : Barrier::Full,
                           int(awaitedGeneration(side, 0)),
                           waitParity(side, 0),
                           blocking,
                           who,
                           leaderOnly};
  }
  for (Barrier barrier : {Barrier::Full, Barrier::Empty})
    if (arrivingOp(spec.type, barrier) == op)
      action.arrive = resolve(spec, grid, barrier);
  action.engineCompletes = op == Op::Commit && !action.arrive;

  SideAccess mine = accessOf(spec, side);
  EngineSet other = accessOf(spec, producer ? Side::Consumer : Side::Producer).any();
  // Who completes the barrier that an opening op waited for decides what is still to be ordered.
  ArrivalKind kind = action.wait ? resolve(spec, grid, action.wait->barrier).kind
                                 : (action.arrive ? action.arrive->kind : A::None);
  for (const FenceRule &rule : fenceRules) {
    bool touched = (rule.myReads & mine.reads) || (rule.myWrites & mine.writes);
    EngineSet meets = rule.fence == Fence::ProxyAsyncSharedCta ? other | spec.overlaid : other;
    bool met = rule.other == anything || (rule.other & meets);
    bool fits = rule.arrives == Arrives::Any ||
                (rule.arrives == Arrives::AsThread && asThread(kind)) ||
                (rule.arrives == Arrives::ByCpAsync && kind == A::CpAsyncArriveNoInc);
    if (!applies(rule.place, op) || !touched || !met || !fits)
      continue;
    auto &list = rule.place == Place::AfterOpening ? action.afterWait : action.beforeArrive;
    if (std::find(list.begin(), list.end(), rule.fence) == list.end())
      list.push_back(rule.fence);
  }
  if (action.arrive && action.arrive->kind == A::ElectedWarpArrive)
    action.beforeArrive.push_back(Fence::SyncWarp);
  return action;
}

CtaMask waitingCtas(const PipelineSpec &spec, const ClusterSpec &cluster, Op op,
                    const TaskRole &role) {
  CtaGrid grid(spec, cluster);
  CtaMask mask = pinnedMask(grid, role);
  return leadersWait(spec, op) ? mask & leaderCtas(spec, grid) : mask;
}

CtaMask arrivingCtas(const PipelineSpec &spec, const ClusterSpec &cluster, Op op,
                     const TaskRole &role) {
  CtaGrid grid(spec, cluster);
  CtaMask mask = pinnedMask(grid, role);
  Barrier barrier = sideOf(op) == Side::Producer ? Barrier::Full : Barrier::Empty;
  return resolve(spec, grid, barrier).leaderOnly ? mask & leaderCtas(spec, grid) : mask;
}

CtaMask targetMask(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by,
                   Barrier barrier, int64_t cta) {
  CtaGrid grid(spec, cluster);
  Target target = resolve(spec, grid, barrier).target;
  CtaMask mask = ruleMask(spec, grid, target, cta);
  if (target != T::Pair && target != T::McastPairs && target != T::McastPeers)
    return mask;
  Op waits = barrier == Barrier::Full ? Op::Wait : Op::Acquire;
  CtaMask waiting = 0;
  for (const TaskRole &role : by.of(waits))
    waiting |= waitingCtas(spec, cluster, waits, role);
  return mask & waiting ? mask & waiting : mask;
}

std::vector<Fence> fencesBetween(SideAccess first, SideAccess second) {
  std::vector<Fence> fences;
  if (first.any() & EngineWgmma)
    fences.push_back(Fence::WgmmaWaitGroup);
  if (first.writes & EngineCpAsync)
    fences.push_back(Fence::CpAsyncWaitAll);
  if (first.reads & EngineTmemLoad)
    fences.push_back(Fence::TcgenWaitLd);
  if (first.writes & EngineTmemStore)
    fences.push_back(Fence::TcgenWaitSt);
  if (first.reads & EngineTma)
    fences.push_back(Fence::BulkWaitGroupRead);
  if ((first.writes & (EngineGeneric | EngineCpAsync)) && (second.any() & asyncProxy))
    fences.push_back(Fence::ProxyAsyncSharedCta);
  return fences;
}

std::vector<Fence> initFences(const ClusterSpec &cluster) {
  bool single = cluster.shape == std::array<int64_t, 3>{1, 1, 1};
  return {Fence::MbarrierInit, single ? Fence::CtaSync : Fence::ClusterSync};
}

bool needsDrain(const PipelineSpec &spec, const ClusterSpec &cluster) {
  ArriveStep empty = resolve(spec, CtaGrid(spec, cluster), Barrier::Empty);
  if (empty.kind == A::ElectedWarpArrive)
    return CtaGrid(spec, cluster).size() > 1;
  return empty.kind != A::ThreadArrive;
}

std::string_view name(ArrivalKind kind) {
  constexpr std::string_view names[] = {"none",
                                        "thread_arrive",
                                        "remote_arrive",
                                        "elected_warp_arrive",
                                        "arrive_expect_tx",
                                        "cp_async_arrive_noinc",
                                        "tcgen_commit",
                                        "tcgen_commit_multicast"};
  return names[unsigned(kind)];
}

std::string_view name(Executor who) {
  constexpr std::string_view names[] = {"every_thread", "elected_lane_per_warp",
                                        "one_thread_of_task"};
  return names[unsigned(who)];
}

std::string_view name(Target target) {
  constexpr std::string_view names[] = {"own_cta",     "pair_leader", "pair",    "mcast_peers",
                                        "mcast_pairs", "every_cta",   "cta_zero"};
  return names[unsigned(target)];
}

std::string_view name(Fence fence) {
  constexpr std::string_view names[] = {"wgmma_wait_group",
                                        "cp_async_wait_all",
                                        "bulk_wait_group_read",
                                        "tcgen_wait_ld",
                                        "tcgen_wait_st",
                                        "proxy_async_shared_cta",
                                        "tcgen_before_thread_sync",
                                        "tcgen_after_thread_sync",
                                        "sync_warp",
                                        "mbarrier_init",
                                        "cta_sync",
                                        "cluster_sync"};
  return names[unsigned(fence)];
}

std::string toString(const Action &action) {
  std::string text;
  auto add = [&](std::string piece) { text += (text.empty() ? "" : "; ") + std::move(piece); };
  if (action.wait)
    add(std::string(action.wait->blocking ? "wait " : "try ") +
        std::string(name(action.wait->barrier)) + " generation " +
        (action.wait->generationOffset ? "g-1" : "g") + " parity " +
        std::to_string(action.wait->startParity) + " by " + std::string(name(action.wait->who)) +
        (action.wait->leaderOnly ? ", leader CTA only" : ""));
  for (Fence fence : action.afterWait)
    add(std::string(name(fence)));
  for (Fence fence : action.beforeArrive)
    add(std::string(name(fence)));
  if (action.arrive)
    add(std::string(name(action.arrive->kind)) + " on " +
        std::string(name(action.arrive->barrier)) + " of " +
        std::string(name(action.arrive->target)) + " by " + std::string(name(action.arrive->who)) +
        (action.arrive->leaderOnly ? ", leader CTA only" : ""));
  if (action.engineCompletes)
    add("nothing, the engine completes the bytes");
  return text;
}

} // namespace ts::protocol
