// add, sub, mul, fma and mad of f32, f64, f32x2 and of f32 with f16 or bf16; and the table of all
// opcodes that floats share with integers. Source: PTX ISA, "Floating-Point Instructions",
// "Mixed Precision Floating-Point Instructions". SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Arithmetic.h"
#include "FloatTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

enum class Kind { Add, Sub, Mul, Fma };

/// The sum of p and c in the given direction; an exact zero of opposite terms has a sign by it.
template <Round round> float sum32(double p, double c) {
  double sum = oddSum(p, c);
  if (round == Round::Down && sum == 0 && std::signbit(p) != std::signbit(c))
    sum = -0.0;
  return directedFloat<round>(sum);
}

template <Kind kind, Round round> float compute32(float a, float b, float c) {
  constexpr bool nearest = round == Round::Nearest;
  switch (kind) {
  case Kind::Add:
    return nearest ? a + b : sum32<round>(a, b);
  case Kind::Sub:
    return nearest ? a - b : sum32<round>(a, -b);
  case Kind::Mul:
    return nearest ? a * b : directedFloat<round>(double(a) * b);
  case Kind::Fma:
    return nearest ? float(oddFma(a, b, c)) : sum32<round>(double(a) * b, c);
  }
}

template <Kind kind, Round round> double compute64(double a, double b, double c) {
  if constexpr (round == Round::Nearest) {
    switch (kind) {
    case Kind::Add:
      return a + b;
    case Kind::Sub:
      return a - b;
    case Kind::Mul:
      return a * b;
    case Kind::Fma:
      return std::fma(a, b, c);
    }
  }
  Exact exact = kind == Kind::Mul   ? exactProduct(a, b)
                : kind == Kind::Fma ? exactFma(a, b, c, round)
                                    : exactFma(a, 1.0, kind == Kind::Sub ? -b : b, round);
  return asDouble(roundExact(Num::F64, exact, round));
}

struct Sources {
  Dst d;
  Src a, b, c;
};

template <Kind kind, class F> std::unique_ptr<Op> apply(const Sources &o, F f) {
  if constexpr (kind == Kind::Fma)
    return lanewise(o.d, o.a, o.b, o.c, f);
  else
    return lanewise(o.d, o.a, o.b, [f](uint64_t a, uint64_t b) { return f(a, b, 0); });
}

template <Kind kind> std::unique_ptr<Op> decode32(const Sources &o, const FloatModifiers &m) {
  return forRound(m.round, [&](auto round) {
    return forFlags(m.ftz, m.sat, [&](auto ftz, auto sat) {
      return apply<kind>(o, [=](uint64_t a, uint64_t b, uint64_t c) {
        return outF32<ftz, sat>(
            compute32<kind, round>(inF32<ftz>(a), inF32<ftz>(b), inF32<ftz>(c)));
      });
    });
  });
}

template <Kind kind> std::unique_ptr<Op> decode32x2(const Sources &o, const FloatModifiers &m) {
  return forRound(m.round, [&](auto round) {
    return forFlags(m.ftz, false, [&](auto ftz, auto) {
      return apply<kind>(o, [=](uint64_t a, uint64_t b, uint64_t c) {
        uint64_t low =
            outF32<ftz, false>(compute32<kind, round>(inF32<ftz>(a), inF32<ftz>(b), inF32<ftz>(c)));
        uint64_t high = outF32<ftz, false>(
            compute32<kind, round>(inF32<ftz>(a >> 32), inF32<ftz>(b >> 32), inF32<ftz>(c >> 32)));
        return high << 32 | low;
      });
    });
  });
}

template <Kind kind> std::unique_ptr<Op> decode64(const Sources &o, const FloatModifiers &m) {
  return forRound(m.round, [&](auto round) {
    return apply<kind>(o, [=](uint64_t a, uint64_t b, uint64_t c) {
      return toSlot(compute64<kind, round>(asDouble(a), asDouble(b), asDouble(c)));
    });
  });
}

float widened(uint64_t slot, bool isBf16) {
  return isBf16 ? bf16ToFloat(uint16_t(slot)) : halfToFloat(uint16_t(slot));
}

// add and sub: the first operand is narrow; fma: the first two are.
template <Kind kind>
std::unique_ptr<Op> decodeMixed(Decode &d, const FloatModifiers &m, Type narrow) {
  if constexpr (kind == Kind::Mul) {
    d.refuse("there is no mul.f32 with narrow operands");
  } else {
    d.end();
    constexpr size_t operands = kind == Kind::Fma ? 4 : 3;
    d.needOperands(operands, operands);
    if (m.ftz)
      d.refuse("there is no .ftz with narrow operands");
    bool isBf16 = narrow == Type::BF16;
    Sources o{
        d.dst(0), d.src(1, Type::B16), d.src(2, kind == Kind::Fma ? Type::B16 : Type::F32), {}};
    if (kind == Kind::Fma)
      o.c = d.src(3, Type::F32);
    return forRound(m.round, [&](auto round) {
      return forFlags(m.sat, false, [&](auto sat, auto) {
        return apply<kind>(o, [=](uint64_t a, uint64_t b, uint64_t c) {
          float second = kind == Kind::Fma ? widened(b, isBf16) : fromSlot<float>(b);
          return outF32<false, sat>(
              compute32<kind, round>(widened(a, isBf16), second, fromSlot<float>(c)));
        });
      });
    });
  }
}

