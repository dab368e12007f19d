// What a wgmma computes: fragments of A and D in the registers of four warps, tiles in shared
// memory. Source: PTX ISA, "Register fragments" of wgmma.mma_async; CUTLASS for which lane has
// which sparsity metadata. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Wgmma.h"

#include "AlignedSum.h"

#include <utility>

namespace ts::emu {
namespace {

constexpr unsigned wordsPerRow = 8; // a row of A takes 32 bytes in every kind

/// A out of registers as rows of 32 bytes: register r of a lane holds the word 4 * (r / 2) + lane %
/// 4 of row lane / 4 + 8 * (r % 2), whatever the size of the elements.
void gatherA(const WgmmaRecord &record, std::vector<uint32_t> &words) {
  words.resize(wgmmaRows * wordsPerRow);
  const std::vector<uint32_t> &slots = record.form->aSlots;
  for (unsigned w = 0; w < warpgroupWarps; ++w)
    for (unsigned r = 0; r < slots.size(); ++r) {
      const uint64_t *lanes = record.frames[w]->regs.data() + size_t(slots[r]) * warpSize;
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        unsigned row = w * wgmmaWarpRows + lane / 4 + 8 * (r % 2);
        words[row * wordsPerRow + 4 * (r / 2) + lane % 4] = uint32_t(lanes[lane]);
      }
    }
}

/// The four bits that say where the elements of a chunk of A belong (two of four, or one of two in
/// tf32). With 8-bit elements every lane has the bits of half a row (lane bit 0: eight rows on, bit
/// 1: second half); otherwise two lanes of four, chosen by the selector, have a half of K each, the
/// upper 16 bits for the row eight rows on.
unsigned chunkIndices(const WgmmaRecord &record, unsigned row, unsigned chunk) {
  const WgmmaForm &form = *record.form;
  unsigned chunks = form.storedK() / (form.a == Num::TF32 ? 1 : 2), half = chunk >= chunks / 2;
  unsigned inHalf = chunk % (chunks / 2), upper = row / 8 % 2;
  unsigned lane = row % 8 * 4, bit = inHalf * 4;
  if (numBits(form.a) == 8) {
    lane += upper + 2 * half;
  } else {
    lane += 2 * form.selector + half;
    bit += 16 * upper;
  }
  return record.metadata[row / wgmmaWarpRows][lane] >> bit & 0xf;
}

template <class T> void expandA(const WgmmaRecord &record, std::vector<T> &a) {
  const WgmmaForm &form = *record.form;
  std::vector<T> stored = std::exchange(a, {});
  a.assign(size_t(wgmmaRows) * form.k, T(0));
  bool single = form.a == Num::TF32;
  unsigned perChunk = single ? 1 : 2;
  for (unsigned row = 0; row < wgmmaRows; ++row)
    for (unsigned s = 0; s < form.storedK(); ++s) {
      unsigned chunk = s / perChunk, bits = chunkIndices(record, row, chunk);
      bool valid = single ? bits == 0b1110 || bits == 0b0100 : (bits & 3) != bits >> 2;
      if (!valid)
        fault(FaultKind::Descriptor,
              "the sparsity metadata of row %u, chunk %u is 0x%x; expected %s", row, chunk, bits,
              single ? "0b0100 or 0b1110" : "two different indices");
      unsigned position = single ? bits == 0b1110 : bits >> (2 * (s % 2)) & 3;
      a[size_t(row) * form.k + chunk * 2 * perChunk + position] =
          stored[size_t(row) * form.storedK() + s];
    }
}

template <class T>
void loadA(const WgmmaRecord &record, std::span<const uint8_t> shared, std::vector<T> &a) {
  const WgmmaForm &form = *record.form;
  const char *what = "wgmma operand A";
  unsigned k = form.storedK();
  if (!form.aSlots.empty()) {
    thread_local std::vector<uint32_t> words;
    gatherA(record, words);
    a.resize(size_t(wgmmaRows) * k);
    for (unsigned row = 0; row < wgmmaRows; ++row)
      decodeElements(form.a, reinterpret_cast<const uint8_t *>(&words[row * wordsPerRow]), k,
                     &a[size_t(row) * k]);
  } else if constexpr (std::is_same_v<T, float>) {
    loadOperand(shared, wgmmaLayout(record.descA), !form.transposeA, wgmmaRows, k, form.a,
                Packing::Dense, what, a);
  } else {
    loadOperand(shared, wgmmaLayout(record.descA), !form.transposeA, wgmmaRows, k, form.a, what, a);
  }
  if (form.sparse)
    expandA(record, a);
}

/// Calls `element(slot of D, lane, low or high half, row, column)`: element i of a lane is in row
/// lane / 4 + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * (lane % 4) + i % 2; i counts registers, or
/// their halves with f16.
template <class F> void forD(const WgmmaRecord &record, F element) {
  const WgmmaForm &form = *record.form;
  bool halves = form.d == Num::F16;
  for (unsigned w = 0; w < warpgroupWarps; ++w) {
    uint64_t *regs = record.frames[w]->regs.data();
    for (unsigned i = 0; i < form.n / 2; ++i) {
      uint64_t *lanes = regs + size_t(form.dSlots[halves ? i / 2 : i]) * warpSize;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        element(lanes[lane], i % 2, w * wgmmaWarpRows + lane / 4 + 8 * (i / 2 % 2),
                8 * (i / 4) + 2 * (lane % 4) + i % 2);
    }
  }
}

void performFloat(const WgmmaRecord &record, std::span<const uint8_t> shared) {
  const WgmmaForm &form = *record.form;
  thread_local std::vector<float> a, b;
  thread_local std::vector<double> sums;
  loadA(record, shared, a);
  if (form.negate)
    for (float &value : a)
      value = -value;
  loadOperand(shared, wgmmaLayout(record.descB), !form.transposeB, form.n, form.k, form.b,
              Packing::Dense, "wgmma operand B", b);
  bool keep = record.accumulate;
  if (form.d == Num::F32) {
    AlignedSum sum(a.data(), form.a, wgmmaRows, b.data(), form.b, form.n, form.k,
                   numBits(form.a) == 8 ? AlignedSum::fp8 : AlignedSum::wide);
    forD(record, [&](uint64_t &reg, unsigned, unsigned row, unsigned column) {
      float d = keep ? std::bit_cast<float>(uint32_t(reg)) : 0;
      reg = std::bit_cast<uint32_t>(sum(row, column, d));
    });
    return;
  }
  sums.resize(size_t(wgmmaRows) * form.n);
  multiply(a.data(), b.data(), wgmmaRows, form.n, form.k, sums.data());
  forD(record, [&](uint64_t &reg, unsigned half, unsigned row, unsigned column) {
    unsigned shift = 16 * half;
    double d = keep ? double(toFloat(Num::F16, reg >> shift & 0xffff)) : 0.0;
    uint64_t bits = accumulateF16(d, sums[size_t(row) * form.n + column]);
    reg = (reg & ~(uint64_t(0xffff) << shift)) | bits << shift;
  });
}

void performInteger(const WgmmaRecord &record, std::span<const uint8_t> shared) {
  const WgmmaForm &form = *record.form;
  thread_local std::vector<int32_t> a, b, sums;
  sums.resize(size_t(wgmmaRows) * form.n);
  if (form.oneBit) {
    thread_local std::vector<uint32_t> bitsA, bitsB;
    if (form.aSlots.empty())
      loadBits(shared, wgmmaLayout(record.descA), wgmmaRows, form.k, "wgmma operand A", bitsA);
    else
      gatherA(record, bitsA);
    loadBits(shared, wgmmaLayout(record.descB), form.n, form.k, "wgmma operand B", bitsB);
    multiplyBits(bitsA.data(), bitsB.data(), wgmmaRows, form.n, form.k, sums.data());
  } else {
    loadA(record, shared, a);
    loadOperand(shared, wgmmaLayout(record.descB), true, form.n, form.k, form.b, "wgmma operand B",
                b);
    multiply(a.data(), b.data(), wgmmaRows, form.n, form.k, sums.data());
  }
  forD(record, [&](uint64_t &reg, unsigned, unsigned row, unsigned column) {
    int32_t d = record.accumulate ? int32_t(uint32_t(reg)) : 0;
    reg = uint32_t(accumulateS32(d, sums[size_t(row) * form.n + column], form.saturate));
  });
}
} // namespace

void wgmmaPerform(const WgmmaRecord &record, std::span<const uint8_t> shared) {
  if (record.form->integer())
    performInteger(record, shared);
  else
    performFloat(record, shared);
}

} // namespace ts::emu
