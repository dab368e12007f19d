// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Counts.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ts::prover {

using schedule::GuardKind;

Poly Counts::constant(int64_t value) const { return value ? Poly{{{}, uint64_t(value)}} : Poly(); }

Poly Counts::sum(const Poly &a, const Poly &b, bool minus) const {
  Poly result = a;
  for (const auto &[monomial, factor] : b) {
    auto it = result.try_emplace(monomial, 0).first;
    it->second += minus ? 0 - factor : factor;
    if (it->second == 0)
      result.erase(it);
  }
  return result;
}

Poly Counts::product(const Poly &a, const Poly &b) const {
  Poly result;
  for (const auto &[left, leftFactor] : a)
    for (const auto &[right, rightFactor] : b) {
      Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end());
      // c * c = c for what is 0 or 1, and n * [n > 0] = n.
      Monomial reduced;
      for (int id : both) {
        const Atom &entry = atoms[size_t(id)];
        bool implied = entry.logical() && !reduced.empty() && reduced.back() == id;
        if (entry.kind == Atom::Kind::Above && entry.limit == 0)
          implied |= std::any_of(both.begin(), both.end(), [&](int other) {
            return atoms[size_t(other)].kind == Atom::Kind::Symbol &&
                   atoms[size_t(other)].id == entry.id;
          });
        if (!implied)
          reduced.push_back(id);
      }
      result = sum(result, {{reduced, leftFactor * rightFactor}});
    }
  return result;
}

int Counts::atom(Atom value) {
  auto [it, fresh] = byText.try_emplace(value.text, int(atoms.size()));
  if (fresh)
    atoms.push_back(std::move(value));
  return it->second;
}

Poly Counts::above(int symbol, int64_t limit) {
  const Symbol &entry = program.symbols[size_t(symbol)];
  if (entry.min > limit)
    return constant(1);
  Atom value;
  value.kind = Atom::Kind::Above;
  value.id = symbol;
  value.limit = limit;
  value.text = "(" + entry.name + " > " + std::to_string(limit) + ")";
  return single(atom(std::move(value)));
}

Poly Counts::condition(int id, bool value) {
  const ConditionInfo &info = program.conditions[size_t(id)];
  Poly holds;
  if (info.symbol >= 0) {
    holds = above(info.symbol, info.limit);
  } else {
    Atom entry;
    entry.kind = Atom::Kind::Condition;
    entry.id = id;
    entry.text = "(" + info.name + (info.free ? " #" + std::to_string(id) : "") + ")";
    holds = single(atom(std::move(entry)));
  }
  return value ? holds : sum(constant(1), holds, true);
}

/// The trip count as a polynomial, or as an atom where it is none from the smallest value on.
Poly Counts::trips(const LoopInfo &loop) {
  if (loop.symbol < 0 || loop.widened)
    return constant(std::max<int64_t>(0, loop.constant));
  const Symbol &symbol = program.symbols[size_t(loop.symbol)];
  Atom plain;
  plain.id = loop.symbol;
  plain.text = symbol.name;
  if (loop.tile)
    return single(atom(std::move(plain)));
  const schedule::Bound &lower = loop.loop.lower, &upper = loop.loop.upper;
  int64_t slope = (upper.isConstant() ? 0 : upper.scale) - (lower.isConstant() ? 0 : lower.scale);
  int64_t offset = upper.offset - lower.offset, step = std::max<int64_t>(1, loop.loop.step.offset);
  constexpr int64_t modest = int64_t(1) << 30;
  if (std::abs(slope) < modest && std::abs(offset) < modest && symbol.min < modest &&
      slope % step == 0 && slope * symbol.min + offset > -step) {
    int64_t rest = offset > 0 ? (offset - 1) / step + 1 : -(-offset / step);
    Poly scaled = product(constant(slope / step), single(atom(std::move(plain))));
    return sum(scaled, constant(rest));
  }
  schedule::Bound span;
  span.kind = schedule::Bound::Kind::Argument;
  span.scale = slope;
  span.offset = offset;
  span.symbol = symbol.name;
  Atom entry;
  entry.kind = Atom::Kind::Passes;
  entry.id = loop.symbol;
  entry.loop = loop;
  entry.text = "max(0, " + schedule::toString(span) + ")";
  if (step > 1)
    entry.text = "ceildiv(" + entry.text + ", " + std::to_string(step) + ")";
  return single(atom(std::move(entry)));
}

