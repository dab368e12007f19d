// tcgen05.ld and st in every shape and size, cp and shift: which cell goes where. The fragments are
// those of the PTX ISA's figures, written as strides of threads and registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05MmaKernel.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

struct Fragment {
  const char *shape;
  unsigned lanes, registers, columns; // per repeat
  unsigned most;                      // repeats
};
constexpr Fragment fragments[] = {{"32x32b", 32, 1, 1, 128},
                                  {"16x64b", 16, 1, 2, 128},
                                  {"16x128b", 16, 2, 4, 64},
                                  {"16x256b", 16, 4, 8, 32},
                                  {"16x32bx2", 16, 1, 1, 128}};

struct At {
  unsigned lane, column;
};
/// The cell of register `reg` of a thread: as in the figures, without packing.
At cellOf(const Fragment &f, unsigned thread, unsigned reg, unsigned half) {
  std::string shape = f.shape;
  unsigned repeat = reg / f.registers * f.columns, part = reg % f.registers;
  if (shape == "32x32b")
    return {thread, repeat};
  if (shape == "16x64b") // T0 T2 in row 0, T4 T6 in row 1, ...; T1 T3 in row 8
    return {(thread & 1) * 8 + (thread >> 2), repeat + (thread >> 1 & 1)};
  if (shape == "16x128b") // a row for four threads; the second register eight rows down
    return {(thread >> 2) + 8 * part, repeat + (thread & 3)};
  if (shape == "16x256b") // pairs of columns, then eight rows down
    return {(thread >> 2) + 8 * (part >> 1), repeat + 2 * (thread & 3) + (part & 1)};
  return {thread & 15, repeat + (thread >= 16 ? half : 0)};
}

/// Cells that can be told apart, in 16-bit halves too.
uint32_t mark(unsigned lane, unsigned column) { return column << 23 | (lane * 512 + column); }

std::string size(const Fragment &f, unsigned repeats) {
  return std::string(f.shape) + ".x" + std::to_string(repeats);
}

unsigned columnsFor(const Fragment &f, unsigned repeats, bool pack, unsigned half) {
  unsigned needed = f.columns * repeats * (pack ? 2 : 1) + half, columns = 32;
  while (columns < needed)
    columns *= 2;
  return columns;
}

TEST(Tcgen05Data, Loads) {
  for (const Fragment &f : fragments)
    for (unsigned repeats = 1; repeats <= f.most; repeats *= 2)
      for (bool pack : {false, true})
        for (unsigned upper = 0; upper < (f.lanes == 16 ? 2u : 1u); ++upper) {
          bool halves = std::string(f.shape) == "16x32bx2";
          unsigned half = halves ? repeats * (pack ? 2 : 1) : 0, n = f.registers * repeats;
          TensorKernel k(columnsFor(f, repeats, pack, half));
          for (unsigned lane = 0; lane < 128; ++lane)
            for (unsigned c = 0; c < k.columns; ++c)
              k.cell(0, lane, c) = mark(lane, c);
          k.extraWords = n;
          k.everyone = "add.u32 %r415, %r411, " + std::to_string(upper << 20) +
                       ";\ntcgen05.ld.sync.aligned." + size(f, repeats) +
                       (pack ? ".pack::16b" : "") + ".b32 " + registerList(1, n) + ", [%r415]" +
                       (halves ? ", " + std::to_string(half) : "") +
                       ";\ntcgen05.wait::ld.sync.aligned;\n";
          for (unsigned i = 0; i < n; ++i)
            k.everyone += "st.global.b32 [%rd46+" + std::to_string(4 * i) + "], %r" +
                          std::to_string(i + 1) + ";\n";
          Ran ran = k.run();
          ASSERT_TRUE(ran.ok()) << size(f, repeats) << ran.text();
          for (unsigned thread = 0; thread < 128; ++thread)
            for (unsigned reg = 0; reg < n; ++reg) {
              At at = cellOf(f, thread % 32, reg, 0);
              unsigned lane = thread / 32 * 32 + upper * 16 + at.lane;
              unsigned offset = halves && thread % 32 >= 16 ? half : 0;
              uint32_t want = mark(lane, at.column + offset);
              if (pack)
                want = (mark(lane, 2 * at.column + offset) & 0xffff) |
                       mark(lane, 2 * at.column + 1 + offset) << 16;
              ASSERT_EQ(k.extra(ran, thread, reg), want)
                  << size(f, repeats) << " pack " << pack << " thread " << thread << " register "
                  << reg;
            }
        }
}

TEST(Tcgen05Data, Stores) {
  for (const Fragment &f : fragments)
    for (unsigned repeats = 1; repeats <= f.most; repeats *= 2)
      for (bool pack : {false, true}) {
        bool halves = std::string(f.shape) == "16x32bx2";
        unsigned half = halves ? repeats * (pack ? 2 : 1) : 0, n = f.registers * repeats;
        TensorKernel k(columnsFor(f, repeats, pack, half));
        for (unsigned i = 0; i < n; ++i)
          k.everyone += "mad.lo.u32 %r" + std::to_string(i + 1) + ", %r0, 0x10003, " +
                        std::to_string(i * 0x20005) + ";\n";
        k.everyone += "tcgen05.st.sync.aligned." + size(f, repeats) + (pack ? ".unpack::16b" : "") +
                      ".b32 [%r411]" + (halves ? ", " + std::to_string(half) : "") + ", " +
                      registerList(1, n) + ";\ntcgen05.wait::st.sync.aligned;\n";
        Ran ran = k.run();
        ASSERT_TRUE(ran.ok()) << size(f, repeats) << ran.text();
        for (unsigned thread = 0; thread < 128; ++thread)
          for (unsigned reg = 0; reg < n; ++reg) {
            At at = cellOf(f, thread % 32, reg, 0);
            unsigned lane = thread / 32 * 32 + at.lane;
            unsigned offset = halves && thread % 32 >= 16 ? half : 0;
            uint32_t value = thread * 0x10003 + reg * 0x20005;
            if (!pack) {
              ASSERT_EQ(k.result(ran, 0, lane, at.column + offset), value) << size(f, repeats);
              continue;
            }
            ASSERT_EQ(k.result(ran, 0, lane, 2 * at.column + offset) & 0xffff, value & 0xffff);
            ASSERT_EQ(k.result(ran, 0, lane, 2 * at.column + 1 + offset) & 0xffff, value >> 16);
          }
      }
}

