// What is a race and what is not: orders, proxies, equal stores. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
Ran twoWarps(const std::string &body) {
  Run run;
  run.globals = ".shared .align 16 .b8 s[1024];\n";
  run.body = "mov.u32 %r10, s;\nshr.u32 %r11, %r0, 5;\nsetp.eq.u32 %p1, %r11, 0;\n" + body;
  run.options.block = {64, 1, 1};
  return runPtx(run);
}
} // namespace

TEST(Checker, WriteAndReadOfTwoWarpsWithoutBarrierIsARace) {
  Ran ran = twoWarps("@%p1 st.shared.u32 [%r10], %r0;\n@!%p1 ld.shared.u32 %r1, [%r10];");
  EXPECT_TRUE(ran.faults(FaultKind::Race) || ran.faults(FaultKind::Uninitialised)) << ran.text();
}

TEST(Checker, ABarrierOrders) {
  Ran ran = twoWarps("@%p1 st.shared.u32 [%r10], %r11;\nbar.sync 0;\n"
                     "@!%p1 ld.shared.u32 %r1, [%r10];");
  EXPECT_TRUE(ran.ok()) << ran.text();
}

TEST(Checker, ReadThenWriteOfAnotherWarpIsARace) {
  Ran ran = twoWarps("st.shared.u32 [%r10+64], 7;\nbar.sync 0;\n"
                     "@%p1 ld.shared.u32 %r1, [%r10+64];\n@!%p1 st.shared.u32 [%r10+64], 8;");
  EXPECT_TRUE(ran.faults(FaultKind::Race)) << ran.text();
}

TEST(Checker, EqualStoresOfTwoWarpsAreNoRace) {
  Ran ran = twoWarps("st.shared.u32 [%r10], 7;\nbar.sync 0;\nld.shared.u32 %r1, [%r10];");
  EXPECT_TRUE(ran.ok()) << ran.text();
}

TEST(Checker, DifferentStoresOfTwoWarpsAreARace) {
  Ran ran = twoWarps("st.shared.u32 [%r10], %r11;");
  EXPECT_TRUE(ran.faults(FaultKind::Race)) << ran.text();
}

TEST(Checker, TheFirstOfEqualStoresStaysUnordered) {
  // Warp 1 repeats warp 0's store; whoever then reads without knowing warp 0 races.
  Ran ran = twoWarps("st.shared.u32 [%r10], 7;\n@!%p1 ld.shared.u32 %r1, [%r10];");
  EXPECT_TRUE(ran.faults(FaultKind::Race)) << ran.text();
}

TEST(Checker, AtomicsDoNotRaceWithEachOther) {
  Ran ran = twoWarps("@%p1 st.shared.u32 [%r10], 0;\nbar.sync 0;\n"
                     "red.shared.add.u32 [%r10], 1;\nbar.sync 0;\n"
                     "ld.shared.u32 %r1, [%r10];\nst.global.u32 [%rd0], %r1;");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 64u);
}

TEST(Checker, EngineReadsOfOrdinaryStoresNeedAProxyFence) {
  const std::string copy = "setp.ne.u32 %p2, %r0, 0;\n@%p2 bra done;\n"
                           "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r10], 16;\n"
                           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\ndone:";
  const std::string fill = "st.shared.v4.u32 [%r10], {%r11, %r11, %r11, %r11};\n";
  Ran without = twoWarps("@%p1 " + fill + "bar.sync 0;\n" + copy);
  EXPECT_TRUE(without.faults(FaultKind::ProxyFence)) << without.text();
  Ran with = twoWarps("@%p1 " + fill + "fence.proxy.async.shared::cta;\nbar.sync 0;\n" + copy);
  EXPECT_TRUE(with.ok()) << with.text();
}
