// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known at compile time about a scalar SSA value of a kernel: a number for one thread's
// identity, or an affine form of one launch argument or tile expression. Not a range analysis.
#ifndef TS_ANALYSIS_SCHEDULE_VALUES_H
#define TS_ANALYSIS_SCHEDULE_VALUES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "ts/Analysis/Schedule/Model.h"
#include "ts/Dialect/TS/IR/TS.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::ts {

/// Who evaluates; what is left out is unknown.
struct ValueEnv {
  std::optional<int64_t> ctaRank, warp, replica;
};

class ValueEvaluator {
public:
  explicit ValueEvaluator(ValueEnv env = {}) : env(env) {}

  /// The number that the value has, if constants and the environment decide it.
  std::optional<int64_t> evaluate(Value value) { return evaluate(value, 0); }
  /// Takes `value` to be `number` from here on.
  void assume(Value value, int64_t number) { numbers[value] = number; }
  /// The value as scale * symbol + offset.
  ::ts::schedule::Bound bound(Value value) { return bound(value, 0); }
  /// The upper bound of a loop from `lower`, such that the trips are those of the symbol clamped at
  /// zero: x + 1 of an x that may be negative is a symbol of its own.
  ::ts::schedule::Bound upperBound(Value value, const ::ts::schedule::Bound &lower);
  /// A condition's identity, and "trip count > 0" where it is of that form.
  ::ts::schedule::Condition condition(Value value);

  /// Where a loop over one lane's steps starts in the first tile, if it goes on in each tile where
  /// the last one ended: its start is carried by the tile loop around it and becomes
  /// (start - end) mod step.
  std::optional<int64_t> carriedStart(ForOp loop);

private:
  std::optional<int64_t> evaluate(Value value, int depth);
  std::optional<int64_t> compute(Value value, int depth);
  ::ts::schedule::Bound bound(Value value, int depth);
  ::ts::schedule::Bound describe(Value value, int depth);
  ::ts::schedule::Bound structural(Value value, StringRef what);

  ValueEnv env;
  llvm::DenseMap<Value, std::optional<int64_t>> numbers;
  llvm::DenseMap<Value, ::ts::schedule::Bound> bounds;
};

/// The result of a two-operand integer op of arith; nothing where it is not defined or signed and
/// unsigned readings would differ.
std::optional<int64_t> foldBinary(Operation *op, int64_t a, int64_t b);
std::optional<int64_t> foldCompare(arith::CmpIPredicate predicate, int64_t a, int64_t b);

/// The same question "is it above zero?" of the symbol itself: 2 * n and 4 * n - 3 are where n is.
::ts::schedule::Bound ofTheSymbol(::ts::schedule::Bound bound);

/// Whether a loop up to `upper` runs more often than its symbol says where that is negative: n + 1
/// trips are not max(0, n) + 1.
bool needsNoNegative(const ::ts::schedule::Bound &upper, const ::ts::schedule::Bound &lower);

/// "%name" of a kernel argument or a short description; for messages.
std::string describeValue(Value value);

} // namespace mlir::ts

#endif
