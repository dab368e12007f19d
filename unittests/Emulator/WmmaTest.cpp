// wmma: matrices loaded, multiplied and stored, against a product computed here. The layout of the
// fragments is open, so only whole round trips are looked at. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "RunPtx.h"

#include <bit>
#include <random>

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

uint64_t encode(const std::string &type, int value) {
  if (type == "f64")
    return std::bit_cast<uint64_t>(double(value));
  if (type == "f32" || type == "tf32")
    return std::bit_cast<uint32_t>(float(value));
  if (type == "bf16")
    return std::bit_cast<uint32_t>(float(value)) >> 16;
  if (type == "f16")
    return std::bit_cast<uint16_t>(_Float16(float(value)));
  return uint64_t(int64_t(value));
}
unsigned bitsOf(const std::string &type) {
  return type == "f64"                                      ? 64
         : type == "f32" || type == "tf32" || type == "s32" ? 32
         : type == "f16" || type == "bf16"                  ? 16
         : type == "b1"                                     ? 1
         : type == "s4" || type == "u4"                     ? 4
                                                            : 8;
}
std::string list(const std::string &reg, unsigned first, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? ", " : "") + reg + std::to_string(first + i);
  return text + "}";
}

struct Matrix {
  unsigned rows, columns;
  bool columnMajor;
  std::string type;
  std::vector<int> values;
  unsigned pad = 32; // elements between lines
  unsigned leading() const { return (columnMajor ? rows : columns) + pad; }
  int &at(unsigned row, unsigned column) { return values[row * columns + column]; }
  void put(std::vector<uint8_t> &memory, size_t offset) {
    unsigned bits = bitsOf(type);
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < columns; ++c) {
        size_t bit =
            offset * 8 + size_t(columnMajor ? c * leading() + r : r * leading() + c) * bits;
        uint64_t value = encode(type, at(r, c));
        if (bits >= 8)
          memcpy(memory.data() + bit / 8, &value, bits / 8);
        else
          memory[bit / 8] |= uint8_t((value & ((1u << bits) - 1)) << bit % 8);
      }
  }
};

constexpr unsigned area = 6144; // of a matrix in memory

/// Copies `bytes` between global (%rd) and shared memory by all lanes.
std::string copy(bool toShared, const std::string &global, unsigned shared, unsigned bytes) {
  std::string name = toShared ? "IN" : "OUT", values = "{%r70, %r71, %r72, %r73}";
  std::string ld =
      toShared ? "ld.global.v4.u32 " + values + ", [%rd11];\nst.shared.v4.u32 [%r61], " + values
               : "ld.shared.v4.u32 " + values + ", [%r61];\nst.global.v4.u32 [%rd11], " + values;
  return "mad.lo.u32 %r61, %r0, 16, " + std::to_string(shared) +
         ";\nadd.u32 %r61, %r61, %r60;\nmul.wide.u32 %rd10, %r0, 16;\nadd.u64 %rd11, %rd10, " +
         global + ";\nmov.u32 %r62, 0;\n" + name + ":\n" + ld +
         ";\nadd.u32 %r61, %r61, 512;\nadd.u64 %rd11, %rd11, 512;\nadd.u32 %r62, %r62, 1;\n"
         "setp.lt.u32 %p1, %r62, " +
         std::to_string(bytes / 512) + ";\n@%p1 bra " + name + ";\n";
}

struct Types {
  std::string d, a, b, c;
};

