// Extended-precision arithmetic through the carry of each lane (CC.CF). Source: PTX ISA,
// "Extended-Precision Integer Arithmetic Instructions". SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "IntegerTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

struct CarryOut {
  uint64_t value;
  bool carry;
};

/// f(lane, carry) -> CarryOut for every active lane.
template <class F> void carryLanes(Exec &x, const Dst &d, bool carryIn, bool carryOut, F f) {
  uint64_t out[warpSize];
  uint64_t *to = d.lanes(x, out);
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!x.active(lane))
      continue;
    uint32_t bit = 1u << lane;
    CarryOut result = f(lane, carryIn && (x.warp.carry & bit));
    to[lane] = result.value;
    if (carryOut)
      x.warp.carry = result.carry ? x.warp.carry | bit : x.warp.carry & ~bit;
  }
}

CarryOut add(uint64_t a, uint64_t b, bool carry, uint64_t mask) {
  unsigned __int128 sum = static_cast<unsigned __int128>(a) + b + carry;
  return {uint64_t(sum) & mask, sum > mask};
}

uint64_t needCarryType(Decode &d, Type &type) {
  type = d.needType();
  if (type != Type::U32 && type != Type::S32 && type != Type::U64 && type != Type::S64)
    d.refuse("there is no carry for type .%s", ptx::typeName(type));
  return maskOf(ptx::typeBits(type));
}

std::unique_ptr<Op> decodeAddc(Decode &d) { return decodeCarryAdd(d, false, true); }
std::unique_ptr<Op> decodeSubc(Decode &d) { return decodeCarryAdd(d, true, true); }
std::unique_ptr<Op> decodeMadc(Decode &d) { return decodeCarryMad(d, true); }
} // namespace

std::unique_ptr<Op> decodeCarryAdd(Decode &d, bool subtract, bool carryIn) {
  bool carryOut = !carryIn || d.take("cc");
  Type type;
  uint64_t mask = needCarryType(d, type);
  d.end();
  d.needOperands(3, 3);
  Dst to = d.dst(0);
  Src a = d.src(1, type), b = d.src(2, type);
  return makeOp([=](Exec &x) {
    uint64_t bufferA[warpSize], bufferB[warpSize];
    const uint64_t *fromA = a.lanes(x, bufferA), *fromB = b.lanes(x, bufferB);
    carryLanes(x, to, carryIn, carryOut, [=](unsigned lane, bool carry) {
      if (!subtract)
        return add(fromA[lane], fromB[lane], carry, mask);
      unsigned __int128 less = static_cast<unsigned __int128>(fromB[lane]) + carry;
      return CarryOut{uint64_t(fromA[lane] - less) & mask, less > fromA[lane]};
    });
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeCarryMad(Decode &d, bool carryIn) {
  int high = d.takeOneOf({"lo", "hi"});
  if (high < 0)
    d.refuse("expected .lo or .hi");
  bool carryOut = d.take("cc");
  Type type;
  uint64_t mask = needCarryType(d, type);
  d.end();
  d.needOperands(4, 4);
  unsigned bits = ptx::typeBits(type);
  bool isSigned = ptx::isSigned(type);
  Dst to = d.dst(0);
  Src a = d.src(1, type), b = d.src(2, type), c = d.src(3, type);
  return makeOp([=](Exec &x) {
    uint64_t bufferA[warpSize], bufferB[warpSize], bufferC[warpSize];
    const uint64_t *fromA = a.lanes(x, bufferA), *fromB = b.lanes(x, bufferB),
                   *fromC = c.lanes(x, bufferC);
    auto extend = [=](uint64_t value) -> __int128 {
      if (!isSigned)
        return value;
      return bits == 32 ? int64_t(int32_t(value)) : int64_t(value);
    };
    carryLanes(x, to, carryIn, carryOut, [=](unsigned lane, bool carry) {
      // The low 128 bits are the same for both signs; wrapping is wanted.
      auto product = static_cast<unsigned __int128>(extend(fromA[lane])) *
                     static_cast<unsigned __int128>(extend(fromB[lane]));
      return add(uint64_t(high ? product >> bits : product) & mask, fromC[lane], carry, mask);
    });
    return Step::Next;
  });
}

void registerIntegerCarry(DecoderTable &table) {
  table.add(
      "addc", decodeAddc,
      {{"addc[.cc].{u32|s32}", "%r1, %r2, %r3"}, {"addc[.cc].{u64|s64}", "%rd1, %rd2, %rd3"}});
  table.add(
      "subc", decodeSubc,
      {{"subc[.cc].{u32|s32}", "%r1, %r2, %r3"}, {"subc[.cc].{u64|s64}", "%rd1, %rd2, %rd3"}});
  table.add("madc", decodeMadc,
            {{"madc.{lo|hi}[.cc].{u32|s32}", "%r1, %r2, %r3, %r4"},
             {"madc.{lo|hi}[.cc].{u64|s64}", "%rd1, %rd2, %rd3, %rd4"}});
}

} // namespace ts::emu
