// What the parts of check expressions mean that only move elements or only depend on shapes: their
// results' shapes, before anything is evaluated. Moving the values is the evaluator's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/CheckExpr.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ts;
using Op = CheckExpr::Op;

std::optional<double> CheckEvaluator::foldConstant(size_t index) const {
  const CheckExpr::Node &node = expr.nodes[index];
  std::vector<double> values;
  for (int operand : node.operands) {
    if (!numbers[static_cast<size_t>(operand)])
      return std::nullopt;
    values.push_back(*numbers[static_cast<size_t>(operand)]);
  }
  switch (node.op) {
  case Op::Add:
    return values[0] + values[1];
  case Op::Sub:
    return values[0] - values[1];
  case Op::Mul:
    return values[0] * values[1];
  case Op::Div:
    return values[0] / values[1];
  case Op::Neg:
    return -values[0];
  default:
    return std::nullopt;
  }
}

/// Shape and parameters of the operations that only move elements.
Status CheckEvaluator::inferMove(size_t index, std::vector<int64_t> &shape,
                                 std::vector<int64_t> &move) const {
  const CheckExpr::Node &node = expr.nodes[index];
  shape = shapes[static_cast<size_t>(node.operands[0])];
  std::string from = shapeText(shape);
  auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> values;
  for (size_t k = 1; k < node.operands.size(); ++k) {
    std::optional<double> value = numbers[static_cast<size_t>(node.operands[k])];
    constexpr double limit = 1LL << 40;
    if (!value || *value != std::floor(*value) || std::fabs(*value) > limit)
      return Error{"value " + std::to_string(k + 1) +
                   " has to be an integer made of numbers and dim()"};
    values.push_back(static_cast<int64_t>(*value));
  }
  switch (node.op) {
  case Op::Dim:
    if (values[0] < -rank || values[0] >= rank)
      return Error{"there is no dimension " + std::to_string(values[0]) + " in " + from};
    move = {shape[static_cast<size_t>(values[0] + (values[0] < 0 ? rank : 0))]};
    shape.clear();
    return Done{};
  case Op::Reshape: {
    int64_t count = 1, wanted = 1;
    for (int64_t extent : shape)
      count *= extent;
    for (int64_t extent : values)
      if (extent < 0 || __builtin_mul_overflow(wanted, extent, &wanted))
        return Error{from + " cannot become " + shapeText(values)};
    if (count != wanted)
      return Error{from + " has " + std::to_string(count) + " elements, " + shapeText(values) +
                   " has " + std::to_string(wanted)};
    shape = values;
    return Done{};
  }
  case Op::Permute: {
    std::vector<int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int64_t> all(static_cast<size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
      return Error{"expected each of the " + std::to_string(rank) + " dimensions of " + from +
                   " once"};
    std::vector<int64_t> old = shape;
    for (size_t d = 0; d < shape.size(); ++d)
      shape[d] = old[static_cast<size_t>(values[d])];
    move = std::move(values);
    return Done{};
  }
  case Op::Repeat: {
    int64_t axis = *node.axis + (*node.axis < 0 ? rank : 0);
    if (axis < 0 || axis >= rank)
      return Error{"there is no axis " + std::to_string(*node.axis) + " in " + from};
    int64_t &extent = shape[static_cast<size_t>(axis)];
    if (values[0] < 1 || __builtin_mul_overflow(extent, values[0], &extent))
      return Error{"cannot repeat " + std::to_string(values[0]) + " times"};
    move = std::move(values);
    return Done{};
  }
  default: // Slice
    if (static_cast<int64_t>(values.size()) > 2 * rank)
      return Error{std::to_string(values.size() / 2) + " ranges for " + from};
    for (size_t d = 0; d < shape.size(); ++d) {
      bool given = 2 * d < values.size();
      int64_t begin = given ? values[2 * d] : 0, end = given ? values[2 * d + 1] : shape[d];
      if (begin < 0 || end < begin || end > shape[d])
        return Error{"range " + std::to_string(begin) + ":" + std::to_string(end) +
                     " is outside of dimension " + std::to_string(d) + " of " + from};
      move.push_back(begin);
      shape[d] = end - begin;
    }
    return Done{};
  }
}
