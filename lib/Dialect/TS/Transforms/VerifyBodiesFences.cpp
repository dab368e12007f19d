// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS232: within one task, what threads wrote to shared or tensor memory is fenced and synchronised
// before an engine touches it, and what an engine wrote is committed before threads touch it, on
// every path. Fences of the pipelines are the protocol's; order between tasks is the prover's.
#include "VerifyProtocolImpl.h"
#include "ts/Analysis/Schedule/MemoryTrace.h"
#include "ts/Analysis/Schedule/PathWalker.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using namespace ::ts::protocol;
using ::ts::CheckId;

namespace {
/// How far a write is on its way to an engine that reads it. Shared memory needs the proxy fence
/// and a synchronisation, tensor memory the fence on either side of one.
enum class Progress : uint8_t { InFlight, Written, Fenced, WarpSynced, Synced, After };

/// One allocation that an op touches.
struct Touch {
  Operation *resource;
  MemrefRoot root;
  Engine engine;
  bool write, tmem;
};

struct Pending {
  Operation *write;
  Progress progress;
  bool operator==(const Pending &) const = default;
};

struct Writes {
  SmallVector<Pending, 4> list;
  bool operator==(const Writes &) const = default;
};

constexpr EngineSet kThreads = EngineGeneric | EngineCpAsync | EngineTmemLoad | EngineTmemStore;
constexpr EngineSet kTcgen = EngineUmma | EngineUtccp;

class FenceCheck {
public:
  FenceCheck(TaskOp task, CheckReporter &reporter)
      : task(task), reporter(reporter), conditions(task, 0) {}
  void run();

private:
  using Key = std::pair<Operation *, unsigned>;

  void collect();
  void visit(Operation *op, Writes &writes, const PathAssumptions &path);
  void applyStep(Operation *op, Writes &writes);
  void fence(Operation *by, Writes &writes, bool tmem, Progress from, Progress to);
  void protocolFence(Writes &writes, bool tmem, Progress from, Progress to);
  void sync(Writes &writes, Progress to);
  void judge(Operation *op, const Touch &touch, const Writes &writes, const PathAssumptions &path);
  void reportShared(Operation *op, const Touch &touch, const Pending &pending, Progress needed,
                    const PathAssumptions &path);
  void reportTmem(Operation *op, const Touch &touch, const Pending &pending,
                  const PathAssumptions &path);
  uint32_t warpsOf(Operation *op);
  /// Whether fences get the write on, and which: an engine's results wait for a commit.
  bool isFenced(Operation *op, bool tmem) const {
    return llvm::any_of(touches.lookup(op), [&](const Touch &t) {
      return t.write && t.tmem == tmem && (t.engine & kThreads);
    });
  }

  TaskOp task;
  CheckReporter &reporter;
  PathConditions conditions;
  llvm::DenseMap<Operation *, SmallVector<Touch, 2>> touches;
  llvm::DenseMap<Operation *, std::pair<Value, Action>> steps;
  llvm::DenseMap<Operation *, uint32_t> warps;
  llvm::DenseSet<Value> committed, released;
  llvm::DenseSet<std::pair<Operation *, Operation *>> reported;
};
} // namespace

//===-- What is where ------------------------------------------------------------------------===//

static ::ts::protocol::Op stepOf(Operation *op) {
  using Step = ::ts::protocol::Op;
  return isa<AcquireOp>(op)  ? Step::Acquire
         : isa<CommitOp>(op) ? Step::Commit
         : isa<WaitOp>(op)   ? Step::Wait
                             : Step::Release;
}

static Operation *electOf(Operation *op) { return op->getParentOfType<ElectOp>(); }

static bool overlaps(const Touch &a, const Touch &b) {
  if (a.resource != b.resource || a.root.index != b.root.index)
    return false;
  // The two sides of a ring work on different stages; a hand-over between them drops the write.
  if (a.root.side() != b.root.side() && hasPipeline(a.root.resource()))
    return false;
  if (!a.root.exact || !b.root.exact)
    return true;
  return a.root.offset < b.root.offset + b.root.size && b.root.offset < a.root.offset + a.root.size;
}

/// Whether an access of `later` has to wait for something after a write of `earlier`.
static bool interferes(const Touch &earlier, const Touch &later) {
  if (!earlier.write || earlier.tmem != later.tmem || !overlaps(earlier, later))
    return false;
  bool byThreads = earlier.engine & kThreads, forThreads = later.engine & kThreads;
  // A copy that overwrites what threads wrote races with it as one that reads it does.
  return earlier.tmem ? byThreads != forThreads : byThreads && !forThreads;
}

