// What the parts of cvt share: its types and modifiers. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_OPS_CONVERT_H
#define TS_EMULATOR_OPS_CONVERT_H

#include "../Numbers/Exact.h"
#include "../Numbers/Rounding.h"
#include "Lanes.h"

namespace ts::emu {

struct CvtType {
  const char *name;
  enum Class : uint8_t { Integer, Float, Packed } kind;
  unsigned bits;  // of the whole value
  bool isSigned;  // integers
  Num format;     // of a float or of a packed element
  unsigned count; // elements
  ptx::Type operand;
  /// Bits that an element of a packed value takes.
  unsigned stride() const { return bits / count; }
};

/// Modifiers of a cvt in any order; the types follow them.
struct CvtModifiers {
  enum class Rounding : uint8_t { None, Integral, Float, Stochastic };
  Rounding rounding = Rounding::None;
  Round round = Round::Nearest;
  bool ftz = false, sat = false, relu = false, satfinite = false;
  const CvtType *to = nullptr, *from = nullptr;
};

/// A value to a float format with everything the modifiers ask for.
uint64_t roundWith(const CvtModifiers &m, Num format, double value, uint32_t random = 0);

std::unique_ptr<Op> decodeCvtPacked(Decode &d, const CvtModifiers &m);  // a side is packed
std::unique_ptr<Op> decodeCvtInteger(Decode &d, const CvtModifiers &m); // a side is an integer
std::unique_ptr<Op> decodeCvtFloat(Decode &d, const CvtModifiers &m);
std::unique_ptr<Op> decodeCvtPack(Decode &d);
void registerCvt(DecoderTable &table, Decoder decoder);

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_CONVERT_H
