// The product of a tcgen05.mma. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05Multiply.h"

namespace ts::emu::tcgen05 {
namespace {

constexpr unsigned quarter = 32; // lanes

/// Lanes that multiply with the same columns of B, and (with scale factors, of which every quarter
/// has its own copy) belong to the same quarter.
struct LaneGroup {
  unsigned firstN = 0;
  std::vector<unsigned> lanes;
};

std::vector<LaneGroup> laneGroups(const MmaWork &work) {
  std::vector<LaneGroup> groups;
  bool perQuarter = isBlockScaled(work.form.kind);
  for (unsigned lane = 0; lane < Tmem::lanes; ++lane) {
    if (work.path.row[lane] < 0)
      continue;
    bool opens = groups.empty() || groups.back().firstN != work.path.firstN[lane] ||
                 (perQuarter && lane % quarter == 0);
    if (opens)
      groups.push_back({work.path.firstN[lane], {}});
    groups.back().lanes.push_back(lane);
  }
  return groups;
}

/// A row of A as it lies in a lane of tensor memory. Elements of less than 8 bits of the mixed
/// kinds have a byte each: 6 bits at its low end, 4 bits in its middle.
void rowFromTmem(const MmaWork &work, Tmem &tmem, unsigned lane, float *out) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&tmem.cell(lane, work.a.column));
  unsigned bits = numBits(work.shape.a);
  if (work.shape.packing == Packing::Dense || bits == 8) {
    decodeElements(work.shape.a, bytes, work.shape.storedK, out);
    return;
  }
  for (unsigned j = 0; j < work.shape.storedK; ++j)
    out[j] = toFloat(work.shape.a, bits == 6 ? bytes[j] & 0x3f : bytes[j] >> 2 & 0xf);
}

/// Rows of A for the lanes of a group.
void gatherA(const MmaWork &work, Cta &cta, const LaneGroup &group,
             const std::vector<float> &fromShared, std::vector<float> &out) {
  unsigned k = work.shape.k, storedK = work.shape.storedK;
  out.resize(group.lanes.size() * k);
  std::array<float, 32> stored;
  for (size_t i = 0; i < group.lanes.size(); ++i) {
    unsigned lane = group.lanes[i];
    float *to = work.form.sparse ? stored.data() : out.data() + i * k;
    if (work.form.aInTmem) {
      // .ashift: every row takes the one below it, the last its own.
      bool shifted = work.form.ashift && lane + 1 < Tmem::lanes && work.path.row[lane + 1] > 0;
      rowFromTmem(work, cta.tmem, shifted ? lane + 1 : lane, to);
    } else {
      std::copy_n(fromShared.data() + size_t(work.path.row[lane]) * storedK, storedK, to);
    }
    if (work.form.sparse)
      expandRow(work, cta.tmem, lane, to, out.data() + i * k);
  }
}

/// B of the whole instruction: row n, K contiguous.
void loadB(const MmaWork &work, std::vector<float> &b) {
  const MmaShape &shape = work.shape;
  b.clear();
  std::vector<float> part;
  for (Cta *cta : work.ctas) {
    loadOperand(cta->shared, work.bLayout, !shape.transposeB, work.rowsOfB(), shape.k, shape.b,
                shape.packing, "matrix B of tcgen05.mma", part);
    size_t rows = shape.n / work.ctas.size();
    size_t begin = size_t(work.mask.shift) * shape.k;
    b.insert(b.end(), part.begin() + std::ptrdiff_t(begin),
             part.begin() + std::ptrdiff_t(begin + rows * shape.k));
  }
  for (unsigned n = 0; n < work.mask.zero.size(); ++n)
    if (work.mask.zero[n])
      std::fill_n(b.begin() + size_t(n) * shape.k, shape.k, 0.0f);
  if (shape.negateA != shape.negateB)
    for (float &value : b)
      value = -value;
}

/// rows[i * k + .] * the scale factors of index[i], from the copy in the quarter of `lane`.
void scaleRows(const MmaWork &work, Tmem &tmem, unsigned lane, TmemAddress factors, unsigned id,
               const std::vector<unsigned> &index, const float *rows, std::vector<double> &out) {
  unsigned k = work.shape.k, vectors = work.form.scaleVectors, block = k / vectors;
  out.resize(index.size() * k);
  for (size_t i = 0; i < index.size(); ++i) {
    uint32_t word = tmem.cell(lane / quarter * quarter + index[i] % quarter,
                              factors.column + index[i] / quarter);
    for (unsigned v = 0; v < vectors; ++v) {
      double factor = toDouble(work.shape.scale, word >> 8 * (id + v) & 0xff);
      for (unsigned j = v * block; j < (v + 1) * block; ++j)
        out[i * k + j] = double(rows[i * k + j]) * factor;
    }
  }
}

