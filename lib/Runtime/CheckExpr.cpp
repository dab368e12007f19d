// Parser of check expressions; the grammar is in the header.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/CheckExpr.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace ts;

namespace {
constexpr int maxDepth = 100;
constexpr size_t maxNodes = 1000;

struct Function {
  const char *name;
  CheckExpr::Op op;
  size_t operands; // at least, if there is no end to them
  bool more = false, axis = false;
};
constexpr Function functions[] = {
    {"exp", CheckExpr::Op::Exp, 1},
    {"relu", CheckExpr::Op::Relu, 1},
    {"abs", CheckExpr::Op::Abs, 1},
    {"sqrt", CheckExpr::Op::Sqrt, 1},
    {"maximum", CheckExpr::Op::Maximum, 2},
    {"minimum", CheckExpr::Op::Minimum, 2},
    {"where", CheckExpr::Op::Where, 3},
    {"sum", CheckExpr::Op::Sum, 1, false, true},
    {"max", CheckExpr::Op::Max, 1, false, true},
    {"bf16", CheckExpr::Op::Round, 1},
    {"f16", CheckExpr::Op::Round, 1},
    {"dim", CheckExpr::Op::Dim, 2},
    {"arange", CheckExpr::Op::Arange, 1},
    {"reshape", CheckExpr::Op::Reshape, 2, true},
    {"transpose", CheckExpr::Op::Permute, 2, true},
    {"repeat", CheckExpr::Op::Repeat, 2, false, true},
};

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) { expr.text = text; }

  Result<CheckExpr> run() {
    do {
      skipSpace();
      expr.output = parseName();
      if (expr.output.empty())
        fail("expected the name of an output array, found " + here());
      else if (!accept("=") || peek('='))
        fail("expected '=' after '" + expr.output + "', found " + here());
      skipSpace();
      size_t at = pos;
      int value = message.empty() ? parseComparison() : -1;
      if (message.empty() && value != expr.root())
        failAt(at, "this name has its value already; use it where it is needed");
      named[expr.output] = value;
    } while (accept(";"));
    skipSpace();
    if (message.empty() && pos != text.size())
      fail("expected an operator or the end, found " + here());
    for (size_t i = 0; i < expr.nodes.size(); ++i)
      for (int operand : expr.nodes[i].operands)
        ++expr.nodes[static_cast<size_t>(operand)].uses;
    if (!message.empty())
      return Error{"--check '" + text + "', column " + std::to_string(errorAt + 1) + ": " +
                   message};
    return std::move(expr);
  }

