// What a tcgen05.mma reads and writes: checked, and told to the checker when it is issued.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05Multiply.h"

namespace ts::emu::tcgen05 {
namespace {

/// Which swizzles the transposed forms take (PTX ISA, "Valid Combinations of Type-Size, Major-ness
/// and Swizzling").
void checkLayout(const MmaWork &work, const SmemLayout &layout, bool transposed, const char *name) {
  if (!transposed)
    return;
  bool wide = work.form.kind == MmaKind::TF32;
  if (layout.atomicity32 != wide)
    fault(FaultKind::Descriptor,
          "matrix %s of tcgen05.mma.kind::%s is transposed and has %s; expected %s", name,
          mmaKindName(work.form.kind),
          layout.atomicity32 ? "128-byte swizzle with 32-byte atoms" : "another swizzle mode",
          wide ? "128-byte swizzle with 32-byte atoms (mode 1), the only one for 32-bit elements"
               : "any mode but 128-byte swizzle with 32-byte atoms, which is for 32-bit elements");
}

/// Calls `range(first, count)` for runs of lanes that take part and whose D is written.
template <class F> void forLanes(const MmaWork &work, size_t cta, bool alsoDisabled, F range) {
  for (unsigned lane = 0; lane < Tmem::lanes;) {
    unsigned end = lane;
    while (end < Tmem::lanes && work.path.row[end] >= 0 &&
           (alsoDisabled || !work.isDisabled(cta, end)))
      ++end;
    if (end > lane)
      range(lane, end - lane);
    lane = end + 1;
  }
}

void tellShared(Checker &checker, const Access &access, const Cta &cta, const SmemLayout &layout,
                bool kMajor, unsigned rows, unsigned k, const MmaShape &shape, Num format,
                const char *what) {
  std::vector<uint32_t> chunks;
  operandChunks(layout, kMajor, rows, k, storedBits(format, shape.packing), chunks);
  checkChunks(cta.shared, chunks, what);
  // Of a padded chunk only the elements are read.
  unsigned bytes = shape.packing == Packing::Padded16 ? 2 * numBits(format) : operandChunkBytes;
  for (auto [begin, size] : operandRanges(chunks, bytes))
    checker.shared(access, {cta.rank, begin, size});
}

/// The scale factors of `count` rows or columns: one copy in every quarter of the lanes.
void tellScales(Checker &checker, const Access &access, const Cta &cta, TmemAddress at,
                unsigned count) {
  for (unsigned lane = 0; lane < Tmem::lanes; lane += 32) {
    unsigned whole = count / 32, rest = count % 32;
    if (whole)
      checker.tmem(access, {cta.rank, lane, 32, at.column, whole});
    if (rest)
      checker.tmem(access, {cta.rank, lane, rest, at.column + whole, 1});
  }
}
} // namespace

void checkOperands(const MmaWork &work) {
  const MmaShape &shape = work.shape;
  unsigned group = work.form.group;
  if (!work.form.aInTmem)
    checkLayout(work, work.aLayout, shape.transposeA, "A");
  checkLayout(work, work.bLayout, shape.transposeB, "B");
  if (work.form.sparse)
    checkSparse(work);
  if (work.form.aInTmem && work.a.lane != work.d.lane)
    fault(FaultKind::TensorMemory,
          "A of tcgen05.mma begins in lane %u of tensor memory and D in lane %u; expected the same "
          "lane",
          work.a.lane, work.d.lane);
  for (const Cta *cta : work.ctas) {
    checkColumns(*cta, work.d.column, work.path.width, group, "D of tcgen05.mma");
    if (work.form.aInTmem)
      checkColumns(*cta, work.a.column, tmemColumnsOfA, group, "A of tcgen05.mma");
    if (work.form.sparse)
      checkColumns(*cta, work.metadata.column + shape.selector, metadataColumns(work), group,
                   "the metadata of tcgen05.mma.sp");
    if (!isBlockScaled(work.form.kind))
      continue;
    if (work.scaleA.lane || work.scaleB.lane)
      fault(
          FaultKind::TensorMemory,
          "scale factors of tcgen05.mma begin in lane %u of tensor memory; expected lane 0 (every "
          "quarter of the lanes has a copy)",
          work.scaleA.lane ? work.scaleA.lane : work.scaleB.lane);
    checkColumns(*cta, work.scaleA.column, MmaWork::scaleColumns(work.path.rows), group,
                 "the scale factors of A of tcgen05.mma");
    checkColumns(*cta, work.scaleB.column, MmaWork::scaleColumns(work.path.width), group,
                 "the scale factors of B of tcgen05.mma");
  }
}

void tellFootprint(Exec &x, const MmaWork &work, const Pipeline &pipeline) {
  Checker &checker = *x.cluster.checker;
  const MmaShape &shape = work.shape;
  uint32_t site = x.siteId();
  const Clock knownToOperands = pipeline.known(Role::Operands);
  const Clock knownToD = pipeline.known(Role::Accumulator);
  Event operands = pipeline.newEvent(Role::Operands), d = pipeline.newEvent(Role::Accumulator);
  Access shared{AccessKind::Read, Proxy::Async, operands, &knownToOperands, site};
  shared.lane = int(x.firstLane());
  shared.warp = x.warp.agent;
  const Access tensor{AccessKind::Read, Proxy::Tensor, operands, &knownToOperands, site};
  const Access readD{AccessKind::Read, Proxy::Tensor, d, &knownToD, site};
  Clock knownToWrite = knownToD; // its own reads of D come first
  knownToWrite.order.learn(d);
  knownToWrite.tensor.learn(d);
  const Access writeD{AccessKind::Write, Proxy::Tensor, d, &knownToWrite, site};
  for (size_t c = 0; c < work.ctas.size(); ++c) {
    const Cta &cta = *work.ctas[c];
    if (!work.form.aInTmem)
      tellShared(checker, shared, cta, work.aLayout, !shape.transposeA, work.path.rows,
                 shape.storedK, shape, shape.a, "matrix A of tcgen05.mma");
    tellShared(checker, shared, cta, work.bLayout, !shape.transposeB, work.rowsOfB(), shape.k,
               shape, shape.b, "matrix B of tcgen05.mma");
    if (work.form.aInTmem)
      forLanes(work, c, true, [&](unsigned lane, unsigned lanes) {
        checker.tmem(tensor, {cta.rank, lane, lanes, work.a.column, tmemColumnsOfA});
      });
    if (work.form.sparse)
      forLanes(work, c, true, [&](unsigned lane, unsigned lanes) {
        checker.tmem(tensor, {cta.rank, lane, lanes, work.metadata.column + shape.selector,
                              metadataColumns(work)});
      });
    if (isBlockScaled(work.form.kind)) {
      tellScales(checker, tensor, cta, work.scaleA, work.path.rows);
      tellScales(checker, tensor, cta, work.scaleB, work.path.width);
    }
    forLanes(work, c, false, [&](unsigned lane, unsigned lanes) {
      TmemRange range{cta.rank, lane, lanes, work.d.column, work.path.width};
      if (work.accumulate)
        checker.tmem(readD, range);
      checker.tmem(writeD, range);
    });
  }
  pipeline.issued();
}

} // namespace ts::emu::tcgen05
