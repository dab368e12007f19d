// What is a hang and what only takes long: loops without any effect that end, that do not, and
// that wait for others. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;
using Snippet = ts::emu::test::Run; // testing::Test has a Run too

namespace {
/// `count` times three instructions in registers, with %r<n> and %p<n>.
std::string loop(const std::string &count, const std::string &n = "9") {
  return "mov.u32 %r" + n + ", 0;\nloop" + n + ":\nadd.u32 %r" + n + ", %r" + n +
         ", 1;\nsetp.lt.u32 %p" + n + ", %r" + n + ", " + count + ";\n@%p" + n + " bra loop" + n +
         ";\n";
}

Ran runWith(const std::string &body, uint64_t idleLimit, uint32_t warps = 1,
            uint64_t stepLimit = 20'000'000) {
  Snippet run;
  run.body = body;
  run.globals = ".shared .align 8 .b64 bar;\n.shared .b32 flag;\n";
  run.options.block = {32 * warps, 1, 1};
  run.options.idleLimit = idleLimit;
  run.options.stepLimit = stepLimit;
  return runPtx(run);
}

void expectHang(const std::string &body, uint32_t warps = 1) {
  Ran ran = runWith(body, 20'000, warps, 5'000'000);
  EXPECT_TRUE(ran.faults(FaultKind::Hang)) << body << ran.text() << ran.result.stopped;
}
} // namespace

// With the limit that a launch has by default.
TEST(Hang, LongLoopInRegistersEnds) {
  Ran ran = runWith(loop("1700000") + "st.global.u32 [%rd0], %r9;", LaunchOptions().idleLimit);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 1'700'000u);
  EXPECT_GT(ran.result.instructions, 5'000'000u);
}

TEST(Hang, LongLoopOverATableEnds) {
  Ran ran = runWith("mov.u32 %r1, 0;\nst.global.u32 [%rd0+64], 3;\nmov.u32 %r2, 0;\n"
                    "again:\nld.global.u32 %r3, [%rd0+64];\nadd.u32 %r1, %r1, %r3;\n"
                    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 50000;\n@%p1 bra again;\n"
                    "st.global.u32 [%rd0], %r1;",
                    10'000);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 150'000u);
}

// The others of the CTA wait at a barrier, or poll, until the loop is through.
TEST(Hang, LongLoopBesideWaitingWarpsEnds) {
  const std::string waits[] = {
      "mbarrier.try_wait.parity.shared.b64 %p4, [%r1], 0;",
      "mbarrier.test_wait.parity.shared.b64 %p4, [%r1], 0;",
      "ld.acquire.cta.shared.u32 %r5, [%r2];\nsetp.ne.u32 %p4, %r5, 0;",
      "nanosleep.u32 20;\nld.volatile.shared.u32 %r5, [%r2];\nsetp.ne.u32 %p4, %r5, 0;"};
  for (const std::string &wait : waits)
    for (int kind = 0; kind < 4; ++kind) {
      Snippet run;
      run.globals = ".shared .align 8 .b64 bar;\n.shared .b32 flag;\n";
      run.body =
          "mov.u32 %r1, bar;\nmov.u32 %r2, flag;\nsetp.eq.u32 %p0, %r0, 0;\n"
          "@%p0 mbarrier.init.shared.b64 [%r1], 1;\n@%p0 st.shared.u32 [%r2], 0;\nbar.sync 0;\n"
          "setp.ge.u32 %p2, %r0, 32;\n@%p2 bra poll;\n" +
          loop("5000") +
          "@%p0 mbarrier.arrive.shared.b64 %rd2, [%r1];\n"
          "@%p0 st.release.cta.shared.u32 [%r2], 1;\nbra end;\n"
          "poll:\n" +
          wait + "\n@!%p4 bra poll;\nst.global.u32 [%rd0], 7;\nend:";
      run.options.block = {64, 1, 1};
      run.options.idleLimit = 2'000;
      run.options.stepLimit = 20'000'000;
      Schedule &schedule = run.options.schedule;
      schedule.kind = kind == 0   ? Schedule::Kind::Fair
                      : kind == 1 ? Schedule::Kind::Random
                                  : Schedule::Kind::Adversarial;
      schedule.victim = kind == 3;
      Ran ran = runPtx(run);
      EXPECT_TRUE(ran.ok()) << wait << kind << ran.text() << ran.result.stopped;
      EXPECT_EQ(ran.at<uint32_t>(0), 7u);
    }
}

