// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadValues.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;

ThreadNumber ThreadValues::get(OpFoldResult value) {
  if (auto attr = dyn_cast<Attribute>(value))
    return ThreadNumber::constant(cast<IntegerAttr>(attr).getInt());
  return get(cast<Value>(value));
}

ThreadNumber ThreadValues::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Operation *owner = value.getParentBlock()->getParentOp();
  if (task->isAncestor(owner) && !isa<TaskOp>(owner))
    return {};
  // Operations in front of the task, in their order: no recursion over long chains.
  SmallVector<Value> stack{value};
  while (!stack.empty()) {
    Value next = stack.back();
    bool ready = true;
    if (Operation *op = next.getDefiningOp(); op && !task->isProperAncestor(op))
      for (Value operand : op->getOperands())
        if (operand.getType().isIntOrIndex() && !known.contains(operand)) {
          stack.push_back(operand);
          ready = false;
        }
    if (!ready)
      continue;
    stack.pop_back();
    known.try_emplace(next, compute(next));
  }
  return known.lookup(value);
}

void ThreadValues::execute(Operation *op) {
  for (Value result : op->getResults())
    if (result.getType().isIntOrIndex())
      known[result] = compute(result);
}

ThreadNumber ThreadValues::fresh() {
  ranges.push_back(std::nullopt);
  ThreadNumber result = ThreadNumber::constant(0);
  result.terms.push_back({int(ranges.size()) - 1, 1});
  return result;
}

ThreadNumber ThreadValues::named(const std::string &text,
                                 std::optional<std::pair<int64_t, int64_t>> range) {
  auto [it, isNew] = names.try_emplace(text, int(ranges.size()));
  if (isNew)
    ranges.push_back(range);
  ThreadNumber result = ThreadNumber::constant(0);
  result.terms.push_back({it->second, 1});
  return result;
}

ThreadNumber ThreadValues::identity(int64_t modulus, int64_t divisor) {
  ThreadNumber result{true, false, {}, {}};
  for (unsigned thread = 0; thread < threads; ++thread)
    result.numbers.push_back(thread % modulus / divisor);
  return result;
}

ThreadNumber
ThreadValues::pointwise(const ThreadNumber &a, const ThreadNumber &b,
                        llvm::function_ref<std::optional<int64_t>(int64_t, int64_t)> fold) {
  ThreadNumber result{true, a.sampled || b.sampled, {}, {}};
  unsigned count = a.uniform() && b.uniform() ? 1 : threads;
  for (unsigned thread = 0; thread < count; ++thread) {
    auto number = fold(a.of(thread), b.of(thread));
    if (!number)
      return {};
    result.numbers.push_back(*number);
  }
  return result;
}

ThreadNumber ThreadValues::scale(const ThreadNumber &a, int64_t by) {
  if (!a.known)
    return {};
  ThreadNumber result = a;
  if (by == 0)
    result.terms.clear();
  for (auto &term : result.terms)
    if (llvm::MulOverflow(term.scale, by, term.scale))
      return {};
  for (int64_t &number : result.numbers)
    if (llvm::MulOverflow(number, by, number))
      return {};
  return result;
}

ThreadNumber ThreadValues::add(const ThreadNumber &a, const ThreadNumber &b, int64_t sign) {
  if (!a.known || !b.known)
    return {};
  ThreadNumber right = scale(b, sign);
  if (!right.known)
    return {};
  ThreadNumber result = pointwise(a, right, [](int64_t x, int64_t y) -> std::optional<int64_t> {
    int64_t sum;
    return llvm::AddOverflow(x, y, sum) ? std::nullopt : std::optional(sum);
  });
  if (!result.known)
    return {};
  std::map<int, int64_t> sum;
  for (const auto &terms : {a.terms, right.terms})
    for (const auto &term : terms)
      if (llvm::AddOverflow(sum[term.symbol], term.scale, sum[term.symbol]))
        return {};
  for (auto [symbol, factor] : sum)
    if (factor != 0)
      result.terms.push_back({symbol, factor});
  return result;
}

static std::string textOf(const ThreadNumber &number) {
  std::string text = std::to_string(number.of(0));
  for (const auto &term : number.terms)
    text += "+" + std::to_string(term.scale) + "*s" + std::to_string(term.symbol);
  return text;
}

/// Whether a number is the same in the registers, which wrap around.
static bool fits(int64_t number, Type type) {
  unsigned width = type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
  return width == 1 || width >= 64 || llvm::isIntN(width, number);
}

