// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the ops of one task's schedule and dispatches them; batons, named and hand-written
// barriers.
#include "LowerScheduleTask.h"

#include "ts/Dialect/TS/Transforms/Allocation.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

/// True when nothing in the task needs more than one thread: then one elected thread runs all of
/// it.
bool TaskLowering::runsInOneThread() {
  if (task.getWarpsPerReplica() != 1)
    return false;
  WalkResult result = task.getBody().walk([&](Operation *op) {
    if (auto info = dyn_cast<InfoOp>(op)) {
      bool perThread = info.getKind() == InfoKind::Thread || info.getKind() == InfoKind::Lane;
      return perThread ? WalkResult::interrupt() : WalkResult::advance();
    }
    if (op->hasTrait<SingleThread>() || isa<ElectOp>(op))
      return WalkResult::advance();
    // Every thread gives a response back.
    if (auto next = dyn_cast<NextTileOp>(op); next && isDynamicQueue(next.getQueue()))
      return WalkResult::interrupt();
    if (op->hasTrait<WarpCollective>() ||
        isa<TakeOp, PassOp, CpAsyncOp, MbarrierArriveOp, DsmemStoreOp>(op))
      return WalkResult::interrupt();
    if (auto step = protocolStep(*op)) {
      auto it = kernel.pipelines.find(step->first);
      if (it == kernel.pipelines.end())
        return WalkResult::interrupt();
      proto::Action action = actionOf(it->second, step->second);
      bool perThread = action.arrive && action.arrive->who == proto::Executor::EveryThread;
      return perThread ? WalkResult::interrupt() : WalkResult::advance();
    }
    Dialect *dialect = op->getDialect();
    bool plain = isa<TSDialect>(dialect) || isa<arith::ArithDialect, scf::SCFDialect>(dialect) ||
                 isa<memref::SubViewOp>(op);
    return plain ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

//===-- Barriers beside the pipelines --------------------------------------------------------===//

/// Arrives at a hardware barrier. The intrinsic, since nvvm.barrier.arrive becomes assembly that
/// LLVM takes for non-convergent and duplicates.
static void arriveNamed(Emitter &e, Value id, Value threads) {
  LLVM::CallIntrinsicOp::create(e.b, e.loc,
                                e.b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                ValueRange{id, threads});
}
static void syncNamed(Emitter &e, Value id, Value threads) {
  NVVM::BarrierOp::create(e.b, e.loc, Type(), id, threads, NVVM::BarrierReductionAttr(), Value());
}

LogicalResult TaskLowering::lowerBaton(Operation &op, BatonOp baton, bool take) {
  if (!baton)
    return op.emitError("takes the result of a ts.baton");
  auto ids = baton->getAttrOfType<DenseI64ArrayAttr>(kBarrierIdsAttr);
  if (!ids || int64_t(ids.size()) != int64_t(baton.getHolders()))
    return op.emitError("baton '") << baton.getName() << "' has no named barriers assigned";
  if (int64_t(baton.getHolders()) != task.getReplicas())
    return op.emitError("baton '")
           << baton.getName() << "' has " << baton.getHolders() << " holders, but task '"
           << task.getName() << "' has " << task.getReplicas() << " replicas";
  converge();
  Emitter e = at(op);
  Value who = replica;
  if (!take) {
    Value next = e.add(replica, e.i32(1));
    who = e.select(e.eq(next, e.i32(baton.getHolders())), e.i32(0), next);
  }
  Value id = e.i32(ids[0]);
  for (int64_t i = 1; i < int64_t(ids.size()); ++i)
    id = e.select(e.eq(who, e.i32(i)), e.i32(ids[i]), id);
  // The holder's threads and those of the replica that hands it over.
  Value threads = e.i32(2 * 32 * task.getWarpsPerReplica());
  take ? syncNamed(e, id, threads) : arriveNamed(e, id, threads);
  return success();
}

LogicalResult TaskLowering::lowerNamedBarrier(Operation &op, NamedBarrierOp barrier) {
  auto ids =
      barrier ? barrier->getAttrOfType<DenseI64ArrayAttr>(kBarrierIdsAttr) : DenseI64ArrayAttr();
  if (!ids || ids.empty())
    return op.emitError("takes the result of a ts.named_barrier");
  converge();
  Emitter e = at(op);
  Value id = e.i32(ids[0]), threads = e.i32(barrier.getThreads());
  isa<BarrierSyncOp>(op) ? syncNamed(e, id, threads) : arriveNamed(e, id, threads);
  return success();
}

LogicalResult TaskLowering::lowerMbarrier(Operation &op, MbarrierOp def) {
  auto place = def ? def->getAttrOfType<IntegerAttr>(kMbarrierOffsetAttr) : IntegerAttr();
  if (!place)
    return op.emitError("takes the result of a ts.mbarrier");
  Emitter e = at(op);
  Value barrier = e.offset(kernel.smem, place.getInt());
  if (auto wait = dyn_cast<MbarrierWaitOp>(op)) {
    e.wait(barrier, mapping.lookupOrDefault(wait.getParity()));
    return success();
  }
  auto arrive = cast<MbarrierArriveOp>(op);
  if (arrive.getCta()) {
    Value peer = peerBarrier(e, barrier, e.toI32(mapping.lookupOrDefault(arrive.getCta())));
    if (arrive.getExpect())
      e.arriveExpectTxRemote(peer, e.i32(*arrive.getExpect()));
    else
      e.arriveRemote(peer);
    return success();
  }
  if (arrive.getExpect())
    e.arriveExpectTx(barrier, e.i32(*arrive.getExpect()));
  else
    e.arrive(barrier);
  return success();
}

LogicalResult TaskLowering::lowerElect(ElectOp op) {
  llvm::SetVector<int> moved;
  collectMutated(*op, moved);
  if (!moved.empty())
    return emitUnsupported(op) << "pipeline operations inside ts.elect; the lowering elects the "
                                  "threads that arrive by itself";
  if (needsWarp(*op))
    return op.emitError("runs in one thread of a warp, but holds an operation that needs the whole "
                        "warp; move it out of ts.elect");
  Value mine = executes(proto::Executor::ElectedLanePerWarp);
  LogicalResult result = success();
  at(*op).guarded(mine, [&] { result = lowerBlock(op.getBody().front()); });
  diverged |= bool(mine);
  return result;
}

//===-- Dispatch over ops --------------------------------------------------------------------===//

LogicalResult TaskLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(op)))
      return failure();
  return success();
}

