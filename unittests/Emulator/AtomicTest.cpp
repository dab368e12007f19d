// atom and red: every operation and type, orders, 128 bits, vectors; what they order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

#include <bit>

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

constexpr uint64_t f32(float value) { return std::bit_cast<uint32_t>(value); }
constexpr uint64_t f64(double value) { return std::bit_cast<uint64_t>(value); }
constexpr uint64_t pair(uint64_t low, uint64_t high) { return low | high << 16; }

struct Case {
  const char *operation; // with the type
  unsigned bytes;
  uint64_t old, b, fresh;
  uint64_t c = 0;
};
// 0x3c00, 0x4000, 0x4200 are 1, 2, 3 in f16; 0x3f80, 0x4000, 0x4040 in bf16.
constexpr Case cases[] = {
    {"add.u32", 4, 0xfffffff0, 0x20, 0x10},
    {"add.s32", 4, 5, 0xfffffffe, 3},
    {"add.u64", 8, 0xffffffffu, 1, 0x100000000},
    {"add.f32", 4, f32(1.5f), f32(2.25f), f32(3.75f)},
    {"add.f64", 8, f64(1.5), f64(-4), f64(-2.5)},
    {"add.noftz.f16", 2, 0x3c00, 0x4000, 0x4200},
    {"add.noftz.bf16", 2, 0x3f80, 0x4000, 0x4040},
    {"add.noftz.f16x2", 4, pair(0x3c00, 0x4000), pair(0x4000, 0xbc00), pair(0x4200, 0x3c00)},
    {"add.noftz.bf16x2", 4, pair(0x3f80, 0x4000), pair(0x4000, 0xbf80), pair(0x4040, 0x3f80)},
    {"min.u32", 4, 5, 0xffffffff, 5},
    {"min.s32", 4, 5, 0xffffffff, 0xffffffff},
    {"max.u32", 4, 5, 0xffffffff, 0xffffffff},
    {"max.s32", 4, 5, 0xffffffff, 5},
    {"min.u64", 8, 1, uint64_t(-1), 1},
    {"min.s64", 8, 1, uint64_t(-1), uint64_t(-1)},
    {"max.u64", 8, 1, uint64_t(-1), uint64_t(-1)},
    {"max.s64", 8, 1, uint64_t(-1), 1},
    {"and.b32", 4, 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
    {"and.b64", 8, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0x0f000f000f000f00},
    {"or.b32", 4, 0xf0, 0x0f, 0xff},
    {"or.b64", 8, uint64_t(1) << 63, 1, uint64_t(1) << 63 | 1},
    {"xor.b32", 4, 0xff, 0x0f, 0xf0},
    {"xor.b64", 8, 0xff, uint64_t(0xf) << 60, uint64_t(0xf) << 60 | 0xff},
    {"inc.u32", 4, 6, 7, 7},
    {"inc.u32", 4, 7, 7, 0},
    {"inc.u32", 4, 9, 7, 0},
    {"dec.u32", 4, 6, 7, 5},
    {"dec.u32", 4, 0, 7, 7},
    {"dec.u32", 4, 9, 7, 7},
    {"exch.b32", 4, 6, 7, 7},
    {"exch.b64", 8, 6, uint64_t(7) << 40, uint64_t(7) << 40},
    {"cas.b16", 2, 6, 6, 8, 8},
    {"cas.b16", 2, 6, 7, 6, 8},
    {"cas.b32", 4, 6, 6, 8, 8},
    {"cas.b32", 4, 6, 7, 6, 8},
    {"cas.b64", 8, 6, 6, uint64_t(8) << 33, uint64_t(8) << 33},
    {"cas.b64", 8, 6, 7, 6, 8},
};

std::string reg(unsigned bytes, unsigned i) {
  return (bytes == 2 ? "%rs" : bytes == 4 ? "%r" : "%rd") + std::to_string(i);
}

std::vector<std::string> orders() {
  std::vector<std::string> all;
  for (const char *order : {"", ".relaxed", ".acquire", ".release", ".acq_rel"})
    for (const char *scope : {"", ".cta", ".cluster", ".gpu", ".sys"})
      all.push_back(std::string(order) + scope);
  return all;
}

test::Run single(std::string body) {
  test::Run run;
  run.body = ".shared .align 16 .b64 sv[4];\n" + std::move(body);
  run.options.block = {1, 1, 1};
  return run;
}
} // namespace

