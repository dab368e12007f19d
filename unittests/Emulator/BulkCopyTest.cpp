// cp.async.bulk and cp.reduce.async.bulk without tensor maps: directions, masks, multicast, groups.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorReference.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

test::Run program(const std::string &body, unsigned ctas = 1) {
  test::Run run;
  run.globals = ".shared .align 16 .b8 smem[4096];\n.shared .align 8 .b64 bar;\n";
  run.options.block = {1, 1, 1};
  run.options.grid = run.options.cluster = {ctas, 1, 1};
  run.input = noise(4096);
  run.body = "mov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p2, %r20, 0;\n"
             "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n" +
             body;
  return run;
}
std::string expectTx(size_t bytes) {
  return "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) + ";\n";
}
std::string meet() { return "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"; }
std::string drain() { return "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"; }

#define EXPECT_FAULT(RAN, KIND, TEXT)                                                              \
  do {                                                                                             \
    const Ran &ran_ = (RAN);                                                                       \
    EXPECT_TRUE(ran_.faults(FaultKind::KIND)) << ran_.text();                                      \
    EXPECT_NE(ran_.text().find(TEXT), std::string::npos) << ran_.text();                           \
  } while (false)
} // namespace

TEST(BulkCopy, GlobalToShared) {
  const char *forms[] = {
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [%rd1+64], 512, "
      "[bar];\n",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [smem], "
      "[%rd1+64], 512, [bar], %rd0;\n"};
  for (const char *form : forms)
    for (uint64_t seed : {0, 1, 2, 3}) {
      test::Run run =
          program(expectTx(512) + form + waitBarrier("bar", 0, "W") + dumpShared("smem", 512));
      run.options.schedule = seed ? randomSchedule(seed) : Schedule();
      Ran ran = runPtx(run);
      ASSERT_TRUE(ran.ok()) << ran.text();
      EXPECT_TRUE(std::equal(run.input.begin() + 64, run.input.begin() + 576, ran.output.begin()));
    }
}

TEST(BulkCopy, SharedToGlobal) {
  const std::string fill = fillFromInput("smem", 256) + "fence.proxy.async;\n";
  test::Run run =
      program(fill +
              "cp.async.bulk.global.shared::cta.bulk_group [%rd0+16], [smem], 128;\n"
              "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd0+512], [smem+128], "
              "64, %rd1;\nmov.b16 %rs1, 0x8005;\n"
              "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0+1024], [smem], 32, %rs1;\n"
              "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd0+2048], "
              "[smem], 16, %rd1, %rs1;\n" +
              drain());
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  std::vector<uint8_t> expected(4096, 0);
  memcpy(&expected[16], &run.input[0], 128);
  memcpy(&expected[512], &run.input[128], 64);
  for (size_t at : {1024, 1040, 2048})
    for (size_t i : {0, 2, 15})
      expected[at + i] = run.input[at % 1024 + i];
  EXPECT_EQ(ran.output, expected);
}

TEST(BulkCopy, GroupsOfReadsAndWrites) {
  const std::string store = fillFromInput("smem", 64) +
                            "fence.proxy.async;\n"
                            "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [smem], 64;\n";
  // Behind .read 0 the source may be written, the destination may still be old.
  Ran ran = runPtx(program(store + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                                   "st.shared.b32 [smem], 0;\ncp.async.bulk.wait_group 0;\n"
                                   "ld.global.b32 %r1, [%rd0];\nst.global.b32 [%rd0+64], %r1;\n"));
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint32_t>(16), ran.at<uint32_t>(0));
  EXPECT_NE(ran.at<uint32_t>(16), 0u);
  // One group may stay: the first is done, the second is not.
  const std::string second = "cp.async.bulk.commit_group;\ncp.async.bulk.global.shared::cta."
                             "bulk_group [%rd0+128], [smem+32], 32;\n"
                             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 1;\n";
  Ran first = runPtx(program(store + second + "st.shared.b32 [smem], 0;\n" + drain()));
  EXPECT_TRUE(first.ok()) << first.text();
  EXPECT_FAULT(runPtx(program(store + second + "st.shared.b32 [smem+32], 0;\n" + drain())), Race,
               "bulk store");
  // A group is the thread's own: without a commit there is nothing to wait for.
  EXPECT_FAULT(runPtx(program(store + "cp.async.bulk.wait_group 0;\nst.shared.b32 [smem], 0;\n")),
               Race, "bulk store");
}

