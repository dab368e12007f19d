// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS231 tensor memory that a body may touch, TS233 tile orders. The kernel owns the allocation of
// tensor memory, so that freeing it is the lowering's; who comes first is the prover's.
#include "VerifyProtocolImpl.h"
#include "ts/Analysis/Schedule/MemoryTrace.h"
#include "ts/Analysis/Schedule/PathWalker.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Support/TileOrder.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

//===-- TS231: columns -----------------------------------------------------------------------===//

/// `evaluator` takes every loop around `op` that has constant bounds to be in its first or last
/// iteration.
static void enterLoops(Operation *op, bool last, ValueEvaluator &evaluator) {
  for (auto loop = op->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>()) {
    auto lower = evaluator.evaluate(loop.getLower()), upper = evaluator.evaluate(loop.getUpper());
    auto step = loop.getStep() ? evaluator.evaluate(loop.getStep()) : std::optional<int64_t>(1);
    constexpr int64_t kBig = int64_t(1) << 32;
    if (!lower || !upper || !step || *step < 1 || *step > kBig || *upper <= *lower ||
        *lower < -kBig || *upper > kBig)
      continue;
    int64_t trips = (*upper - *lower + *step - 1) / *step;
    evaluator.assume(loop.getInductionVar(), last ? *lower + (trips - 1) * *step : *lower);
  }
}

static int64_t columnsOf(MemRefType type) {
  return (type.getShape().back() * int64_t(type.getElementTypeBitWidth()) + 31) / 32;
}

static void checkColumns(Operation *op, CheckReporter &reporter) {
  for (bool last : {false, true}) {
    ValueEvaluator evaluator({0, 0, 0});
    enterLoops(op, last, evaluator);
    for (const MemrefAccess &access : accessesOf(op, evaluator)) {
      auto type = cast<MemRefType>(access.memref.getType());
      if (!access.columns || !type.hasStaticShape())
        continue;
      auto [start, count] = *access.columns;
      int64_t columns = columnsOf(type);
      if (start >= 0 && count <= columns && start <= columns - count)
        continue;
      reporter.report(CheckId::TS231, op)
          << "'" << op->getName() << "' " << (access.write ? "writes" : "reads") << " columns "
          << start << " to " << start + count - 1 << ", but the view " << type
          << " has columns 0 to " << columns - 1
          << "; what lies behind belongs to another resource. Use a column of at most "
          << std::max<int64_t>(columns - count, 0) << " or a narrower vector";
      return;
    }
  }
}

//===-- TS231: views that outlive their bracket ----------------------------------------------===//

namespace {
/// Produce ops whose stage was committed since.
struct Stale {
  SmallVector<std::pair<Operation *, Operation *>, 2> list; ///< work, commit
  bool operator==(const Stale &) const = default;
};
} // namespace

/// A view of tensor memory that a produce gave to later steps, used after the commit. Consumed
/// stages are TS107's.
static void checkStaleViews(TaskOp task, CheckReporter &reporter) {
  ValueEvaluator evaluator({0, 0, 0});
  llvm::DenseMap<Operation *, SmallVector<Operation *, 2>> later; // access to produce ops
  llvm::DenseSet<Operation *> works;
  task.walk([&](Operation *op) {
    for (const MemrefAccess &access : accessesOf(op, evaluator))
      if (isTmem(access.memref.getType()))
        for (const MemrefRoot &root : traceMemref(access.memref, evaluator))
          if (isa_and_nonnull<ProduceOp>(root.work) && !root.work->isAncestor(op) &&
              hasPipeline(root.resource())) {
            later[op].push_back(root.work);
            works.insert(root.work);
          }
  });
  if (works.empty())
    return;
  PathConditions conditions(task, 0);
  llvm::DenseSet<Operation *> reported;
  auto visit = [&](Operation *op, const Stale &state, const PathAssumptions &,
                   SmallVectorImpl<Stale> &out) {
    Stale next = state;
    if (works.contains(op)) {
      llvm::erase_if(next.list, [&](auto &entry) { return entry.first == op; });
    } else if (auto commit = dyn_cast<CommitOp>(op)) {
      for (Operation *work : works) {
        Value ring = cast<ProduceOp>(work).getResource();
        bool known = llvm::any_of(next.list, [&](auto &entry) { return entry.first == work; });
        if (!known && (ring == commit.getResource() ||
                       (groupOf(ring) && groupOf(ring).getResult() == commit.getResource())))
          next.list.push_back({work, op});
      }
    } else {
      for (auto [work, commit] : next.list)
        if (llvm::is_contained(later[op], work) && reported.insert(op).second) {
          auto diag = reporter.report(CheckId::TS231, op);
          diag << "'" << op->getName() << "' uses columns of '"
               << getResourceName(cast<ProduceOp>(work).getResource()) << "' through a view that \""
               << cast<ProduceOp>(work).getLabel()
               << "\" gave out, but the stage was committed before, and belongs to the consumer "
                  "until it is released; move this op in front of the commit";
          diag.attachNote(commit->getLoc()) << "committed here";
          diag.attachNote(work->getLoc()) << "the view comes from here";
        }
    }
    llvm::sort(next.list);
    out.push_back(std::move(next));
  };
  PathWalker<Stale> walker(task, conditions, visit);
  for (Operation *work : works)
    walker.markRelevant(work);
  for (auto &[access, list] : later)
    walker.markRelevant(access);
  task.walk([&](CommitOp commit) { walker.markRelevant(commit); });
  PathWalker<Stale>::Nodes finals;
  if (!walker.run(Stale(), finals))
    reporter.incomplete(CheckId::TS231, task)
        << "task '" << task.getName() << "' has too many paths around its views of tensor memory";
}

