// mma.sync: every shape and type against a product computed here, with the fragment layouts written
// down as the PTX ISA states them. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

#include <bit>
#include <cmath>
#include <random>

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

/// A small integer in a format; values are such that every format holds them.
uint64_t encode(const std::string &type, int value) {
  float f = float(value);
  if (type == "f64")
    return std::bit_cast<uint64_t>(double(value));
  if (type == "f32" || type == "tf32")
    return std::bit_cast<uint32_t>(f);
  if (type == "bf16")
    return std::bit_cast<uint32_t>(f) >> 16;
  // Sign, exponent and mantissa of the f32, moved to the narrower format.
  auto narrow = [&](int exponentBits, int mantissaBits) -> uint64_t {
    if (value == 0)
      return 0;
    uint32_t bits = std::bit_cast<uint32_t>(f);
    uint32_t exponent = (bits >> 23 & 0xff) - 127 + ((1u << (exponentBits - 1)) - 1);
    uint32_t mantissa = (bits & 0x7fffff) >> (23 - mantissaBits);
    return uint64_t(bits >> 31) << (exponentBits + mantissaBits) | exponent << mantissaBits |
           mantissa;
  };
  if (type == "f16")
    return narrow(5, 10);
  if (type == "e4m3")
    return narrow(4, 3);
  if (type == "e5m2")
    return narrow(5, 2);
  return uint64_t(int64_t(value)); // integers; masked when packed
}

unsigned bitsOf(const std::string &type) {
  if (type == "f64")
    return 64;
  if (type == "f32" || type == "tf32" || type == "s32")
    return 32;
  if (type == "f16" || type == "bf16")
    return 16;
  return type == "b1" ? 1 : type == "s4" || type == "u4" ? 4 : 8;
}

struct Place {
  unsigned row, column;
};
using Layout = std::function<Place(unsigned lane, unsigned i)>;
/// Element i of a lane's fragment, in the words of the PTX ISA.
struct Layouts {
  unsigned countA, countB, countC;
  Layout a, b, c;
};

Layouts layoutsFor(unsigned m, unsigned k, unsigned bits) {
  // 32-bit registers hold `e` elements; f64 has one per register.
  unsigned e = bits == 64 ? 1 : 32 / bits;
  Layouts l;
  l.countA = m * k / 32;
  l.countB = 8 * k / 32;
  l.countC = m * 8 / 32;
  bool tall = m == 16;
  l.a = [=](unsigned lane, unsigned i) -> Place {
    unsigned groupID = lane >> 2, threadID = lane % 4;
    if (!tall) // m8n8k*: row = groupID, col = threadID * e + i
      return {groupID, threadID * e + i};
    // Pairs of registers: the first of each pair is in the upper rows; from the third register on
    // the columns of the second half.
    bool upper = i % (2 * e) < e;
    return {upper ? groupID : groupID + 8,
            threadID * e + i % e + (i < 2 * e ? 0 : i / (2 * e) * 4 * e)};
  };
  l.b = [=](unsigned lane, unsigned i) -> Place {
    return {lane % 4 * e + i % e + i / e * 4 * e, lane >> 2};
  };
  l.c = [=](unsigned lane, unsigned i) -> Place {
    return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
  };
  return l;
}

/// Layouts of m8n8k4 with f16 operands, in the product of the lane's pair of quads.
Layouts quadLayouts(bool columnA, bool columnB, bool floatC) {
  Layouts l{4, 4, 8, {}, {}, {}};
  l.a = [=](unsigned lane, unsigned i) -> Place {
    unsigned high = lane < 16 ? 0 : 4;
    return columnA ? Place{i % 4 + high, lane % 4} : Place{lane % 4 + high, i};
  };
  l.b = [=](unsigned lane, unsigned i) -> Place {
    unsigned high = lane < 16 ? 0 : 4;
    return columnB ? Place{i, lane % 4 + high} : Place{lane % 4, i + high};
  };
  l.c = [=](unsigned lane, unsigned i) -> Place {
    unsigned high = lane < 16 ? 0 : 4;
    if (!floatC)
      return {lane % 4 + high, i};
    return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
  };
  return l;
}

