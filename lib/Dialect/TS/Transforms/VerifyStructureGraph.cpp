// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS102 roles, TS103 dependency graph, TS104 coverage: what tasks declare against what they do.
#include "VerifyStructureImpl.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

//===-- TS102 --------------------------------------------------------------------------------===//

static bool acquires(TaskOp task, Value resource, const KernelView &view) {
  return llvm::any_of(view.uses.find(task)->second, [&](const ResourceUse &use) {
    return isa<AcquireOp>(use.op) && llvm::is_contained(view.related(resource), use.resource);
  });
}

void mlir::ts::detail::checkRoles(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks) {
    for (const ResourceUse &use : view.uses.find(task)->second) {
      bool consumes = isConsumerOp(use.op) || isa<GridDepWaitOp>(use.op);
      bool produces = isProducerOp(use.op) || isa<FetchTileOp>(use.op);
      bool either = isa<NextTileOp, TileLoopOp, GridDepLaunchOp>(use.op);
      if ((!consumes && !produces && !either) || use.op->getOperand(0) != use.resource)
        continue;
      bool reads = declares(task, task.getReads(), use.resource, view);
      bool writes = declares(task, task.getWrites(), use.resource, view);
      // Auxiliary work touches no memory; in a ping-pong, and where a producer looks at its own
      // stage, the open bracket decides (TS105), not the list.
      bool exempt = isAuxiliary(use.op) ||
                    (isa<ProduceOp, ConsumeOp>(use.op) && view.hasSelfEdge(use.resource)) ||
                    (isa<ConsumeOp>(use.op) && acquires(task, use.resource, view));
      StringRef name = use.op->getName().stripDialect();
      if (!reads && !writes) {
        reporter.report(CheckId::TS102, use.op)
            << "'" << name << "' on resource " << quoted(use.resource) << ", which task '"
            << task.getName() << "' does not declare; add it to the task's '"
            << (produces ? "writes" : "reads") << "'";
        continue;
      }
      if (exempt || either || (consumes ? reads : writes))
        continue;
      auto diag = reporter.report(CheckId::TS102, use.op);
      diag << "'" << name << "' is " << (consumes ? "a consumer" : "a producer")
           << "'s op, but task '" << task.getName() << "' lists " << quoted(use.resource)
           << " under '" << (consumes ? "writes" : "reads") << "'; use "
           << (consumes ? "try_acquire, acquire, produce and commit"
                        : "try_wait, wait, consume and release")
           << " there, or list the resource under '" << (consumes ? "reads" : "writes") << "'"
           << (consumes ? "" : " (both for a task that fills and drains it)");
      diag.attachNote(task.getLoc()) << "task '" << task.getName() << "' declares it here";
    }
  }
}

//===-- TS103 --------------------------------------------------------------------------------===//

/// Edges from what only orders (a previous grid, a baton) or marked so carry no data.
static bool carriesData(DependsOp edge, Value upstream) {
  return !edge.getOrdering() && upstream != edge.getDownstream() &&
         !upstream.getDefiningOp<PdlOp>() && !edge.getDownstream().getDefiningOp<PdlOp>() &&
         !upstream.getDefiningOp<BatonOp>() && !upstream.getDefiningOp<NamedBarrierOp>();
}

/// A task that reads `upstream` and writes `downstream`. A read under the producer's own acquire
/// counts as one: said by a consume, or meant by a ping-pong.
static bool backs(TaskOp task, Value upstream, Value downstream, const KernelView &view) {
  if (!declares(task, task.getWrites(), downstream, view))
    return false;
  if (declares(task, task.getReads(), upstream, view))
    return true;
  if (!declares(task, task.getWrites(), upstream, view))
    return false;
  return view.hasSelfEdge(upstream) ||
         llvm::any_of(view.uses.find(task)->second, [&](const ResourceUse &use) {
           return isa<ConsumeOp>(use.op) &&
                  llvm::is_contained(view.related(upstream), use.resource);
         });
}

static void checkBacking(const KernelView &view, CheckReporter &reporter) {
  for (DependsOp edge : view.edges)
    for (Value upstream : edge.getUpstream()) {
      Value downstream = edge.getDownstream();
      if (!carriesData(edge, upstream) || llvm::any_of(view.tasks, [&](TaskOp task) {
            return backs(task, upstream, downstream, view);
          }))
        continue;
      auto diag = reporter.report(CheckId::TS103, edge);
      diag << "no task reads " << quoted(upstream) << " and writes " << quoted(downstream)
           << ", so nobody carries the data of this edge; add the resources to the task that moves "
              "it, remove the edge, or mark it 'ordering'";
      for (TaskOp task : view.tasks) {
        if (declares(task, task.getReads(), upstream, view))
          diag.attachNote(task.getLoc())
              << "task '" << task.getName() << "' reads " << quoted(upstream);
        if (declares(task, task.getWrites(), downstream, view))
          diag.attachNote(task.getLoc())
              << "task '" << task.getName() << "' writes " << quoted(downstream);
      }
    }
}