Poly Counts::passes(const LoopInfo &loop, const std::vector<GuardUse> &given) {
  Poly all = trips(loop);
  std::vector<GuardUse> guards = given;
  std::sort(guards.begin(), guards.end());
  guards.erase(std::unique(guards.begin(), guards.end()), guards.end());
  if (guards.empty())
    return all;
  bool fixed = loop.symbol < 0 || loop.widened;
  if (guards.size() == 1) {
    GuardUse guard = guards.front();
    bool once = guard.kind != GuardKind::Every;
    if (guard.kind == GuardKind::NotFirst || guard.kind == GuardKind::NotLast)
      guard.negated = !guard.negated;
    Poly some;
    if (fixed) {
      int64_t n = std::max<int64_t>(0, loop.constant), p = std::max<int64_t>(1, guard.period);
      some = constant(once ? std::min<int64_t>(n, 1) : n / p + (n % p != 0));
    } else if (once && all.size() == 1 && all.begin()->first.size() == 1 &&
               atoms[size_t(all.begin()->first[0])].kind == Atom::Kind::Symbol) {
      some = above(loop.symbol, 0);
    } else if (once && loop.trips(program.symbols[size_t(loop.symbol)].min) > 0) {
      some = constant(1);
    } else {
      Atom entry;
      entry.kind = Atom::Kind::Passes;
      entry.id = loop.symbol;
      entry.loop = loop;
      entry.guards = {guard};
      entry.guards[0].negated = false;
      if (once)
        entry.guards[0].kind = GuardKind::First;
      entry.text = once ? "min(1, " + text(all) + ")"
                        : "ceildiv(" + text(all) + ", " + std::to_string(guard.period) + ")";
      some = single(atom(std::move(entry)));
    }
    return guard.negated ? sum(all, some, true) : some;
  }
  Atom entry;
  entry.kind = Atom::Kind::Passes;
  entry.id = fixed ? -1 : loop.symbol;
  entry.loop = loop;
  entry.guards = guards;
  entry.text = "(passes of " + text(all) + " that are";
  for (const GuardUse &guard : guards)
    entry.text += (&guard == &guards.front() ? " " : " and ") +
                  std::string(guard.negated ? "not " : "") + std::string(name(guard.kind)) +
                  (guard.kind == GuardKind::Every ? " " + std::to_string(guard.period) : "");
  entry.text += ")";
  return single(atom(std::move(entry)));
}

int64_t Counts::value(const Atom &atom, const Valuation &at) const {
  switch (atom.kind) {
  case Atom::Kind::Symbol:
    return at.symbols[size_t(atom.id)];
  case Atom::Kind::Condition:
    return at.conditions[size_t(atom.id)];
  case Atom::Kind::Above:
    return at.symbols[size_t(atom.id)] > atom.limit;
  case Atom::Kind::Passes:
    break;
  }
  int64_t total = atom.id < 0 ? std::max<int64_t>(0, atom.loop.constant)
                              : atom.loop.trips(at.symbols[size_t(atom.id)]);
  if (atom.guards.empty())
    return total;
  int64_t found = 0;
  constexpr int64_t most = 4096; // of a long constant loop under several guards
  for (int64_t i = 0; i < std::min(total, most); ++i) {
    bool all = true;
    for (const GuardUse &guard : atom.guards) {
      bool holds = false;
      switch (guard.kind) {
      case GuardKind::First:
      case GuardKind::NotFirst:
        holds = (i == 0) == (guard.kind == GuardKind::First);
        break;
      case GuardKind::Last:
      case GuardKind::NotLast:
        holds = (i + 1 == total) == (guard.kind == GuardKind::Last);
        break;
      case GuardKind::Every:
        holds = i % std::max<int64_t>(1, guard.period) == 0;
        break;
      }
      all &= holds != guard.negated;
    }
    found += all;
  }
  return found;
}