TEST(BulkCopy, BetweenCtas) {
  // CTA 1 sends to CTA 0 and signals its barrier.
  const std::string body =
      fillFromInput("smem", 256, 256) + "fence.proxy.async;\n" + meet() +
      "mov.u32 %r1, smem;\nmapa.shared::cluster.u32 %r2, %r1, 0;\nmov.u32 %r3, bar;\n"
      "mapa.shared::cluster.u32 %r3, %r3, 0;\n@!%p2 bra SEND;\n" +
      expectTx(128) + waitBarrier("bar", 0, "W") + dumpShared("smem+1024", 128) +
      "bra END;\nSEND:\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2+1024], [smem], "
      "128, [%r3];\nEND:\n" +
      meet();
  test::Run run = program(body, 2);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_TRUE(std::equal(run.input.begin() + 256, run.input.begin() + 384, ran.output.begin()));
  // The barrier of another CTA than the destination.
  size_t at = run.body.find("[%r3];\nEND");
  run.body.replace(at, 5, "[bar]");
  EXPECT_FAULT(runPtx(run), BarrierState, "expected both in one CTA");
}

TEST(BulkCopy, Multicast) {
  test::Run run = program(
      meet() + "mov.b16 %rs1, 3;\n" + expectTx(64) +
          "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
          "multicast::cluster.L2::cache_hint [smem], [%rd1], 32, [bar], %rs1, %rd1;\n"
          "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
          "multicast::cluster [smem+32], [%rd1+96], 32, [bar], %rs1;\n" +
          waitBarrier("bar", 0, "W") + "mul.wide.u32 %rd5, %r20, 64;\nadd.u64 %rd0, %rd0, %rd5;\n" +
          dumpShared("smem", 64) + meet(),
      2);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (size_t i = 0; i < 128; ++i)
    EXPECT_EQ(ran.output[i], run.input[i % 64 < 32 ? i % 64 : i % 64 + 64]);
}

namespace {
struct Case {
  const char *form; // reduction and type
  unsigned width;
  uint64_t old, add, expected;
  bool shared = true; // to shared memory too
};
const Case cases[] = {
    {"add.u32", 4, 0xffffffff, 3, 2},
    {"add.s32", 4, 5, uint32_t(-9), uint32_t(-4)},
    {"add.u64", 8, 0xffffffffffffffff, 3, 2},
    {"min.u32", 4, 5, 0xffffffff, 5},
    {"max.u32", 4, 5, 0xffffffff, 0xffffffff},
    {"min.s32", 4, 5, 0xffffffff, 0xffffffff},
    {"max.s32", 4, 5, 0xffffffff, 5},
    {"inc.u32", 4, 3, 3, 0},
    {"inc.u32", 4, 2, 3, 3},
    {"dec.u32", 4, 0, 3, 3},
    {"dec.u32", 4, 2, 3, 1},
    {"and.b32", 4, 12, 10, 8},
    {"or.b32", 4, 12, 10, 14},
    {"xor.b32", 4, 12, 10, 6},
    {"min.u64", 8, 5, uint64_t(-1), 5, false},
    {"max.s64", 8, 5, uint64_t(-1), 5, false},
    {"and.b64", 8, 12, 10, 8, false},
    {"or.b64", 8, 12, 10, 14, false},
    {"xor.b64", 8, 12, 10, 6, false},
    {"add.f32", 4, 0x00000001, 0x00000001, 0x00000002, false}, // subnormals stay
    {"add.f64", 8, 0x3ff0000000000000, 0x3ff0000000000000, 0x4000000000000000, false},
    {"add.noftz.f16", 2, 0x3c00, 0x3c00, 0x4000, false},
    {"add.noftz.bf16", 2, 0x3f80, 0x3b80, 0x3f80, false}, // 1 + 2^-8: tie, to even
    {"min.f16", 2, 0x0000, 0x8000, 0x8000, false},        // -0 is below +0
    {"max.f16", 2, 0x3c00, 0xfe00, 0x3c00, false},
    {"min.bf16", 2, 0x3f80, 0xbf80, 0xbf80, false},
    {"max.bf16", 2, 0x3f80, 0xbf80, 0x3f80, false},
};
std::vector<uint8_t> repeated(uint64_t value, unsigned width, size_t bytes) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; i += width)
    memcpy(&data[i], &value, width);
  return data;
}
} // namespace

TEST(BulkCopy, ReductionsToGlobal) {
  for (const Case &c : cases) {
    test::Run run =
        program(fillFromInput("smem", 64) +
                // the old values are behind those to add; they are copied to the output first
                fillFromInput("smem+64", 64, 64) +
                "fence.proxy.async;\n"
                "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [smem+64], 64;\n" +
                drain() + "cp.reduce.async.bulk.global.shared::cta.bulk_group." + c.form +
                " [%rd0], [smem], 32;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.L2::"
                "cache_hint." +
                c.form + " [%rd0+32], [smem+32], 32, %rd1;\n" + drain());
    run.input = repeated(c.add, c.width, 64);
    std::vector<uint8_t> old = repeated(c.old, c.width, 64);
    run.input.insert(run.input.end(), old.begin(), old.end());
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << c.form << ran.text();
    std::vector<uint8_t> expected = repeated(c.expected, c.width, 64);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), ran.output.begin())) << c.form;
  }
}

