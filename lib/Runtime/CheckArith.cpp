// Values and error bounds, element by element, row by row and product by product.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckArith.h"

#include "ts/Runtime/Parallel.h"
#include "ts/Runtime/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ts;
using Op = CheckExpr::Op;

namespace {
/// A value and the most a right kernel may be off by here.
struct Approx {
  double value, bound;
};

/// Whether an operation on integers gives integers.
bool keepsIntegers(Op op) {
  return op != Op::Div && op != Op::Exp && op != Op::Sqrt && op != Op::MatMul;
}

/// Whether multiplying by it, or dividing, costs no rounding.
bool exactFactor(const Approx &x) {
  int exponent;
  return x.bound == 0 && (x.value == 0 || std::fabs(std::frexp(x.value, &exponent)) == 0.5);
}

/// One operation; `operations` is how many roundings it costs on top of what its operands bring.
Approx apply(Op op, const Approx *x, int &operations) {
  const Approx &a = x[0], &b = x[1];
  operations = 0;
  auto compare = [&](bool holds) {
    // Where the operands are closer than their bounds, either answer is right.
    bool certain = std::fabs(a.value - b.value) > a.bound + b.bound || a.bound + b.bound == 0;
    return Approx{holds ? 1.0 : 0.0, certain ? 0.0 : 1.0};
  };
  switch (op) {
  case Op::Add:
    operations = 1;
    return {a.value + b.value, a.bound + b.bound};
  case Op::Sub:
    operations = 1;
    return {a.value - b.value, a.bound + b.bound};
  case Op::Mul:
    operations = !exactFactor(a) && !exactFactor(b);
    return {a.value * b.value,
            std::fabs(a.value) * b.bound + std::fabs(b.value) * a.bound + a.bound * b.bound};
  case Op::Div: {
    operations = !exactFactor(b) || b.value == 0;
    double quotient = a.value / b.value, room = std::fabs(b.value) - b.bound;
    if (a.bound == 0 && b.bound == 0)
      return {quotient, 0};
    return {quotient, room > 0 ? (a.bound + std::fabs(quotient) * b.bound) / room
                               : std::numeric_limits<double>::infinity()};
  }
  case Op::Neg:
    return {-a.value, a.bound};
  case Op::Abs:
    return {std::fabs(a.value), a.bound};
  case Op::Relu:
    return {a.value > 0 || std::isnan(a.value) ? a.value : 0.0, a.bound};
  case Op::Exp:
    // exp(0) is 1; where f32 has nothing above zero, zero it is.
    if (a.value + a.bound < std::log(0x1p-150))
      return {0, 0};
    operations = a.value == 0 && a.bound == 0 ? 0 : functionOperations;
    return {std::exp(a.value), std::exp(a.value) * std::expm1(a.bound)};
  case Op::Sqrt: {
    operations = functionOperations;
    double root = std::sqrt(a.value), low = std::sqrt(std::max(a.value - a.bound, 0.0));
    return {root, a.bound == 0 ? 0 : root - low};
  }
  case Op::Maximum:
    return {std::max(a.value, b.value), std::max(a.bound, b.bound)};
  case Op::Minimum:
    return {std::min(a.value, b.value), std::max(a.bound, b.bound)};
  case Op::Less:
    return compare(a.value < b.value);
  case Op::LessEqual:
    return compare(a.value <= b.value);
  case Op::Equal:
    return compare(a.value == b.value);
  case Op::NotEqual:
    return compare(a.value != b.value);
  case Op::Where: {
    const Approx &chosen = a.value != 0 ? x[1] : x[2], &other = a.value != 0 ? x[2] : x[1];
    double doubt = a.bound == 0 ? 0 : std::fabs(chosen.value - other.value) + other.bound;
    return {chosen.value, std::max(chosen.bound, doubt)};
  }
  default:
    return {0, 0}; // leaves, products and reductions do not come here
  }
}

/// Where the operand has the element that belongs to an element of the result.
class Broadcast {
public:
  Broadcast(const CheckTensor &operand, const CheckTensor &result)
      : shape(result.shape), steps(result.shape.size(), 0) {
    same = operand.shape == result.shape;
    single = operand.size() == 1;
    int64_t step = 1;
    for (size_t i = 0; i < operand.shape.size(); ++i) {
      size_t from = operand.shape.size() - 1 - i, to = shape.size() - 1 - i;
      steps[to] = operand.shape[from] == 1 ? 0 : step;
      step *= operand.shape[from];
    }
  }
  int64_t operator()(int64_t linear) const {
    if (same)
      return linear;
    if (single)
      return 0;
    int64_t index = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      index += linear % shape[d] * steps[d];
      linear /= shape[d];
    }
    return index;
  }

private:
  const std::vector<int64_t> &shape;
  std::vector<int64_t> steps;
  bool same, single;
};

