// What a tcgen05.mma does when the tensor core comes to it, and which memory it touches. Numbers as
// MatrixCore.h says: exact products, one rounding per instruction; scale factors are exact, too.
// Collector buffers are not modelled: what they may hold has to stay unchanged in memory anyway.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_MATRIX_TCGEN05MULTIPLY_H
#define TS_EMULATOR_MATRIX_TCGEN05MULTIPLY_H

#include "Tcgen05.h"
#include "Tcgen05Instruction.h"

namespace ts::emu::tcgen05 {

struct MmaWork {
  MmaForm form;
  MmaShape shape;
  DataPath path;
  std::vector<Cta *> ctas; // of the group
  SmemLayout aLayout, bLayout;
  TmemAddress a; // with form.aInTmem
  TmemAddress d;
  TmemAddress scaleA, scaleB;
  TmemAddress metadata; // of .sp
  bool accumulate = false;
  unsigned scaleD = 0;                // D enters as D * 2^-scaleD
  std::array<uint32_t, 8> disabled{}; // lanes whose D stays as it is, 4 words per CTA
  ColumnMask mask;                    // of .ws

  bool isDisabled(size_t cta, unsigned lane) const {
    return disabled[cta * 4 + lane / 32] >> lane % 32 & 1;
  }
  /// Rows of B that lie in the shared memory of one CTA.
  unsigned rowsOfB() const;
  /// Columns of tensor memory with the scale factors of `count` rows of A or columns of B.
  static unsigned scaleColumns(unsigned count) { return (count + 31) / 32; }
};

inline constexpr unsigned tmemColumnsOfA = 8; // 32 bytes of a row, whatever the kind

/// Sparse A (.sp): which of 4 neighbours along K (of 2 with kind::tf32) the stored elements are, as
/// nibbles in tensor memory. The layout is known for 128 rows per CTA and for .ws.
unsigned metadataColumns(const MmaWork &work);
void checkSparse(const MmaWork &work);
/// A row of K elements from the stored half, for the row that `lane` has.
void expandRow(const MmaWork &work, Tmem &tmem, unsigned lane, const float *stored, float *out);

/// The layouts of the descriptors suit the kind; the columns are allocated. Faults.
void checkOperands(const MmaWork &work);
/// Tells the checker what the instruction reads and writes.
void tellFootprint(Exec &x, const MmaWork &work, const Pipeline &pipeline);
/// Does it.
void perform(const MmaWork &work);

} // namespace ts::emu::tcgen05

#endif // TS_EMULATOR_MATRIX_TCGEN05MULTIPLY_H
