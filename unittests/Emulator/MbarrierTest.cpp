// mbarrier instructions: phases, counts, tokens, bytes, order, and what is misuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

test::Run program(const std::string &body, unsigned threads = 1, unsigned ctas = 1) {
  test::Run run;
  run.globals = ".shared .align 8 .b64 bar;\n.shared .align 8 .b64 bar2;\n"
                ".shared .align 16 .b32 data[64];\n";
  run.body = body;
  run.options.block = {threads, 1, 1};
  run.options.grid = run.options.cluster = {ctas, 1, 1};
  return run;
}
Ran one(const std::string &body) { return runPtx(program(body)); }

std::string init() { return "mbarrier.init.shared::cta.b64 [bar], "; }
/// Spins until the phase with this parity is over.
std::string waitParity(int parity, const std::string &label, const char *form = "") {
  return label + ":\nmbarrier.try_wait.parity" + form + ".shared::cta.b64 %p1, [bar], " +
         std::to_string(parity) + ";\n@!%p1 bra " + label + ";\n";
}
std::string storePredicate(const char *p, int index) {
  return std::string("selp.b32 %r9, 1, 0, ") + p + ";\nst.global.b32 [%rd0+" +
         std::to_string(4 * index) + "], %r9;\n";
}
#define EXPECT_FAULT(RAN, KIND, TEXT)                                                              \
  do {                                                                                             \
    const Ran &ran_ = (RAN);                                                                       \
    EXPECT_TRUE(ran_.faults(FaultKind::KIND)) << ran_.text();                                      \
    EXPECT_NE(ran_.text().find(TEXT), std::string::npos) << ran_.text();                           \
  } while (false)
} // namespace

TEST(Mbarrier, AllThreadsMeet) {
  test::Run run = program("setp.eq.u32 %p2, %r0, 0;\n@%p2 " + init() + "64;\nbar.sync 0;\n" +
                              "mbarrier.arrive.shared::cta.b64 _, [bar];\n" + waitParity(0, "L0") +
                              "mbarrier.arrive.shared.b64 _, [bar];\n" + waitParity(1, "L1") +
                              "mul.wide.u32 %rd5, %r0, 4;\nadd.u64 %rd5, %rd0, %rd5;\n"
                              "st.global.b32 [%rd5], 7;\n",
                          64);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(ran.at<uint32_t>(i), 7u);
}

TEST(Mbarrier, StatesAndPendingCounts) {
  // Generic addresses: no state space.
  Ran ran =
      one("mov.u64 %rd4, bar;\ncvta.shared.u64 %rd5, %rd4;\n"
          "mbarrier.init.b64 [%rd5], 5;\n"
          "mbarrier.arrive.b64 %rd6, [%rd5];\n"
          "mbarrier.arrive.release.cta.b64 %rd7, [%rd5], 3;\n"
          "mbarrier.pending_count.b64 %r1, %rd6;\nmbarrier.pending_count.b64 %r2, %rd7;\n"
          "mbarrier.test_wait.b64 %p1, [%rd5], %rd6;\n" +
          storePredicate("%p1", 2) +
          "mbarrier.arrive.relaxed.cluster.b64 %rd8, [%rd5];\n"
          "mbarrier.test_wait.acquire.cta.b64 %p1, [%rd5], %rd7;\n" +
          storePredicate("%p1", 3) + "mbarrier.try_wait.relaxed.cta.b64 %p1, [%rd5], %rd8, 100;\n" +
          storePredicate("%p1", 4) + "mbarrier.test_wait.parity.b64 %p1, [%rd5], 1;\n" +
          storePredicate("%p1", 5) +
          "st.global.b32 [%rd0], %r1;\nst.global.b32 [%rd0+4], %r2;\n"
          "mbarrier.inval.b64 [%rd5];\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  const uint32_t expected[] = {5, 4, 0, 1, 1, 0};
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(ran.at<uint32_t>(i), expected[i]) << i;
}

TEST(Mbarrier, ArriveDropLowersLaterPhases) {
  Ran ran = one(init() +
                "3;\nmbarrier.arrive_drop.shared::cta.b64 %rd4, [bar];\n"
                "mbarrier.arrive.shared::cta.b64 _, [bar], 2;\n" // phase 0 is over
                "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0;\n" +
                storePredicate("%p1", 0) + // now two arrivals are enough
                "mbarrier.arrive_drop.expect_tx.relaxed.cta.shared::cta.b64 _, [bar], 16;\n"
                "mbarrier.arrive.shared::cta.b64 _, [bar];\n"
                "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 1;\n" +
                storePredicate("%p1", 1) + "mbarrier.complete_tx.shared::cta.b64 [bar], 16;\n" +
                "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 1;\n" +
                storePredicate("%p1", 2) + "mbarrier.arrive.shared.b64 _, [bar];\n" +
                "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n" + storePredicate("%p1", 3));
  ASSERT_TRUE(ran.ok()) << ran.text();
  const uint32_t expected[] = {1, 0, 1, 1};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(ran.at<uint32_t>(i), expected[i]) << i;
}

TEST(Mbarrier, BytesHoldThePhaseOpen) {
  Ran ran = one(init() +
                "1;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64;\n"
                "mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [bar], 32;\n"
                "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 80;\n"
                "mbarrier.test_wait.shared.b64 %p1, [bar], %rd4;\n" +
                storePredicate("%p1", 0) +
                "mbarrier.complete_tx.shared.b64 [bar], 16;\n"
                "mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd4;\n" +
                storePredicate("%p1", 1));
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 0u);
  EXPECT_EQ(ran.at<uint32_t>(1), 1u);
}

