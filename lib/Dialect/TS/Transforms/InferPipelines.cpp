// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ts-infer-pipelines: asks the protocol component for what pipelines leave out and writes
// it into the IR. Comparing what a program does declare is the verifier's.
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/IR/HardwareLimits.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ts;
namespace protocol = ::ts::protocol;

namespace mlir::ts {
#define GEN_PASS_DEF_TSINFERPIPELINES
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

namespace {
/// Fills one field of a pipeline and says so.
class Filler {
public:
  Filler(Operation *op, StringRef name) : op(op), name(name) {}

  int64_t fill(int64_t declared, const protocol::Expected &expected, StringRef field, int64_t max) {
    if (declared >= 0)
      return declared;
    if (!expected.value) {
      emitRemark(op->getLoc()) << "left out " << field << " of '" << name
                               << "', it cannot be inferred: " << expected.derivation;
      return declared;
    }
    // A count that no mbarrier takes is TS215's or TS216's finding; recording it would be invalid.
    if (*expected.value < 1 || *expected.value > max) {
      emitRemark(op->getLoc()) << "left out " << field << " of '" << name << "', "
                               << *expected.value << " is outside 1.." << max << ": "
                               << expected.derivation;
      return declared;
    }
    emitRemark(op->getLoc()) << "inferred " << field << " = " << *expected.value << " of '" << name
                             << "': " << expected.derivation;
    return *expected.value;
  }

private:
  Operation *op;
  StringRef name;
};

PipelineAttr fillPipeline(Operation *op, StringRef name, PipelineAttr p,
                          const protocol::ExpectedCounts &counts) {
  Filler filler(op, name);
  int64_t producers =
      filler.fill(p.getProducerCount(), counts.fullArrivals, "producer_count", kMaxMbarrierCount);
  int64_t consumers =
      filler.fill(p.getConsumerCount(), counts.emptyArrivals, "consumer_count", kMaxMbarrierCount);
  int64_t bytes = p.getNumBytes();
  if (protocol::countsBytes(protocol::PipelineType(unsigned(p.getType()))))
    bytes = filler.fill(bytes, counts.fullBytes, "num_bytes", kMaxMbarrierCount);
  return PipelineAttr::get(op->getContext(), p.getType(), p.getStages(), bytes, producers,
                           consumers, p.getProducerSignal(), p.getConsumerSignal(),
                           p.getConsumerWaitSignal(), p.getAdvanceOnWait(), p.getAdvanceOnAcquire(),
                           p.getInterleave(), p.getProducerOp(), p.getBytesPerWarpPerCta(),
                           p.getMcast(), p.getCtaLayout());
}

PipelineAttr defaultQueuePipeline(WorkQueueOp queue) {
  emitRemark(queue.getLoc()) << "inferred pipeline(clc_fetch_async, stages = "
                             << kDefaultQueueStages << ") of '" << queue.getName() << "'";
  return PipelineAttr::get(queue.getContext(), PipelineType::ClcFetchAsync, kDefaultQueueStages, -1,
                           -1, -1, Signalling::All, Signalling::All, std::nullopt, false, false, {},
                           ProducerOp::Thread, -1, {}, {});
}

/// All counts are asked for before anything is written: a filled-in field must not look declared to
/// the next question.
void inferPipelines(KernelOp kernel) {
  protocol::ClusterSpec cluster = clusterSpecOf(kernel);
  llvm::MapVector<Operation *, protocol::ExpectedCounts> counts;
  kernel.walk([&](PipelineGroupOp group) {
    protocol::GroupCounts all = protocol::expectedCounts(groupSpecOf(group), cluster);
    for (auto [member, expected] : llvm::zip(group.getMembers(), all.members))
      if (Operation *def = member.getDefiningOp())
        counts[def] = expected;
  });
  auto ask = [&](Operation *op) {
    if (counts.contains(op))
      return;
    Value value = op->getResult(0);
    counts[op] = protocol::expectedCounts(pipelineSpecOf(value), cluster, participantsOf(value));
  };
  kernel.walk([&](Operation *op) {
    if (auto resource = dyn_cast<ResourceOp>(op); resource && resource.getPipeline())
      ask(op);
    else if (auto queue = dyn_cast<WorkQueueOp>(op); queue && hasPipeline(queue))
      ask(op);
  });
  for (auto &[op, expected] : counts) {
    if (auto resource = dyn_cast<ResourceOp>(op)) {
      if (resource.getPipeline())
        resource.setPipelineAttr(
            fillPipeline(op, resource.getName(), *resource.getPipeline(), expected));
    } else if (auto queue = dyn_cast<WorkQueueOp>(op)) {
      PipelineAttr pipeline =
          queue.getPipeline() ? *queue.getPipeline() : defaultQueuePipeline(queue);
      queue.setPipelineAttr(fillPipeline(op, queue.getName(), pipeline, expected));
    }
  }
}

bool inferWarps(KernelOp kernel) {
  kernel->removeDiscardableAttr(kLaunchWarpsAttr);
  kernel->removeDiscardableAttr(kRegistersAttr);
  WarpPlan plan = planWarps(kernel);
  if (!plan.valid)
    return false;
  Builder b(kernel.getContext());
  kernel->setDiscardableAttr(kLaunchWarpsAttr, b.getI64IntegerAttr(plan.launchWarps));
  if (plan.launchWarps != int64_t(kernel.getNumWarps()))
    emitRemark(kernel.getLoc()) << "launches " << plan.launchWarps << " warps for the "
                                << kernel.getNumWarps() << " of kernel '" << kernel.getSymName()
                                << "', so that every warpgroup is whole";
  if (plan.registers.empty())
    return true;
  kernel->setDiscardableAttr(kRegistersAttr, b.getDenseI64ArrayAttr(plan.registers));
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    for (auto [group, budget] : llvm::enumerate(plan.registers)) {
      int64_t begin = task.getFirstWarp(), end = begin + int64_t(task.getNumWarps());
      int64_t own = task.getRegisters() ? int64_t(*task.getRegisters()) : 0;
      if (begin < int64_t(group + 1) * 4 && end > int64_t(group) * 4 && own != budget)
        emitRemark(task.getLoc()) << "task '" << task.getName() << "' gets the " << budget
                                  << " registers of warpgroup " << group
                                  << ": one setmaxnreg holds for all four warps";
    }
  return true;
}

struct InferPipelinesPass : mlir::ts::impl::TSInferPipelinesBase<InferPipelinesPass> {
  void runOnOperation() override {
    bool valid = true;
    getOperation().walk([&](KernelOp kernel) {
      inferPipelines(kernel);
      valid &= inferWarps(kernel);
    });
    if (!valid)
      signalPassFailure();
  }
};
} // namespace
