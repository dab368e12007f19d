// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS106: every task that takes part in a work queue steps through the same tiles.
#include "VerifyStructureImpl.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

/// What stands between `op` and the tile loop of `queue`; the loop is null if there is none.
static TileLoopOp tileLoopAround(Operation *op, Value queue, Operation *&obstacle) {
  for (Operation *parent = op->getParentOp(); parent && !isa<TaskOp>(parent);
       parent = parent->getParentOp()) {
    if (auto tiles = dyn_cast<TileLoopOp>(parent); tiles && tiles.getQueue() == queue)
      return tiles;
    if (!obstacle && (isa<ForOp, scf::ForOp, scf::WhileOp, SkippableOp>(parent)))
      obstacle = parent;
  }
  return TileLoopOp();
}

static void checkPlaces(TaskOp task, Value queue, const KernelView &view, CheckReporter &reporter) {
  for (const ResourceUse &use : view.uses.find(task)->second) {
    if (!isa<NextTileOp>(use.op) || use.resource != queue)
      continue;
    Operation *obstacle = nullptr;
    if (!tileLoopAround(use.op, queue, obstacle)) {
      reporter.report(CheckId::TS106, use.op)
          << "next_tile of " << quoted(queue) << " stands outside of a tile_loop over it in task '"
          << task.getName() << "'; the tile is advanced once per iteration of that loop";
    } else if (obstacle) {
      bool skip = isa<SkippableOp>(obstacle);
      auto diag = reporter.report(CheckId::TS106, use.op);
      diag << "next_tile of " << quoted(queue) << " stands inside "
           << (skip ? "a skippable region" : "a domain loop")
           << (skip ? ", so a skipped tile is never left" : ", so it takes several tiles at once")
           << "; move it to the body of the tile_loop itself";
      diag.attachNote(obstacle->getLoc()) << (skip ? "the skippable region" : "the loop");
    }
  }
}

/// Counts the advances of each iteration of the tile loops over `queue`, on every path.
static void checkAdvances(TaskOp task, Value queue, const KernelView &view,
                          CheckReporter &reporter) {
  struct Count {
    int advances = 0;
    Operation *second = nullptr;
    bool operator==(const Count &) const = default;
  };
  llvm::DenseSet<Operation *> reported;
  PathConditions conditions(task, 0);
  auto visit = [&](Operation *op, const Count &count, const PathAssumptions &path,
                   SmallVectorImpl<Count> &out) {
    Count next = count;
    if (isa<NextTileOp>(op)) {
      next.advances = std::min(next.advances + 1, 2);
      if (next.advances == 2)
        next.second = op;
      out.push_back(next);
      return;
    }
    Operation *loop = op->getParentOp();
    if (count.advances != 1 && reported.insert(loop).second) {
      auto diag = reporter.report(CheckId::TS106, loop);
      diag << "task '" << task.getName() << "' advances " << quoted(queue)
           << (count.advances ? " more than once" : " not at all")
           << " in one iteration of its tile_loop on some path; expected exactly one next_tile on "
              "every path, so that all tasks work on the same tile";
      if (count.second)
        diag.attachNote(count.second->getLoc()) << "the second advance";
      if (std::string text = conditions.describe(path); !text.empty())
        diag.attachNote(op->getLoc()) << "on the path with " << text;
    }
    out.push_back(Count());
  };
  PathWalker<Count> walker(task, conditions, visit);
  bool any = false;
  task.walk([&](Operation *op) {
    if (auto next = dyn_cast<NextTileOp>(op)) {
      // Misplaced ones are reported as such.
      Operation *obstacle = nullptr;
      if (next.getQueue() == queue && tileLoopAround(op, queue, obstacle) && !obstacle)
        walker.markRelevant(op);
      else if (next.getQueue() == queue)
        any = true;
    }
  });
  if (any)
    return;
  task.walk([&](TileLoopOp tiles) {
    if (tiles.getQueue() == queue) {
      walker.markRelevant(tiles.getBodyBlock().getTerminator());
      any = true;
    }
  });
  PathWalker<Count>::Nodes finals;
  if (any && !walker.run(Count(), finals))
    reporter.incomplete(CheckId::TS106, task)
        << "task '" << task.getName() << "' has too many paths through its tile_loop";
}

/// Whoever asks for tiles waits for the throttle, once a tile, or the clause slows nobody down.
static void checkThrottle(WorkQueueOp queue, TaskOp scheduler, const KernelView &view,
                          CheckReporter &reporter) {
  Value throttle = queue.getThrottle();
  if (!throttle)
    return;
  if (queue.getKind() == QueueKind::Static) {
    reporter.report(CheckId::TS106, queue)
        << "the static queue '" << queue.getName() << "' has a throttle, " << quoted(throttle)
        << ", but nobody asks for its tiles; remove the clause, or declare the queue 'clc'";
    return;
  }
  Operation *wait = nullptr, *obstacle = nullptr;
  for (const ResourceUse &use : view.uses.find(scheduler)->second)
    if (isa<WaitOp>(use.op) && use.resource == throttle)
      wait = use.op;
  bool inTile = wait && tileLoopAround(wait, queue.getResult(), obstacle);
  if (inTile && !obstacle)
    return;
  auto diag = reporter.report(CheckId::TS106, wait ? wait : scheduler.getOperation());
  diag << "task '" << scheduler.getName() << "' asks for the tiles of '" << queue.getName() << "' "
       << (wait ? "but does not wait once per tile for the queue's throttle "
                : "without waiting for the queue's throttle ")
       << quoted(throttle) << "; put ts.wait and ts.release of it before the fetch, in the body of "
       << "the tile_loop";
  diag.attachNote(queue.getLoc()) << "the throttle is named here";
}