TEST(Mbarrier, TryWaitGivesUp) {
  // Nobody arrives: the wait comes back with false, and the program goes another way.
  Ran ran = one(init() + "2;\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0, 1000;\n" +
                "@!%p1 st.global.b32 [%rd0], 9;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 9u);
}

TEST(Mbarrier, LanesGoOnApart) {
  // Lane 0 waits for lane 1, which waits for nobody: both at the same instruction.
  test::Run run = program("setp.eq.u32 %p2, %r0, 0;\n@%p2 " + init() +
                              "1;\n@%p2 mbarrier.init.shared.b64 [bar2], 1;\n"
                              "@%p2 mbarrier.arrive.shared.b64 _, [bar2];\nbar.warp.sync 3;\n"
                              "mov.u32 %r1, bar;\nmov.u32 %r2, bar2;\n"
                              "selp.b32 %r1, %r1, %r2, %p2;\n"
                              "L:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n"
                              "@!%p1 bra L;\n@!%p2 mbarrier.arrive.shared.b64 _, [bar];\n"
                              "@%p2 st.global.b32 [%rd0], 1;\n",
                          2);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 1u);
}

namespace {
/// Warp 1 writes shared memory and arrives, warp 0 waits and reads.
Ran handOver(const std::string &arrive, const char *wait) {
  return runPtx(program("setp.eq.u32 %p2, %r0, 0;\nsetp.lt.u32 %p3, %r0, 32;\n@%p2 " + init() +
                            "32;\nbar.sync 0;\n@%p3 bra WAIT;\n"
                            "st.shared.b32 [data], 5;\n" +
                            arrive + "ret;\nWAIT:\n" + waitParity(0, "L", wait) +
                            "ld.shared.b32 %r1, [data];\nst.global.b32 [%rd0], %r1;\n",
                        64));
}
} // namespace

TEST(Mbarrier, ReleaseAndAcquireOrder) {
  Ran ran = handOver("mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];\n", ".acquire.cta");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 5u);
  EXPECT_FAULT(handOver("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];\n", ""), Race,
               "nothing orders them");
  EXPECT_FAULT(handOver("mbarrier.arrive.shared::cta.b64 _, [bar];\n", ".relaxed.cta"), Race,
               "nothing orders them");
  // With fences around relaxed operations there is order again.
  ran = handOver("fence.acq_rel.cta;\nmbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];\n", "");
  EXPECT_TRUE(ran.ok()) << ran.text();
  // A write behind the arrive is not published by it.
  EXPECT_FAULT(
      handOver("mbarrier.arrive.shared::cta.b64 _, [bar];\nst.shared.b32 [data], 6;\n", ""), Race,
      "nothing orders them");
}

