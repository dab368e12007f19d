// Values of memory that nobody wrote: free to be loaded, moved and selected away, a fault where
// they matter, which names the place of the load. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
constexpr const char *loads = ".shared .align 16 .b32 sv[64];\nld.shared.u32 %r1, [sv];\n";

/// Line of the PTX on which an instruction stands.
uint32_t lineOf(const test::Run &run, const std::string &text) {
  std::string all = ptxModule(run);
  size_t at = all.find(text);
  return at == std::string::npos
             ? 0
             : uint32_t(1 + std::count(all.begin(), all.begin() + long(at), '\n'));
}

/// Empty, or why the body is not the fault that names its first load, and the use in a note.
std::string missing(const std::string &use, const std::string &how, const std::string &end = "",
                    const std::string &load = loads) {
  test::Run run;
  run.body = load + use + "\n" + end;
  Ran ran = runPtx(run);
  if (!ran.faults(FaultKind::Uninitialised))
    return "no fault of this kind: " + ran.text();
  const Report &report = ran.result.faults.front();
  if (report.notes.empty() || report.notes.back().text.find(how) == std::string::npos)
    return "no such note: " + ran.text();
  if (report.site.ptxLine != lineOf(run, "ld.shared"))
    return "not the line of the load: " + ran.text();
  if (report.notes.back().site.ptxLine != lineOf(run, use))
    return "not the line of the use: " + ran.text();
  return "";
}

Ran runBody(const std::string &body) { return runPtx(loads + body); }
} // namespace

TEST(Undefined, UsesAreFaults) {
  EXPECT_EQ(missing("st.global.u32 [%rd0], %r1;", "stored to global memory"), "");
  EXPECT_EQ(missing("st.global.v2.u32 [%rd0], {%r0, %r1};", "stored to global memory"), "");
  EXPECT_EQ(missing("red.global.add.u32 [%rd0], %r1;", "used here"), "");
  EXPECT_EQ(missing("ld.local.u32 %r3, [%r1];", "used as an address"), "");
  EXPECT_EQ(missing("st.shared.u32 [%r1], %r0;", "used as an address"), "");
  EXPECT_EQ(missing("@%p1 bra done;", "decides a branch", "done:\n",
                    std::string(loads) + "setp.eq.u32 %p1, %r1, 0;\n"),
            "");
  EXPECT_EQ(missing("@!%p1 mov.u32 %r3, 1;", "decides whether this is executed", "",
                    std::string(loads) + "setp.eq.u32 %p1, %r1, 0;\n"),
            "");
  EXPECT_EQ(missing("bar.sync %r1;", "used here"), "");
  EXPECT_EQ(missing("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, "
                    "{%r1,%r3,%r3,%r3}, {%r3,%r3}, {%f1,%f2,%f3,%f4};",
                    "used here"),
            "");
}

TEST(Undefined, GoesThroughRegisters) {
  const char *stores = "st.global.u32 [%rd0], %r9;";
  for (const char *flow : {
           "mov.u32 %r9, %r1;\n",
           "add.u32 %r9, %r0, %r1;\n",
           "cvt.rn.f32.u32 %f1, %r1;\nmov.b32 %r9, %f1;\n",
           "mov.b64 %rd9, {%r0, %r1};\nmov.b64 {%r8, %r9}, %rd9;\n",
           "setp.gt.u32 %p1, %r1, 3;\nselp.u32 %r9, 1, 0, %p1;\n",
           "shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1;\n",
           "setp.gt.u32 %p1, %r1, 3;\nvote.sync.ballot.b32 %r9, %p1, -1;\n",
           "setp.ne.u32 %p1, %r0, 40;\nselp.u32 %r9, %r1, 0, %p1;\n",
           "mov.u32 %r9, 0;\nsetp.eq.u32 %p1, %r0, 7;\n@%p1 mov.u32 %r9, %r1;\n",
           ".local .b32 lv[4];\nst.local.u32 [lv], %r1;\nld.local.u32 %r9, [lv];\n",
       })
    EXPECT_EQ(missing(stores, "stored to global memory", "", std::string(loads) + flow), "")
        << flow;
}

TEST(Undefined, WhatIsNotTakenDoesNotMatter) {
  for (const char *body : {
           "",
           "add.u32 %r2, %r1, 1;\n",
           "setp.eq.u32 %p1, %r0, 99;\nselp.u32 %r1, %r1, 0, %p1;\nst.global.u32 [%rd0], %r1;\n",
           "setp.eq.u32 %p1, %r0, 99;\nselp.u32 %r1, 5, %r1, !%p1;\nst.global.u32 [%rd0], %r1;\n",
           "setp.eq.u32 %p1, %r0, 99;\nmov.u32 %r2, 1;\n@%p1 mov.u32 %r2, %r1;\n"
           "st.global.u32 [%rd0], %r2;\n",
           "mov.u32 %r1, 3;\nst.global.u32 [%rd0], %r1;\n",
           "ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0], %r1;\n",
           // Lane 3's value only.
           "mov.u32 %r2, %r0;\nsetp.eq.u32 %p1, %r0, 3;\n@%p1 mov.u32 %r2, %r1;\n"
           "@!%p1 st.global.u32 [%rd0], %r2;\n",
           // Lane 3 gives it to lane 2 and gets 2.
           "mov.u32 %r2, %r0;\nsetp.eq.u32 %p1, %r0, 3;\n@%p1 mov.u32 %r2, %r1;\n"
           "shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;\nsetp.eq.u32 %p1, %r0, 2;\n"
           "@!%p1 st.global.u32 [%rd0], %r2;\n",
           ".local .b32 lv[4];\nst.local.u32 [lv], %r1;\nst.local.u32 [lv], 1;\n"
           "ld.local.u32 %r9, [lv];\nst.global.u32 [%rd0], %r9;\n",
       }) {
    Ran ran = runBody(body);
    EXPECT_TRUE(ran.ok()) << body << ran.text();
    EXPECT_TRUE(ran.result.warnings.empty()) << body;
  }
}

