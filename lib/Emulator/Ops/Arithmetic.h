// Opcodes that integers and floats share: the integer half of each decoder, by type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_OPS_ARITHMETIC_H
#define TS_EMULATOR_OPS_ARITHMETIC_H

#include "../Core/Decode.h"

namespace ts::emu {

std::unique_ptr<Op> decodeIntegerAdd(Decode &d);
std::unique_ptr<Op> decodeIntegerSub(Decode &d);
std::unique_ptr<Op> decodeIntegerMul(Decode &d);
std::unique_ptr<Op> decodeIntegerMad(Decode &d);
std::unique_ptr<Op> decodeIntegerDiv(Decode &d);
std::unique_ptr<Op> decodeIntegerAbs(Decode &d);
std::unique_ptr<Op> decodeIntegerNeg(Decode &d);
std::unique_ptr<Op> decodeIntegerMin(Decode &d);
std::unique_ptr<Op> decodeIntegerMax(Decode &d);

std::unique_ptr<Op> decodeFloatAdd(Decode &d);
std::unique_ptr<Op> decodeFloatSub(Decode &d);
std::unique_ptr<Op> decodeFloatMul(Decode &d);
std::unique_ptr<Op> decodeFloatMad(Decode &d);
std::unique_ptr<Op> decodeFloatDiv(Decode &d);
std::unique_ptr<Op> decodeFloatAbs(Decode &d);
std::unique_ptr<Op> decodeFloatNeg(Decode &d);
std::unique_ptr<Op> decodeFloatMin(Decode &d);
std::unique_ptr<Op> decodeFloatMax(Decode &d);

/// Whether a part of the opcode is a floating-point type.
inline bool namesFloat(const ptx::Instruction &inst) {
  for (size_t i = 1; i < inst.parts.size(); ++i)
    if (ptx::isFloat(ptx::parseType(inst.parts[i])))
      return true;
  return false;
}
template <Decoder integer, Decoder floating> std::unique_ptr<Op> byType(Decode &d) {
  return namesFloat(d.inst) ? floating(d) : integer(d);
}

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_ARITHMETIC_H
