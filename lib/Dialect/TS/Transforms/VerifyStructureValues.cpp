// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS101 loop bounds, TS108 guards, TS109 conditions, TS110 names, TS111 values: what the schedule
// takes from SSA values.
#include "VerifyStructureImpl.h"
#include "ts/Analysis/Schedule/ValueStructure.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;
using ::ts::schedule::Bound;

/// The first op that `value` is computed from and that `matches`, or null.
static Operation *findSource(Value value, llvm::function_ref<bool(Operation *)> matches) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (matches(op))
      return op;
    if (isa<arith::ArithDialect>(op->getDialect()))
      llvm::append_range(worklist, op->getOperands());
  }
  return nullptr;
}

/// Differs between the threads of one warp, so that they would not execute the same barrier ops.
static bool isThreadIdentity(Operation *op) {
  auto info = dyn_cast<InfoOp>(op);
  return (info && (info.getKind() == InfoKind::Thread || info.getKind() == InfoKind::Lane)) ||
         isa<gpu::ThreadIdOp, gpu::LaneIdOp>(op);
}

static Operation *firstBarrierOp(Operation *root) {
  Operation *found = nullptr;
  root->walk([&](Operation *op) {
    if (!isBarrierOp(op) && !isa<NextTileOp, FetchTileOp>(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

//===-- TS101 --------------------------------------------------------------------------------===//

void mlir::ts::detail::checkLoops(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks)
    task.walk([&](Operation *op) {
      Value lower, upper, step;
      if (auto loop = dyn_cast<ForOp>(op))
        lower = loop.getLower(), upper = loop.getUpper(), step = loop.getStep();
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
      else
        return;
      Operation *barrier = firstBarrierOp(op);
      if (!barrier)
        return;
      for (auto [bound, word] :
           {std::pair(lower, "start"), std::pair(upper, "end"), std::pair(step, "step")}) {
        Operation *source = bound ? findSource(bound, isThreadIdentity) : nullptr;
        if (!source)
          continue;
        auto diag = reporter.report(CheckId::TS101, op);
        diag
            << "the " << word << " of this loop depends on the thread, but the loop contains '"
            << barrier->getName().stripDialect()
            << "', which all threads of the task execute equally often; take the bound from launch "
               "arguments or the tile";
        diag.attachNote(source->getLoc()) << "the thread's identity comes in here";
        return;
      }
      if (!step)
        return;
      Bound bound = ValueEvaluator({std::nullopt, std::nullopt, 0}).bound(step);
      int64_t least = bound.offset, product;
      if (!bound.isConstant() && bound.min && bound.scale > 0 &&
          !llvm::MulOverflow(bound.scale, *bound.min, product) &&
          !llvm::AddOverflow(product, bound.offset, least) && least >= 1)
        return;
      if (bound.isConstant() && least >= 1)
        return;
      reporter.report(CheckId::TS101, op)
          << "the step of this loop is "
          << (bound.isConstant() ? std::to_string(least)
                                 : describeValue(step) + ", which a launch may make 0")
          << "; a loop with barrier ops needs a step of at least 1"
          << (bound.kind == Bound::Kind::Argument ? " (declare it with 'min 1')" : "");
    });
}

//===-- TS108 --------------------------------------------------------------------------------===//

void mlir::ts::detail::checkGuards(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks)
    task.walk([&](GuardOp guard) {
      if (guardedLoop(guard))
        return;
      reporter.report(CheckId::TS108, guard)
          << "guard '" << stringifyGuardKind(guard.getKind())
          << "' stands outside of every loop of task '" << task.getName()
          << "'; it selects iterations of the innermost ts.for or ts.tile_loop "
          << "around it, so move it into one";
    });
}

//===-- TS109 --------------------------------------------------------------------------------===//

namespace {
/// Values that a condition is a function of, by the name that is shared between tasks.
using Leaves = std::map<std::string, SmallVector<Value>>;
} // namespace

static void collectLeaves(Value value, Leaves &leaves) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  ValueEvaluator evaluator;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto arg = dyn_cast<BlockArgument>(next)) {
      Bound bound = evaluator.bound(arg);
      if (bound.kind == Bound::Kind::Argument || bound.kind == Bound::Kind::PerTile)
        leaves[bound.symbol].push_back(arg);
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (isa<arith::ArithDialect>(op->getDialect()))
      llvm::append_range(worklist, op->getOperands());
  }
}

/// A choice of launch arguments and tile for which both conditions are known and differ, as text.
/// `known`: they were known for every choice tried.
static std::string difference(Value a, Value b, bool &known) {
  Leaves leaves;
  collectLeaves(a, leaves);
  collectLeaves(b, leaves);
  static constexpr int64_t kSamples[] = {0, 1, 2, 3, 4, 7, 8, 16, 63, 64, 100, 1000};
  for (unsigned round = 0; round < 4 * std::size(kSamples); ++round) {
    ValueEvaluator left, right;
    std::string text;
    unsigned index = 0;
    for (auto &[name, values] : leaves) {
      // The first rounds give all the same number, later ones mix them.
      int64_t number =
          kSamples[(round + (round / std::size(kSamples)) * 5 * index) % std::size(kSamples)];
      ++index;
      for (Value value : values) {
        left.assume(value, number);
        right.assume(value, number);
      }
      text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(number);
    }
    auto x = left.evaluate(a), y = right.evaluate(b);
    known &= x && y;
    if (x && y && *x != *y)
      return text.empty() ? "always" : "for " + text;
  }
  return "";
}

/// Not if both are followed to launch arguments, the tile and memory, and differ on the way.
static bool comeAboutAlike(Value a, Value b) {
  ValueEvaluator left, right;
  auto x = structureOf(a, left), y = structureOf(b, right);
  return !x || !y || x->text == y->text;
}

void mlir::ts::detail::checkConditions(const KernelView &view, CheckReporter &reporter) {
  std::map<std::string, std::pair<WhenOp, TaskOp>> byKey;
  for (TaskOp task : view.tasks)
    task.walk([&](ElectOp elect) {
      if (Operation *barrier = firstBarrierOp(elect))
        reporter.report(CheckId::TS109, barrier)
            << "'" << barrier->getName().stripDialect()
            << "' stands in ts.elect, but all threads of "
            << "task '" << task.getName()
            << "' execute it: which of them arrive is the pipeline's; take it out of the region";
    });
  for (TaskOp task : view.tasks)
    task.walk([&](WhenOp when) {
      if (Operation *source = findSource(when.getCondition(), isThreadIdentity))
        if (Operation *barrier = firstBarrierOp(when)) {
          auto diag = reporter.report(CheckId::TS109, when);
          diag
              << "this condition differs between the threads of task '" << task.getName()
              << "', but it guards '" << barrier->getName().stripDialect()
              << "', which all of them execute; take it from launch arguments, the tile or a value "
                 "that all threads share";
          diag.attachNote(source->getLoc()) << "the thread's identity comes in here";
        }
      if (!when.getKey())
        return;
      auto [it, fresh] = byKey.try_emplace(when.getKey()->str(), std::pair(when, task));
      if (fresh)
        return;
      auto [other, otherTask] = it->second;
      bool known = true;
      std::string witness = difference(other.getCondition(), when.getCondition(), known);
      if (witness.empty() && (known || comeAboutAlike(other.getCondition(), when.getCondition())))
        return;
      if (witness.empty())
        witness = "in how it is computed";
      auto diag = reporter.report(CheckId::TS109, when);
      diag << "key '" << *when.getKey()
           << "' is said to have one value, but the condition of task '" << task.getName()
           << "' differs from that of task '" << otherTask.getName() << "' " << witness
           << "; derive both from the same value or use different keys";
      diag.attachNote(other.getLoc()) << "the key is first used here";
    });
}

//===-- TS110 --------------------------------------------------------------------------------===//

static void checkWaivers(Operation *root, CheckReporter &reporter) {
  root->walk([&](Operation *op) {
    auto waived = op->getAttrOfType<DictionaryAttr>(kWaiveAttr);
    if (!waived)
      return;
    for (NamedAttribute entry : waived) {
      std::string suggestion;
      StringRef name = entry.getName().getValue();
      const ::ts::CheckInfo *info =
          ::ts::findCheck(std::string_view(name.data(), name.size()), &suggestion);
      if (!info || ::ts::checkTag(info->id) != name) {
        auto diag = reporter.report(CheckId::TS110, op);
        diag << "'" << name << "' in " << kWaiveAttr << " is no check";
        if (info)
          suggestion = ::ts::checkTag(info->id);
        if (!suggestion.empty())
          diag << "; did you mean '" << suggestion << "'?";
      } else if (auto reason = dyn_cast<StringAttr>(entry.getValue());
                 !reason || reason.getValue().trim().empty()) {
        reporter.report(CheckId::TS110, op)
            << "waiving " << name << " needs a reason: write " << kWaiveAttr << " = {" << name
            << " = \"why this is right\"}";
      }
    }
  });
}

void mlir::ts::detail::checkNames(const KernelView &view, CheckReporter &reporter) {
  for (auto resource : view.kernel.getBodyBlock().getOps<ResourceOp>()) {
    if (!resource.getBarrierStorage())
      continue;
    auto storage = resource.getBarrierStorage().getDefiningOp<ResourceOp>();
    SmallVector<StringRef> names;
    if (storage)
      for (auto alloc : storage.getAllocs().getAsRange<AllocAttr>())
        names.push_back(alloc.getName());
    if (llvm::is_contained(names, *resource.getBarrierAlloc()))
      continue;
    auto diag = reporter.report(CheckId::TS110, resource);
    diag << "barriers of " << quoted(resource.getResult()) << " are placed in '"
         << *resource.getBarrierAlloc() << "', an allocation that resource "
         << quoted(resource.getBarrierStorage()) << " does not have"
         << didYouMean(*resource.getBarrierAlloc(), names);
    if (storage)
      diag.attachNote(storage.getLoc()) << "the storage is declared here";
  }
  checkWaivers(view.kernel, reporter);
}

//===-- TS111 --------------------------------------------------------------------------------===//

/// Ops between the tasks are evaluated by each task that uses them, so they must be the same in
/// all.
static void checkKernelLevel(const KernelView &view, CheckReporter &reporter) {
  for (Operation &op : view.kernel.getBodyBlock()) {
    if (isa<TSDialect>(op.getDialect()) || isMemoryEffectFree(&op))
      continue;
    reporter.report(CheckId::TS111, &op)
        << "'" << op.getName() << "' stands outside of every task and accesses memory, so no warp "
        << "executes it; move it into the task that needs the value, and hand it to others through "
           "a "
           "resource";
  }
}

/// A carried value that starts undefined may be read only where a first iteration cannot be.
static void checkUndefined(TaskOp task, CheckReporter &reporter) {
  task.walk([&](Operation *op) {
    ValueRange inits;
    unsigned leading = 0;
    if (auto loop = dyn_cast<ForOp>(op))
      inits = loop.getInits(), leading = 1;
    else if (auto loop = dyn_cast<TileLoopOp>(op))
      inits = loop.getInits(), leading = loop.getBody().getNumArguments() - inits.size();
    else
      return;
    auto notFirst = [&](Operation *user) {
      for (Operation *child = user; child && child != op; child = child->getParentOp())
        if (auto guard = dyn_cast_or_null<GuardOp>(child->getParentOp());
            guard && guardedLoop(guard) == op) {
          bool then = guard.getBody().isAncestor(child->getParentRegion());
          if (guard.getKind() == GuardKind::NotFirst ? then
                                                     : guard.getKind() == GuardKind::First && !then)
            return true;
        }
      return false;
    };
    for (auto [i, init] : llvm::enumerate(inits)) {
      if (!init.getDefiningOp<ub::PoisonOp>())
        continue;
      for (Operation *user : op->getRegion(0).getArgument(leading + i).getUsers()) {
        if (user->hasTrait<OpTrait::IsTerminator>() || notFirst(user))
          continue;
        auto diag = reporter.report(CheckId::TS111, user);
        diag << "reads carried value " << i
             << " of the loop, which has no value in the first iteration; "
             << "give it an initial value, or read it under 'guard not_first'";
        diag.attachNote(init.getLoc()) << "it starts undefined here";
        break;
      }
    }
  });
}

void mlir::ts::detail::checkValues(const KernelView &view, CheckReporter &reporter) {
  checkKernelLevel(view, reporter);
  for (TaskOp task : view.tasks) {
    checkUndefined(task, reporter);
    task.walk([&](ub::PoisonOp poison) {
      for (Operation *user : poison->getUsers())
        if (isa<ProduceOp, ConsumeOp>(user) || user->getParentOfType<ProduceOp>() ||
            user->getParentOfType<ConsumeOp>()) {
          auto diag = reporter.report(CheckId::TS111, user);
          diag << "uses a value that nothing has written; compute it before it is used";
          diag.attachNote(poison.getLoc()) << "it is undefined here";
        }
    });
  }
}
