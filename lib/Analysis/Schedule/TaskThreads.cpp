// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk and its control flow; accesses and synchronisation stand in files of their own.
#include "TaskThreads.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
namespace proto = ::ts::protocol;

static constexpr int64_t kMostSteps = int64_t(1) << 16, kMostTrips = 4096;

TaskThreads::TaskThreads(KernelContext &context, TaskOp task, int64_t replica,
                         ::ts::schedule::Task &out, const StepMap &works,
                         PathConditions &conditions)
    : context(context), task(task), replica(replica), out(out), works(works),
      conditions(conditions), warps(unsigned(std::clamp<int64_t>(out.warps, 1, 32))) {}

void TaskThreads::run() {
  if (out.warps < 1 || out.warps > 32 || !worthIt())
    return;
  values.emplace(task, replica, warps * 32);
  races.emplace(
      *values, warps,
      [&](int allocation) { return context.model.kernel.allocations[size_t(allocation)].name; },
      out, [&](Operation *op) { return context.place(op); },
      [&](int a, int b) { return overlaid(a, b); });
  // Trip counts that the launch decides: none, one, and as many as it takes for every ring of
  // parts to come round; and each such loop left out while the others run.
  int64_t enough = 3;
  task.walk([&](Operation *op) {
    if (isa<arith::RemUIOp, arith::RemSIOp>(op))
      if (auto by = conditions.values().evaluate(op->getOperand(1)); by && *by < 8)
        enough = std::max(enough, *by + 1);
    if (isScheduleLoop(op) && !conditions.constantTrips(op))
      openLoops.push_back(op);
  });
  // A ring on which one thread speaks for all does not order the others: see it come round.
  for (const auto &resource : context.model.kernel.resources)
    if (resource.pipeline && warps > 1)
      for (proto::Op op : {proto::Op::Commit, proto::Op::Release})
        if (auto arrive =
                proto::actionFor(*resource.pipeline, context.model.kernel.cluster, op).arrive;
            arrive && arrive->who == proto::Executor::OneThreadOfTask)
          enough = std::clamp<int64_t>(resource.pipeline->stages + 1, enough, 9);
  trips = enough;
  walkOnce();
  bool skips = false;
  task.walk([&](SkippableOp) { skips = true; });
  if (skips) {
    skippedTiles = 1;
    walkOnce();
    skippedTiles = 2;
    walkOnce();
    skippedTiles = 0;
  }
  if (openLoops.empty())
    return;
  for (trips = 0; trips < 2; ++trips)
    walkOnce();
  trips = enough;
  constexpr size_t kMostLoops = 16;
  for (size_t i = 0; openLoops.size() > 1 && i < std::min(openLoops.size(), kMostLoops); ++i) {
    skipped = openLoops[i];
    if (conditions.minTrips(skipped) == 0)
      walkOnce();
  }
  skipped = nullptr;
}

bool TaskThreads::overlaid(int a, int b) const {
  const ::ts::schedule::Kernel &kernel = context.model.kernel;
  const auto &x = kernel.allocations[size_t(a)], &y = kernel.allocations[size_t(b)];
  if (x.space != y.space || x.resource < 0 || y.resource < 0)
    return false;
  if (x.at >= 0 && y.at >= 0 && x.at < y.at + y.bytes && y.at < x.at + x.bytes)
    return true;
  for (const auto &group : kernel.aliasGroups)
    for (const auto &phase : group.phases)
      if (llvm::is_contained(phase, x.resource) && !llvm::is_contained(phase, y.resource))
        for (const auto &other : group.phases)
          if (llvm::is_contained(other, y.resource))
            return true;
  return false;
}

/// Only threads that write can surprise each other, but whoever reads can reach too far.
bool TaskThreads::worthIt() {
  bool writes = false, reads = false;
  task.walk([&](Operation *op) {
    if (isa<ProduceOp, ConsumeOp>(op)) {
      if (auto it = works.find(op); it != works.end() && out.warps > 1)
        for (const auto &access : out.steps[size_t(it->second)].event.accesses) {
          writes |= access.write;
          reads = true;
        }
      return;
    }
    if (op->getNumRegions() != 0)
      return;
    for (const MemrefAccess &access : accessesOf(op, conditions.values())) {
      writes |= access.write;
      reads |= (access.engine & (proto::EngineTma | proto::EngineUmma | proto::EngineUtccp)) == 0;
    }
  });
  writesAndReads = writes && reads;
  return writes || reads;
}

void TaskThreads::walkOnce() {
  races->restart();
  rings.clear();
  barriers.clear();
  arrived.clear();
  byLane.clear();
  steps = 0;
  Scope scope;
  scope.threads.resize(warps * 32, true);
  block(task.getBodyBlock(), scope);
}

