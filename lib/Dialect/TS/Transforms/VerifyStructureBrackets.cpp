// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS105: acquire/commit and wait/release brackets of one task and one ring, on every path.
#include "VerifyStructureImpl.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using namespace ::ts::protocol;
using ::ts::CheckId;

namespace {
/// A diagnostic, or nothing where the same op was reported before (by another path or replica).
class Fault {
public:
  Fault() = default;
  explicit Fault(InFlightDiagnostic &&diag) : diag(std::move(diag)) {}
  template <typename T> Fault &operator<<(const T &text) {
    if (diag)
      *diag << text;
    return *this;
  }
  void note(Operation *at, const Twine &text) {
    if (diag && at)
      diag->attachNote(at->getLoc()) << text;
  }

private:
  std::optional<InFlightDiagnostic> diag;
};

/// How many stages a path holds open on each side, and which op opened the last one.
struct Held {
  int64_t produced = 0, consumed = 0;
  Operation *acquire = nullptr, *wait = nullptr;
  Operation *tryAcquire = nullptr, *tryWait = nullptr;
  bool operator==(const Held &) const = default;
};

/// Which ops on the ring a task has at all.
struct Present {
  bool acquire = false, commit = false, wait = false, release = false;
};

class RingCheck {
public:
  RingCheck(const KernelView &view, TaskOp task, int64_t replica, Value resource,
            const PipelineSpec &spec, CheckReporter &reporter,
            llvm::DenseSet<Operation *> &reported)
      : view(view), task(task), resource(resource), spec(spec), reporter(reporter),
        reported(reported), conditions(task, replica), targets({resource}) {
    if (Value group = view.groups.lookup(resource))
      targets.push_back(group);
  }

  void run() {
    PathWalker<Held> walker(
        task, conditions,
        [&](Operation *op, const Held &held, const PathAssumptions &path,
            SmallVectorImpl<Held> &out) { out.push_back(step(op, held, path)); });
    for (const ResourceUse &use : view.uses.find(task)->second) {
      if (!llvm::is_contained(targets, use.resource) || use.op->getOperand(0) != use.resource)
        continue;
      bool relevant = isBarrierOp(use.op) || isa<FetchTileOp>(use.op) ||
                      (isa<ProduceOp, ConsumeOp>(use.op) && !isAuxiliary(use.op));
      if (!relevant)
        continue;
      walker.markRelevant(use.op);
      present.acquire |= isa<AcquireOp>(use.op);
      present.commit |= isa<CommitOp>(use.op);
      present.wait |= isa<WaitOp>(use.op);
      present.release |= isa<ReleaseOp>(use.op);
      if (isa<TryAcquireOp, TryWaitOp>(use.op))
        tries.push_back(use.op);
      any = true;
    }
    if (!any)
      return;
    PathWalker<Held>::Nodes finals;
    if (!walker.run(Held(), finals)) {
      reporter.incomplete(CheckId::TS105, task)
          << "task '" << task.getName() << "' has too many paths through the brackets of "
          << quoted(resource);
      return;
    }
    for (const auto &node : finals)
      atEnd(node.state, node.path);
    for (Operation *op : tries)
      if (!answered.contains(op))
        fault(op, nullptr)
            << "no " << (isa<TryAcquireOp>(op) ? "acquire" : "wait") << " of " << quoted(resource)
            << " follows this " << op->getName().stripDialect() << " in task '" << task.getName()
            << "'; a try only saves its blocking op the first look, so put it before "
               "that op";
  }

private:
  /// The engine's complete_tx commits; the op may stay away, but then everywhere.
  bool engineCommits() const { return countsBytes(spec.type); }

  Fault fault(Operation *op, const PathAssumptions *path) {
    if (!reported.insert(op).second)
      return Fault();
    Fault result(reporter.report(CheckId::TS105, op));
    if (path)
      if (std::string text = conditions.describe(*path); !text.empty())
        result.note(op, "on the path with " + text);
    return result;
  }

  Held step(Operation *op, Held held, const PathAssumptions &path) {
    if (isa<TryAcquireOp>(op)) {
      held.tryAcquire = op;
    } else if (isa<TryWaitOp>(op)) {
      held.tryWait = op;
    } else if (isa<AcquireOp>(op)) {
      acquire(op, held, path);
    } else if (isa<CommitOp>(op)) {
      if (present.acquire && held.produced == 0)
        fault(op, &path) << "commit of " << quoted(resource) << " without an open acquire in task '"
                         << task.getName() << "'; every commit closes one acquire";
      held.produced -= held.produced > 0;
    } else if (isa<WaitOp>(op)) {
      wait(op, held, path);
    } else if (isa<ReleaseOp>(op)) {
      if (present.wait && held.consumed == 0)
        fault(op, &path) << "release of " << quoted(resource) << " without an open wait in task '"
                         << task.getName() << "'; every release closes one wait";
      held.consumed -= held.consumed > 0;
    } else if (isa<ProduceOp, FetchTileOp>(op)) {
      produce(op, held, path);
    } else if (isa<ConsumeOp>(op)) {
      consume(op, held, path);
    }
    return held;
  }