static std::string nameOf(const Touch &touch) {
  auto resource = cast<ResourceOp>(touch.resource);
  auto allocs = resource.getAllocs();
  if (touch.root.index >= allocs.size())
    return ("'" + resource.getName() + "'").str();
  return ("'" + resource.getName() + "." + cast<AllocAttr>(allocs[touch.root.index]).getName() +
          "'")
      .str();
}

/// Warps of the first replica that execute `op`, where conditions on the warp decide it.
uint32_t FenceCheck::warpsOf(Operation *op) {
  auto [it, inserted] = warps.try_emplace(op, 0);
  if (!inserted)
    return it->second;
  uint32_t mask = 0;
  int64_t count = std::min<int64_t>(task.getWarpsPerReplica(), 32);
  for (int64_t warp = 0; warp < count; ++warp) {
    ValueEvaluator evaluator({0, warp, 0});
    bool executes = true;
    for (Operation *at = op; at->getParentOp() != task; at = at->getParentOp()) {
      Operation *parent = at->getParentOp();
      Value condition;
      bool expected = true;
      if (auto branch = dyn_cast<scf::IfOp>(parent)) {
        condition = branch.getCondition();
      } else if (auto when = dyn_cast<WhenOp>(parent)) {
        condition = when.getCondition();
        expected = when.getExpected();
      }
      auto value = condition ? evaluator.evaluate(condition) : std::nullopt;
      bool inThen = parent->getRegion(0).isAncestor(at->getParentRegion());
      executes &= !value || (*value != 0) == (inThen == expected);
    }
    mask |= uint32_t(executes) << warp;
  }
  return warps[op] = mask;
}

void FenceCheck::collect() {
  // Views that depend on the warp are compared within the first one.
  ValueEvaluator evaluator({0, 0, 0});
  llvm::DenseMap<Operation *, SmallVector<Touch, 2>> all;
  task.walk([&](Operation *op) {
    for (const MemrefAccess &access : accessesOf(op, evaluator)) {
      Type type = access.memref.getType();
      if (access.remote || (!isSmem(type) && !isTmem(type)))
        continue;
      for (const MemrefRoot &root : traceMemref(access.memref, evaluator))
        if (Value resource = root.resource(); resource && resource.getDefiningOp<ResourceOp>())
          all[op].push_back(
              {resource.getDefiningOp(), root, access.engine, access.write, isTmem(type)});
    }
  });
  // Only allocations that both worlds touch matter, which are few.
  llvm::DenseMap<Key, unsigned> worlds;
  for (auto &[op, list] : all)
    for (const Touch &t : list)
      worlds[{t.resource, t.root.index}] |= (t.engine & kThreads) ? 1 : 2;
  for (auto &[op, list] : all)
    for (const Touch &t : list)
      if (worlds[{t.resource, t.root.index}] == 3)
        touches[op].push_back(t);
}

//===-- Progress -----------------------------------------------------------------------------===//

void FenceCheck::fence(Operation *by, Writes &writes, bool tmem, Progress from, Progress to) {
  for (Pending &p : writes.list) {
    if (p.progress != from || !isFenced(p.write, tmem))
      continue;
    // A fence orders the accesses of the threads that execute it.
    Operation *elect = electOf(by);
    bool sameThreads = (!elect || elect == electOf(p.write)) && !(warpsOf(p.write) & ~warpsOf(by));
    if (sameThreads || to == Progress::After)
      p.progress = to;
  }
}

void FenceCheck::protocolFence(Writes &writes, bool tmem, Progress from, Progress to) {
  for (Pending &p : writes.list)
    if (p.progress == from && isFenced(p.write, tmem))
      p.progress = to;
}

void FenceCheck::sync(Writes &writes, Progress to) {
  for (Pending &p : writes.list)
    if (p.progress >= Progress::Fenced && p.progress < to)
      p.progress = to;
}

