// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS107 operands of slots that were given back, TS112 ping-pong, TS113 skippable parts, TS114 PDL:
// the rules about the order of steps within one task. Order between tasks is the prover's.
#include "VerifyStructureImpl.h"
#include "ts/Analysis/Schedule/MemoryTrace.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

//===-- TS107 --------------------------------------------------------------------------------===//

namespace {
/// Stages that a path holds and, for each consume whose views are used later, how many releases
/// away its slot is from being given back.
struct Slots {
  int64_t held = 0;
  SmallVector<std::pair<Operation *, int64_t>, 2> taken;
  Operation *release = nullptr;
  bool operator==(const Slots &) const = default;
};

/// A step that touches the stage of an earlier consume.
struct LaterUse {
  Operation *consume;
  Operation *access;
};
using LaterUses = llvm::DenseMap<Operation *, SmallVector<LaterUse, 2>>;
} // namespace

/// The step of the schedule that `op` belongs to: the work call around it, or itself.
static Operation *stepOf(Operation *op) {
  for (Operation *at = op; at && !isa<TaskOp>(at); at = at->getParentOp())
    if (isa<ProduceOp, ConsumeOp>(at))
      return at;
  return op;
}

/// Whether the consumer of this ring is a tensor core, which reads the stage after the call.
static bool readByEngine(Value ring) {
  using namespace ::ts::protocol;
  return ring.getDefiningOp<ResourceOp>() && hasPipeline(ring) &&
         consumerKind(pipelineSpecOf(ring).type) == SideKind::Umma;
}

static LaterUses collectLaterUses(TaskOp task) {
  LaterUses result;
  ValueEvaluator evaluator({std::nullopt, std::nullopt, 0});
  auto add = [&](Operation *step, Operation *consume, Operation *access) {
    if (step != consume)
      result[step].push_back({consume, access});
  };
  task.walk([&](Operation *op) {
    for (const MemrefAccess &access : accessesOf(op, evaluator))
      for (const MemrefRoot &root : traceMemref(access.memref, evaluator))
        // A view that came over a back edge belongs to an earlier iteration's slot: the prover's.
        if (isa_and_nonnull<ConsumeOp>(root.work) && !root.carried)
          add(stepOf(op), root.work, op);
    // Work without a body says by `uses` what it reads: views and, of an engine's ring, descriptors
    // of the stage. Other values that threads took out of their stage are in registers.
    auto produce = dyn_cast<ProduceOp>(op);
    if (produce && !produce.hasBody() && !produce.getAux())
      for (Value value : produce.getUses())
        if (auto consume = value.getDefiningOp<ConsumeOp>())
          if (isa<MemRefType>(value.getType()) || readByEngine(consume.getResource()))
            add(op, consume, op);
  });
  return result;
}