private:
  using Op = CheckExpr::Op;

  // The first error sticks; after it all nodes are -1 and nothing is consumed any more.
  int fail(const std::string &what) { return failAt(pos, what); }
  int failAt(size_t at, const std::string &what) {
    if (message.empty()) {
      message = what;
      errorAt = at;
    }
    return -1;
  }
  void skipSpace() {
    while (pos < text.size() && std::isspace(static_cast<unsigned char>(text[pos])))
      ++pos;
  }
  std::string here() const {
    return pos < text.size() ? "'" + std::string(1, text[pos]) + "'" : "the end";
  }
  bool peek(char c) {
    skipSpace();
    return pos < text.size() && text[pos] == c;
  }
  bool accept(const char *token) {
    skipSpace();
    if (!message.empty() || text.compare(pos, std::strlen(token), token) != 0)
      return false;
    pos += std::strlen(token);
    return true;
  }
  bool expect(const char *token) {
    if (accept(token))
      return true;
    fail("expected '" + std::string(token) + "', found " + here());
    return false;
  }

  int add(Op op, size_t at, std::vector<int> operands) {
    if (!message.empty())
      return -1;
    if (expr.nodes.size() >= maxNodes)
      return failAt(at, "the expression has more than " + std::to_string(maxNodes) + " terms");
    CheckExpr::Node node;
    node.op = op;
    node.operands = std::move(operands);
    node.column = at + 1;
    expr.nodes.push_back(std::move(node));
    return expr.root();
  }

  int parseComparison() {
    if (++depth > maxDepth)
      return fail("the expression is nested more than " + std::to_string(maxDepth) + " deep");
    int left = parseSum();
    skipSpace();
    size_t at = pos;
    // Longer operators first.
    static constexpr struct {
      const char *token;
      Op op;
      bool swap;
    } comparisons[] = {{"<=", Op::LessEqual, false}, {">=", Op::LessEqual, true},
                       {"==", Op::Equal, false},     {"!=", Op::NotEqual, false},
                       {"<", Op::Less, false},       {">", Op::Less, true}};
    for (const auto &comparison : comparisons)
      if (accept(comparison.token)) {
        int right = parseSum();
        left = comparison.swap ? add(comparison.op, at, {right, left})
                               : add(comparison.op, at, {left, right});
        break;
      }
    --depth;
    return left;
  }

  int parseSum() {
    int left = parseProduct();
    while (message.empty()) {
      skipSpace();
      size_t at = pos;
      Op op = Op::Add;
      if (accept("-"))
        op = Op::Sub;
      else if (!accept("+"))
        break;
      int right = parseProduct();
      left = add(op, at, {left, right});
    }
    return left;
  }

  int parseProduct() {
    int left = parseUnary();
    while (message.empty()) {
      skipSpace();
      size_t at = pos;
      Op op = Op::Mul;
      if (accept("/"))
        op = Op::Div;
      else if (accept("@"))
        op = Op::MatMul;
      else if (!accept("*"))
        break;
      int right = parseUnary();
      left = add(op, at, {left, right});
    }
    return left;
  }

  int parseUnary() {
    skipSpace();
    size_t at = pos;
    if (accept("-")) {
      if (++depth > maxDepth)
        return fail("the expression is nested more than " + std::to_string(maxDepth) + " deep");
      int operand = parseUnary();
      --depth;
      return add(Op::Neg, at, {operand});
    }
    int value = parsePrimary();
    while (true) {
      skipSpace();
      at = pos;
      if (accept("[")) {
        value = parseRanges(value, at);
        continue;
      }
      if (!accept("."))
        return value;
      if (parseName() != "T")
        return failAt(at, "expected '.T'");
      value = add(Op::Transpose, at, {value});
    }
  }

  int addNumber(double value, size_t at) {
    int node = add(Op::Number, at, {});
    if (node >= 0)
      expr.nodes[static_cast<size_t>(node)].number = value;
    return node;
  }

  int parseRanges(int value, size_t at) {
    std::vector<int> operands = {value};
    do {
      size_t dimension = (operands.size() - 1) / 2;
      operands.push_back(peek(':') ? addNumber(0, pos) : parseSum());
      if (!expect(":"))
        return -1;
      bool open = peek(',') || peek(']');
      operands.push_back(
          open ? add(Op::Dim, pos, {value, addNumber(static_cast<double>(dimension), pos)})
               : parseSum());
    } while (accept(","));
    return expect("]") ? add(Op::Slice, at, std::move(operands)) : -1;
  }

  std::string parseName() {
    size_t begin = pos;
    if (pos < text.size() && std::isdigit(static_cast<unsigned char>(text[pos])))
      return {};
    while (pos < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[pos])) || text[pos] == '_'))
      ++pos;
    return text.substr(begin, pos - begin);
  }

  double parseDigits() {
    // Not through strtod alone: it would also take hexadecimal numbers and names like "inf".
    size_t end = pos;
    auto digits = [&] {
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
        ++end;
    };
    digits();
    if (end < text.size() && text[end] == '.' && text.compare(end, 2, ".T") != 0) {
      ++end;
      digits();
    }
    if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
      ++end;
      end += text[end] == '-' || text[end] == '+';
      digits();
    }
    std::string number = text.substr(pos, end - pos);
    char *stop = nullptr;
    double value = std::strtod(number.c_str(), &stop);
    if (*stop || stop == number.c_str())
      fail("'" + number + "' is no number");
    pos = end;
    return value;
  }

  double parseNumber() {
    bool negative = accept("-");
    skipSpace();
    if (pos < text.size() &&
        (std::isdigit(static_cast<unsigned char>(text[pos])) || text[pos] == '.'))
      return negative ? -parseDigits() : parseDigits();
    fail("expected a number, found " + here());
    return 0;
  }

  int parsePrimary() {
    skipSpace();
    size_t at = pos;
    if (accept("(")) {
      int inner = parseComparison();
      return expect(")") ? inner : -1;
    }
    if (pos < text.size() &&
        (std::isdigit(static_cast<unsigned char>(text[pos])) || text[pos] == '.')) {
      double value = parseDigits();
      return addNumber(value, at);
    }
    std::string name = parseName();
    if (name.empty())
      return fail("expected a number, a name or '(', found " + here());
    if (accept("("))
      return parseCall(name, at);
    if (auto known = named.find(name); known != named.end())
      return known->second;
    int node = add(Op::Name, at, {});
    if (node >= 0)
      expr.nodes[static_cast<size_t>(node)].name = name;
    return node;
  }

  int parseCall(const std::string &name, size_t at) {
    const Function *function = std::find_if(std::begin(functions), std::end(functions),
                                            [&](const Function &f) { return name == f.name; });
    if (function == std::end(functions)) {
      std::string names;
      for (const Function &known : functions)
        names += (names.empty() ? "" : ", ") + std::string(known.name);
      return failAt(at, "unknown function '" + name + "'; there are " + names);
    }
    std::vector<int> operands;
    std::optional<int64_t> axis;
    bool keepDims = false;
    std::optional<double> initial;
    do {
      skipSpace();
      if (function->axis && operands.size() == function->operands) {
        size_t keyAt = pos;
        std::string key = parseName();
        if (key == "axis" && accept("="))
          axis = parseAxis();
        else if (function->op != Op::Repeat && key == "keepdims" && accept("="))
          keepDims = parseTruth();
        else if (function->op == Op::Max && key == "initial" && accept("="))
          initial = parseNumber();
        else
          return failAt(keyAt, function->op == Op::Repeat ? "expected 'axis='"
                               : function->op == Op::Sum
                                   ? "expected 'axis=' or 'keepdims='"
                                   : "expected 'axis=', 'keepdims=' or 'initial='");
      } else {
        operands.push_back(parseComparison());
      }
    } while (accept(","));
    if (!expect(")"))
      return -1;
    if (function->more ? operands.size() < function->operands
                       : operands.size() != function->operands)
      return failAt(at, "'" + name + "' takes " + std::to_string(function->operands) +
                            (function->more ? " or more" : "") + " values, found " +
                            std::to_string(operands.size()));
    if (function->op == Op::Repeat && !axis)
      return failAt(at, "'repeat' needs 'axis='");
    int node = add(function->op, at, std::move(operands));
    if (node >= 0) {
      expr.nodes[static_cast<size_t>(node)].axis = axis;
      expr.nodes[static_cast<size_t>(node)].keepDims = keepDims;
      expr.nodes[static_cast<size_t>(node)].initial = initial;
      if (function->op == Op::Round)
        expr.nodes[static_cast<size_t>(node)].type = *parseElementType(name);
    }
    return node;
  }

  int64_t parseAxis() {
    skipSpace();
    bool negative = accept("-");
    if (pos >= text.size() || !std::isdigit(static_cast<unsigned char>(text[pos])))
      return fail("expected the number of an axis, found " + here());
    int64_t value = text[pos++] - '0';
    return negative ? -value : value;
  }
  bool parseTruth() {
    skipSpace();
    size_t at = pos;
    std::string word = parseName();
    if (word != "True" && word != "False")
      failAt(at, "expected True or False");
    return word == "True";
  }

  const std::string &text;
  size_t pos = 0, errorAt = 0;
  int depth = 0;
  std::string message;
  std::map<std::string, int> named; // what the names before the last '=' stand for
  CheckExpr expr;
};
} // namespace

Result<CheckExpr> CheckExpr::parse(const std::string &text) { return Parser(text).run(); }

bool CheckExpr::usesValuesOf(const std::string &name) const {
  std::vector<int> sizes(nodes.size()); // how many dim() have this node
  for (const Node &node : nodes)
    if (node.op == Op::Dim)
      ++sizes[static_cast<size_t>(node.operands.front())];
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].op == Op::Name && nodes[i].name == name &&
        (static_cast<int>(i) == root() || nodes[i].uses > sizes[i]))
      return true;
  return false;
}

bool CheckExpr::hasProduct() const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node &node) { return node.op == Op::MatMul; });
}
