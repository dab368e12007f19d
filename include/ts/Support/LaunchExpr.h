// Launch expressions: the small integer language in which a kernel says how a scalar argument, its
// grid or a parameter follows from the arrays of a launch, e.g. `ceildiv(dim(A, 1), 64)`.
//
// One parser, printer and evaluator for the dialect's verifier, the launch manifest, ts-run, Python
// and the emulator. Knows nothing about MLIR, JSON or devices.
//
//   sum     := product (('+' | '-') product)*
//   product := factor ('*' factor)*
//   factor  := integer | '-' factor | '(' sum ')' | name
//            | dim(name, integer) | stride(name, integer) | sms()
//            | ceildiv(sum, sum) | div(sum, sum) | mod(sum, sum)
//            | min(sum, sum, ...) | max(sum, sum, ...)
//
// Values are 64-bit signed. div rounds down, ceildiv rounds up, mod is what div leaves over; their
// divisor has to be positive. Strides are counted in elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_SUPPORT_LAUNCHEXPR_H
#define TS_SUPPORT_LAUNCHEXPR_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ts {

/// Where a text stops being a launch expression, and why. Columns count from 1.
struct LaunchExprError {
  size_t column = 0;
  std::string message;
};

/// What the names of a launch expression stand for. A missing function knows no name.
struct LaunchEnv {
  std::function<std::optional<int64_t>(const std::string &name)> scalar;
  std::function<std::optional<int64_t>(const std::string &array, unsigned index)> dim;
  std::function<std::optional<int64_t>(const std::string &array, unsigned index)> stride;
  std::optional<int64_t> sms;
};

/// A parsed launch expression. Copies are cheap enough to keep them by value.
class LaunchExpr {
public:
  /// One thing outside the expression that its value depends on.
  struct Reference {
    enum class Kind { Scalar, Dim, Stride, Sms };
    Kind kind;
    std::string name;   // of the scalar or of the array; empty for Sms
    unsigned index = 0; // of the dimension
    size_t column = 0;
  };

  /// Parses the whole of `text`; on failure returns nothing and fills `error`.
  static std::optional<LaunchExpr> parse(std::string_view text, LaunchExprError &error);

  /// The canonical spelling: parses to an equal expression, with no needless parentheses.
  std::string str() const;

  /// Everything the value depends on, in the order of the text, repetitions included.
  std::vector<Reference> references() const;

  /// The value, or nothing and one sentence (no capital, no period) about an unknown name, an
  /// overflow or a division that is not defined.
  std::optional<int64_t> evaluate(const LaunchEnv &env, std::string &error) const;

private:
  friend class LaunchExprParser;
  enum class Op { Constant, Scalar, Dim, Stride, Sms, Add, Sub, Mul, CeilDiv, Div, Mod, Min, Max };
  // Operands stand before their users, so that evaluation is one walk without recursion.
  struct Node {
    Op op;
    int64_t value = 0; // of a Constant; index of a Dim or Stride
    std::string name;
    std::vector<unsigned> operands;
    size_t column = 0;
  };
  static const char *functionName(Op op);
  void print(unsigned node, int parentPrecedence, std::string &out) const;

  std::vector<Node> nodes; // the last one is the root
};

} // namespace ts

#endif // TS_SUPPORT_LAUNCHEXPR_H
