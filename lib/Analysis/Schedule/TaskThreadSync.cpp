// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the warps of one task learn of each other: barriers, rings, batons and groups of copies.
#include "TaskThreads.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
namespace proto = ::ts::protocol;

bool TaskThreads::synchronise(Operation *op, const Scope &scope) {
  using proto::Op;
  llvm::BitVector who = warpsOf(scope.threads);
  bool certain = scope.certain();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](AcquireOp o) { return ringOp(Op::Acquire, o->getOperand(0), scope), true; })
      .Case([&](CommitOp o) { return ringOp(Op::Commit, o->getOperand(0), scope), true; })
      .Case([&](WaitOp o) { return ringOp(Op::Wait, o->getOperand(0), scope), true; })
      .Case([&](ReleaseOp o) { return ringOp(Op::Release, o->getOperand(0), scope), true; })
      .Case([&](BarrierSyncOp o) { return barrier(o.getBarrier(), true, scope), true; })
      .Case([&](BarrierArriveOp o) { return barrier(o.getBarrier(), false, scope), true; })
      .Case([&](ClusterSyncOp) { return races->meet(who, certain), true; })
      .Case([&](WarpSyncOp) {
        if (!scope.undecided)
          races->meetLanes(who);
        return true;
      })
      .Case([&](PassOp o) {
        // All warps of the holder hand it on, and all warps of the next take it.
        Knowledge mine = races->knowledge(who);
        if (!scope.always())
          mine.sure.assign(warps, 0);
        arrived[o->getOperand(0)] = std::move(mine);
        return true;
      })
      .Case([&](TakeOp o) {
        if (auto it = arrived.find(o->getOperand(0)); it != arrived.end())
          races->learn(who, it->second, certain);
        return true;
      })
      .Case([&](MbarrierArriveOp o) {
        electedArrival(o, scope);
        Knowledge mine = races->knowledge(who);
        auto [it, isNew] = arrived.try_emplace(o.getBarrier(), mine);
        if (!isNew)
          for (unsigned warp = 0; warp < warps; ++warp) {
            it->second.sure[warp] = std::max(it->second.sure[warp], mine.sure[warp]);
            it->second.maybe[warp] = std::max(it->second.maybe[warp], mine.maybe[warp]);
          }
        return true;
      })
      .Case([&](MbarrierWaitOp o) {
        // Nothing here says which phase it waits for.
        if (auto it = arrived.find(o.getBarrier()); it != arrived.end())
          races->learn(who, it->second, false);
        return true;
      })
      .Case<BulkCommitOp>([&](auto) { return races->commitGroup(Completion::Bulk, who), true; })
      .Case([&](BulkWaitOp o) {
        return races->waitGroups(Completion::Bulk, o.getPending(), who), true;
      })
      .Case<WgmmaCommitOp>([&](auto) { return races->commitGroup(Completion::Wgmma, who), true; })
      .Case([&](WgmmaWaitOp o) {
        return races->waitGroups(Completion::Wgmma, o.getPending(), who), true;
      })
      .Case<CpAsyncCommitOp>(
          [&](auto) { return races->commitGroup(Completion::CpAsync, who), true; })
      .Case([&](CpAsyncWaitOp o) {
        return races->waitGroups(Completion::CpAsync, o.getPending(), who), true;
      })
      .Default(false);
}

//===-- One lane for all ---------------------------------------------------------------------===//

/// Rings let their lanes meet by themselves, and copies complete on their own.
void TaskThreads::remember(const ThreadAccess &access) {
  const auto &kernel = context.model.kernel;
  int resource = kernel.allocations[size_t(access.allocation)].resource;
  if (access.engine || access.byLanes || access.undecided || !access.conditions.empty() ||
      access.completion != Completion::AtOnce ||
      (resource >= 0 && kernel.resources[size_t(resource)].pipeline))
    return;
  byLane[access.op] = access;
}

/// Whether some task waits for `barrier` and touches the allocation next, in conflict with what
/// this task did there. What other meetings with this task may order stands behind those.
bool TaskThreads::waitsFor(Value barrier, int allocation, bool writes) {
  if (!waited) {
    waited.emplace();
    auto lists = [](ValueRange list, Operation *op) {
      return llvm::is_contained(list, op->getOperand(0));
    };
    task->getParentOfType<KernelOp>().walk([&](TaskOp other) {
      Value last;
      // Twice, for what stands at the start of a loop follows its end.
      for (int pass = 0; pass < 2; ++pass)
        other.walk<WalkOrder::PreOrder>([&](Operation *op) {
          if (auto wait = dyn_cast<MbarrierWaitOp>(op))
            last = wait.getBarrier();
          else if (isa<BarrierSyncOp, ClusterSyncOp, TakeOp>(op) ||
                   (isa<WaitOp>(op) && lists(task.getWrites(), op)) ||
                   (isa<AcquireOp>(op) && lists(task.getReads(), op)))
            last = {};
          if (!last || op->getNumRegions() != 0)
            return;
          for (const MemrefAccess &access : accessesOf(op, conditions.values()))
            for (const MemrefRoot &root : traceMemref(access.memref, conditions.values())) {
              int resource = root.work ? context.resourceOf(root.resource()) : -1;
              if (resource < 0)
                continue;
              const auto &of = context.model.kernel.resources[size_t(resource)].allocations;
              if (root.index < of.size())
                waited->insert({last.getAsOpaquePointer(), of[root.index], access.write});
            }
        });
    });
  }
  void *key = barrier.getAsOpaquePointer();
  return waited->contains({key, allocation, true}) ||
         (writes && waited->contains({key, allocation, false}));
}

