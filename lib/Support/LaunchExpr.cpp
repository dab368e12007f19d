// Parser, printer and evaluator of launch expressions; the grammar is in the header.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Support/LaunchExpr.h"

#include <algorithm>
#include <cctype>
#include <limits>

using namespace ts;

namespace {
// Bounds on what a hostile text can make us do; real launch expressions stay far below both.
constexpr unsigned maxDepth = 100;
constexpr size_t maxNodes = 1000;
constexpr int64_t maxDimIndex = 31;
} // namespace

namespace ts {

/// Recursive descent over the text; the depth is bounded by maxDepth.
class LaunchExprParser {
public:
  LaunchExprParser(std::string_view text, LaunchExprError &error) : text(text), error(error) {}

  std::optional<LaunchExpr> run() {
    if (!parseSum())
      return std::nullopt;
    skipSpace();
    if (pos != text.size()) {
      fail("expected an operator or the end of the expression, found " + here());
      return std::nullopt;
    }
    return std::move(expr);
  }

private:
  using Op = LaunchExpr::Op;
  using Operand = std::optional<unsigned>;

  std::nullopt_t failAt(size_t at, std::string message) {
    error = {at + 1, std::move(message)};
    return std::nullopt;
  }
  std::nullopt_t fail(std::string message) { return failAt(pos, std::move(message)); }