/// What a protocol step does to pending writes: the fences that it brings, and the hand-over.
void FenceCheck::applyStep(Operation *op, Writes &writes) {
  auto it = steps.find(op);
  if (it == steps.end())
    return;
  auto &[resource, action] = it->second;
  for (const std::vector<Fence> *list : {&action.afterWait, &action.beforeArrive})
    for (Fence f : *list) {
      if (f == Fence::CpAsyncWaitAll)
        protocolFence(writes, false, Progress::InFlight, Progress::Written);
      else if (f == Fence::ProxyAsyncSharedCta)
        protocolFence(writes, false, Progress::Written, Progress::Fenced);
      else if (f == Fence::TcgenBeforeThreadSync)
        protocolFence(writes, true, Progress::Written, Progress::Fenced);
      else if (f == Fence::TcgenAfterThreadSync)
        protocolFence(writes, true, Progress::Synced, Progress::After);
      else if (f == Fence::SyncWarp)
        sync(writes, Progress::WarpSynced);
    }
  bool closes = isa<CommitOp, ReleaseOp>(op);
  bool tracksMma = action.arrive && (action.arrive->kind == ArrivalKind::TcgenCommit ||
                                     action.arrive->kind == ArrivalKind::TcgenCommitMulticast);
  if (closes) {
    // What the other side of this ring sees is fenced by the protocol; a tcgen05 commit completes
    // everything that this thread issued.
    Side side = isa<CommitOp>(op) ? Side::Producer : Side::Consumer;
    PipelineGroupOp group = resource.getDefiningOp<PipelineGroupOp>();
    llvm::erase_if(writes.list, [&](const Pending &p) {
      return llvm::any_of(touches.lookup(p.write), [&](const Touch &t) {
        Value ring = t.root.resource();
        bool mine = ring == resource || (group && llvm::is_contained(group.getMembers(), ring));
        return t.write && ((mine && t.root.side() == side) || (tracksMma && (t.engine & kTcgen)));
      });
    });
  }
  if (!action.wait || !action.wait->blocking)
    return;
  // A ring that this task itself arrives on: the wait orders its threads.
  if ((isa<WaitOp>(op) && committed.contains(resource)) ||
      (isa<AcquireOp>(op) && released.contains(resource)))
    sync(writes, Progress::Synced);
  else if (action.wait->who == Executor::ElectedLanePerWarp)
    sync(writes, Progress::WarpSynced);
}

//===-- Findings -----------------------------------------------------------------------------===//

void FenceCheck::reportShared(Operation *op, const Touch &touch, const Pending &pending,
                              Progress needed, const PathAssumptions &path) {
  auto diag = reporter.report(CheckId::TS232, op);
  diag << "'" << op->getName() << "' " << (touch.write ? "overwrites " : "reads ") << nameOf(touch)
       << " through the async proxy after '" << pending.write->getName()
       << "' of the same task wrote it through the generic one, ";
  StringRef barrier = needed == Progress::Synced ? "'ts.barrier_sync'" : "'ts.warp_sync'";
  switch (pending.progress) {
  case Progress::InFlight:
    diag << "but the copies of the threads are not waited for; put 'ts.cp_async_wait 0', 'ts.fence "
            "proxy_async_shared' and "
         << barrier << " between them";
    break;
  case Progress::Written:
    diag << "but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the "
            "engine may miss the stores; put the fence behind the stores, in all threads that store"
         << (needed == Progress::Fenced ? std::string()
                                        : (", and " + barrier + " behind it").str());
    break;
  default:
    diag << "and the fence is there, but ";
    if (pending.progress == Progress::WarpSynced)
      diag << "'ts.warp_sync' orders only the threads of one warp, and the issuing thread depends "
              "on "
              "stores of other warps; use "
           << barrier << " instead";
    else
      diag << "nothing makes the issuing thread wait for the others; put " << barrier
           << " between the fence and the " << (touch.write ? "write" : "read");
  }
  diag.attachNote(pending.write->getLoc()) << "written here";
  if (std::string where = conditions.describe(path); !where.empty())
    diag.attachNote(op->getLoc()) << "on the path with " << where;
}

void FenceCheck::reportTmem(Operation *op, const Touch &touch, const Pending &pending,
                            const PathAssumptions &path) {
  auto diag = reporter.report(CheckId::TS232, op);
  bool byThreads = llvm::any_of(touches.lookup(pending.write),
                                [](const Touch &t) { return t.write && (t.engine & kThreads); });
  diag << "'" << op->getName() << "' accesses columns of " << nameOf(touch) << " that '"
       << pending.write->getName() << "' of the same task wrote, but ";
  if (!byThreads)
    diag
        << "the matrix unit works asynchronously and only a commit tells when it has ended; commit "
           "the resource (or the ring that tracks the work) and wait for it before this op";
  else if (pending.progress < Progress::Fenced)
    diag << "tcgen05 stores of threads are ordered by fences only; put 'ts.fence tcgen05_before', "
            "'ts.barrier_sync' and 'ts.fence tcgen05_after' between them, or commit the resource "
            "and "
            "wait for it";
  else if (pending.progress < Progress::Synced)
    diag << "behind 'ts.fence tcgen05_before' no synchronisation of the task's warps follows; put "
            "'ts.barrier_sync' and 'ts.fence tcgen05_after' behind it";
  else
    diag << "'ts.fence tcgen05_after' is missing behind the synchronisation; put it in front of "
            "this "
            "op";
  diag.attachNote(pending.write->getLoc()) << "written here";
  if (std::string where = conditions.describe(path); !where.empty())
    diag.attachNote(op->getLoc()) << "on the path with " << where;
}