// The state comes back: at once, after a long inner loop, through calls and local memory, in lanes
// of a warp whose siblings wait for them, and in one warp while others wait or poll.
TEST(Hang, StateThatComesBackIsAHang) {
  expectHang("again:\nbra again;");
  expectHang("again:\nxor.b32 %r1, %r1, 1;\nbra again;");
  expectHang("outer:\n" + loop("50000") + "bra outer;");
  expectHang(".local .b32 spill;\nmov.u32 %r3, spill;\nst.local.u32 [%r3], 0;\n"
             "again:\nld.local.u32 %r1, [%r3];\nadd.u32 %r1, %r1, 1;\nand.b32 %r1, %r1, 1023;\n"
             "st.local.u32 [%r3], %r1;\nmov.u32 %r1, 0;\nbra again;");
  expectHang("setp.lt.u32 %p0, %r0, 16;\n@%p0 bra again;\nbar.warp.sync -1;\n"
             "again:\nxor.b32 %r1, %r1, 1;\n@%p0 bra again;\nret;");
  // Lanes that part and meet in each round.
  expectHang("again:\nand.b32 %r2, %r0, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra meet;\n"
             "xor.b32 %r1, %r1, 1;\nmeet:\nbra again;");
  expectHang("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra again;\nbar.sync 0;\nret;\n"
             "again:\nxor.b32 %r1, %r1, 1;\nbra again;",
             2);
  // A store of what is there already changes nothing.
  expectHang("again:\nst.global.u32 [%rd0], 5;\nbra again;");
  expectHang("again:\nld.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;");
  expectHang("mov.u32 %r2, 0;\nlist: .branchtargets again;\nagain:\nbrx.idx %r2, list;");
}

TEST(Hang, CallsComeBack) {
  Snippet run;
  run.globals = ".func (.param .b32 r) f(.param .b32 a) {\n.reg .b32 %x;\nld.param.b32 %x, [a];\n"
                "xor.b32 %x, %x, 1;\nst.param.b32 [r], %x;\nret;\n}\n";
  run.body =
      "again:\n{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %r1;\ncall (r), f, (a);\n"
      "ld.param.b32 %r1, [r];\n}\nbra again;";
  run.options.idleLimit = 20'000;
  run.options.stepLimit = 5'000'000;
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.faults(FaultKind::Hang)) << ran.text() << ran.result.stopped;
}

// Loops that look at the time or at what others write are waiting loops, whatever they count.
TEST(Hang, PollsThatCountAreAHang) {
  const std::string tail = "add.u64 %rd5, %rd5, 1;\nbra again;";
  for (const char *poll :
       {"ld.acquire.gpu.global.u32 %r1, [%rd0];\n", "ld.relaxed.sys.global.u32 %r1, [%rd0];\n",
        "ld.volatile.global.u32 %r1, [%rd0];\n", "mov.u64 %rd6, %clock64;\n",
        "mov.u32 %r1, %clock;\n", "mov.u64 %rd6, %globaltimer;\n", "nanosleep.u32 100;\n"}) {
    expectHang(std::string("again:\n") + poll + tail);
    // with a pause of its own making in between
    expectHang(std::string("again:\n") + loop("100") + poll + tail);
  }
  expectHang("mov.u32 %r1, bar;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra again;\n"
             "mbarrier.init.shared.b64 [%r1], 1;\nagain:\nbar.warp.sync -1;\nround:\n"
             "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;\n@%p2 bra end;\n"
             "add.u64 %rd5, %rd5, 1;\nbra round;\nend:");
}

