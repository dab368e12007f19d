// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS229: the warps that arrive at a named barrier and those that wait at it make up its count. Ids
// are the allocation's; how meetings follow each other is the prover's.
#include "VerifyProtocolImpl.h"
#include "ts/Analysis/Schedule/Values.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

namespace {
struct Party {
  TaskOp task;
  int64_t warps = 0;
  bool syncs = false, arrives = false;
};
} // namespace

/// Whether one warp of a replica executes `op`: the conditions around it that its identity decides.
/// Nothing if one depends on anything else.
static std::optional<bool> executes(Operation *op, TaskOp task, ValueEvaluator &evaluator) {
  for (Operation *child = op; child->getParentOp() != task; child = child->getParentOp()) {
    Operation *parent = child->getParentOp();
    Value condition;
    bool expected = true;
    if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      condition = branch.getCondition();
    } else if (auto when = dyn_cast<WhenOp>(parent)) {
      condition = when.getCondition();
      expected = when.getExpected();
    } else {
      continue;
    }
    auto value = evaluator.evaluate(condition);
    bool inThen = parent->getRegion(0).isAncestor(child->getParentRegion());
    // A launch or tile condition holds for all warps alike: the op is then executed by all.
    if (!value)
      return std::nullopt;
    if ((*value != 0) != (inThen == expected))
      return false;
  }
  return true;
}

/// Two barriers on one hardware id count each other's arrivals, unless the same tasks use both and
/// so come to them in one order.
static void checkSharedIds(KernelOp kernel, CheckReporter &reporter) {
  llvm::MapVector<int64_t, SmallVector<NamedBarrierOp>> byId;
  for (auto barrier : kernel.getBodyBlock().getOps<NamedBarrierOp>())
    if (barrier.getId())
      byId[int64_t(*barrier.getId())].push_back(barrier);
  auto usersOf = [&](NamedBarrierOp barrier) {
    SmallVector<TaskOp> users;
    for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
      if (task.walk([&](Operation *op) {
                return isa<BarrierSyncOp, BarrierArriveOp>(op) &&
                               op->getOperand(0) == barrier.getResult()
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted())
        users.push_back(task);
    return users;
  };
  for (auto &[id, barriers] : byId)
    for (size_t i = 1; i < barriers.size(); ++i) {
      SmallVector<TaskOp> before = usersOf(barriers[0]), here = usersOf(barriers[i]);
      if (before == here || before.empty() || here.empty())
        continue;
      auto diag = reporter.report(CheckId::TS229, barriers[i]);
      diag << "named barriers '" << barriers[0].getName() << "' and '" << barriers[i].getName()
           << "' share id " << id
           << ", but not the same tasks use both, so they can be in use at the same time; leave "
              "the ids out to have them assigned";
      for (TaskOp task : before)
        diag.attachNote(task.getLoc())
            << "task '" << task.getName() << "' uses '" << barriers[0].getName() << "'";
      for (TaskOp task : here)
        diag.attachNote(task.getLoc())
            << "task '" << task.getName() << "' uses '" << barriers[i].getName() << "'";
    }
}

void mlir::ts::detail::checkNamedBarriers(KernelOp kernel, CheckReporter &reporter) {
  checkSharedIds(kernel, reporter);
  for (auto barrier : kernel.getBodyBlock().getOps<NamedBarrierOp>()) {
    SmallVector<Party> parties;
    bool known = true;
    for (auto task : kernel.getBodyBlock().getOps<TaskOp>()) {
      SmallVector<Operation *> ops;
      task.walk([&](Operation *op) {
        if (isa<BarrierSyncOp, BarrierArriveOp>(op) && op->getOperand(0) == barrier.getResult())
          ops.push_back(op);
      });
      if (ops.empty())
        continue;
      Party party{task};
      for (Operation *op : ops) {
        party.syncs |= isa<BarrierSyncOp>(op);
        party.arrives |= isa<BarrierArriveOp>(op);
      }
      for (int64_t replica = 0; replica < int64_t(task.getReplicas()); ++replica)
        for (int64_t warp = 0; warp < task.getWarpsPerReplica(); ++warp) {
          ValueEvaluator evaluator({0, warp, replica});
          bool takesPart = false;
          for (Operation *op : ops) {
            auto does = executes(op, task, evaluator);
            // Unknown conditions are taken to be the same for all warps.
            takesPart |= does.value_or(true);
          }
          party.warps += takesPart;
        }
      // Tasks on different CTAs meet different barriers.
      known &= !task.getOnlyCta();
      parties.push_back(party);
    }
    int64_t threads = 0;
    bool anySync = false;
    for (const Party &party : parties) {
      threads += party.warps * 32;
      anySync |= party.syncs;
    }
    if (!known || parties.empty() || (threads == int64_t(barrier.getThreads()) && anySync))
      continue;
    auto diag = reporter.report(CheckId::TS229, barrier);
    if (!anySync)
      diag << "nobody waits at named barrier '" << barrier.getName()
           << "': its tasks only arrive; use ts.barrier_sync in the task that waits";
    else
      diag << "named barrier '" << barrier.getName() << "' counts " << barrier.getThreads()
           << " threads, but the tasks that sync and arrive at it have " << threads << ": it "
           << (threads < int64_t(barrier.getThreads()) ? "never completes"
                                                       : "completes before all are there")
           << "; give the count " << threads;
    for (Party &party : parties)
      diag.attachNote(party.task.getLoc())
          << party.warps << " warp(s) of task '" << party.task.getName() << "' "
          << (party.syncs ? party.arrives ? "sync or arrive" : "sync" : "arrive");
  }
}
