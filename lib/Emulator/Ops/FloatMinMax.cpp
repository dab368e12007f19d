// min, max, abs, neg, copysign and testp of f32 and f64. Source: PTX ISA, "Floating-Point
// Instructions". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arithmetic.h"
#include "FloatTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

/// +0 is larger than -0; a NaN counts only if both are, or with `nan`.
template <class T, bool largest> T choose(T a, T b, bool nan) {
  if (a != a || b != b) {
    if (nan || (a != a && b != b))
      return std::numeric_limits<T>::quiet_NaN();
    return a != a ? b : a;
  }
  if (a == b)
    return std::signbit(a) == largest ? b : a;
  return (a > b) == largest ? a : b;
}

template <bool largest> std::unique_ptr<Op> decodeMinMax(Decode &d) {
  FloatModifiers m = takeFloatModifiers(d);
  Type type = d.needType();
  if (isHalfType(type))
    return decodeHalf(d, largest ? HalfOp::Max : HalfOp::Min, m, type);
  d.end();
  if (m.hasRound || m.approx || m.full || m.sat || m.relu || m.oob)
    d.refuse("a modifier of this opcode is not executed here");
  d.needOperands(3, type == Type::F32 ? 4 : 3);
  bool three = d.numOperands() == 4;
  Dst to = d.dst(0);
  Src a = d.src(1, type), b = d.src(2, type);
  if (type == Type::F64) {
    if (m.ftz || m.nan || m.xorsign || m.abs)
      d.refuse("there is no such form with .f64");
    return typed<double>(to, a, b,
                         [](double x, double y) { return choose<double, largest>(x, y, false); });
  }
  if (type != Type::F32 || (three ? m.xorsign : m.xorsign != m.abs))
    d.refuse("there is no such form with type .%s", ptx::typeName(type));
  bool nan = m.nan, abs = m.abs;
  return forFlags(m.ftz, m.xorsign, [&](auto ftz, auto xorsign) {
    auto two = [=](float x, float y) {
      if (abs) {
        x = std::fabs(x);
        y = std::fabs(y);
      }
      return choose<float, largest>(x, y, nan);
    };
    if (three)
      return lanewise(to, a, b, d.src(3, type), [=](uint64_t x, uint64_t y, uint64_t z) {
        return outF32<ftz, false>(two(two(inF32<ftz>(x), inF32<ftz>(y)), inF32<ftz>(z)));
      });
    return lanewise(to, a, b, [=](uint64_t x, uint64_t y) {
      uint64_t result = outF32<ftz, false>(two(inF32<ftz>(x), inF32<ftz>(y)));
      if (xorsign && result != nanF32)
        result = (result & 0x7fffffff) | ((x ^ y) & 0x80000000);
      return result;
    });
  });
}

template <bool absolute> std::unique_ptr<Op> decodeSign(Decode &d) {
  bool ftz = d.take("ftz");
  Type type = d.needType();
  if (isHalfType(type)) {
    FloatModifiers m;
    m.ftz = ftz;
    return decodeHalf(d, absolute ? HalfOp::Abs : HalfOp::Neg, m, type);
  }
  d.end();
  d.needOperands(2, 2);
  if ((type != Type::F32 && type != Type::F64) || (ftz && type != Type::F32))
    d.refuse("there is no such form with type .%s", ptx::typeName(type));
  uint64_t sign = uint64_t(1) << (ptx::typeBits(type) - 1);
  bool single = type == Type::F32;
  return lanewise(d.dst(0), d.src(1, type), [=](uint64_t x) {
    if (ftz)
      x = toSlot(flushF32(fromSlot<float>(x)));
    if (single && (x & 0x7fffffff) > 0x7f800000)
      return uint64_t(nanF32); // measured on an H200: the sign of a NaN goes too
    return absolute ? x & ~sign : x ^ sign;
  });
}

std::unique_ptr<Op> decodeCopysign(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(3, 3);
  if (type != Type::F32 && type != Type::F64)
    d.refuse("there is no copysign of type .%s", ptx::typeName(type));
  uint64_t sign = uint64_t(1) << (ptx::typeBits(type) - 1);
  return lanewise(d.dst(0), d.src(1, type), d.src(2, type),
                  [=](uint64_t a, uint64_t b) { return (b & ~sign) | (a & sign); });
}

std::unique_ptr<Op> decodeTestp(Decode &d) {
  int kind = d.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (kind < 0)
    d.refuse("expected a property to test");
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  if (type != Type::F32 && type != Type::F64)
    d.refuse("there is no testp of type .%s", ptx::typeName(type));
  bool wide = type == Type::F64;
  Dst to = d.dst(0);
  Src a = d.src(1, type);
  return makeOp([=](Exec &x) {
    uint64_t buffer[warpSize];
    const uint64_t *from = a.lanes(x, buffer);
    uint32_t result = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint64_t bits = from[lane];
      uint64_t mantissa = wide ? bits & maskOf(52) : bits & maskOf(23);
      uint64_t exponent = wide ? bits >> 52 & 0x7ff : bits >> 23 & 0xff;
      bool top = exponent == (wide ? 0x7ff : 0xff);
      bool subnormal = exponent == 0 && mantissa;
      bool holds = kind == 0   ? !top
                   : kind == 1 ? top && !mantissa
                   : kind == 2 ? !top || !mantissa
                   : kind == 3 ? top && mantissa
                   : kind == 4 ? !top && !subnormal
                               : subnormal;
      result |= uint32_t(holds) << lane;
    }
    to.setPredicate(x, result);
    return Step::Next;
  });
}
} // namespace

std::unique_ptr<Op> decodeFloatMin(Decode &d) { return decodeMinMax<false>(d); }
std::unique_ptr<Op> decodeFloatMax(Decode &d) { return decodeMinMax<true>(d); }
std::unique_ptr<Op> decodeFloatAbs(Decode &d) { return decodeSign<true>(d); }
std::unique_ptr<Op> decodeFloatNeg(Decode &d) { return decodeSign<false>(d); }

void registerFloatClasses(DecoderTable &table) {
  table.add("copysign", decodeCopysign,
            {{"copysign.f32", "%f1, %f2, %f3"}, {"copysign.f64", "%fd1, %fd2, %fd3"}});
  table.add("testp", decodeTestp,
            {{"testp.{finite|infinite|number|notanumber|normal|subnormal}.f32", "%p1, %f1"},
             {"testp.{finite|infinite|number|notanumber|normal|subnormal}.f64", "%p1, %fd1"}});
}

} // namespace ts::emu
