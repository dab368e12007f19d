// cvt with an integer on one side, and cvt.pack. Source: PTX ISA, cvt, cvt.pack.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Convert.h"

namespace ts::emu {
namespace {

using ptx::Type;
using C = CvtType;
using R = CvtModifiers::Rounding;

uint64_t largest(const CvtType &type) { return maskOf(type.bits - type.isSigned); }
int64_t smallest(const CvtType &type) { return type.isSigned ? -int64_t(largest(type)) - 1 : 0; }

uint64_t extend(uint64_t value, unsigned bits, bool isSigned) {
  if (bits >= 64)
    return value;
  unsigned up = 64 - bits;
  return isSigned ? uint64_t(int64_t(value << up) >> up) : value << up >> up;
}

/// A destination register may be wider than its type: signed results are extended to it.
uint64_t widen(uint64_t value, const CvtType &type, uint64_t registerMask) {
  return extend(value, type.bits, type.isSigned) & registerMask;
}

uint64_t registerMask(Decode &d, const Dst &dst, const CvtType &type) {
  if (dst.sink)
    return maskOf(64);
  if (ptx::typeBits(dst.type) < type.bits)
    d.refuse("the destination is narrower than .%s", type.name);
  return maskOf(ptx::typeBits(dst.type));
}

uint64_t saturate(uint64_t value, bool isSigned, const CvtType &to) {
  if (isSigned && int64_t(value) < 0)
    return uint64_t(std::max(int64_t(value), smallest(to)));
  return std::min(value, largest(to));
}

std::unique_ptr<Op> integers(Decode &d, const CvtModifiers &m) {
  const CvtType from = *m.from, to = *m.to;
  Dst dst = d.dst(0);
  Src a = d.src(1, from.operand);
  uint64_t mask = registerMask(d, dst, to);
  if (m.sat)
    return lanewise(dst, a, [=](uint64_t v) {
      return widen(saturate(extend(v, from.bits, from.isSigned), from.isSigned, to), to, mask);
    });
  // Extend from the narrower of both to the register.
  bool narrows = to.bits <= from.bits;
  unsigned up = 64 - std::min(to.bits, from.bits);
  bool isSigned = narrows ? to.isSigned : from.isSigned;
  uint64_t keep = narrows || to.isSigned ? mask : mask & maskOf(to.bits);
  if (isSigned)
    return lanewise(dst, a, [=](uint64_t v) { return uint64_t(int64_t(v << up) >> up) & keep; });
  return lanewise(dst, a, [=](uint64_t v) { return v << up >> up & keep; });
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

std::unique_ptr<Op> fromFloat(Decode &d, const CvtModifiers &m) {
  if (m.rounding != R::Integral)
    d.refuse("an integer rounding (.rni, .rzi, ...) is required from .%s to .%s", m.from->name,
             m.to->name);
  const CvtType from = *m.from, to = *m.to;
  Dst dst = d.dst(0);
  Src a = d.src(1, from.operand);
  uint64_t mask = registerMask(d, dst, to);
  bool wide = from.bits == 64 || to.bits == 64;
  uint64_t ofNaN = wide ? uint64_t(1) << (to.bits - 1) : 0;
  bool ftz = m.ftz && from.format == Num::F32;
  Round round = m.round;
  return lanewise(dst, a, [=](uint64_t slot) {
    double value = from.format == Num::F32 ? fromSlot<float>(slot) : toDouble(from.format, slot);
    if (value != value)
      return widen(ofNaN, to, mask);
    if (ftz && std::fabs(value) < 0x1p-126)
      value = 0;
    value = integral(value, round);
    uint64_t result;
    if (value <= double(smallest(to)))
      result = uint64_t(smallest(to));
    else if (value >= double(largest(to)))
      result = largest(to);
    else
      result = value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
    return widen(result, to, mask);
  });
}

std::unique_ptr<Op> toFloating(Decode &d, const CvtModifiers &m) {
  if (m.rounding != R::Float || m.round == Round::NearestAway)
    d.refuse("a rounding (.rn, .rz, .rm or .rp) is required from .%s to .%s", m.from->name,
             m.to->name);
  if (m.to->format == Num::TF32 || (m.sat && m.to->format == Num::BF16))
    d.refuse("there is no such conversion from .%s to .%s", m.from->name, m.to->name);
  const CvtType from = *m.from, to = *m.to;
  Dst dst = d.dst(0);
  Src a = d.src(1, from.operand);
  bool sat = m.sat;
  Round round = m.round;
  if (to.format == Num::F32 && round == Round::Nearest && !sat && from.bits <= 32)
    return lanewise(dst, a, [=](uint64_t slot) {
      return toSlot(float(int64_t(extend(slot, from.bits, from.isSigned))));
    });
  return lanewise(dst, a, [=](uint64_t slot) {
    uint64_t value = extend(slot, from.bits, from.isSigned);
    Exact exact;
    exact.negative = from.isSigned && int64_t(value) < 0;
    exact.mantissa = exact.negative ? 0 - value : value;
    if (sat) {
      exact.mantissa = exact.negative ? 0 : std::min<uint64_t>(exact.mantissa, 1);
      exact.negative = false;
    }
    return roundExact(to.format, exact, round);
  });
}
} // namespace

std::unique_ptr<Op> decodeCvtInteger(Decode &d, const CvtModifiers &m) {
  if (m.relu || m.satfinite)
    d.refuse(".relu and .satfinite are for conversions to floats");
  if (m.from->kind == C::Float)
    return fromFloat(d, m);
  if (m.to->kind == C::Float)
    return toFloating(d, m);
  if (m.rounding != R::None || m.ftz)
    d.refuse("there is nothing to round between integers");
  return integers(d, m);
}

std::unique_ptr<Op> decodeCvtPack(Decode &d) {
  d.need("sat");
  int kind = d.takeOneOf({"u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16"});
  if (kind < 0)
    d.refuse("expected a type to pack");
  d.need("s32");
  unsigned bits = 2u << (kind / 2);
  bool isSigned = kind & 1, more = bits < 16;
  if (more)
    d.need("b32");
  d.end();
  d.needOperands(more ? 4 : 3, more ? 4 : 3);
  int64_t high = int64_t(maskOf(bits - isSigned)), low = isSigned ? -high - 1 : 0;
  auto clamp = [=](uint32_t v) {
    return uint32_t(std::clamp<int64_t>(int32_t(v), low, high)) & uint32_t(maskOf(bits));
  };
  Dst dst = d.dst(0);
  Src a = d.src(1, Type::S32), b = d.src(2, Type::S32);
  if (!more)
    return typed<uint32_t>(dst, a, b,
                           [=](uint32_t x, uint32_t y) { return clamp(x) << 16 | clamp(y); });
  return typed<uint32_t>(dst, a, b, d.src(3, Type::B32), [=](uint32_t x, uint32_t y, uint32_t z) {
    return z << (2 * bits) | clamp(x) << bits | clamp(y);
  });
}

} // namespace ts::emu
