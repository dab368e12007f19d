// What a tcgen05.mma is told to do: its kind, the instruction descriptor decoded and checked, and
// which lanes of tensor memory compute which part of D. Not how it is done: that is
// Tcgen05Multiply. Sources: PTX ISA, "Instruction descriptor", "Data Path Layout Organization",
// "Zero-Column Mask Descriptor"; CUTLASS C++ headers. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_MATRIX_TCGEN05INSTRUCTION_H
#define TS_EMULATOR_MATRIX_TCGEN05INSTRUCTION_H

#include "MatrixCore.h"

#include <array>

namespace ts::emu::tcgen05 {

enum class MmaKind : uint8_t { F16, TF32, F8F6F4, I8, MXF8F6F4, MXF4, MXF4NVF4 };
const char *mmaKindName(MmaKind kind);
inline bool isBlockScaled(MmaKind kind) { return kind >= MmaKind::MXF8F6F4; }

/// What the modifiers say.
struct MmaForm {
  MmaKind kind = MmaKind::F16;
  unsigned group = 1;
  bool weightStationary = false; // .ws
  bool aInTmem = false;
  bool ashift = false;
  bool sparse = false;       // .sp
  unsigned scaleVectors = 0; // scale factors per row and instruction; 0 without .block_scale
};

/// What the instruction descriptor adds. M and N are those of the whole instruction, over both
/// CTAs.
struct MmaShape {
  unsigned m = 0, n = 0, k = 0;
  unsigned storedK = 0; // elements of a row of A in memory: half of K with .sp
  Num a = Num::F16, b = Num::F16, d = Num::F32, scale = Num::UE8M0;
  Packing packing = Packing::Dense; // of 4- and 6-bit elements in shared memory
  bool negateA = false, negateB = false;
  bool transposeA = false, transposeB = false; // MN-major
  bool saturate = false;
  unsigned scaleIdA = 0, scaleIdB = 0;
  unsigned maxShift = 0; // columns
  unsigned selector = 0; // of .sp: which column of the metadata
};
/// Descriptor fault for what the kind does not have.
MmaShape decodeInstruction(const MmaForm &form, uint32_t descriptor);

/// The part of D one lane of tensor memory has: row `row` of the CTA's rows, columns `firstN` to
/// firstN + DataPath::width, from the address of D on. A in tensor memory has the row in the same
/// lane; so data that several lanes need lies there several times.
struct DataPath {
  unsigned width = 0;           // columns per lane
  unsigned rows = 0;            // of D in one CTA
  std::array<int16_t, 128> row; // -1: the lane takes no part
  std::array<uint16_t, 128> firstN;
};
/// `lane`: of the address of D, 0 or (where only half of the lanes are used) 16.
DataPath dataPath(const MmaForm &form, const MmaShape &shape, unsigned lane);

/// Columns of B whose values are replaced by zeros, and by how many columns B is shifted.
struct ColumnMask {
  std::vector<bool> zero;
  unsigned shift = 0;
};
ColumnMask decodeColumnMask(uint64_t descriptor, const MmaShape &shape);

} // namespace ts::emu::tcgen05

#endif // TS_EMULATOR_MATRIX_TCGEN05INSTRUCTION_H
