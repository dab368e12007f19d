// Arithmetic of f16, bf16 and their pairs. Sums and products are computed in a wider format in
// which one more rounding does no harm; fma rounds to odd on the way. Source: PTX ISA, "Half
// Precision Floating-Point Instructions". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FloatTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

struct F16Format {
  static double in(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t out(double value) { return doubleToHalf(value); }
  static constexpr uint16_t exponent = 0x7c00, nan = nanF16, one = 0x3c00;
};
struct BF16Format {
  static double in(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t out(double value) { return doubleToBf16(value); }
  static constexpr uint16_t exponent = 0x7f80, nan = nanBF16, one = 0x3f80;
};

template <class F> bool isNaN(uint16_t bits) { return (bits & 0x7fff) > F::exponent; }
template <class F, bool ftz> uint16_t flush(uint16_t bits) {
  return ftz && !(bits & F::exponent) ? bits & 0x8000 : bits;
}

struct Clamp {
  bool sat = false, relu = false, nan = false, xorsign = false;
};

template <class F> uint16_t clamp(uint16_t bits, Clamp c) {
  if (c.relu && bits & 0x8000 && !isNaN<F>(bits))
    return 0;
  if (c.sat) // of positive numbers the bits have the order of the values
    return isNaN<F>(bits) || bits & 0x8000 ? 0 : std::min(bits, F::one);
  return bits;
}

// Order of the values as integers: -0 is less than +0, as PTX wants it.
int32_t order(uint16_t bits) { return bits & 0x8000 ? -int32_t(bits & 0x7fff) - 1 : bits; }

template <class F, bool largest> uint16_t choose(uint16_t a, uint16_t b, Clamp c) {
  uint16_t sign = (a ^ b) & 0x8000;
  if (c.xorsign) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  uint16_t result;
  if (isNaN<F>(a) || isNaN<F>(b)) {
    if (c.nan || (isNaN<F>(a) && isNaN<F>(b)))
      return F::nan;
    result = isNaN<F>(a) ? b : a;
  } else {
    result = (order(a) > order(b)) == largest ? a : b;
  }
  return c.xorsign ? (result & 0x7fff) | sign : result;
}

template <class F, HalfOp op, bool ftz, bool clamped>
uint16_t compute(uint16_t a, uint16_t b, uint16_t c, Clamp clamps) {
  a = flush<F, ftz>(a);
  b = flush<F, ftz>(b);
  c = flush<F, ftz>(c);
  uint16_t result;
  if constexpr (op == HalfOp::Add)
    result = F::out(F::in(a) + F::in(b));
  else if constexpr (op == HalfOp::Sub)
    result = F::out(F::in(a)-F::in(b));
  else if constexpr (op == HalfOp::Mul)
    result = F::out(F::in(a)*F::in(b));
  else if constexpr (op == HalfOp::Fma)
    result = F::out(oddFma(F::in(a), F::in(b), F::in(c)));
  else if constexpr (op == HalfOp::Min || op == HalfOp::Max)
    result = choose<F, op == HalfOp::Max>(a, b, clamps);
  else if constexpr (op == HalfOp::Abs)
    result = isNaN<F>(a) ? F::nan : a & 0x7fff; // measured on an H200, as for neg
  else if constexpr (op == HalfOp::Neg)
    result = isNaN<F>(a) ? F::nan : a ^ 0x8000;
  else if constexpr (op == HalfOp::Tanh)
    result = F::out(std::tanh(F::in(a)));
  else
    result = F::out(std::exp2(F::in(a)));
  return flush<F, ftz>(clamped ? clamp<F>(result, clamps) : result);
}

template <class F, HalfOp op, bool ftz, bool pair, bool clamped>
uint64_t computeSlot(uint64_t a, uint64_t b, uint64_t c, Clamp clamps) {
  uint64_t low = compute<F, op, ftz, clamped>(uint16_t(a), uint16_t(b), uint16_t(c), clamps);
  if constexpr (!pair)
    return low;
  uint64_t high =
      compute<F, op, ftz, clamped>(uint16_t(a >> 16), uint16_t(b >> 16), uint16_t(c >> 16), clamps);
  return high << 16 | low;
}

template <HalfOp op> std::unique_ptr<Op> build(Decode &d, Type type, bool ftz, Clamp clamps) {
  constexpr size_t operands = op == HalfOp::Fma ? 4 : op <= HalfOp::Max ? 3 : 2;
  d.needOperands(operands, operands);
  bool pair = type == Type::F16x2 || type == Type::BF16x2;
  Type bits = pair ? Type::B32 : Type::B16;
  Dst to = d.dst(0);
  auto make = [&](auto format, auto flushed, auto isPair, auto clamped) {
    using F = decltype(format);
    auto f = [=](uint64_t a, uint64_t b, uint64_t c) {
      return computeSlot<F, op, flushed, isPair, clamped>(a, b, c, clamps);
    };
    if constexpr (operands == 4)
      return lanewise(to, d.src(1, bits), d.src(2, bits), d.src(3, bits), f);
    else if constexpr (operands == 3)
      return lanewise(to, d.src(1, bits), d.src(2, bits),
                      [f](uint64_t a, uint64_t b) { return f(a, b, 0); });
    else
      return lanewise(to, d.src(1, bits), [f](uint64_t a) { return f(a, 0, 0); });
  };
  bool isBf16 = type == Type::BF16 || type == Type::BF16x2;
  return forFlags(ftz, pair, [&](auto flushed, auto isPair) {
    return forFlags(clamps.sat || clamps.relu, false, [&](auto clamped, auto) {
      return isBf16 ? make(BF16Format{}, flushed, isPair, clamped)
                    : make(F16Format{}, flushed, isPair, clamped);
    });
  });
}
} // namespace

bool isHalfType(Type type) {
  return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 || type == Type::BF16x2;
}

std::unique_ptr<Op> decodeHalf(Decode &d, HalfOp op, const FloatModifiers &m, Type type) {
  d.end();
  if (m.oob)
    d.refuse("the special NaN of .oob is not executed");
  bool isBf16 = type == Type::BF16 || type == Type::BF16x2;
  bool function = op == HalfOp::Tanh || op == HalfOp::Ex2;
  bool chooses = op == HalfOp::Min || op == HalfOp::Max;
  bool arithmetic = op <= HalfOp::Fma;
  // ex2 of bf16 always flushes, of f16 never.
  bool ftzFits = op == HalfOp::Ex2    ? m.ftz == isBf16
                 : op == HalfOp::Tanh ? !m.ftz
                                      : !m.ftz || !isBf16;
  if (!ftzFits || m.full || m.approx != function || (m.hasRound && !arithmetic) ||
      m.round != Round::Nearest || (m.sat && (isBf16 || !arithmetic || m.relu)) ||
      (m.relu && op != HalfOp::Fma) || ((m.nan || m.xorsign || m.abs) && !chooses) ||
      m.xorsign != m.abs)
    d.refuse("these modifiers do not fit type .%s here", ptx::typeName(type));
  Clamp clamps{m.sat, m.relu, m.nan, m.xorsign};
  switch (op) {
  case HalfOp::Add:
    return build<HalfOp::Add>(d, type, m.ftz, clamps);
  case HalfOp::Sub:
    return build<HalfOp::Sub>(d, type, m.ftz, clamps);
  case HalfOp::Mul:
    return build<HalfOp::Mul>(d, type, m.ftz, clamps);
  case HalfOp::Fma:
    return build<HalfOp::Fma>(d, type, m.ftz, clamps);
  case HalfOp::Min:
    return build<HalfOp::Min>(d, type, m.ftz, clamps);
  case HalfOp::Max:
    return build<HalfOp::Max>(d, type, m.ftz, clamps);
  case HalfOp::Abs:
    return build<HalfOp::Abs>(d, type, m.ftz, clamps);
  case HalfOp::Neg:
    return build<HalfOp::Neg>(d, type, m.ftz, clamps);
  case HalfOp::Tanh:
    return build<HalfOp::Tanh>(d, type, m.ftz, clamps);
  case HalfOp::Ex2:
    return build<HalfOp::Ex2>(d, type, m.ftz, clamps);
  }
  d.refuse("there is no such instruction of type .%s", ptx::typeName(type));
}

} // namespace ts::emu
