// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline operations of one task: positions in the rings, waits, fences and arrivals. What an
// operation waits on and arrives at is the Protocol component's action table, not decided here.
#include "LowerScheduleTask.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

std::optional<std::pair<Value, proto::Op>> mlir::ts::protocolStep(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<std::pair<Value, proto::Op>>>(&op)
      .Case<AcquireOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Acquire); })
      .Case<CommitOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Commit); })
      .Case<WaitOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Wait); })
      .Case<ReleaseOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Release); })
      .Case<TryAcquireOp>([](auto o) { return std::pair(o.getResource(), proto::Op::TryAcquire); })
      .Case<TryWaitOp>([](auto o) { return std::pair(o.getResource(), proto::Op::TryWait); })
      .Default([](Operation *) { return std::nullopt; });
}

static bool isTry(proto::Op op) { return op == proto::Op::TryAcquire || op == proto::Op::TryWait; }
static bool isOpening(proto::Op op) {
  return op == proto::Op::Acquire || op == proto::Op::Wait || isTry(op);
}

/// The entries of this task's replicas among those that execute `op`, in replica order.
static SmallVector<const proto::TaskRole *> rolesOf(const LoweredPipeline &pipeline, proto::Op op,
                                                    TaskOp task) {
  SmallVector<const proto::TaskRole *> roles;
  int64_t first = task.getFirstWarp(), end = first + int64_t(task.getNumWarps());
  for (const proto::TaskRole &role : pipeline.by.of(op))
    if (role.firstWarp >= first && role.firstWarp < end)
      roles.push_back(&role);
  return roles;
}

//===-- Positions ----------------------------------------------------------------------------===//

/// The slot at which this task starts with `step`: 0, or its lane.
FailureOr<Value> TaskLowering::firstSlot(Value resource, proto::Op step) {
  const LoweredPipeline &pipeline = kernel.pipelines[resource];
  int64_t stride = pipeline.spec.stride(step);
  Emitter e(b, task.getLoc());
  if (stride <= 1)
    return e.i32(0);
  if (pipeline.spec.stages % stride != 0)
    return task.emitError("[TS221] interleave stride ")
           << stride << " of '" << pipeline.spec.name << "' does not divide its "
           << pipeline.spec.stages << " stages";
  SmallVector<const proto::TaskRole *> roles = rolesOf(pipeline, step, task);
  SmallVector<int64_t> lanes;
  for (const proto::TaskRole *role : roles) {
    proto::LaneMode mode = proto::laneMode(*role, stride);
    if (mode == proto::LaneMode::Warp)
      return warp;
    if (mode != proto::LaneMode::Domain)
      break;
    lanes.push_back(proto::domainLane(*role, stride));
  }
  if (lanes.empty() || lanes.size() != roles.size())
    return task.emitError("[TS221] task '")
           << task.getName() << "' has no lane of '" << pipeline.spec.name
           << "', whose operations are interleaved over " << stride << "; give the task " << stride
           << " warps, or a loop that starts at its lane and steps by " << stride;
  Value lane = e.i32(lanes[0]);
  for (size_t i = 1; i < lanes.size(); ++i)
    lane = e.select(e.eq(replica, e.i32(i)), e.i32(lanes[i]), lane);
  return lane;
}

