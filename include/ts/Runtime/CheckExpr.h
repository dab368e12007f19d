// What `ts-run --check 'D = A @ B.T'` means: a small NumPy-like language over the arrays of a
// launch.
//
//   check      := (name '=' comparison ';')* name '=' comparison
//   comparison := sum (('<' | '<=' | '>' | '>=' | '==' | '!=') sum)?       1 where true, else 0
//   sum        := product (('+' | '-') product)*
//   product    := unary (('*' | '/' | '@') unary)*
//   unary      := '-' unary | postfix
//   postfix    := primary ('.T' | '[' range (',' range)* ']')*
//   range      := sum? ':' sum?
//   primary    := number | name | '(' comparison ')' | function
//   function   := exp(x) | relu(x) | abs(x) | sqrt(x) | maximum(x, y) | minimum(x, y)
//               | where(condition, x, y)
//               | sum(x, axis=n, keepdims=True) | max(x, axis=n, keepdims=True, initial=number)
//               | bf16(x) | f16(x)
//               | dim(x, i) | arange(n) | reshape(x, n, ...) | transpose(x, i, ...)
//               | repeat(x, n, axis=i)
//
// Sizes, axes and the ends of ranges are sums and products of integers and dim(): they may not
// depend on an array's values.
//
// Names before the last '=' stand for their expressions in what follows; the last one is the
// output. `bf16` and `f16` say that the kernel rounds here. Without `initial` the maximum of
// nothing is an error.
//
// Broadcasting, axes and `@` (on two or more dimensions) follow NumPy. Evaluation is in double
// precision, for any selection of the result's elements, so that a huge product can be checked on a
// sample. Each value carries a bound on the error a kernel may have (Tolerance.h).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_CHECKEXPR_H
#define TS_RUNTIME_CHECKEXPR_H

#include "ts/Runtime/HostArray.h"

#include <map>
#include <optional>

namespace ts {

class CheckExpr {
public:
  enum class Op {
    Number,
    Name,
    Add,
    Sub,
    Mul,
    Div,
    MatMul,
    Neg,
    Transpose,
    Less,
    LessEqual,
    Equal,
    NotEqual, // > and >= swap their operands
    Exp,
    Relu,
    Abs,
    Sqrt,
    Maximum,
    Minimum,
    Where,
    Sum,
    Max,
    Round,   // to `type`
    Dim,     // of an array, an index
    Arange,  // 0, 1, ... below a size
    Reshape, // of an array, to sizes
    Permute, // of an array, its dimensions in the result's order
    Repeat,  // of an array, times, along `axis`
    Slice,   // of an array, begin and end of each dimension
  };
  // Operands stand before their users; the last node is the root.
  struct Node {
    Op op;
    double number = 0;
    std::string name;
    std::vector<int> operands;
    std::optional<int64_t>
        axis; // of Sum, Max and Repeat, from the back if negative; all axes if absent
    bool keepDims = false;
    std::optional<double> initial;       // of Max
    ElementType type = ElementType::F32; // of Round
    int uses = 0;                        // as an operand
    size_t column = 0;
  };

  /// Parses a check; an error names the column.
  static Result<CheckExpr> parse(const std::string &text);

  std::string text;   // as given
  std::string output; // the name before '='
  std::vector<Node> nodes;

  int root() const { return static_cast<int>(nodes.size()) - 1; }
  bool hasProduct() const;
  /// Whether the expression has values of this array or scalar; its sizes alone are none.
  bool usesValuesOf(const std::string &name) const;
};

/// The indices wanted of each dimension.
using Selection = std::vector<std::vector<int64_t>>;

/// Values with their error bounds, row-major over a selection.
struct CheckTensor {
  std::vector<int64_t> shape;
  std::vector<double> value;
  std::vector<double> bound; // empty: all zero
  /// The most that each value may be off by beside the bound, independently of the others: by a
  /// rounding that the expression asks for (Tolerance.h). Empty: not at all.
  std::vector<double> noise;
  bool integral = false; // integers throughout, none beyond exactIntegerLimit

  int64_t size() const { return static_cast<int64_t>(value.size()); }
  double boundAt(int64_t i) const { return bound.empty() ? 0 : bound[static_cast<size_t>(i)]; }
};

/// A check expression bound to arrays and scalars.
class CheckEvaluator {
public:
  using Arrays = std::map<std::string, const HostArray *>;
  using Numbers = std::map<std::string, double>;

  /// Finds every name and every shape; an error names the column. `output` is the type that the
  /// result is stored in.
  static Result<CheckEvaluator> create(const CheckExpr &expr, const Arrays &arrays,
                                       const Numbers &scalars, ElementType output);

  const std::vector<int64_t> &shape() const { return shapes.back(); }

  /// The multiplications in the matrix products that a selection of this size needs.
  double cost(const std::vector<int64_t> &selected) const;

  CheckTensor evaluate(const Selection &selection) const;

private:
  CheckEvaluator(const CheckExpr &expr, ElementType output) : expr(expr), output(output) {}

  Status inferShape(size_t node, const Arrays &arrays, const Numbers &scalars);
  Status inferMove(size_t node, std::vector<int64_t> &shape, std::vector<int64_t> &move) const;
  std::optional<double> foldConstant(size_t node) const;
  double cost(int node, const std::vector<int64_t> &selected) const;
  CheckTensor evaluate(int node, const Selection &selection) const;
  CheckTensor compute(int node, const Selection &selection) const;
  CheckTensor leaf(const HostArray &array, const Selection &selection) const;
  CheckTensor elementwise(int node, const Selection &selection) const;
  CheckTensor matmul(int node, const Selection &selection) const;
  CheckTensor transpose(int node, const Selection &selection) const;
  CheckTensor reshape(int node, const Selection &selection) const;
  CheckTensor reduce(int node, const Selection &selection) const;

  /// What of an operand is needed for `selected` of the node, dimension by dimension: index lists
  /// when evaluating, counts when estimating. `full` makes a whole dimension, `one` is its only
  /// index.
  template <typename Dim, typename Full>
  std::vector<Dim> operandDims(int node, size_t operand, const std::vector<Dim> &selected,
                               const Full &full, const Dim &one) const;
  CheckTensor operandOf(int node, size_t operand, const Selection &selection) const;

  const CheckExpr &expr;
  ElementType output;
  /// What nodes with several uses gave last: mostly they are asked again for the same selection.
  mutable std::map<int, std::pair<Selection, CheckTensor>> last;
  std::vector<std::vector<int64_t>> shapes;   // of each node
  std::vector<const HostArray *> arrays;      // of each Name node that is an array
  std::vector<std::optional<double>> numbers; // of each node that depends on no array's values
  std::vector<std::optional<int64_t>> axes;   // of each Sum, Max and Repeat, from the front
  // Of each Permute and Transpose the operand's dimension for each of the result's; of each Repeat
  // how often; of each Slice where it begins.
  std::vector<std::vector<int64_t>> moves;
};

} // namespace ts

#endif // TS_RUNTIME_CHECKEXPR_H