int64_t Counts::evaluate(const Poly &poly, const Valuation &at) const {
  uint64_t result = 0;
  for (const auto &[monomial, factor] : poly) {
    uint64_t term = factor;
    for (int id : monomial)
      term *= uint64_t(value(atoms[size_t(id)], at));
    result += term;
  }
  return int64_t(result);
}

std::string Counts::text(const Poly &poly) const {
  // Highest powers first, the constant last.
  std::vector<std::pair<Monomial, uint64_t>> terms(poly.begin(), poly.end());
  std::sort(terms.begin(), terms.end(), [](const auto &a, const auto &b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.first < b.first;
  });
  std::string result;
  for (const auto &[monomial, factor] : terms) {
    bool minus = int64_t(factor) < 0;
    uint64_t size = minus ? 0 - factor : factor;
    if (result.empty())
      result = minus ? "-" : "";
    else
      result += minus ? " - " : " + ";
    if (size != 1 || monomial.empty())
      result += std::to_string(size);
    bool first = size == 1;
    for (int id : monomial) {
      result += (first ? "" : " * ") + atoms[size_t(id)].text;
      first = false;
    }
  }
  return result.empty() ? "0" : result;
}

std::string Counts::describe(const Poly &poly) const {
  Poly perTile, outside;
  for (const auto &[monomial, factor] : poly) {
    Monomial rest;
    bool tile = false;
    for (int id : monomial) {
      const Atom &entry = atoms[size_t(id)];
      if (!tile && entry.kind == Atom::Kind::Symbol && program.symbols[size_t(entry.id)].tiles)
        tile = true;
      else
        rest.push_back(id);
    }
    (tile ? perTile : outside)[rest] = factor;
  }
  auto times = [&](const Poly &count) {
    std::string number = text(count);
    return number + (number == "1" ? " time" : " times");
  };
  if (perTile.empty())
    return times(outside);
  std::string result = times(perTile) + " per tile";
  return outside.empty() ? result : result + " and " + times(outside) + " besides";
}

void Counts::variables(const Poly &poly, std::vector<bool> &symbols,
                       std::vector<bool> &conditions) const {
  for (const auto &[monomial, factor] : poly)
    for (int id : monomial) {
      const Atom &entry = atoms[size_t(id)];
      if (entry.id >= 0)
        (entry.kind == Atom::Kind::Condition ? conditions : symbols)[size_t(entry.id)] = true;
    }
}

int64_t Counts::samples(const Poly &poly) const {
  // From some value on, the count is a polynomial on each residue class of a common period.
  int64_t period = 1, start = 1, degree = 0;
  for (const auto &[monomial, factor] : poly) {
    degree = std::max(degree, int64_t(monomial.size()));
    for (int id : monomial) {
      const Atom &entry = atoms[size_t(id)];
      start = std::max(start, entry.limit + 1);
      if (entry.kind != Atom::Kind::Passes || entry.id < 0)
        continue;
      const schedule::Loop &loop = entry.loop.loop;
      int64_t step = std::clamp<int64_t>(loop.step.offset, 1, 64);
      for (const GuardUse &guard : entry.guards)
        step = std::min<int64_t>(step * std::clamp<int64_t>(guard.period, 1, 64), 1 << 16);
      period = std::min<int64_t>(std::lcm(period, step), 1024);
      start = std::max(start, std::abs(loop.upper.offset - loop.lower.offset) + 2 * step);
    }
  }
  return std::min<int64_t>(start + period * (degree + 1), 4096);
}

} // namespace ts::prover