TEST(BulkCopy, ReductionsToShared) {
  for (const Case &c : cases) {
    test::Run run =
        program(fillFromInput("smem", 128) + "fence.proxy.async;\n" + meet() +
                    "mov.u32 %r1, smem;\nmapa.shared::cluster.u32 %r2, %r1, 0;\nmov.u32 %r3, bar;\n"
                    "mapa.shared::cluster.u32 %r3, %r3, 0;\n@!%p2 bra SEND;\n" +
                    expectTx(64) + waitBarrier("bar", 0, "W") + dumpShared("smem+64", 64) +
                    "bra END;\nSEND:\ncp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"
                    "complete_tx::bytes." +
                    c.form + " [%r2+64], [smem], 64, [%r3];\nEND:\n" + meet(),
                2);
    run.input = repeated(c.add, c.width, 64);
    std::vector<uint8_t> old = repeated(c.old, c.width, 64);
    run.input.insert(run.input.end(), old.begin(), old.end());
    Ran ran = runPtx(run);
    if (!c.shared) {
      EXPECT_TRUE(ran.faults(FaultKind::Unsupported)) << c.form;
      continue;
    }
    ASSERT_TRUE(ran.ok()) << c.form << ran.text();
    std::vector<uint8_t> expected = repeated(c.expected, c.width, 64);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), ran.output.begin())) << c.form;
  }
}

TEST(BulkCopy, Prefetch) {
  Ran ran = runPtx(program("cp.async.bulk.prefetch.L2.global [%rd1], 64;\n"
                           "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], 64, %rd1;\n"));
  EXPECT_TRUE(ran.ok()) << ran.text();
  EXPECT_FAULT(runPtx(program("cp.async.bulk.prefetch.L2.global [%rd1], 24;\n")), Alignment,
               "multiple of 16");
  EXPECT_FAULT(runPtx(program("cp.async.bulk.prefetch.L2.global [%rd1+4096], 16;\n")), OutOfBounds,
               "allocation");
}

TEST(BulkCopy, Faults) {
  const std::string load = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
  EXPECT_FAULT(runPtx(program(load + "[smem], [%rd1], 24, [bar];\n")), Alignment,
               "24 bytes; expected a multiple of 16");
  EXPECT_FAULT(runPtx(program(load + "[smem+8], [%rd1], 16, [bar];\n")), Alignment,
               "multiple of 16");
  EXPECT_FAULT(runPtx(program(load + "[smem], [%rd1+8], 16, [bar];\n")), Alignment,
               "multiple of 16");
  EXPECT_FAULT(runPtx(program(load + "[smem], [%rd1+4080], 32, [bar];\n")), OutOfBounds,
               "allocation");
  EXPECT_FAULT(runPtx(program(load + "[smem], [%rd1], 16, [smem+64];\n")), BarrierState,
               "no mbarrier has been initialised");
  // More bytes than expected: the phase ends while the copy goes on.
  EXPECT_FAULT(runPtx(program(expectTx(16) + load + "[smem], [%rd1], 32, [bar];\n" +
                              waitBarrier("bar", 0, "W"))),
               EarlyExit, "TMA load may still write");
  EXPECT_FAULT(runPtx(program(expectTx(64) + load + "[smem], [%rd1], 32, [bar];\n" +
                              waitBarrier("bar", 0, "W"))),
               Hang, "32 bytes outstanding");
  EXPECT_FAULT(runPtx(program(expectTx(32) + load +
                              "[smem], [%rd1], 32, [bar];\n"
                              "ld.shared.b32 %r1, [smem];\n")),
               Race, "TMA load");
  EXPECT_FAULT(runPtx(program(load + "[smem], [%rd1], 32, [bar], %rd1;\n")), Unsupported,
               "operands");
  EXPECT_FAULT(runPtx(program("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd0], "
                              "[smem], 16;\n")),
               Unsupported, "noftz");
}

TEST(BulkCopy, OverwritingOrdinaryStoresWantsAProxyFence) {
  auto copyOver = [](const std::string &fence) {
    return runPtx(program("st.shared.u32 [smem+4], 7;\n" + fence + expectTx(16) +
                          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], "
                          "[%rd1], 16, [bar];\n" +
                          waitBarrier("bar", 0, "W")));
  };
  Ran without = copyOver(""), with = copyOver("fence.proxy.async.shared::cta;\n");
  EXPECT_TRUE(without.ok()) << without.text();
  ASSERT_EQ(without.result.warnings.size(), 1u);
  EXPECT_EQ(without.result.warnings[0].kind, FaultKind::ProxyFence);
  EXPECT_TRUE(with.ok() && with.result.warnings.empty()) << with.text();
}