static void checkCycles(const KernelView &view, CheckReporter &reporter) {
  // Iterative depth-first search: the path of open nodes is the cycle to print.
  llvm::MapVector<Value, SmallVector<std::pair<Value, DependsOp>>> next;
  for (DependsOp edge : view.edges)
    for (Value upstream : edge.getUpstream())
      if (carriesData(edge, upstream))
        next[upstream].push_back({edge.getDownstream(), edge});
  llvm::DenseSet<Value> done;
  struct Frame {
    Value node;
    size_t child = 0;
  };
  for (auto &[start, unused] : next) {
    SmallVector<Frame> stack;
    if (!done.contains(start))
      stack.push_back({start});
    while (!stack.empty()) {
      Frame &frame = stack.back();
      auto it = next.find(frame.node);
      if (it == next.end() || frame.child == it->second.size()) {
        done.insert(frame.node);
        stack.pop_back();
        continue;
      }
      auto [to, edge] = it->second[frame.child++];
      auto open = llvm::find_if(stack, [&, to = to](const Frame &f) { return f.node == to; });
      if (open != stack.end()) {
        auto diag = reporter.report(CheckId::TS103, edge);
        diag << "data edges form a cycle: ";
        for (auto at = open; at != stack.end(); ++at)
          diag << quoted(at->node) << " -> ";
        diag << quoted(to)
             << ", so none of them can be filled first; mark the edge that only gives "
             << "a credit back as 'ordering'";
        return;
      }
      if (!done.contains(to))
        stack.push_back({to});
    }
  }
}

void mlir::ts::detail::checkDependencies(const KernelView &view, CheckReporter &reporter) {
  llvm::DenseSet<Value> inGraph;
  for (DependsOp edge : view.edges) {
    for (Value near : view.related(edge.getDownstream()))
      inGraph.insert(near);
    for (Value upstream : edge.getUpstream())
      for (Value near : view.related(upstream))
        inGraph.insert(near);
  }
  for (auto queue : view.kernel.getBodyBlock().getOps<WorkQueueOp>())
    if (Value throttle = queue.getThrottle())
      for (Value near : view.related(throttle))
        inGraph.insert(near);
  llvm::DenseSet<Value> reported;
  for (TaskOp task : view.tasks)
    for (ValueRange list : {ValueRange(task.getReads()), ValueRange(task.getWrites())})
      for (Value resource : list) {
        auto def = resource.getDefiningOp<ResourceOp>();
        if (!def || inGraph.contains(resource) || !reported.insert(resource).second)
          continue;
        // Without memory and barriers there is no flow of data to declare.
        if (def.getSpace() == Space::Barrier && !def.getPipeline())
          continue;
        auto diag = reporter.report(CheckId::TS103, resource.getDefiningOp());
        diag << "resource " << quoted(resource)
             << " is in no dependency: say what it is made from ('ts.depends %"
             << getResourceName(resource) << " on ...') or what is made from it";
        diag.attachNote(task.getLoc()) << "used by task '" << task.getName() << "'";
      }
  checkBacking(view, reporter);
  checkCycles(view, reporter);
}

//===-- TS104 --------------------------------------------------------------------------------===//

static void checkSides(const KernelView &view, CheckReporter &reporter) {
  for (auto resource : view.kernel.getBodyBlock().getOps<ResourceOp>()) {
    if (!resource.getPipeline())
      continue;
    Operation *opens = nullptr, *waits = nullptr;
    for (TaskOp task : view.tasks)
      for (const ResourceUse &use : view.uses.find(task)->second) {
        if (!llvm::is_contained(view.related(resource.getResult()), use.resource))
          continue;
        if (isa<AcquireOp, CommitOp>(use.op) && !opens)
          opens = use.op;
        if (isa<WaitOp, ReleaseOp>(use.op) && !waits)
          waits = use.op;
      }
    if (!opens == !waits)
      continue;
    auto diag = reporter.report(CheckId::TS104, resource);
    diag << "the pipeline of " << quoted(resource.getResult()) << " is used on one side only: "
         << (opens ? "no task waits for or releases it, so it fills up after "
                   : "no task acquires or commits it, so nothing is ever ready in its ")
         << resource.getStages() << " stage(s); use both sides or take the pipeline out";
    diag.attachNote((opens ? opens : waits)->getLoc())
        << (opens ? "the producer's side is here" : "the consumer's side is here");
  }
}

void mlir::ts::detail::checkCoverage(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks) {
    llvm::DenseSet<Value> used, seen;
    for (const ResourceUse &use : view.uses.find(task)->second)
      for (Value near : view.related(use.resource))
        used.insert(near);
    for (auto [list, word] : {std::pair(ValueRange(task.getReads()), "reads"),
                              std::pair(ValueRange(task.getWrites()), "writes")})
      for (Value resource : list) {
        if (used.contains(resource) || !seen.insert(resource).second)
          continue;
        auto diag = reporter.report(CheckId::TS104, task);
        diag << "task '" << task.getName() << "' " << word << " " << quoted(resource)
             << ", but no op of its schedule uses it; use it or take it out of '" << word << "'";
        if (Operation *def = resource.getDefiningOp())
          diag.attachNote(def->getLoc()) << "the resource is declared here";
      }
  }
  checkSides(view, reporter);
}