  void acquire(Operation *op, Held &held, const PathAssumptions &path) {
    if (held.tryAcquire)
      answered.insert(held.tryAcquire);
    held.tryAcquire = nullptr;
    bool closes = present.commit;
    if (closes && held.produced > 0 && !spec.advanceOnAcquire) {
      auto diag = fault(op, &path);
      diag << "acquire of " << quoted(resource)
           << " while its previous stage is still open in task '" << task.getName()
           << "'; commit it first, or set advance_on_acquire to hold several";
      if (engineCommits())
        diag << " (a commit that the copy engine performs is written on all paths or on none)";
      diag.note(held.acquire, "the open acquire");
      held.produced = 0;
    } else if (closes && held.produced >= spec.stages) {
      fault(op, &path) << "acquire number " << held.produced + 1 << " of " << quoted(resource)
                       << " without a commit, but it has " << spec.stages
                       << " stage(s), so the task waits for itself; commit earlier or add stages";
    }
    held.produced = closes ? std::min(held.produced + 1, spec.stages) : 1;
    held.acquire = op;
  }

  void wait(Operation *op, Held &held, const PathAssumptions &path) {
    if (held.tryWait)
      answered.insert(held.tryWait);
    held.tryWait = nullptr;
    bool closes = present.release;
    if (closes && held.consumed > 0 && !spec.advanceOnWait) {
      auto diag = fault(op, &path);
      diag << "wait for " << quoted(resource) << " while its previous stage is still held in task '"
           << task.getName() << "'; release it first, or set advance_on_wait to hold several";
      diag.note(held.wait, "the open wait");
      held.consumed = 0;
    } else if (closes && held.consumed >= spec.stages) {
      fault(op, &path) << "wait number " << held.consumed + 1 << " for " << quoted(resource)
                       << " without a release, but it has " << spec.stages
                       << " stage(s), so nothing more can arrive; release earlier or add stages";
    }
    held.consumed = closes ? std::min(held.consumed + 1, spec.stages) : 1;
    held.wait = op;
  }

  void produce(Operation *op, const Held &held, const PathAssumptions &path) {
    if (held.produced > 0)
      return;
    // In a ping-pong the consumer writes under its wait.
    if (held.consumed > 0 && view.hasSelfEdge(resource))
      return;
    if (!present.acquire && reachedByProxy(op))
      return;
    auto diag = fault(op, &path);
    diag << describe(op) << " writes " << quoted(resource)
         << " outside of acquire and commit in task '" << task.getName()
         << "', when the stage belongs to the consumer; put it between them"
         << (isa<ProduceOp>(op) ? ", or mark it 'aux' if it touches no memory" : "");
    diag.note(held.acquire, "this acquire's bracket is closed before it");
  }

  void consume(Operation *op, const Held &held, const PathAssumptions &path) {
    if (held.consumed > 0)
      return;
    // The producer may look at its own stage; readiness is transitive over what was waited for.
    if (held.produced > 0 || (!present.wait && reachedByProxy(op)))
      return;
    auto diag = fault(op, &path);
    diag << describe(op) << " reads " << quoted(resource)
         << " outside of wait and release in task '" << task.getName()
         << "', when the stage may be overwritten; put it between them, or mark it "
         << "'aux' if it touches no memory";
    diag.note(held.wait, "this wait's bracket is closed before it");
  }

  /// Whether the task has waited, before `op`, for something that is made from this resource: then
  /// its stage is known to be ready as well.
  bool reachedByProxy(Operation *op) const {
    for (const ResourceUse &use : view.uses.find(task)->second) {
      if (use.op == op)
        return false;
      if (isa<WaitOp>(use.op) && !llvm::is_contained(targets, use.resource) &&
          view.reaches(resource, use.resource))
        return true;
    }
    return false;
  }

  static std::string describe(Operation *op) {
    if (auto work = dyn_cast<ProduceOp>(op))
      return "work '" + work.getLabel().str() + "'";
    if (auto work = dyn_cast<ConsumeOp>(op))
      return "work '" + work.getLabel().str() + "'";
    return op->getName().stripDialect().str();
  }

  void atEnd(const Held &held, const PathAssumptions &path) {
    if (present.commit && held.produced > 0 && held.acquire)
      fault(held.acquire, &path)
          << "task '" << task.getName() << "' ends with " << held.produced << " stage(s) of "
          << quoted(resource)
          << " acquired and not committed on some path, so the consumer never "
             "gets them; commit on every path";
    if (present.release && held.consumed > 0 && held.wait)
      fault(held.wait, &path) << "task '" << task.getName() << "' ends with " << held.consumed
                              << " stage(s) of " << quoted(resource)
                              << " waited for and not released on some path, so the producer never "
                                 "gets them back; release on every path";
  }