LogicalResult TaskLowering::collectSides() {
  llvm::SetVector<Key> probes;
  Operation *copies = nullptr;
  task.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<TmemLoadOp>(op))
      asyncTmemLoads |= isa<AsyncType>(load.getType());
    bulkStores |= isa<TmaStoreOp, BulkStoreOp>(op);
    if (!isa<TmemLoadOp, ProduceOp, ConsumeOp>(op) &&
        llvm::any_of(op->getResultTypes(), [](Type t) { return isa<AsyncType>(t); }))
      copies = op;
    if (auto next = dyn_cast<NextTileOp>(op); next && kernel.pipelines.contains(next.getQueue())) {
      SideState &side = sides[Key(next.getQueue(), proto::Side::Consumer)];
      side.opens = side.closes = true;
    }
    auto step = protocolStep(*op);
    if (!step || !kernel.pipelines.contains(step->first))
      return;
    Key key(step->first, proto::sideOf(step->second));
    SideState &side = sides[key];
    if (isTry(step->second))
      probes.insert(key);
    else
      (isOpening(step->second) ? side.opens : side.closes) = true;
  });
  if (copies)
    return emitUnsupported(copies)
           << "a tensor memory load that is still in flight passes '" << copies->getName()
           << "', where its registers would be copied before they are written (PTX ISA 8.8, "
              "tcgen05.ld); wait for it before, and pass the vector";
  Emitter e(b, task.getLoc());
  for (auto &[key, side] : sides) {
    const proto::PipelineSpec &spec = kernel.pipelines[key.first].spec;
    bool producer = key.second == proto::Side::Producer;
    proto::Op open = producer ? proto::Op::Acquire : proto::Op::Wait;
    proto::Op close = producer ? proto::Op::Commit : proto::Op::Release;
    ummaPerWarp |= spec.stride(close) > 1 &&
                   (producer ? proto::producerKind(spec.type) : proto::consumerKind(spec.type)) ==
                       proto::SideKind::Umma;
    unsigned parity = proto::Cursor::start(key.second).parity;
    auto start = [&](proto::Op op, int &var) -> LogicalResult {
      FailureOr<Value> first = firstSlot(key.first, op);
      if (failed(first))
        return failure();
      var = newVar(*first);
      newVar(e.i32(parity));
      return success();
    };
    // A side that only closes has no opening position; that of the closing op stands for it.
    proto::CursorRule rule = proto::cursorRule(spec, open, side.opens, side.closes);
    bool probed = probes.contains(key);
    if ((side.opens || probed) && failed(start(open, side.opening)))
      return failure();
    if (side.closes && rule.uses == proto::CursorMove::Shared)
      side.closing = side.opening;
    else if (side.closes && failed(start(close, side.closing)))
      return failure();
    if (side.opens && rule.uses != proto::CursorMove::Shared)
      side.opened = newVar(state[side.opening]);
    if (probed)
      side.hint = newVar(e.boolean(false));
  }
  return success();
}

void TaskLowering::collectMutated(Operation &op, llvm::SetVector<int> &vars) {
  op.walk([&](Operation *nested) {
    auto step = protocolStep(*nested);
    Key key;
    if (step)
      key = Key(step->first, proto::sideOf(step->second));
    else if (auto next = dyn_cast<NextTileOp>(nested))
      key = Key(next.getQueue(), proto::Side::Consumer);
    else
      return;
    auto it = sides.find(key);
    if (it != sides.end() && !step && nextTile >= 0) {
      vars.insert(nextTile);
      vars.insert(nextValid);
    }
    if (it == sides.end())
      return;
    SideState &side = it->second;
    for (int var : {side.opening, side.closing})
      if (var >= 0) {
        vars.insert(var);
        vars.insert(var + 1);
      }
    for (int var : {side.opened, side.hint})
      if (var >= 0)
        vars.insert(var);
  });
}

/// The stage that work of this side stands on; null when the task has no bracket of it.
Value TaskLowering::currentStage(Value resource, proto::Side side) {
  auto it = sides.find(Key(resource, side));
  // A member that is only used through its group stands where the group stands.
  if (it == sides.end())
    if (auto found = kernel.pipelines.find(resource);
        found != kernel.pipelines.end() && found->second.group)
      it = sides.find(Key(found->second.group, side));
  if (it == sides.end())
    return {};
  SideState &s = it->second;
  if (s.opened >= 0)
    return state[s.opened];
  // A side that is only probed stands where the probes look.
  if (!s.opens && !s.closes && s.opening < 0)
    return {};
  return state[s.closing >= 0 ? s.closing : s.opening];
}

//===-- Threads ------------------------------------------------------------------------------===//

Value TaskLowering::executes(proto::Executor who) {
  if (singleThread || who == proto::Executor::EveryThread)
    return {};
  return who == proto::Executor::ElectedLanePerWarp ? laneLeader : taskLeader;
}

void TaskLowering::converge() {
  if (diverged && !singleThread)
    Emitter(b, task.getLoc()).syncWarp();
  diverged = false;
}