struct Product {
  unsigned m, k;
  std::vector<int> a, b, c, d;
};

enum class Multiply { Sum, Xor, And };

Product randomProduct(unsigned m, unsigned k, const std::string &typeA, const std::string &typeB,
                      uint32_t seed, Multiply how) {
  std::mt19937 random(seed);
  Product p{m, k, {}, {}, {}, {}};
  auto fill = [&](std::vector<int> &v, size_t n, const std::string &type) {
    bool bit = type == "b1", isUnsigned = type[0] == 'u';
    for (size_t i = 0; i < n; ++i)
      v.push_back(bit ? int(random() % 2) : int(random() % 8) - (isUnsigned ? 0 : 4));
  };
  fill(p.a, m * k, typeA);
  fill(p.b, k * 8, typeB);
  fill(p.c, m * 8, "s8");
  p.d = p.c;
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < 8; ++j)
      for (unsigned kk = 0; kk < k; ++kk) {
        int x = p.a[i * k + kk], y = p.b[kk * 8 + j];
        p.d[i * 8 + j] += how == Multiply::Sum ? x * y : how == Multiply::Xor ? x ^ y : x & y;
      }
  return p;
}

/// Packs `count` elements of `bits` into registers and appends their bytes.
void pack(std::vector<uint8_t> &out, const std::vector<uint64_t> &elements, unsigned bits) {
  unsigned reg = bits == 64 ? 64 : 32;
  for (size_t i = 0; i < elements.size();) {
    uint64_t word = 0;
    for (unsigned at = 0; at < reg; at += bits, ++i)
      word |= (bits == 64 ? elements[i] : elements[i] & ((uint64_t(1) << bits) - 1)) << at;
    const auto *bytes = reinterpret_cast<const uint8_t *>(&word);
    out.insert(out.end(), bytes, bytes + reg / 8);
  }
}

std::string list(const std::string &reg, unsigned first, unsigned n) {
  std::string text = "{";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? "," : "") + reg + std::to_string(first + i);
  return text + "}";
}

struct Types {
  std::string d, a, b, c;
};

