// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS109, its other half: operations that mean something only if all threads of the task, of a warp
// or of a warpgroup execute them, under conditions that differ between those threads. Which bytes
// the threads touch is the prover's.
#include "VerifyStructureImpl.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/BitVector.h"

#include <deque>

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

namespace {
/// Whose threads are sure to have the same value; a later one is a smaller set.
enum class Shared : uint8_t { Task, Warpgroup, Warp, Thread };

/// Where scalar values of one task differ between its threads.
class TaskValues {
public:
  explicit TaskValues(TaskOp task)
      : task(task), threads(unsigned(std::clamp<int64_t>(task.getWarpsPerReplica(), 1, 32) * 32)),
        replicas(unsigned(std::clamp<int64_t>(task.getReplicas(), 1, 32))) {}

  /// Who shares `value`, and an op that tells the others apart.
  std::pair<Shared, Operation *> shared(Value value);
  /// The value in every thread of every replica, if the thread's identity decides it.
  std::optional<SmallVector<int64_t>> numbers(Value value);
  unsigned size() const { return threads * replicas; }

private:
  Shared sharedBy(ArrayRef<int64_t> numbers) const;

  TaskOp task;
  unsigned threads, replicas;
  std::vector<ValueEvaluator> evaluators; ///< one for each thread
};

/// A region that not all threads of the task execute, or not all equally often.
struct Part {
  Operation *op = nullptr;
  Region *region = nullptr;
  Value condition; ///< of a branch
  bool taken = true;
  Shared shared = Shared::Thread;
  Operation *source = nullptr;
  std::optional<llvm::BitVector> who; ///< if it is known
};
using Parts = SmallVector<const Part *, 4>;

class ThreadChecker {
public:
  ThreadChecker(TaskOp task, CheckReporter &reporter)
      : task(task), reporter(reporter), values(task) {}
  void run();

private:
  void visit(Operation *op, const Parts &parts);
  void judge(Operation *op, const Parts &parts);
  void judgeGroup(Operation *op, const Parts &parts);
  void report(Operation *op, const Part &part, const Twine &why);
  bool oneLaneOfEachWarp(const Parts &parts) const;
  bool within(Operation *copy, const Parts &parts, const Part &part) const;

  TaskOp task;
  CheckReporter &reporter;
  TaskValues values;
  std::deque<Part> made;
  SmallVector<std::pair<Operation *, Parts>> groups, copies;
};
} // namespace

//===-- Values -------------------------------------------------------------------------------===//

/// Whether all lanes of a warp get the same from what each of them gives.
static bool combinesLanes(Operation *op) {
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
    return shuffle.getMode() == gpu::ShuffleMode::IDX &&
           matchPattern(shuffle.getOffset(), m_Constant());
  // By name: the schedule does not depend on the dialect of the target.
  StringRef name = op->getName().getStringRef();
  return isa<gpu::SubgroupReduceOp>(op) || name == "nvvm.vote.sync" || name == "nvvm.redux.sync" ||
         name == "gpu.ballot";
}

/// What an op adds by itself to the differences between threads.
static Shared identityOf(Operation *op) {
  if (auto info = dyn_cast<InfoOp>(op)) {
    if (info.getKind() == InfoKind::Warp)
      return Shared::Warp;
    return info.getKind() == InfoKind::Thread || info.getKind() == InfoKind::Lane ? Shared::Thread
                                                                                  : Shared::Task;
  }
  if (isa<gpu::SubgroupIdOp>(op) || combinesLanes(op))
    return Shared::Warp;
  // Every lane has a part of what a warp loads or computes together, and memory of its own.
  bool own = op->hasTrait<WarpCollective>() ||
             isa<gpu::ThreadIdOp, gpu::LaneIdOp, memref::AllocaOp, memref::AtomicRMWOp>(op);
  return own ? Shared::Thread : Shared::Task;
}

/// The bounds of a loop, and the initial values of what it carries.
static bool loopParts(Operation *op, SmallVectorImpl<Value> &bounds, ValueRange &inits) {
  if (auto loop = dyn_cast<ForOp>(op)) {
    bounds.append({loop.getLower(), loop.getUpper()});
    if (loop.getStep())
      bounds.push_back(loop.getStep());
    inits = loop.getInits();
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    bounds.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    inits = loop.getInitArgs();
  } else if (auto loop = dyn_cast<TileLoopOp>(op)) {
    inits = loop.getInits();
  } else {
    return false;
  }
  return true;
}

