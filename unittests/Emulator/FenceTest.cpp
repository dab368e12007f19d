// fence and membar: what they order, and the fences between proxies. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

/// Warp 0 writes data and sets a flag; warp 1 waits for the flag and reads.
Ran message(const std::string &release, const std::string &acquire, uint64_t seed) {
  test::Run run;
  run.body = ".shared .align 4 .b32 data;\n.shared .align 4 .b32 flag;\n"
             "setp.ge.u32 %p1, %r0, 32;\n@!%p1 st.shared.u32 [flag], 0;\nbar.sync 0;\n"
             "@%p1 bra SECOND;\nst.shared.u32 [data], 5;\n" +
             release +
             "st.relaxed.cta.shared.u32 [flag], 1;\nbra END;\nSECOND:\n"
             "ld.relaxed.cta.shared.u32 %r1, [flag];\nsetp.eq.u32 %p2, %r1, 0;\n"
             "@%p2 bra SECOND;\n" +
             acquire + "ld.shared.u32 %r2, [data];\nst.global.u32 [%rd0], %r2;\nEND:\n";
  run.options.block = {64, 1, 1};
  run.options.schedule = randomSchedule(seed);
  return runPtx(run);
}
} // namespace

TEST(Fence, OrdersRelaxedFlags) {
  for (const char *fence :
       {"fence.acq_rel.cta;\n", "fence.sc.gpu;\n", "fence.cluster;\n", "membar.cta;\n",
        "membar.gl;\n", "membar.sys;\n", "fence.acq_rel.sys;\n", "fence.sc.cluster;\n"})
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Ran ran = message(fence, fence, seed);
      ASSERT_TRUE(ran.ok()) << fence << ran.text();
      EXPECT_EQ(ran.at<uint32_t>(0), 5u);
    }
}

TEST(Fence, HalvesAreEnoughOnTheirSide) {
  for (const char *scope : {"cta", "cluster", "gpu", "sys"}) {
    std::string release = std::string("fence.release.") + scope + ";\n";
    std::string acquire = std::string("fence.acquire.") + scope + ";\n";
    EXPECT_TRUE(message(release, acquire, 1).ok()) << message(release, acquire, 1).text();
    EXPECT_TRUE(message(acquire, acquire, 1).faults(FaultKind::Race));
    EXPECT_TRUE(message(release, release, 1).faults(FaultKind::Race));
  }
  EXPECT_TRUE(message("fence.release.sync_restrict::shared::cta.cluster;\n",
                      "fence.acquire.sync_restrict::shared::cluster.cluster;\n", 1)
                  .ok());
}

TEST(Fence, AMissingOneIsARace) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    EXPECT_TRUE(message("", "fence.acq_rel.cta;\n", seed).faults(FaultKind::Race));
    EXPECT_TRUE(message("fence.acq_rel.cta;\n", "", seed).faults(FaultKind::Race));
    EXPECT_TRUE(
        message("fence.proxy.alias;\n", "fence.acq_rel.cta;\n", seed).faults(FaultKind::Race));
    EXPECT_TRUE(message("fence.mbarrier_init.release.cluster;\n", "fence.acq_rel.cta;\n", seed)
                    .faults(FaultKind::Race));
  }
}

TEST(Fence, StoresBehindTheFenceAreNotCovered) {
  test::Run run;
  run.body = ".shared .align 4 .b32 data;\n.shared .align 4 .b32 flag;\n"
             "setp.ge.u32 %p1, %r0, 32;\n@!%p1 st.shared.u32 [flag], 0;\nbar.sync 0;\n"
             "@%p1 bra SECOND;\nfence.acq_rel.cta;\nst.shared.u32 [data], 5;\n"
             "st.relaxed.cta.shared.u32 [flag], 1;\nbra END;\nSECOND:\n"
             "ld.acquire.cta.shared.u32 %r1, [flag];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra SECOND;\n"
             "ld.shared.u32 %r2, [data];\nEND:\n";
  run.options.block = {64, 1, 1};
  EXPECT_TRUE(runPtx(run).faults(FaultKind::Race));
}

TEST(Fence, RelaxedClusterBarriers) {
  auto run = [](const std::string &before) {
    test::Run two;
    two.body = ".shared .align 4 .b32 data;\nmov.u32 %r5, %cluster_ctarank;\n"
               "setp.eq.u32 %p1, %r5, 0;\nmov.u32 %r6, data;\nmapa.shared::cluster.u32 %r6, %r6, "
               "1;\n@%p1 st.shared::cluster.u32 [%r6], 9;\n" +
               before +
               "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
               "@!%p1 ld.shared.u32 %r1, [data];\n@!%p1 st.global.u32 [%rd0], %r1;\n";
    two.options.grid = two.options.cluster = {2, 1, 1};
    two.options.block = {1, 1, 1};
    return runPtx(two);
  };
  Ran ran = run("fence.acq_rel.cluster;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(0), 9u);
  EXPECT_TRUE(run("").faults(FaultKind::Race)) << run("").text();
}

TEST(Fence, AsyncProxy) {
  auto copy = [](const std::string &fence) {
    test::Run run;
    run.body = ".shared .align 16 .b32 data[4];\nst.shared.v4.u32 [data], {1, 2, 3, 4};\n" + fence +
               "mov.u32 %r1, data;\n"
               "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 16;\n"
               "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
    run.options.block = {1, 1, 1};
    return runPtx(run);
  };
  EXPECT_TRUE(copy("").faults(FaultKind::ProxyFence)) << copy("").text();
  EXPECT_TRUE(copy("fence.acq_rel.gpu;\n").faults(FaultKind::ProxyFence));
  for (const char *fence :
       {"fence.proxy.async;\n", "fence.proxy.async.shared::cta;\n", "fence.proxy.async.global;\n",
        "fence.proxy.async.shared::cluster;\n",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n"}) {
    Ran ran = copy(fence);
    ASSERT_TRUE(ran.ok()) << fence << ran.text();
    EXPECT_EQ(ran.at<uint32_t>(2), 3u);
  }
}

TEST(Fence, FormsThatOrderNothingHere) {
  Ran ran = runPtx("fence.proxy.alias;\nmembar.proxy.alias;\nfence.mbarrier_init.release.cluster;\n"
                   "fence.proxy.tensormap::generic.release.gpu;\n"
                   "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;\n"
                   "fence.proxy.tensormap::generic.release.cluster;\n"
                   "fence.proxy.tensormap::generic.acquire.sys [%rd0+128], 128;\n");
  EXPECT_TRUE(ran.ok()) << ran.text();
  EXPECT_TRUE(runPtx("fence.proxy.tensormap::generic.acquire.gpu [%rd0+64], 128;\n")
                  .faults(FaultKind::Alignment));
}

TEST(Fence, RefusedForms) {
  for (const char *body : {"fence;", "fence.acq_rel;", "fence.weak.gpu;", "fence.proxy.generic;",
                           "membar.gpu;", "fence.mbarrier_init.release.cta;",
                           "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 64;"})
    EXPECT_TRUE(runPtx(std::string(body)).faults(FaultKind::Unsupported)) << body;
}
