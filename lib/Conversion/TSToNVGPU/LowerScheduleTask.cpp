// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers one task: protocol steps by the Protocol component's action table, pipeline positions as
// loop-carried values, work bodies inlined on their stage views. What a pipeline operation waits on
// and arrives at is not decided here.
#include "ScheduleLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

namespace {

/// Positions of one task in one side of one ring, as indices into TaskLowering::state. Stages and
/// parities are i32, hints i1. `opened` is the stage of the last opening op when that moves on.
struct SideState {
  int opening = -1; // stage; parity is the next one
  int closing = -1;
  int opened = -1;
  int hint = -1;
  bool opens = false, closes = false;
};

struct LoopInfo {
  Value iv, lower, upper, step; // index
};

class TaskLowering {
public:
  TaskLowering(OpBuilder &b, KernelValues &kernel, TaskOp task)
      : b(b), kernel(kernel), task(task), mapping(kernel.mapping) {}

  LogicalResult run();

private:
  using Key = std::pair<Value, proto::Side>;

  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation &op);
  LogicalResult lowerStep(Operation &op, Value resource, proto::Op step);
  LogicalResult lowerWork(Operation &op, Value resource, Region &body, proto::Side side);
  LogicalResult lowerFor(ForOp op);
  LogicalResult lowerTileLoop(TileLoopOp op);
  LogicalResult lowerBranch(Operation &op, Value condition, Region &body, Region *orelse);
  LogicalResult lowerInfo(InfoOp op);
  LogicalResult lowerBaton(Operation &op, BatonOp baton, bool take);
  LogicalResult cloneOp(Operation &op);
  LogicalResult cloneNested(Operation &op);
  Value guardCondition(GuardOp op);
  Value stageView(Operation &op, ResourceOp resource, unsigned index, Value stage);
  Value currentStage(Value resource, proto::Side side);
  Value barrierAddress(const LoweredPipeline &pipeline, proto::Barrier which, Value stage);
  void fence(proto::Fence fence);
  Value zeroUnless(Value written, Value loaded);
  Value executes(proto::Executor who);

  void collectSides();
  void collectMutated(Operation &op, llvm::SetVector<int> &vars);
  int newVar(Value init) {
    state.push_back(init);
    return state.size() - 1;
  }
  Emitter at(Operation &op) { return Emitter(b, op.getLoc()); }
  /// Runs `emit` in a region of a new loop or branch whose state variables are block arguments.
  SmallVector<Value> stateValues(ArrayRef<int> vars) {
    return llvm::map_to_vector(vars, [&](int var) { return state[var]; });
  }
  void setState(ArrayRef<int> vars, ValueRange values) {
    for (auto [var, value] : llvm::zip(vars, values))
      state[var] = value;
  }

  OpBuilder &b;
  KernelValues &kernel;
  TaskOp task;
  IRMapping mapping;
  SmallVector<Value> state;
  llvm::MapVector<Key, SideState> sides;
  SmallVector<LoopInfo> loops;
  Value warp;         // i32, within the replica
  Value thread;       // i32, within the replica
  Value replica;      // i32
  Value laneLeader;   // i1: one lane per warp; null when the task runs in a single thread
  Value taskLeader;   // i1: one thread of the replica; null likewise
  Value skipTile;     // i1, inside a tile loop with a skip predicate
  bool singleThread = false;
  // The work op being inlined, for ts.info and the barrier of copies.
  Value workResource;
  proto::Side workSide = proto::Side::Producer;
  int64_t callIndex = 0;
  llvm::DenseMap<Value, Value> pendingZeroFill; // TMEM loads in flight -> condition
};

/// The resource operand of a protocol step and which one it is.
std::optional<std::pair<Value, proto::Op>> protocolStep(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<std::pair<Value, proto::Op>>>(&op)
      .Case<AcquireOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Acquire); })
      .Case<CommitOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Commit); })
      .Case<WaitOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Wait); })
      .Case<ReleaseOp>([](auto o) { return std::pair(o.getResource(), proto::Op::Release); })
      .Case<TryAcquireOp>([](auto o) { return std::pair(o.getResource(), proto::Op::TryAcquire); })
      .Case<TryWaitOp>([](auto o) { return std::pair(o.getResource(), proto::Op::TryWait); })
      .Default([](Operation *) { return std::nullopt; });
}