void TaskThreads::block(Block &ops, const Scope &scope) {
  for (Operation &op : ops) {
    if (++steps > kMostSteps || races->exhausted()) {
      if (!std::exchange(cut, true) && writesAndReads)
        races->assume("warps of '" + out.source +
                          "' touch different parts of memory wherever no task barrier stands in "
                          "between; the task is too long to look at all of it",
                      task, task, -1);
      return;
    }
    operation(&op, scope);
  }
}

llvm::BitVector TaskThreads::warpsOf(const llvm::BitVector &threads) const {
  llvm::BitVector result(warps);
  for (unsigned thread : threads.set_bits())
    result.set(thread / 32);
  return result;
}

void TaskThreads::operation(Operation *op, const Scope &scope) {
  if (scope.threads.none())
    return;
  if (isa<ProduceOp, ConsumeOp>(op)) {
    if (op->getRegion(0).empty())
      return declaredWork(op, scope);
    bodyViews(op);
    block(op->getRegion(0).front(), scope);
    return results(op, op->getRegion(0).front());
  }
  if (control(op, scope) || synchronise(op, scope) || isa<FragmentMapOp>(op))
    return;
  values->execute(op);
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return subview(view);
  if (isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
          memref::MemorySpaceCastOp>(op)) {
    views[op->getResult(0)] = viewOf(op->getOperand(0));
    return;
  }
  if (op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType()))
    // Some other view of what its operands are.
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType())) {
        views[op->getResult(0)] = viewOf(operand);
        views[op->getResult(0)].known = false;
      }
  accesses(op, scope);
  // Control flow of other dialects: its body is run once, for we do not know whom or how often.
  Scope inside = scope;
  inside.undecided = true;
  for (Region &region : op->getRegions())
    for (Block &nested : region)
      block(nested, inside);
}

//===-- Control flow -------------------------------------------------------------------------===//

void TaskThreads::bind(Value to, Value from, bool counts) {
  if (to.getType().isIntOrIndex()) {
    ThreadNumber number = values->get(from);
    Operation *op = from.getDefiningOp();
    if (counts && op &&
        !isa<arith::RemUIOp, arith::RemSIOp, arith::AndIOp, arith::XOrIOp, arith::SelectOp>(op))
      number.sampled = number.known;
    values->set(to, std::move(number));
  } else if (isa<MemRefType>(to.getType())) {
    views[to] = viewOf(from);
  }
}

void TaskThreads::results(Operation *op, Block &from) {
  if (from.empty() || !from.back().hasTrait<OpTrait::IsTerminator>())
    return;
  for (auto [result, value] : llvm::zip(op->getResults(), from.back().getOperands()))
    bind(result, value);
}

void TaskThreads::alternatives(Operation *op, bool taken, const Scope &scope) {
  unsigned index = taken ? 0 : 1;
  if (index >= op->getNumRegions() || op->getRegion(index).empty())
    return;
  block(op->getRegion(index).front(), scope);
  results(op, op->getRegion(index).front());
}

void TaskThreads::branch(Operation *op, const ThreadNumber &condition, bool expected,
                         const Scope &scope) {
  auto merged = [&] {
    for (Value result : op->getResults())
      if (result.getType().isIntOrIndex())
        values->set(result, {});
      else
        views.erase(result);
  };
  if (condition.plain()) {
    if (condition.uniform())
      return alternatives(op, (condition.of(0) != 0) == expected, scope);
    for (bool taken : {true, false}) {
      Scope some = scope;
      for (unsigned thread : scope.threads.set_bits())
        if (((condition.of(thread) != 0) == expected) != taken)
          some.threads.reset(thread);
      if (some.threads.any())
        alternatives(op, taken, some);
    }
    return merged();
  }
  ThreadRaces::Certain before = races->enterBranch();
  ThreadRaces::Certain ends[2];
  for (bool taken : {false, true}) {
    Scope some = scope;
    if (condition.uniform() && condition.terms.size() == 1)
      some.conditions.push_back({condition.terms[0].symbol, taken == expected});
    else
      some.undecided = true;
    alternatives(op, taken, some);
    ends[taken] = races->leaveWay(before);
  }
  races->leaveBranch(ends[0], ends[1]);
  merged();
}

bool TaskThreads::control(Operation *op, const Scope &scope) {
  if (isScheduleLoop(op)) {
    loop(op, scope);
  } else if (auto guard = dyn_cast<GuardOp>(op)) {
    bool taken = true;
    switch (guard.getKind()) {
    case GuardKind::First:
      taken = scope.first;
      break;
    case GuardKind::NotFirst:
      taken = !scope.first;
      break;
    case GuardKind::Last:
      taken = scope.last;
      break;
    case GuardKind::NotLast:
      taken = !scope.last;
      break;
    case GuardKind::Every:
      taken = scope.index % std::max<int64_t>(1, int64_t(guard.getPeriod())) == 0;
      break;
    }
    alternatives(op, taken, scope);
  } else if (auto when = dyn_cast<WhenOp>(op)) {
    branch(op, values->get(when.getCondition()), when.getExpected(), scope);
  } else if (auto branchOp = dyn_cast<scf::IfOp>(op)) {
    branch(op, values->get(branchOp.getCondition()), true, scope);
  } else if (isa<SkippableOp>(op)) {
    if (skippedTiles == 2 || (skippedTiles == 1 && scope.index % 2 == 1))
      return true;
    block(op->getRegion(0).front(), scope);
    results(op, op->getRegion(0).front());
  } else if (isa<ElectOp>(op)) {
    Scope one = scope;
    one.elected = true;
    block(op->getRegion(0).front(), one);
  } else {
    return false;
  }
  return true;
}

