// mov, selp, address conversions and policies. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "FormTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

TEST(Move, PackAndUnpack) {
  Ran ran = runPtx("mov.b64 %rd5, 0x1122334455667788;\nmov.b64 {%r1, %r2}, %rd5;\n"
                   "mov.b64 %rd6, {%r2, %r1};\nmov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd5;\n"
                   "mov.b32 %r3, {%rs4, %rs1};\nmov.b32 {_, %rs5}, %r1;\nmov.b16 %rs6, %rs5;\n"
                   "mov.b128 %rq1, {%rd5, %rd6};\nmov.b128 %rq2, %rq1;\n"
                   "mov.b128 {%rd7, %rd8}, %rq2;\nst.global.b64 [%rd0], %rd6;\n"
                   "st.global.b32 [%rd0+8], %r3;\nst.global.b16 [%rd0+12], %rs6;\n"
                   "st.global.b64 [%rd0+16], %rd7;\nst.global.b64 [%rd0+24], %rd8;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint64_t>(0), 0x5566778811223344u);
  EXPECT_EQ(ran.at<uint32_t>(2), 0x77881122u);
  EXPECT_EQ(ran.at<uint16_t>(6), 0x5566u);
  EXPECT_EQ(ran.at<uint64_t>(2), 0x1122334455667788u);
  EXPECT_EQ(ran.at<uint64_t>(3), 0x5566778811223344u);
}

TEST(Move, QuartersAndBytes) {
  Ran ran = runPtx(".reg .b8 %b<8>;\nmov.b32 %r1, 0x44332211;\nmov.b32 {%b0, %b1, %b2, %b3}, %r1;\n"
                   "mov.b16 %rs1, {%b3, %b0};\nmov.b32 %r2, {%b1, %b0, %b3, %b2};\n"
                   "mov.b16 {%b4, %b5}, %rs1;\nmov.b16 %rs2, {%b5, %b4};\n"
                   "mov.b128 %rq1, {%r1, %r2, %r1, %r2};\nmov.b128 {%r3, %r4, _, %r5}, %rq1;\n"
                   "mov.b64 %rd5, {%rs1, %rs2, %rs1, %rs1};\n"
                   "st.global.b16 [%rd0], %rs1;\nst.global.b16 [%rd0+2], %rs2;\n"
                   "st.global.b32 [%rd0+4], %r2;\nst.global.b64 [%rd0+8], %rd5;\n"
                   "st.global.v4.b32 [%rd0+16], {%r3, %r4, %r5, %r5};\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint16_t>(0), 0x1144u);
  EXPECT_EQ(ran.at<uint16_t>(1), 0x4411u);
  EXPECT_EQ(ran.at<uint32_t>(1), 0x33441122u);
  EXPECT_EQ(ran.at<uint64_t>(1), 0x1144114444111144u);
  EXPECT_EQ(ran.at<uint32_t>(4), 0x44332211u);
  EXPECT_EQ(ran.at<uint32_t>(5), 0x33441122u);
  EXPECT_EQ(ran.at<uint32_t>(6), 0x33441122u);
}

TEST(Move, PackIntoOneOfItsSources) {
  Ran ran = runPtx("mov.b64 %rd5, 7;\nmov.b32 %r1, 1;\nmov.b32 %r2, 2;\nmov.b64 %rd5, {%r1, %r2};\n"
                   "mov.b64 {%r2, %r1}, %rd5;\nst.global.v2.b32 [%rd0], {%r1, %r2};\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 2u);
  EXPECT_EQ(ran.at<uint32_t>(1), 1u);
}

TEST(Move, EveryType) {
  std::vector<FormCase> forms;
  auto first = [](uint64_t mask) {
    return [mask](uint64_t a, uint64_t, uint64_t) { return a & mask; };
  };
  auto chosen = [](uint64_t mask) {
    return [mask](uint64_t a, uint64_t b, uint64_t c) { return (c & 1 ? a : b) & mask; };
  };
  for (std::string t : {"b16", "u16", "s16"}) {
    forms.push_back({"mov." + t, "hh", first(0xffff)});
    forms.push_back({"selp." + t, "hhhp", chosen(0xffff)});
  }
  for (std::string t : {"b32", "u32", "s32", "f32"}) {
    forms.push_back({"mov." + t, "rr", first(0xffffffff)});
    forms.push_back({"selp." + t, "rrrp", chosen(0xffffffff)});
  }
  for (std::string t : {"b64", "u64", "s64", "f64"}) {
    forms.push_back({"mov." + t, "dd", first(~uint64_t(0))});
    forms.push_back({"selp." + t, "dddp", chosen(~uint64_t(0))});
  }
  forms.push_back({"mov.pred", "pp", [](uint64_t a, uint64_t, uint64_t) { return a & 1; }});
  forms.push_back({"mov.pred", "pn", [](uint64_t a, uint64_t, uint64_t) { return ~a & 1; }});
  forms.push_back({"selp.b32", "rrrn", [](uint64_t a, uint64_t b, uint64_t c) {
                     return (c & 1 ? b : a) & 0xffffffff;
                   }});
  runForms(forms, floatOperands({11, 52}, 500));
}

TEST(Move, OnlyGuardedLanes) {
  Ran ran = runPtx("mov.u32 %r1, 5;\nsetp.gt.u32 %p1, %r0, 15;\n@%p1 mov.u32 %r1, 9;\n"
                   "@!%p1 add.u32 %r1, %r1, %r0;\nmul.wide.u32 %rd2, %r0, 4;\n"
                   "add.u64 %rd3, %rd0, %rd2;\nst.global.b32 [%rd3], %r1;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(ran.at<uint32_t>(lane), lane > 15 ? 9 : 5 + lane);
}

TEST(Move, SpecialRegisters) {
  test::Run run;
  run.body = "mov.u32 %r1, %laneid;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %lanemask_lt;\n"
             "mov.u16 %rs1, %tid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, WARP_SZ;\n"
             "mov.u32 %r6, %warpid;\nadd.u32 %r4, %r4, %r5;\nmov.u32 %r7, %cluster_ctarank;\n"
             "mul.lo.u32 %r8, %r2, 64;\nadd.u32 %r8, %r8, %r0;\nmul.wide.u32 %rd2, %r8, 16;\n"
             "add.u64 %rd3, %rd0, %rd2;\nst.global.v4.b32 [%rd3], {%r1, %r3, %r4, %r6};\n";
  run.options.block = {64, 1, 1};
  run.options.grid = {2, 1, 1};
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (unsigned cta = 0; cta < 2; ++cta)
    for (unsigned thread = 0; thread < 64; ++thread) {
      unsigned at = 4 * (64 * cta + thread), lane = thread % 32;
      EXPECT_EQ(ran.at<uint32_t>(at), lane);
      EXPECT_EQ(ran.at<uint32_t>(at + 1), (1u << lane) - 1);
      EXPECT_EQ(ran.at<uint32_t>(at + 2), 96u);
      EXPECT_EQ(ran.at<uint32_t>(at + 3), thread / 32);
    }
}

TEST(Move, AddressesOfEverySpace) {
  test::Run run;
  run.globals = ".global .b32 g = 11;\n.const .b32 k = 22;\n.shared .align 4 .b32 s;\n";
  run.body =
      ".local .align 4 .b32 l;\nmov.u32 %r1, s;\nst.shared.u32 [%r1], 33;\nbar.sync 0;\n"
      "cvta.shared.u64 %rd10, s;\nld.u32 %r2, [%rd10];\ncvta.shared::cta.u64 %rd11, s;\n"
      "cvta.shared::cluster.u64 %rd12, s;\n"
      "cvta.to.shared.u64 %rd13, %rd10;\ncvta.to.shared::cta.u64 %rd14, %rd10;\n"
      "cvta.to.shared::cluster.u64 %rd15, %rd10;\nld.shared.u32 %r3, [%rd13];\n"
      "mov.u64 %rd16, l;\nst.local.u32 [%rd16], 44;\ncvta.local.u64 %rd17, %rd16;\n"
      "ld.u32 %r4, [%rd17];\ncvta.to.local.u64 %rd18, %rd17;\nld.local.u32 %r5, [%rd18];\n"
      "cvta.global.u64 %rd19, g;\nld.u32 %r6, [%rd19];\ncvta.to.global.u64 %rd20, %rd19;\n"
      "ld.global.u32 %r7, [%rd20];\ncvta.const.u64 %rd21, k;\ncvta.to.const.u64 %rd22, %rd21;\n"
      "ld.const.u32 %r8, [%rd22];\nmov.u64 %rd23, in;\ncvta.param.u64 %rd24, %rd23;\n"
      "ld.u64 %rd25, [%rd24];\ncvta.to.param.u64 %rd26, %rd24;\n"
      "cvta.param::entry.u64 %rd27, %rd23;\ncvta.to.param::entry.u64 %rd28, %rd27;\n"
      "setp.eq.u64 %p1, %rd25, %rd1;\nselp.u32 %r9, 55, 0, %p1;\n"
      "setp.eq.u64 %p2, %rd11, %rd12;\nsetp.eq.and.u64 %p2, %rd10, %rd11, %p2;\n"
      "setp.eq.and.u64 %p2, %rd14, %rd15, %p2;\nsetp.eq.and.u64 %p2, %rd26, %rd28, %p2;\n"
      "selp.u32 %r10, 66, 0, %p2;\n"
      "st.global.v4.b32 [%rd0], {%r2, %r3, %r4, %r5};\n"
      "st.global.v4.b32 [%rd0+16], {%r6, %r7, %r8, %r9};\nst.global.b32 [%rd0+32], %r10;\n";
  // isspacep: a bit for each (address, space).
  unsigned bit = 0;
  run.body += "mov.u32 %r20, 0;\n";
  for (const char *address : {"%rd19", "%rd10", "%rd17", "%rd21", "%rd24"})
    for (const char *space :
         {"global", "shared", "shared::cta", "shared::cluster", "local", "const"})
      run.body += std::string("isspacep.") + space + " %p3, " + address + ";\nselp.u32 %r21, " +
                  std::to_string(1u << bit++) + ", 0, %p3;\nor.b32 %r20, %r20, %r21;\n";
  run.body += "isspacep.param %p3, %rd24;\nisspacep.param::entry %p4, %rd24;\n"
              "and.pred %p3, %p3, %p4;\nisspacep.param %p4, %rd10;\nnot.pred %p4, %p4;\n"
              "and.pred %p3, %p3, %p4;\nselp.u32 %r22, 77, 0, %p3;\n"
              "st.global.v2.b32 [%rd0+40], {%r20, %r22};\n";
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  const uint32_t expected[] = {33, 33, 44, 44, 11, 11, 22, 55, 66};
  for (unsigned i = 0; i < 9; ++i)
    EXPECT_EQ(ran.at<uint32_t>(i), expected[i]) << i;
  // global, shared (three names), local, const, and the parameter in none of them
  uint32_t bits = 0b000001u | 0b001110u << 6 | 0b010000u << 12 | 0b100000u << 18;
  EXPECT_EQ(ran.at<uint32_t>(10), bits);
  EXPECT_EQ(ran.at<uint32_t>(11), 77u);
}

TEST(Move, ClusterAddresses) {
  test::Run run;
  run.globals = ".shared .align 16 .b32 s[4];\n";
  run.body =
      "mov.u32 %r1, %cluster_ctarank;\nxor.b32 %r2, %r1, 1;\nmov.u32 %r3, s;\n"
      "add.u32 %r9, %r1, 100;\nst.shared.u32 [%r3], %r9;\nbarrier.cluster.arrive;\n"
      "barrier.cluster.wait;\nmapa.shared::cluster.u32 %r4, %r3, %r2;\n"
      "ld.shared::cluster.u32 %r5, [%r4];\ngetctarank.shared::cluster.u32 %r6, %r4;\n"
      "cvta.shared.u64 %rd5, s;\nmapa.u64 %rd6, %rd5, %r2;\nld.u32 %r7, [%rd6];\n"
      "getctarank.u64 %r8, %rd6;\nisspacep.shared::cta %p1, %rd6;\n"
      "isspacep.shared::cluster %p2, %rd6;\nselp.u32 %r10, 1, 0, %p1;\n"
      "selp.u32 %r11, 1, 0, %p2;\ncvt.u64.u32 %rd8, %r3;\n"
      "mapa.shared::cluster.u64 %rd9, %rd8, %r2;\ngetctarank.shared::cluster.u64 %r12, %rd9;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.pred %p4, %is_explicit_cluster;\n"
      "selp.u32 %r13, 1, 0, %p4;\nsetp.ne.u32 %p3, %r0, 0;\n@%p3 ret;\n"
      "mul.wide.u32 %rd2, %r1, 32;\nadd.u64 %rd3, %rd0, %rd2;\n"
      "st.global.v4.b32 [%rd3], {%r5, %r6, %r7, %r8};\n"
      "st.global.v4.b32 [%rd3+16], {%r10, %r11, %r12, %r13};\n";
  run.options.grid = {2, 1, 1};
  run.options.cluster = {2, 1, 1};
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (unsigned rank = 0; rank < 2; ++rank) {
    unsigned peer = 1 - rank;
    const uint32_t expected[] = {100 + peer, peer, 100 + peer, peer, 0, 1, peer, 1};
    for (unsigned i = 0; i < 8; ++i)
      EXPECT_EQ(ran.at<uint32_t>(8 * rank + i), expected[i]) << rank << " " << i;
  }
}

TEST(Move, MapaOutsideTheCluster) {
  Ran ran = runPtx("mov.u32 %r1, 1024;\nmapa.shared::cluster.u32 %r2, %r1, 3;");
  ASSERT_TRUE(ran.faults(FaultKind::OutOfBounds)) << ran.text();
  ran = runPtx("mapa.u64 %rd2, %rd0, 0;");
  EXPECT_TRUE(ran.faults(FaultKind::OutOfBounds)) << ran.text();
}

TEST(Move, Policies) {
  std::string body;
  unsigned n = 0;
  for (std::string first : {"last", "normal", "first", "unchanged"})
    for (std::string second : {"", ".L2::evict_first", ".L2::evict_unchanged"})
      for (std::string kind : {"fractional", "range", "range.global"}) {
        body += "createpolicy." + kind + ".L2::evict_" + first + second + ".b64 %rd5, " +
                (kind == "fractional" ? "0.5" : "[%rd1], 256, 512") + ";\n" +
                "createpolicy.cvt.L2.b64 %rd5, %rd5;\nst.global.b64 [%rd0+" +
                std::to_string(8 * n++) + "], %rd5;\n";
      }
  Ran ran = runPtx(body + "createpolicy.fractional.L2::evict_last.b64 %rd6;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (unsigned i = 0; i < n; ++i)
    EXPECT_EQ(ran.at<uint64_t>(i), ran.at<uint64_t>(i / 3 * 3)) << "one policy has one value";
  EXPECT_NE(ran.at<uint64_t>(0), ran.at<uint64_t>(3));
}

TEST(Move, RefusesWhatIsNoForm) {
  for (const char *body :
       {"mov.f16 %rs1, %rs2;", "selp.pred %p1, %p2, %p3, %p4;", "cvta.shared.u32 %r1, %r2;",
        "mov.b64 %rd5, {%r1, %r2, %r3};", "bmsk.b32 %r1, %r2, %r3;",
        "shf.l.b32 %r1, %r2, %r3, %r4;", "setp.lt.b32 %p1, %r1, %r2;", "setp.lo.s32 %p1, %r1, %r2;",
        "setp.lt.ftz.bf16 %p1, %rs1, %rs2;", "add.sat.u32 %r1, %r2, %r3;",
        "mad.lo.sat.s32 %r1, %r2, %r3, %r4;", "mul.wide.u64 %rd1, %rd2, %rd3;",
        "vadd.s32.s32.s32 %r1, %r2, %r3;", "clz.b16 %r1, %rs1;"})
    EXPECT_TRUE(runPtx(body).faults(FaultKind::Unsupported)) << body;
}
