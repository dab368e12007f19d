// Exact conversions of the number formats of the matrix units and of cvt: f16, bf16, tf32, fp8
// (e4m3, e5m2), fp6 (e3m2, e2m3), fp4 (e2m1), ue8m0. Source: PTX ISA, "Alternate floating point
// data formats" and cvt; OCP microscaling formats. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_NUMBERS_SMALLFLOATS_H
#define TS_EMULATOR_NUMBERS_SMALLFLOATS_H

#include <cstdint>

namespace ts::emu {

enum class Num : uint8_t {
  F16,
  BF16,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  E3M2,
  E2M3,
  E2M1,
  UE8M0,
  UE4M3,
  S8,
  U8,
  S32
};

unsigned numBits(Num format); // storage of one element: E2M1 4, E3M2/E2M3 6, E4M3 8, TF32 32

/// The value of `bits` (low numBits); exact for every format but F64.
float toFloat(Num format, uint64_t bits);
double toDouble(Num format, uint64_t bits);

enum class Round : uint8_t { Nearest, Zero, Up, Down, NearestAway, Stochastic };
/// One rounding from the exact value. `saturate`: .satfinite (overflow to the largest finite value;
/// NaN as PTX ISA says for the format); `relu`: negative to +0. `random`: bits for .rs, as a
/// fraction of the last place (the most significant bit is a half). TF32 results have 13 zeros at
/// the end.
uint64_t fromDouble(Num format, double value, Round round = Round::Nearest, bool saturate = false,
                    bool relu = false, uint32_t random = 0);

} // namespace ts::emu

#endif // TS_EMULATOR_NUMBERS_SMALLFLOATS_H
