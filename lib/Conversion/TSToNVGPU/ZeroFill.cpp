// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix accumulator whose k loop runs zero times was never written, yet its consumers read it:
// the sum over nothing is zero. This file finds the condition under which it was written, so that
// the reads can be made zero otherwise. It covers loops whose bounds are known to every task
// (constants and kernel arguments); for others it warns.
#include "ScheduleLowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ts;

/// Whether a stage is handed over in every iteration of a loop: where it runs zero times, nobody
/// waits for the stage either.
static bool commitsInside(ForOp loop, Value resource) {
  return llvm::any_of(resource.getUsers(), [&](Operation *user) {
    return isa<CommitOp>(user) && loop->isProperAncestor(user);
  });
}

/// The bound as seen by all tasks: null when it is computed inside a task.
static Value kernelLevel(KernelValues &values, Value bound) {
  if (values.mapping.contains(bound))
    return values.mapping.lookup(bound);
  return {};
}

Value mlir::ts::writtenCondition(OpBuilder &b, KernelValues &values, Value resource) {
  Value written;
  bool always = false;
  for (Operation *user : resource.getUsers()) {
    auto produce = dyn_cast<ProduceOp>(user);
    if (!produce || !produce.hasBody())
      continue;
    produce.getBody().walk([&](Operation *op) {
      // Whoever stores accumulators by hand starts them by hand.
      always |= isa<TmemStoreOp>(op);
      if (!isa<UmmaOp>(op))
        return;
      Value condition;
      for (auto loop = op->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>()) {
        if (commitsInside(loop, resource))
          break;
        APInt lower, upper;
        if (matchPattern(loop.getLower(), m_ConstantInt(&lower)) &&
            matchPattern(loop.getUpper(), m_ConstantInt(&upper)) && lower.slt(upper))
          continue;
        Value from = kernelLevel(values, loop.getLower());
        Value to = kernelLevel(values, loop.getUpper());
        if (!from || !to) {
          always = true;
          if (values.warned.insert(op).second)
            op->emitWarning("the accumulators of '")
                << getResourceName(resource)
                << "' hold old values when the loop around this runs zero times, and its bounds "
                   "are known to this task only; compute them from kernel arguments, or see to it "
                   "that it runs";
          return;
        }
        Emitter e(b, op->getLoc());
        Value runs = e.cmp(arith::CmpIPredicate::slt, from, to);
        condition = condition ? e.bitAnd(condition, runs) : runs;
      }
      if (!condition)
        always = true;
      else if (!written)
        written = condition;
      else
        written = arith::OrIOp::create(b, op->getLoc(), written, condition);
    });
  }
  return always ? Value() : written;
}
