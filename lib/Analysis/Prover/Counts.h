// Numbers of uses as polynomials over trip counts, conditions and the few functions of them that
// loops and guards bring in. Symbolic only; who uses what is Balance.cpp's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_PROVER_COUNTS_H
#define TS_PROVER_COUNTS_H

#include "Program.h"

#include <map>

namespace ts::prover {

/// Product of atoms, sorted; the empty one is 1.
using Monomial = std::vector<int>;
/// Coefficients wrap around, so that absurd constants cannot overflow.
using Poly = std::map<Monomial, uint64_t>;

/// A guard on a loop, or its `else`.
struct GuardUse {
  schedule::GuardKind kind = schedule::GuardKind::First;
  int64_t period = 1;
  bool negated = false;
  auto operator<=>(const GuardUse &) const = default;
};

/// What the symbols and conditions of the program stand for.
struct Valuation {
  std::vector<int64_t> symbols;
  std::vector<bool> conditions;
};

class Counts {
public:
  explicit Counts(const Program &program) : program(program) {}

  Poly constant(int64_t value) const;
  Poly sum(const Poly &a, const Poly &b, bool minus = false) const;
  Poly product(const Poly &a, const Poly &b) const;
  /// 1 where the condition has this value, else 0.
  Poly condition(int id, bool value);
  /// Passes of a loop in which all the guards hold.
  Poly passes(const LoopInfo &loop, const std::vector<GuardUse> &guards);

  int64_t evaluate(const Poly &poly, const Valuation &at) const;
  /// "4 * n + 1 times per tile"
  std::string describe(const Poly &poly) const;
  /// Symbols and conditions that the value depends on.
  void variables(const Poly &poly, std::vector<bool> &symbols, std::vector<bool> &conditions) const;
  /// Polynomials that agree on this many values of a symbol, from its minimum on, agree everywhere.
  int64_t samples(const Poly &poly) const;

private:
  struct Atom {
    enum class Kind : uint8_t { Symbol, Condition, Above, Passes } kind = Kind::Symbol;
    int id = -1; ///< symbol or condition
    LoopInfo loop;
    std::vector<GuardUse> guards;
    int64_t limit = 0; ///< of "above"
    std::string text;
    bool logical() const { return kind == Kind::Condition || kind == Kind::Above; }
  };
  int atom(Atom value);
  Poly single(int id) const { return {{{id}, 1}}; }
  Poly above(int symbol, int64_t limit);
  Poly trips(const LoopInfo &loop);
  int64_t value(const Atom &atom, const Valuation &at) const;
  std::string text(const Poly &poly) const;

  const Program &program;
  std::vector<Atom> atoms;
  std::map<std::string, int> byText;
};

} // namespace ts::prover

#endif