void FenceCheck::judge(Operation *op, const Touch &touch, const Writes &writes,
                       const PathAssumptions &path) {
  for (const Pending &p : writes.list) {
    bool meets = llvm::any_of(touches.lookup(p.write),
                              [&](const Touch &earlier) { return interferes(earlier, touch); });
    if (p.write == op || !meets || reported.contains({op, p.write}))
      continue;
    Progress needed;
    if (touch.tmem) {
      needed = Progress::After;
    } else if (electOf(op) && electOf(op) == electOf(p.write)) {
      needed = Progress::Fenced;
    } else {
      // One thread of the task issues an MMA; each executing warp issues copies of its own.
      uint32_t readers = warpsOf(op), writers = warpsOf(p.write);
      if (touch.engine & kTcgen)
        readers &= ~readers + 1;
      bool others = (writers & ~readers) || (touch.engine & EngineWgmma);
      needed = others ? Progress::Synced : Progress::WarpSynced;
    }
    if (p.progress >= needed || !reported.insert({op, p.write}).second)
      continue;
    touch.tmem ? reportTmem(op, touch, p, path) : reportShared(op, touch, p, needed, path);
  }
}

void FenceCheck::visit(Operation *op, Writes &writes, const PathAssumptions &path) {
  auto it = touches.find(op);
  if (it != touches.end())
    for (const Touch &touch : it->second)
      judge(op, touch, writes, path);

  if (auto by = dyn_cast<FenceOp>(op)) {
    switch (by.getKind()) {
    case FenceKind::ProxyAsyncShared:
    case FenceKind::ProxyAsync:
      fence(op, writes, false, Progress::Written, Progress::Fenced);
      break;
    case FenceKind::TcgenBefore:
      fence(op, writes, true, Progress::Written, Progress::Fenced);
      break;
    case FenceKind::TcgenAfter:
      fence(op, writes, true, Progress::Synced, Progress::After);
      break;
    default:
      break;
    }
  } else if (isa<WarpSyncOp>(op)) {
    sync(writes, Progress::WarpSynced);
  } else if (isa<BarrierSyncOp, ClusterSyncOp, MbarrierWaitOp, TakeOp>(op)) {
    sync(writes, Progress::Synced);
  } else if (isa<CpAsyncWaitOp>(op)) {
    protocolFence(writes, false, Progress::InFlight, Progress::Written);
  }
  applyStep(op, writes);

  if (it == touches.end())
    return;
  for (const Touch &touch : it->second) {
    bool tracked = touch.tmem || (touch.engine & kThreads);
    if (!touch.write || !tracked)
      continue;
    llvm::erase_if(writes.list, [&](const Pending &p) { return p.write == op; });
    writes.list.push_back(
        {op, touch.engine == EngineCpAsync ? Progress::InFlight : Progress::Written});
  }
}

void FenceCheck::run() {
  collect();
  if (touches.empty())
    return;
  PathWalker<Writes> walker(
      task, conditions,
      [&](Operation *op, const Writes &state, const PathAssumptions &path,
          SmallVectorImpl<Writes> &out) {
        Writes next = state;
        visit(op, next, path);
        llvm::sort(next.list, [](const Pending &a, const Pending &b) { return a.write < b.write; });
        out.push_back(std::move(next));
      });
  ClusterSpec cluster = clusterSpecOf(task->getParentOfType<KernelOp>());
  task.walk([&](Operation *op) {
    if (isa<AcquireOp, CommitOp, WaitOp, ReleaseOp>(op)) {
      Value resource = op->getOperand(0);
      if (!hasPipeline(resource))
        return;
      steps[op] = {resource, actionFor(pipelineSpecOf(resource), cluster, stepOf(op))};
      if (isa<CommitOp>(op))
        committed.insert(resource);
      if (isa<ReleaseOp>(op))
        released.insert(resource);
      walker.markRelevant(op);
    } else if (isa<FenceOp, WarpSyncOp, BarrierSyncOp, ClusterSyncOp, MbarrierWaitOp, TakeOp,
                   CpAsyncWaitOp>(op) ||
               touches.contains(op)) {
      walker.markRelevant(op);
    }
  });
  PathWalker<Writes>::Nodes finals;
  if (!walker.run(Writes(), finals))
    reporter.incomplete(CheckId::TS232, task)
        << "task '" << task.getName() << "' has too many paths between its stores and the engines "
        << "that read them";
}

void mlir::ts::detail::checkFences(KernelOp kernel, CheckReporter &reporter) {
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    FenceCheck(task, reporter).run();
}
