// How an MmaCase becomes a kernel, its memory before, and the comparison behind it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_TCGEN05MMAKERNEL_H
#define TS_UNITTESTS_EMULATOR_TCGEN05MMAKERNEL_H

#include "Tcgen05MmaCase.h"

namespace ts::emu::test {

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

#endif // TS_UNITTESTS_EMULATOR_TCGEN05MMAKERNEL_H