struct CopyCase {
  const char *shape;
  unsigned rows, bytes;
};

/// Lanes a row goes to (PTX ISA, tcgen05.cp and its multicast modifiers).
std::vector<unsigned> lanesOf(const std::string &shape, unsigned row) {
  if (shape == "4x256b")
    return {row * 32};
  if (shape == "64x128b.warpx2::02_13")
    return {row, row + 64};
  if (shape == "64x128b.warpx2::01_23")
    return {row / 32 * 64 + row % 32, row / 32 * 64 + row % 32 + 32};
  if (shape == "32x128b.warpx4")
    return {row, row + 32, row + 64, row + 96};
  return {row};
}

TEST(Tcgen05Data, Copies) {
  for (const CopyCase &c :
       {CopyCase{"128x256b", 128, 32}, CopyCase{"4x256b", 4, 32}, CopyCase{"128x128b", 128, 16},
        CopyCase{"64x128b.warpx2::02_13", 64, 16}, CopyCase{"64x128b.warpx2::01_23", 64, 16},
        CopyCase{"32x128b.warpx4", 32, 16}})
    for (unsigned elementBits : {8u, 6u, 4u})
      for (unsigned group : {1u, 2u}) {
        TensorKernel k(32, group, 4096);
        // Rows of 16-byte chunks in core matrices: 8 rows, then the next chunk, then 8 rows more.
        TileLayout tile;
        tile.swizzle = 0;
        tile.rows = std::max(8u, c.rows);
        tile.k = c.bytes;
        tile.bits = 8;
        auto element = [&](unsigned cta, unsigned row, unsigned j) {
          return (cta * 7 + row * 5 + j * 3 + row / 16) & ((1u << elementBits) - 1);
        };
        for (unsigned cta = 0; cta < group; ++cta)
          for (unsigned row = 0; row < c.rows; ++row)
            for (unsigned j = 0; j < c.bytes; ++j)
              for (unsigned bit = 0; bit < elementBits; ++bit) {
                unsigned at = j % 16 * elementBits + bit;
                uint8_t &byte = k.shared[cta][tile.at(row, j / 16 * 16) + at / 8];
                byte = uint8_t(byte | (element(cta, row, j) >> bit & 1) << at % 8);
              }
        k.body = descriptor(20, 0, tcgen05Bits(tile)) + "tcgen05.cp." + k.groupName() + "." +
                 c.shape +
                 (elementBits == 6   ? ".b8x16.b6x16_p32"
                  : elementBits == 4 ? ".b8x16.b4x16_p64"
                                     : "") +
                 " [%r410], %rd20;\n";
        Ran ran = k.run();
        ASSERT_TRUE(ran.ok()) << c.shape << ran.text();
        for (unsigned cta = 0; cta < group; ++cta)
          for (unsigned row = 0; row < c.rows; ++row)
            for (unsigned j = 0; j < c.bytes; ++j)
              for (unsigned lane : lanesOf(c.shape, row)) {
                uint32_t want = element(cta, row, j);
                if (elementBits == 4)
                  want <<= 2; // e2m1 lies in the middle of its byte
                ASSERT_EQ(k.result(ran, cta, lane, j / 4) >> j % 4 * 8 & 0xff, want)
                    << c.shape << " row " << row << " byte " << j << " lane " << lane;
              }
      }
}

TEST(Tcgen05Data, Shift) {
  for (unsigned variant = 0; variant < 4; ++variant) { // ptxas takes .down in two places
    unsigned group = variant % 2 + 1;
    TensorKernel k(32, group);
    for (unsigned cta = 0; cta < group; ++cta)
      for (unsigned lane = 0; lane < 128; ++lane)
        for (unsigned c = 0; c < 32; ++c)
          k.cell(cta, lane, c) = cta * 1000000 + mark(lane, c);
    k.body = "add.u32 %r415, %r410, 0x200008;\ntcgen05.shift." +
             (variant < 2 ? k.groupName() + ".down" : "down." + k.groupName()) + " [%r415];\n";
    Ran ran = k.run();
    ASSERT_TRUE(ran.ok()) << ran.text();
    for (unsigned cta = 0; cta < group; ++cta)
      for (unsigned lane = 0; lane < 128; ++lane)
        for (unsigned c = 0; c < 32; ++c) {
          bool moved = lane >= 32 && lane < 63 && c >= 8 && c < 16;
          ASSERT_EQ(k.result(ran, cta, lane, c), cta * 1000000 + mark(moved ? lane + 1 : lane, c))
              << lane << " " << c;
        }
  }
}

} // namespace
