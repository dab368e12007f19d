// cvt: which conversion an instruction is, and conversions between floats. Source: PTX ISA, cvt.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Convert.h"

namespace ts::emu {
namespace {

using ptx::Type;
using C = CvtType;

constexpr CvtType types[] = {
    {"u8", C::Integer, 8, false, Num::U8, 1, Type::U8},
    {"s8", C::Integer, 8, true, Num::U8, 1, Type::S8},
    {"u16", C::Integer, 16, false, Num::U8, 1, Type::U16},
    {"s16", C::Integer, 16, true, Num::U8, 1, Type::S16},
    {"u32", C::Integer, 32, false, Num::U8, 1, Type::U32},
    {"s32", C::Integer, 32, true, Num::U8, 1, Type::S32},
    {"u64", C::Integer, 64, false, Num::U8, 1, Type::U64},
    {"s64", C::Integer, 64, true, Num::U8, 1, Type::S64},
    {"f16", C::Float, 16, true, Num::F16, 1, Type::F16},
    {"bf16", C::Float, 16, true, Num::BF16, 1, Type::BF16},
    {"tf32", C::Float, 32, true, Num::TF32, 1, Type::B32},
    {"f32", C::Float, 32, true, Num::F32, 1, Type::F32},
    {"f64", C::Float, 64, true, Num::F64, 1, Type::F64},
    {"f16x2", C::Packed, 32, true, Num::F16, 2, Type::B32},
    {"bf16x2", C::Packed, 32, true, Num::BF16, 2, Type::B32},
    {"e4m3x2", C::Packed, 16, true, Num::E4M3, 2, Type::B16},
    {"e5m2x2", C::Packed, 16, true, Num::E5M2, 2, Type::B16},
    {"e2m3x2", C::Packed, 16, true, Num::E2M3, 2, Type::B16},
    {"e3m2x2", C::Packed, 16, true, Num::E3M2, 2, Type::B16},
    {"e2m1x2", C::Packed, 8, true, Num::E2M1, 2, Type::B8},
    {"ue8m0x2", C::Packed, 16, true, Num::UE8M0, 2, Type::B16},
    {"e4m3x4", C::Packed, 32, true, Num::E4M3, 4, Type::B32},
    {"e5m2x4", C::Packed, 32, true, Num::E5M2, 4, Type::B32},
    {"e2m3x4", C::Packed, 32, true, Num::E2M3, 4, Type::B32},
    {"e3m2x4", C::Packed, 32, true, Num::E3M2, 4, Type::B32},
    {"e2m1x4", C::Packed, 16, true, Num::E2M1, 4, Type::B16},
};

const CvtType *needCvtType(Decode &d) {
  for (const CvtType &type : types)
    if (d.take(type.name))
      return &type;
  if (d.more())
    d.refuse("modifier .%.*s is not executed here", int(d.peek().size()), d.peek().data());
  d.refuse("expected a type behind the last modifier");
}

bool takeRounding(Decode &d, CvtModifiers &m) {
  using R = CvtModifiers::Rounding;
  static constexpr struct {
    const char *name;
    R rounding;
    Round round;
  } modes[] = {
      {"rni", R::Integral, Round::Nearest},  {"rzi", R::Integral, Round::Zero},
      {"rmi", R::Integral, Round::Down},     {"rpi", R::Integral, Round::Up},
      {"rn", R::Float, Round::Nearest},      {"rz", R::Float, Round::Zero},
      {"rm", R::Float, Round::Down},         {"rp", R::Float, Round::Up},
      {"rna", R::Float, Round::NearestAway}, {"rs", R::Stochastic, Round::Stochastic},
  };
  for (const auto &mode : modes)
    if (m.rounding == R::None && d.take(mode.name)) {
      m.rounding = mode.rounding;
      m.round = mode.round;
      return true;
    }
  return false;
}

CvtModifiers takeModifiers(Decode &d) {
  CvtModifiers m;
  auto flag = [&](const char *name, bool &value) {
    return !value && d.take(name) && (value = true);
  };
  while (takeRounding(d, m) || flag("ftz", m.ftz) || flag("sat", m.sat) || flag("relu", m.relu) ||
         flag("satfinite", m.satfinite))
    ;
  m.to = needCvtType(d);
  m.from = needCvtType(d);
  return m;
}

double flushed(double value) {
  return std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

double integral(double value, Round round) {
  switch (round) {
  case Round::Zero:
    return std::trunc(value);
  case Round::Up:
    return std::ceil(value);
  case Round::Down:
    return std::floor(value);
  default:
    return std::nearbyint(value); // the host's mode is never changed: nearest even
  }
}

/// Without sat, relu and satfinite, nearest: what kernels do all the time.
std::unique_ptr<Op> fastFloat(Num from, Num to, Dst d, Src a, bool ftz) {
  auto is = [&](Num f, Num t) { return from == f && to == t; };
  if (is(Num::F32, Num::F16) && !ftz)
    return typed<float>(d, a, [](float v) { return floatToHalf(v); });
  if (is(Num::F32, Num::BF16) && !ftz)
    return typed<float>(d, a, [](float v) { return floatToBf16(v); });
  if (is(Num::F16, Num::F32)) // ftz: no half is a subnormal f32
    return typed<uint16_t>(d, a, [](uint16_t v) {
      float f = halfToFloat(v);
      return f == f ? std::bit_cast<uint32_t>(f) : nanF32;
    });
  if (is(Num::BF16, Num::F32) && !ftz)
    return typed<uint16_t>(d, a, [](uint16_t v) {
      float f = bf16ToFloat(v);
      return f == f ? std::bit_cast<uint32_t>(f) : nanF32;
    });
  if (is(Num::F16, Num::F64))
    return typed<uint16_t>(d, a, [](uint16_t v) {
      float f = halfToFloat(v);
      if (f == f)
        return std::bit_cast<uint64_t>(double(f));
      // Measured on an H200: a NaN keeps its payload, as in no other conversion.
      return uint64_t(v & 0x8000) << 48 | uint64_t(0x7ff80000) << 32 | uint64_t(v & 0x3ff) << 42;
    });
  if (is(Num::F32, Num::F64))
    return typed<float>(d, a, [ftz](float v) {
      double wide = ftz ? flushed(v) : double(v);
      return wide == wide ? std::bit_cast<uint64_t>(wide) : uint64_t(0x7ff80000) << 32;
    });
  if (is(Num::F64, Num::F32))
    return typed<double>(d, a, [ftz](double v) {
      auto narrow = float(v);
      uint32_t bits = std::bit_cast<uint32_t>(narrow);
      bits = ftz && !(bits & 0x7f800000) ? bits & 0x80000000 : bits;
      return narrow == narrow ? bits : nanF32;
    });
  return nullptr;
}

bool losesPrecision(Num from, Num to) {
  auto rank = [](Num f) { return f == Num::F64 ? 3 : f == Num::F32 ? 2 : f == Num::TF32 ? 1 : 0; };
  return rank(to) < rank(from) || (rank(to) == rank(from) && from != to);
}

std::unique_ptr<Op> decodeCvt(Decode &d) {
  CvtModifiers m = takeModifiers(d);
  d.end();
  if (m.to->kind == C::Packed || m.from->kind == C::Packed)
    return decodeCvtPacked(d, m);
  if (m.ftz && m.to->operand != Type::F32 && m.from->operand != Type::F32)
    d.refuse(".ftz needs .f32 on one side");
  d.needOperands(2, 2);
  if (m.to->kind == C::Integer || m.from->kind == C::Integer)
    return decodeCvtInteger(d, m);
  return decodeCvtFloat(d, m);
}
} // namespace

uint64_t roundWith(const CvtModifiers &m, Num format, double value, uint32_t random) {
  if (m.sat) // NaN becomes zero
    value = value > 0 ? std::min(value, 1.0) : 0.0;
  return fromDouble(format, value, m.round, m.satfinite, m.relu, random);
}

std::unique_ptr<Op> decodeCvtFloat(Decode &d, const CvtModifiers &m) {
  using R = CvtModifiers::Rounding;
  Num from = m.from->format, to = m.to->format;
  bool narrow = losesPrecision(from, to);
  if (from == Num::TF32 || m.rounding == R::Stochastic)
    d.refuse("there is no conversion from .%s to .%s with these modifiers", m.from->name,
             m.to->name);
  if (narrow && m.rounding != R::Float && !(from == Num::BF16 && to == Num::F16))
    d.refuse("a rounding (.rn, .rz, ...) is required from .%s to .%s", m.from->name, m.to->name);
  if (m.rounding == R::Integral && from != to)
    d.refuse("an integer rounding needs equal types, found .%s and .%s", m.to->name, m.from->name);
  if (!narrow && m.rounding == R::Float)
    d.refuse("from .%s to .%s there is nothing to round", m.from->name, m.to->name);
  if (m.round == Round::NearestAway && to != Num::TF32)
    d.refuse(".rna exists for .tf32 only");
  if ((m.relu || m.satfinite) &&
      (from != Num::F32 || (to != Num::F16 && to != Num::BF16 && to != Num::TF32)))
    d.refuse(".relu and .satfinite are for conversions from .f32 to a narrower float");
  if (m.sat && (to == Num::BF16 || to == Num::TF32))
    d.refuse("there is no .sat for .%s", m.to->name);
  Dst dst = d.dst(0);
  Src a = d.src(1, m.from->operand);
  bool plain = !m.sat && !m.relu && !m.satfinite && m.rounding != R::Integral;
  if (plain && m.round == Round::Nearest)
    if (std::unique_ptr<Op> op = fastFloat(from, to, dst, a, m.ftz))
      return op;
  return lanewise(dst, a, [=](uint64_t slot) {
    double value = toDouble(from, slot);
    if (m.ftz && from == Num::F32)
      value = flushed(value);
    if (m.rounding == R::Integral)
      value = integral(value, m.round);
    uint64_t bits = roundWith(m, to, value);
    if (m.ftz && to == Num::F32 && !(bits & 0x7f800000))
      bits &= 0x80000000;
    return bits;
  });
}

void registerConversions(DecoderTable &table) {
  registerCvt(table, decodeCvt);
  table.add("cvt.pack", decodeCvtPack,
            {{"cvt.pack.sat.{u16|s16}.s32", "%r1, %r2, %r3"},
             {"cvt.pack.sat.{u2|s2|u4|s4|u8|s8}.s32.b32", "%r1, %r2, %r3, %r4"}});
}

} // namespace ts::emu
