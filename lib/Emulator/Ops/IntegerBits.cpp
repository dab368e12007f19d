// Bit fields, counts and permutations. Source: PTX ISA, "Integer Arithmetic Instructions" and prmt.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IntegerTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

template <class F32, class F64> std::unique_ptr<Op> unaryBits(Decode &d, F32 f32, F64 f64) {
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  Dst to = d.dst(0);
  Src a = d.src(1, type);
  if (type == Type::B32)
    return typed<uint32_t>(to, a, f32);
  if (type != Type::B64)
    d.refuse("there is no form with type .%s", ptx::typeName(type));
  return typed<uint64_t>(to, a, f64);
}

std::unique_ptr<Op> decodePopc(Decode &d) {
  return unaryBits(
      d, [](uint32_t a) { return uint32_t(std::popcount(a)); },
      [](uint64_t a) { return uint32_t(std::popcount(a)); });
}
std::unique_ptr<Op> decodeClz(Decode &d) {
  return unaryBits(
      d, [](uint32_t a) { return uint32_t(std::countl_zero(a)); },
      [](uint64_t a) { return uint32_t(std::countl_zero(a)); });
}
std::unique_ptr<Op> decodeBrev(Decode &d) {
  return unaryBits(
      d, [](uint32_t a) { return __builtin_bitreverse32(a); },
      [](uint64_t a) { return __builtin_bitreverse64(a); });
}

std::unique_ptr<Op> decodeBfind(Decode &d) {
  bool shift = d.take("shiftamt");
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  unsigned bits = ptx::typeBits(type);
  if (bits < 32)
    d.refuse("there is no bfind of type .%s", ptx::typeName(type));
  Dst to = d.dst(0);
  Src a = d.src(1, type);
  return forIntegers(d, type, [&]<class T>(T) {
    return typed<T>(to, a, [=](T value) {
      uint64_t v = std::make_unsigned_t<T>(value < 0 ? ~value : value);
      if (v == 0)
        return ~0u;
      auto at = unsigned(63 - std::countl_zero(v));
      return shift ? bits - 1 - at : at;
    });
  });
}

std::unique_ptr<Op> decodeBfe(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(4, 4);
  unsigned bits = ptx::typeBits(type);
  if (bits < 32 || ptx::isFloat(type) || type == Type::B32 || type == Type::B64)
    d.refuse("there is no bfe of type .%s", ptx::typeName(type));
  bool isSigned = ptx::isSigned(type);
  return lanewise(d.dst(0), d.src(1, type), d.src(2, Type::U32), d.src(3, Type::U32),
                  [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                    unsigned at = b & 0xff, length = c & 0xff;
                    if (length == 0)
                      return 0;
                    unsigned top = std::min(at + length - 1, bits - 1);
                    bool sign = isSigned && a >> top & 1;
                    uint64_t field = at >= bits ? 0 : a >> at & maskOf(length);
                    unsigned have = at >= bits ? 0 : std::min(length, bits - at);
                    return (sign ? field | ~maskOf(have) : field) & maskOf(bits);
                  });
}

std::unique_ptr<Op> decodeBfi(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(5, 5);
  if (type != Type::B32 && type != Type::B64)
    d.refuse("there is no bfi of type .%s", ptx::typeName(type));
  unsigned bits = ptx::typeBits(type);
  Dst to = d.dst(0);
  Src from = d.src(1, type), into = d.src(2, type), at = d.src(3, Type::U32),
      length = d.src(4, Type::U32);
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize], bufferF[warpSize], bufferI[warpSize], bufferA[warpSize],
        bufferL[warpSize];
    const uint64_t *f = from.lanes(x, bufferF), *i = into.lanes(x, bufferI),
                   *a = at.lanes(x, bufferA), *l = length.lanes(x, bufferL);
    uint64_t *slot = to.lanes(x, out);
    setLanes(x.mask, slot, [=](unsigned lane) {
      unsigned position = a[lane] & 0xff, count = l[lane] & 0xff;
      uint64_t field = position >= bits ? 0 : (maskOf(count) << position) & maskOf(bits);
      uint64_t moved = position >= bits ? 0 : f[lane] << position;
      return (i[lane] & ~field) | (moved & field);
    });
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeBmsk(Decode &d) {
  bool clamp = needClampOrWrap(d);
  d.need("b32");
  d.end();
  d.needOperands(3, 3);
  return typed<uint32_t>(d.dst(0), d.src(1, Type::U32), d.src(2, Type::U32),
                         [=](uint32_t a, uint32_t b) -> uint32_t {
                           if (clamp && a >= 32)
                             return 0;
                           unsigned count = clamp ? std::min(b, 32u) : b & 31;
                           return uint32_t(maskOf(count) << (a & 31));
                         });
}

