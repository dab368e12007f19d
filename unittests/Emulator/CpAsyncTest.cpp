// cp.async: sizes, zero fill, groups, arrivals at mbarriers. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "TensorReference.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

test::Run program(const std::string &body, unsigned threads = 1) {
  test::Run run;
  run.globals = ".shared .align 16 .b8 smem[4096];\n.shared .align 8 .b64 bar;\n";
  run.options.block = {threads, 1, 1};
  run.input = noise(4096);
  run.body = body;
  return run;
}

#define EXPECT_FAULT(RAN, KIND, TEXT)                                                              \
  do {                                                                                             \
    const Ran &ran_ = (RAN);                                                                       \
    EXPECT_TRUE(ran_.faults(FaultKind::KIND)) << ran_.text();                                      \
    EXPECT_NE(ran_.text().find(TEXT), std::string::npos) << ran_.text();                           \
  } while (false)

/// %r10: smem + 16 * thread, %rd10: input + 16 * thread.
std::string perThread() {
  return "mov.u32 %r10, smem;\nmul.lo.u32 %r11, %r0, 16;\n"
         "add.u32 %r10, %r10, %r11;\nmul.wide.u32 %rd10, %r0, 16;\n"
         "add.u64 %rd11, %rd0, %rd10;\nadd.u64 %rd10, %rd1, %rd10;\n";
}
std::string copyOut() {
  return "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r10];\n"
         "st.global.v4.b32 [%rd11], {%r1, %r2, %r3, %r4};\n";
}
std::string copy16() { return "cp.async.cg.shared.global [%r10], [%rd10], 16;\n"; }
} // namespace

TEST(CpAsync, SizesAndZeroFill) {
  test::Run run = program("cp.async.ca.shared.global [smem], [%rd1], 16;\n"
                          "cp.async.ca.shared::cta.global [smem+16], [%rd1+24], 8;\n"
                          "cp.async.ca.shared.global.L2::128B [smem+24], [%rd1+44], 4;\n"
                          "cp.async.ca.shared.global [smem+28], [%rd1+40], 4, 3;\n"
                          "mov.b32 %r5, 10;\n"
                          "cp.async.cg.shared.global.L2::cache_hint [smem+32], [%rd1+64], 16, %r5, "
                          "%rd0;\n"
                          "setp.eq.u32 %p2, %r0, 0;\n"
                          "cp.async.cg.shared.global [smem+48], [%rd1+80], 16, %p2;\n"
                          "cp.async.ca.shared.global.L2::256B.L2::cache_hint [smem+64], [%rd1+96], "
                          "8, !%p2, %rd0;\n"
                          "cp.async.ca.shared.global [smem+72], [%rd1+104], 8, 0;\n"
                          "cp.async.wait_all;\n" +
                          dumpShared("smem", 80));
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  std::vector<uint8_t> expected(80, 0);
  auto copy = [&](size_t to, size_t from, size_t bytes) {
    memcpy(&expected[to], &run.input[from], bytes);
  };
  copy(0, 0, 16);
  copy(16, 24, 8);
  copy(24, 44, 4);
  copy(28, 40, 3);
  copy(32, 64, 10);
  copy(64, 96, 8);
  EXPECT_EQ(std::vector<uint8_t>(ran.output.begin(), ran.output.begin() + 80), expected);
}

