// Chooses what to compare, evaluates it piece by piece and counts what is wrong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/Check.h"

#include "ts/Runtime/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

using namespace ts;

namespace {
constexpr int64_t maxPieceElements = int64_t(1) << 22; // bounds the memory of an evaluation

std::string number(double value) {
  if (std::isnan(value))
    return "nan"; // printf would also print its sign
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// One index out of each of `count` equal stripes of [0, extent); the ends are always there.
std::vector<int64_t> sample(int64_t extent, int64_t count, std::mt19937_64 &random) {
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t begin = extent * i / count, end = extent * (i + 1) / count;
    indices[static_cast<size_t>(i)] =
        begin + static_cast<int64_t>(random() % static_cast<uint64_t>(end - begin));
  }
  if (count > 0 && count < extent) {
    indices.front() = 0;
    if (count > 1)
      indices.back() = extent - 1;
  }
  return indices;
}

/// How many indices of each dimension to compare, so that the products stay affordable.
std::vector<int64_t> affordable(const CheckEvaluator &evaluator, double maxProducts) {
  std::vector<int64_t> counts = evaluator.shape();
  while (evaluator.cost(counts) > maxProducts) {
    // Halve the largest dimension; several of equal size shrink in turn.
    auto largest = std::max_element(counts.begin(), counts.end());
    if (largest == counts.end() || *largest <= 1)
      break;
    *largest = (*largest + 1) / 2;
  }
  return counts;
}

class Comparison {
public:
  Comparison(const HostArray &output, CheckReport &report) : output(output), report(report) {}

  void compare(const CheckTensor &reference, const Selection &selection) {
    const std::vector<int64_t> &shape = output.layout().shape;
    for (int64_t i = 0; i < reference.size(); ++i) {
      int64_t linear = 0, rest = i, step = 1;
      for (size_t d = selection.size(); d-- > 0;) {
        auto extent = static_cast<int64_t>(selection[d].size());
        linear += selection[d][static_cast<size_t>(rest % extent)] * step;
        rest /= extent;
        step *= shape[d];
      }
      compareOne(linear, reference.value[static_cast<size_t>(i)], reference.boundAt(i));
    }
  }

private:
  void compareOne(int64_t linear, double reference, double bound) {
    double result = output.load(linear);
    ++report.compared;
    report.exact += bound == 0;
    if (withinTolerance(output.type(), result, reference, bound)) {
      if (bound > 0 && std::isfinite(result))
        report.worst = std::max(report.worst, std::fabs(result - reference) /
                                                  allowedError(output.type(), reference, bound));
      return;
    }
    if (report.wrong++ == 0)
      report.firstWrong = "first at " + indexText(output.layout().shape, linear) + ": found " +
                          number(result) + ", expected " + number(reference) + " within " +
                          number(allowedError(output.type(), reference, bound));
  }

  const HostArray &output;
  CheckReport &report;
};
} // namespace

std::string CheckReport::str(const CheckExpr &expr) const {
  std::string out = expr.text + ": " + (ok ? "ok" : "WRONG") + ", ";
  if (wrong)
    out += std::to_string(wrong) + " wrong of ";
  out += std::to_string(compared) + " compared";
  out += compared == total ? " (all)" : " of " + std::to_string(total) + " (sample)";
  if (exact == compared)
    out += ", exact";
  else if (wrong == 0)
    out += ", largest error " + number(std::round(worst * 1000) / 1000) + " of the allowed";
  if (poisoned)
    out += "; " + std::to_string(poisoned) + " elements were never written";
  if (!firstWrong.empty())
    out += "; " + firstWrong;
  return out;
}

Result<CheckReport> ts::runCheck(const CheckExpr &expr, const CheckEvaluator::Arrays &arrays,
                                 const CheckEvaluator::Numbers &scalars, const HostArray &output,
                                 const CheckOptions &options) {
  Result<CheckEvaluator> evaluator = CheckEvaluator::create(expr, arrays, scalars, output.type());
  if (!evaluator)
    return evaluator.error();
  if (evaluator->shape() != output.layout().shape)
    return Error{"--check '" + expr.text + "': the expression is " + shapeText(evaluator->shape()) +
                 ", but '" + output.name() + "' is " + shapeText(output.layout().shape)};

  CheckReport report;
  report.total = output.elementCount();
  Selection selection;
  std::mt19937_64 random(options.seed);
  std::vector<int64_t> counts = affordable(*evaluator, options.maxProducts);
  int64_t pieceRows = 1, rowElements = 1;
  for (size_t d = 0; d < counts.size(); ++d) {
    selection.push_back(sample(evaluator->shape()[d], counts[d], random));
    rowElements *= d ? counts[d] : 1;
  }
  Comparison comparison(output, report);
  if (report.total > 0 && selection.empty()) {
    comparison.compare(evaluator->evaluate(selection), selection);
  } else if (report.total > 0) {
    std::vector<int64_t> rows = selection[0];
    pieceRows = std::max<int64_t>(1, maxPieceElements / std::max<int64_t>(rowElements, 1));
    for (size_t begin = 0; begin < rows.size(); begin += static_cast<size_t>(pieceRows)) {
      size_t end = std::min(rows.size(), begin + static_cast<size_t>(pieceRows));
      selection[0].assign(rows.begin() + static_cast<ptrdiff_t>(begin),
                          rows.begin() + static_cast<ptrdiff_t>(end));
      comparison.compare(evaluator->evaluate(selection), selection);
    }
  }

  int64_t first = 0;
  // Poison in an integer array is an ordinary -1, and where everything is compared it is just
  // wrong.
  if (hasNan(output.type()) && (report.wrong || report.compared < report.total))
    report.poisoned = output.countPoisoned(first);
  if (report.poisoned && !report.wrong)
    report.firstWrong = "first at " + indexText(output.layout().shape, first);
  report.ok = report.wrong == 0 && report.poisoned == 0;
  if (options.requireExact && report.exact != report.compared)
    return Error{
        "--check '" + expr.text + "': " + std::to_string(report.compared - report.exact) +
        " elements leave room for rounding, so an exact comparison says nothing; use small "
        "integer inputs (ints) and no division, exp or sqrt"};
  return report;
}
