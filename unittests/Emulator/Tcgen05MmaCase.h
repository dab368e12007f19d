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

inline TensorKernel MmaCase::kernel() const {
  TileLayout tileA = tile(false), tileB = tile(true);
  uint32_t startB = tmemA ? 0 : (tileA.bytes() + 1023) / 1024 * 1024;
  unsigned columns = 32;
  while (columns < (sparse    ? columnOfMetadata(steps)
                    : vectors ? columnOfScales(steps, false)
                              : columnOfScales(0, false)))
    columns *= 2;
  TensorKernel kernel(columns, group, startB + tileB.bytes());
  for (unsigned cta = 0; cta < group; ++cta) {
    for (unsigned j = 0; j < k(); ++j) {
      for (unsigned row = 0; row < tileA.rows && !tmemA && j < tileA.k; ++row)
        put(kernel.shared[cta], bitOf(tileA, a, row, j),
            a.encode(valueA(cta * tileA.rows + row, j)), a.bits);
      for (unsigned row = 0; row < tileB.rows; ++row)
        put(kernel.shared[cta], size_t(startB) * 8 + bitOf(tileB, b, row, j),
            b.encode(valueB(cta * tileB.rows + row, j)), b.bits);
    }
  }
  giveTmem(kernel);
  giveMetadata(kernel);

  auto num = [](uint64_t v) { return std::to_string(v); };
  std::string &body = kernel.body;
  for (unsigned step = 0; step < steps; ++step) {
    unsigned j = step * instructionK();
    std::string operandA = "%rd20";
    if (tmemA) {
      body += "add.u32 %r430, %r410, " + num(columnOfA() + step * 8 + (laneOffset << 16)) + ";\n";
      operandA = "[%r430]";
    } else {
      body += descriptor(20, tileA.stepStart(step * storedK()), tcgen05Bits(tileA));
    }
    body += descriptor(21, startB + tileB.stepStart(j), tcgen05Bits(tileB));
    body += "mov.u32 %r431, " + num(instructionDescriptor()) + ";\n";
    body += "add.u32 %r432, %r410, " + num(laneOffset << 16) + ";\n";
    body += accumulate || step ? "setp.eq.u32 %p1, 0, 0;\n" : "setp.ne.u32 %p1, 0, 0;\n";
    std::string extra, metadata;
    if (sparse) {
      body += "add.u32 %r435, %r410, " + num(columnOfMetadata(step)) + ";\n";
      metadata = "[%r435], ";
    }
    if (vectors) {
      body += "add.u32 %r433, %r410, " + num(columnOfScales(step, false)) + ";\nadd.u32 %r434, " +
              "%r410, " + num(columnOfScales(step, true)) + ";\n";
      extra = "[%r433], [%r434], ";
    }
    if (!disabled.empty()) {
      extra = "{";
      for (size_t i = 0; i < disabled.size(); ++i) {
        body += "mov.u32 %r" + num(440 + i) + ", " + num(disabled[i]) + ";\n";
        extra += (i ? ", %r" : "%r") + num(440 + i);
      }
      extra += "}, ";
    }
    body += std::string("tcgen05.mma.") + (ws ? "ws." : "") + (sparse ? "sp." : "") +
            kernel.groupName() + ".kind::" + kind + suffix + " [%r432], " + operandA + ", %rd21, " +
            metadata + "%r431, " + extra + "%p1" + (scaleD && step == 0 ? ", " + num(scaleD) : "") +
            (maskDescriptor ? ", " + num(maskDescriptor) : "") + ";\n";
  }
  return kernel;
}