void multiplyScaled(const MmaWork &work, Tmem &tmem, const LaneGroup &group,
                    const std::vector<float> &a, const float *b, double *sums) {
  std::vector<unsigned> rows, columns(work.path.width);
  for (unsigned lane : group.lanes)
    rows.push_back(unsigned(work.path.row[lane]));
  for (unsigned n = 0; n < columns.size(); ++n)
    columns[n] = n;
  std::vector<double> scaledA, scaledB;
  scaleRows(work, tmem, group.lanes[0], work.scaleA, work.shape.scaleIdA, rows, a.data(), scaledA);
  scaleRows(work, tmem, group.lanes[0], work.scaleB, work.shape.scaleIdB, columns, b, scaledB);
  multiply(scaledA.data(), scaledB.data(), unsigned(rows.size()), work.path.width, work.shape.k,
           sums);
}

uint32_t accumulated(const MmaWork &work, uint32_t cell, double sum) {
  switch (work.shape.d) {
  case Num::S32: {
    int32_t d = work.accumulate ? int32_t(cell) : 0;
    return uint32_t(accumulateS32(d, int32_t(sum), work.shape.saturate));
  }
  case Num::F16: {
    double d =
        work.accumulate ? std::ldexp(toDouble(Num::F16, cell & 0xffff), -int(work.scaleD)) : 0.0;
    return accumulateF16(d, sum);
  }
  default: {
    double d =
        work.accumulate ? std::ldexp(double(std::bit_cast<float>(cell)), -int(work.scaleD)) : 0.0;
    return std::bit_cast<uint32_t>(accumulateF32(d, sum));
  }
  }
}

void writeD(const MmaWork &work, size_t ctaIndex, const LaneGroup &group, const double *sums) {
  Tmem &tmem = work.ctas[ctaIndex]->tmem;
  unsigned width = work.path.width;
  bool plain = work.shape.d == Num::F32 && work.scaleD == 0 && work.accumulate;
  for (size_t i = 0; i < group.lanes.size(); ++i) {
    unsigned lane = group.lanes[i];
    if (work.isDisabled(ctaIndex, lane))
      continue;
    uint32_t *cells = &tmem.cell(lane, work.d.column);
    const double *row = sums + i * width;
    if (plain) {
      for (unsigned n = 0; n < width; ++n)
        cells[n] =
            std::bit_cast<uint32_t>(accumulateF32(double(std::bit_cast<float>(cells[n])), row[n]));
      continue;
    }
    for (unsigned n = 0; n < width; ++n)
      cells[n] = accumulated(work, cells[n], row[n]);
  }
}
} // namespace

unsigned MmaWork::rowsOfB() const {
  unsigned rows = shape.n / unsigned(ctas.size()) + mask.shift;
  unsigned chunk = 128 / storedBits(shape.b, shape.packing);
  return shape.transposeB ? (rows + chunk - 1) / chunk * chunk : rows;
}

void perform(const MmaWork &work) {
  const MmaShape &shape = work.shape;
  std::vector<float> b, aShared, a;
  loadB(work, b);
  std::vector<double> sums;
  const std::vector<LaneGroup> groups = laneGroups(work);
  for (size_t c = 0; c < work.ctas.size(); ++c) {
    Cta &cta = *work.ctas[c];
    if (!work.form.aInTmem)
      loadOperand(cta.shared, work.aLayout, !shape.transposeA, work.path.rows, shape.storedK,
                  shape.a, shape.packing, "matrix A of tcgen05.mma", aShared);
    // All sums first: D may lie where A or a scale factor does.
    sums.resize(size_t(Tmem::lanes) * work.path.width);
    size_t at = 0;
    for (const LaneGroup &group : groups) {
      gatherA(work, cta, group, aShared, a);
      const float *columns = b.data() + size_t(group.firstN) * shape.k;
      if (isBlockScaled(work.form.kind))
        multiplyScaled(work, cta.tmem, group, a, columns, sums.data() + at);
      else
        multiply(a.data(), columns, unsigned(group.lanes.size()), work.path.width, shape.k,
                 sums.data() + at);
      at += group.lanes.size() * work.path.width;
    }
    at = 0;
    for (const LaneGroup &group : groups) {
      writeD(work, c, group, sums.data() + at);
      at += group.lanes.size() * work.path.width;
    }
  }
}

} // namespace ts::emu::tcgen05
