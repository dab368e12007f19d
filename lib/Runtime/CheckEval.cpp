// Evaluator of check expressions: shapes once, then values with error bounds for any selection of
// the result. The element-by-element arithmetic is in CheckArith.cpp. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "CheckArith.h"

#include "ts/Runtime/Parallel.h"
#include "ts/Runtime/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

using namespace ts;
using Op = CheckExpr::Op;

namespace {
std::vector<int64_t> allOf(int64_t extent) {
  std::vector<int64_t> indices(static_cast<size_t>(extent));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

bool broadcast(const std::vector<int64_t> &a, const std::vector<int64_t> &b,
               std::vector<int64_t> &result) {
  size_t rank = std::max(a.size(), b.size());
  result.assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return false;
    result[rank - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

/// The part of a selection that an operand of this shape needs under broadcasting.
template <typename Dim>
std::vector<Dim> align(const std::vector<Dim> &selected, const std::vector<int64_t> &shape,
                       const Dim &one) {
  std::vector<Dim> result(selected.end() - static_cast<ptrdiff_t>(shape.size()), selected.end());
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 1)
      result[i] = one;
  return result;
}

CheckTensor make(const Selection &selection) {
  CheckTensor tensor;
  int64_t count = 1;
  for (const std::vector<int64_t> &dim : selection) {
    tensor.shape.push_back(static_cast<int64_t>(dim.size()));
    count *= tensor.shape.back();
  }
  tensor.value.assign(static_cast<size_t>(count), 0);
  return tensor;
}
} // namespace

template <typename Dim, typename Full>
std::vector<Dim> CheckEvaluator::operandDims(int node, size_t operand,
                                             const std::vector<Dim> &selected, const Full &full,
                                             const Dim &one) const {
  const CheckExpr::Node &info = expr.nodes[static_cast<size_t>(node)];
  std::vector<int64_t> shape = shapes[static_cast<size_t>(info.operands[operand])];
  std::vector<Dim> result;
  switch (info.op) {
  case Op::MatMul: {
    std::vector<int64_t> batchShape(shape.begin(), shape.end() - 2);
    result = align(std::vector<Dim>(selected.begin(), selected.end() - 2), batchShape, one);
    result.push_back(operand == 0 ? selected[selected.size() - 2] : full(shape[shape.size() - 2]));
    result.push_back(operand == 0 ? full(shape.back()) : selected.back());
    return result;
  }
  case Op::Transpose:
  case Op::Permute:
  case Op::Repeat:
  case Op::Slice: {
    if (operand > 0) // a number
      return result;
    const std::vector<int64_t> &move = moves[static_cast<size_t>(node)];
    result = selected;
    if (info.op == Op::Transpose || info.op == Op::Permute) {
      for (size_t d = 0; d < move.size(); ++d)
        result[static_cast<size_t>(move[d])] = selected[d];
    } else if constexpr (!std::is_same_v<Dim, int64_t>) { // counts stay what they are
      auto axis = axes[static_cast<size_t>(node)];
      for (size_t d = 0; d < result.size(); ++d)
        for (int64_t &index : result[d])
          if (info.op == Op::Slice)
            index += move[d];
          else if (static_cast<int64_t>(d) == *axis)
            index /= move[0];
    }
    return result;
  }
  case Op::Reshape:
    if (operand == 0)
      for (int64_t extent : shape)
        result.push_back(full(extent));
    return result;
  case Op::Arange: // a number
    return result;
  case Op::Sum:
  case Op::Max:
    if (auto axis = axes[static_cast<size_t>(node)]) {
      Dim whole = full(shape[static_cast<size_t>(*axis)]);
      result = selected;
      if (info.keepDims)
        result[static_cast<size_t>(*axis)] = whole;
      else
        result.insert(result.begin() + *axis, whole);
      return result;
    }
    for (int64_t extent : shape)
      result.push_back(full(extent));
    return result;
  default:
    return align(selected, shape, one);
  }
}

Result<CheckEvaluator> CheckEvaluator::create(const CheckExpr &expr, const Arrays &arrays,
                                              const Numbers &scalars, ElementType output) {
  CheckEvaluator evaluator(expr, output);
  for (size_t i = 0; i < expr.nodes.size(); ++i)
    if (Status status = evaluator.inferShape(i, arrays, scalars); !status)
      return Error{"--check '" + expr.text + "', column " + std::to_string(expr.nodes[i].column) +
                   ": " + status.error().message};
  return evaluator;
}

Status CheckEvaluator::inferShape(size_t index, const Arrays &known, const Numbers &scalars) {
  const CheckExpr::Node &node = expr.nodes[index];
  auto operand = [&](size_t k) -> const std::vector<int64_t> & {
    return shapes[static_cast<size_t>(node.operands[k])];
  };
  std::vector<int64_t> shape;
  const HostArray *array = nullptr;
  std::optional<double> number;
  std::vector<int64_t> move;
  std::optional<int64_t> axis = node.axis;
  switch (node.op) {
  case Op::Number:
    number = node.number;
    break;
  case Op::Name:
    if (auto found = known.find(node.name); found != known.end()) {
      array = found->second;
      shape = array->layout().shape;
    } else if (auto scalar = scalars.find(node.name); scalar != scalars.end()) {
      number = scalar->second;
    } else {
      return Error{"'" + node.name + "' is neither an array nor a scalar of the launch"};
    }
    break;
  case Op::MatMul: {
    const std::vector<int64_t> &a = operand(0), &b = operand(1);
    if (a.size() < 2 || b.size() < 2)
      return Error{"'@' needs two or more dimensions, found " + shapeText(a) + " @ " +
                   shapeText(b)};
    std::vector<int64_t> batchA(a.begin(), a.end() - 2), batchB(b.begin(), b.end() - 2);
    if (a.back() != b[b.size() - 2] || !broadcast(batchA, batchB, shape))
      return Error{"the shapes of " + shapeText(a) + " @ " + shapeText(b) + " do not fit"};
    shape.push_back(a[a.size() - 2]);
    shape.push_back(b.back());
    break;
  }
  case Op::Transpose:
    shape.assign(operand(0).rbegin(), operand(0).rend());
    for (size_t d = shape.size(); d-- > 0;)
      move.push_back(static_cast<int64_t>(d));
    break;
  case Op::Arange: {
    std::optional<double> size = numbers[static_cast<size_t>(node.operands[0])];
    if (!size || *size < 0 || *size != std::floor(*size) || *size > 1LL << 26)
      return Error{"the size has to be an integer from 0 to 2^26, made of numbers and dim()"};
    shape = {static_cast<int64_t>(*size)};
    break;
  }
  case Op::Dim:
  case Op::Reshape:
  case Op::Permute:
  case Op::Repeat:
  case Op::Slice:
    if (Status status = inferMove(index, shape, move); !status)
      return status;
    if (node.op == Op::Dim)
      number = static_cast<double>(move[0]);
    if (axis && *axis < 0)
      *axis += static_cast<int64_t>(shape.size());
    break;
  case Op::Sum:
  case Op::Max: {
    auto rank = static_cast<int64_t>(operand(0).size());
    shape = operand(0);
    if (!axis) {
      shape.assign(node.keepDims ? shape.size() : 0, 1);
      break;
    }
    *axis += *axis < 0 ? rank : 0;
    if (*axis < 0 || *axis >= rank)
      return Error{"there is no axis " + std::to_string(*node.axis) + " in " + shapeText(shape)};
    if (node.op == Op::Max && !node.initial && shape[static_cast<size_t>(*axis)] == 0)
      return Error{"the maximum over no elements is not defined"};
    if (node.keepDims)
      shape[static_cast<size_t>(*axis)] = 1;
    else
      shape.erase(shape.begin() + *axis);
    break;
  }
  default:
    shape = node.operands.empty() ? shape : operand(0);
    for (size_t k = 1; k < node.operands.size(); ++k) {
      std::vector<int64_t> left = shape;
      if (!broadcast(left, operand(k), shape))
        return Error{"the shapes " + shapeText(left) + " and " + shapeText(operand(k)) +
                     " do not fit"};
    }
    number = foldConstant(index);
  }
  shapes.push_back(std::move(shape));
  arrays.push_back(array);
  numbers.push_back(number);
  axes.push_back(axis);
  moves.push_back(std::move(move));
  return Done{};
}

double CheckEvaluator::cost(const std::vector<int64_t> &selected) const {
  return cost(expr.root(), selected);
}

double CheckEvaluator::cost(int index, const std::vector<int64_t> &selected) const {
  const CheckExpr::Node &node = expr.nodes[static_cast<size_t>(index)];
  double total = 0;
  if (node.op == Op::MatMul) {
    total = static_cast<double>(shapes[static_cast<size_t>(node.operands[0])].back());
    for (int64_t extent : selected)
      total *= static_cast<double>(extent);
  }
  if (node.op == Op::Dim)
    return 0;
  auto full = [](int64_t extent) { return extent; };
  for (size_t k = 0; k < node.operands.size(); ++k)
    total += cost(node.operands[k], operandDims<int64_t>(index, k, selected, full, 1));
  return total;
}

CheckTensor CheckEvaluator::evaluate(const Selection &selection) const {
  last.clear();
  CheckTensor result = evaluate(expr.root(), selection);
  foldNoise(result);
  return result;
}

CheckTensor CheckEvaluator::operandOf(int node, size_t operand, const Selection &selection) const {
  const std::vector<int64_t> one = {0};
  CheckTensor result =
      evaluate(expr.nodes[static_cast<size_t>(node)].operands[operand],
               operandDims<std::vector<int64_t>>(node, operand, selection, allOf, one));
  if (expr.nodes[static_cast<size_t>(node)].op != Op::MatMul)
    foldNoise(result);
  return result;
}

CheckTensor CheckEvaluator::evaluate(int index, const Selection &selection) const {
  const CheckExpr::Node &node = expr.nodes[static_cast<size_t>(index)];
  if (node.uses < 2 || node.operands.empty())
    return compute(index, selection);
  auto found = last.find(index);
  if (found == last.end() || found->second.first != selection) {
    CheckTensor result = compute(index, selection);
    found = last.insert_or_assign(index, std::pair(selection, std::move(result))).first;
  }
  return found->second.second;
}

CheckTensor CheckEvaluator::compute(int index, const Selection &selection) const {
  auto at = static_cast<size_t>(index);
  switch (expr.nodes[at].op) {
  case Op::Number:
  case Op::Dim:
  case Op::Name: {
    if (arrays[at])
      return leaf(*arrays[at], selection);
    CheckTensor tensor = make({});
    tensor.value[0] = *numbers[at];
    tensor.integral = isIntegral(*numbers[at]);
    return tensor;
  }
  case Op::MatMul:
    return matmul(index, selection);
  case Op::Transpose:
  case Op::Permute:
    return transpose(index, selection);
  case Op::Reshape:
    return reshape(index, selection);
  case Op::Arange: {
    CheckTensor tensor = make(selection);
    std::copy(selection[0].begin(), selection[0].end(), tensor.value.begin());
    tensor.integral = true;
    return tensor;
  }
  case Op::Repeat:
  case Op::Slice: // the operand's part is the result
    return operandOf(index, 0, selection);
  case Op::Sum:
  case Op::Max:
    return reduce(index, selection);
  default:
    return elementwise(index, selection);
  }
}

CheckTensor CheckEvaluator::leaf(const HostArray &array, const Selection &selection) const {
  CheckTensor tensor = make(selection);
  if (tensor.value.empty()) {
    tensor.integral = true;
    return tensor;
  }
  const std::vector<int64_t> &strides = array.layout().strides;
  int64_t inner = selection.empty() ? 1 : static_cast<int64_t>(selection.back().size());
  std::atomic<bool> integral = true;
  parallelFor(
      tensor.size() / inner, std::max<int64_t>(1, 65536 / inner), [&](int64_t begin, int64_t end) {
        bool whole = true;
        for (int64_t row = begin; row < end; ++row) {
          int64_t offset = 0, rest = row;
          for (size_t d = selection.empty() ? 0 : selection.size() - 1; d-- > 0;) {
            auto extent = static_cast<int64_t>(selection[d].size());
            offset += selection[d][static_cast<size_t>(rest % extent)] * strides[d];
            rest /= extent;
          }
          for (int64_t i = 0; i < inner; ++i) {
            int64_t element =
                selection.empty() ? 0 : selection.back()[static_cast<size_t>(i)] * strides.back();
            double value = array.loadAt(offset + element);
            tensor.value[static_cast<size_t>(row * inner + i)] = value;
            whole &= isIntegral(value);
          }
        }
        if (!whole)
          integral = false;
      });
  tensor.integral = integral;
  return tensor;
}

CheckTensor CheckEvaluator::transpose(int node, const Selection &selection) const {
  CheckTensor operand = operandOf(node, 0, selection);
  CheckTensor result = make(selection);
  result.integral = operand.integral;
  result.bound.resize(operand.bound.size());
  size_t rank = result.shape.size();
  const std::vector<int64_t> &move = moves[static_cast<size_t>(node)];
  std::vector<int64_t> operandSteps = contiguousStrides(operand.shape), steps;
  for (size_t d = 0; d < rank; ++d)
    steps.push_back(operandSteps[static_cast<size_t>(move[d])]);
  parallelFor(result.size(), 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t from = 0, rest = i;
      for (size_t d = rank; d-- > 0;) {
        from += rest % result.shape[d] * steps[d];
        rest /= result.shape[d];
      }
      result.value[static_cast<size_t>(i)] = operand.value[static_cast<size_t>(from)];
      if (!operand.bound.empty())
        result.bound[static_cast<size_t>(i)] = operand.bound[static_cast<size_t>(from)];
    }
  });
  return result;
}