/// Runs the instruction on fragments of `products` (one, or four for the quads) and compares D.
void check(const std::string &opcode, const Types &types, const Layouts &l, const Layouts &lD,
           const std::vector<Product> &products) {
  unsigned bitsA = bitsOf(types.a), bitsC = bitsOf(types.c), bitsD = bitsOf(types.d);
  auto productOf = [&](unsigned lane) -> const Product & {
    return products[products.size() == 1 ? 0 : lane % 16 / 4];
  };
  std::vector<uint8_t> input;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Product &p = productOf(lane);
    std::vector<uint64_t> a, b, c;
    for (unsigned i = 0; i < l.countA; ++i)
      a.push_back(encode(types.a, p.a[l.a(lane, i).row * p.k + l.a(lane, i).column]));
    for (unsigned i = 0; i < l.countB; ++i)
      b.push_back(encode(types.b, p.b[l.b(lane, i).row * 8 + l.b(lane, i).column]));
    for (unsigned i = 0; i < l.countC; ++i)
      c.push_back(encode(types.c, p.c[l.c(lane, i).row * 8 + l.c(lane, i).column]));
    pack(input, a, bitsA);
    pack(input, b, bitsA);
    pack(input, c, bitsC);
  }
  auto registers = [](unsigned count, unsigned bits) {
    return bits == 64 ? count : count * bits / 32;
  };
  unsigned nA = registers(l.countA, bitsA), nB = registers(l.countB, bitsA);
  unsigned nC = registers(l.countC, bitsC), nD = registers(lD.countC, bitsD);
  bool wide = types.a == "f64";
  unsigned bytes = wide ? 8 : 4;
  std::string rAB = wide ? "%fd" : "%r", rC = wide ? "%fd" : types.c == "f32" ? "%f" : "%r";
  std::string rD = wide ? "%fd" : types.d == "f32" ? "%f" : "%r";
  std::string body = "mul.wide.u32 %rd2, %r0, " + std::to_string((nA + nB + nC) * bytes) +
                     ";\nadd.u64 %rd2, %rd2, %rd1;\nmul.wide.u32 %rd3, %r0, " +
                     std::to_string(nD * bytes) + ";\nadd.u64 %rd3, %rd3, %rd0;\n";
  auto type = [&](const std::string &reg) {
    return reg == "%fd" ? ".f64 " : reg == "%f" ? ".f32 " : ".b32 ";
  };
  unsigned at = 0;
  auto loadAll = [&](const std::string &reg, unsigned first, unsigned n) {
    for (unsigned i = 0; i < n; ++i, at += bytes)
      body += "ld.global" + std::string(type(reg)) + reg + std::to_string(first + i) + ", [%rd2+" +
              std::to_string(at) + "];\n";
  };
  loadAll(rAB, 10, nA);
  loadAll(rAB, 20, nB);
  loadAll(rC, 24, nC);
  unsigned firstD = wide ? 24 : 40; // f64: D over C
  body += opcode + " " + list(rD, firstD, nD) + ", " + list(rAB, 10, nA) + ", " +
          list(rAB, 20, nB) + ", " + list(rC, 24, nC) + ";\n";
  for (unsigned i = 0; i < nD; ++i)
    body += "st.global" + std::string(type(rD)) + "[%rd3+" + std::to_string(i * bytes) + "], " +
            rD + std::to_string(firstD + i) + ";\n";
  test::Run run;
  run.body = body;
  run.input = input;
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << opcode << "\n" << ran.text();
  std::vector<uint8_t> expected;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Product &p = productOf(lane);
    std::vector<uint64_t> d;
    for (unsigned i = 0; i < lD.countC; ++i)
      d.push_back(encode(types.d, p.d[lD.c(lane, i).row * 8 + lD.c(lane, i).column]));
    pack(expected, d, bitsD);
  }
  if (wide) { // as numbers: a sum that cancels is -0 in .rm
    for (size_t i = 0; i < expected.size() / 8; ++i) {
      double value;
      memcpy(&value, expected.data() + 8 * i, 8);
      EXPECT_EQ(ran.at<double>(i), value) << opcode;
    }
    return;
  }
  EXPECT_EQ(memcmp(ran.output.data(), expected.data(), expected.size()), 0) << opcode;
}

void checkShape(unsigned m, unsigned k, const Types &t, const std::string &before = "",
                const std::string &after = "", Multiply how = Multiply::Sum) {
  std::string opcode = "mma.sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) +
                       ".row.col." + before + t.d + "." + t.a + "." + t.b + "." + t.c + after;
  Layouts l = layoutsFor(m, k, bitsOf(t.a));
  for (uint32_t seed = 0; seed < 3; ++seed)
    check(opcode, t, l, l, {randomProduct(m, k, t.a, t.b, seed, how)});
}
} // namespace

TEST(Mma, Floats) {
  for (const char *c : {"f16", "f32"}) {
    checkShape(16, 8, {c, "f16", "f16", c});
    checkShape(16, 16, {c, "f16", "f16", c});
    for (const char *a : {"e4m3", "e5m2"})
      for (const char *b : {"e4m3", "e5m2"}) {
        checkShape(16, 16, {c, a, b, c});
        checkShape(16, 32, {c, a, b, c});
        checkShape(16, 32, {c, a, b, c}, "kind::f8f6f4.");
      }
  }
  checkShape(16, 8, {"f32", "bf16", "bf16", "f32"});
  checkShape(16, 16, {"f32", "bf16", "bf16", "f32"});
  checkShape(16, 4, {"f32", "tf32", "tf32", "f32"});
  checkShape(16, 8, {"f32", "tf32", "tf32", "f32"});
}

