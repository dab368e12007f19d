// Branch tables, traps, what only passes time, and reductions of thread barriers. SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

TEST(Control, BranchTable) {
  for (const char *uni : {"", ".uni"}) {
    std::string op = std::string("brx.idx") + uni;
    // With .uni all lanes go to one place.
    std::string index = *uni ? "mov.u32 %r1, 2;\n" : "and.b32 %r1, %r0, 3;\n";
    Ran ran = runPtx("mov.u32 %r2, 99;\n" + index + "table: .branchtargets A, B, C, D;\n" + op +
                     " %r1, table;\nA: mov.u32 %r2, 10; bra.uni end;\nB: mov.u32 %r2, 11; bra.uni "
                     "end;\nC: mov.u32 %r2, 12; bra.uni end;\nD: mov.u32 %r2, 13;\nend:\n"
                     "mul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd2, %rd2, %rd0;\n"
                     "st.global.u32 [%rd2], %r2;");
    ASSERT_TRUE(ran.ok()) << ran.text();
    for (unsigned lane = 0; lane < 32; ++lane)
      EXPECT_EQ(ran.at<uint32_t>(lane), *uni ? 12u : 10 + lane % 4);
  }
}

TEST(Control, LanesCallDifferentFunctions) {
  test::Run run;
  auto function = [](const char *name, const char *op) {
    return std::string(".func (.param .b32 result) ") + name +
           "(.param .b32 value)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [value];\n" + op +
           "\nst.param.b32 [result], %r1;\nret;\n}\n";
  };
  run.globals = function("twice", "add.u32 %r1, %r1, %r1;") +
                function("square", "mul.lo.u32 %r1, %r1, %r1;") +
                function("negative", "neg.s32 %r1, %r1;") +
                ".global .u64 table[3] = {twice, square, negative};\n";
  // Lanes from 24 on do not call; behind the call all are together again.
  run.body = "rem.u32 %r1, %r0, 3;\nmov.u64 %rd2, table;\ncvta.global.u64 %rd2, %rd2;\n"
             "mul.wide.u32 %rd3, %r1, 8;\nadd.u64 %rd3, %rd3, %rd2;\nld.u64 %rd4, [%rd3];\n"
             "setp.lt.u32 %p1, %r0, 24;\nmov.u32 %r2, 77;\n.param .b32 a;\n.param .b32 b;\n"
             "st.param.b32 [a], %r0;\n"
             "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
             "@%p1 call (b), %rd4, (a), proto;\n@%p1 ld.param.b32 %r2, [b];\n"
             "vote.sync.ballot.b32 %r3, 1, 0xffffffff;\nactivemask.b32 %r4;\n"
             "mul.wide.u32 %rd5, %r0, 16;\nadd.u64 %rd5, %rd5, %rd0;\n"
             "st.global.v4.u32 [%rd5], {%r2, %r3, %r4, %r1};\n";
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t called = lane % 3 == 0 ? 2 * lane : lane % 3 == 1 ? lane * lane : 0 - lane;
    EXPECT_EQ(ran.at<uint32_t>(4 * lane), lane < 24 ? called : 77) << lane;
    EXPECT_EQ(ran.at<uint32_t>(4 * lane + 1), ~0u);
    EXPECT_EQ(ran.at<uint32_t>(4 * lane + 2), ~0u);
  }
}

TEST(Control, CallOfWhatIsNoFunction) {
  Ran ran = runPtx("mov.u64 %rd4, 4096;\nproto: .callprototype _ ();\ncall %rd4, (), proto;");
  EXPECT_TRUE(ran.faults(FaultKind::Trap)) << ran.text();
}

TEST(Control, BranchBeyondTheTable) {
  Ran ran = runPtx("table: .branchtargets A, A;\nmov.u32 %r1, 2;\nbrx.idx %r1, table;\nA:");
  EXPECT_TRUE(ran.faults(FaultKind::Trap)) << ran.text();
}

TEST(Control, TrapsStopTheKernel) {
  for (const char *op : {"trap", "brkpt"}) {
    Ran ran = runPtx("setp.eq.u32 %p1, %r0, 7;\n@%p1 " + std::string(op) + ";");
    ASSERT_TRUE(ran.faults(FaultKind::Trap)) << ran.text();
    EXPECT_EQ(ran.result.faults.front().site.lanes, 1u << 7);
  }
}

TEST(Control, WhatPassesTimeChangesNothing) {
  Ran ran = runPtx("mov.u32 %r1, 20;\nnanosleep.u32 %r1;\nnanosleep.u32 5;\npmevent 1;\n"
                   "pmevent.mask 3;\nst.global.u32 [%rd0], %r1;");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 20u);
}

TEST(Control, BarrierReductions) {
  for (const char *name : {"bar", "bar.cta", "barrier", "barrier.cta"})
    for (const char *aligned : {"", ".aligned"}) {
      if (std::string(name).rfind("barrier", 0) != 0 && *aligned)
        continue;
      auto form = [&](const std::string &op) {
        return std::string(name) + ".red." + op + aligned + (op == "popc" ? ".u32" : ".pred");
      };
      // Threads with an odd index say yes; then all; then none.
      ts::emu::test::Run run;
      run.options.block = {64, 1, 1};
      run.body = "and.b32 %r1, %r0, 1;\nsetp.ne.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r0, 64;\n"
                 "setp.ge.u32 %p3, %r0, 64;\n" +
                 form("popc") + " %r2, 1, 64, %p1;\n" + form("and") + " %p4, 2, 64, %p1;\n" +
                 form("and") + " %p5, 2, 64, %p2;\n" + form("or") + " %p6, 3, 64, %p1;\n" +
                 form("or") + " %p7, 3, 64, %p3;\n" + form("popc") + " %r3, 1, 64, !%p1;\n" +
                 "selp.u32 %r4, 1, 0, %p4;\nselp.u32 %r5, 1, 0, %p5;\nselp.u32 %r6, 1, 0, %p6;\n"
                 "selp.u32 %r7, 1, 0, %p7;\nsetp.ne.u32 %p8, %r0, 33;\n@%p8 bra end;\n"
                 "st.global.v2.u32 [%rd0], {%r2, %r3};\n"
                 "st.global.v4.u32 [%rd0+16], {%r4, %r5, %r6, %r7};\nend:";
      Ran ran = runPtx(run);
      ASSERT_TRUE(ran.ok()) << name << aligned << ran.text();
      EXPECT_EQ(ran.at<uint32_t>(0), 32u);
      EXPECT_EQ(ran.at<uint32_t>(1), 32u);
      EXPECT_EQ(ran.at<uint32_t>(4), 0u);
      EXPECT_EQ(ran.at<uint32_t>(5), 1u);
      EXPECT_EQ(ran.at<uint32_t>(6), 1u);
      EXPECT_EQ(ran.at<uint32_t>(7), 0u);
    }
}