LogicalResult TaskLowering::lowerOp(Operation &op) {
  if (auto step = protocolStep(op))
    return lowerStep(op, step->first, step->second);
  Emitter e = at(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<ProduceOp>([&](auto o) {
        return lowerWork(op, o.getResource(), o.getBody(), proto::Side::Producer);
      })
      .Case<ConsumeOp>([&](auto o) {
        return lowerWork(op, o.getResource(), o.getBody(), proto::Side::Consumer);
      })
      .Case<ForOp>([&](auto o) { return lowerFor(o); })
      .Case<TileLoopOp>([&](auto o) { return lowerTileLoop(o); })
      .Case<GuardOp>([&](auto o) -> LogicalResult {
        Value condition = guardCondition(o);
        if (!condition && !loops.empty())
          return failure(); // said why
        if (!condition)
          return o.emitError("[TS108] guard '")
                 << stringifyGuardKind(o.getKind()) << "' stands outside any loop";
        return lowerBranch(op, condition, o.getBody(), &o.getOrelse());
      })
      .Case<WhenOp>([&](auto o) {
        Value condition = mapping.lookupOrDefault(o.getCondition());
        if (!o.getExpected())
          condition = e.negate(condition);
        return lowerBranch(op, condition, o.getBody(), &o.getOrelse());
      })
      .Case<SkippableOp>([&](auto o) -> LogicalResult {
        if (!skipTile)
          return lowerBlock(o.getBody().front());
        return lowerBranch(op, e.negate(skipTile), o.getBody(), nullptr);
      })
      .Case<NextTileOp>([&](auto o) { return lowerNextTile(o); })
      .Case<FetchTileOp>([&](auto o) { return lowerFetchTile(o); })
      .Case<GridDepWaitOp>([&](auto o) {
        NVVM::GriddepcontrolOp::create(b, e.loc, NVVM::GridDepActionKind::wait);
        return success();
      })
      .Case<GridDepLaunchOp>([&](auto o) {
        NVVM::GriddepcontrolOp::create(b, e.loc, NVVM::GridDepActionKind::launch_dependents);
        return success();
      })
      .Case<InfoOp>([&](auto o) { return lowerInfo(o); })
      .Case<TakeOp>([&](auto o) {
        return lowerBaton(op, o.getBaton().template getDefiningOp<BatonOp>(), true);
      })
      .Case<PassOp>([&](auto o) {
        return lowerBaton(op, o.getBaton().template getDefiningOp<BatonOp>(), false);
      })
      .Case<BarrierSyncOp, BarrierArriveOp>([&](auto o) {
        return lowerNamedBarrier(op, o.getBarrier().template getDefiningOp<NamedBarrierOp>());
      })
      .Case<MbarrierArriveOp, MbarrierWaitOp>([&](auto o) {
        return lowerMbarrier(op, o.getBarrier().template getDefiningOp<MbarrierOp>());
      })
      .Case<ElectOp>([&](auto o) { return lowerElect(o); })
      .Default([&](Operation *) { return cloneOp(op); });
}

LogicalResult TaskLowering::lowerBody() {
  if (failed(collectSides()) || failed(lowerBlock(task.getBodyBlock())))
    return failure();
  drain();
  converge();
  return success();
}

LogicalResult TaskLowering::run() {
  Emitter e(b, task.getLoc());
  int64_t perReplica = task.getWarpsPerReplica();
  Value inTask = e.sub(kernel.warp, e.i32(task.getFirstWarp()));
  if (task.getReplicas() > 1) {
    replica = e.divu(inTask, e.i32(perReplica));
    warp = e.sub(inTask, e.mul(replica, e.i32(perReplica)));
  } else {
    replica = e.i32(0);
    warp = inTask;
  }
  thread = e.add(e.mul(warp, e.i32(32)), kernel.lane);
  if (task.getBody().getNumArguments())
    mapping.map(task.getBody().getArgument(0), e.toIndex(replica));

  if (runsInOneThread()) {
    singleThread = true;
    Value elected = NVVM::ElectSyncOp::create(b, e.loc, b.getI1Type(), Value());
    LogicalResult result = success();
    e.guarded(elected, [&] { result = lowerBody(); });
    e.syncWarp();
    return result;
  }
  laneLeader = e.eq(kernel.lane, e.i32(0));
  taskLeader = perReplica == 1 ? laneLeader : e.eq(thread, e.i32(0));
  return lowerBody();
}

LogicalResult mlir::ts::lowerTask(OpBuilder &b, KernelValues &values, TaskOp task) {
  return TaskLowering(b, values, task).run();
}
