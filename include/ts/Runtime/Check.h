// Compares a kernel's output with a check expression.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_CHECK_H
#define TS_RUNTIME_CHECK_H

#include "ts/Runtime/CheckExpr.h"

namespace ts {

struct CheckOptions {
  uint64_t seed = 1; // of the sample
  /// Products of more multiplications than this are checked on a sample of rows and columns.
  double maxProducts = 0x1p31;
  /// Demand that the expression leaves a kernel no freedom: every bound has to be zero.
  bool requireExact = false;
};

struct CheckReport {
  bool ok = false;
  int64_t compared = 0, total = 0; // fewer compared than there are: a sample
  int64_t exact = 0;               // compared for equality
  int64_t wrong = 0, poisoned = 0;
  double worst = 0; // the largest error as a part of what is allowed, among elements with a bound
  std::string firstWrong;

  /// "D = A @ B.T: ok, 8192 of 8192 elements, exact"
  std::string str(const CheckExpr &expr) const;
};

/// Evaluates the expression on `arrays` and compares each element of `output` with it. A product
/// that is too large is checked on one random row and column out of each of as many equal stripes
/// as `maxProducts` allows (the first and last ones always), and all other elements only for having
/// been written. `arrays` hold what the kernel was given, `output` what it left.
Result<CheckReport> runCheck(const CheckExpr &expr, const CheckEvaluator::Arrays &arrays,
                             const CheckEvaluator::Numbers &scalars, const HostArray &output,
                             const CheckOptions &options);

} // namespace ts

#endif // TS_RUNTIME_CHECK_H
