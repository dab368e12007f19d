// Elementary functions, which PTX lets hardware approximate: here the double result, rounded.
// Source: PTX ISA, ex2, lg2, sin, cos, tanh. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "FloatTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double log2Of(double x) { return std::log2(x); }
double exp2Of(double x) { return std::exp2(x); }
double tanhOf(double x) { return std::tanh(x); }

template <double (*function)(double), bool hasFtz = true>
std::unique_ptr<Op> decodeFunction(Decode &d, const FloatModifiers &m, Type type) {
  d.end();
  d.needOperands(2, 2);
  if (type != Type::F32 || !m.approx || m.hasRound || m.full || m.sat || m.relu || m.oob || m.nan ||
      m.xorsign || m.abs || (m.ftz && !hasFtz))
    d.refuse("expected .approx and .f32");
  return forFlags(m.ftz, false, [&](auto ftz, auto) {
    return lanewise(d.dst(0), d.src(1, type), [=](uint64_t x) {
      return outF32<ftz, false>(float(function(double(inF32<ftz>(x)))));
    });
  });
}

template <double (*function)(double)> std::unique_ptr<Op> decodeSimple(Decode &d) {
  FloatModifiers m = takeFloatModifiers(d);
  return decodeFunction<function>(d, m, d.needType());
}

template <HalfOp op> std::unique_ptr<Op> decodeAlsoHalf(Decode &d) {
  FloatModifiers m = takeFloatModifiers(d);
  Type type = d.needType();
  if (isHalfType(type))
    return decodeHalf(d, op, m, type);
  return op == HalfOp::Ex2 ? decodeFunction<exp2Of>(d, m, type)
                           : decodeFunction<tanhOf, false>(d, m, type);
}
} // namespace

void registerFloatApprox(DecoderTable &table) {
  table.add("ex2", decodeAlsoHalf<HalfOp::Ex2>,
            {{"ex2.approx[.ftz].f32", "%f1, %f2"},
             {"ex2.approx.f16", "%rs1, %rs2"},
             {"ex2.approx.f16x2", "%r1, %r2"},
             {"ex2.approx.ftz.bf16", "%rs1, %rs2"},
             {"ex2.approx.ftz.bf16x2", "%r1, %r2"}});
  table.add("tanh", decodeAlsoHalf<HalfOp::Tanh>,
            {{"tanh.approx.f32", "%f1, %f2"},
             {"tanh.approx.{f16|bf16}", "%rs1, %rs2"},
             {"tanh.approx.{f16x2|bf16x2}", "%r1, %r2"}});
  table.add("lg2", decodeSimple<log2Of>, {{"lg2.approx[.ftz].f32", "%f1, %f2"}});
  table.add("sin", decodeSimple<sine>, {{"sin.approx[.ftz].f32", "%f1, %f2"}});
  table.add("cos", decodeSimple<cosine>, {{"cos.approx[.ftz].f32", "%f1, %f2"}});
}

} // namespace ts::emu
