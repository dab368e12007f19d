// One tcgen05.mma product (over several instructions along K) against plain arithmetic: operands in
// every layout, D where the PTX ISA's "Data Path Layout Organization" puts it. Nothing here uses
// the code under test. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_TCGEN05MMACASE_H
#define TS_UNITTESTS_EMULATOR_TCGEN05MMACASE_H

#include "Tcgen05Kernel.h"

#include <bit>

namespace ts::emu::test {

inline const Operand e3m2{"e3m2", 3, 2, 6}, e2m3{"e2m3", 2, 3, 6}, e2m1{"e2m1", 2, 1, 4};

struct MmaCase {
  std::string kind = "f16", suffix; // behind the kind: .ashift, .collector, .block_scale
  Operand a = f16, b = f16;
  std::string d = "f32";
  unsigned m = 128, n = 64, group = 1, steps = 2;
  bool ws = false, tmemA = false, ashift = false;
  unsigned swizzleA = 128, swizzleB = 128;
  bool kMajorA = true, kMajorB = true;
  bool negateA = false, negateB = false, saturate = false;
  bool accumulate = false;
  unsigned scaleD = 0;
  unsigned laneOffset = 0;        // 16: the upper half of each quarter (M = 64)
  std::vector<uint32_t> disabled; // lanes
  unsigned vectors = 0;           // scale factors per row and instruction
  bool ue8m0 = true;
  double valueScale = 1;
  uint64_t maskDescriptor = 0;   // of .ws: zero-column mask
  std::vector<bool> zeroColumns; // what it means
  unsigned shift = 0, maxShift = 0;
  bool sparse = false;
  unsigned selector = 0; // sparsity selector, of the 16- and 32-bit kinds

