// ldmatrix, stmatrix, movmatrix: where every element goes, and what the checker sees of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

#include <functional>

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

// 32 rows of 16 bytes, 48 bytes apart, every byte different enough to tell where it is from.
constexpr unsigned pitch = 48;
uint8_t element(unsigned row, unsigned byte) { return uint8_t(row * 7 + byte * 16 + (row >> 2)); }

std::string fill() { // lane i fills row i
  return ".shared .align 16 .b8 sv[1600];\nmul.wide.u32 %rd5, %r0, 16;\nadd.u64 %rd5, %rd5, %rd1;\n"
         "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd5];\nmov.u32 %r5, sv;\n"
         "mad.lo.u32 %r6, %r0, " +
         std::to_string(pitch) +
         ", %r5;\nst.shared.v4.u32 [%r6], {%r1,%r2,%r3,%r4};\n"
         "bar.sync 0;\n";
}

std::vector<uint8_t> rows() {
  std::vector<uint8_t> bytes;
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned byte = 0; byte < 16; ++byte)
      bytes.push_back(element(row, byte));
  return bytes;
}

std::string list(unsigned first, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? ", %r" : "%r") + std::to_string(first + i);
  return text + "}";
}

/// expected(lane, register, byte of the register)
void expectFragments(const std::string &opcode, unsigned registers,
                     const std::function<uint8_t(unsigned, unsigned, unsigned)> &expected,
                     bool generic = false) {
  test::Run run;
  run.body = fill();
  if (generic)
    run.body += "mul.wide.u32 %rd7, %r6, 1;\ncvta.shared.u64 %rd7, %rd7;\n";
  run.body += opcode + " " + list(20, registers) + (generic ? ", [%rd7];\n" : ", [%r6];\n") +
              "mul.wide.u32 %rd6, %r0, " + std::to_string(4 * registers) +
              ";\nadd.u64 %rd6, %rd6, %rd0;\n";
  for (unsigned r = 0; r < registers; ++r)
    run.body +=
        "st.global.b32 [%rd6+" + std::to_string(4 * r) + "], %r" + std::to_string(20 + r) + ";\n";
  run.input = rows();
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << opcode << ran.text();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < registers; ++r)
      for (unsigned b = 0; b < 4; ++b)
        ASSERT_EQ(ran.output[(lane * registers + r) * 4 + b], expected(lane, r, b))
            << opcode << " lane " << lane << " register " << r << " byte " << b;
}
} // namespace

TEST(LdMatrix, Elements16Bits) {
  for (unsigned n : {1u, 2u, 4u})
    for (const char *space : {".shared", ".shared::cta", ""}) {
      std::string x = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(n), s = space;
      // Thread t holds elements 2 (t % 4) and the next of row t / 4.
      expectFragments(
          x + s + ".b16", n,
          [](unsigned lane, unsigned r, unsigned b) {
            return element(8 * r + lane / 4, lane % 4 * 4 + b);
          },
          s.empty());
      // Transposed: row and column change places.
      expectFragments(
          x + ".trans" + s + ".b16", n,
          [](unsigned lane, unsigned r, unsigned b) {
            return element(8 * r + lane % 4 * 2 + b / 2, lane / 4 * 2 + b % 2);
          },
          s.empty());
    }
}

TEST(LdMatrix, Elements8BitsTransposed) {
  for (unsigned n : {1u, 2u})
    for (const std::string space : {".shared", ".shared::cta", ""})
      expectFragments(
          "ldmatrix.sync.aligned.m16n16.x" + std::to_string(n) + ".trans" + space + ".b8", 2 * n,
          [](unsigned lane, unsigned r, unsigned b) {
            // Row lane / 4 (+ 8 in the second register) of the transposed matrix.
            return element(r / 2 * 16 + lane % 4 * 4 + b, lane / 4 + r % 2 * 8);
          },
          space.empty());
}

TEST(LdMatrix, Elements6And4BitsAreSpread) {
  auto small = [](unsigned bits, unsigned row, unsigned i) {
    unsigned value = 0;
    for (unsigned b = 0; b < bits; ++b) {
      unsigned bit = i * bits + b;
      value |= unsigned(element(row, bit / 8) >> bit % 8 & 1) << b;
    }
    return uint8_t(value);
  };
  for (auto [format, bits] : {std::pair{".b8x16.b6x16_p32", 6u}, {".b8x16.b4x16_p64", 4u}})
    for (const std::string space : {".shared", ".shared::cta", ""}) {
      for (unsigned n : {1u, 2u, 4u})
        expectFragments(
            "ldmatrix.sync.aligned.m8n16.x" + std::to_string(n) + space + format, n,
            [&, bits = bits](unsigned lane, unsigned r, unsigned b) {
              return small(bits, r * 8 + lane / 4, lane % 4 * 4 + b);
            },
            space.empty());
      for (unsigned n : {1u, 2u})
        expectFragments(
            "ldmatrix.sync.aligned.m16n16.x" + std::to_string(n) + ".trans" + space + format, 2 * n,
            [&, bits = bits](unsigned lane, unsigned r, unsigned b) {
              return small(bits, r / 2 * 16 + lane % 4 * 4 + b, lane / 4 + r % 2 * 8);
            },
            space.empty());
    }
}