  void skipSpace() {
    while (pos < text.size() && std::isspace(static_cast<unsigned char>(text[pos])))
      ++pos;
  }
  std::string here() const {
    return pos < text.size() ? "'" + std::string(1, text[pos]) + "'" : "the end";
  }
  bool accept(char c) {
    skipSpace();
    if (pos >= text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }
  bool expect(char c) {
    if (accept(c))
      return true;
    fail("expected '" + std::string(1, c) + "', found " + here());
    return false;
  }

  Operand add(Op op, size_t at, std::vector<unsigned> operands = {}, int64_t value = 0,
              std::string name = {}) {
    if (expr.nodes.size() >= maxNodes)
      return failAt(at, "the expression has more than " + std::to_string(maxNodes) + " terms");
    expr.nodes.push_back({op, value, std::move(name), std::move(operands), at + 1});
    return static_cast<unsigned>(expr.nodes.size() - 1);
  }

  Operand parseSum() {
    if (++depth > maxDepth)
      return fail("the expression is nested more than " + std::to_string(maxDepth) + " deep");
    Operand left = parseProduct();
    while (left) {
      skipSpace();
      size_t at = pos;
      Op op = Op::Add;
      if (accept('-'))
        op = Op::Sub;
      else if (!accept('+'))
        break;
      Operand right = parseProduct();
      left = right ? add(op, at, {*left, *right}) : std::nullopt;
    }
    --depth;
    return left;
  }

  Operand parseProduct() {
    Operand left = parseFactor();
    while (left) {
      skipSpace();
      size_t at = pos;
      if (!accept('*'))
        break;
      Operand right = parseFactor();
      left = right ? add(Op::Mul, at, {*left, *right}) : std::nullopt;
    }
    return left;
  }

  std::optional<int64_t> parseInteger(bool negative) {
    size_t at = pos;
    uint64_t value = 0;
    const uint64_t limit =
        static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
    while (pos < text.size() && std::isdigit(static_cast<unsigned char>(text[pos]))) {
      uint64_t digit = static_cast<uint64_t>(text[pos] - '0');
      if (value > (limit - digit) / 10)
        return failAt(at, "the integer does not fit 64 bits");
      value = value * 10 + digit;
      ++pos;
    }
    return static_cast<int64_t>(negative ? uint64_t(0) - value : value);
  }

  Operand parseFactor() {
    skipSpace();
    size_t at = pos;
    if (pos >= text.size())
      return fail("expected an integer, a name, a function or '(', found the end");
    char c = text[pos];
    if (c == '-') {
      ++pos;
      skipSpace();
      if (pos < text.size() && std::isdigit(static_cast<unsigned char>(text[pos]))) {
        std::optional<int64_t> value = parseInteger(/*negative=*/true);
        return value ? add(Op::Constant, at, {}, *value) : std::nullopt;
      }
      if (++depth > maxDepth)
        return fail("the expression is nested more than " + std::to_string(maxDepth) + " deep");
      Operand zero = add(Op::Constant, at);
      Operand operand = zero ? parseFactor() : std::nullopt;
      --depth;
      return operand ? add(Op::Sub, at, {*zero, *operand}) : std::nullopt;
    }
    if (std::isdigit(static_cast<unsigned char>(c))) {
      std::optional<int64_t> value = parseInteger(/*negative=*/false);
      return value ? add(Op::Constant, at, {}, *value) : std::nullopt;
    }
    if (c == '(') {
      ++pos;
      Operand inner = parseSum();
      return inner && expect(')') ? inner : std::nullopt;
    }
    if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_')
      return fail("expected an integer, a name, a function or '(', found " + here());
    std::string name = parseName();
    if (!accept('('))
      return add(Op::Scalar, at, {}, 0, std::move(name));
    return parseCall(name, at);
  }

  std::string parseName() {
    size_t begin = pos;
    while (pos < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[pos])) || text[pos] == '_'))
      ++pos;
    return std::string(text.substr(begin, pos - begin));
  }

  Operand parseCall(const std::string &name, size_t at) {
    if (name == "sms")
      return expect(')') ? add(Op::Sms, at) : std::nullopt;
    if (name == "dim" || name == "stride")
      return parseArrayCall(name == "dim" ? Op::Dim : Op::Stride, at);

    static constexpr Op calls[] = {Op::CeilDiv, Op::Div, Op::Mod, Op::Min, Op::Max};
    const Op *op = std::find_if(std::begin(calls), std::end(calls),
                                [&](Op op) { return name == LaunchExpr::functionName(op); });
    if (op == std::end(calls))
      return failAt(at, "unknown function '" + name +
                            "'; there are dim, stride, sms, ceildiv, div, mod, min and max");
    std::vector<unsigned> operands;
    do {
      Operand operand = parseSum();
      if (!operand)
        return std::nullopt;
      operands.push_back(*operand);
    } while (accept(','));
    if (!expect(')'))
      return std::nullopt;
    bool variadic = *op == Op::Min || *op == Op::Max;
    if (operands.size() < 2 || (!variadic && operands.size() > 2))
      return failAt(at, "'" + name + "' takes " + (variadic ? "two or more" : "two") +
                            " values, found " + std::to_string(operands.size()));
    return add(*op, at, std::move(operands));
  }

  Operand parseArrayCall(Op op, size_t at) {
    skipSpace();
    if (pos >= text.size() ||
        (!std::isalpha(static_cast<unsigned char>(text[pos])) && text[pos] != '_'))
      return fail("expected the name of an array argument, found " + here());
    std::string array = parseName();
    if (!expect(','))
      return std::nullopt;
    skipSpace();
    if (pos >= text.size() || !std::isdigit(static_cast<unsigned char>(text[pos])))
      return fail("expected the number of a dimension, found " + here());
    size_t indexAt = pos;
    std::optional<int64_t> index = parseInteger(/*negative=*/false);
    if (!index)
      return std::nullopt;
    if (*index > maxDimIndex)
      return failAt(indexAt, "no array has a dimension " + std::to_string(*index));
    return expect(')') ? add(op, at, {}, *index, std::move(array)) : std::nullopt;
  }

  std::string_view text;
  LaunchExprError &error;
  size_t pos = 0;
  unsigned depth = 0;
  LaunchExpr expr;
};

} // namespace ts

std::optional<LaunchExpr> LaunchExpr::parse(std::string_view text, LaunchExprError &error) {
  return LaunchExprParser(text, error).run();
}

const char *LaunchExpr::functionName(Op op) {
  switch (op) {
  case Op::CeilDiv:
    return "ceildiv";
  case Op::Div:
    return "div";
  case Op::Mod:
    return "mod";
  case Op::Min:
    return "min";
  case Op::Max:
    return "max";
  case Op::Dim:
    return "dim";
  case Op::Stride:
    return "stride";
  case Op::Sms:
    return "sms";
  default:
    return "";
  }
}