TEST(Atomic, EveryOperationInEverySpaceAndOrder) {
  for (const Case &c : cases)
    for (const char *space : {".global", "", ".shared", ".shared::cta", ".shared::cluster"})
      for (bool returns : {true, false}) {
        std::string operation = c.operation, bits = std::to_string(8 * c.bytes);
        bool cas = operation[0] == 'c';
        if (!returns && (cas || operation[0] == 'e'))
          continue;
        std::string place = space[0] == '.' && space[1] == 's' ? "[sv+8]" : "[%rd0+8]";
        auto constant = [&](unsigned i, uint64_t value) {
          return "mov.b" + bits + " " + reg(c.bytes, i) + ", " + std::to_string(value) + ";\n";
        };
        std::string body =
            constant(10, c.old) + constant(11, c.b) + constant(12, c.c) + constant(13, c.old);
        unsigned at = 32;
        for (const std::string &order : orders()) {
          if (!returns && (order.rfind(".a", 0) == 0))
            continue;
          body += std::string("st") + space + ".b" + bits + " " + place + ", " + reg(c.bytes, 10) +
                  ";\n" + (returns ? "atom" : "red") + order + space + "." + operation + " " +
                  (returns ? reg(c.bytes, 13) + ", " : "") + place + ", " + reg(c.bytes, 11) +
                  (cas ? ", " + reg(c.bytes, 12) : "") + ";\nld" + space + ".b" + bits + " " +
                  reg(c.bytes, 14) + ", " + place + ";\nst.global.b" + bits + " [%rd0+" +
                  std::to_string(at) + "], " + reg(c.bytes, 13) + ";\nst.global.b" + bits +
                  " [%rd0+" + std::to_string(at + 8) + "], " + reg(c.bytes, 14) + ";\n";
          at += 16;
        }
        Ran ran = runPtx(single(body));
        ASSERT_TRUE(ran.ok()) << body << ran.text();
        for (unsigned i = 4; i < at / 8; i += 2) {
          EXPECT_EQ(ran.at<uint64_t>(i), c.old) << body;
          EXPECT_EQ(ran.at<uint64_t>(i + 1), c.fresh) << body;
        }
      }
}

TEST(Atomic, OrdersScopesAndHints) {
  std::string body;
  unsigned count = 0;
  for (const char *order : {"", ".relaxed", ".acquire", ".release", ".acq_rel"})
    for (const char *scope : {"", ".cta", ".cluster", ".gpu", ".sys"}) {
      body += std::string("atom") + order + scope + ".global.add.u32 %r1, [%rd0], 1;\n";
      ++count;
      if (!*order || order[1] == 'r') {
        if (std::string_view(order) != ".relaxed" && *order && order[3] != 'l')
          continue;
        body += std::string("red") + order + scope + ".global.add.u32 [%rd0], 1;\n";
        ++count;
      }
    }
  body += "atom.global.add.L2::cache_hint.u32 %r1, [%rd0], 1, %rd1;\n"
          "red.global.add.L2::cache_hint.f32 [%rd0+64], %f1, %rd1;\n"
          "red.global.add.L2::cache_hint.u32 [%rd0], 1, %rd1;\natom.add.u32 _, [%rd0], 1;\n";
  count += 3;
  Ran ran = runPtx(single(body));
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), count);
}

TEST(Atomic, Exchange128Bits) {
  for (const char *space : {".global", "", ".shared", ".shared::cta", ".shared::cluster"})
    for (const std::string &order : orders()) {
      std::string place = space[0] && space[1] == 's' ? "[sv]" : "[%rd0+64]", s = space;
      Ran ran = runPtx(single(
          "mov.b64 %rd2, 5;\nmov.b64 %rd3, 6;\nmov.b64 %rd4, 7;\n"
          "mov.b128 %rq1, {%rd2, %rd3};\nmov.b128 %rq2, {%rd3, %rd4};\n"
          "mov.b128 %rq3, {%rd4, %rd2};\nst" +
          s + ".b128 " + place + ", %rq1;\natom" + order + s + ".exch.b128 %rq4, " + place +
          ", %rq2;\natom" + order + s + ".cas.b128 %rq5, " + place + ", %rq1, %rq3;\natom" + order +
          s + ".cas.b128 %rq6, " + place + ", %rq2, %rq3;\nld" + s + ".b128 %rq7, " + place +
          ";\nst.global.b128 [%rd0], %rq4;\n"
          "st.global.b128 [%rd0+16], %rq5;\nst.global.b128 [%rd0+32], %rq6;\n"
          "st.global.b128 [%rd0+48], %rq7;\n"));
      ASSERT_TRUE(ran.ok()) << ran.text();
      const uint64_t expected[] = {5, 6, 6, 7, 6, 7, 7, 5};
      for (unsigned i = 0; i < 8; ++i)
        EXPECT_EQ(ran.at<uint64_t>(i), expected[i]) << i;
    }
}