  const KernelView &view;
  TaskOp task;
  Value resource;
  const PipelineSpec &spec;
  CheckReporter &reporter;
  llvm::DenseSet<Operation *> &reported;
  PathConditions conditions;
  SmallVector<Value> targets; ///< the ring and the group whose ops stand for its own
  Present present;
  bool any = false;
  SmallVector<Operation *> tries;
  llvm::DenseSet<Operation *> answered;
};
} // namespace

/// How often the task executes `op` at most, or nothing where that depends on the launch.
static std::optional<int64_t> executions(Operation *op, TaskOp task) {
  PathConditions conditions(task, 0);
  int64_t count = task.getReplicas();
  for (Operation *parent = op->getParentOp(); parent && parent != task;
       parent = parent->getParentOp()) {
    if (!isScheduleLoop(parent))
      continue;
    auto trips = conditions.constantTrips(parent);
    if (!trips || llvm::MulOverflow(count, *trips, count))
      return std::nullopt;
  }
  return count;
}

/// Somebody has to arrive on what somebody waits for.
static void checkArrivals(const KernelView &view, Value resource, const PipelineSpec &spec,
                          CheckReporter &reporter) {
  Operation *wait = nullptr, *acquire = nullptr;
  bool commits = countsBytes(spec.type), releases = false;
  std::optional<int64_t> acquires = 0;
  for (TaskOp task : view.tasks)
    for (const ResourceUse &use : view.uses.find(task)->second) {
      if (!llvm::is_contained(view.related(resource), use.resource))
        continue;
      commits |= isa<CommitOp>(use.op);
      releases |= isa<ReleaseOp, NextTileOp>(use.op);
      if (isa<WaitOp>(use.op) && !wait)
        wait = use.op;
      if (!isa<AcquireOp>(use.op))
        continue;
      if (!acquire)
        acquire = use.op;
      auto count = executions(use.op, task);
      acquires = acquires && count ? std::optional(*acquires + *count) : std::nullopt;
    }
  if (!wait || !acquire)
    return;
  if (!commits) {
    auto diag = reporter.report(CheckId::TS105, wait);
    diag << "this wait for " << quoted(resource) << " is never answered: no task commits "
         << quoted(resource) << ", and its producer is no copy engine that would do it";
    diag.attachNote(acquire->getLoc()) << "acquired here";
  }
  // A ring that is filled once needs no release.
  if (!releases && (!acquires || *acquires > spec.stages)) {
    auto diag = reporter.report(CheckId::TS105, acquire);
    diag << "no task releases " << quoted(resource) << ", so its producer waits for ever after the "
         << spec.stages << " stage(s) are filled once; release each stage behind its last use";
    diag.attachNote(wait->getLoc()) << "its consumer waits here";
  }
}

/// Barrier ops need barriers. A static queue takes them as well: every CTA computes its own tiles.
static void checkPipelines(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks)
    for (const ResourceUse &use : view.uses.find(task)->second) {
      if (!isBarrierOp(use.op) || hasPipeline(use.resource) ||
          use.resource.getDefiningOp<WorkQueueOp>())
        continue;
      auto diag = reporter.report(CheckId::TS105, use.op);
      diag << "'" << use.op->getName().stripDialect() << "' of " << quoted(use.resource)
           << ", which has no pipeline, so there is no barrier to use; declare a pipeline, or take "
              "the op out";
      if (Operation *def = use.resource.getDefiningOp())
        diag.attachNote(def->getLoc()) << "declared here";
    }
}

void mlir::ts::detail::checkBrackets(const KernelView &view, CheckReporter &reporter) {
  SmallVector<std::pair<Value, PipelineSpec>> rings;
  for (Operation &op : view.kernel.getBodyBlock())
    if (isa<ResourceOp, WorkQueueOp>(op) && hasPipeline(op.getResult(0)))
      rings.push_back({op.getResult(0), pipelineSpecOf(op.getResult(0))});
  checkPipelines(view, reporter);
  llvm::DenseSet<Operation *> reported;
  for (auto &[resource, spec] : rings) {
    checkArrivals(view, resource, spec, reporter);
    for (TaskOp task : view.tasks) {
      // Replicas differ in their loop bounds at most: the first and the last stand for all.
      RingCheck(view, task, 0, resource, spec, reporter, reported).run();
      if (task.getReplicas() > 1)
        RingCheck(view, task, task.getReplicas() - 1, resource, spec, reporter, reported).run();
    }
  }
}