/// A bound of zeros only is no bound; saying so keeps later operations on their short way.
void dropZeroBound(CheckTensor &tensor) {
  if (std::all_of(tensor.bound.begin(), tensor.bound.end(), [](double b) { return b == 0; }))
    tensor.bound.clear();
}
} // namespace

bool ts::isIntegral(double value) {
  return std::fabs(value) <= exactIntegerLimit && value == std::trunc(value);
}

void ts::applyElementwise(Op op, const std::vector<CheckTensor> &operands, CheckTensor &result,
                          bool hasProduct, ElementType output) {
  std::vector<Broadcast> places;
  bool integers = keepsIntegers(op);
  for (const CheckTensor &operand : operands) {
    places.emplace_back(operand, result);
    integers &= operand.integral && operand.bound.empty();
  }
  std::atomic<bool> allIntegral = true;
  result.bound.resize(result.value.size());
  parallelFor(result.size(), 1 << 14, [&](int64_t begin, int64_t end) {
    Approx x[3] = {};
    bool integral = true;
    for (int64_t i = begin; i < end; ++i) {
      for (size_t k = 0; k < operands.size(); ++k) {
        int64_t from = places[k](i);
        x[k] = {operands[k].value[static_cast<size_t>(from)], operands[k].boundAt(from)};
      }
      int operations;
      Approx y = apply(op, x, operations);
      bool exact = isIntegral(y.value) && (integers || (operations == 0 && y.bound == 0));
      integral &= exact;
      if (operations && !exact)
        y.bound += operationBound(operations, y.value, hasProduct, output);
      result.value[static_cast<size_t>(i)] = y.value;
      result.bound[static_cast<size_t>(i)] = y.bound;
    }
    if (!integral)
      allIntegral = false;
  });
  result.integral = allIntegral;
  dropZeroBound(result);
}

void ts::roundTensor(ElementType type, const CheckTensor &operand, CheckTensor &result) {
  result.bound = operand.bound;
  result.noise.resize(result.value.size());
  bool exact = true;
  for (int64_t i = 0; i < operand.size(); ++i) {
    auto at = static_cast<size_t>(i);
    double value = result.value[at] = operand.value[at];
    bool same = operand.boundAt(i) == 0 && roundToElement(type, value) == value;
    result.noise[at] = same ? 0 : relativeRounding(type) * (std::fabs(value) + operand.boundAt(i));
    exact &= same;
  }
  if (exact)
    result.noise.clear();
  result.integral = operand.integral && exact;
}

void ts::foldNoise(CheckTensor &tensor) {
  if (tensor.noise.empty())
    return;
  tensor.bound.resize(tensor.value.size());
  for (size_t i = 0; i < tensor.noise.size(); ++i)
    tensor.bound[i] += tensor.noise[i];
  tensor.noise.clear();
}

void ts::reduceTensor(bool maximum, double initial, const CheckTensor &operand, int64_t reduced,
                      int64_t inner, CheckTensor &result) {
  result.bound.resize(result.value.size());
  std::atomic<bool> allIntegral = true;
  parallelFor(result.size(), std::max<int64_t>(1, 65536 / std::max<int64_t>(reduced, 1)),
              [&](int64_t begin, int64_t end) {
                bool integral = true;
                for (int64_t i = begin; i < end; ++i) {
                  int64_t first = i / inner * reduced * inner + i % inner;
                  double value = maximum ? initial : 0;
                  double bound = 0, magnitude = 0;
                  for (int64_t k = 0; k < reduced; ++k) {
                    int64_t from = first + k * inner;
                    double x = operand.value[static_cast<size_t>(from)];
                    value = maximum ? std::max(value, x) : value + x;
                    magnitude += std::fabs(x);
                    bound = maximum ? std::max(bound, operand.boundAt(from))
                                    : bound + operand.boundAt(from);
                  }
                  bool exact = operand.integral && isIntegral(value) &&
                               (maximum || magnitude <= exactIntegerLimit);
                  integral &= exact;
                  if (!maximum && !exact)
                    bound += sumBound(static_cast<double>(reduced), magnitude);
                  result.value[static_cast<size_t>(i)] = value;
                  result.bound[static_cast<size_t>(i)] = bound;
                }
                if (!integral)
                  allIntegral = false;
              });
  result.integral = allIntegral;
  dropZeroBound(result);
}

