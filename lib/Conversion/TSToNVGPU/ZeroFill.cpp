// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix accumulator whose k loop runs zero times was never written, yet its consumers read it:
// the sum over nothing is zero. This file finds the condition under which it was written, so that
// the reads can be made zero otherwise. It covers loops whose bounds are known to every task
// (constants and kernel arguments); for others it warns.
#include "ScheduleLowering.h"

#include "ts/Analysis/Schedule/MemoryTrace.h"
#include "ts/Analysis/Schedule/Values.h"

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
static Value kernelLevel(OpBuilder &b, KernelValues &values, Value bound) {
  if (values.mapping.contains(bound))
    return values.mapping.lookup(bound);
  // A constant is the same for everybody, wherever it stands.
  if (matchPattern(bound, m_Constant()))
    return b.clone(*bound.getDefiningOp())->getResult(0);
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
        Value from = kernelLevel(b, values, loop.getLower());
        Value to = kernelLevel(b, values, loop.getUpper());
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

/// The load in tensor memory that `loaded`, its result or that of the work around it, comes from.
/// Loads in flight pass no loop and no branch (TaskLowering::collectSides).
static TmemLoadOp findLoad(Value loaded) {
  while (Operation *def = loaded.getDefiningOp()) {
    if (auto load = dyn_cast<TmemLoadOp>(def))
      return load;
    if (!isa<ProduceOp, ConsumeOp>(def) || def->getRegion(0).empty())
      break;
    loaded = def->getRegion(0).front().getTerminator()->getOperand(
        cast<OpResult>(loaded).getResultNumber());
  }
  return {};
}

FailureOr<Value> mlir::ts::writtenCondition(OpBuilder &b, KernelValues &values, Operation *at,
                                            Value loaded) {
  TmemLoadOp load = findLoad(loaded);
  if (!load)
    return Value();
  ValueEvaluator evaluator;
  llvm::SetVector<Value> resources;
  for (const MemrefRoot &root : traceMemref(load.getSrc(), evaluator))
    if (Value resource = root.resource())
      resources.insert(resource);
  Value condition;
  for (Value resource : resources)
    if (Value written = writtenCondition(b, values, resource)) {
      condition = written;
      if (resources.size() > 1)
        return emitUnsupported(at)
               << "one load reads accumulators of '" << getResourceName(resources[0]) << "' or of '"
               << getResourceName(resources[1]) << "', and those of '" << getResourceName(resource)
               << "' are zero when its loop runs zero times; load both, and choose between the "
                  "values";
    }
  return condition;
}