TEST(Atomic, Vectors) {
  struct Vector {
    const char *operation, *element;
    unsigned n, bytes;
    uint64_t old, b, fresh;
  };
  for (const Vector &v : std::initializer_list<Vector>{
           {"add.v2.f32", "%r", 2, 4, f32(1), f32(2), f32(3)},
           {"add.v4.f32", "%r", 4, 4, f32(1), f32(-2), f32(-1)},
           {"add.noftz.v2.f16", "%rs", 2, 2, 0x3c00, 0x4000, 0x4200},
           {"min.noftz.v4.f16", "%rs", 4, 2, 0x3c00, 0xc000, 0xc000},
           {"max.noftz.v8.f16", "%rs", 8, 2, 0x3c00, 0xc000, 0x3c00},
           {"add.noftz.v8.bf16", "%rs", 8, 2, 0x3f80, 0x4000, 0x4040},
           {"max.noftz.v2.bf16", "%rs", 2, 2, 0x7fc0, 0x4000, 0x4000}, // NaN loses
           {"min.noftz.v4.bf16", "%rs", 4, 2, 0x8000, 0x0000, 0x8000}, // -0 is below +0
           {"add.noftz.v2.f16x2", "%r", 2, 4, pair(0x3c00, 0x4000), pair(0x4000, 0xbc00),
            pair(0x4200, 0x3c00)},
           {"min.noftz.v4.f16x2", "%r", 4, 4, pair(0x3c00, 0x4000), pair(0x4000, 0xbc00),
            pair(0x3c00, 0xbc00)},
           {"min.noftz.v2.f16", "%rs", 2, 2, 0x3c00, 0x4000, 0x3c00},
           {"max.noftz.v2.f16", "%rs", 2, 2, 0x3c00, 0x4000, 0x4000},
           {"add.noftz.v4.f16", "%rs", 4, 2, 0x3c00, 0x4000, 0x4200},
           {"max.noftz.v4.f16", "%rs", 4, 2, 0x3c00, 0x4000, 0x4000},
           {"add.noftz.v8.f16", "%rs", 8, 2, 0x3c00, 0x4000, 0x4200},
           {"min.noftz.v8.f16", "%rs", 8, 2, 0x3c00, 0x4000, 0x3c00},
           {"add.noftz.v2.bf16", "%rs", 2, 2, 0x3f80, 0x4000, 0x4040},
           {"min.noftz.v2.bf16", "%rs", 2, 2, 0x3f80, 0x4000, 0x3f80},
           {"add.noftz.v4.bf16", "%rs", 4, 2, 0x3f80, 0x4000, 0x4040},
           {"max.noftz.v4.bf16", "%rs", 4, 2, 0x3f80, 0x4000, 0x4000},
           {"min.noftz.v8.bf16", "%rs", 8, 2, 0x3f80, 0x4000, 0x3f80},
           {"max.noftz.v8.bf16", "%rs", 8, 2, 0x3f80, 0x4000, 0x4000},
           {"min.noftz.v2.f16x2", "%r", 2, 4, 0x3c004000, 0x40003c00, 0x3c003c00},
           {"max.noftz.v2.f16x2", "%r", 2, 4, 0x3c004000, 0x40003c00, 0x40004000},
           {"add.noftz.v4.f16x2", "%r", 4, 4, 0x3c004000, 0x40003c00, 0x42004200},
           {"max.noftz.v4.f16x2", "%r", 4, 4, 0x3c004000, 0x40003c00, 0x40004000},
           {"add.noftz.v2.bf16x2", "%r", 2, 4, 0x3f804000, 0x40003f80, 0x40404040},
           {"min.noftz.v2.bf16x2", "%r", 2, 4, 0x3f804000, 0x40003f80, 0x3f803f80},
           {"max.noftz.v2.bf16x2", "%r", 2, 4, 0x3f804000, 0x40003f80, 0x40004000},
           {"add.noftz.v4.bf16x2", "%r", 4, 4, 0x3f804000, 0x40003f80, 0x40404040},
           {"min.noftz.v4.bf16x2", "%r", 4, 4, 0x3f804000, 0x40003f80, 0x3f803f80},
           {"max.noftz.v4.bf16x2", "%r", 4, 4, pair(0x3f80, 0x4000), pair(0x4000, 0xbf80),
            pair(0x4000, 0x4000)}})
    for (bool returns : {true, false})
      for (const char *space : {".global", ""})
        for (const std::string &order : orders()) {
          bool noOrder = order.empty(), isFloat = v.operation[4] == 'v';
          if ((!isFloat && !noOrder) || (!returns && order.rfind(".a", 0) == 0))
            continue;
          std::string body, b = "{", d = "{", bits = std::to_string(8 * v.bytes);
          for (unsigned i = 0; i < v.n; ++i) {
            std::string r = v.element + std::to_string(10 + i);
            body += "mov.b" + bits + " " + r + ", " + std::to_string(v.old) + ";\nst.global.b" +
                    bits + " [%rd0+" + std::to_string(32 + i * v.bytes) + "], " + r + ";\nmov.b" +
                    bits + " " + r + ", " + std::to_string(v.b) + ";\n";
            b += (i ? ", " : "") + r;
            d += (i ? ", " : "") + (v.element + std::to_string(20 + i));
          }
          body += std::string(returns ? "atom" : "red") + order + space + "." + v.operation + " " +
                  (returns ? d + "}, " : "") + "[%rd0+32], " + b + "};\n";
          for (unsigned i = 0; returns && i < v.n; ++i)
            body += "st.global.b" + bits + " [%rd0+" + std::to_string(i * v.bytes) + "], " +
                    v.element + std::to_string(20 + i) + ";\n";
          Ran ran = runPtx(single(body));
          ASSERT_TRUE(ran.ok()) << body << ran.text();
          for (unsigned i = 0; i < v.n; ++i) {
            auto read = [&](unsigned at) {
              uint64_t value = 0;
              memcpy(&value, ran.output.data() + at + i * v.bytes, v.bytes);
              return value;
            };
            EXPECT_EQ(read(32), v.fresh) << body << i;
            if (returns)
              EXPECT_EQ(read(0), v.old) << body << i;
          }
        }
}