TEST(Mma, Integers) {
  for (const char *saturate : {"", "satfinite."})
    for (const char *a : {"s", "u"})
      for (const char *b : {"s", "u"}) {
        Types eight{"s32", a + std::string("8"), b + std::string("8"), "s32"};
        Types four{"s32", a + std::string("4"), b + std::string("4"), "s32"};
        checkShape(8, 16, eight, saturate);
        checkShape(16, 16, eight, saturate);
        checkShape(16, 32, eight, saturate);
        checkShape(8, 32, four, saturate);
        checkShape(16, 32, four, saturate);
        checkShape(16, 64, four, saturate);
      }
}

TEST(Mma, Bits) {
  for (Multiply how : {Multiply::Xor, Multiply::And})
    for (auto [m, k] : {std::pair{8u, 128u}, {16u, 128u}, {16u, 256u}})
      checkShape(m, k, {"s32", "b1", "b1", "s32"}, "",
                 how == Multiply::Xor ? ".xor.popc" : ".and.popc", how);
}

TEST(Mma, Doubles) {
  for (const char *round : {"", ".rn", ".rz", ".rm", ".rp"}) {
    checkShape(8, 4, {"f64", "f64", "f64", "f64"}, "", round);
    checkShape(16, 4, {"f64", "f64", "f64", "f64"}, "", round);
    checkShape(16, 8, {"f64", "f64", "f64", "f64"}, "", round);
    checkShape(16, 16, {"f64", "f64", "f64", "f64"}, "", round);
  }
}

TEST(Mma, QuadPairs) {
  for (bool columnA : {false, true})
    for (bool columnB : {false, true})
      for (auto [d, c] : {std::pair{"f16", "f16"}, {"f32", "f16"}, {"f32", "f32"}}) {
        std::vector<Product> products;
        for (uint32_t q = 0; q < 4; ++q)
          products.push_back(randomProduct(8, 4, "f16", "f16", q + 10, Multiply::Sum));
        std::string opcode = std::string("mma.sync.aligned.m8n8k4.") + (columnA ? "col." : "row.") +
                             (columnB ? "col." : "row.") + d + ".f16.f16." + c;
        check(opcode, {d, "f16", "f16", c}, quadLayouts(columnA, columnB, *c == 'f' && c[1] == '3'),
              quadLayouts(columnA, columnB, d[1] == '3'), products);
      }
}

TEST(Mma, SaturationAndWrapping) {
  auto run = [](const char *saturate, const char *c) {
    return runPtx("mov.b32 %r1, 0x01010101;\nmov.b32 %r2, " + std::string(c) +
                  ";\nmma.sync.aligned.m8n8k16.row.col" + saturate +
                  ".s32.s8.s8.s32 {%r3,%r4}, {%r1}, {%r1}, {%r2,%r2};\n"
                  "st.global.v2.b32 [%rd0], {%r3,%r4};\n");
  };
  EXPECT_EQ(run("", "0x7fffffff").at<uint32_t>(0), 0x8000000fu);
  EXPECT_EQ(run(".satfinite", "0x7fffffff").at<uint32_t>(1), 0x7fffffffu);
  EXPECT_EQ(run(".satfinite", "0x7ffffff0").at<uint32_t>(0), 0x7fffffffu);
}

TEST(Mma, Tf32IgnoresTheLowBitsAndNanIsCanonical) {
  auto run = [](const char *a, const char *b) {
    Ran ran = runPtx("mov.b32 %r1, " + std::string(a) + ";\nmov.b32 %r2, " + b +
                     ";\nmov.b32 %f1, 0f00000000;\nmma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32."
                     "f32 {%f2,%f3,%f4,%f5}, {%r1,%r1}, {%r2}, {%f1,%f1,%f1,%f1};\n"
                     "st.global.f32 [%rd0], %f2;\n");
    EXPECT_TRUE(ran.ok()) << ran.text();
    return ran.at<uint32_t>(0);
  };
  EXPECT_EQ(run("0x3f801fff", "0x3f800000"), std::bit_cast<uint32_t>(4.0f));
  EXPECT_EQ(run("0x7f800000", "0x00000000"), 0x7fffffffu);
}