/// What `value` is made from, in one step.
static void sourcesOf(Value value, SmallVectorImpl<Value> &out) {
  SmallVector<Value> bounds;
  ValueRange inits;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *op = arg.getOwner()->getParentOp();
    if (!op || isa<KernelOp, TaskOp, ProduceOp, ConsumeOp>(op))
      return;
    if (!loopParts(op, bounds, inits)) {
      llvm::append_range(out, op->getOperands());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (block.mightHaveTerminator())
            llvm::append_range(out, block.getTerminator()->getOperands());
      return;
    }
    llvm::append_range(out, bounds);
    unsigned leading = arg.getOwner()->getNumArguments() - inits.size();
    if (arg.getArgNumber() < leading)
      return;
    unsigned number = arg.getArgNumber() - leading;
    out.push_back(inits[number]);
    if (Operation *end = arg.getOwner()->getTerminator(); number < end->getNumOperands())
      out.push_back(end->getOperand(number));
    return;
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (loopParts(op, bounds, inits)) {
    llvm::append_range(out, bounds);
    if (number < inits.size())
      out.push_back(inits[number]);
  } else {
    llvm::append_range(out, op->getOperands());
  }
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (!block.mightHaveTerminator())
        continue;
      OperandRange ends = block.getTerminator()->getOperands();
      if (ends.size() == op->getNumResults())
        out.push_back(ends[number]);
      else
        llvm::append_range(out, ends);
    }
}

Shared TaskValues::sharedBy(ArrayRef<int64_t> numbers) const {
  Shared result = Shared::Task;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    unsigned thread = i % threads, first = i - thread;
    auto differs = [&](unsigned set) { return number != numbers[first + thread / set * set]; };
    Shared own = differs(32)        ? Shared::Thread
                 : differs(128)     ? Shared::Warp
                 : differs(threads) ? Shared::Warpgroup
                                    : Shared::Task;
    result = std::max(result, own);
  }
  return result;
}

std::optional<SmallVector<int64_t>> TaskValues::numbers(Value value) {
  if (evaluators.empty()) {
    SmallVector<InfoOp> infos;
    SmallVector<gpu::LaneIdOp> lanes;
    task->getParentOp()->walk([&](Operation *op) {
      if (auto info = dyn_cast<InfoOp>(op))
        infos.push_back(info);
      if (auto lane = dyn_cast<gpu::LaneIdOp>(op))
        lanes.push_back(lane);
    });
    for (unsigned i = 0; i < size(); ++i) {
      unsigned thread = i % threads;
      ValueEvaluator &own = evaluators.emplace_back(
          ValueEnv{std::nullopt, int64_t(thread / 32), int64_t(i / threads)});
      // The evaluator lets the first lane speak for a warp.
      for (InfoOp info : infos)
        if (info.getKind() == InfoKind::Thread || info.getKind() == InfoKind::Lane)
          own.assume(info.getResult(), info.getKind() == InfoKind::Lane ? thread % 32 : thread);
      for (gpu::LaneIdOp lane : lanes)
        own.assume(lane.getResult(), thread % 32);
    }
  }
  SmallVector<int64_t> result;
  for (ValueEvaluator &own : evaluators) {
    auto number = own.evaluate(value);
    if (!number)
      return std::nullopt;
    result.push_back(*number);
  }
  return result;
}

std::pair<Shared, Operation *> TaskValues::shared(Value value) {
  // Values on the way to the thread's identity only are looked at more closely.
  auto search = [&](bool exact) {
    std::pair<Shared, Operation *> result{Shared::Task, nullptr};
    SmallVector<Value> worklist{value};
    llvm::DenseSet<Value> seen;
    auto add = [&](Shared shared, Operation *op) {
      if (shared > result.first)
        result = {shared, op};
    };
    while (!worklist.empty()) {
      Value next = worklist.pop_back_val();
      if (!seen.insert(next).second)
        continue;
      Operation *op = next.getDefiningOp();
      if (exact && next.getType().isIntOrIndex())
        if (auto all = numbers(next)) {
          add(sharedBy(*all), op);
          continue;
        }
      Shared own = op ? identityOf(op) : Shared::Task;
      add(own, op);
      if (own == Shared::Task)
        sourcesOf(next, worklist);
    }
    return result;
  };
  auto rough = search(false);
  if (rough.first == Shared::Task)
    return rough;
  // The identity itself is the better place to point to.
  return {search(true).first, rough.second};
}