TEST(Atomic, LanesOneAfterTheOther) {
  Ran ran = runPtx("atom.global.add.u32 %r1, [%rd0], 3;\nmul.wide.u32 %rd2, %r0, 4;\n"
                   "add.u64 %rd2, %rd2, %rd0;\nst.global.u32 [%rd2+4], %r1;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 96u);
  std::vector<bool> seen(32);
  for (unsigned i = 0; i < 32; ++i) {
    uint32_t old = ran.at<uint32_t>(1 + i);
    ASSERT_TRUE(old % 3 == 0 && old < 96 && !seen[old / 3]);
    seen[old / 3] = true;
  }
}

TEST(Atomic, ManyClustersOnManyThreads) {
  test::Run run;
  run.body = "red.global.add.u32 [%rd0], 1;\natom.global.max.u32 %r1, [%rd0+4], %r0;\n"
             "red.global.add.f32 [%rd0+8], 0f3F800000;\n";
  run.options.grid = {64, 1, 1};
  run.options.block = {64, 1, 1};
  run.options.threads = 2;
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 4096u);
  EXPECT_EQ(ran.at<uint32_t>(1), 63u);
  EXPECT_EQ(ran.at<float>(2), 4096.0f);
}

TEST(Atomic, SubnormalSumsInGlobalMemoryAreFlushed) {
  const char *sum = "mov.b32 %f1, 0f00000001;\nst.global.f32 [%rd0], %f1;\nst.shared.f32 [sv], "
                    "%f1;\nred.global.add.f32 [%rd0], %f1;\nred.shared.add.f32 [sv], %f1;\n"
                    "ld.shared.f32 %f2, [sv];\nst.global.f32 [%rd0+4], %f2;\n";
  Ran ran = runPtx(single(sum));
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 0u);
  EXPECT_EQ(ran.at<uint32_t>(1), 2u);
}

