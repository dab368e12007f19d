// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Schedule/PartIndex.h"

#include "ts/Analysis/Schedule/PathWalker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ts;

static constexpr int64_t kMaxParts = 64, kBig = int64_t(1) << 30;
static constexpr int kMaxHops = 16;

static Value strip(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::TruncIOp, arith::ExtUIOp,
             arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Adds scale * value to `out`; false if a part of it is not affine in loops.
static bool linear(Value value, int64_t scale, ValueEvaluator &evaluator, PartIndex &out,
                   int depth) {
  value = strip(value);
  if (depth > kMaxHops || scale > kBig || scale < -kBig)
    return false;
  auto constant = [&](int64_t number) {
    if (number > kBig || number < -kBig)
      return false;
    out.offset += scale * number;
    return out.offset <= kBig && out.offset >= -kBig;
  };
  auto term = [&](Operation *loop, int64_t step) {
    if (step > kBig || step < -kBig)
      return false;
    out.terms.push_back({loop, scale * step});
    return true;
  };
  if (auto number = evaluator.evaluate(value))
    return constant(*number);
  if (Operation *op = value.getDefiningOp()) {
    if (isa<arith::AddIOp>(op))
      return linear(op->getOperand(0), scale, evaluator, out, depth + 1) &&
             linear(op->getOperand(1), scale, evaluator, out, depth + 1);
    if (isa<arith::MulIOp>(op))
      for (int side : {0, 1})
        if (auto by = evaluator.evaluate(op->getOperand(side)); by && *by <= kBig && *by >= -kBig)
          return linear(op->getOperand(1 - side), scale * *by, evaluator, out, depth + 1);
    return false;
  }
  auto arg = cast<BlockArgument>(value);
  Operation *loop = arg.getOwner()->getParentOp();
  ValueRange inits;
  std::optional<int64_t> lower, step = 1;
  if (auto op = dyn_cast<ForOp>(loop)) {
    inits = op.getInits();
    lower = evaluator.evaluate(op.getLower());
    if (op.getStep())
      step = evaluator.evaluate(op.getStep());
  } else if (auto op = dyn_cast<scf::ForOp>(loop)) {
    inits = op.getInits();
    lower = evaluator.evaluate(op.getLowerBound());
    step = evaluator.evaluate(op.getStep());
  } else if (auto op = dyn_cast<TileLoopOp>(loop)) {
    inits = op.getInits();
  } else {
    return false;
  }
  unsigned first = arg.getOwner()->getNumArguments() - inits.size();
  if (arg.getArgNumber() < first)
    return arg.getArgNumber() == 0 && lower && step && constant(*lower) && term(loop, *step);
  // A counter that every iteration moves by the same amount.
  unsigned number = arg.getArgNumber() - first;
  Value next = strip(arg.getOwner()->getTerminator()->getOperand(number));
  auto add = next.getDefiningOp<arith::AddIOp>();
  auto init = evaluator.evaluate(inits[number]);
  if (!add || !init)
    return false;
  for (Value other : {add.getLhs(), add.getRhs()})
    if (auto by = evaluator.evaluate(other);
        by && strip(other == add.getLhs() ? add.getRhs() : add.getLhs()) == arg)
      return constant(*init) && term(loop, *by);
  return false;
}

/// Counts up only, so that division and remainder agree with the hardware's.
static bool grows(const PartIndex &index) {
  return index.offset >= 0 &&
         llvm::all_of(index.terms, [](auto &term) { return term.second >= 0; });
}

std::optional<PartIndex> mlir::ts::periodicIndex(Value value, ValueEvaluator &evaluator) {
  PartIndex index;
  value = strip(value);
  Operation *op = value.getDefiningOp();
  std::optional<int64_t> by =
      op && op->getNumOperands() == 2 ? evaluator.evaluate(op->getOperand(1)) : std::nullopt;
  if (by && isa<arith::RemUIOp, arith::RemSIOp>(op))
    index.count = *by;
  else if (by && isa<arith::AndIOp>(op) && *by >= 0 && *by < kMaxParts && !(*by & (*by + 1)))
    index.count = *by + 1;
  else
    op = nullptr;
  if (op) {
    value = strip(op->getOperand(0));
    if (Operation *inner = value.getDefiningOp();
        isa_and_nonnull<arith::DivUIOp, arith::DivSIOp>(inner))
      if (auto divisor = evaluator.evaluate(inner->getOperand(1));
          divisor && *divisor > 0 && *divisor <= kMaxParts) {
        index.divisor = *divisor;
        value = inner->getOperand(0);
      }
    if (index.count < 1 || index.count > kMaxParts || !linear(value, 1, evaluator, index, 0) ||
        !grows(index))
      return std::nullopt;
    return index;
  }
  // The number of an iteration of a short loop.
  if (!linear(value, 1, evaluator, index, 0) || !grows(index) || index.terms.size() != 1)
    return std::nullopt;
  auto [loop, scale] = index.terms.front();
  std::optional<int64_t> lower, upper, step = 1;
  if (auto domain = dyn_cast<ForOp>(loop)) {
    lower = evaluator.evaluate(domain.getLower());
    upper = evaluator.evaluate(domain.getUpper());
    if (domain.getStep())
      step = evaluator.evaluate(domain.getStep());
  }
  if (!lower || !upper || !step || *step <= 0 || *upper <= *lower || *upper > kBig ||
      *lower < -kBig)
    return std::nullopt;
  int64_t trips = (*upper - *lower - 1) / *step + 1;
  if (trips > kMaxParts || scale > kMaxParts || index.offset > kMaxParts)
    return std::nullopt;
  index.count = index.offset + scale * (trips - 1) + 1;
  if (index.count > kMaxParts)
    return std::nullopt;
  return index;
}

static std::string fixedKey(Value value, int depth) {
  value = strip(value);
  std::string pointer = std::to_string(reinterpret_cast<uintptr_t>(value.getAsOpaquePointer()));
  if (auto arg = dyn_cast<BlockArgument>(value))
    return isa<KernelOp, TaskOp>(arg.getOwner()->getParentOp()) ? pointer : "";
  Operation *op = value.getDefiningOp();
  bool inLoop = false, inTask = false;
  for (Operation *parent = op->getParentOp(); parent && !inTask; parent = parent->getParentOp()) {
    inLoop |= isScheduleLoop(parent);
    inTask = isa<TaskOp, KernelOp>(parent);
  }
  if (!inLoop)
    return pointer;
  // Arithmetic in a loop on numbers from outside of it.
  if (depth > kMaxHops || op->getNumRegions() || op->getNumResults() != 1 ||
      op->getNumOperands() > 2 || op->getDialect()->getNamespace() != "arith")
    return "";
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return number ? "#" + std::to_string(number.getInt()) : "";
  }
  std::string text = op->getName().getStringRef().str() + "(";
  for (Value operand : op->getOperands()) {
    std::string part = fixedKey(operand, depth + 1);
    if (part.empty())
      return "";
    text += part + ",";
  }
  return text + ")";
}

std::string mlir::ts::fixedIndex(Value value) { return fixedKey(value, 0); }