namespace {
/// Rows [begin, end) of one matrix product, blocked so that a piece of b stays in the cache.
void multiplyRows(const double *a, const double *b, double *value, double *magnitude, int64_t begin,
                  int64_t end, int64_t depth, int64_t columns) {
  constexpr int64_t blockDepth = 64, blockColumns = 256;
  for (int64_t k0 = 0; k0 < depth; k0 += blockDepth) {
    int64_t k1 = std::min(k0 + blockDepth, depth);
    for (int64_t c0 = 0; c0 < columns; c0 += blockColumns) {
      int64_t c1 = std::min(c0 + blockColumns, columns);
      for (int64_t row = begin; row < end; ++row)
        for (int64_t k = k0; k < k1; ++k) {
          double x = a[row * depth + k];
          const double *y = b + k * columns;
          double *sum = value + row * columns, *size = magnitude + row * columns;
          for (int64_t c = c0; c < c1; ++c) {
            double product = x * y[c];
            sum[c] += product;
            size[c] += std::fabs(product);
          }
        }
    }
  }
}

/// Adds what the bounds of the operands bring: sum |a| db + |b| da + da db.
void addOperandBounds(const CheckTensor &a, const CheckTensor &b, int64_t baseA, int64_t baseB,
                      double *bound, int64_t row, int64_t depth, int64_t columns) {
  for (int64_t k = 0; k < depth; ++k) {
    int64_t ia = baseA + row * depth + k;
    double x = std::fabs(a.value[static_cast<size_t>(ia)]), dx = a.boundAt(ia);
    for (int64_t c = 0; c < columns; ++c) {
      int64_t ib = baseB + k * columns + c;
      double y = std::fabs(b.value[static_cast<size_t>(ib)]), dy = b.boundAt(ib);
      bound[row * columns + c] += x * dy + y * dx + dx * dy;
    }
  }
}

/// Adds what the independent errors of the operands bring.
void addNoise(const CheckTensor &a, const CheckTensor &b, int64_t baseA, int64_t baseB,
              double *bound, int64_t row, int64_t depth, int64_t columns) {
  std::vector<double> squares(static_cast<size_t>(columns));
  for (int64_t k = 0; k < depth; ++k) {
    auto ia = static_cast<size_t>(baseA + row * depth + k);
    double x = std::fabs(a.value[ia]), nx = a.noise.empty() ? 0 : a.noise[ia];
    for (int64_t c = 0; c < columns; ++c) {
      auto ib = static_cast<size_t>(baseB + k * columns + c);
      double y = std::fabs(b.value[ib]), ny = b.noise.empty() ? 0 : b.noise[ib];
      double term = x * ny + y * nx + nx * ny;
      squares[static_cast<size_t>(c)] += term * term;
    }
  }
  for (int64_t c = 0; c < columns; ++c)
    bound[row * columns + c] += roundingsBound(squares[static_cast<size_t>(c)]);
}
} // namespace

void ts::multiply(const CheckTensor &a, const CheckTensor &b, CheckTensor &result) {
  size_t rank = result.shape.size();
  int64_t rows = result.shape[rank - 2], columns = result.shape[rank - 1];
  int64_t depth = a.shape.back(), perBatch = rows * columns;
  int64_t batches = perBatch ? result.size() / perBatch : 0;

  // The batch dimensions on their own, for broadcasting.
  auto batchOf = [](const CheckTensor &tensor) {
    CheckTensor batch;
    batch.shape.assign(tensor.shape.begin(), tensor.shape.end() - 2);
    int64_t count = 1;
    for (int64_t extent : batch.shape)
      count *= extent;
    batch.value.resize(static_cast<size_t>(count));
    return batch;
  };
  CheckTensor batch = batchOf(result);
  Broadcast placeA(batchOf(a), batch), placeB(batchOf(b), batch);

  std::vector<double> magnitude(result.value.size(), 0);
  result.bound.assign(result.value.size(), 0);
  bool operandBounds = !a.bound.empty() || !b.bound.empty();
  bool allExact = a.integral && b.integral && !operandBounds && a.noise.empty() && b.noise.empty();
  std::atomic<bool> allIntegral = allExact;
  for (int64_t i = 0; i < batches; ++i) {
    int64_t baseA = placeA(i) * rows * depth, baseB = placeB(i) * depth * columns;
    double *value = &result.value[static_cast<size_t>(i * perBatch)];
    double *size = &magnitude[static_cast<size_t>(i * perBatch)];
    double *bound = &result.bound[static_cast<size_t>(i * perBatch)];
    parallelFor(rows, 8, [&](int64_t begin, int64_t end) {
      multiplyRows(a.value.data() + baseA, b.value.data() + baseB, value, size, begin, end, depth,
                   columns);
      bool integral = true;
      for (int64_t row = begin; row < end; ++row) {
        if (operandBounds)
          addOperandBounds(a, b, baseA, baseB, bound, row, depth, columns);
        if (!a.noise.empty() || !b.noise.empty())
          addNoise(a, b, baseA, baseB, bound, row, depth, columns);
        for (int64_t c = 0; c < columns; ++c) {
          int64_t k = row * columns + c;
          bool exact = allExact && size[k] <= exactIntegerLimit;
          integral &= exact;
          if (!exact)
            bound[k] += sumBound(static_cast<double>(depth), size[k]);
        }
      }
      if (!integral)
        allIntegral = false;
    });
  }
  result.integral = allIntegral;
  dropZeroBound(result);
}