//===-- TS231 --------------------------------------------------------------------------------===//

void mlir::ts::detail::checkTmemUse(KernelOp kernel, CheckReporter &reporter) {
  Operation *groupOp = nullptr;
  int64_t group = 0;
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>()) {
    task.walk([&](Operation *op) {
      if (isa<TmemLoadOp, TmemStoreOp>(op))
        checkColumns(op, reporter);
      if (isa<TmemViewOp>(op))
        reporter.report(CheckId::TS231, op) << "'ts.tmem_view' takes any address, so nobody knows "
                                               "whether the columns behind it are "
                                               "allocated; use the stage views of a tmem resource, "
                                               "which the kernel allocates and frees";
      if (!isa<UmmaOp, TmemCopyOp>(op))
        return;
      int64_t own = isa<UmmaOp>(op) ? int64_t(cast<UmmaOp>(op).getCtaGroup())
                                    : int64_t(cast<TmemCopyOp>(op).getCtaGroup());
      if (groupOp && own != group) {
        auto diag = reporter.report(CheckId::TS231, op);
        diag << "cta_group is " << own << " here and " << group << " elsewhere in kernel '"
             << kernel.getSymName()
             << "', but tensor memory is allocated and freed once, by one CTA or by both of a pair "
                "(PTX ISA 8.8, tcgen05: one cta_group per kernel); use one cta_group throughout";
        diag.attachNote(groupOp->getLoc()) << "cta_group " << group << " is here";
      } else if (!groupOp) {
        groupOp = op;
        group = own;
      }
    });
    checkStaleViews(task, reporter);
  }
}

//===-- TS233 --------------------------------------------------------------------------------===//

void mlir::ts::detail::checkTileOrder(KernelOp kernel, CheckReporter &reporter) {
  constexpr uint64_t kMaxEnumerated = 1 << 16;
  for (auto queue : kernel.getBodyBlock().getOps<WorkQueueOp>()) {
    if (queue.getKind() != QueueKind::Static)
      continue;
    ValueEvaluator evaluator;
    // Counts that the launch decides are tried with a few small numbers.
    SmallVector<SmallVector<uint32_t>> choices;
    uint64_t constantTiles = 1;
    bool tooMany = false;
    for (Value count : queue.getTiles()) {
      auto number = evaluator.evaluate(count);
      auto &list = choices.emplace_back();
      if (!number)
        list = {1, 2, 3, 5, 9};
      else if (*number > 0 && *number <= INT32_MAX)
        list = {uint32_t(*number)};
      else if (*number > 0)
        tooMany = true;
      if (number && *number > 0 && *number <= INT32_MAX)
        constantTiles = std::min<uint64_t>(constantTiles * *number, uint64_t(1) << 32);
    }
    if (tooMany || constantTiles > uint64_t(INT32_MAX)) {
      reporter.report(CheckId::TS233, queue)
          << "work queue '" << queue.getName()
          << "' has more than 2^31 - 1 tiles, but tiles are numbered in 32 bits, so that some "
             "would "
             "get the number of another; use larger tiles or several launches";
      continue;
    }
    SmallVector<std::vector<uint32_t>> grids = {{}};
    for (auto &list : choices) {
      SmallVector<std::vector<uint32_t>> longer;
      for (const std::vector<uint32_t> &grid : grids)
        for (uint32_t count : list) {
          longer.push_back(grid);
          longer.back().push_back(count);
        }
      grids = std::move(longer);
    }
    for (std::vector<uint32_t> grid : grids) {
      uint64_t tiles = 1;
      for (uint32_t count : grid)
        tiles *= count;
      // A large grid is cut: a product that wraps around does so from the first rows on.
      if (tiles > kMaxEnumerated) {
        tiles = 1;
        for (auto [i, count] : llvm::enumerate(grid)) {
          count = i + 1 < grid.size() ? std::min(count, uint32_t(4)) : count;
          tiles *= count;
        }
      }
      if (tiles > kMaxEnumerated)
        continue;
      if (auto fault = ::ts::findTileOrderFault(grid, queue.getGroup())) {
        reporter.report(CheckId::TS233, queue)
            << "the tile order of work queue '" << queue.getName() << "' with group("
            << queue.getGroup() << ") does not visit every tile once: " << *fault
            << "; use a group no larger than the first tile count";
        break;
      }
    }
  }
}