/// True when nothing in the task needs more than one thread: then one elected thread runs all of it.
bool runsInOneThread(TaskOp task, KernelValues &kernel) {
  if (task.getWarpsPerReplica() != 1)
    return false;
  WalkResult result = task.getBody().walk([&](Operation *op) {
    if (isa<InfoOp>(op)) {
      auto kind = cast<InfoOp>(op).getKind();
      return kind == InfoKind::Thread || kind == InfoKind::Lane ? WalkResult::interrupt()
                                                                : WalkResult::advance();
    }
    if (op->hasTrait<SingleThread>() || isa<ElectOp>(op))
      return WalkResult::advance();
    if (op->hasTrait<WarpCollective>() || isa<TakeOp, PassOp, CpAsyncOp, MbarrierArriveOp>(op))
      return WalkResult::interrupt();
    if (auto step = protocolStep(*op)) {
      auto it = kernel.pipelines.find(step->first);
      if (it == kernel.pipelines.end())
        return WalkResult::interrupt();
      proto::Action action = proto::actionFor(it->second.spec, kernel.cluster, step->second);
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

/// Where a producer op stands relative to its closing partner: cursors of Slots.h.
bool isOpening(proto::Op op) {
  return op == proto::Op::Acquire || op == proto::Op::Wait || op == proto::Op::TryAcquire ||
         op == proto::Op::TryWait;
}

} // namespace

//===-- State --------------------------------------------------------------------------------===//

void TaskLowering::collectSides() {
  llvm::SetVector<Key> probes;
  task.getBody().walk([&](Operation *op) {
    auto step = protocolStep(*op);
    if (!step || !kernel.pipelines.contains(step->first))
      return;
    Key key(step->first, proto::sideOf(step->second));
    SideState &side = sides[key];
    if (step->second == proto::Op::TryAcquire || step->second == proto::Op::TryWait)
      probes.insert(key);
    else
      (isOpening(step->second) ? side.opens : side.closes) = true;
  });
  Emitter e(b, task.getLoc());
  for (auto &[key, side] : sides) {
    const proto::PipelineSpec &spec = kernel.pipelines[key.first].spec;
    proto::Op open = key.second == proto::Side::Producer ? proto::Op::Acquire : proto::Op::Wait;
    proto::Op close = key.second == proto::Side::Producer ? proto::Op::Commit : proto::Op::Release;
    unsigned parity = proto::Cursor::start(key.second).parity;
    // With lanes, every warp of the task starts at its own slot; strides divide the stages.
    auto start = [&](proto::Op op) {
      int64_t stride = spec.stride(op);
      Value first = stride > 1 ? warp : e.i32(0);
      int var = newVar(first);
      newVar(e.i32(parity));
      return var;
    };
    proto::CursorRule rule = proto::cursorRule(spec, open, side.opens, side.closes);
    side.opening = start(open);
    if (rule.uses == proto::CursorMove::Shared) {
      side.closing = side.opening;
    } else {
      if (side.closes)
        side.closing = start(close);
      side.opened = newVar(state[side.opening]);
    }
    if (probes.contains(key))
      side.hint = newVar(e.boolean(false));
  }
}

void TaskLowering::collectMutated(Operation &op, llvm::SetVector<int> &vars) {
  op.walk([&](Operation *nested) {
    auto step = protocolStep(*nested);
    if (!step)
      return;
    auto it = sides.find(Key(step->first, proto::sideOf(step->second)));
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

Value TaskLowering::currentStage(Value resource, proto::Side side) {
  auto it = sides.find(Key(resource, side));
  if (it == sides.end())
    return {};
  SideState &s = it->second;
  if (s.opened >= 0 && s.opens)
    return state[s.opened];
  return state[s.closing >= 0 ? s.closing : s.opening];
}

//===-- Protocol steps -----------------------------------------------------------------------===//

Value TaskLowering::barrierAddress(const LoweredPipeline &pipeline, proto::Barrier which,
                                   Value stage) {
  Emitter e(b, stage.getLoc());
  int64_t offset = which == proto::Barrier::Full ? pipeline.fullOffset : pipeline.emptyOffset;
  return e.offset(e.offset(kernel.smem, offset), e.mul(stage, e.i32(8)));
}

Value TaskLowering::executes(proto::Executor who) {
  if (singleThread || who == proto::Executor::EveryThread)
    return {};
  return who == proto::Executor::ElectedLanePerWarp ? laneLeader : taskLeader;
}

void TaskLowering::fence(proto::Fence fence) {
  Emitter e(b, task.getLoc());
  switch (fence) {
  case proto::Fence::WgmmaWaitGroup:
    // Written in the schedule as ts.wgmma_wait, where it carries the accumulators.
  case proto::Fence::BulkWaitGroupRead:
    // Written in the schedule as ts.bulk_wait, in the thread that issued the stores.
  case proto::Fence::TcgenWaitLd:
    // Part of ts.tmem_load / ts.tmem_wait, which tie the registers.
    return;
  case proto::Fence::CpAsyncWaitAll:
    NVVM::CpAsyncWaitGroupOp::create(b, e.loc, 0);
    return;
  case proto::Fence::TcgenWaitSt:
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
    return;
  case proto::Fence::MbarrierInit:
    NVVM::FenceMbarrierInitOp::create(b, e.loc);
    return;
  case proto::Fence::CtaSync:
    e.syncCta();
    return;
  case proto::Fence::ClusterSync:
    NVVM::ClusterArriveOp::create(b, e.loc, UnitAttr());
    NVVM::ClusterWaitOp::create(b, e.loc, UnitAttr());
    return;
  }
}

LogicalResult TaskLowering::lowerStep(Operation &op, Value resource, proto::Op step) {
  auto found = kernel.pipelines.find(resource);
  if (found == kernel.pipelines.end())
    return op.emitError("'")
           << getResourceName(resource)
           << "' has no pipeline, so there is nothing to " << std::string(proto::name(step));
  const LoweredPipeline &pipeline = found->second;
  SideState &side = sides.find(Key(resource, proto::sideOf(step)))->second;
  proto::Action action = proto::actionFor(pipeline.spec, kernel.cluster, step);
  proto::CursorRule rule = proto::cursorRule(pipeline.spec, step, side.opens, side.closes);
  int cursor = isOpening(step) || side.closing < 0 ? side.opening : side.closing;
  Emitter e = at(op);
  Value stage = state[cursor], parity = state[cursor + 1];

  if (action.wait) {
    Value barrier = barrierAddress(pipeline, action.wait->barrier, stage);
    if (!action.wait->blocking) {
      state[side.hint] = e.tryWait(barrier, parity);
    } else if (side.hint >= 0) {
      e.guarded(e.negate(state[side.hint]), [&] { e.wait(barrier, parity); });
      state[side.hint] = e.boolean(false);
    } else {
      e.wait(barrier, parity);
    }
  }
  for (proto::Fence f : action.afterWait)
    fence(f);
  for (proto::Fence f : action.beforeArrive)
    fence(f);
  if (action.arrive) {
    const proto::ArriveStep &arrive = *action.arrive;
    Value barrier = barrierAddress(pipeline, arrive.barrier, stage);
    switch (arrive.kind) {
    case proto::ArrivalKind::None:
      break;
    case proto::ArrivalKind::ThreadArrive:
    case proto::ArrivalKind::ElectedWarpArrive:
      e.guarded(executes(arrive.who), [&] { e.arrive(barrier); });
      break;
    case proto::ArrivalKind::ArriveExpectTx: {
      // Each arming warp arms the bytes of its own copies.
      int64_t bytes = pipeline.spec.numBytes.value_or(0);
      if (arrive.who == proto::Executor::ElectedLanePerWarp)
        bytes /= std::max<int64_t>(1, pipeline.spec.producerCount.value_or(1));
      e.guarded(executes(arrive.who), [&] { e.arriveExpectTx(barrier, bytes); });
      break;
    }
    case proto::ArrivalKind::CpAsyncArriveNoInc:
      NVVM::CpAsyncMBarrierArriveOp::create(b, e.loc, barrier, /*noinc=*/true);
      break;
    case proto::ArrivalKind::TcgenCommit:
      e.guarded(executes(arrive.who), [&] {
        NVVM::Tcgen05CommitOp::create(b, e.loc, barrier, Value());
      });
      break;
    case proto::ArrivalKind::RemoteArrive:
    case proto::ArrivalKind::TcgenCommitMulticast:
      return emitUnsupported(&op) << "arrivals on the barriers of other CTAs of a cluster ('"
                                  << getResourceName(resource) << "')";
    }
  }
  if (rule.advances) {
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
  }
  return success();
}

//===-- Work ---------------------------------------------------------------------------------===//

Value TaskLowering::stageView(Operation &op, ResourceOp resource, unsigned index, Value stage) {
  Emitter e = at(op);
  auto alloc = cast<AllocAttr>(resource.getAllocs()[index]);
  int64_t offset = resource->getAttrOfType<DenseI64ArrayAttr>("ts.offsets")[index];
  int64_t stride = resource->getAttrOfType<DenseI64ArrayAttr>("ts.strides")[index];
  Value position = e.i32(offset);
  if (stride && stage)
    position = e.add(position, e.mul(stage, e.i32(stride)));
  MemRefType type = alloc.getType();
  if (isTmem(type))
    return TmemViewOp::create(b, e.loc, type, e.add(kernel.tmemBase, position));
  auto plain = MemRefType::get(
      type.getShape(), type.getElementType(), type.getLayout(),
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup));
  Value view = memref::ViewOp::create(b, e.loc, plain, kernel.smemBytes, e.toIndex(position),
                                      ValueRange());
  return memref::MemorySpaceCastOp::create(b, e.loc, type, view);
}

LogicalResult TaskLowering::lowerWork(Operation &op, Value resource, Region &body,
                                      proto::Side side) {
  if (body.empty()) {
    return op.emitError("[TS401] work \"")
           << op.getAttrOfType<StringAttr>("label").getValue() << "\" of '"
           << getResourceName(resource)
           << "' has no body yet, so there is no code to emit; give it a body, or stop at "
              "verification with --verify-only";
  }
  auto def = resource.getDefiningOp<ResourceOp>();
  for (BlockArgument arg : body.getArguments()) {
    Value stage = currentStage(resource, side);
    mapping.map(arg, stageView(op, def, arg.getArgNumber(), stage));
  }
  Value outerResource = std::exchange(workResource, resource);
  proto::Side outerSide = std::exchange(workSide, side);
  LogicalResult result = lowerBlock(body.front());
  workResource = outerResource;
  workSide = outerSide;
  ++callIndex;
  if (failed(result))
    return failure();
  Operation *yield = body.front().getTerminator();
  for (auto [res, value] : llvm::zip(op.getResults(), yield->getOperands()))
    mapping.map(res, mapping.lookupOrDefault(value));
  return success();
}

LogicalResult TaskLowering::lowerInfo(InfoOp op) {
  Emitter e = at(*op);
  Value value;
  auto loop = [&]() -> const LoopInfo * { return loops.empty() ? nullptr : &loops.back(); };
  switch (op.getKind()) {
  case InfoKind::Thread:
    value = thread;
    break;
  case InfoKind::Warp:
    value = warp;
    break;
  case InfoKind::Lane:
    value = kernel.lane;
    break;
  case InfoKind::Replica:
    value = replica;
    break;
  case InfoKind::CtaRank:
    value = NVVM::ClusterId::create(b, e.loc, b.getI32Type());
    break;
  case InfoKind::CallIndex:
    value = e.i32(callIndex);
    break;
  case InfoKind::SmemBase:
    value = LLVM::PtrToIntOp::create(b, e.loc, b.getI32Type(), kernel.smem);
    break;
  case InfoKind::TmemBase:
    value = kernel.tmemBase;
    break;
  case InfoKind::Stage:
    value = workResource ? currentStage(workResource, workSide) : Value();
    break;
  case InfoKind::Barrier:
    if (workResource && kernel.pipelines.contains(workResource))
      value = LLVM::PtrToIntOp::create(
          b, e.loc, b.getI32Type(),
          barrierAddress(kernel.pipelines[workResource], proto::Barrier::Full,
                         currentStage(workResource, workSide)));
    break;
  case InfoKind::LoopOffset:
    value = loop() ? loop()->iv : Value();
    break;
  case InfoKind::LoopStart:
    value = loop() ? loop()->lower : Value();
    break;
  case InfoKind::LoopEnd:
    value = loop() ? loop()->upper : Value();
    break;
  case InfoKind::LoopStep:
    value = loop() ? loop()->step : Value();
    break;
  case InfoKind::InFlight:
    // One stage is open inside a bracket; with an advance flag, as far as the openings lead.
    if (workResource && kernel.pipelines.contains(workResource)) {
      SideState &side = sides.find(Key(workResource, workSide))->second;
      if (side.opened < 0 || side.closing < 0) {
        value = e.i32(1);
      } else {
        Value stages = e.i32(kernel.pipelines[workResource].spec.stages);
        Value ahead = e.add(e.sub(state[side.opening], state[side.closing]), stages);
        Value rest = e.remu(ahead, stages);
        value = e.select(e.eq(rest, e.i32(0)), stages, rest);
      }
    }
    break;
  }
  if (!value)
    return op.emitError("ts.info ")
           << stringifyInfoKind(op.getKind())
           << " has no meaning here; stage, barrier and in_flight need an enclosing work op of a "
              "pipelined resource, loop_* an enclosing ts.for, tmem_base a tensor-memory resource";
  mapping.map(op.getResult(), e.as(op.getType(), value));
  return success();
}

LogicalResult TaskLowering::lowerBaton(Operation &op, BatonOp baton, bool take) {
  if (!baton)
    return op.emitError("takes the result of a ts.baton");
  auto ids = baton->getAttrOfType<DenseI64ArrayAttr>("ts.barrier_ids");
  if (!ids || int64_t(ids.size()) != int64_t(baton.getHolders()))
    return op.emitError("baton '") << baton.getName() << "' has no named barriers assigned";
  if (int64_t(baton.getHolders()) != task.getReplicas())
    return op.emitError("baton '") << baton.getName() << "' has " << baton.getHolders()
                                   << " holders, but task '" << task.getName() << "' has "
                                   << task.getReplicas() << " replicas";
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
  if (take)
    NVVM::BarrierOp::create(b, e.loc, Type(), id, threads, NVVM::BarrierReductionAttr(), Value());
  else
    LLVM::CallIntrinsicOp::create(
        b, e.loc, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
        ValueRange{id, threads});
  return success();
}

LogicalResult TaskLowering::cloneNested(Operation &op) {
  // Regions of foreign ops (scf, ...) are rebuilt block by block so that ts ops inside are lowered.
  Operation *clone = op.cloneWithoutRegions(mapping);
  b.insert(clone);
  for (auto [from, to] : llvm::zip(op.getRegions(), clone->getRegions())) {
    if (from.empty())
      continue;
    if (!from.hasOneBlock())
      return emitUnsupported(&op) << "unstructured control flow inside a schedule";
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&to, to.end(), from.getArgumentTypes(),
                                 SmallVector<Location>(from.getNumArguments(), op.getLoc()));
    for (auto [x, y] : llvm::zip(from.getArguments(), block->getArguments()))
      mapping.map(x, y);
    if (failed(lowerBlock(from.front())))
      return failure();
    b.clone(*from.front().getTerminator(), mapping);
  }
  return success();
}

Value TaskLowering::zeroUnless(Value written, Value loaded) {
  Emitter e(b, loaded.getLoc());
  Value zero = arith::ConstantOp::create(b, e.loc, b.getZeroAttr(loaded.getType()));
  return e.select(written, loaded, zero);
}

LogicalResult TaskLowering::cloneOp(Operation &op) {
  if (auto load = dyn_cast<TmaLoadOp>(op); load && !load.getBarrier()) {
    auto it = kernel.pipelines.find(workResource);
    if (!workResource || it == kernel.pipelines.end())
      return op.emitError("completes on the full barrier of the enclosing ts.produce, but there is "
                          "none of a pipelined resource here");
    Value barrier = barrierAddress(it->second, proto::Barrier::Full,
                                   currentStage(workResource, proto::Side::Producer));
    at(op).guarded(executes(proto::Executor::ElectedLanePerWarp), [&] {
      auto clone = cast<TmaLoadOp>(b.clone(op, mapping));
      clone.getBarrierMutable().assign(barrier);
    });
    return success();
  }
  if (auto load = dyn_cast<BulkLoadOp>(op); load && !load.getBarrier()) {
    auto it = kernel.pipelines.find(workResource);
    if (!workResource || it == kernel.pipelines.end())
      return op.emitError("completes on the full barrier of the enclosing ts.produce, but there is "
                          "none of a pipelined resource here");
    Value barrier = barrierAddress(it->second, proto::Barrier::Full,
                                   currentStage(workResource, proto::Side::Producer));
    at(op).guarded(executes(proto::Executor::ElectedLanePerWarp), [&] {
      auto clone = cast<BulkLoadOp>(b.clone(op, mapping));
      clone.getBarrierMutable().assign(barrier);
    });
    return success();
  }
  if (auto load = dyn_cast<TmemLoadOp>(op)) {
    auto clone = cast<TmemLoadOp>(b.clone(op, mapping));
    if (Value written = workResource ? writtenCondition(b, kernel, workResource) : Value()) {
      if (isa<AsyncType>(clone.getType()))
        pendingZeroFill[load.getResult()] = written;
      else
        mapping.map(load.getResult(), zeroUnless(written, clone.getResult()));
    }
    return success();
  }
  if (auto wait = dyn_cast<TmemWaitOp>(op)) {
    auto clone = cast<TmemWaitOp>(b.clone(op, mapping));
    for (auto [value, from, to] : llvm::zip(wait.getValues(), wait.getResults(), clone.getResults()))
      if (auto it = pendingZeroFill.find(value); it != pendingZeroFill.end())
        mapping.map(from, zeroUnless(it->second, to));
    return success();
  }
  if (op.hasTrait<SingleThread>()) {
    // Matrix and UTCCP issue belongs to one thread of the task, copies to one per warp.
    auto who = isa<UmmaOp, TmemCopyOp>(op) ? proto::Executor::OneThreadOfTask
                                           : proto::Executor::ElectedLanePerWarp;
    at(op).guarded(executes(who), [&] { b.clone(op, mapping); });
    return success();
  }
  if (op.getNumRegions())
    return cloneNested(op);
  b.clone(op, mapping);
  return success();
}

//===-- Control ------------------------------------------------------------------------------===//

LogicalResult TaskLowering::lowerFor(ForOp op) {
  llvm::SetVector<int> set;
  collectMutated(*op, set);
  SmallVector<int> vars = set.takeVector();
  Emitter e = at(*op);
  LoopInfo info;
  info.lower = mapping.lookupOrDefault(op.getLower());
  info.upper = mapping.lookupOrDefault(op.getUpper());
  info.step = op.getStep() ? mapping.lookupOrDefault(op.getStep()) : e.index(1);
  SmallVector<Value> inits;
  for (Value init : op.getInits())
    inits.push_back(mapping.lookupOrDefault(init));
  unsigned carried = inits.size();
  llvm::append_range(inits, stateValues(vars));
  auto loop = scf::ForOp::create(b, e.loc, info.lower, info.upper, info.step, inits);
  if (op.getUnroll())
    loop->setAttr("ts.unroll", op.getUnrollAttr());
  info.iv = loop.getInductionVar();
  mapping.map(op.getInductionVar(), info.iv);
  for (auto [arg, value] :
       llvm::zip(op.getBodyBlock().getArguments().drop_front(), loop.getRegionIterArgs()))
    mapping.map(arg, value);
  setState(vars, loop.getRegionIterArgs().drop_front(carried));
  loops.push_back(info);
  {
    OpBuilder::InsertionGuard guard(b);
    if (inits.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(loop.getBody());
    if (failed(lowerBlock(op.getBodyBlock())))
      return failure();
    if (!inits.empty()) {
      SmallVector<Value> yielded;
      for (Value value : op.getBodyBlock().getTerminator()->getOperands())
        yielded.push_back(mapping.lookupOrDefault(value));
      llvm::append_range(yielded, stateValues(vars));
      scf::YieldOp::create(b, e.loc, yielded);
    }
  }
  loops.pop_back();
  for (auto [res, value] : llvm::zip(op.getResults(), loop.getResults()))
    mapping.map(res, value);
  setState(vars, loop.getResults().drop_front(carried));
  return success();
}

/// Tile coordinates of linear tile `t`: the last two dimensions in groups of `group` rows.
static SmallVector<Value> tileCoords(Emitter &e, Value t, ArrayRef<Value> tiles, int64_t group) {
  SmallVector<Value> coords(tiles.size());
  if (tiles.size() == 1) {
    coords[0] = e.toIndex(t);
    return coords;
  }
  unsigned m = tiles.size() - 2;
  Value rows = tiles[m], cols = tiles[m + 1];
  if (m == 1) {
    Value plane = e.mul(rows, cols);
    Value batch = e.divu(t, plane);
    coords[0] = e.toIndex(batch);
    t = e.sub(t, e.mul(batch, plane));
  }
  Value row, col;
  if (group == 1) {
    row = e.divu(t, cols);
    col = e.sub(t, e.mul(row, cols));
  } else {
    Value size = e.i32(group);
    Value perGroup = e.mul(cols, size);
    Value g = e.divu(t, perGroup);
    Value rest = e.sub(t, e.mul(g, perGroup));
    Value first = e.mul(g, size);
    Value left = e.sub(rows, first);
    Value height = e.select(e.cmp(arith::CmpIPredicate::ult, left, size), left, size);
    col = e.divu(rest, height);
    row = e.add(first, e.sub(rest, e.mul(col, height)));
  }
  coords[m] = e.toIndex(row);
  coords[m + 1] = e.toIndex(col);
  return coords;
}

LogicalResult TaskLowering::lowerTileLoop(TileLoopOp op) {
  auto queue = op.getQueue().getDefiningOp<WorkQueueOp>();
  if (queue.getKind() == QueueKind::Clc)
    return emitUnsupported(op) << "cluster launch control queues ('" << queue.getName()
                               << "'); use a static queue";
  llvm::SetVector<int> set;
  collectMutated(*op, set);
  SmallVector<int> vars = set.takeVector();
  Emitter e = at(*op);
  SmallVector<Value> tiles;
  Value total;
  for (Value count : queue.getTiles()) {
    tiles.push_back(e.toI32(mapping.lookupOrDefault(count)));
    total = total ? e.mul(total, tiles.back()) : tiles.back();
  }
  LoopInfo info;
  info.lower = e.toIndex(NVVM::BlockIdXOp::create(b, e.loc, b.getI32Type()));
  info.upper = e.toIndex(total);
  info.step = e.toIndex(NVVM::GridDimXOp::create(b, e.loc, b.getI32Type()));
  SmallVector<Value> inits;
  for (Value init : op.getInits())
    inits.push_back(mapping.lookupOrDefault(init));
  unsigned carried = inits.size();
  llvm::append_range(inits, stateValues(vars));
  auto loop = scf::ForOp::create(b, e.loc, info.lower, info.upper, info.step, inits);
  info.iv = loop.getInductionVar();
  unsigned coords = op.getBody().getNumArguments() - carried;
  for (auto [arg, value] :
       llvm::zip(op.getBodyBlock().getArguments().drop_front(coords), loop.getRegionIterArgs()))
    mapping.map(arg, value);
  setState(vars, loop.getRegionIterArgs().drop_front(carried));
  loops.push_back(info);
  {
    OpBuilder::InsertionGuard guard(b);
    if (inits.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(loop.getBody());
    if (coords || !queue.getSkip().empty()) {
      SmallVector<Value> at = tileCoords(e, e.toI32(info.iv), tiles, queue.getGroup());
      for (unsigned i = 0; i < coords; ++i)
        mapping.map(op.getBody().getArgument(i), at[i]);
      if (!queue.getSkip().empty()) {
        for (auto [arg, value] : llvm::zip(queue.getSkip().getArguments(), at))
          mapping.map(arg, value);
        if (failed(lowerBlock(queue.getSkip().front())))
          return failure();
        skipTile = mapping.lookupOrDefault(
            queue.getSkip().front().getTerminator()->getOperand(0));
      }
    }
    if (failed(lowerBlock(op.getBodyBlock())))
      return failure();
    skipTile = Value();
    if (!inits.empty()) {
      SmallVector<Value> yielded;
      for (Value value : op.getBodyBlock().getTerminator()->getOperands())
        yielded.push_back(mapping.lookupOrDefault(value));
      llvm::append_range(yielded, stateValues(vars));
      scf::YieldOp::create(b, e.loc, yielded);
    }
  }
  loops.pop_back();
  for (auto [res, value] : llvm::zip(op.getResults(), loop.getResults()))
    mapping.map(res, value);
  setState(vars, loop.getResults().drop_front(carried));
  return success();
}

Value TaskLowering::guardCondition(GuardOp op) {
  if (loops.empty())
    return {};
  const LoopInfo &loop = loops.back();
  Emitter e = at(*op);
  switch (op.getKind()) {
  case GuardKind::First:
    return e.eq(loop.iv, loop.lower);
  case GuardKind::NotFirst:
    return e.cmp(arith::CmpIPredicate::ne, loop.iv, loop.lower);
  case GuardKind::Last:
    return e.cmp(arith::CmpIPredicate::sge, e.add(loop.iv, loop.step), loop.upper);
  case GuardKind::NotLast:
    return e.cmp(arith::CmpIPredicate::slt, e.add(loop.iv, loop.step), loop.upper);
  case GuardKind::Every: {
    Value trip = e.divu(e.sub(loop.iv, loop.lower), loop.step);
    return e.eq(e.remu(trip, e.index(op.getPeriod())), e.index(0));
  }
  }
  return {};
}

LogicalResult TaskLowering::lowerBranch(Operation &op, Value condition, Region &body,
                                        Region *orelse) {
  llvm::SetVector<int> set;
  collectMutated(op, set);
  SmallVector<int> vars = set.takeVector();
  SmallVector<Type> types(op.getResultTypes());
  unsigned results = types.size();
  for (int var : vars)
    types.push_back(state[var].getType());
  Emitter e = at(op);
  bool needsElse = !types.empty() || (orelse && !orelse->empty());
  auto branch = scf::IfOp::create(b, e.loc, types, condition, needsElse);
  SmallVector<Value> before = state;
  auto fill = [&](Block *block, Region *region) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    // scf.if without results comes with its terminators.
    if (types.empty())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    SmallVector<Value> yielded;
    if (region && !region->empty()) {
      if (failed(lowerBlock(region->front())))
        return failure();
      for (Value value : region->front().getTerminator()->getOperands())
        yielded.push_back(mapping.lookupOrDefault(value));
    }
    llvm::append_range(yielded, stateValues(vars));
    if (!types.empty())
      scf::YieldOp::create(b, e.loc, yielded);
    state = before;
    return success();
  };
  if (failed(fill(branch.thenBlock(), &body)))
    return failure();
  if (needsElse && failed(fill(branch.elseBlock(), orelse)))
    return failure();
  for (auto [res, value] : llvm::zip(op.getResults(), branch.getResults()))
    mapping.map(res, value);
  setState(vars, branch.getResults().drop_front(results));
  return success();
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
      .Case<NextTileOp>([&](auto o) { return success(); })
      .Case<FetchTileOp>([&](auto o) {
        return emitUnsupported(&op) << "cluster launch control; use a static queue";
      })
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
      .Case<BarrierSyncOp, BarrierArriveOp>([&](auto o) -> LogicalResult {
        auto def = o.getBarrier().template getDefiningOp<NamedBarrierOp>();
        auto ids = def ? def->template getAttrOfType<DenseI64ArrayAttr>("ts.barrier_ids")
                       : DenseI64ArrayAttr();
        if (!ids || ids.empty())
          return op.emitError("takes the result of a ts.named_barrier");
        Value id = e.i32(ids[0]), threads = e.i32(def.getThreads());
        if (isa<BarrierSyncOp>(op))
          NVVM::BarrierOp::create(b, e.loc, Type(), id, threads, NVVM::BarrierReductionAttr(),
                                  Value());
        else
          LLVM::CallIntrinsicOp::create(
              b, e.loc, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
              ValueRange{id, threads});
        return success();
      })
      .Case<MbarrierArriveOp, MbarrierWaitOp>([&](auto o) -> LogicalResult {
        auto def = o.getBarrier().template getDefiningOp<MbarrierOp>();
        auto place = def ? def->template getAttrOfType<IntegerAttr>("ts.mbarrier_offset")
                         : IntegerAttr();
        if (!place)
          return op.emitError("takes the result of a ts.mbarrier");
        Value barrier = e.offset(kernel.smem, place.getInt());
        if (auto wait = dyn_cast<MbarrierWaitOp>(op)) {
          e.wait(barrier, mapping.lookupOrDefault(wait.getParity()));
          return success();
        }
        auto arrive = cast<MbarrierArriveOp>(op);
        if (arrive.getCta())
          return emitUnsupported(&op) << "arrivals on the barriers of other CTAs of a cluster";
        if (arrive.getExpect())
          e.arriveExpectTx(barrier, *arrive.getExpect());
        else
          e.arrive(barrier);
        return success();
      })
      .Case<ElectOp>([&](auto o) -> LogicalResult {
        LogicalResult result = success();
        e.guarded(executes(proto::Executor::ElectedLanePerWarp),
                  [&] { result = lowerBlock(o.getBody().front()); });
        return result;
      })
      .Default([&](Operation *) { return cloneOp(op); });
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

  auto body = [&]() -> LogicalResult {
    collectSides();
    if (failed(lowerBlock(task.getBodyBlock())))
      return failure();
    // Drain: an engine's or a peer's arrival may still be on its way to our empty barriers.
    for (auto &[key, side] : sides) {
      auto &[resource, which] = key;
      const LoweredPipeline &pipeline = kernel.pipelines[resource];
      if (which != proto::Side::Producer || !side.opens ||
          !proto::needsDrain(pipeline.spec, kernel.cluster))
        continue;
      int64_t stride = pipeline.spec.stride(proto::Op::Acquire);
      Value stage = state[side.opening], parity = state[side.opening + 1];
      for (int64_t i = 0; i < pipeline.spec.stages / stride; ++i) {
        e.wait(barrierAddress(pipeline, proto::Barrier::Empty, stage), parity);
        Value next = e.add(stage, e.i32(stride));
        Value wraps = e.cmp(arith::CmpIPredicate::uge, next, e.i32(pipeline.spec.stages));
        stage = e.select(wraps, e.sub(next, e.i32(pipeline.spec.stages)), next);
        parity = e.bitXor(parity, e.extend(wraps));
      }
    }
    return success();
  };

  if (runsInOneThread(task, kernel)) {
    singleThread = true;
    Value elected = NVVM::ElectSyncOp::create(b, e.loc, b.getI1Type(), Value());
    LogicalResult result = success();
    e.guarded(elected, [&] { result = body(); });
    e.syncWarp();
    return result;
  }
  laneLeader = e.eq(kernel.lane, e.i32(0));
  taskLeader = perReplica == 1 ? laneLeader : e.eq(thread, e.i32(0));
  return body();
}

LogicalResult mlir::ts::lowerTask(OpBuilder &b, KernelValues &values, TaskOp task) {
  return TaskLowering(b, values, task).run();
}
