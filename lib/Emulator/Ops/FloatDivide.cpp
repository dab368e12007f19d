// Quotients, reciprocals and roots. What PTX lets hardware approximate is rounded correctly here.
// Source: PTX ISA, div, rcp, sqrt, rsqrt. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arithmetic.h"
#include "FloatTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

FloatModifiers take(Decode &d, Type &type, size_t operands) {
  FloatModifiers m = takeFloatModifiers(d);
  type = d.needType();
  d.end();
  d.needOperands(operands, operands);
  if (m.sat || m.relu || m.oob || m.nan || m.xorsign || m.abs)
    d.refuse("a modifier of this opcode is not executed here");
  if (m.hasRound + m.approx + m.full != 1)
    d.refuse("one of .approx, .full or a rounding is required");
  if (type != Type::F32 && type != Type::F64)
    d.refuse("there is no form with type .%s", ptx::typeName(type));
  return m;
}

/// f(float...) -> float, with .ftz on both sides.
template <class F> std::unique_ptr<Op> unary32(Dst d, Src a, bool ftz, F f) {
  return forFlags(ftz, false, [&](auto flush, auto) {
    return lanewise(d, a, [=](uint64_t x) { return outF32<flush, false>(f(inF32<flush>(x))); });
  });
}
template <class F> std::unique_ptr<Op> binary32(Dst d, Src a, Src b, bool ftz, F f) {
  return forFlags(ftz, false, [&](auto flush, auto) {
    return lanewise(d, a, b, [=](uint64_t x, uint64_t y) {
      return outF32<flush, false>(f(inF32<flush>(x), inF32<flush>(y)));
    });
  });
}

float exact32(const Exact &value, Round round) {
  return std::bit_cast<float>(uint32_t(roundExact(Num::F32, value, round)));
}
uint64_t exact64(const Exact &value, Round round) { return roundExact(Num::F64, value, round); }

// 1/b underflows there, and the documented product with it is zero.
float approximateQuotient(float a, float b) {
  float magnitude = std::fabs(b);
  if (magnitude > 0x1p+126f && magnitude < HUGE_VALF && !std::isnan(a)) {
    if (std::isinf(a))
      return NAN;
    return std::signbit(a) != std::signbit(b) ? -0.0f : 0.0f;
  }
  return a / b;
}

/// The gross approximations of f64: the upper words of operand and result only.
template <class F> uint64_t upperWord(uint64_t slot, F f) {
  uint64_t upper = slot & 0xffffffff00000000;
  double value = asDouble(upper);
  if (std::isnan(value))
    return uint64_t(0x7fffffff) << 32;
  if (std::fabs(value) < 0x1p-1022)
    value = std::copysign(0.0, value);
  double result = f(value);
  if (std::isnan(result))
    return uint64_t(0x7fffffff) << 32;
  if (std::fabs(result) < 0x1p-1022)
    result = std::copysign(0.0, result);
  return toSlot(result) & 0xffffffff00000000;
}

std::unique_ptr<Op> decodeRcp(Decode &d) {
  Type type;
  FloatModifiers m = take(d, type, 2);
  Dst to = d.dst(0);
  Src a = d.src(1, type);
  Round round = m.round;
  bool directed = round != Round::Nearest;
  if (m.full || (type == Type::F64 && m.approx != m.ftz))
    d.refuse("there is no such form of rcp");
  if (type == Type::F32)
    return unary32(to, a, m.ftz, [=](float x) {
      return directed ? exact32(exactQuotient(1.0, x), round) : 1.0f / x;
    });
  if (m.approx)
    return lanewise(to, a,
                    [=](uint64_t x) { return upperWord(x, [](double v) { return 1 / v; }); });
  return lanewise(to, a, [=](uint64_t x) {
    return directed ? exact64(exactQuotient(1.0, asDouble(x)), round) : toSlot(1.0 / asDouble(x));
  });
}

std::unique_ptr<Op> decodeSqrt(Decode &d) {
  Type type;
  FloatModifiers m = take(d, type, 2);
  Dst to = d.dst(0);
  Src a = d.src(1, type);
  Round round = m.round;
  bool directed = round != Round::Nearest;
  if (m.full || (type == Type::F64 && (m.approx || m.ftz)))
    d.refuse("there is no such form of sqrt");
  if (type == Type::F32)
    return unary32(to, a, m.ftz,
                   [=](float x) { return directed ? exact32(exactSqrt(x), round) : std::sqrt(x); });
  return lanewise(to, a, [=](uint64_t x) {
    return directed ? exact64(exactSqrt(asDouble(x)), round) : toSlot(std::sqrt(asDouble(x)));
  });
}

std::unique_ptr<Op> decodeRsqrt(Decode &d) {
  Type type;
  FloatModifiers m = take(d, type, 2);
  if (!m.approx)
    d.refuse("expected .approx");
  Dst to = d.dst(0);
  Src a = d.src(1, type);
  if (type == Type::F32)
    return unary32(to, a, m.ftz, [](float x) { return float(1.0 / std::sqrt(double(x))); });
  if (m.ftz)
    return lanewise(
        to, a, [=](uint64_t x) { return upperWord(x, [](double v) { return 1 / std::sqrt(v); }); });
  return lanewise(to, a, [=](uint64_t x) { return toSlot(1.0 / std::sqrt(asDouble(x))); });
}
} // namespace

std::unique_ptr<Op> decodeFloatDiv(Decode &d) {
  Type type;
  FloatModifiers m = take(d, type, 3);
  Dst to = d.dst(0);
  Src a = d.src(1, type), b = d.src(2, type);
  Round round = m.round;
  bool directed = round != Round::Nearest;
  if (type == Type::F64) {
    if (m.approx || m.full || m.ftz)
      d.refuse("there is no such form of div.f64");
    return lanewise(to, a, b, [=](uint64_t x, uint64_t y) {
      return directed ? exact64(exactQuotient(asDouble(x), asDouble(y)), round)
                      : toSlot(asDouble(x) / asDouble(y));
    });
  }
  if (m.approx)
    return binary32(to, a, b, m.ftz, &approximateQuotient);
  if (!directed)
    return binary32(to, a, b, m.ftz, [](float x, float y) { return x / y; });
  return binary32(to, a, b, m.ftz,
                  [=](float x, float y) { return exact32(exactQuotient(x, y), round); });
}

void registerFloatDivide(DecoderTable &table) {
  table.add("rcp", decodeRcp,
            {{"rcp.{approx|rn|rz|rm|rp}[.ftz].f32", "%f1, %f2"},
             {"rcp.{rn|rz|rm|rp}.f64", "%fd1, %fd2"},
             {"rcp.approx.ftz.f64", "%fd1, %fd2"}});
  table.add("sqrt", decodeSqrt,
            {{"sqrt.{approx|rn|rz|rm|rp}[.ftz].f32", "%f1, %f2"},
             {"sqrt.{rn|rz|rm|rp}.f64", "%fd1, %fd2"}});
  table.add("rsqrt", decodeRsqrt,
            {{"rsqrt.approx[.ftz].f32", "%f1, %f2"}, {"rsqrt.approx[.ftz].f64", "%fd1, %fd2"}});
}

} // namespace ts::emu