namespace {
/// Stores fragments whose byte b of register r in a lane is `value`, and compares rows.
void expectStored(const std::string &opcode, unsigned n, bool generic,
                  const std::function<uint8_t(unsigned row, unsigned byte)> &expected) {
  test::Run run;
  run.body = ".shared .align 16 .b8 sv[1600];\nmov.u32 %r5, sv;\nmad.lo.u32 %r6, %r0, 48, %r5;\n"
             "mul.wide.u32 %rd7, %r6, 1;\ncvta.shared.u64 %rd7, %rd7;\n"
             "mul.wide.u32 %rd5, %r0, 16;\nadd.u64 %rd6, %rd5, %rd0;\nadd.u64 %rd5, %rd5, %rd1;\n"
             "ld.global.v4.u32 {%r20,%r21,%r22,%r23}, [%rd5];\n" +
             opcode + (generic ? " [%rd7], " : " [%r6], ") + list(20, n) +
             ";\nsetp.lt.u32 %p1, %r0, " + std::to_string(8 * n) +
             ";\n@%p1 ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%r6];\n"
             "@%p1 st.global.v4.u32 [%rd6], {%r1,%r2,%r3,%r4};\n";
  run.input = rows(); // lane l, register r, byte b: element(l, 4 r + b)
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << opcode << ran.text();
  for (unsigned row = 0; row < 8 * n; ++row)
    for (unsigned byte = 0; byte < 16; ++byte)
      ASSERT_EQ(ran.output[row * 16 + byte], expected(row, byte)) << opcode << row << "," << byte;
}
} // namespace

TEST(LdMatrix, Store) {
  for (unsigned n : {1u, 2u, 4u})
    for (const char *space : {".shared", ".shared::cta", ""}) {
      std::string x = "stmatrix.sync.aligned.m8n8.x" + std::to_string(n), s = space;
      bool generic = s.empty();
      expectStored(x + s + ".b16", n, generic, [](unsigned row, unsigned byte) {
        return element(row % 8 * 4 + byte / 4, row / 8 * 4 + byte % 4);
      });
      expectStored(x + ".trans" + s + ".b16", n, generic, [](unsigned row, unsigned byte) {
        // Element (row, c) of memory is element (c, row) of the fragments.
        unsigned c = byte / 2, r = row % 8;
        return element(c * 4 + r / 2, row / 8 * 4 + r % 2 * 2 + byte % 2);
      });
      // 16 x 8 bytes as an mma accumulator has them, written column by column.
      expectStored("stmatrix.sync.aligned.m16n8.x" + std::to_string(n) + ".trans" + s + ".b8", n,
                   generic, [](unsigned row, unsigned byte) {
                     unsigned column = row % 8;
                     unsigned lane = byte % 8 * 4 + column / 2;
                     return element(lane, row / 8 * 4 + column % 2 + byte / 8 * 2);
                   });
    }
}

TEST(LdMatrix, MoveMatrixTransposes) {
  test::Run run;
  run.body = "mul.wide.u32 %rd5, %r0, 4;\nadd.u64 %rd6, %rd5, %rd0;\nadd.u64 %rd5, %rd5, %rd1;\n"
             "ld.global.b32 %r1, [%rd5];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;\n"
             "st.global.b32 [%rd6], %r1;\n";
  std::vector<uint16_t> matrix(64);
  for (unsigned i = 0; i < 64; ++i)
    matrix[i] = uint16_t(i * 997 + 3);
  run.input = bytesOf(matrix);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ(ran.at<uint16_t>(row * 8 + column), matrix[column * 8 + row]);
}

TEST(LdMatrix, TheCheckerSeesIt) {
  auto run = [](const std::string &between) {
    test::Run two;
    two.body = ".shared .align 16 .b8 sv[512];\nmov.u32 %r5, sv;\nand.b32 %r6, %r0, 31;\n"
               "mad.lo.u32 %r6, %r6, 16, %r5;\nsetp.lt.u32 %p1, %r0, 32;\n"
               "@%p1 st.shared.v4.u32 [%r6], {1, 2, 3, 4};\n" +
               between +
               "@!%p1 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r6];\n";
    two.options.block = {64, 1, 1};
    return runPtx(two);
  };
  EXPECT_TRUE(run("").faults(FaultKind::Race));
  EXPECT_TRUE(run("bar.sync 0;\n").ok()) << run("bar.sync 0;\n").text();
  EXPECT_TRUE(runPtx(".shared .align 16 .b8 sv[512];\nmov.u32 %r5, sv;\n"
                     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r5];\n"
                     "st.global.u32 [%rd0], %r1;\n")
                  .faults(FaultKind::Uninitialised));
  EXPECT_TRUE(runPtx(".shared .align 16 .b8 sv[512];\nmov.u32 %r5, sv;\nmov.b32 %r1, 0;\n"
                     "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5+8], {%r1};\n")
                  .faults(FaultKind::Alignment));
}

TEST(LdMatrix, RefusedForms) {
  for (const char *body : {"ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r1}, [%r2];",
                           "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r1,%r2}, [%r2];",
                           "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r1,%r2}, [%r2];",
                           "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r2];",
                           "ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r1}, [%r2];",
                           "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r2], {%r1};"})
    EXPECT_TRUE(runPtx(std::string(body)).faults(FaultKind::Unsupported)) << body;
}
