// Choice of a C++ integer type for a PTX type at decode time. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#ifndef TS_EMULATOR_OPS_INTEGERTYPES_H
#define TS_EMULATOR_OPS_INTEGERTYPES_H

#include "Lanes.h"

namespace ts::emu {

/// An unsigned type in which arithmetic on T wraps as the machine's does, without promotion to int.
template <class T>
using Unsigned = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

/// f(T{}) for the type; refuses what is no integer type of 16 to 64 bits.
template <class F> std::unique_ptr<Op> forIntegers(Decode &d, ptx::Type type, F f) {
  switch (type) {
  case ptx::Type::U16:
    return f(uint16_t{});
  case ptx::Type::S16:
    return f(int16_t{});
  case ptx::Type::U32:
    return f(uint32_t{});
  case ptx::Type::S32:
    return f(int32_t{});
  case ptx::Type::U64:
    return f(uint64_t{});
  case ptx::Type::S64:
    return f(int64_t{});
  default:
    d.refuse("there is no form of %s with type .%s", d.inst.parts[0].c_str(), ptx::typeName(type));
  }
}

/// The two halves of a 32-bit slot, each through f(T, T) -> T.
template <class T, class F> std::unique_ptr<Op> pairs(Dst d, Src a, Src b, F f) {
  return lanewise(d, a, b, [f](uint64_t x, uint64_t y) {
    auto low = uint16_t(f(T(x), T(y))), high = uint16_t(f(T(x >> 16), T(y >> 16)));
    return uint64_t(low | uint32_t(high) << 16);
  });
}

inline bool takePair(Decode &d, bool &isSigned) {
  int kind = d.takeOneOf({"u16x2", "s16x2"});
  isSigned = kind == 1;
  return kind >= 0;
}

/// "clamp" is true, "wrap" false.
inline bool needClampOrWrap(Decode &d) {
  int mode = d.takeOneOf({"wrap", "clamp"});
  if (mode < 0)
    d.refuse("expected .clamp or .wrap");
  return mode == 1;
}

void registerIntegerCarry(DecoderTable &table); // addc, subc, madc
void registerIntegerBits(DecoderTable &table);  // bit fields and counts
void registerIntegerLogic(DecoderTable &table); // and, or, xor, not, lop3, shifts
void registerIntegerDot(DecoderTable &table);   // dp4a, dp2a, video

/// add.cc and its kin, `d` behind the opcode's first word.
std::unique_ptr<Op> decodeCarryAdd(Decode &d, bool subtract, bool carryIn);
std::unique_ptr<Op> decodeCarryMad(Decode &d, bool carryIn);
bool hasPart(const Decode &d, std::string_view part);

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_INTEGERTYPES_H