//===-- Regions ------------------------------------------------------------------------------===//

void ThreadChecker::visit(Operation *op, const Parts &parts) {
  SmallVector<Value> decides;
  ValueRange inits;
  bool branch = isa<scf::IfOp, WhenOp>(op), elect = isa<ElectOp>(op);
  if (auto ifOp = dyn_cast<scf::IfOp>(op))
    decides = {ifOp.getCondition()};
  else if (auto when = dyn_cast<WhenOp>(op))
    decides = {when.getCondition()};
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    decides = {loop.getConditionOp().getCondition()};
  else
    loopParts(op, decides, inits);
  Part part;
  part.op = op;
  part.shared = elect ? Shared::Thread : Shared::Task;
  for (Value value : decides)
    if (auto [shared, source] = values.shared(value); shared > part.shared)
      part.shared = shared, part.source = source;
  std::optional<SmallVector<int64_t>> numbers;
  if (branch && part.shared != Shared::Task)
    numbers = values.numbers(part.condition = decides.front());
  for (Region &region : op->getRegions()) {
    Parts inside = parts;
    if (part.shared != Shared::Task) {
      part.region = &region;
      part.taken = region.getRegionNumber() == 0;
      if (auto when = dyn_cast<WhenOp>(op))
        part.taken = part.taken == when.getExpected();
      if (numbers) {
        part.who.emplace(values.size());
        for (auto [i, number] : llvm::enumerate(*numbers))
          if ((number != 0) == part.taken)
            part.who->set(unsigned(i));
      }
      inside.push_back(&made.emplace_back(part));
    }
    for (Block &block : region)
      for (Operation &nested : block) {
        judge(&nested, inside);
        visit(&nested, inside);
      }
  }
}

//===-- Operations ---------------------------------------------------------------------------===//

void ThreadChecker::report(Operation *op, const Part &part, const Twine &why) {
  auto diag = reporter.report(CheckId::TS109, op);
  diag << "'" << op->getName().stripDialect() << "' of task '" << task.getName() << "' stands in "
       << "'" << part.op->getName() << "', ";
  if (isa<ElectOp>(part.op))
    diag << "which one thread of each warp executes";
  else
    diag << (part.condition ? "whose condition differs between the "
                            : "whose number of iterations differs between the ")
         << (part.shared == Shared::Thread ? "threads of a warp"
             : part.shared == Shared::Warp ? "warps of the task"
                                           : "warpgroups of the task");
  diag << ", but " << why;
  if (part.source)
    diag.attachNote(part.source->getLoc()) << "what differs comes from here";
  else
    diag.attachNote(part.op->getLoc()) << "the region is here";
}

/// The smallest set of threads that decides for itself; of `branches`, if there are any.
static const Part &worstOf(const Parts &parts, bool branches = false) {
  const Part *worst = nullptr;
  for (const Part *part : parts) {
    bool better = !worst || part->shared > worst->shared;
    if (branches && worst && isa<ElectOp>(worst->op) != isa<ElectOp>(part->op))
      better = isa<ElectOp>(worst->op);
    worst = better ? part : worst;
  }
  return *worst;
}

static bool isGroupOp(Operation *op) {
  return isa<CpAsyncCommitOp, CpAsyncWaitOp, BulkCommitOp, BulkWaitOp, WgmmaCommitOp, WgmmaWaitOp,
             TmemWaitOp>(op);
}

/// Whether the groups that `group` closes or waits for can hold `copy`.
static bool isInGroupsOf(Operation *group, Operation *copy) {
  if (isa<CpAsyncCommitOp, CpAsyncWaitOp>(group))
    return isa<CpAsyncOp>(copy);
  if (isa<BulkCommitOp, BulkWaitOp>(group))
    return isa<TmaStoreOp, BulkStoreOp>(copy);
  if (isa<WgmmaCommitOp, WgmmaWaitOp>(group))
    return isa<WgmmaOp>(copy);
  return isa<TmemLoadOp, TmemStoreOp>(copy);
}

