// Schedules: the same seed gives the same run, victims are delayed, steering orders what it names,
// limits end what does not end. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;
using Snippet = ts::emu::test::Run; // testing::Test has a Run too

namespace {
/// Two warps write their number to one word; who is last decides. PTX line 16 is warp 0's store,
/// line 17 warp 1's.
Run twoWriters() {
  Snippet run;
  run.options.block = {64, 1, 1};
  run.body = "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 32;\n"
             "@%p0 st.global.u32 [%rd0], 1;\n@%p1 st.global.u32 [%rd0], 2;";
  return run;
}

uint32_t lineOf(const Run &run, const std::string &text) {
  std::string module = ptxModule(run);
  return uint32_t(1 + std::count(module.begin(), module.begin() + long(module.find(text)), '\n'));
}
} // namespace

TEST(Schedule, VictimComesLast) {
  Snippet run = twoWriters();
  run.options.schedule.kind = Schedule::Kind::Adversarial;
  for (unsigned victim : {0u, 1u}) {
    run.options.schedule.victim = victim;
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    EXPECT_EQ(ran.at<uint32_t>(0), victim + 1);
    EXPECT_EQ(ran.result.actors, 2u);
  }
}

TEST(Schedule, RandomIsReproducible) {
  Snippet run = twoWriters();
  run.options.schedule.kind = Schedule::Kind::Random;
  bool seen[3] = {};
  for (uint64_t seed = 0; seed < 40; ++seed) {
    run.options.schedule.seed = seed;
    Ran first = runPtx(run), second = runPtx(run);
    ASSERT_TRUE(first.ok()) << first.text();
    EXPECT_EQ(first.output, second.output) << seed;
    EXPECT_EQ(first.result.instructions, second.result.instructions);
    seen[std::min(first.at<uint32_t>(0), 2u)] = true;
  }
  EXPECT_TRUE(seen[1] && seen[2]); // both orders are reached
}

TEST(Schedule, SteeringOrdersWhatItNames) {
  Snippet run = twoWriters();
  uint32_t zero = lineOf(run, "@%p0 st"), one = lineOf(run, "@%p1 st");
  run.options.schedule.kind = Schedule::Kind::Steered;
  run.options.schedule.places = {{0, 1, one}, {0, 0, zero}};
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 1u);
  run.options.schedule.places = {{0, 0, zero}, {0, 1, one}};
  EXPECT_EQ(runPtx(run).at<uint32_t>(0), 2u);
}

// A list that the program cannot follow is left where it cannot be followed.
TEST(Schedule, ImpossibleSteeringEnds) {
  Snippet run = twoWriters();
  run.options.schedule.kind = Schedule::Kind::Steered;
  run.options.schedule.places = {{0, 7, 1}, {3, 0, 9999}, {0, 0, 1}};
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.ok()) << ran.text();
}

TEST(Schedule, StepLimitStops) {
  Snippet run;
  run.body = "again:\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd0], %r1;\nbra again;";
  run.options.stepLimit = 5000;
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.result.faults.empty()) << ran.text();
  EXPECT_NE(ran.result.stopped.find("5000 warp instructions"), std::string::npos);
  EXPECT_FALSE(ran.ok());
  EXPECT_LT(ran.result.instructions, 20000u);
}

TEST(Schedule, TimeoutStops) {
  Snippet run;
  run.body = "again:\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd0], %r1;\nbra again;";
  run.options.timeoutSeconds = 0.05;
  Ran ran = runPtx(run);
  EXPECT_NE(ran.result.stopped.find("0.05 s"), std::string::npos) << ran.text();
}