/// The lane that arrives has seen its own accesses only.
void TaskThreads::electedArrival(MbarrierArriveOp op, const Scope &scope) {
  auto barrier = op.getBarrier().getDefiningOp<MbarrierOp>();
  if (!barrier || !scope.elected || !scope.always())
    return;
  for (const auto &[by, access] : byLane)
    for (unsigned warp : warpsOf(scope.threads).set_bits()) {
      int first = access.threads.find_first_in(warp * 32, warp * 32 + 32);
      bool lanes =
          first >= 0 && access.threads.find_first_in(unsigned(first) + 1, warp * 32 + 32) >= 0;
      if (lanes && waitsFor(op.getBarrier(), access.allocation, access.write))
        races->arrivesAlone(access, warp, op, barrier.getName());
    }
}

//===-- Barriers and rings -------------------------------------------------------------------===//

void TaskThreads::barrier(Value resource, bool sync, const Scope &scope) {
  auto op = resource.getDefiningOp<NamedBarrierOp>();
  int64_t count = op ? int64_t(op.getThreads()) : 0;
  llvm::BitVector who = warpsOf(scope.threads);
  auto threads = [](const llvm::BitVector &set) { return int64_t(set.count()) * 32; };
  BarrierState &state = barriers[resource];
  if (!state.knowledge) {
    state.warps = state.waiting = llvm::BitVector(warps);
    state.knowledge = Knowledge{KnownTimes(warps, 0), KnownTimes(warps, 0)};
  }
  // Fewer threads than come: nothing says who meets whom.
  if (threads(who) > count)
    return;
  Knowledge mine = races->knowledge(who);
  for (unsigned warp = 0; warp < warps; ++warp) {
    state.knowledge->sure[warp] = std::max(state.knowledge->sure[warp], mine.sure[warp]);
    state.knowledge->maybe[warp] = std::max(state.knowledge->maybe[warp], mine.maybe[warp]);
  }
  state.warps |= who;
  state.certain &= scope.always();
  if (sync) {
    state.waiting |= who;
    races->meet(who, scope.certain());
  }
  if (threads(state.warps) < count)
    return;
  // The task alone fills it, maybe from several places.
  races->learn(state.waiting, *state.knowledge, state.certain);
  state = {};
}

void TaskThreads::ringOp(proto::Op op, Value resource, const Scope &scope) {
  if (auto group = resource.getDefiningOp<PipelineGroupOp>()) {
    for (Value member : group.getMembers())
      ringOp(op, context.resourceOf(member), scope);
    return;
  }
  ringOp(op, context.resourceOf(resource), scope);
}

void TaskThreads::ringOp(proto::Op op, int resource, const Scope &scope) {
  if (resource < 0)
    return;
  const auto &entry = context.model.kernel.resources[size_t(resource)];
  if (!entry.pipeline)
    return;
  using proto::Side;
  bool producer = op == proto::Op::Acquire || op == proto::Op::Commit;
  bool opening = op == proto::Op::Acquire || op == proto::Op::Wait;
  RingSide &side = rings[{resource, producer ? Side::Producer : Side::Consumer}];
  proto::Action action = proto::actionFor(*entry.pipeline, context.model.kernel.cluster, op);
  llvm::BitVector all = warpsOf(scope.threads), one(warps);
  if (int first = all.find_first(); first >= 0)
    one.set(unsigned(first));
  if (!opening) {
    if (entry.pipeline->asyncLoad && producer) {
      races->commitGroup(Completion::CpAsync, all);
      races->waitGroups(Completion::CpAsync, 0, all);
    }
    // The compiler lets the lanes meet before one of them arrives.
    if (llvm::is_contained(action.beforeArrive, proto::Fence::SyncWarp) && !scope.undecided)
      races->meetLanes(all);
    Knowledge what{KnownTimes(warps, 0), KnownTimes(warps, 0)};
    if (action.arrive)
      what = races->knowledge(action.arrive->who == proto::Executor::OneThreadOfTask ? one : all);
    if (action.arrive && action.arrive->who == proto::Executor::EveryThread && scope.always())
      what.lanes = what.sure;
    // A warp with a lane hands over what is its own.
    if (!scope.always() || warpLanes(resource, op))
      what.sure.assign(warps, 0);
    ++side.closes;
    side.closed.push_back(std::move(what));
    return;
  }
  int64_t number = side.opens++;
  // With lanes a warp meets only what it did itself.
  if (warpLanes(resource, op))
    return;
  llvm::BitVector who =
      !action.wait || action.wait->who == proto::Executor::OneThreadOfTask ? one : all;
  int64_t stride = std::max<int64_t>(1, entry.pipeline->stride(op));
  int64_t stages = std::max<int64_t>(1, entry.pipeline->stages / stride);
  auto after = [&](Side from, int64_t use) {
    auto it = rings.find({resource, from});
    if (it == rings.end() || use < 0 || size_t(use) >= it->second.closed.size())
      return;
    const Knowledge &what = it->second.closed[size_t(use)];
    // Where one lane waits for its warp, the warp meets behind it.
    bool lanes =
        action.wait && (action.wait->who != proto::Executor::OneThreadOfTask || warps == 1);
    if (lanes && scope.certain())
      races->learnLanes(who, what);
    races->learn(who, what, scope.certain());
  };
  // Use n of a stage follows everything that was done with use n - stages, on both sides.
  after(Side::Producer, producer ? number - stages : number);
  after(Side::Consumer, number - stages);
}