TEST(Mbarrier, RemoteArrivals) {
  const std::string start =
      "mov.u32 %r1, bar;\nmov.u32 %r5, %cluster_ctarank;\nsetp.eq.u32 %p2, %r5, 0;\n"
      "@%p2 " +
      init() +
      "4;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      "mapa.shared::cluster.u32 %r2, %r1, 0;\nmov.u64 %rd4, bar;\n"
      "cvta.shared.u64 %rd4, %rd4;\nmapa.u64 %rd5, %rd4, 0;\n";
  const std::string end = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  Ran ran = runPtx(
      program(start +
                  "@%p2 bra WAIT;\n"
                  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n"
                  "mbarrier.arrive.release.cluster.b64 _, [%rd5], 2;\n"
                  "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r2], 8;\n"
                  "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r2], 8;\n"
                  "mbarrier.complete_tx.shared::cluster.b64 [%r2], 16;\nbra END;\nWAIT:\n" +
                  waitParity(0, "L", ".acquire.cluster") + "st.global.b32 [%rd0], 3;\nEND:\n" + end,
              1, 2));
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 3u);
  EXPECT_FAULT(runPtx(program(start + "mbarrier.arrive.b64 %rd6, [%rd5];\n" + end, 1, 2)),
               BarrierState, "returns a state");
  EXPECT_FAULT(
      runPtx(program(start + "mbarrier.test_wait.parity.b64 %p1, [%rd5], 0;\n" + end, 1, 2)),
      BarrierState, "own CTA only");
  EXPECT_FAULT(runPtx(program(start + "mbarrier.inval.b64 [%rd5];\n" + end, 1, 2)), BarrierState,
               "own CTA");
  EXPECT_FAULT(runPtx(program(start +
                                  "mapa.shared::cluster.u32 %r2, %r1, 1;\n"
                                  "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r2];\n" +
                                  end,
                              1, 2)),
               OutOfBounds, "use shared::cluster");
  // CTA 0 does not wait for the arrival.
  EXPECT_FAULT(runPtx(program(start + "@%p2 ret;\nmbarrier.arrive.release.cluster.shared::cluster"
                                      ".b64 _, [%r2];\n",
                              1, 2)),
               EarlyExit, "peer CTA");
}

TEST(Mbarrier, Misuse) {
  EXPECT_FAULT(one("mbarrier.arrive.shared.b64 _, [bar];\n"), BarrierState,
               "no mbarrier has been initialised");
  EXPECT_FAULT(one(init() + "0;\n"), BarrierState, "expected 1 to");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.inval.shared.b64 [bar];\n"
                            "mbarrier.expect_tx.shared.b64 [bar], 16;\n"),
               BarrierState, "after mbarrier.inval");
  EXPECT_FAULT(one(init() + "2;\nmbarrier.arrive.shared.b64 _, [bar];\n" + init() + "2;\n"),
               BarrierState, "in use");
  EXPECT_FAULT(
      one(init() + "1;\nst.shared.b64 [bar], %rd0;\nmbarrier.arrive.shared.b64 _, [bar];\n"),
      BarrierState, "overwritten");
  EXPECT_FAULT(one("mbarrier.init.shared.b64 [bar+4], 1;\n"), Alignment, "not a multiple of 8");
  EXPECT_FAULT(one(init() + "2;\nmbarrier.arrive.shared.b64 _, [bar], 3;\n"), BarrierArrival,
               "3 arrivals in phase 0, which waits for 2 more of 2");
  EXPECT_FAULT(one(init() + "2;\nmbarrier.arrive.shared.b64 _, [bar], 0;\n"), BarrierArrival,
               "count of 0");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.arrive_drop.shared.b64 _, [bar];\n"), BarrierArrival,
               "without any arrivals");
  EXPECT_FAULT(one(init() + "2;\nmbarrier.arrive.noComplete.shared.b64 _, [bar], 2;\n"),
               BarrierArrival, "noComplete completes phase 0");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.arrive.shared.b64 %rd4, [bar];\n"
                            "mbarrier.arrive.shared.b64 _, [bar];\n"
                            "mbarrier.test_wait.shared.b64 %p1, [bar], %rd4;\n"),
               BarrierState, "phase 0, but phase 2 is open");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.expect_tx.shared.b64 [bar], 1048576;\n"), BarrierBytes,
               "the limit is 1048575");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;\n"),
               BarrierBytes, "48 bytes outstanding");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;\n"),
               BarrierBytes, "note: bytes were expected here last (mbarrier.arrive.expect_tx");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.complete_tx.shared.b64 [bar], 48;\n"), BarrierBytes,
               "more arrived than expected");
  EXPECT_FAULT(one(init() + "1;\nmbarrier.complete_tx.shared.b64 [bar], 48;\n"), BarrierBytes,
               "note: bytes came from here last (mbarrier.complete_tx");
  Ran fine = one(init() + "2;\nmbarrier.arrive.noComplete.release.cta.shared.b64 _, [bar], 1;\n"
                          "mbarrier.arrive.shared.b64 _, [bar];\n");
  EXPECT_TRUE(fine.ok()) << fine.text();
}