// One group of lanes is blocked, another of the same warp can go on: no hang, whoever is delayed.
TEST(Schedule, BlockedLanesDoNotHoldTheirSiblings) {
  Snippet run;
  run.options.block = {64, 1, 1};
  run.body = "setp.eq.u32 %p0, %r0, 0;\n@!%p0 bra meet;\nmov.u32 %r1, 0;\n"
             "again:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 500;\n@%p1 bra again;\n"
             "st.global.u32 [%rd0], %r1;\nmeet:\nbar.warp.sync -1;\nbar.sync 0;";
  for (unsigned victim : {0u, 1u}) {
    run.options.schedule.kind = Schedule::Kind::Adversarial;
    run.options.schedule.victim = victim;
    Ran ran = runPtx(run);
    EXPECT_TRUE(ran.ok()) << ran.text();
    EXPECT_EQ(ran.at<uint32_t>(0), 500u);
  }
  run.options.schedule.kind = Schedule::Kind::Random;
  for (run.options.schedule.seed = 0; run.options.schedule.seed < 50; ++run.options.schedule.seed)
    EXPECT_TRUE(runPtx(run).ok()) << runPtx(run).text();
}

// Warp 1 polls a word that warp 0 writes: polling is no progress, so the delayed warp 0 moves.
TEST(Schedule, PollingDoesNotStarveTheVictim) {
  Snippet run;
  run.options.block = {64, 1, 1};
  run.body = ".shared .align 8 .b64 full;\nmov.u32 %r1, full;\nsetp.eq.u32 %p0, %r0, 0;\n"
             "@%p0 mbarrier.init.shared.b64 [%r1], 1;\nbar.sync 0;\nsetp.ge.u32 %p2, %r0, 32;\n"
             "@%p2 bra poll;\n@%p0 mbarrier.arrive.shared.b64 %rd2, [%r1];\nbra end;\n"
             "poll:\nmbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;\n@!%p1 bra poll;\nend:";
  run.options.schedule.kind = Schedule::Kind::Adversarial;
  for (unsigned victim : {0u, 1u}) {
    run.options.schedule.victim = victim;
    Ran ran = runPtx(run);
    EXPECT_TRUE(ran.ok()) << ran.text();
  }
  run.options.schedule.kind = Schedule::Kind::Steered;
  uint32_t poll = lineOf(run, "@!%p1 bra poll"), arrive = lineOf(run, "@%p0 mbarrier.arrive");
  run.options.schedule.places = {{0, 1, poll + 1}, {0, 0, arrive}};
  EXPECT_TRUE(runPtx(run).ok()) << runPtx(run).text();
}

// A try_wait may come back with false before its phase is over; who ignores that has to be found.
TEST(Schedule, TryWaitGivesUpInSomeRuns) {
  unsigned gaveUp = 0, waited = 0;
  for (uint64_t seed = 0; seed <= 20; ++seed) {
    ts::emu::test::Run run;
    run.globals = ".shared .align 8 .b64 bar;\n";
    run.body = "mov.u32 %r1, bar;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra ready;\n"
               "mbarrier.init.shared.b64 [%r1], 1;\nready: bar.sync 0;\n"
               "setp.eq.u32 %p2, %r0, 32;\n@%p2 mbarrier.arrive.shared.b64 _, [%r1];\n"
               "setp.ne.u32 %p3, %r0, 0;\n@%p3 bra done;\n"
               "mbarrier.try_wait.parity.shared.b64 %p4, [%r1], 0;\n"
               "selp.u32 %r2, 1, 2, %p4;\nst.global.u32 [%rd0], %r2;\ndone:";
    run.options.block = {64, 1, 1};
    run.options.schedule.kind = seed ? Schedule::Kind::Random : Schedule::Kind::Fair;
    run.options.schedule.seed = seed;
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    if (!seed)
      EXPECT_EQ(ran.at<uint32_t>(0), 1u); // fair: it waits
    gaveUp += ran.at<uint32_t>(0) == 2;
    waited += ran.at<uint32_t>(0) == 1;
  }
  EXPECT_GT(gaveUp, 0u);
  EXPECT_GT(waited, 1u);
}