void needOnly(Decode &d, const FloatModifiers &m, bool relu) {
  if (m.approx || m.full || m.nan || m.xorsign || m.abs || (m.relu && !relu) || (m.oob && !relu))
    d.refuse("a modifier of this opcode is not executed here");
}

template <Kind kind> std::unique_ptr<Op> decodeArithmetic(Decode &d) {
  constexpr size_t operands = kind == Kind::Fma ? 4 : 3;
  FloatModifiers m = takeFloatModifiers(d);
  Type type = d.needType();
  needOnly(d, m, isHalfType(type) && kind == Kind::Fma);
  if (kind == Kind::Fma && !m.hasRound)
    d.refuse("a rounding (.rn, .rz, .rm or .rp) is required");
  if (isHalfType(type))
    return decodeHalf(d, HalfOp(kind), m, type);
  if (type == Type::F32 && (d.peek() == "f16" || d.peek() == "bf16"))
    return decodeMixed<kind>(d, m, d.needType());
  d.end();
  d.needOperands(operands, operands);
  Sources o{d.dst(0), d.src(1, type), d.src(2, type), {}};
  if (kind == Kind::Fma)
    o.c = d.src(3, type);
  if (type == Type::F32)
    return decode32<kind>(o, m);
  if (m.sat || (m.ftz && type != Type::F32x2))
    d.refuse("there is no .sat and no .ftz of type .%s", ptx::typeName(type));
  if (type == Type::F32x2)
    return decode32x2<kind>(o, m);
  return decode64<kind>(o, m);
}

std::unique_ptr<Op> decodeFma(Decode &d) { return decodeArithmetic<Kind::Fma>(d); }
} // namespace

std::unique_ptr<Op> decodeFloatAdd(Decode &d) { return decodeArithmetic<Kind::Add>(d); }
std::unique_ptr<Op> decodeFloatSub(Decode &d) { return decodeArithmetic<Kind::Sub>(d); }
std::unique_ptr<Op> decodeFloatMul(Decode &d) { return decodeArithmetic<Kind::Mul>(d); }
std::unique_ptr<Op> decodeFloatMad(Decode &d) {
  Type type = ptx::parseType(d.inst.parts.back());
  if (type != Type::F32 && type != Type::F64)
    d.refuse("there is no mad of type .%s", ptx::typeName(type));
  return decodeArithmetic<Kind::Fma>(d);
}

