// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops, work tiles and branches of one task. Every loop and branch carries the pipeline positions
// that its body moves, beside the schedule's own values.
#include "LowerScheduleTask.h"
#include "ts/Support/TileOrder.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Loops --------------------------------------------------------------------------------===//

LogicalResult TaskLowering::lowerLoop(Operation &op, LoopInfo info, ValueRange inits, Block &from,
                                      unsigned firstCarried, Attribute unroll,
                                      llvm::function_ref<LogicalResult(Value)> body) {
  llvm::SetVector<int> set;
  collectMutated(op, set);
  SmallVector<int> vars = set.takeVector();
  // Whole warps at the entry and, below, at the back edge: an elected lane's work is over.
  bool warps = needsWarp(op);
  if (warps)
    converge();
  Emitter e = at(op);
  SmallVector<Value> carried = mapped(inits);
  unsigned own = carried.size();
  llvm::append_range(carried, stateValues(vars));
  auto loop = scf::ForOp::create(b, e.loc, info.lower, info.upper, info.step, carried);
  if (unroll)
    loop->setAttr(kUnrollAttr, unroll);
  info.iv = loop.getInductionVar();
  for (auto [arg, value] :
       llvm::zip(from.getArguments().drop_front(firstCarried), loop.getRegionIterArgs()))
    mapping.map(arg, value);
  setState(vars, loop.getRegionIterArgs().drop_front(own));
  loops.push_back(info);
  {
    OpBuilder::InsertionGuard guard(b);
    // scf.for without results comes with its terminator.
    if (carried.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(loop.getBody());
    if (failed(body(info.iv)))
      return failure();
    if (warps)
      converge();
    if (!carried.empty()) {
      SmallVector<Value> yielded = mapped(from.getTerminator()->getOperands());
      llvm::append_range(yielded, stateValues(vars));
      scf::YieldOp::create(b, e.loc, yielded);
    }
  }
  loops.pop_back();
  for (auto [res, value] : llvm::zip(op.getResults(), loop.getResults()))
    mapping.map(res, value);
  setState(vars, loop.getResults().drop_front(own));
  return success();
}

LogicalResult TaskLowering::lowerFor(ForOp op) {
  Emitter e = at(*op);
  LoopInfo info;
  info.lower = mapping.lookupOrDefault(op.getLower());
  info.upper = mapping.lookupOrDefault(op.getUpper());
  info.step = op.getStep() ? mapping.lookupOrDefault(op.getStep()) : e.index(1);
  return lowerLoop(*op, info, op.getInits(), op.getBodyBlock(), 1, op.getUnrollAttr(),
                   [&](Value iv) {
                     mapping.map(op.getInductionVar(), iv);
                     return lowerBlock(op.getBodyBlock());
                   });
}

//===-- Tiles --------------------------------------------------------------------------------===//

namespace {
/// The arithmetic of ::ts::decodeTile as instructions.
struct TileMath {
  Emitter &e;
  Value constant(int64_t value) { return e.i32(value); }
  Value add(Value x, Value y) { return e.add(x, y); }
  Value sub(Value x, Value y) { return e.sub(x, y); }
  Value mul(Value x, Value y) { return e.mul(x, y); }
  Value divu(Value x, Value y) { return e.divu(x, y); }
  Value minu(Value x, Value y) { return e.select(e.cmp(arith::CmpIPredicate::ult, x, y), x, y); }
};
} // namespace

/// Coordinates of linear tile `t`: the last two dimensions in groups of `group` rows.
static SmallVector<Value> tileCoords(Emitter &e, Value t, ArrayRef<Value> tiles, int64_t group) {
  TileMath math{e};
  SmallVector<Value> coords;
  for (Value coord :
       ::ts::decodeTile(math, t, std::vector<Value>(tiles.begin(), tiles.end()), group))
    coords.push_back(e.toIndex(coord));
  return coords;
}

LogicalResult TaskLowering::lowerTileLoop(TileLoopOp op) {
  auto queue = op.getQueue().getDefiningOp<WorkQueueOp>();
  Emitter e = at(*op);
  SmallVector<Value> tiles;
  Value total;
  for (Value count : queue.getTiles()) {
    tiles.push_back(e.toI32(mapping.lookupOrDefault(count)));
    total = total ? e.mul(total, tiles.back()) : tiles.back();
  }
  if (queue.getKind() == QueueKind::Clc)
    return lowerDynamicTiles(op, queue, tiles);
  LoopInfo info;
  // The CTAs of a cluster share their tiles.
  bool cluster = kernel.kernel.getClusterSize() > 1;
  info.lower = e.toIndex(firstTile(e));
  info.upper = e.toIndex(total);
  info.step = e.toIndex(cluster ? Value(NVVM::ClusterDimXOp::create(b, e.loc, b.getI32Type()))
                                : Value(NVVM::GridDimXOp::create(b, e.loc, b.getI32Type())));
  unsigned coords = op.getBody().getNumArguments() - op.getInits().size();
  return lowerLoop(*op, info, op.getInits(), op.getBodyBlock(), coords, Attribute(),
                   [&](Value iv) { return lowerTile(op, queue, tiles, iv); });
}

LogicalResult TaskLowering::lowerTile(TileLoopOp op, WorkQueueOp queue, ArrayRef<Value> tiles,
                                      Value tile) {
  unsigned coords = op.getBody().getNumArguments() - op.getInits().size();
  Region &skip = queue.getSkip();
  if (coords || !skip.empty()) {
    Emitter e = at(*op);
    SmallVector<Value> values = tileCoords(e, e.toI32(tile), tiles, queue.getGroup());
    for (unsigned i = 0; i < coords; ++i)
      mapping.map(op.getBody().getArgument(i), values[i]);
    if (!skip.empty()) {
      for (auto [arg, value] : llvm::zip(skip.getArguments(), values))
        mapping.map(arg, value);
      if (failed(lowerBlock(skip.front())))
        return failure();
      skipTile = mapping.lookupOrDefault(skip.front().getTerminator()->getOperand(0));
    }
  }
  LogicalResult result = lowerBlock(op.getBodyBlock());
  skipTile = Value();
  return result;
}

//===-- Branches -----------------------------------------------------------------------------===//

/// Whether the answer about the tile after this one was read before `op` runs.
static bool isBehindNextTile(Operation *op) {
  auto loop = op->getParentOfType<TileLoopOp>();
  if (!loop)
    return false;
  Operation *ancestor = loop.getBodyBlock().findAncestorOpInBlock(*op);
  return llvm::any_of(loop.getBodyBlock().getOps<NextTileOp>(), [&](NextTileOp next) {
    return next.getQueue() == loop.getQueue() && next->isBeforeInBlock(ancestor);
  });
}

Value TaskLowering::guardCondition(GuardOp op) {
  if (loops.empty())
    return {};
  const LoopInfo &loop = loops.back();
  Emitter e = at(*op);
  if (!loop.upper && (op.getKind() == GuardKind::Last || op.getKind() == GuardKind::NotLast)) {
    if (isBehindNextTile(op))
      return op.getKind() == GuardKind::Last ? e.negate(state[nextValid]) : state[nextValid];
    emitUnsupported(op) << "which tile of a cluster launch control queue is the last one is known "
                           "only when the next one was asked for; write ts.next_tile before this "
                           "guard, at the start of the tile if need be: the coordinates of the "
                           "tile stay what they are";
    return {};
  }
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
  bool divergedBefore = diverged, divergedAfter = diverged;
  auto fill = [&](Block *block, Region *region) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    // scf.if without results comes with its terminators.
    if (types.empty())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    SmallVector<Value> yielded;
    diverged = divergedBefore;
    if (region && !region->empty()) {
      if (failed(lowerBlock(region->front())))
        return failure();
      yielded = mapped(region->front().getTerminator()->getOperands());
    }
    llvm::append_range(yielded, stateValues(vars));
    if (!types.empty())
      scf::YieldOp::create(b, e.loc, yielded);
    state = before;
    divergedAfter |= diverged;
    return success();
  };
  if (failed(fill(branch.thenBlock(), &body)))
    return failure();
  if (needsElse && failed(fill(branch.elseBlock(), orelse)))
    return failure();
  diverged = divergedAfter;
  for (auto [res, value] : llvm::zip(op.getResults(), branch.getResults()))
    mapping.map(res, value);
  setState(vars, branch.getResults().drop_front(results));
  return success();
}