TEST(Atomic, AtomicsDoNotRaceWithEachOtherButOrderNothingRelaxed) {
  test::Run run;
  run.body = ".shared .align 4 .b32 count;\n.shared .align 4 .b32 data[64];\n"
             "st.shared.u32 [count], 0;\nbar.sync 0;\nred.shared.add.u32 [count], 1;\nbar.sync 0;\n"
             "ld.shared.u32 %r1, [count];\nst.global.u32 [%rd0], %r1;\n";
  run.options.block = {256, 1, 1};
  Ran ran = runPtx(run);
  // All warps store the initial zero: equal stores, which nobody can tell apart.
  EXPECT_TRUE(ran.ok()) << ran.text();
  run.body = ".shared .align 4 .b32 count;\nmov.u32 %r2, %warpid;\nsetp.eq.u32 %p1, %r2, 0;\n"
             "@%p1 st.shared.u32 [count], 0;\nbar.sync 0;\nred.shared.add.u32 [count], 1;\n"
             "bar.sync 0;\nld.shared.u32 %r1, [count];\nst.global.u32 [%rd0], %r1;\n";
  ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 256u);
  // Reading it plainly while others still count.
  run.body = ".shared .align 4 .b32 count;\nmov.u32 %r2, %warpid;\nsetp.eq.u32 %p1, %r2, 0;\n"
             "@%p1 st.shared.u32 [count], 0;\nbar.sync 0;\nred.shared.add.u32 [count], 1;\n"
             "ld.shared.u32 %r1, [count];\n";
  EXPECT_TRUE(runPtx(run).faults(FaultKind::Race));
  run.body = ".shared .align 4 .b32 count;\nmov.u32 %r2, %warpid;\nsetp.eq.u32 %p1, %r2, 0;\n"
             "@%p1 st.shared.u32 [count], 0;\nbar.sync 0;\nred.shared.add.u32 [count], 1;\n"
             "ld.relaxed.cta.shared.u32 %r1, [count];\n";
  EXPECT_TRUE(runPtx(run).ok());
}

// The last warp to arrive at a counter reads what all others wrote, as in split-K reductions.
TEST(Atomic, AcquireReleaseThroughACounter) {
  for (bool ordered : {true, false})
    for (uint64_t seed = 0; seed < 6; ++seed) {
      test::Run run;
      run.body =
          std::string(".shared .align 4 .b32 count;\n.shared .align 4 .b32 data[4];\n"
                      "mov.u32 %r2, %warpid;\nmov.u32 %r3, %laneid;\nsetp.eq.u32 %p1, %r0, 0;\n"
                      "setp.ne.u32 %p2, %r3, 0;\n@%p1 st.shared.u32 [count], 0;\nbar.sync 0;\n"
                      "@%p2 bra END;\nmov.u32 %r4, data;\nmad.lo.u32 %r4, %r2, 4, %r4;\n"
                      "st.shared.u32 [%r4], %r2;\natom.") +
          (ordered ? "acq_rel" : "relaxed") +
          ".cta.shared.add.u32 %r5, [count], 1;\nsetp.ne.u32 %p3, %r5, 3;\n@%p3 bra END;\n"
          "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [data];\n"
          "st.global.v4.u32 [%rd0], {%r6, %r7, %r8, %r9};\nEND:\n";
      run.body.replace(run.body.find("align 4 .b32 data"), 7, "align 16");
      run.options.block = {128, 1, 1};
      run.options.schedule = randomSchedule(seed);
      Ran ran = runPtx(run);
      if (!ordered) {
        EXPECT_TRUE(ran.faults(FaultKind::Race)) << ran.text();
        continue;
      }
      ASSERT_TRUE(ran.ok()) << ran.text();
      for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(ran.at<uint32_t>(i), i);
    }
}

TEST(Atomic, WhatDoesNotExistIsRefused) {
  for (const char *body :
       {"atom.global.add.s64 %rd1, [%rd0], 1;", "atom.global.max.f32 %f1, [%rd0], %f2;",
        "atom.global.add.f16 %rs1, [%rd0], %rs2;", "atom.global.min.noftz.f16 %rs1, [%rd0], %rs2;",
        "red.global.exch.b32 [%rd0], 1;", "red.acq_rel.gpu.global.add.u32 [%rd0], 1;",
        "atom.global.inc.u64 %rd1, [%rd0], 1;", "atom.global.u32 %r1, [%rd0], 1;",
        "atom.global.add.v2.u32 {%r1, %r2}, [%rd0], {%r1, %r2};",
        "atom.local.add.u32 %r1, [%rd0], 1;",
        "multimem.red.relaxed.gpu.global.add.u32 [%rd0], 1;"}) {
    Ran ran = runPtx(single(body));
    EXPECT_TRUE(ran.faults(FaultKind::Unsupported)) << body << ran.text();
  }
}
