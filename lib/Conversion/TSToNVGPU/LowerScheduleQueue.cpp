// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dynamic work queues (cluster launch control): the scheduler's request, the response that every
// task reads, and the tile loop that ends when no cluster was left to cancel. Static queues are
// plain loops (LowerScheduleControl.cpp).
#include "LowerScheduleTask.h"

#include "ts/Dialect/TS/Transforms/Allocation.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

bool mlir::ts::isDynamicQueue(Value queue) {
  auto def = queue.getDefiningOp<WorkQueueOp>();
  return def && def.getKind() == QueueKind::Clc;
}

/// Linear number of the cluster (of the CTA, without clusters) in x.
Value TaskLowering::firstTile(Emitter &e) {
  if (kernel.kernel.getClusterSize() > 1)
    return NVVM::ClusterIdXOp::create(b, e.loc, b.getI32Type());
  return NVVM::BlockIdXOp::create(b, e.loc, b.getI32Type());
}

Value TaskLowering::responseAddress(Emitter &e, Value queue, Value stage) {
  int64_t offset = queue.getDefiningOp()->getAttrOfType<IntegerAttr>(kResponseOffsetAttr).getInt();
  return e.offset(e.offset(kernel.smem, offset), e.mul(stage, e.i32(kClcResponseBytes)));
}

LogicalResult TaskLowering::lowerFetchTile(FetchTileOp op) {
  Value queue = op.getQueue();
  auto found = kernel.pipelines.find(queue);
  Value stage = currentStage(queue, proto::Side::Producer);
  if (found == kernel.pipelines.end() || !stage)
    return op.emitError("asks for a tile without a slot for the answer; put it between ts.acquire "
                        "and ts.commit of '")
           << getResourceName(queue) << "'";
  Emitter e = at(*op);
  // Whoever arms for the answer asks for it.
  Value leader =
      kernel.ctaRank
          ? inCtas(e, proto::arrivingCtas(found->second.spec, kernel.cluster, proto::Op::Acquire,
                                          roleFor(found->second, proto::Op::Acquire)))
          : Value();
  Value mine = both(e, executes(proto::Executor::OneThreadOfTask), leader);
  e.guarded(mine, [&] {
    NVVM::ClusterLaunchControlTryCancelOp::create(
        b, e.loc, kernel.ctaRank ? b.getUnitAttr() : UnitAttr(), responseAddress(e, queue, stage),
        barrierAddress(found->second, proto::Barrier::Full, stage));
  });
  diverged |= bool(mine);
  return success();
}

/// Waits for the response, reads it, gives the slot back.
LogicalResult TaskLowering::lowerNextTile(NextTileOp op) {
  Value queue = op.getQueue();
  if (!isDynamicQueue(queue))
    return success(); // the loop's own counter
  if (nextTile < 0)
    return op.emitError("advances '")
           << getResourceName(queue)
           << "' outside of a loop over its tiles; put it into a ts.tile_loop of that queue";
  if (failed(lowerStep(*op, queue, proto::Op::Wait)))
    return failure();
  Emitter e = at(*op);
  Value stage = currentStage(queue, proto::Side::Consumer);
  Value response = LLVM::LoadOp::create(b, e.loc, b.getIntegerType(128),
                                        responseAddress(e, queue, stage), kClcResponseBytes);
  auto ask = [&](Type type, NVVM::ClusterLaunchControlQueryType what) -> Value {
    return NVVM::ClusterLaunchControlQueryCancelOp::create(b, e.loc, type, what, response);
  };
  state[nextValid] = ask(b.getI1Type(), NVVM::ClusterLaunchControlQueryType::IS_CANCELED);
  // To ask for the place of a cluster that was not cancelled is undefined (PTX ISA 8.8,
  // clusterlaunchcontrol.query_cancel). Assembly, since LLVM moves its intrinsic out of the branch.
  auto place = [&]() -> Value {
    Type half = b.getI64Type();
    Value bits = LLVM::ConstantOp::create(b, e.loc, b.getIntegerAttr(response.getType(), 64));
    Value low = LLVM::TruncOp::create(b, e.loc, half, response);
    Value high = LLVM::TruncOp::create(b, e.loc, half,
                                       LLVM::LShrOp::create(b, e.loc, response, bits).getResult());
    auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
    return LLVM::InlineAsmOp::create(
               b, e.loc, b.getI32Type(), ValueRange{low, high},
               "{ .reg .b128 response; mov.b128 response, {$1, $2}; "
               "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 $0, response; }",
               "=r,l,l", /*has_side_effects=*/true, /*is_align_stack=*/false,
               LLVM::TailCallKind::None, dialect, ArrayAttr())
        .getResult(0);
  };
  Value cta = e.choose(state[nextValid], b.getI32Type(), place, [&] { return e.i32(0); });
  int64_t width = kernel.kernel.getClusterSize() > 1 ? kernel.kernel.getCluster()[0] : 1;
  state[nextTile] = width > 1 ? e.divu(cta, e.i32(width)) : cta;
  return lowerStep(*op, queue, proto::Op::Release);
}

LogicalResult TaskLowering::lowerDynamicTiles(TileLoopOp op, WorkQueueOp queue,
                                              ArrayRef<Value> tiles) {
  Emitter e = at(*op);
  int outerTile = nextTile, outerValid = nextValid;
  nextTile = newVar(firstTile(e));
  nextValid = newVar(e.boolean(true));
  llvm::SetVector<int> set;
  collectMutated(*op, set);
  set.insert(nextTile);
  set.insert(nextValid);
  SmallVector<int> vars = set.takeVector();
  bool warps = needsWarp(*op);
  if (warps)
    converge();
  SmallVector<Value> carried = mapped(op.getInits());
  unsigned own = carried.size();
  llvm::append_range(carried, stateValues(vars));
  carried.push_back(e.index(0)); // how many tiles this one had before
  SmallVector<Type> types = llvm::map_to_vector(carried, [](Value v) { return v.getType(); });
  SmallVector<Location> locs(types.size(), e.loc);
  auto loop = scf::WhileOp::create(b, e.loc, types, carried);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  size_t valid = own + size_t(llvm::find(vars, nextValid) - vars.begin());
  scf::ConditionOp::create(b, e.loc, before->getArgument(valid), before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, types, locs);
  ValueRange args = body->getArguments();
  unsigned coords = op.getBody().getNumArguments() - op.getInits().size();
  for (auto [arg, value] : llvm::zip(op.getBody().getArguments().drop_front(coords), args))
    mapping.map(arg, value);
  setState(vars, args.slice(own, vars.size()));
  LoopInfo info;
  info.iv = args.back();
  info.lower = e.index(0);
  info.step = e.index(1);
  loops.push_back(info);
  LogicalResult result = lowerTile(op, queue, tiles, state[nextTile]);
  loops.pop_back();
  if (failed(result))
    return failure();
  if (warps)
    converge();
  SmallVector<Value> yielded = mapped(op.getBodyBlock().getTerminator()->getOperands());
  llvm::append_range(yielded, stateValues(vars));
  yielded.push_back(e.add(args.back(), e.index(1)));
  scf::YieldOp::create(b, e.loc, yielded);
  for (auto [res, value] : llvm::zip(op.getResults(), loop.getResults()))
    mapping.map(res, value);
  setState(vars, loop.getResults().slice(own, vars.size()));
  nextTile = outerTile;
  nextValid = outerValid;
  return success();
}