static void checkSlots(TaskOp task, Value ring, const LaterUses &laterUses, const KernelView &view,
                       llvm::DenseSet<Operation *> &reported, CheckReporter &reporter) {
  SmallVector<Value> names = {ring};
  if (Value group = view.groups.lookup(ring))
    names.push_back(group);
  PathConditions conditions(task, 0);
  auto visit = [&](Operation *op, const Slots &slots, const PathAssumptions &,
                   SmallVectorImpl<Slots> &out) {
    Slots next = slots;
    if (isa<WaitOp>(op)) {
      next.held = std::min<int64_t>(next.held + 1, 64);
    } else if (isa<ReleaseOp>(op)) {
      next.held = std::max<int64_t>(next.held - 1, 0);
      for (auto &[consume, releases] : next.taken)
        if (releases > 0 && --releases == 0)
          next.release = op;
    }
    if (auto it = laterUses.find(op); it != laterUses.end())
      for (const LaterUse &use : it->second)
        for (auto [consume, releases] : slots.taken) {
          if (consume != use.consume || releases != 0 || !reported.insert(use.access).second)
            continue;
          auto diag = reporter.report(CheckId::TS107, use.access);
          diag << "reads the stage of " << quoted(ring) << " that '"
               << cast<ConsumeOp>(consume).getLabel() << "' saw, but task '" << task.getName()
               << "' has released it before; move the release behind this op";
          if (slots.release)
            diag.attachNote(slots.release->getLoc()) << "released here";
          diag.attachNote(consume->getLoc()) << "the operand comes from here";
        }
    if (auto consume = dyn_cast<ConsumeOp>(op);
        consume && llvm::is_contained(names, consume.getResource())) {
      auto known = llvm::find_if(next.taken, [&](auto &entry) { return entry.first == op; });
      if (known == next.taken.end())
        known = next.taken.insert(next.taken.end(), {op, 0});
      // Outside of a bracket the slot is somebody else's: TS105 judges that.
      known->second = next.held > 0 ? next.held : -1;
    }
    out.push_back(next);
  };
  PathWalker<Slots> walker(task, conditions, visit);
  bool releases = false, uses = false;
  for (const ResourceUse &use : view.uses.find(task)->second) {
    if (!llvm::is_contained(names, use.resource))
      continue;
    if (isa<WaitOp, ReleaseOp, ConsumeOp>(use.op))
      walker.markRelevant(use.op);
    releases |= isa<ReleaseOp>(use.op);
  }
  for (auto &[step, list] : laterUses)
    for (const LaterUse &use : list)
      if (llvm::is_contained(names, cast<ConsumeOp>(use.consume).getResource())) {
        walker.markRelevant(step);
        uses = true;
      }
  PathWalker<Slots>::Nodes finals;
  if (releases && uses && !walker.run(Slots(), finals))
    reporter.incomplete(CheckId::TS107, task)
        << "task '" << task.getName() << "' has too many paths around " << quoted(ring);
}

void mlir::ts::detail::checkOperands(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks) {
    LaterUses laterUses = collectLaterUses(task);
    llvm::DenseSet<Operation *> reported;
    if (laterUses.empty())
      continue;
    for (auto resource : view.kernel.getBodyBlock().getOps<ResourceOp>())
      if (resource.getPipeline())
        checkSlots(task, resource.getResult(), laterUses, view, reported, reporter);
  }
}

//===-- TS112 --------------------------------------------------------------------------------===//

/// Threads are done with a stage when they release it; a tensor core only later. A ring of tile
/// coordinates has no data to pass back.
static bool canPingPong(::ts::protocol::PipelineType type) {
  using namespace ::ts::protocol;
  return consumerKind(type) == SideKind::Async && producerKind(type) != SideKind::Clc;
}

/// "async_async, tma_async or umma_async"
static std::string pingPongTypes() {
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < ::ts::protocol::numPipelineTypes; ++i)
    if (auto type = ::ts::protocol::PipelineType(i); canPingPong(type))
      names.push_back(::ts::protocol::name(type));
  StringRef last = names.pop_back_val();
  return llvm::join(names, ", ") + " or " + last.str();
}

void mlir::ts::detail::checkPingPong(const KernelView &view, CheckReporter &reporter) {
  for (DependsOp edge : view.edges) {
    Value ring = edge.getDownstream();
    if (edge.getOrdering() || !llvm::is_contained(edge.getUpstream(), ring))
      continue;
    auto resource = ring.getDefiningOp<ResourceOp>();
    if (!resource)
      continue;
    if (!resource.getPipeline()) {
      auto diag = reporter.report(CheckId::TS112, edge);
      diag << "the self-edge of " << quoted(ring)
           << " declares a ping-pong, but the resource has no pipeline that would order its two "
              "sides; "
              "declare one, or mark the edge 'ordering'";
      diag.attachNote(resource.getLoc()) << "declared here";
      continue;
    }
    ::ts::protocol::PipelineType type = protocolTypeOf(*resource.getPipeline());
    if (!canPingPong(type)) {
      auto diag = reporter.report(CheckId::TS112, edge);
      diag << "the self-edge of " << quoted(ring)
           << " needs a consumer that is done when it releases, "
           << "but the pipeline is " << StringRef(::ts::protocol::name(type)) << "; use "
           << pingPongTypes() << ", or mark the edge 'ordering'";
      diag.attachNote(resource.getLoc()) << "declared here";
      continue;
    }
    bool produced = false, consumed = false;
    for (TaskOp task : view.tasks)
      for (const ResourceUse &use : view.uses.find(task)->second) {
        if (!llvm::is_contained(view.related(ring), use.resource))
          continue;
        produced |= isa<AcquireOp, CommitOp>(use.op);
        consumed |= isa<WaitOp, ReleaseOp>(use.op);
      }
    if (!produced || !consumed)
      reporter.report(CheckId::TS112, edge)
          << "the self-edge of " << quoted(ring) << " declares a ping-pong, but no task "
          << (produced ? "waits for it" : "acquires it")
          << "; use both sides, or take the edge out";
  }
}

