// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix accumulator whose k loop runs zero times was never written, yet its consumers read it:
// the sum over nothing is zero. This file finds the condition under which it was written, so that
// the reads can be made zero otherwise. It covers loops whose bounds are known to every task
// (constants and kernel arguments).
#include "ScheduleLowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ts;

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
    produce.getBody().walk([&](UmmaOp umma) {
      Value condition;
      for (auto loop = umma->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>()) {
        APInt lower, upper;
        if (matchPattern(loop.getLower(), m_ConstantInt(&lower)) &&
            matchPattern(loop.getUpper(), m_ConstantInt(&upper)) && lower.slt(upper))
          continue;
        Value from = kernelLevel(values, loop.getLower());
        Value to = kernelLevel(values, loop.getUpper());
        if (!from || !to)
          return;
        Emitter e(b, umma.getLoc());
        Value runs = e.cmp(arith::CmpIPredicate::slt, from, to);
        condition = condition ? e.bitAnd(condition, runs) : runs;
      }
      if (!condition)
        always = true;
      else if (!written)
        written = condition;
      else
        written = arith::OrIOp::create(b, umma.getLoc(), written, condition);
    });
  }
  return always ? Value() : written;
}