/// Whether an instruction under `op` wants whole warps.
bool TaskLowering::needsWarp(Operation &op) {
  return op
      .walk([&](Operation *nested) {
        bool needs = nested->hasTrait<WarpCollective>() || isa<TakeOp, PassOp>(nested);
        if (auto step = protocolStep(*nested))
          if (auto it = kernel.pipelines.find(step->first); it != kernel.pipelines.end()) {
            proto::Action action = actionOf(it->second, step->second);
            needs |= llvm::is_contained(action.beforeArrive, proto::Fence::TcgenWaitSt);
          }
        return needs ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===-- Steps --------------------------------------------------------------------------------===//

Value TaskLowering::barrierAddress(const LoweredPipeline &pipeline, proto::Barrier which,
                                   Value stage) {
  Emitter e(b, stage.getLoc());
  int64_t offset = which == proto::Barrier::Full ? pipeline.fullOffset : pipeline.emptyOffset;
  return e.offset(e.offset(kernel.smem, offset), e.mul(stage, e.i32(8)));
}

void TaskLowering::fence(proto::Fence fence) {
  Emitter e(b, task.getLoc());
  switch (fence) {
  case proto::Fence::WgmmaWaitGroup:
    // Written in the schedule as ts.wgmma_wait, where it carries the accumulators.
  case proto::Fence::BulkWaitGroupRead:
    // Written in the schedule as ts.bulk_wait, in the thread that issued the stores.
    return;
  case proto::Fence::TcgenWaitLd:
    // Part of ts.tmem_load; loads that stay in flight may not have met their ts.tmem_wait.
    if (!asyncTmemLoads)
      return;
    converge();
    NVVM::Tcgen05WaitOp::create(b, e.loc, NVVM::Tcgen05WaitKind::LOAD);
    return;
  case proto::Fence::CpAsyncWaitAll:
    // A schedule that waits for its groups itself may keep the younger ones in flight.
    if (task.getBody().walk([](CpAsyncWaitOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return;
    NVVM::CpAsyncWaitGroupOp::create(b, e.loc, 0);
    return;
  case proto::Fence::TcgenWaitSt:
    converge();
    NVVM::Tcgen05WaitOp::create(b, e.loc, NVVM::Tcgen05WaitKind::STORE);
    return;
  case proto::Fence::ProxyAsyncSharedCta:
    NVVM::FenceProxyOp::create(
        b, e.loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    return;
  case proto::Fence::TcgenBeforeThreadSync:
    NVVM::Tcgen05FenceOp::create(b, e.loc, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
    return;
  case proto::Fence::TcgenAfterThreadSync:
    NVVM::Tcgen05FenceOp::create(b, e.loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    return;
  case proto::Fence::SyncWarp:
    if (!singleThread)
      e.syncWarp();
    diverged = false;
    return;
  case proto::Fence::MbarrierInit:
    NVVM::FenceMbarrierInitOp::create(b, e.loc);
    return;
  case proto::Fence::CtaSync:
    e.syncCta();
    return;
  case proto::Fence::ClusterSync:
    e.syncCluster();
    return;
  }
}

/// Bytes that the executing thread arms: those of its own copies. `perWarp`: every warp arms, so it
/// is its share; the first warp takes what does not divide.
FailureOr<Value> TaskLowering::armedBytes(Operation &op, const LoweredPipeline &pipeline,
                                          bool perWarp) {
  Emitter e = at(op);
  int64_t total = pipeline.spec.numBytes.value_or(0);
  int64_t warps = task.getWarpsPerReplica();
  // A fork is armed once, for the copies of all members.
  if (pipeline.group) {
    const LoweredPipeline &whole = kernel.pipelines.find(pipeline.group)->second;
    if (whole.members->mode == proto::GroupMode::Fork)
      return e.i32(total);
  }
  // A warp that owns a lane fills the stage alone.
  if (pipeline.spec.stride(proto::Op::Acquire) == warps && warps > 1)
    return e.i32(total);
  int64_t producers = pipeline.by.acquire.size(), allWarps = 0;
  for (const proto::TaskRole &role : pipeline.by.acquire)
    allWarps += role.warps;
  // With sibling tasks as lanes, one of them fills the stage.
  if (pipeline.spec.stride(proto::Op::Acquire) > 1)
    producers = 1, allWarps = warps;
  SmallVector<int64_t> shares; // of each replica
  for (const proto::TaskRole *role : rolesOf(pipeline, proto::Op::Acquire, task)) {
    if (producers == 1) {
      shares.push_back(total);
    } else if (role->issued) {
      shares.push_back(role->issued->own + role->issued->alongN + role->issued->alongM);
    } else if (total * role->warps % allWarps == 0) {
      shares.push_back(total * role->warps / allWarps);
    } else {
      return op.emitError("[TS404] the ")
             << total << " bytes of '" << pipeline.spec.name << "' do not divide over the "
             << allWarps << " warps that arm them, and what task '" << task.getName()
             << "' copies is not known; copy the same bytes on every path";
    }
  }
  if (shares.empty())
    return e.i32(total);
  auto ofWarp = [&](int64_t share) -> Value {
    if (!perWarp)
      return e.i32(share);
    Value each = e.i32(share / warps);
    if (share % warps == 0)
      return each;
    return e.select(e.eq(warp, e.i32(0)), e.i32(share / warps + share % warps), each);
  };
  Value bytes = ofWarp(shares[0]);
  if (!llvm::all_equal(shares))
    for (size_t i = 1; i < shares.size(); ++i)
      bytes = e.select(e.eq(replica, e.i32(i)), ofWarp(shares[i]), bytes);
  return bytes;
}

LogicalResult TaskLowering::arm(Operation &op, const LoweredPipeline &pipeline,
                                const proto::ArriveStep &arrive, Value barrier) {
  bool perWarp = arrive.who == proto::Executor::ElectedLanePerWarp;
  FailureOr<Value> bytes = armedBytes(op, pipeline, perWarp);
  if (failed(bytes))
    return failure();
  Emitter e = at(op);
  if (arrive.target == proto::Target::OwnCta)
    e.arriveExpectTx(barrier, *bytes);
  else
    arriveAtPeers(e, barrier, targetsOf(pipeline, arrive.barrier),
                  [&](Value peer) { e.arriveExpectTxRemote(peer, *bytes); });
  return success();
}

LogicalResult TaskLowering::lowerArrival(Operation &op, const LoweredPipeline &pipeline,
                                         const proto::Action &action, Value stage) {
  const proto::ArriveStep &arrive = *action.arrive;
  Value barrier = barrierAddress(pipeline, arrive.barrier, stage);
  Emitter e = at(op);
  proto::CtaMask from =
      proto::arrivingCtas(pipeline.spec, kernel.cluster, action.op, roleFor(pipeline, action.op));
  Value mine = both(e, executes(arrive.who), arrive.leaderOnly ? inCtas(e, from) : Value());
  NVVM::CTAGroupKind group =
      kernel.ctaGroup == 2 ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
  LogicalResult result = success();
  e.guarded(mine, [&] {
    switch (arrive.kind) {
    case proto::ArrivalKind::None:
      break;
    case proto::ArrivalKind::CpAsyncArriveNoInc:
      NVVM::CpAsyncMBarrierArriveOp::create(b, e.loc, barrier, /*noinc=*/true);
      break;
    case proto::ArrivalKind::ThreadArrive:
    case proto::ArrivalKind::ElectedWarpArrive:
    case proto::ArrivalKind::RemoteArrive:
      if (arrive.target == proto::Target::OwnCta)
        e.arrive(barrier);
      else
        arriveAtPeers(e, barrier, targetsOf(pipeline, arrive.barrier),
                      [&](Value peer) { e.arriveRemote(peer); });
      break;
    case proto::ArrivalKind::ArriveExpectTx:
      result = arm(op, pipeline, arrive, barrier);
      break;
    case proto::ArrivalKind::TcgenCommit:
      NVVM::Tcgen05CommitOp::create(b, e.loc, barrier, Value(), group);
      break;
    case proto::ArrivalKind::TcgenCommitMulticast: {
      SmallVector<int64_t> masks;
      for (proto::CtaMask mask : targetsOf(pipeline, arrive.barrier))
        masks.push_back(int64_t(mask));
      Value mask = arith::TruncIOp::create(b, e.loc, b.getI16Type(), ofThisCta(e, masks));
      NVVM::Tcgen05CommitOp::create(b, e.loc, barrier, mask, group);
      break;
    }
    }
  });
  return result;
}

LogicalResult TaskLowering::lowerStep(Operation &op, Value resource, proto::Op step) {
  auto found = kernel.pipelines.find(resource);
  if (found == kernel.pipelines.end())
    return op.emitError("'") << getResourceName(resource)
                             << "' has no pipeline, so there is nothing to "
                             << std::string(proto::name(step));
  const LoweredPipeline &pipeline = found->second;
  SideState &side = sides.find(Key(resource, proto::sideOf(step)))->second;
  proto::Action action = actionOf(pipeline, step, &op);
  proto::CursorRule rule = proto::cursorRule(pipeline.spec, step, side.opens, side.closes);
  int cursor = isOpening(step) ? side.opening : side.closing;
  Emitter e = at(op);
  Value stage = state[cursor], parity = state[cursor + 1];

  if (action.wait) {
    Value barrier = barrierAddress(pipeline, action.wait->barrier, stage);
    Value here = waitsHere(e, pipeline, action);
    if (!action.wait->blocking) {
      // A CTA that does not wait must not probe either: the probe may suspend it for a while.
      state[side.hint] = e.choose(
          here, b.getI1Type(), [&] { return e.tryWait(barrier, parity); },
          [&] { return e.boolean(false); });
    } else {
      // Only the threads that the arrivals speak for wait: another one could fall a lap behind.
      Value elected = executes(action.wait->who);
      Value mine = both(e, elected, here);
      Value waits = side.hint >= 0 ? e.negate(state[side.hint]) : Value();
      if (mine)
        waits = waits ? e.bitAnd(mine, waits) : mine;
      e.guarded(waits, [&] { e.wait(barrier, parity); });
      // The rest of the warp may touch the stage as well.
      bool wholeWarp =
          action.wait->who == proto::Executor::ElectedLanePerWarp || task.getWarpsPerReplica() == 1;
      if (elected && wholeWarp) {
        e.syncWarp();
        diverged = false;
      } else if (elected) {
        diverged = true;
      }
    }
  }
  for (proto::Fence f : action.afterWait)
    fence(f);
  for (proto::Fence f : action.beforeArrive)
    fence(f);
  if (action.arrive && failed(lowerArrival(op, pipeline, action, stage)))
    return failure();
  if (!rule.advances)
    return success();
  if (isOpening(step) && side.opened >= 0)
    state[side.opened] = stage;
  int64_t stages = pipeline.spec.stages, stride = pipeline.spec.stride(step);
  if (stages == stride) {
    state[cursor + 1] = e.bitXor(parity, e.i32(1));
  } else {
    Value next = e.add(stage, e.i32(stride));
    Value wraps = e.cmp(arith::CmpIPredicate::uge, next, e.i32(stages));
    state[cursor] = e.select(wraps, stride == 1 ? e.i32(0) : e.sub(next, e.i32(stages)), next);
    state[cursor + 1] = e.bitXor(parity, e.extend(wraps));
  }
  // A probe spoke of the stage that the opening position has just left.
  if (cursor == side.opening && side.hint >= 0)
    state[side.hint] = e.boolean(false);
  return success();
}

/// What may still be on its way when the schedule ends: an engine's or a peer's arrival at our
/// empty barriers, and bulk stores that read our shared memory.
void TaskLowering::drain() {
  for (auto &[key, side] : sides) {
    auto &[resource, which] = key;
    const LoweredPipeline &pipeline = kernel.pipelines[resource];
    if (which != proto::Side::Producer || !side.opens ||
        !proto::needsDrain(pipeline.spec, kernel.cluster))
      continue;
    Emitter e(b, task.getLoc());
    proto::Action acquire = actionOf(pipeline, proto::Op::Acquire);
    int64_t stages = pipeline.spec.stages, stride = pipeline.spec.stride(proto::Op::Acquire);
    Value here = waitsHere(e, pipeline, acquire);
    Value elected = executes(acquire.wait->who);
    e.guarded(both(e, elected, here), [&] {
      Value stage = state[side.opening], parity = state[side.opening + 1];
      for (int64_t i = 0; i < stages / stride; ++i) {
        e.wait(barrierAddress(pipeline, proto::Barrier::Empty, stage), parity);
        Value next = e.add(stage, e.i32(stride));
        Value wraps = e.cmp(arith::CmpIPredicate::uge, next, e.i32(stages));
        stage = e.select(wraps, e.sub(next, e.i32(stages)), next);
        parity = e.bitXor(parity, e.extend(wraps));
      }
    });
    diverged |= bool(elected);
  }
  if (!bulkStores)
    return;
  Emitter e(b, task.getLoc());
  Value mine = executes(proto::Executor::ElectedLanePerWarp);
  e.guarded(mine, [&] { NVVM::CpAsyncBulkWaitGroupOp::create(b, e.loc, 0, b.getUnitAttr()); });
  diverged |= bool(mine);
}
