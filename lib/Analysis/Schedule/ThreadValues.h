// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar values as every thread of one task sees them: a number for each thread plus a sum of
// symbols that stand for run-time values which all threads share. Not a range analysis, except for
// the bounds that a remainder or a mask gives.
#ifndef TS_LIB_ANALYSIS_SCHEDULE_THREADVALUES_H
#define TS_LIB_ANALYSIS_SCHEDULE_THREADVALUES_H

#include "ts/Analysis/Schedule/Values.h"

#include <map>

namespace mlir::ts::detail {

/// number of the thread + sum of scale * symbol.
struct ThreadNumber {
  struct Term {
    int symbol = 0;
    int64_t scale = 0;
    bool operator==(const Term &) const = default;
  };
  bool known = false;   ///< false: anything, and another value for every thread
  bool sampled = false; ///< counts a loop of which only some iterations are looked at
  SmallVector<Term, 2> terms;
  SmallVector<int64_t, 1> numbers; ///< one for all threads, or one each

  static ThreadNumber constant(int64_t value) { return {true, false, {}, {value}}; }
  bool uniform() const { return known && numbers.size() == 1; }
  bool plain() const { return known && terms.empty(); }
  int64_t of(unsigned thread) const { return numbers[numbers.size() == 1 ? 0 : thread]; }
};

class ThreadValues {
public:
  ThreadValues(TaskOp task, int64_t replica, unsigned threads)
      : task(task), replica(replica), threads(threads) {}

  /// The value now; what stands outside of the task is computed on demand.
  ThreadNumber get(Value value);
  ThreadNumber get(OpFoldResult value);
  void set(Value value, ThreadNumber number) { known[value] = std::move(number); }
  /// Computes the integer results of `op`, which is executed now.
  void execute(Operation *op);

  ThreadNumber add(const ThreadNumber &a, const ThreadNumber &b, int64_t sign = 1);
  ThreadNumber scale(const ThreadNumber &a, int64_t by);
  /// A run-time value that all threads share, a new one every time.
  ThreadNumber fresh();
  /// Range of a symbol, if it has one.
  std::optional<std::pair<int64_t, int64_t>> range(int symbol) const {
    return ranges[size_t(symbol)];
  }
  unsigned size() const { return threads; }

private:
  ThreadNumber compute(Value value);
  ThreadNumber binary(Operation *op, const ThreadNumber &a, const ThreadNumber &b);
  ThreadNumber pointwise(const ThreadNumber &a, const ThreadNumber &b,
                         llvm::function_ref<std::optional<int64_t>(int64_t, int64_t)> fold);
  /// The same symbol for the same text.
  ThreadNumber named(const std::string &text, std::optional<std::pair<int64_t, int64_t>> range);
  ThreadNumber identity(int64_t modulus, int64_t divisor);

  TaskOp task;
  int64_t replica;
  unsigned threads;
  llvm::DenseMap<Value, ThreadNumber> known;
  std::map<std::string, int> names;
  std::vector<std::optional<std::pair<int64_t, int64_t>>> ranges;
};

} // namespace mlir::ts::detail

#endif