void TaskThreads::loop(Operation *op, const Scope &scope) {
  Block &body = op->getRegion(0).front();
  ValueRange inits;
  ThreadNumber lower = ThreadNumber::constant(0), upper, step = ThreadNumber::constant(1);
  bool tiles = false;
  if (auto domain = dyn_cast<ForOp>(op)) {
    inits = domain.getInits();
    lower = values->get(domain.getLower());
    upper = values->get(domain.getUpper());
    if (domain.getStep())
      step = values->get(domain.getStep());
  } else if (auto inner = dyn_cast<scf::ForOp>(op)) {
    inits = inner.getInits();
    lower = values->get(inner.getLowerBound());
    upper = values->get(inner.getUpperBound());
    step = values->get(inner.getStep());
  } else {
    inits = cast<TileLoopOp>(op).getInits();
    tiles = true;
  }
  unsigned leading = body.getNumArguments() - inits.size();
  // A number of trips for every thread, where it can be told.
  std::vector<int64_t> each;
  if (!tiles && lower.plain() && upper.plain() && step.plain())
    for (unsigned thread = 0; thread < values->size(); ++thread) {
      int64_t by = step.of(thread), from = lower.of(thread), to = upper.of(thread);
      constexpr int64_t kBig = int64_t(1) << 40;
      if (by < 1 || by > kBig || std::abs(from) > kBig || std::abs(to) > kBig)
        break;
      each.push_back(to > from ? (to - from + by - 1) / by : 0);
    }
  bool exact = each.size() == values->size();
  int64_t count = exact ? *llvm::max_element(each)
                        : std::max(op == skipped ? 0 : trips, conditions.minTrips(op));
  if (count > kMostTrips) {
    exact = false;
    count = 8;
    each.clear();
  }
  auto enter = [&](int64_t number, Scope &inside) {
    if (!each.empty() && exact)
      for (unsigned thread : scope.threads.set_bits())
        if (each[thread] <= number)
          inside.threads.reset(thread);
    if (tiles) {
      for (unsigned i = 0; i < leading; ++i)
        values->set(body.getArgument(i), values->fresh());
      return;
    }
    ThreadNumber at = lower.known && step.plain()
                          ? values->add(lower, values->scale(step, number))
                          : (step.uniform() && lower.uniform() ? values->fresh() : ThreadNumber());
    at.sampled = !exact;
    values->set(body.getArgument(0), std::move(at));
  };
  iterate(op, scope, count, leading, enter, inits, exact);
}

void TaskThreads::iterate(Operation *op, const Scope &scope, int64_t count, unsigned leading,
                          llvm::function_ref<void(int64_t, Scope &)> enter, ValueRange inits,
                          bool exact) {
  Block &body = op->getRegion(0).front();
  for (auto [i, init] : llvm::enumerate(inits))
    bind(body.getArgument(leading + unsigned(i)), init);
  for (int64_t number = 0; number < count && !races->exhausted() && steps <= kMostSteps; ++number) {
    Scope inside = scope;
    if (!isa<scf::ForOp>(op)) {
      inside.first = number == 0;
      inside.last = number + 1 == count;
      inside.index = number;
    }
    enter(number, inside);
    block(body, inside);
    // All at once: a yielded value may be another carried one.
    ValueRange yielded = body.getTerminator()->getOperands();
    SmallVector<std::pair<ThreadNumber, ThreadView>> next;
    for (Value value : yielded.take_front(inits.size()))
      next.push_back({value.getType().isIntOrIndex() ? values->get(value) : ThreadNumber(),
                      isa<MemRefType>(value.getType()) ? viewOf(value) : ThreadView()});
    for (auto [i, pair] : llvm::enumerate(next)) {
      Value arg = body.getArgument(leading + unsigned(i));
      if (isa<MemRefType>(arg.getType())) {
        views[arg] = pair.second;
      } else if (arg.getType().isIntOrIndex()) {
        Operation *from = yielded[i].getDefiningOp();
        bool counts =
            !exact && from &&
            !isa<arith::RemUIOp, arith::RemSIOp, arith::AndIOp, arith::XOrIOp, arith::SelectOp>(
                from);
        pair.first.sampled |= counts && pair.first.known;
        values->set(arg, pair.first);
      }
    }
  }
  for (auto [result, arg] : llvm::zip(op->getResults(), body.getArguments().drop_front(leading)))
    bind(result, arg);
}
