// What the floating-point families share: modifiers, and how f32 operands come and go (.ftz, .sat,
// one NaN). SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_OPS_FLOATTYPES_H
#define TS_EMULATOR_OPS_FLOATTYPES_H

#include "../Numbers/Exact.h"
#include "../Numbers/Rounding.h"
#include "Lanes.h"

namespace ts::emu {

struct FloatModifiers {
  bool hasRound = false;
  Round round = Round::Nearest;
  bool approx = false, full = false, ftz = false, sat = false, relu = false, oob = false;
  bool nan = false, xorsign = false, abs = false;
};

/// All that come next, in any order; the type follows.
inline FloatModifiers takeFloatModifiers(Decode &d) {
  FloatModifiers m;
  auto flag = [&](const char *name, bool &value) {
    return !value && d.take(name) && (value = true);
  };
  auto rounding = [&] {
    if (m.hasRound)
      return false;
    static constexpr Round rounds[] = {Round::Nearest, Round::Zero, Round::Down, Round::Up};
    int kind = d.takeOneOf({"rn", "rz", "rm", "rp"});
    if (kind >= 0)
      m.round = rounds[kind];
    return m.hasRound = kind >= 0;
  };
  while (rounding() || flag("approx", m.approx) || flag("full", m.full) || flag("ftz", m.ftz) ||
         flag("sat", m.sat) || flag("relu", m.relu) || flag("oob", m.oob) || flag("NaN", m.nan) ||
         flag("xorsign", m.xorsign) || flag("abs", m.abs))
    ;
  return m;
}

inline float flushF32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}
template <bool ftz> inline float inF32(uint64_t slot) {
  auto value = fromSlot<float>(slot);
  return ftz ? flushF32(value) : value;
}
template <bool ftz, bool sat> inline uint64_t outF32(float value) {
  if constexpr (sat)
    value = value > 0 ? (value < 1 ? value : 1.0f) : 0.0f; // NaN too becomes +0
  uint32_t bits = std::bit_cast<uint32_t>(ftz ? flushF32(value) : value);
  return (bits & 0x7fffffff) > 0x7f800000 ? nanF32 : bits;
}

inline double asDouble(uint64_t bits) { return std::bit_cast<double>(bits); }

/// f(std::bool_constant, std::bool_constant) for run-time flags.
template <class F> auto forFlags(bool first, bool second, F f) {
  using T = std::true_type;
  using N = std::false_type;
  return first ? (second ? f(T{}, T{}) : f(T{}, N{})) : (second ? f(N{}, T{}) : f(N{}, N{}));
}
template <Round round> using RoundConstant = std::integral_constant<Round, round>;
template <class F> auto forRound(Round round, F f) {
  switch (round) {
  case Round::Zero:
    return f(RoundConstant<Round::Zero>{});
  case Round::Up:
    return f(RoundConstant<Round::Up>{});
  case Round::Down:
    return f(RoundConstant<Round::Down>{});
  default:
    return f(RoundConstant<Round::Nearest>{});
  }
}

void registerFloatDivide(DecoderTable &table);  // rcp, sqrt, rsqrt
void registerFloatApprox(DecoderTable &table);  // ex2, lg2, sin, cos, tanh
void registerFloatClasses(DecoderTable &table); // copysign, testp

/// f16, bf16 and their pairs.
enum class HalfOp { Add, Sub, Mul, Fma, Min, Max, Abs, Neg, Tanh, Ex2 };
bool isHalfType(ptx::Type type);
std::unique_ptr<Op> decodeHalf(Decode &d, HalfOp op, const FloatModifiers &m, ptx::Type type);

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_FLOATTYPES_H