static void checkFetches(WorkQueueOp queue, const KernelView &view, CheckReporter &reporter) {
  SmallVector<std::pair<TaskOp, Operation *>> fetchers;
  for (TaskOp task : view.tasks)
    for (const ResourceUse &use : view.uses.find(task)->second)
      if (isa<FetchTileOp>(use.op) && use.resource == queue.getResult() &&
          (fetchers.empty() || fetchers.back().first != task))
        fetchers.push_back({task, use.op});
  if (queue.getKind() == QueueKind::Static) {
    checkThrottle(queue, TaskOp(), view, reporter);
    for (auto &[task, op] : fetchers)
      reporter.report(CheckId::TS106, op)
          << "task '" << task.getName() << "' fetches from the static queue '" << queue.getName()
          << "', whose tiles every CTA computes itself; remove the fetch, or declare the queue "
             "'clc'";
    return;
  }
  if (queue->use_empty())
    return;
  if (fetchers.empty()) {
    reporter.report(CheckId::TS106, queue)
        << "no task fetches from the clc queue '" << queue.getName()
        << "'; one scheduler task does acquire, fetch_tile and commit per tile";
    return;
  }
  auto &[first, op] = fetchers.front();
  if (fetchers.size() > 1) {
    auto diag = reporter.report(CheckId::TS106, fetchers[1].second);
    diag << fetchers.size() << " tasks fetch from the clc queue '" << queue.getName()
         << "', expected one: each tile is handed out once";
    diag.attachNote(op->getLoc()) << "task '" << first.getName() << "' fetches already";
  } else if (first.getReplicas() > 1) {
    reporter.report(CheckId::TS106, op)
        << first.getReplicas() << " replicas of task '" << first.getName()
        << "' fetch from the clc queue '" << queue.getName()
        << "', expected one scheduler: each tile is handed out once";
  } else {
    checkThrottle(queue, first, view, reporter);
  }
}

/// Whether `task` touches `ring` inside a tile loop over `queue`, outside of one, or both.
static std::pair<Operation *, Operation *> insideOutside(TaskOp task, Value ring, Value queue,
                                                         const KernelView &view) {
  std::pair<Operation *, Operation *> result{nullptr, nullptr};
  for (const ResourceUse &use : view.uses.find(task)->second) {
    if (use.resource != ring || !isa<AcquireOp, CommitOp, WaitOp, ReleaseOp>(use.op))
      continue;
    Operation *obstacle = nullptr;
    (tileLoopAround(use.op, queue, obstacle) ? result.first : result.second) = use.op;
  }
  return result;
}

/// A ring that one task uses once per tile cannot be used by another outside of its tiles.
static void checkTogether(WorkQueueOp queue, const KernelView &view, CheckReporter &reporter) {
  for (Operation &op : view.kernel.getBodyBlock()) {
    if (!isa<ResourceOp, PipelineGroupOp>(op))
      continue;
    Value ring = op.getResult(0);
    Operation *persistent = nullptr, *once = nullptr;
    TaskOp persistentTask, onceTask;
    for (TaskOp task : view.tasks) {
      auto [inside, outside] = insideOutside(task, ring, queue.getResult(), view);
      if (inside && !outside && !persistent)
        persistent = inside, persistentTask = task;
      if (outside && !inside && !once)
        once = outside, onceTask = task;
    }
    // Inside the loop of another queue is another matter.
    if (!persistent || !once || once->getParentOfType<TileLoopOp>())
      continue;
    auto diag = reporter.report(CheckId::TS106, once);
    diag << "task '" << onceTask.getName() << "' uses " << quoted(ring)
         << " outside of a tile_loop, task '" << persistentTask.getName()
         << "' inside of one over '" << queue.getName()
         << "'; tasks that share a ring persist together";
    diag.attachNote(persistent->getLoc()) << "used once per tile here";
  }
}

void mlir::ts::detail::checkQueues(const KernelView &view, CheckReporter &reporter) {
  for (auto queue : view.kernel.getBodyBlock().getOps<WorkQueueOp>()) {
    for (TaskOp task : view.tasks) {
      checkPlaces(task, queue.getResult(), view, reporter);
      checkAdvances(task, queue.getResult(), view, reporter);
      bool loops = false, takesPart = llvm::is_contained(task.getReads(), queue.getResult()) ||
                                      llvm::is_contained(task.getWrites(), queue.getResult());
      for (const ResourceUse &use : view.uses.find(task)->second)
        loops |= isa<TileLoopOp>(use.op) && use.resource == queue.getResult();
      if (takesPart && !loops)
        reporter.report(CheckId::TS106, task)
            << "task '" << task.getName() << "' takes part in queue '" << queue.getName()
            << "' but has no tile_loop over it; every task of a persistent kernel steps through "
               "all "
               "tiles";
    }
    checkFetches(queue, view, reporter);
    checkTogether(queue, view, reporter);
  }
}