// A counter does not come back within any patience: the limit of steps ends it, and says so.
TEST(Hang, EndlessCounterReachesTheStepLimit) {
  Ran ran = runWith("again:\nadd.u64 %rd5, %rd5, 1;\nbra again;", 10'000, 1, 1'000'000);
  EXPECT_TRUE(ran.result.faults.empty()) << ran.text();
  EXPECT_NE(ran.result.stopped.find("step limit reached"), std::string::npos) << ran.result.stopped;
  EXPECT_NE(ran.result.stopped.find("nothing but registers has changed"), std::string::npos)
      << ran.result.stopped;
  EXPECT_NE(ran.result.stopped.find("PTX line"), std::string::npos) << ran.result.stopped;
}

// A loop in registers with a waiting warp beside it: neither shows that the other is hung.
TEST(Hang, CounterBesideAPollIsNoHang) {
  Ran ran = runWith("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra poll;\n"
                    "again:\nadd.u64 %rd5, %rd5, 1;\nbra again;\n"
                    "poll:\nld.volatile.global.u32 %r1, [%rd0];\nbra poll;",
                    10'000, 2, 1'000'000);
  EXPECT_TRUE(ran.result.faults.empty()) << ran.text();
  EXPECT_NE(ran.result.stopped.find("step limit reached"), std::string::npos);
}

namespace {
/// One thread in each of `ctas` clusters of one CTA: %r1 its number.
Ran runClusters(const std::string &body, unsigned ctas, unsigned threads) {
  Snippet run;
  run.body =
      "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd0;\n" + body;
  run.options.grid = {ctas, 1, 1};
  run.options.block = {1, 1, 1};
  run.options.idleLimit = 2000;
  run.options.stepLimit = 3'000'000;
  run.options.threads = threads;
  return runPtx(run);
}
} // namespace

// Each waits for the flag of the next, so they go on in the other order than they were started;
// behind its flag each computes for longer than the limit, or only a little.
TEST(Hang, ClustersThatWaitForEachOther) {
  for (unsigned threads : {1u, 2u})
    for (uint32_t count : {200u, 5000u}) {
      Ran ran =
          runClusters("setp.eq.u32 %p1, %r1, 39;\n@%p1 bra go;\n"
                      "poll:\nld.acquire.gpu.global.u32 %r2, [%rd3+4];\nsetp.eq.u32 %p2, %r2, 0;\n"
                      "@%p2 bra poll;\ngo:\n" +
                          loop(std::to_string(count)) + "st.release.gpu.global.u32 [%rd3], %r9;",
                      40, threads);
      ASSERT_TRUE(ran.ok()) << threads << count << ran.text() << ran.result.stopped;
      EXPECT_EQ(ran.at<uint32_t>(0), count);
    }
}

TEST(Hang, ClustersThatAllPollAreAHang) {
  for (unsigned threads : {1u, 3u}) {
    Ran ran = runClusters("poll:\nld.acquire.gpu.global.u32 %r2, [%rd3];\nadd.u64 %rd5, %rd5, 1;\n"
                          "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra poll;",
                          6, threads);
    EXPECT_TRUE(ran.faults(FaultKind::Hang)) << ran.text() << ran.result.stopped;
    // One of them computes for ever, so it is not known whether the others wait in vain.
    ran = runClusters("setp.eq.u32 %p1, %r1, 2;\n@%p1 bra count;\n"
                      "poll:\nld.acquire.gpu.global.u32 %r2, [%rd3];\nsetp.eq.u32 %p2, %r2, 0;\n"
                      "@%p2 bra poll;\nret;\ncount:\nadd.u64 %rd5, %rd5, 1;\nbra count;",
                      6, threads);
    EXPECT_TRUE(ran.result.faults.empty()) << ran.text();
    EXPECT_NE(ran.result.stopped.find("step limit reached"), std::string::npos);
  }
}