CheckTensor CheckEvaluator::reshape(int node, const Selection &selection) const {
  CheckTensor operand = operandOf(node, 0, selection); // all of it
  CheckTensor result = make(selection);
  result.integral = operand.integral;
  result.bound.resize(operand.bound.empty() ? 0 : result.value.size());
  std::vector<int64_t> steps = contiguousStrides(shapes[static_cast<size_t>(node)]);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t from = 0, rest = i;
    for (size_t d = steps.size(); d-- > 0;) {
      from += selection[d][static_cast<size_t>(rest % result.shape[d])] * steps[d];
      rest /= result.shape[d];
    }
    result.value[static_cast<size_t>(i)] = operand.value[static_cast<size_t>(from)];
    if (!operand.bound.empty())
      result.bound[static_cast<size_t>(i)] = operand.bound[static_cast<size_t>(from)];
  }
  return result;
}

CheckTensor CheckEvaluator::elementwise(int node, const Selection &selection) const {
  const CheckExpr::Node &info = expr.nodes[static_cast<size_t>(node)];
  std::vector<CheckTensor> operands;
  for (size_t k = 0; k < info.operands.size(); ++k)
    operands.push_back(operandOf(node, k, selection));
  CheckTensor result = make(selection);
  if (info.op == Op::Round) {
    roundTensor(info.type, operands[0], result);
    return result;
  }
  applyElementwise(info.op, operands, result, expr.hasProduct(), output);
  return result;
}

CheckTensor CheckEvaluator::reduce(int node, const Selection &selection) const {
  const CheckExpr::Node &info = expr.nodes[static_cast<size_t>(node)];
  CheckTensor operand = operandOf(node, 0, selection);
  CheckTensor result = make(selection);
  // The operand as [outer, reduced, inner].
  int64_t reduced = 1, inner = 1;
  if (auto axis = axes[static_cast<size_t>(node)]) {
    reduced = operand.shape[static_cast<size_t>(*axis)];
    for (size_t d = static_cast<size_t>(*axis) + 1; d < operand.shape.size(); ++d)
      inner *= operand.shape[d];
  } else {
    reduced = operand.size();
  }
  reduceTensor(info.op == Op::Max, info.initial.value_or(-std::numeric_limits<double>::infinity()),
               operand, reduced, inner, result);
  return result;
}

CheckTensor CheckEvaluator::matmul(int node, const Selection &selection) const {
  CheckTensor a = operandOf(node, 0, selection), b = operandOf(node, 1, selection);
  CheckTensor result = make(selection);
  multiply(a, b, result);
  return result;
}
