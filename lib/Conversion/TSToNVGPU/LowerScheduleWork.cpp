// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work bodies of one task: inlined on the views of their stage, each primitive under the condition
// of the thread that issues it; ts.info. What a primitive becomes is ts-lower-work's part.
#include "LowerScheduleTask.h"

#include "ts/Analysis/Protocol/Completion.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

//===-- Bodies -------------------------------------------------------------------------------===//

Value TaskLowering::stageView(Operation &op, ResourceOp resource, unsigned index, Value stage) {
  Emitter e = at(op);
  auto alloc = cast<AllocAttr>(resource.getAllocs()[index]);
  int64_t offset = resource->getAttrOfType<DenseI64ArrayAttr>(kOffsetsAttr)[index];
  int64_t stride = resource->getAttrOfType<DenseI64ArrayAttr>(kStridesAttr)[index];
  Value position = e.i32(offset);
  if (stride && stage)
    position = e.add(position, e.mul(stage, e.i32(stride)));
  MemRefType type = alloc.getType();
  if (isTmem(type))
    return TmemViewOp::create(b, e.loc, type, e.add(kernel.tmemBase, position));
  auto plain =
      MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(),
                      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup));
  Value view =
      memref::ViewOp::create(b, e.loc, plain, kernel.smemBytes, e.toIndex(position), ValueRange());
  return memref::MemorySpaceCastOp::create(b, e.loc, type, view);
}

