// What the matrix instructions of one warp share. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_OPS_MMA_H
#define TS_EMULATOR_OPS_MMA_H

#include "../Core/Decode.h"

namespace ts::emu {

inline constexpr const char *mmaSparse = "sparse products in registers are not executed";
inline constexpr const char *mmaKinds =
    "the kinds f8f6f4, mxf8f6f4, mxf4 and mxf4nvf4 of mma.sync are instructions of sm_120 and are "
    "not executed";

/// Registers of D, A, B and C.
struct MmaOperands {
  std::vector<Dst> d;
  std::vector<Src> a, b, c;
};
MmaOperands takeMmaOperands(Decode &d, unsigned inD, unsigned inA, unsigned inB, unsigned inC);

/// Whether all 32 lanes are here; false: block. A fault if some have exited.
bool wholeWarp(const Exec &x);

/// m8n8k4 of f16: four products, one by each pair of quads.
std::unique_ptr<Op> decodeMmaQuads(Decode &d, bool columnMajorA, bool columnMajorB, bool floatD,
                                   bool floatC);

void registerLdMatrix(DecoderTable &table); // ldmatrix, stmatrix, movmatrix
void registerWmma(DecoderTable &table);     // Wmma.cpp

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_MMA_H
