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
/// What was filled in, for people; silent on request.
using Say = llvm::function_ref<void(Operation *, const Twine &)>;

int64_t fill(Operation *op, StringRef name, StringRef field, int64_t declared,
             const protocol::Expected &expected, Say say) {
  if (declared >= 0)
    return declared;
  if (!expected.value) {
    say(op,
        "left out " + field + " of '" + name + "', it cannot be inferred: " + expected.derivation);
    return declared;
  }
  // A count that no mbarrier takes is TS215's or TS216's finding; recording it would be invalid.
  if (*expected.value < 1 || *expected.value > kMaxMbarrierCount) {
    say(op, "left out " + field + " of '" + name + "', " + Twine(*expected.value) +
                " is outside 1.." + Twine(kMaxMbarrierCount) + ": " + expected.derivation);
    return declared;
  }
  say(op, "inferred " + field + " = " + Twine(*expected.value) + " of '" + name +
              "': " + expected.derivation);
  return *expected.value;
}

PipelineAttr fillPipeline(Operation *op, StringRef name, PipelineAttr p,
                          const protocol::ExpectedCounts &counts, Say say) {
  int64_t producers =
      fill(op, name, "producer_count", p.getProducerCount(), counts.fullArrivals, say);
  int64_t consumers =
      fill(op, name, "consumer_count", p.getConsumerCount(), counts.emptyArrivals, say);
  int64_t bytes = p.getNumBytes();
  if (protocol::countsBytes(protocol::PipelineType(unsigned(p.getType()))))
    bytes = fill(op, name, "num_bytes", bytes, counts.fullBytes, say);
  return PipelineAttr::get(op->getContext(), p.getType(), p.getStages(), bytes, producers,
                           consumers, p.getProducerSignal(), p.getConsumerSignal(),
                           p.getConsumerWaitSignal(), p.getAdvanceOnWait(), p.getAdvanceOnAcquire(),
                           p.getInterleave(), p.getProducerOp(), p.getBytesPerWarpPerCta(),
                           p.getMcast(), p.getCtaLayout());
}

PipelineAttr defaultQueuePipeline(WorkQueueOp queue, Say say) {
  say(queue, "inferred pipeline(clc_fetch_async, stages = " + Twine(kDefaultQueueStages) +
                 ") of '" + queue.getName() + "'");
  return PipelineAttr::get(queue.getContext(), PipelineType::ClcFetchAsync, kDefaultQueueStages, -1,
                           -1, -1, Signalling::All, Signalling::All, std::nullopt, false, false, {},
                           ProducerOp::Thread, -1, {}, {});
}

/// All counts are asked for before anything is written: a filled-in field must not look declared to
/// the next question.
void inferPipelines(KernelOp kernel, Say say) {
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
            fillPipeline(op, resource.getName(), *resource.getPipeline(), expected, say));
    } else if (auto queue = dyn_cast<WorkQueueOp>(op)) {
      PipelineAttr pipeline =
          queue.getPipeline() ? *queue.getPipeline() : defaultQueuePipeline(queue, say);
      queue.setPipelineAttr(fillPipeline(op, queue.getName(), pipeline, expected, say));
    }
  }
}

bool inferWarps(KernelOp kernel, Say say) {
  kernel->removeDiscardableAttr(kLaunchWarpsAttr);
  kernel->removeDiscardableAttr(kRegistersAttr);
  WarpPlan plan = planWarps(kernel);
  if (!plan.valid)
    return false;
  Builder b(kernel.getContext());
  kernel->setDiscardableAttr(kLaunchWarpsAttr, b.getI64IntegerAttr(plan.launchWarps));
  if (plan.launchWarps != int64_t(kernel.getNumWarps()))
    say(kernel, "launches " + Twine(plan.launchWarps) + " warps for the " +
                    Twine(kernel.getNumWarps()) + " of kernel '" + kernel.getSymName() +
                    "', so that every warpgroup is whole");
  if (plan.registers.empty())
    return true;
  kernel->setDiscardableAttr(kRegistersAttr, b.getDenseI64ArrayAttr(plan.registers));
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    for (auto [group, budget] : llvm::enumerate(plan.registers)) {
      int64_t begin = task.getFirstWarp(), end = begin + int64_t(task.getNumWarps());
      int64_t own = task.getRegisters() ? int64_t(*task.getRegisters()) : 0;
      if (begin < int64_t(group + 1) * 4 && end > int64_t(group) * 4 && own != budget)
        say(task, "task '" + task.getName() + "' gets the " + Twine(budget) +
                      " registers of warpgroup " + Twine(group) +
                      ": one setmaxnreg holds for all four warps");
    }
  return true;
}

struct InferPipelinesPass : mlir::ts::impl::TSInferPipelinesBase<InferPipelinesPass> {
  using TSInferPipelinesBase::TSInferPipelinesBase;

  void runOnOperation() override {
    auto say = [&](Operation *op, const Twine &text) {
      if (remarks)
        emitRemark(op->getLoc()) << text;
    };
    bool valid = true;
    getOperation().walk([&](KernelOp kernel) {
      inferPipelines(kernel, say);
      valid &= inferWarps(kernel, say);
    });
    if (!valid)
      signalPassFailure();
  }
};
} // namespace