LogicalResult TaskLowering::lowerWork(Operation &op, Value resource, Region &body,
                                      proto::Side side) {
  StringRef label = op.getAttrOfType<StringAttr>("label").getValue();
  auto def = resource.getDefiningOp<ResourceOp>();
  Value stage = currentStage(resource, side);
  // Of a ping-pong resource the producer reads under its acquire, and the consumer writes under its
  // wait: the bracket that the task has decides.
  if (!stage) {
    proto::Side other =
        side == proto::Side::Producer ? proto::Side::Consumer : proto::Side::Producer;
    if ((stage = currentStage(resource, other)))
      side = other;
  }
  if (!stage && body.getNumArguments() && kernel.pipelines.contains(resource))
    return op.emitError("work \"") << label << "\" takes a stage of '" << getResourceName(resource)
                                   << "', but task '" << task.getName() << "' has no bracket of it";
  for (BlockArgument arg : body.getArguments())
    mapping.map(arg, stageView(op, def, arg.getArgNumber(), stage));
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

//===-- Information --------------------------------------------------------------------------===//

/// Stages that the enclosing work's side holds open: one inside a bracket; with an advance flag, as
/// many as the openings lead.
Value TaskLowering::inFlight(Operation &op) {
  auto it = sides.find(Key(workResource, workSide));
  if (it == sides.end())
    return {};
  Emitter e = at(op);
  SideState &side = it->second;
  if (side.opened < 0 || side.closing < 0)
    return e.i32(1);
  Value stages = e.i32(kernel.pipelines[workResource].spec.stages);
  Value ahead = e.add(e.sub(state[side.opening], state[side.closing]), stages);
  Value rest = e.remu(ahead, stages);
  return e.select(e.eq(rest, e.i32(0)), stages, rest);
}

LogicalResult TaskLowering::lowerInfo(InfoOp op) {
  Emitter e = at(*op);
  Value value;
  const LoopInfo *loop = loops.empty() ? nullptr : &loops.back();
  Value stage = workResource ? currentStage(workResource, workSide) : Value();
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
    value = stage;
    break;
  case InfoKind::Barrier:
    if (stage && kernel.pipelines.contains(workResource))
      value = LLVM::PtrToIntOp::create(
          b, e.loc, b.getI32Type(),
          barrierAddress(kernel.pipelines[workResource], proto::Barrier::Full, stage));
    break;
  case InfoKind::LoopOffset:
    value = loop ? loop->iv : Value();
    break;
  case InfoKind::LoopStart:
    value = loop ? loop->lower : Value();
    break;
  case InfoKind::LoopEnd:
    value = loop ? loop->upper : Value();
    break;
  case InfoKind::LoopStep:
    value = loop ? loop->step : Value();
    break;
  case InfoKind::InFlight:
    value = workResource ? inFlight(*op) : Value();
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

//===-- Primitives ---------------------------------------------------------------------------===//

LogicalResult TaskLowering::cloneNested(Operation &op) {
  // Regions of foreign ops (scf, ...) are rebuilt block by block so that ts ops inside are lowered.
  llvm::SetVector<int> moved;
  collectMutated(op, moved);
  if (!moved.empty())
    return emitUnsupported(&op) << "pipeline operations inside '" << op.getName()
                                << "'; use ts.for, ts.guard or ts.when";
  bool warps = needsWarp(op);
  if (warps)
    converge();
  bool before = diverged;
  Operation *clone = op.cloneWithoutRegions(mapping);
  b.insert(clone);
  bool after = before;
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
    diverged = before;
    if (failed(lowerBlock(from.front())))
      return failure();
    // The region may run again.
    if (warps)
      converge();
    after |= diverged;
    b.clone(*from.front().getTerminator(), mapping);
  }
  diverged = after;
  return success();
}

Value TaskLowering::zeroUnless(Value written, Value loaded) {
  Emitter e(b, loaded.getLoc());
  Value zero = arith::ConstantOp::create(b, e.loc, b.getZeroAttr(loaded.getType()));
  return e.select(written, loaded, zero);
}

/// The full barrier of the enclosing ts.produce, on which a copy without one of its own completes.
FailureOr<Value> TaskLowering::copyBarrier(Operation &op) {
  auto it = workResource ? kernel.pipelines.find(workResource) : kernel.pipelines.end();
  Value stage = it == kernel.pipelines.end() || workSide != proto::Side::Producer
                    ? Value()
                    : currentStage(workResource, proto::Side::Producer);
  if (!stage)
    return op.emitError("completes on the full barrier of the enclosing ts.produce, but there is "
                        "none of a pipelined resource here");
  return completionBarrier(op, it->second, barrierAddress(it->second, proto::Barrier::Full, stage));
}

/// The CTAs that a copy goes to by its `along`; null where it is this one alone.
FailureOr<Value> TaskLowering::multicastMask(TmaLoadOp load) {
  auto it = workResource ? kernel.pipelines.find(workResource) : kernel.pipelines.end();
  if (it == kernel.pipelines.end())
    return load.emitError("'along' follows the cluster layout of the enclosing ts.produce's "
                          "pipeline, but there is none here; give the mask: multicast(...)");
  proto::CtaGrid grid(it->second.spec, kernel.cluster);
  SmallVector<int64_t> masks;
  for (int64_t cta = 0; cta < grid.size(); ++cta)
    masks.push_back(int64_t(*reachedAlong(load, cta, grid)));
  if (grid.size() == 1 || llvm::all_of(masks, [](int64_t m) { return (m & (m - 1)) == 0; }))
    return Value();
  Emitter e = at(*load);
  return Value(arith::TruncIOp::create(b, e.loc, b.getI16Type(), ofThisCta(e, masks)).getResult());
}

/// An instruction of one thread: copies in one lane of every warp, matrix operations in one of the
/// task.
LogicalResult TaskLowering::cloneElected(Operation &op) {
  bool matrix = isa<UmmaOp, TmemCopyOp>(op) && !ummaPerWarp;
  Value mine =
      executes(matrix ? proto::Executor::OneThreadOfTask : proto::Executor::ElectedLanePerWarp);
  // The leader of a pair issues the products of both CTAs.
  if (isa<UmmaOp, TmemCopyOp>(op) && kernel.ctaGroup == 2) {
    Emitter e = at(op);
    proto::CtaGrid grid(proto::PipelineSpec(), kernel.cluster);
    mine = both(e, mine, inCtas(e, proto::issuingCtas(grid)));
  }
  auto load = dyn_cast<TmaLoadOp>(op);
  auto bulk = dyn_cast<BulkLoadOp>(op);
  Value barrier;
  if ((load && !load.getBarrier()) || (bulk && !bulk.getBarrier())) {
    FailureOr<Value> full = copyBarrier(op);
    if (failed(full))
      return failure();
    barrier = *full;
  }
  Value peers;
  if (load && load.getAlong()) {
    FailureOr<Value> mask = multicastMask(load);
    if (failed(mask))
      return failure();
    peers = *mask;
  }
  at(op).guarded(mine, [&] {
    Operation *clone = b.clone(op, mapping);
    if (auto copy = dyn_cast<TmaLoadOp>(clone); copy && copy.getAlong()) {
      copy.removeAlongAttr();
      if (peers)
        copy.getMulticastMutable().assign(peers);
    }
    if (barrier && load)
      cast<TmaLoadOp>(clone).getBarrierMutable().assign(barrier);
    else if (barrier)
      cast<BulkLoadOp>(clone).getBarrierMutable().assign(barrier);
  });
  diverged |= bool(mine);
  return success();
}

LogicalResult TaskLowering::cloneOp(Operation &op) {
  if (op.hasTrait<SingleThread>())
    return cloneElected(op);
  if (isa<WarpSyncOp>(op))
    diverged = false;
  else if (op.hasTrait<WarpCollective>())
    converge();
  if (op.getNumRegions())
    return cloneNested(op);
  // The fence orders what has ended, and a store to tensor memory ends with its wait (PTX ISA 8.8,
  // tcgen05.wait).
  if (auto by = dyn_cast<FenceOp>(op);
      by && by.getKind() == FenceKind::TcgenBefore && !singleThread &&
      task.walk([](TmemStoreOp) { return WalkResult::interrupt(); }).wasInterrupted())
    fence(proto::Fence::TcgenWaitSt);
  Operation *clone = b.clone(op, mapping);
  auto wait = dyn_cast<TmemWaitOp>(op);
  bool ready = isa<TmemLoadOp>(op) && !isa<AsyncType>(op.getResult(0).getType());
  for (auto [number, from] : llvm::enumerate(op.getResults())) {
    if (!wait && !ready)
      break;
    FailureOr<Value> written =
        writtenCondition(b, kernel, &op, wait ? wait.getValues()[number] : from);
    if (failed(written))
      return failure();
    if (*written)
      mapping.map(from, zeroUnless(*written, clone->getResult(number)));
  }
  return success();
}
