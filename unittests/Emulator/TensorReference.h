// An independent reference for tensor copies, for tests: the box walked element by element, and
// swizzles as the tables of the PTX ISA show them (which 16-byte chunk lies where in a line of 128
// bytes), not as address arithmetic. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_TENSORREFERENCE_H
#define TS_UNITTESTS_EMULATOR_TENSORREFERENCE_H

#include "RunPtx.h"

namespace ts::emu::test {

inline TensorMapPlan planOf(ElementType element, std::vector<uint64_t> sizes,
                            std::vector<uint32_t> box, int64_t swizzle = 0,
                            std::vector<uint64_t> strides = {}) {
  TensorMapPlan plan;
  plan.element = element;
  plan.elementStrides.assign(sizes.size(), 1);
  if (strides.empty()) { // dense
    uint64_t bytes = uint64_t(elementSize(element));
    for (size_t i = 0; i + 1 < sizes.size(); ++i)
      strides.push_back(bytes *= sizes[i]);
  }
  plan.sizes = std::move(sizes);
  plan.strides = std::move(strides);
  plan.box = std::move(box);
  plan.swizzle = swizzle;
  return plan;
}

/// Line i of a table: the chunk at each of the eight places of a line.
using SwizzleTable = std::vector<std::array<int, 8>>;
inline const SwizzleTable tableNone = {{0, 1, 2, 3, 4, 5, 6, 7}};
inline const SwizzleTable table32 = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
inline const SwizzleTable table64 = {{0, 1, 2, 3, 4, 5, 6, 7},
                                     {1, 0, 3, 2, 5, 4, 7, 6},
                                     {2, 3, 0, 1, 6, 7, 4, 5},
                                     {3, 2, 1, 0, 7, 6, 5, 4}};
inline const SwizzleTable table128 = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
                                      {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
                                      {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                      {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
inline const SwizzleTable table128Atom32 = {{0, 1, 2, 3, 4, 5, 6, 7},
                                            {2, 3, 0, 1, 6, 7, 4, 5},
                                            {4, 5, 6, 7, 0, 1, 2, 3},
                                            {6, 7, 4, 5, 2, 3, 0, 1}};
inline const SwizzleTable table128Atom64 = {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}};

inline const SwizzleTable &tableOf(int64_t swizzle) {
  return swizzle == 32 ? table32 : swizzle == 64 ? table64 : swizzle == 128 ? table128 : tableNone;
}

/// Where byte `at` of the box (row by row) lies, if the box begins `base` bytes behind a place
/// where the pattern begins.
inline size_t placeOf(const SwizzleTable &table, size_t base, size_t at) {
  size_t address = base + at, line = address / 128, chunk = address % 128 / 16;
  for (size_t place = 0; place < 8; ++place)
    if (table[line % table.size()][place] == int(chunk))
      return line * 128 + place * 16 + address % 16 - base;
  return ~size_t(0);
}

struct BoxElement {
  bool inside = false;
  size_t global = 0; // byte offset in the tensor
  size_t box = 0;    // byte offset in the box, row by row
};

/// The elements of the box at `start`, innermost first.
inline std::vector<BoxElement> boxOf(const TensorMapPlan &plan, const std::vector<int> &start) {
  size_t rank = plan.sizes.size(), bytes = size_t(elementSize(plan.element));
  std::vector<size_t> counts;
  size_t total = 1;
  for (size_t i = 0; i < rank; ++i) {
    size_t step = i ? plan.elementStrides[i] : 1;
    counts.push_back((plan.box[i] + step - 1) / step);
    total *= counts.back();
  }
  std::vector<BoxElement> elements;
  for (size_t n = 0; n < total; ++n) {
    BoxElement e;
    e.inside = true;
    e.box = n * bytes;
    size_t rest = n;
    for (size_t i = 0; i < rank; ++i) {
      int64_t c = start[i] + int64_t(rest % counts[i]) * (i ? plan.elementStrides[i] : 1);
      rest /= counts[i];
      e.inside &= c >= 0 && c < int64_t(plan.sizes[i]);
      e.global += size_t(c) * (i ? size_t(plan.strides[i - 1]) : bytes);
    }
    elements.push_back(e);
  }
  return elements;
}

inline size_t boxBytes(const TensorMapPlan &plan, const std::vector<int> &start) {
  return boxOf(plan, start).size() * size_t(elementSize(plan.element));
}

/// Bytes without regularity.
inline std::vector<uint8_t> noise(size_t bytes, uint32_t seed = 1) {
  std::vector<uint8_t> data(bytes);
  for (uint8_t &b : data)
    b = uint8_t((seed = seed * 1664525u + 1013904223u) >> 24);
  return data;
}

/// Instructions that copy `bytes` of shared memory from `smem` + offset to the output buffer.
inline std::string dumpShared(const std::string &smem, size_t bytes, size_t offset = 0) {
  std::string text;
  for (size_t i = 0; i < bytes; i += 16)
    text += "ld.shared.v4.b32 {%r60, %r61, %r62, %r63}, [" + smem + "+" +
            std::to_string(offset + i) + "];\nst.global.v4.b32 [%rd0+" + std::to_string(i) +
            "], {%r60, %r61, %r62, %r63};\n";
  return text;
}
/// Instructions that copy the input buffer (from `from`) to shared memory.
inline std::string fillFromInput(const std::string &smem, size_t bytes, size_t from = 0) {
  std::string text;
  for (size_t i = 0; i < bytes; i += 16)
    text += "ld.global.v4.b32 {%r60, %r61, %r62, %r63}, [%rd1+" + std::to_string(from + i) +
            "];\nst.shared.v4.b32 [" + smem + "+" + std::to_string(i) +
            "], {%r60, %r61, %r62, %r63};\n";
  return text;
}
inline std::string coordinates(const std::vector<int> &start) {
  std::string text = "{";
  for (size_t i = 0; i < start.size(); ++i)
    text += (i ? ", " : "") + std::to_string(start[i]);
  return text + "}";
}
inline std::string waitBarrier(const std::string &bar, int parity, const std::string &label) {
  return label + ":\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [" + bar + "], " +
         std::to_string(parity) + ";\n@!%p1 bra " + label + ";\n";
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_TENSORREFERENCE_H