//===-- TS113 --------------------------------------------------------------------------------===//

void mlir::ts::detail::checkSkips(const KernelView &view, CheckReporter &reporter) {
  for (TaskOp task : view.tasks)
    task.walk([&](SkippableOp op) {
      if (!op->getParentOfType<TileLoopOp>())
        reporter.report(CheckId::TS113, op)
            << "skippable part outside of a tile_loop in task '" << task.getName()
            << "'; the skip predicate of the queue decides per tile, so there is nothing to decide "
               "here";
    });
}

//===-- TS114 --------------------------------------------------------------------------------===//

static void checkPdlTask(TaskOp task, Value pdl, const llvm::DenseSet<Value> &dependents,
                         const KernelView &view, CheckReporter &reporter) {
  struct Waited {
    bool done = false;
    bool operator==(const Waited &) const = default;
  };
  llvm::DenseSet<Operation *> reported;
  PathConditions conditions(task, 0);
  bool waits = false;
  auto visit = [&](Operation *op, const Waited &state, const PathAssumptions &path,
                   SmallVectorImpl<Waited> &out) {
    Waited next = state;
    if (isa<GridDepWaitOp>(op)) {
      next.done = true;
    } else if (!state.done && reported.insert(op).second) {
      auto diag = reporter.report(CheckId::TS114, op);
      if (isa<GridDepLaunchOp>(op))
        diag << "task '" << task.getName()
             << "' launches the next grid before its own wait for the "
             << "previous one; put the griddep_wait first";
      else
        diag << "task '" << task.getName() << "' produces " << quoted(op->getOperand(0))
             << ", which depends on " << quoted(pdl)
             << ", before a griddep_wait; put the wait in front of it, in every task that produces "
                "it";
      if (std::string text = conditions.describe(path); !text.empty())
        diag.attachNote(op->getLoc()) << "on the path with " << text;
    }
    out.push_back(next);
  };
  PathWalker<Waited> walker(task, conditions, visit);
  for (const ResourceUse &use : view.uses.find(task)->second)
    waits |= isa<GridDepWaitOp>(use.op) && use.resource == pdl;
  bool any = false;
  for (const ResourceUse &use : view.uses.find(task)->second) {
    bool produces = isa<ProduceOp>(use.op) && !isAuxiliary(use.op) &&
                    use.op->getOperand(0) == use.resource && dependents.contains(use.resource);
    // Whether another task's wait comes first is a question of all interleavings: the prover's.
    bool launches = waits && isa<GridDepLaunchOp>(use.op);
    bool isWait = isa<GridDepWaitOp>(use.op) && use.resource == pdl;
    if (produces || launches || isWait)
      walker.markRelevant(use.op);
    any |= produces || launches;
  }
  PathWalker<Waited>::Nodes finals;
  if (any && !walker.run(Waited(), finals))
    reporter.incomplete(CheckId::TS114, task)
        << "task '" << task.getName() << "' has too many paths around its griddep_wait";
}

void mlir::ts::detail::checkPdl(const KernelView &view, CheckReporter &reporter) {
  for (auto pdl : view.kernel.getBodyBlock().getOps<PdlOp>()) {
    llvm::DenseSet<Value> dependents;
    for (DependsOp edge : view.edges)
      if (llvm::is_contained(edge.getUpstream(), pdl.getResult()))
        for (Value near : view.related(edge.getDownstream()))
          dependents.insert(near);
    for (TaskOp task : view.tasks)
      checkPdlTask(task, pdl.getResult(), dependents, view, reporter);
  }
}