TEST(Mbarrier, HangNamesTheBarrier) {
  Ran ran = runPtx(program("setp.eq.u32 %p2, %r0, 0;\n@%p2 " + init() +
                               "2;\nbar.sync 0;\n@%p2 mbarrier.arrive.shared.b64 _, [bar];\n" +
                               waitParity(0, "L"),
                           64));
  ASSERT_TRUE(ran.faults(FaultKind::Hang)) << ran.text();
  EXPECT_NE(ran.text().find("1 of 2 arrivals pending"), std::string::npos) << ran.text();
  EXPECT_NE(ran.text().find("parity 0"), std::string::npos) << ran.text();
  EXPECT_NE(ran.text().find("arrived in the open phase"), std::string::npos) << ran.text();
}

TEST(Mbarrier, HangNamesTheEndOfTheChain) {
  // Warp 2 produces into two stages, warp 1 consumes and never gives back, warp 0 waits for the
  // end.
  std::string body = ".shared .align 8 .b64 full[2];\n.shared .align 8 .b64 empty[2];\n"
                     ".shared .align 8 .b64 result;\nsetp.eq.u32 %p2, %r0, 0;\n@!%p2 bra ready;\n";
  for (const char *barrier : {"full", "full+8", "empty", "empty+8", "result"})
    body += "mbarrier.init.shared.b64 [" + std::string(barrier) + "], 32;\n";
  body += "ready:\nbar.sync 0;\nshr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p3, %r1, 0;\n"
          "setp.eq.u32 %p4, %r1, 1;\n@%p3 bra epilogue;\n@%p4 bra consumer;\n";
  auto wait = [](const char *barrier, int parity, const char *label) {
    return std::string(label) + ":\nmbarrier.try_wait.parity.shared.b64 %p5, [" + barrier + "], " +
           std::to_string(parity) + ";\n@!%p5 bra " + label + ";\n";
  };
  const std::string arrive = "mbarrier.arrive.shared.b64 _, ";
  body += arrive + "[full];\n" + arrive + "[full+8];\n" + wait("empty", 0, "P0") + arrive +
          "[full];\nbra.uni done;\n";
  body += "consumer:\n" + wait("full", 0, "C0") + wait("full+8", 0, "C1") + wait("full", 1, "C2") +
          arrive + "[result];\nbra.uni done;\n";
  body += "epilogue:\n" + wait("result", 0, "E0") + "done:\n";
  test::Run run;
  run.body = body;
  run.options.block = {96, 1, 1};
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.faults(FaultKind::Hang)) << ran.text();
  EXPECT_EQ(ran.result.faults.front().site.warp, 2) << ran.text();
}

TEST(Mbarrier, Refusals) {
  EXPECT_FAULT(one("mbarrier.test_wait.parity.shared::cluster.b64 %p1, [bar], 0;\n"), Unsupported,
               "shared::cluster");
  EXPECT_FAULT(one("mbarrier.arrive.release.shared.b64 _, [bar];\n"), Unsupported, "come together");
  EXPECT_FAULT(one("mbarrier.arrive.shared::cluster.b64 %rd4, [bar];\n"), Unsupported,
               "returns nothing");
}

TEST(Mbarrier, InitHasToBePublished) {
  const std::string body = "setp.eq.u32 %p2, %r0, 0;\n@%p2 " + init() + "64;\n";
  const std::string use = "mbarrier.arrive.shared::cta.b64 _, [bar];\n";
  // Warp 0 comes first, so that its barrier is there; but nothing says that it has to.
  EXPECT_FAULT(runPtx(program(body + use, 64)), BarrierState, "nothing orders before this");
  Ran ran = runPtx(program(body + "bar.sync 0;\n" + use + waitParity(0, "L"), 64));
  EXPECT_TRUE(ran.ok()) << ran.text();
  // A relaxed cluster barrier publishes it, but no data.
  const std::string cluster = "mov.u32 %r1, bar;\nmapa.shared::cluster.u32 %r2, %r1, 0;\n"
                              "mov.u32 %r5, %cluster_ctarank;\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 " +
                              init() +
                              "2;\n@%p2 st.shared.b32 [data], 1;\n"
                              "fence.mbarrier_init.release.cluster;\n"
                              "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n";
  const std::string arrive = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n";
  const std::string end = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  ran = runPtx(program(cluster + arrive + end, 1, 2));
  EXPECT_TRUE(ran.ok()) << ran.text();
  EXPECT_FAULT(runPtx(program(cluster +
                                  "mov.u32 %r6, data;\nmapa.shared::cluster.u32 %r6, %r6, 0;\n"
                                  "ld.shared::cluster.b32 %r7, [%r6];\n" +
                                  end,
                              1, 2)),
               Race, "nothing orders them");
}
