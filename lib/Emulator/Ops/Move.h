// The parts of registerMoves: each is a file. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_OPS_MOVE_H
#define TS_EMULATOR_OPS_MOVE_H

#include "../Core/Decode.h"

namespace ts::emu {

void registerAddresses(DecoderTable &table); // cvta, isspacep, mapa, getctarank
void registerCompare(DecoderTable &table);   // setp, set, slct
void registerPolicies(DecoderTable &table);  // createpolicy

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_MOVE_H