inline void MmaCase::giveTmem(TensorKernel &kernel) const {
  if (accumulate || !disabled.empty())
    for (unsigned row = 0; row < m; ++row)
      for (unsigned column = 0; column < n; ++column) {
        Cell at = cellOf(row, column);
        kernel.cell(at.cta, at.lane, at.column) = encodeD(valueD(row, column));
      }
  // A row for row beside D, in every lane that has a part of the row.
  for (unsigned row = 0; row < m && tmemA; ++row)
    for (unsigned copy = 0; copy < copies(); ++copy) {
      Cell at = cellOf(row, copy * columnsOfD());
      for (unsigned j = 0; j < steps * storedK(); ++j) {
        uint32_t code = a.encode(valueA(row, j));
        if (stored(a) == 8 && a.bits == 4)
          code <<= 2; // in the middle of its byte
        size_t bit = size_t(j) * stored(a);
        kernel.cell(at.cta, at.lane, columnOfA() + unsigned(bit / 32)) |= code << bit % 32;
      }
    }
  // Scale factors: 32 rows per column, a copy in every quarter of the lanes; the columns of B that
  // a quarter computes count from its first one.
  auto code = [&](double v) {
    return ue8m0 ? uint32_t(std::ilogb(v) + 127) : encodeFloat(v, 4, 3);
  };
  for (unsigned step = 0; step < steps && vectors; ++step)
    for (unsigned cta = 0; cta < group; ++cta)
      for (unsigned quarter = 0; quarter < 4; ++quarter) {
        unsigned firstN = copies() == 2 ? quarter / 2 * columnsOfD() : 0;
        for (unsigned v = 0; v < vectors; ++v) {
          unsigned j = step * instructionK() + v * (instructionK() / vectors);
          for (unsigned row = 0; row < rowsPerCta(); ++row)
            kernel.cell(cta, quarter * 32 + row % 32, columnOfScales(step, false) + row / 32) |=
                code(scaleOf(cta * rowsPerCta() + row, j, 0)) << 8 * v;
          for (unsigned i = 0; i < columnsOfD(); ++i)
            kernel.cell(cta, quarter * 32 + i % 32, columnOfScales(step, true) + i / 32) |=
                code(scaleOf(firstN + i, j, 2)) << 8 * v;
        }
      }
}

/// As the metadata fragments of CUTLASS have it. 8-bit kinds: a row's 16 nibbles in two columns of
/// its lane. 16 and 32 bits: lane = row % 8 + 8 * (which half of K) + 16 * (row / 16), and rows 8
/// to 15 of 16 in the upper half of the word.
inline void MmaCase::giveMetadata(TensorKernel &kernel) const {
  unsigned groups = instructionK() / groupSize();
  for (unsigned step = 0; step < steps && sparse; ++step)
    for (unsigned row = 0; row < m; ++row)
      for (unsigned copy = 0; copy < copies(); ++copy) {
        Cell at = cellOf(row, copy * columnsOfD());
        for (unsigned g = 0; g < groups; ++g) {
          uint32_t bits = nibble(row, step * groups + g);
          unsigned column = columnOfMetadata(step) + selector, base = at.lane / 16 * 16;
          if (stored(a) == 8)
            kernel.cell(at.cta, at.lane, column + g / 8) |= bits << g % 8 * 4;
          else
            kernel.cell(at.cta, base + row % 8 + g / (groups / 2) * 8, column) |=
                bits << (g % (groups / 2) * 4 + row / 8 % 2 * 16);
        }
      }
}

inline std::string MmaCase::compare(const TensorKernel &kernel, const Ran &ran) const {
  if (!ran.ok())
    return name() + ": " + ran.text();
  const std::vector<double> sums = products();
  for (unsigned row = 0; row < m; ++row)
    for (unsigned column = 0; column < n; ++column) {
      Cell at = cellOf(row, column);
      bool off = !disabled.empty() && disabled[at.cta * 4 + at.lane / 32] >> at.lane % 32 & 1;
      uint32_t want = encodeD(off ? valueD(row, column)
                                  : expected(row, column, sums[size_t(row) * n + column]));
      uint32_t found = kernel.result(ran, at.cta, at.lane, at.column);
      if (want != found && !((want | found) << 1 == 0 && d != "s32"))
        return name() + ": D[" + std::to_string(row) + "][" + std::to_string(column) +
               "]: expected " + std::to_string(want) + " (" +
               std::to_string(expected(row, column)) + "), found " + std::to_string(found) + " (" +
               std::to_string(std::bit_cast<float>(found)) + ")";
    }
  return {};
}

inline std::string MmaCase::check() const {
  TensorKernel k = kernel();
  return compare(k, k.run());
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_TCGEN05MMACASE_H