TEST(Undefined, OfAVectorOnlyThePart) {
  std::string half = ".shared .align 16 .b32 sv[64];\nst.shared.u32 [sv+4], 7;\nbar.warp.sync -1;\n"
                     "ld.shared.v2.u32 {%r1, %r2}, [sv];\n";
  Ran good = runPtx(half + "st.global.u32 [%rd0], %r2;\n");
  EXPECT_TRUE(good.ok()) << good.text();
  EXPECT_EQ(good.at<uint32_t>(0), 7u);
  EXPECT_TRUE(runPtx(half + "st.global.u32 [%rd0], %r1;\n").faults(FaultKind::Uninitialised));
}

TEST(Undefined, StagedValuesStayUndefined) {
  Ran ran = runBody("st.shared.u32 [sv+16], %r1;\nbar.warp.sync -1;\nld.shared.u32 %r2, [sv+16];\n"
                    "st.global.u32 [%rd0], %r2;\n");
  ASSERT_TRUE(ran.faults(FaultKind::Uninitialised)) << ran.text();
  const Report &report = ran.result.faults.front();
  EXPECT_NE(report.message.find("only undefined values have been written"), std::string::npos);
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(report.notes[0].text, "an undefined value was stored there");
  EXPECT_EQ(report.notes[0].site.ptxLine + 2, report.site.ptxLine);
  // An engine that reads it cannot discard it.
  EXPECT_TRUE(runBody("st.shared.v4.u32 [sv+16], {%r1,%r1,%r1,%r1};\nbar.warp.sync -1;\n"
                      "fence.proxy.async;\nsetp.eq.u32 %p1, %r0, 0;\n"
                      "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [sv+16], 16;\n"
                      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n")
                  .faults(FaultKind::Uninitialised));
  ran = runBody("st.shared.u32 [sv+16], %r1;\nst.shared.u32 [sv+16], 5;\nbar.warp.sync -1;\n"
                "ld.shared.u32 %r2, [sv+16];\nst.global.u32 [%rd0], %r2;\n");
  EXPECT_TRUE(ran.ok()) << ran.text();
}

TEST(Undefined, MatricesByElement) {
  // Rows of 16 bytes; nobody writes row 5, which lanes 20 to 23 hold.
  std::string load = ".shared .align 16 .b8 sv[128];\nmov.u32 %r5, sv;\nand.b32 %r6, %r0, 7;\n"
                     "mad.lo.u32 %r6, %r6, 16, %r5;\nsetp.ne.u32 %p1, %r0, 5;\n"
                     "setp.lt.and.u32 %p1, %r0, 8, %p1;\n@%p1 st.shared.v4.u32 [%r6], {1,2,3,4};\n"
                     "bar.warp.sync -1;\n"
                     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r6];\n"
                     "shr.u32 %r7, %r0, 2;\nsetp.ne.u32 %p2, %r7, 5;\n";
  Ran good = runPtx(load + "@%p2 st.global.u32 [%rd0], %r1;\n");
  EXPECT_TRUE(good.ok()) << good.text();
  Ran bad = runPtx(load + "@!%p2 st.global.u32 [%rd0], %r1;\n");
  EXPECT_TRUE(bad.faults(FaultKind::Uninitialised)) << bad.text();
  // stmatrix takes it along: row 5 of the copy.
  std::string copy = load +
                     ".shared .align 16 .b8 sw[128];\nmov.u32 %r8, sw;\nsub.u32 %r9, %r6, %r5;\n"
                     "add.u32 %r9, %r9, %r8;\n"
                     "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r1};\nbar.warp.sync -1;\n";
  good = runPtx(copy + "ld.shared.u32 %r10, [%r8+76];\nst.global.u32 [%rd0], %r10;\n");
  EXPECT_TRUE(good.ok()) << good.text();
  bad = runPtx(copy + "ld.shared.u32 %r10, [%r8+80];\nst.global.u32 [%rd0], %r10;\n");
  EXPECT_TRUE(bad.faults(FaultKind::Uninitialised)) << bad.text();
}

TEST(Undefined, ThroughFunctions) {
  test::Run run;
  run.globals = ".func (.param .b32 back) pass(.param .b32 value)\n{\n.reg .b32 %v;\n"
                "ld.param.b32 %v, [value];\nst.param.b32 [back], %v;\nret;\n}\n";
  run.body = std::string(loads) + "{ .param .b32 to; .param .b32 from;\nst.param.b32 [to], %r1;\n"
                                  "call (from), pass, (to);\nld.param.b32 %r2, [from];\n}\n";
  EXPECT_TRUE(runPtx(run).ok()) << runPtx(run).text();
  run.body += "st.global.u32 [%rd0], %r2;\n";
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.faults(FaultKind::Uninitialised)) << ran.text();
  EXPECT_EQ(ran.result.faults.front().site.ptxLine, lineOf(run, "ld.shared"));
}