std::unique_ptr<Op> decodeSzext(Decode &d) {
  bool clamp = needClampOrWrap(d);
  bool isSigned = d.take("s32");
  if (!isSigned)
    d.need("u32");
  d.end();
  d.needOperands(3, 3);
  return typed<uint32_t>(d.dst(0), d.src(1, Type::U32), d.src(2, Type::U32),
                         [=](uint32_t a, uint32_t b) -> uint32_t {
                           if (clamp && b >= 32)
                             return a;
                           unsigned count = b & 31;
                           auto low = uint32_t(a & maskOf(count));
                           bool sign = isSigned && count && a >> (count - 1) & 1;
                           return sign ? low | uint32_t(~maskOf(count)) : low;
                         });
}

uint32_t findNth(uint32_t mask, uint32_t base, int32_t offset) {
  if (base > 31) // left open by PTX
    return ~0u;
  if (offset == 0)
    return mask >> base & 1 ? base : ~0u;
  int64_t count = std::abs(int64_t(offset)) - 1;
  for (int at = int(base); at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
    if (mask >> at & 1 && count-- == 0)
      return uint32_t(at);
  return ~0u;
}

std::unique_ptr<Op> decodeFns(Decode &d) {
  d.need("b32");
  d.end();
  d.needOperands(4, 4);
  return typed<uint32_t>(d.dst(0), d.src(1, Type::B32), d.src(2, Type::B32), d.src(3, Type::S32),
                         [](uint32_t mask, uint32_t base, uint32_t offset) {
                           return findNth(mask, base, int32_t(offset));
                         });
}

// Selectors of the modes by c & 3, least significant byte last.
constexpr uint16_t modeSelectors[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
    {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
    {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
    {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
    {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
    {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
};

uint32_t permute(uint64_t bytes, uint32_t selectors) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t selector = selectors >> (4 * i) & 15;
    auto byte = uint8_t(bytes >> (8 * (selector & 7)));
    if (selector & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= uint32_t(byte) << (8 * i);
  }
  return result;
}

std::unique_ptr<Op> decodePrmt(Decode &d) {
  d.need("b32");
  int mode = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  d.end();
  d.needOperands(4, 4);
  return typed<uint32_t>(d.dst(0), d.src(1, Type::B32), d.src(2, Type::B32), d.src(3, Type::B32),
                         [mode](uint32_t a, uint32_t b, uint32_t c) {
                           return permute(uint64_t(b) << 32 | a,
                                          mode < 0 ? c : modeSelectors[mode][c & 3]);
                         });
}
} // namespace

void registerIntegerBits(DecoderTable &table) {
  table.add("popc", decodePopc, {{"popc.b32", "%r1, %r2"}, {"popc.b64", "%r1, %rd2"}});
  table.add("clz", decodeClz, {{"clz.b32", "%r1, %r2"}, {"clz.b64", "%r1, %rd2"}});
  table.add("brev", decodeBrev, {{"brev.b32", "%r1, %r2"}, {"brev.b64", "%rd1, %rd2"}});
  table.add(
      "bfind", decodeBfind,
      {{"bfind[.shiftamt].{u32|s32}", "%r1, %r2"}, {"bfind[.shiftamt].{u64|s64}", "%r1, %rd2"}});
  table.add("bfe", decodeBfe,
            {{"bfe.{u32|s32}", "%r1, %r2, %r3, %r4"}, {"bfe.{u64|s64}", "%rd1, %rd2, %r3, %r4"}});
  table.add("bfi", decodeBfi,
            {{"bfi.b32", "%r1, %r2, %r3, %r4, %r5"}, {"bfi.b64", "%rd1, %rd2, %rd3, %r4, %r5"}});
  table.add("bmsk", decodeBmsk, {{"bmsk.{clamp|wrap}.b32", "%r1, %r2, %r3"}});
  table.add("szext", decodeSzext, {{"szext.{clamp|wrap}.{u32|s32}", "%r1, %r2, %r3"}});
  table.add("fns", decodeFns, {{"fns.b32", "%r1, %r2, %r3, %r4"}});
  table.add("prmt", decodePrmt,
            {{"prmt.b32[.f4e|.b4e|.rc8|.ecl|.ecr|.rc16]", "%r1, %r2, %r3, %r4"}});
}

} // namespace ts::emu
