// Sparse A of tcgen05.mma.sp: where its metadata lies and what it says. Sources: PTX ISA, "Sparse
// Matrices"; for the layout of the metadata, of which the PTX ISA has figures only, the metadata
// fragments of CUTLASS (C++). What neither shows (64 rows per CTA without .ws) is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05Multiply.h"

namespace ts::emu::tcgen05 {
namespace {

/// 16- and 32-bit elements: one column, in which 16 lanes share the metadata of 16 rows. Others:
/// two columns, each lane has that of its row.
bool isWide(const MmaWork &work) { return numBits(work.shape.a) >= 16; }

unsigned nibble(const MmaWork &work, Tmem &tmem, unsigned lane, unsigned chunk) {
  unsigned column = work.metadata.column + work.shape.selector;
  if (!isWide(work))
    return tmem.cell(lane, column + chunk / 8) >> chunk % 8 * 4 & 0xf;
  // The first half of K lies in the lower eight of the 16 lanes, rows 8 to 15 in the upper half of
  // the words.
  unsigned at = lane / 16 * 16 + lane % 8 + chunk / 4 * 8;
  return tmem.cell(at, column) >> (chunk % 4 * 4 + lane / 8 % 2 * 16) & 0xf;
}

[[noreturn]] void wrongMetadata(unsigned bits, unsigned lane, unsigned chunk,
                                const char *expected) {
  fault(FaultKind::Descriptor,
        "the metadata of tcgen05.mma.sp for the row in lane %u has 0x%x for group %u of its "
        "elements; expected %s",
        lane, bits, chunk, expected);
}
} // namespace

unsigned metadataColumns(const MmaWork &work) { return isWide(work) ? 1 : 2; }

void checkSparse(const MmaWork &work) {
  if (!work.form.weightStationary && work.path.rows != 128)
    fault(
        FaultKind::Unsupported,
        "tcgen05.mma.sp with M = %u and cta_group::%u is not executed: the layout of its metadata "
        "is not known here; expected 128 rows per CTA, or .ws",
        work.shape.m, work.form.group);
  if (work.shape.selector > 1)
    fault(FaultKind::Unsupported,
          "tcgen05.mma.sp with the sparsity selector %u is not executed; expected 0 or 1",
          work.shape.selector);
  if (work.metadata.lane || work.metadata.column % 2)
    fault(FaultKind::TensorMemory,
          "the metadata of tcgen05.mma.sp begins in lane %u, column %u of tensor memory; expected "
          "lane 0 and an even column (the sparsity selector names the odd one)",
          work.metadata.lane, work.metadata.column);
}

void expandRow(const MmaWork &work, Tmem &tmem, unsigned lane, const float *stored, float *out) {
  std::fill_n(out, work.shape.k, 0.0f);
  if (work.form.kind == MmaKind::TF32) { // one of two
    for (unsigned chunk = 0; chunk < work.shape.storedK; ++chunk) {
      unsigned bits = nibble(work, tmem, lane, chunk);
      if (bits != 0x4 && bits != 0xe)
        wrongMetadata(bits, lane, chunk, "0x4 (the first of two) or 0xe (the second)");
      out[2 * chunk + (bits == 0xe)] = stored[chunk];
    }
    return;
  }
  for (unsigned chunk = 0; chunk < work.shape.storedK / 2; ++chunk) { // two of four
    unsigned bits = nibble(work, tmem, lane, chunk);
    unsigned first = bits & 3, second = bits >> 2;
    if (first == second)
      wrongMetadata(bits, lane, chunk, "two different positions of 2 bits");
    out[4 * chunk + first] = stored[2 * chunk];
    out[4 * chunk + second] = stored[2 * chunk + 1];
  }
}

} // namespace ts::emu::tcgen05