void LaunchExpr::print(unsigned index, int parentPrecedence, std::string &out) const {
  const Node &node = nodes[index];
  auto binary = [&](const char *symbol, int precedence) {
    bool parens = precedence < parentPrecedence;
    out += parens ? "(" : "";
    print(node.operands[0], precedence, out);
    out += symbol;
    // The operators associate to the left, so an equal operator on the right needs parentheses.
    print(node.operands[1], precedence + 1, out);
    out += parens ? ")" : "";
  };
  switch (node.op) {
  case Op::Constant:
    out += std::to_string(node.value);
    return;
  case Op::Scalar:
    out += node.name;
    return;
  case Op::Dim:
  case Op::Stride:
    out += functionName(node.op);
    out += "(" + node.name + ", " + std::to_string(node.value) + ")";
    return;
  case Op::Add:
    return binary(" + ", 1);
  case Op::Sub:
    return binary(" - ", 1);
  case Op::Mul:
    return binary(" * ", 2);
  default:
    out += functionName(node.op);
    out += "(";
    for (size_t i = 0; i < node.operands.size(); ++i) {
      out += i ? ", " : "";
      print(node.operands[i], 0, out);
    }
    out += ")";
  }
}

std::string LaunchExpr::str() const {
  std::string out;
  if (!nodes.empty())
    print(static_cast<unsigned>(nodes.size() - 1), 0, out);
  return out;
}

std::vector<LaunchExpr::Reference> LaunchExpr::references() const {
  std::vector<Reference> result;
  for (const Node &node : nodes) {
    unsigned index = static_cast<unsigned>(node.value);
    if (node.op == Op::Scalar)
      result.push_back({Reference::Kind::Scalar, node.name, 0, node.column});
    else if (node.op == Op::Dim)
      result.push_back({Reference::Kind::Dim, node.name, index, node.column});
    else if (node.op == Op::Stride)
      result.push_back({Reference::Kind::Stride, node.name, index, node.column});
    else if (node.op == Op::Sms)
      result.push_back({Reference::Kind::Sms, "", 0, node.column});
  }
  return result;
}

std::optional<int64_t> LaunchExpr::evaluate(const LaunchEnv &env, std::string &error) const {
  std::vector<int64_t> values(nodes.size());
  auto spelled = [&](size_t i) {
    std::string out;
    print(static_cast<unsigned>(i), 0, out);
    return "'" + out + "'";
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node &node = nodes[i];
    auto operand = [&](size_t k) { return values[node.operands[k]]; };
    std::optional<int64_t> value;
    int64_t result = 0;
    switch (node.op) {
    case Op::Constant:
      value = node.value;
      break;
    case Op::Scalar:
      if (env.scalar)
        value = env.scalar(node.name);
      if (!value)
        error = "no integer scalar argument named '" + node.name + "' has a value";
      break;
    case Op::Dim:
    case Op::Stride: {
      const auto &lookup = node.op == Op::Dim ? env.dim : env.stride;
      if (lookup)
        value = lookup(node.name, static_cast<unsigned>(node.value));
      if (!value)
        error = "no array argument '" + node.name + "' with a dimension " +
                std::to_string(node.value) + " is known";
      break;
    }
    case Op::Sms:
      value = env.sms;
      if (!value)
        error = "the number of multiprocessors, sms(), is not known";
      break;
    case Op::Add:
      if (!__builtin_add_overflow(operand(0), operand(1), &result))
        value = result;
      break;
    case Op::Sub:
      if (!__builtin_sub_overflow(operand(0), operand(1), &result))
        value = result;
      break;
    case Op::Mul:
      if (!__builtin_mul_overflow(operand(0), operand(1), &result))
        value = result;
      break;
    case Op::CeilDiv:
    case Op::Div:
    case Op::Mod: {
      int64_t a = operand(0), b = operand(1);
      if (b <= 0) {
        error =
            "the divisor of " + spelled(i) + " is " + std::to_string(b) + ", it has to be positive";
        return std::nullopt;
      }
      int64_t quotient = a / b, rest = a % b; // rounds towards zero
      if (node.op == Op::CeilDiv)
        value = quotient + (rest > 0);
      else if (node.op == Op::Div)
        value = quotient - (rest < 0);
      else
        value = rest < 0 ? rest + b : rest;
      break;
    }
    case Op::Min:
    case Op::Max:
      value = operand(0);
      for (size_t k = 1; k < node.operands.size(); ++k)
        value = node.op == Op::Min ? std::min(*value, operand(k)) : std::max(*value, operand(k));
      break;
    }
    if (!value) {
      if (node.op == Op::Add || node.op == Op::Sub || node.op == Op::Mul)
        error = "the value of " + spelled(i) + " does not fit 64 bits";
      return std::nullopt;
    }
    values[i] = *value;
  }
  if (values.empty()) {
    error = "the expression is empty";
    return std::nullopt;
  }
  return values.back();
}