  bool fourBitKind() const { return kind == "mxf4" || kind == "mxf4nvf4"; }
  unsigned stored(const Operand &o) const { return fourBitKind() ? 4 : o.bits < 8 ? 8 : o.bits; }
  unsigned storedK() const { return 256 / stored(a); } // of A, per instruction
  unsigned instructionK() const { return storedK() * (sparse ? 2 : 1); }
  /// Sparse A: two of four elements are stored (one of two with tf32); the nibble says which.
  unsigned groupSize() const { return kind == "tf32" ? 2 : 4; }
  unsigned nibble(unsigned row, unsigned group) const {
    unsigned seed = row * 7 + group * 5 + row / 8;
    if (kind == "tf32")
      return seed % 2 ? 0xe : 0x4;
    constexpr unsigned meaningful[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    return meaningful[seed % 6];
  }
  /// Element j of a row of sparse A as it takes part.
  double sparseA(unsigned row, unsigned j) const {
    unsigned group = j / groupSize(), at = j % groupSize(), bits = nibble(row, group);
    if (kind == "tf32")
      return at == (bits == 0xe ? 1u : 0u) ? valueA(row, group) : 0;
    if (at == (bits & 3))
      return valueA(row, 2 * group);
    return at == bits >> 2 ? valueA(row, 2 * group + 1) : 0;
  }
  unsigned k() const { return steps * instructionK(); }
  unsigned rowsPerCta() const { return m / group; }

  double valueA(unsigned row, unsigned j) const { return value(a, row * 5 + j * 3 + row / 8); }
  double valueB(unsigned row, unsigned j) const { return value(b, row * 3 + j * 7 + row / 8 + 1); }
  double valueD(unsigned row, unsigned column) const {
    return double(int((row * 3 + column * 5) % 17) - 8);
  }
  /// Scale factor of the block of K that element j is in; powers of two or small multiples.
  double scaleOf(unsigned row, unsigned j, unsigned salt) const {
    if (!vectors)
      return 1;
    unsigned seed = row * 3 + j / (instructionK() / vectors) * 5 + salt;
    return ue8m0 ? std::ldexp(1.0, int(seed % 4) - 1) : 0.5 * double(1 + seed % 5);
  }
  double rowOfA(unsigned row, unsigned j) const {
    unsigned inCta = row % rowsPerCta();
    bool last = inCta + 1 == rowsPerCta();
    if (sparse)
      return sparseA(row, j);
    return valueA(ashift && !last ? row + 1 : row, j);
  }
  double product(unsigned row, unsigned column) const {
    double sum = 0;
    for (unsigned j = 0; j < k(); ++j)
      sum +=
          rowOfA(row, j) * valueB(column + shift, j) * scaleOf(row, j, 0) * scaleOf(column, j, 2);
    if (!zeroColumns.empty() && zeroColumns[column])
      return 0;
    return negateA != negateB ? -sum : sum;
  }
  /// The same of all of D.
  std::vector<double> products() const {
    std::vector<double> rows(size_t(m) * k()), columns(size_t(n) * k()), all(size_t(m) * n);
    for (unsigned j = 0; j < k(); ++j) {
      for (unsigned row = 0; row < m; ++row)
        rows[size_t(row) * k() + j] = rowOfA(row, j) * scaleOf(row, j, 0);
      for (unsigned column = 0; column < n; ++column)
        if (zeroColumns.empty() || !zeroColumns[column])
          columns[size_t(column) * k() + j] = valueB(column + shift, j) * scaleOf(column, j, 2);
    }
    for (unsigned row = 0; row < m; ++row)
      for (unsigned column = 0; column < n; ++column) {
        double sum = 0;
        for (unsigned j = 0; j < k(); ++j)
          sum += rows[size_t(row) * k() + j] * columns[size_t(column) * k() + j];
        all[size_t(row) * n + column] = negateA != negateB ? -sum : sum;
      }
    return all;
  }
  double expected(unsigned row, unsigned column) const {
    return expected(row, column, product(row, column));
  }
  double expected(unsigned row, unsigned column, double sum) const {
    if (accumulate)
      sum += std::ldexp(valueD(row, column), -int(scaleD));
    return sum;
  }

  struct Cell {
    unsigned cta, lane, column;
  };
  /// Layouts A to G.
  Cell cellOf(unsigned row, unsigned column) const {
    if (ws && m == 32) // G
      return {0, row + column / (n / 4) * 32, column % (n / 4)};
    if (ws && m == 64) // E
      return {0, row + column / (n / 2) * 64, column % (n / 2)};
    if (m == 64) // F
      return {0, row / 16 * 32 + row % 16 + laneOffset, column};
    if (group == 2 && m == 128) // B
      return {row / 64, row % 64 + column / (n / 2) * 64, column % (n / 2)};
    return {row / 128, row % 128, column}; // A, D
  }
  unsigned copies() const { return ws ? 128 / m : group == 2 && m == 128 ? 2 : 1; }

  uint32_t instructionDescriptor() const {
    auto type = [&](const Operand &o) -> uint32_t {
      if (kind == "f16")
        return o.name == "bf16";
      if (kind == "tf32")
        return 2;
      if (kind == "i8")
        return o.name == "s8";
      if (fourBitKind())
        return 1;
      return o.name == "e4m3"   ? 0
             : o.name == "e5m2" ? 1
             : o.name == "e2m3" ? 3
             : o.name == "e3m2" ? 4
                                : 5;
    };
    uint32_t bits = selector | uint32_t(sparse) << 2 | type(a) << 7 | type(b) << 10 |
                    uint32_t(negateA) << 13 | uint32_t(negateB) << 14 | uint32_t(!kMajorA) << 15 |
                    uint32_t(!kMajorB) << 16 | n / 8 << 17;
    if (vectors)
      return bits | uint32_t(ue8m0) << 23 | m / 128 << 27;
    uint32_t dType = d == "f16" ? 0 : d == "f32" ? 1 : 2;
    return bits | dType << 4 | m / 16 << 24 | uint32_t(saturate) << 3 | maxShift << 30;
  }

  uint32_t encodeD(double v) const {
    if (d == "s32")
      return uint32_t(int64_t(v));
    return d == "f16" ? encodeFloat(v, 5, 10) : encodeFloat(v, 8, 23);
  }
  /// The first difference, empty if there is none.
  std::string check() const;
  TensorKernel kernel() const;
  /// What the test believes, cell by cell.
  std::string compare(const TensorKernel &kernel, const Ran &ran) const;
  std::string name() const {
    return kind + suffix + " " + a.name + " x " + b.name + " -> " + d + " M=" + std::to_string(m) +
           " N=" + std::to_string(n) + " group " + std::to_string(group) + (ws ? " ws" : "") +
           (tmemA ? " A in tmem" : "") + " swizzle " + std::to_string(swizzleA) + "/" +
           std::to_string(swizzleB) + " K-major " + std::to_string(kMajorA) + "/" +
           std::to_string(kMajorB);
  }
  // Columns: D, A, scale factors.
  unsigned columnsOfD() const { return n / copies(); }
  unsigned columnOfA() const { return (columnsOfD() + 31) / 32 * 32; }
  unsigned columnOfMetadata(unsigned step) const {
    return columnOfA() + (tmemA ? steps * 8 : 0) + 2 * step;
  }
  unsigned columnOfScales(unsigned step, bool ofB) const {
    unsigned per = (rowsPerCta() + 31) / 32 + (columnsOfD() + 31) / 32;
    return columnOfA() + (tmemA ? steps * 8 : 0) + step * per +
           (ofB ? (rowsPerCta() + 31) / 32 : 0);
  }

private:
  double value(const Operand &o, unsigned seed) const {
    double v = double(seed % 7) - (o.isSigned() ? 3 : 0);
    if (o.name == "e2m1") // 0, 0.5, 1, 1.5, 2, 3
      return v * 0.5;
    return o.isFloat() ? v * valueScale / 2 : v;
  }
  static void put(std::vector<uint8_t> &bytes, size_t bit, uint32_t code, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i)
      bytes[(bit + i) / 8] = uint8_t((bytes[(bit + i) / 8] & ~(1u << (bit + i) % 8)) |
                                     (code >> i & 1) << (bit + i) % 8);
  }
  void giveMetadata(TensorKernel &kernel) const;
  TileLayout tile(bool ofB) const {
    TileLayout t;
    t.swizzle = ofB ? swizzleB : swizzleA;
    t.kMajor = ofB ? kMajorB : kMajorA;
    t.rows = ofB ? n / group + (shift + 7) / 8 * 8 : rowsPerCta();
    t.k = ofB ? k() : steps * storedK();
    t.bits = stored(ofB ? b : a);
    return t;
  }
  /// Bit of element (row, j); 16 elements of 4 or 6 bits begin a chunk of 16 bytes.
  static size_t bitOf(const TileLayout &t, const Operand &o, unsigned row, unsigned j) {
    size_t byte = t.at(row, j);
    if (o.bits >= 8)
      return byte * 8;
    if (t.bits == 4)
      return byte * 8 + (t.kMajor ? j : row) % 2 * 4;
    return byte / 16 * 128 + byte % 16 * o.bits;
  }
  void giveTmem(TensorKernel &kernel) const;
};

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_TCGEN05MMACASE_H