ThreadNumber ThreadValues::binary(Operation *op, const ThreadNumber &a, const ThreadNumber &b) {
  if (!a.known || !b.known)
    return {};
  auto cmp = dyn_cast<arith::CmpIOp>(op);
  auto fold = [&](int64_t x, int64_t y) -> std::optional<int64_t> {
    if (!cmp) {
      auto result = foldBinary(op, x, y);
      return result && fits(*result, op->getResult(0).getType()) ? result : std::nullopt;
    }
    return foldCompare(cmp.getPredicate(), x, y);
  };
  bool remainder = isa<arith::RemUIOp, arith::RemSIOp, arith::AndIOp>(op);
  if (a.plain() && b.plain()) {
    ThreadNumber result = pointwise(a, b, fold);
    // A ring position that every iteration count goes through.
    if (remainder && b.uniform())
      result.sampled = false;
    return result;
  }
  if (isa<arith::AddIOp>(op))
    return add(a, b);
  if (isa<arith::SubIOp>(op))
    return add(a, b, -1);
  if (isa<arith::MulIOp>(op) && b.plain() && b.uniform())
    return scale(a, b.of(0));
  if (isa<arith::MulIOp>(op) && a.plain() && a.uniform())
    return scale(b, a.of(0));
  if (isa<arith::ShLIOp>(op) && b.plain() && b.uniform() && b.of(0) >= 0 && b.of(0) < 40)
    return scale(a, int64_t(1) << b.of(0));
  if (cmp && a.terms == b.terms) {
    ThreadNumber x = a, y = b;
    x.terms.clear();
    y.terms.clear();
    return pointwise(x, y, fold);
  }
  if (!a.uniform() || !b.uniform())
    return {};
  // All threads have the same value: a symbol of its own.
  std::string text = op->getName().getStringRef().str();
  if (cmp)
    text += std::to_string(unsigned(cmp.getPredicate()));
  text += "(" + textOf(a) + "," + textOf(b) + ")";
  if (text.size() > 200)
    return fresh();
  std::optional<std::pair<int64_t, int64_t>> range;
  if (cmp)
    range = {0, 1};
  else if (isa<arith::RemUIOp, arith::RemSIOp>(op) && b.plain() && b.of(0) > 0)
    // Indices are not negative where they address memory.
    range = {isa<arith::RemSIOp>(op) && !op->getResult(0).getType().isIndex() ? 1 - b.of(0) : 0,
             b.of(0) - 1};
  else if (isa<arith::AndIOp>(op) && b.plain() && b.of(0) >= 0)
    range = {0, b.of(0)};
  return named(text, range);
}

ThreadNumber ThreadValues::compute(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (isa_and_nonnull<TaskOp>(arg.getOwner()->getParentOp()))
      return ThreadNumber::constant(replica);
    return fresh();
  }
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getBitWidth() == 1)
      return ThreadNumber::constant(constant.getBoolValue());
    return constant.getSignificantBits() <= 64 ? ThreadNumber::constant(constant.getSExtValue())
                                               : ThreadNumber();
  }
  if (auto info = dyn_cast<InfoOp>(op)) {
    switch (info.getKind()) {
    case InfoKind::Thread:
      return identity(threads, 1);
    case InfoKind::Warp:
      return identity(threads, 32);
    case InfoKind::Lane:
      return identity(32, 1);
    case InfoKind::Replica:
      return ThreadNumber::constant(replica);
    case InfoKind::CtaRank:
      return named("cta_rank", std::nullopt);
    default:
      return fresh();
    }
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return get(op->getOperand(0));
  if (isa<arith::TruncIOp>(op)) {
    ThreadNumber from = get(op->getOperand(0));
    unsigned width = value.getType().getIntOrFloatBitWidth();
    for (int64_t number : from.numbers)
      if (width < 63 && (number < 0 || number >= int64_t(1) << (width - (width > 1))))
        return {};
    return from;
  }
  if (isa<arith::SelectOp>(op)) {
    ThreadNumber condition = get(op->getOperand(0));
    ThreadNumber yes = get(op->getOperand(1)), no = get(op->getOperand(2));
    if (!condition.plain())
      return condition.known && yes.uniform() && no.uniform() ? fresh() : ThreadNumber();
    if (condition.uniform())
      return condition.of(0) ? yes : no;
    if (!yes.known || !no.known || yes.terms != no.terms)
      return {};
    ThreadNumber result{true, yes.sampled || no.sampled, yes.terms, {}};
    for (unsigned thread = 0; thread < threads; ++thread)
      result.numbers.push_back((condition.of(thread) ? yes : no).of(thread));
    return result;
  }
  if (isa<arith::ArithDialect>(op->getDialect()) && op->getNumOperands() == 2 &&
      op->getOperand(0).getType().isIntOrIndex())
    return binary(op, get(op->getOperand(0)), get(op->getOperand(1)));
  // What is computed from shared values only is shared too.
  if (op->getNumRegions() == 0 && isPure(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
        return operand.getType().isIntOrIndex() && get(operand).uniform();
      }))
    return fresh();
  return {};
}
