// cvt of pairs and quadruples of narrow floats. Source: PTX ISA, cvt. The order of the random bits
// among the four values of an fp4 quadruple is not in its text (a figure has it): here the upper
// bytes of both halves are for the first two values, the lower bytes for the others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Convert.h"

namespace ts::emu {
namespace {

using ptx::Type;
using C = CvtType;
using R = CvtModifiers::Rounding;

bool isHalf(Num format) { return format == Num::F16 || format == Num::BF16; }

/// Random bits of element `i` (0 is the lowest), as a fraction of the last place.
uint32_t randomOf(const CvtType &to, uint32_t bits, unsigned i) {
  if (to.count == 2) {
    uint32_t half = bits >> (16 * i) & 0xffff;
    return to.format == Num::F16 ? (half & 0x1fff) << 19 : half << 16;
  }
  if (to.format == Num::E2M1) { // bytes 3 and 1 for the upper two, 2 and 0 for the lower two
    static constexpr unsigned byte[4] = {0, 2, 1, 3};
    return (bits >> (8 * byte[i]) & 0xff) << 24;
  }
  return (i < 2 ? bits & 0xffff : bits >> 16) << 16;
}

void checkRounding(Decode &d, const CvtModifiers &m) {
  const CvtType &to = *m.to;
  bool powers = to.format == Num::UE8M0;
  bool ok;
  if (m.rounding == R::Stochastic)
    ok = m.from->format == Num::F32 && to.format != Num::UE8M0 &&
         (to.count == 4 || isHalf(to.format));
  else if (powers)
    ok = m.round == Round::Zero || m.round == Round::Up;
  else if (isHalf(to.format) && m.from->kind == C::Float)
    ok = m.round == Round::Nearest || m.round == Round::Zero;
  else
    ok = m.round == Round::Nearest && to.count == 2;
  if (!ok || m.rounding == R::None || m.rounding == R::Integral)
    d.refuse("there is no such rounding from .%s to .%s", m.from->name, to.name);
}

// Elements from operands of their own; the first goes to the top.
std::unique_ptr<Op> fromFloats(Decode &d, const CvtModifiers &m) {
  const CvtType to = *m.to;
  bool random = m.rounding == R::Stochastic;
  std::vector<Src> sources;
  size_t operands;
  if (to.count == 4) {
    sources = d.sources(d.operand(1), Type::F32);
    operands = 3;
  } else {
    sources = {d.src(1, Type::F32), d.src(2, Type::F32)};
    operands = 3 + random;
  }
  d.needOperands(operands, operands);
  if (sources.size() != to.count)
    d.refuse("expected %u values, found %zu", to.count, sources.size());
  Src bits;
  if (random)
    bits = d.src(operands - 1, Type::B32);
  Dst dst = d.dst(0);
  bool plain = m.round == Round::Nearest && !m.relu && !m.satfinite;
  if (plain && to.format == Num::F16)
    return typed<float>(dst, sources[0], sources[1], [](float a, float b) {
      return uint32_t(floatToHalf(a)) << 16 | floatToHalf(b);
    });
  if (plain && to.format == Num::BF16)
    return typed<float>(dst, sources[0], sources[1], [](float a, float b) {
      return uint32_t(floatToBf16(a)) << 16 | floatToBf16(b);
    });
  return makeOp([=](Exec &x) {
    uint64_t results[warpSize] = {}, bufferR[warpSize];
    const uint64_t *rbits = bits.lanes(x, bufferR);
    for (unsigned n = 0; n < to.count; ++n) {
      uint64_t buffer[warpSize];
      const uint64_t *from = sources[n].lanes(x, buffer);
      unsigned i = to.count - 1 - n;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (x.active(lane))
          results[lane] |= roundWith(m, to.format, fromSlot<float>(from[lane]),
                                     randomOf(to, uint32_t(rbits[lane]), i))
                           << (i * to.stride());
    }
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        dst.set(x, lane, results[lane]);
    return Step::Next;
  });
}
} // namespace

std::unique_ptr<Op> decodeCvtPacked(Decode &d, const CvtModifiers &m) {
  const CvtType from = *m.from, to = *m.to;
  if (m.ftz || m.sat)
    d.refuse("there is no .ftz and no .sat for packed values");
  checkRounding(d, m);
  bool narrow = !isHalf(to.format);
  if (narrow && to.format != Num::UE8M0 && !m.satfinite)
    d.refuse(".satfinite is required for .%s", to.name);
  if (m.relu && (to.format == Num::UE8M0 || from.format == Num::UE8M0))
    d.refuse("there is no .relu here");
  if (from.kind == C::Float) {
    if (from.format != Num::F32)
      d.refuse("pairs come from .f32, found .%s", from.name);
    return fromFloats(d, m);
  }
  bool ok = narrow ? from.format == (to.format == Num::UE8M0 ? Num::BF16 : Num::F16)
                   : to.format == (from.format == Num::UE8M0 ? Num::BF16 : Num::F16) &&
                         !isHalf(from.format) && !m.satfinite;
  if (to.kind != C::Packed || from.kind != C::Packed || from.count != 2 || !ok)
    d.refuse("there is no conversion from .%s to .%s", from.name, to.name);
  d.needOperands(2, 2);
  return lanewise(d.dst(0), d.src(1, from.operand), [=](uint64_t slot) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 2; ++i)
      result |= roundWith(m, to.format, toDouble(from.format, slot >> (i * from.stride())))
                << (i * to.stride());
    return result;
  });
}

} // namespace ts::emu
