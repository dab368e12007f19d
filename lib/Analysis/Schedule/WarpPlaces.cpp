// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces the view once for each warp, CTA and iteration of the constant loops around it.
#include "ts/Analysis/Schedule/WarpPlaces.h"

#include "ts/Analysis/Schedule/MemoryTrace.h"
#include "ts/Analysis/Schedule/PathWalker.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::ts;
using namespace ::ts::schedule;

static constexpr int64_t kMaxWarps = 512, kMaxIterations = 64;

/// Whether `value` is another number in another lane; warp numbers that are cut from a thread's
/// number are not.
static bool dependsOnLane(Value value) {
  SmallVector<Value> worklist{value};
  llvm::SmallPtrSet<void *, 16> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next.getAsOpaquePointer()).second)
      continue;
    if (seen.size() > 256)
      return true;
    Operation *op = next.getDefiningOp();
    if (!op)
      continue;
    if (auto info = dyn_cast<InfoOp>(op))
      if (info.getKind() == InfoKind::Lane || info.getKind() == InfoKind::Thread)
        return true;
    if (isa<arith::DivUIOp, arith::DivSIOp, arith::ShRUIOp>(op)) {
      auto info = op->getOperand(0).getDefiningOp<InfoOp>();
      auto by = ValueEvaluator().evaluate(op->getOperand(1));
      if (info && info.getKind() == InfoKind::Thread && by &&
          (isa<arith::ShRUIOp>(op) ? *by >= 5 : *by > 0 && *by % 32 == 0))
        continue;
    }
    llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

/// The offsets of the views that `memref` is cut from, and whether all of them are alike in a warp.
static bool sameInWarp(Value memref) {
  for (int hops = 0; hops < 64; ++hops) {
    Operation *op = memref.getDefiningOp();
    if (!op)
      return true;
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      for (Value offset : view.getOffsets())
        if (dependsOnLane(offset))
          return false;
      memref = view.getSource();
    } else if (isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
                   memref::MemorySpaceCastOp>(op)) {
      memref = op->getOperand(0);
    } else {
      return false;
    }
  }
  return false;
}

namespace {
/// One loop around the access with the values of its counter.
struct Counter {
  Value value;
  int64_t lower, step, trips;
};
} // namespace

/// The loops with constant bounds, outermost first, with at most kMaxIterations together. Of a
/// staged buffer those inside of the work call, as another call may see another stage.
static SmallVector<Counter, 2> countersAround(Operation *op, ValueEnv env, bool staged) {
  ValueEvaluator evaluator(env);
  SmallVector<Counter, 2> counters;
  int64_t together = 1;
  for (Operation *parent = op->getParentOp();
       parent && !isa<TaskOp>(parent) && !(staged && isa<ProduceOp, ConsumeOp>(parent));
       parent = parent->getParentOp()) {
    if (!isa<ForOp, scf::ForOp>(parent))
      continue;
    std::optional<int64_t> lower, upper, step = 1;
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      lower = evaluator.evaluate(loop.getLowerBound());
      upper = evaluator.evaluate(loop.getUpperBound());
      step = evaluator.evaluate(loop.getStep());
    } else {
      auto domain = cast<ForOp>(parent);
      lower = evaluator.evaluate(domain.getLower());
      upper = evaluator.evaluate(domain.getUpper());
      if (domain.getStep())
        step = evaluator.evaluate(domain.getStep());
    }
    int64_t range;
    if (!lower || !upper || !step || *step <= 0 || llvm::SubOverflow(*upper, *lower, range))
      continue;
    int64_t trips = range > 0 ? (range - 1) / *step + 1 : 0;
    if (trips > kMaxIterations || together * std::max<int64_t>(trips, 1) > kMaxIterations)
      continue;
    together *= std::max<int64_t>(trips, 1);
    counters.insert(counters.begin(),
                    {parent->getRegion(0).front().getArgument(0), *lower, *step, trips});
  }
  return counters;
}

/// Whether the op runs: nothing if conditions are open, which then may go either way.
static std::optional<bool> reached(Operation *op, ValueEvaluator &evaluator) {
  std::optional<bool> result = true;
  for (Operation *at = op; at && !isa<TaskOp>(at); at = at->getParentOp()) {
    Operation *parent = at->getParentOp();
    Value condition;
    bool expected = true;
    if (auto branch = dyn_cast_or_null<scf::IfOp>(parent))
      condition = branch.getCondition();
    else if (auto when = dyn_cast_or_null<WhenOp>(parent))
      condition = when.getCondition(), expected = when.getExpected();
    else
      continue;
    auto value = dependsOnLane(condition) ? std::nullopt : evaluator.evaluate(condition);
    if (!value)
      result = std::nullopt;
    else if (((*value != 0) == expected) != (at->getParentRegion() == &parent->getRegion(0)))
      return false;
  }
  return result;
}

std::optional<std::vector<WarpPlace>> mlir::ts::warpPlaces(Operation *op, Value memref, TaskOp task,
                                                           int64_t replica, int64_t ctas,
                                                           bool staged) {
  int64_t warps = task.getWarpsPerReplica();
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || !type.hasStaticShape() || ctas < 1 || warps < 1 || ctas * warps > kMaxWarps ||
      !sameInWarp(memref))
    return std::nullopt;
  std::vector<WarpPlace> places;
  for (int64_t cta = 0; cta < ctas; ++cta)
    for (int64_t warp = 0; warp < warps; ++warp) {
      ValueEnv env{cta, warp, replica};
      SmallVector<Counter, 2> counters = countersAround(op, env, staged);
      int64_t iterations = 1;
      for (const Counter &counter : counters)
        iterations *= counter.trips;
      for (int64_t number = 0; number < iterations; ++number) {
        ValueEvaluator evaluator(env);
        int64_t rest = number;
        for (const Counter &counter : llvm::reverse(counters)) {
          evaluator.assume(counter.value, counter.lower + rest % counter.trips * counter.step);
          rest /= counter.trips;
        }
        std::optional<bool> runs = reached(op, evaluator);
        if (runs && !*runs)
          continue;
        SmallVector<MemrefRoot> roots = traceMemref(memref, evaluator);
        if (roots.size() != 1 || !roots[0].exact || !roots[0].work || roots[0].carried ||
            roots[0].size <= 0)
          return std::nullopt;
        WarpPlace place;
        place.cta = int(cta);
        place.warp = int(warp);
        place.begin = roots[0].offset;
        place.size = roots[0].size;
        // With gaps in the view, what overlaps may still have no byte in common.
        place.sure = runs && getBytes(type) == place.size;
        if (llvm::find(places, place) == places.end())
          places.push_back(place);
      }
    }
  return places;
}

std::vector<::ts::protocol::CtaMask> mlir::ts::ctasReached(TmaLoadOp load, TaskOp task,
                                                           int64_t replica,
                                                           const ::ts::protocol::CtaGrid &grid) {
  using ::ts::protocol::CtaMask;
  std::vector<CtaMask> result;
  for (int64_t cta = 0; cta < grid.size(); ++cta) {
    CtaMask mask = CtaMask(1) << cta;
    if (auto along = reachedAlong(load, cta, grid)) {
      mask = *along;
    } else if (load.getMulticast()) {
      auto bits = ValueEvaluator({cta, std::nullopt, replica}).evaluate(load.getMulticast());
      if (!bits)
        return {};
      mask = CtaMask(*bits) & grid.all();
    }
    result.push_back(mask);
  }
  return result;
}