void ThreadChecker::judge(Operation *op, const Parts &parts) {
  if (isa<CpAsyncOp, TmaStoreOp, BulkStoreOp, WgmmaOp, TmemLoadOp, TmemStoreOp>(op))
    copies.push_back({op, parts});
  if (parts.empty())
    return;
  const Part &worst = worstOf(parts);
  if (isa<ClusterSyncOp, TakeOp, PassOp, GridDepWaitOp, MbarrierWaitOp, BarrierSyncOp,
          BarrierArriveOp>(op))
    return report(op, worst,
                  "all threads of the task are taken to come here: who stays away does not wait, "
                  "or is waited for in vain; take it out of the region, or make a task of the "
                  "warps that need it");
  bool pipeline = isBarrierOp(op) || isa<NextTileOp, FetchTileOp>(op);
  // The other half of TS109 and TS101 are about those.
  if (pipeline && llvm::none_of(parts, [](const Part *part) {
        return isa<ElectOp, WhenOp, ForOp, scf::ForOp>(part->op);
      }))
    return report(op, worst,
                  "all threads of the task execute it: which of them arrive is the pipeline's; "
                  "take it out of the region");
  if (isa<MbarrierArriveOp>(op) && !oneLaneOfEachWarp(parts))
    return report(op, worstOf(parts, true),
                  "one lane of each warp of the task arrives, or all of its threads: otherwise the "
                  "barrier's count is not that of the arrivals. Write 'ts.elect' outside of "
                  "branches, or make a task of the warps that arrive");
  if (op->hasTrait<WarpCollective>() && worst.shared == Shared::Thread)
    return report(op, worst, "the operation needs the whole warp; move it out of the region");
  if (isa<WgmmaOp, WgmmaCommitOp, WgmmaWaitOp>(op) && worst.shared == Shared::Warp)
    return report(op, worst, "all four warps of a warpgroup execute it; move it out of the region");
  if (isGroupOp(op))
    groups.push_back({op, parts});
}

bool ThreadChecker::oneLaneOfEachWarp(const Parts &parts) const {
  if (parts.size() == 1 && isa<ElectOp>(parts.front()->op))
    return true;
  llvm::BitVector who(values.size(), true);
  for (const Part *part : parts) {
    if (!part->who)
      return false;
    who &= *part->who;
  }
  for (unsigned first = 0; first < values.size(); first += 32) {
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes += who.test(first + lane);
    if (lanes != 1)
      return false;
  }
  return true;
}

/// Whether only threads that take `part` can have issued `copy`, which stands in `parts`.
bool ThreadChecker::within(Operation *copy, const Parts &parts, const Part &part) const {
  bool single = copy->hasTrait<SingleThread>(), elect = isa<ElectOp>(part.op);
  if (single && elect)
    return true;
  // A value of a loop may have changed between the copy and its group.
  auto fixed = [&](Value condition) {
    for (Operation *op = condition.getParentBlock()->getParentOp(); op && op != task;
         op = op->getParentOp())
      if (isa<ForOp, TileLoopOp, LoopLikeOpInterface>(op))
        return false;
    return true;
  };
  llvm::BitVector who(values.size(), true);
  for (const Part *other : parts) {
    bool sameCondition = part.condition && other->condition == part.condition &&
                         other->taken == part.taken && fixed(part.condition);
    if (other->region == part.region || (elect && isa<ElectOp>(other->op)) || sameCondition)
      return true;
    if (other->who)
      who &= *other->who;
  }
  if (!part.who)
    return false;
  if (single)
    for (unsigned i = 0; i < values.size(); ++i)
      if (i % 32 != 0)
        who.reset(i);
  who.reset(*part.who);
  return who.none();
}

void ThreadChecker::judgeGroup(Operation *op, const Parts &parts) {
  for (const Part *part : parts)
    for (auto &[copy, around] : copies) {
      if (!isInGroupsOf(op, copy) || within(copy, around, *part))
        continue;
      report(op, *part,
             "other threads have issued copies or products too, and it does nothing for those; "
             "take it out of the region, or put what it is for under the same condition");
      return;
    }
}

void ThreadChecker::run() {
  visit(task, {});
  for (auto &[op, parts] : groups)
    judgeGroup(op, parts);
}

void mlir::ts::detail::checkThreads(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks)
    ThreadChecker(task, reporter).run();
}