TEST(Mma, SumsInF32AreCutOffAsTheHardwareDoes) {
  // A row of 1, 2^-12 and 2^-12 (lanes 0 to 3 have row 0: lane 0 columns 0 and 1, lane 1 column 2).
  // With B 1, 2^-12, 2^-13: 2^-24 and 2^-25 are kept next to 1 while adding, not in the result.
  auto run = [](const char *type, const char *first, const char *tiny, const char *one,
                const char *tinyB, const char *c) {
    Ran ran = runPtx(std::string("mov.b32 %r1, 0;\nmov.b32 %r2, 0;\nmov.b32 %r3, 0;\n"
                                 "setp.eq.u32 %p1, %r0, 0;\nsetp.eq.u32 %p2, %r0, 1;\n@%p1 mov.b32 "
                                 "%r1, ") +
                     first + ";\n@%p2 mov.b32 %r1, " + tiny + ";\n@%p1 mov.b32 %r2, " + one +
                     ";\n@%p2 mov.b32 %r2, " + tinyB + ";\nmov.f32 %f1, " + c +
                     ";\nmma.sync.aligned.m16n8k8.row.col.f32." + type + "." + type +
                     ".f32 {%f2,%f3,%f4,%f5}, {%r1,%r3}, {%r2}, {%f1,%f1,%f1,%f1};\n"
                     "setp.ne.u32 %p3, %r0, 0;\n@%p3 bra END;\nst.global.f32 [%rd0], %f2;\nEND:\n");
    EXPECT_TRUE(ran.ok()) << ran.text();
    return ran.at<float>(0);
  };
  // bf16: 1 0x3f80, 2^-12 0x3980, 2^-13 0x3900. A: {1, 2^-12}, {2^-12, 0}.
  EXPECT_EQ(run("bf16", "0x39803f80", "0x3980", "0x39803f80", "0x3980", "0f00000000"),
            1 + 0x1p-23f); // two halves of the last place
  EXPECT_EQ(run("bf16", "0x39803f80", "0x3980", "0x39803f80", "0x3900", "0f00000000"), 1.0f);
  // Rounding to nearest would give 1 + 2^-23 there with an accumulator of 2^-26 more.
  EXPECT_EQ(run("bf16", "0x39803f80", "0x3980", "0x39803f80", "0x3900", "0f32800000"), 1.0f);
  // f16: 2^-12 is 0x0c00.
  EXPECT_EQ(run("f16", "0x0c003c00", "0x0c00", "0x0c003c00", "0x0c00", "0f00000000"), 1 + 0x1p-23f);
  EXPECT_EQ(run("f16", "0x0c003c00", "0x0c00", "0x0c003c00", "0x0800", "0f00000000"), 1.0f);
}

TEST(Mma, MissingLanesAndOtherForms) {
  const char *mma = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r3,%r4}, {%r1}, {%r1}, "
                    "{%r2,%r2};\n";
  test::Run few;
  few.body = mma;
  few.options.block = {16, 1, 1};
  EXPECT_TRUE(runPtx(few).faults(FaultKind::Divergence));
  EXPECT_TRUE(runPtx("setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nbar.sync 0;\nA:\n" + std::string(mma))
                  .faults(FaultKind::Divergence));
  for (const char *body :
       {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
        "{%r1,%r2}, {%f1,%f2,%f3,%f4};",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
        "{%r1,%r2}, {%r1,%r2};",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
        "{%r1,%r2}, {%f1,%f2,%f3,%f4};",
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
        "{%r1,%r2}, {%f1,%f2,%f3,%f4};",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, "
        "{%r1,%r2}, {%f1,%f2,%f3,%f4};",
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%f1,%f2,%f3,%f4}, "
        "{%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};"}) {
    Ran ran = runPtx(std::string(body));
    EXPECT_TRUE(ran.faults(FaultKind::Unsupported)) << body << ran.text();
  }
}