void registerFloat(DecoderTable &table) {
  table.add("add", byType<decodeIntegerAdd, decodeFloatAdd>,
            {{"add[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "%f1, %f2, %f3"},
             {"add[.rn|.rz|.rm|.rp].f64", "%fd1, %fd2, %fd3"},
             {"add[.rn|.rz|.rm|.rp][.ftz].f32x2", "%rd1, %rd2, %rd3"},
             {"add[.rn|.rz|.rm|.rp][.sat].f32.{f16|bf16}", "%f1, %rs1, %f2"},
             {"add[.rn][.ftz][.sat].f16", "%rs1, %rs2, %rs3"},
             {"add[.rn][.ftz][.sat].f16x2", "%r1, %r2, %r3"},
             {"add[.rn].bf16", "%rs1, %rs2, %rs3"},
             {"add[.rn].bf16x2", "%r1, %r2, %r3"}});
  table.add("sub", byType<decodeIntegerSub, decodeFloatSub>,
            {{"sub[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "%f1, %f2, %f3"},
             {"sub[.rn|.rz|.rm|.rp].f64", "%fd1, %fd2, %fd3"},
             {"sub[.rn|.rz|.rm|.rp][.ftz].f32x2", "%rd1, %rd2, %rd3"},
             {"sub[.rn|.rz|.rm|.rp][.sat].f32.{f16|bf16}", "%f1, %rs1, %f2"},
             {"sub[.rn][.ftz][.sat].f16", "%rs1, %rs2, %rs3"},
             {"sub[.rn][.ftz][.sat].f16x2", "%r1, %r2, %r3"},
             {"sub[.rn].bf16", "%rs1, %rs2, %rs3"},
             {"sub[.rn].bf16x2", "%r1, %r2, %r3"}});
  table.add("mul", byType<decodeIntegerMul, decodeFloatMul>,
            {{"mul[.rn|.rz|.rm|.rp][.ftz][.sat].f32", "%f1, %f2, %f3"},
             {"mul[.rn|.rz|.rm|.rp].f64", "%fd1, %fd2, %fd3"},
             {"mul[.rn|.rz|.rm|.rp][.ftz].f32x2", "%rd1, %rd2, %rd3"},
             {"mul[.rn][.ftz][.sat].f16", "%rs1, %rs2, %rs3"},
             {"mul[.rn][.ftz][.sat].f16x2", "%r1, %r2, %r3"},
             {"mul[.rn].bf16", "%rs1, %rs2, %rs3"},
             {"mul[.rn].bf16x2", "%r1, %r2, %r3"}});
  table.add("fma", decodeFma,
            {{"fma.{rn|rz|rm|rp}[.ftz][.sat].f32", "%f1, %f2, %f3, %f4"},
             {"fma.{rn|rz|rm|rp}.f64", "%fd1, %fd2, %fd3, %fd4"},
             {"fma.{rn|rz|rm|rp}[.ftz].f32x2", "%rd1, %rd2, %rd3, %rd4"},
             {"fma.{rn|rz|rm|rp}[.sat].f32.{f16|bf16}", "%f1, %rs1, %rs2, %f2"},
             {"fma.rn[.ftz][.sat].f16", "%rs1, %rs2, %rs3, %rs4"},
             {"fma.rn[.ftz][.sat].f16x2", "%r1, %r2, %r3, %r4"},
             {"fma.rn[.ftz].relu.f16", "%rs1, %rs2, %rs3, %rs4"},
             {"fma.rn[.ftz].relu.f16x2", "%r1, %r2, %r3, %r4"},
             {"fma.rn[.relu].bf16", "%rs1, %rs2, %rs3, %rs4"},
             {"fma.rn[.relu].bf16x2", "%r1, %r2, %r3, %r4"},
             {"fma.rn.oob[.relu].{f16|bf16}", "%rs1, %rs2, %rs3, %rs4",
              "the special NaN of .oob is not executed"},
             {"fma.rn.oob[.relu].{f16x2|bf16x2}", "%r1, %r2, %r3, %r4",
              "the special NaN of .oob is not executed"}});
  table.add("mad", byType<decodeIntegerMad, decodeFloatMad>,
            {{"mad.{rn|rz|rm|rp}[.ftz][.sat].f32", "%f1, %f2, %f3, %f4"},
             {"mad.{rn|rz|rm|rp}.f64", "%fd1, %fd2, %fd3, %fd4"}});
  table.add("div", byType<decodeIntegerDiv, decodeFloatDiv>,
            {{"div.{approx|full|rn|rz|rm|rp}[.ftz].f32", "%f1, %f2, %f3"},
             {"div.{rn|rz|rm|rp}.f64", "%fd1, %fd2, %fd3"}});
  table.add("abs", byType<decodeIntegerAbs, decodeFloatAbs>,
            {{"abs[.ftz].f32", "%f1, %f2"},
             {"abs.f64", "%fd1, %fd2"},
             {"abs[.ftz].f16", "%rs1, %rs2"},
             {"abs[.ftz].f16x2", "%r1, %r2"},
             {"abs.bf16", "%rs1, %rs2"},
             {"abs.bf16x2", "%r1, %r2"}});
  table.add("neg", byType<decodeIntegerNeg, decodeFloatNeg>,
            {{"neg[.ftz].f32", "%f1, %f2"},
             {"neg.f64", "%fd1, %fd2"},
             {"neg[.ftz].f16", "%rs1, %rs2"},
             {"neg[.ftz].f16x2", "%r1, %r2"},
             {"neg.bf16", "%rs1, %rs2"},
             {"neg.bf16x2", "%r1, %r2"}});
  table.add("min", byType<decodeIntegerMin, decodeFloatMin>,
            {{"min[.ftz][.NaN][.xorsign.abs].f32", "%f1, %f2, %f3"},
             {"min[.ftz][.NaN][.abs].f32", "%f1, %f2, %f3, %f4"},
             {"min.f64", "%fd1, %fd2, %fd3"},
             {"min[.ftz][.NaN][.xorsign.abs].f16", "%rs1, %rs2, %rs3"},
             {"min[.ftz][.NaN][.xorsign.abs].f16x2", "%r1, %r2, %r3"},
             {"min[.NaN][.xorsign.abs].bf16", "%rs1, %rs2, %rs3"},
             {"min[.NaN][.xorsign.abs].bf16x2", "%r1, %r2, %r3"}});
  table.add("max", byType<decodeIntegerMax, decodeFloatMax>,
            {{"max[.ftz][.NaN][.xorsign.abs].f32", "%f1, %f2, %f3"},
             {"max[.ftz][.NaN][.abs].f32", "%f1, %f2, %f3, %f4"},
             {"max.f64", "%fd1, %fd2, %fd3"},
             {"max[.ftz][.NaN][.xorsign.abs].f16", "%rs1, %rs2, %rs3"},
             {"max[.ftz][.NaN][.xorsign.abs].f16x2", "%r1, %r2, %r3"},
             {"max[.NaN][.xorsign.abs].bf16", "%rs1, %rs2, %rs3"},
             {"max[.NaN][.xorsign.abs].bf16x2", "%r1, %r2, %r3"}});
  registerFloatDivide(table);
  registerFloatApprox(table);
  registerFloatClasses(table);
}

} // namespace ts::emu