void check(unsigned m, unsigned n, unsigned k, const Types &t, bool columnA, bool columnB,
           bool columnC, const std::string &space, const std::string &bitOperation = "",
           bool saturate = false) {
  std::mt19937 random(m * 131 + n * 17 + k);
  auto make = [&](unsigned rows, unsigned columns, bool columnMajor, const std::string &type) {
    Matrix matrix{rows, columns, columnMajor, type, std::vector<int>(rows * columns)};
    for (int &v : matrix.values)
      v = type == "b1" ? int(random() % 2) : int(random() % 8) - (type[0] == 'u' ? 0 : 4);
    return matrix;
  };
  Matrix a = make(m, k, columnA, t.a), b = make(k, n, columnB, t.b), c = make(m, n, columnC, t.c);
  std::vector<uint8_t> input(4 * area);
  a.put(input, 0);
  b.put(input, area);
  c.put(input, 2 * area);
  auto registers = [](const Matrix &x, bool operand) {
    return operand && x.type == "f16"
               ? 8
               : std::max(1u, x.rows * x.columns * std::min(bitsOf(x.type), 32u) / 1024);
  };
  auto reg = [](const std::string &type) {
    return std::string(type == "f64" ? "%fd" : type == "f32" ? "%f" : "%r");
  };
  Matrix d = c;
  d.type = t.d;
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j)
      for (unsigned kk = 0; kk < k; ++kk) {
        int p = a.at(i, kk), q = b.at(kk, j);
        d.at(i, j) += bitOperation == "xor" ? p ^ q : bitOperation == "and" ? p & q : p * q;
      }
  std::string shape = "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  auto layout = [](bool column) { return std::string(column ? "col" : "row"); };
  test::Run run;
  run.input = input;
  run.outputBytes = area;
  bool shared = space == ".shared";
  std::string from = shared ? "[%r60+" : "[%rd1+";
  auto load = [&](const char *which, const Matrix &x, unsigned first, unsigned offset,
                  bool operand) {
    return "wmma.load." + std::string(which) + ".sync.aligned." + layout(x.columnMajor) + "." +
           shape + space + "." + x.type + " " + list(reg(x.type), first, registers(x, operand)) +
           ", " + from + std::to_string(offset) + "], " + std::to_string(x.leading()) + ";\n";
  };
  if (shared)
    run.body = ".shared .align 32 .b8 sv[24576];\nmov.u32 %r60, sv;\n" +
               copy(true, "%rd1", 0, 4 * area) + "bar.warp.sync -1;\n";
  run.body +=
      load("a", a, 10, 0, true) + load("b", b, 20, area, true) + load("c", c, 30, 2 * area, false);
  std::string types = t.a == "f16" ? t.d + "." + t.c : t.d + "." + t.a + "." + t.b + "." + t.c;
  if (saturate)
    types += ".satfinite";
  run.body += "wmma.mma." + (bitOperation.empty() ? "" : bitOperation + ".popc.") +
              "sync.aligned." + layout(columnA) + "." + layout(columnB) + "." + shape + "." +
              types + " " + list(reg(t.d), t.d == "f64" ? 28 : 40, registers(d, false)) + ", " +
              list(reg(t.a), 10, registers(a, true)) + ", " +
              list(reg(t.b), 20, registers(b, true)) + ", " +
              list(reg(t.c), 30, registers(c, false)) + ";\nwmma.store.d.sync.aligned." +
              layout(columnC) + "." + shape + space + "." + t.d +
              (shared ? " [%r60+18432], " : " [%rd0], ") +
              list(reg(t.d), t.d == "f64" ? 28 : 40, registers(d, false)) + ", " +
              std::to_string(d.leading()) + ";\n";
  if (shared)
    run.body += "bar.warp.sync -1;\n" + copy(false, "%rd0", 3 * area, area);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << run.body << ran.text();
  std::vector<uint8_t> expected(run.outputBytes);
  d.put(expected, 0);
  EXPECT_EQ(ran.output == expected, true) << run.body;
}
} // namespace

TEST(Wmma, Products) {
  for (const std::string space : {".global", "", ".shared"})
    for (bool columnA : {false, true})
      for (bool columnB : {false, true})
        for (bool columnC : {false, true}) {
          for (auto [m, n] : {std::pair{16u, 16u}, {8u, 32u}, {32u, 8u}}) {
            for (const char *d : {"f16", "f32"})
              for (const char *c : {"f16", "f32"})
                check(m, n, 16, {d, "f16", "f16", c}, columnA, columnB, columnC, space);
            check(m, n, 16, {"f32", "bf16", "bf16", "f32"}, columnA, columnB, columnC, space);
            for (const char *type : {"s8", "u8"})
              for (bool saturate : {false, true})
                check(m, n, 16, {"s32", type, type, "s32"}, columnA, columnB, columnC, space, "",
                      saturate);
          }
          check(16, 16, 8, {"f32", "tf32", "tf32", "f32"}, columnA, columnB, columnC, space);
          check(8, 8, 4, {"f64", "f64", "f64", "f64"}, columnA, columnB, columnC, space);
          if (columnA || !columnB)
            continue;
          for (const char *type : {"s4", "u4"})
            for (bool saturate : {false, true})
              check(8, 8, 32, {"s32", type, type, "s32"}, false, true, columnC, space, "",
                    saturate);
          for (const char *operation : {"xor", "and"})
            check(8, 8, 128, {"s32", "b1", "b1", "s32"}, false, true, columnC, space, operation);
        }
}

TEST(Wmma, SharedMemoryAndFaults) {
  Ran ran =
      runPtx(".shared .align 32 .b8 sv[1024];\nmov.u32 %r5, sv;\n"
             "mul.wide.u32 %rd2, %r0, 1;\nmad.lo.u32 %r6, %r0, 32, %r5;\n"
             "st.shared.v4.u32 [%r6], {0, 0, 0, 0};\nst.shared.v4.u32 [%r6+16], {0, 0, 0, 0};\n"
             "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 "
             "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%r5];\nadd.f32 %f1, %f1, 0f3F800000;\n"
             "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%r5], "
             "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};\n");
  EXPECT_TRUE(ran.ok()) << ran.text();
  test::Run few;
  few.body = "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd0], "
             "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};\n";
  few.options.block = {16, 1, 1};
  EXPECT_TRUE(runPtx(few).faults(FaultKind::Divergence));
  for (const char *body :
       {"wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd0];",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1,%r2,%r3,%r4}, [%rd0];",
        "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd0];",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.bf16.f32 "
        "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, "
        "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};"}) {
    Ran refused = runPtx(std::string(body));
    EXPECT_TRUE(refused.faults(FaultKind::Unsupported)) << body << refused.text();
  }
}