TEST(CpAsync, GroupsAreWaitedForInOrder) {
  const std::string two = perThread() + copy16() +
                          "cp.async.commit_group;\n"
                          "cp.async.cg.shared.global [%r10+512], [%rd10+512], 16;\n"
                          "cp.async.commit_group;\ncp.async.wait_group 1;\n";
  for (Schedule::Kind kind : {Schedule::Kind::Fair, Schedule::Kind::Random}) {
    test::Run run = program(two + copyOut() + "cp.async.wait_group 0;\n" +
                                "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r10+512];\n"
                                "st.global.v4.b32 [%rd11+512], {%r1, %r2, %r3, %r4};\n",
                            32);
    run.options.schedule.kind = kind;
    run.options.schedule.seed = 5;
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    EXPECT_TRUE(std::equal(ran.output.begin(), ran.output.begin() + 1024, run.input.begin()));
  }
  EXPECT_FAULT(runPtx(program(two + "ld.shared.b32 %r1, [%r10+512];\n", 32)), Race, "cp.async");
  EXPECT_FAULT(runPtx(program(perThread() + copy16() + copyOut(), 32)), Race, "cp.async");
  // Copies that nobody commits are not waited for by wait_group, but by wait_all.
  EXPECT_FAULT(runPtx(program(perThread() + copy16() + "cp.async.wait_group 0;\n" + copyOut(), 32)),
               Race, "cp.async");
  Ran all = runPtx(program(perThread() + copy16() + "cp.async.wait_all;\n" + copyOut(), 32));
  EXPECT_TRUE(all.ok()) << all.text();
  // Other warps need a barrier behind the wait.
  EXPECT_FAULT(
      runPtx(
          program(perThread() + copy16() + "cp.async.wait_all;\nld.shared.b32 %r1, [smem];\n", 64)),
      Race, "nothing orders them");
}

TEST(CpAsync, ArrivesAtBarriers) {
  const std::string init = "setp.eq.u32 %p2, %r0, 0;\n@%p2 mbarrier.init.shared.b64 [bar], ";
  for (Schedule::Kind kind :
       {Schedule::Kind::Fair, Schedule::Kind::Random, Schedule::Kind::Adversarial}) {
    for (bool noinc : {false, true}) {
      // Without .noinc only the threads' own arrivals are counted by the init.
      test::Run run =
          program(perThread() + init + (noinc ? "128" : "64") + ";\nbar.sync 0;\n" + copy16() +
                      (noinc ? "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n"
                             : "cp.async.mbarrier.arrive.shared.b64 [bar];\n") +
                      "mbarrier.arrive.shared.b64 _, [bar];\n" + waitBarrier("bar", 0, "W") +
                      // the neighbour's bytes
                      "xor.b32 %r12, %r0, 63;\nmul.lo.u32 %r12, %r12, 16;\nmov.u32 %r10, smem;\n"
                      "add.u32 %r10, %r10, %r12;\n" +
                      copyOut(),
                  64);
      run.options.schedule.kind = kind;
      run.options.schedule.victim = 2; // the channel of the first warp
      Ran ran = runPtx(run);
      ASSERT_TRUE(ran.ok()) << ran.text();
      for (size_t i = 0; i < 1024; ++i)
        ASSERT_EQ(ran.output[i], run.input[(63 - i / 16) * 16 + i % 16]);
    }
  }
  // A generic address, and a barrier without room for the arrivals.
  EXPECT_FAULT(runPtx(program(perThread() + init +
                                  "8;\nbar.sync 0;\nmov.u64 %rd5, bar;\ncvta.shared.u64 %rd5, "
                                  "%rd5;\n" +
                                  copy16() + "cp.async.mbarrier.arrive.noinc.b64 [%rd5];\n" +
                                  "cp.async.wait_all;\n",
                              32)),
               BarrierArrival, "32 arrivals");
  EXPECT_FAULT(runPtx(program("cp.async.mbarrier.arrive.shared.b64 [bar];\n")), BarrierState,
               "no mbarrier has been initialised");
}

TEST(CpAsync, Faults) {
  EXPECT_FAULT(runPtx(program("cp.async.ca.shared.global [smem+4], [%rd1], 8;\n")), Alignment,
               "multiple of 8");
  EXPECT_FAULT(runPtx(program("cp.async.ca.shared.global [smem], [%rd1+2], 4;\n")), Alignment,
               "multiple of 4");
  EXPECT_FAULT(runPtx(program("cp.async.ca.shared.global [smem], [%rd1+4096], 4;\n")), OutOfBounds,
               "allocation");
  EXPECT_FAULT(runPtx(program("cp.async.ca.shared.global [smem+8192], [%rd1], 4;\n")), OutOfBounds,
               "shared memory");
  EXPECT_FAULT(runPtx(program("cp.async.ca.shared.global [smem], [%rd1], 4, 5;\n")), OutOfBounds,
               "reads 5");
  EXPECT_FAULT(runPtx(program("cp.async.cg.shared.global [smem], [%rd1], 8;\n")), Unsupported,
               "expected 16");
}
