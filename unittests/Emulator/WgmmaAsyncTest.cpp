// wgmma as an asynchronous operation of four warps: groups, registers in flight, what is reported.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WgmmaKernel.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

// m64n8k16 on ones: each step adds 16 to every element.
constexpr const char *mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 ";
constexpr const char *tail = ", %rd20, %rd21, 1, 1, 1, 0, 0;\n";
std::string fence() { return "wgmma.fence.sync.aligned;\n"; }
std::string commit() { return "wgmma.commit_group.sync.aligned;\n"; }
std::string waitGroup(unsigned pending) {
  return "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";\n";
}
std::string step(unsigned first = 1) { return mma + registerList(first, 4) + tail; }

struct Kernel {
  std::string body;
  unsigned threads = 128;
  bool proxyFence = true;
  Schedule schedule = {};
  uint64_t extraBits = 0;
};

Ran launch(const Kernel &kernel) {
  test::Run run;
  run.target = "sm_90a";
  run.globals = ".shared .align 1024 .b8 smem[4096];";
  run.input = bytesOf(std::vector<uint16_t>(2048, 0x3f80));
  run.options.block = {kernel.threads, 1, 1};
  run.options.schedule = kernel.schedule;
  run.options.idleLimit = 100000;
  uint64_t bits = uint64_t(8) << 16 | uint64_t(16) << 32;
  run.body = fillShared(4096, kernel.proxyFence) + descriptor(20, 0, bits) +
             descriptor(21, 2048, bits | kernel.extraBits);
  for (unsigned i = 1; i <= 12; ++i)
    run.body += "mov.b32 %r" + std::to_string(i) + ", 0;\n";
  run.body += kernel.body;
  return runPtx(run);
}

std::string faultOf(const Kernel &kernel, FaultKind kind) {
  Ran ran = launch(kernel);
  EXPECT_TRUE(ran.faults(kind)) << ran.text();
  return ran.text();
}

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST(WgmmaAsync, ChainsOnOneAccumulator) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Kernel kernel{fence() + step() + step() + step() + commit() + waitGroup(0) + storeResults(4)};
    if (seed)
      kernel.schedule.kind = Schedule::Kind::Random, kernel.schedule.seed = seed;
    Ran ran = launch(kernel);
    ASSERT_TRUE(ran.ok()) << ran.text();
    for (unsigned i = 0; i < 512; ++i)
      ASSERT_EQ(ran.at<float>(i), 48.0f);
  }
}

TEST(WgmmaAsync, OlderGroupIsDoneWhileANewerIsPending) {
  Ran ran =
      launch({fence() + step(5) + commit() + step(1) + step(1) + commit() + waitGroup(1) +
              "mov.b32 %r9, %r5;\n" + waitGroup(0) + "mov.b32 %r2, %r9;\n" + storeResults(4)});
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<float>(0), 32.0f);
  EXPECT_EQ(ran.at<float>(1), 16.0f);
}

TEST(WgmmaAsync, EmptyGroupsCount) {
  Ran ran = launch({fence() + step() + commit() + commit() + waitGroup(1) + storeResults(4)});
  EXPECT_TRUE(ran.ok()) << ran.text();
}

TEST(WgmmaAsync, ScaleDFalseOverwrites) {
  Ran ran = launch({"mov.b32 %r1, 0x40400000;\nmov.pred %p1, 0;\n" + fence() + mma +
                    registerList(1, 4) + ", %rd20, %rd21, %p1, 1, 1, 0, 0;\n" + step() + commit() +
                    waitGroup(0) + storeResults(4)});
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<float>(0), 32.0f);
}

// Compilers give accumulators new names between wgmmas: the copy follows the value.
TEST(WgmmaAsync, CopiesOfRegistersInFlightWait) {
  std::string copies;
  for (unsigned i = 1; i <= 4; ++i)
    copies += "mov.b32 %r" + std::to_string(i + 4) + ", %r" + std::to_string(i) + ";\n";
  for (Schedule::Kind kind : {Schedule::Kind::Fair, Schedule::Kind::Random}) {
    Kernel kernel{fence() + step(1) + commit() + copies + step(5) + commit() + waitGroup(0) +
                  "mov.b32 %r2, %r5;\n" + storeResults(4)};
    kernel.schedule.kind = kind;
    kernel.schedule.seed = 3;
    Ran ran = launch(kernel);
    ASSERT_TRUE(ran.ok()) << ran.text();
    EXPECT_EQ(ran.at<float>(0), 16.0f);
    EXPECT_EQ(ran.at<float>(1), 32.0f);
  }
  EXPECT_TRUE(contains(
      faultOf({fence() + step(1) + commit() + copies + storeResults(5)}, FaultKind::TensorFence),
      "wgmma.wait_group"));
}

TEST(WgmmaAsync, RegistersInFlightAreReported) {
  EXPECT_TRUE(
      contains(faultOf({fence() + step() + commit() + storeResults(4)}, FaultKind::TensorFence),
               "wgmma.wait_group"));
  EXPECT_TRUE(
      contains(faultOf({fence() + step() + step(5) + commit() + waitGroup(1) + storeResults(4)},
                       FaultKind::TensorFence),
               "wgmma.wait_group"));
  // Not committed: no group to wait for.
  faultOf({fence() + step() + waitGroup(0) + storeResults(4)}, FaultKind::TensorFence);
  // A in registers, overwritten while it may still be read.
  std::string fromRegisters =
      mma + registerList(1, 4) + ", " + registerList(5, 4) + ", %rd21, 1, 1, 1, 0;\n";
  faultOf({fence() + fromRegisters + commit() + "mov.b32 %r5, 1;\n"}, FaultKind::TensorFence);
  // A is the result of a wgmma in flight.
  EXPECT_TRUE(
      contains(faultOf({fence() + step(5) + commit() + fromRegisters}, FaultKind::TensorFence),
               "still writes"));
}

TEST(WgmmaAsync, MissingFences) {
  EXPECT_TRUE(contains(faultOf({step() + waitAll()}, FaultKind::TensorFence), "no wgmma.fence"));
  std::string again = fence() + step() + waitAll() + "mov.b32 %r1, 0x3f800000;\n";
  EXPECT_TRUE(contains(faultOf({again + step() + waitAll()}, FaultKind::TensorFence),
                       "since the last wgmma.fence"));
  Ran ran = launch({again + fence() + step() + waitAll() + storeResults(4)});
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<float>(0), 17.0f);
  Kernel unfenced{fence() + step() + waitAll()};
  unfenced.proxyFence = false;
  EXPECT_TRUE(contains(faultOf(unfenced, FaultKind::ProxyFence), "fence.proxy.async"));
}

TEST(WgmmaAsync, WarpsHaveToAgree) {
  std::string onlyWarp0 = "setp.lt.u32 %p2, %r0, 32;\n";
  // Warps at different instructions.
  EXPECT_TRUE(contains(faultOf({onlyWarp0 + fence() + "@%p2 bra other;\n" + step() +
                                "bra join;\nother:\n" + step() + "join:\n" + waitAll()},
                               FaultKind::Divergence),
                       "same instruction"));
  // Different descriptors.
  EXPECT_TRUE(contains(
      faultOf({onlyWarp0 + fence() + "@%p2 add.s64 %rd21, %rd21, 16;\n" + step() + waitAll()},
              FaultKind::Divergence),
      "descriptors"));
  // A warp that leaves.
  EXPECT_TRUE(contains(
      faultOf({onlyWarp0 + fence() + "@%p2 exit;\n" + step() + waitAll()}, FaultKind::Divergence),
      "all four warps"));
  // A warp that does something else.
  EXPECT_TRUE(contains(faultOf({onlyWarp0 + fence() + "@%p2 bra wait;\n" + step() + waitAll() +
                                "wait:\nbar.sync 1, 128;\n"},
                               FaultKind::Hang),
                       "issued by 3 of 4 warps"));
  // Lanes of a warp.
  Kernel lane{"setp.eq.u32 %p2, %r0, 5;\n" + fence() + "@%p2 exit;\n" + step() + waitAll()};
  EXPECT_TRUE(contains(faultOf(lane, FaultKind::Divergence), "all 32"));
  Kernel half{fence() + step() + waitAll()};
  half.threads = 96;
  EXPECT_TRUE(contains(faultOf(half, FaultKind::Divergence), "not complete"));
}

TEST(WgmmaAsync, SharedMemoryIsReadUntilTheWait) {
  std::string store = "mov.u32 %r401, 0;\nst.shared.b32 [smem], %r401;\n";
  faultOf({fence() + step() + commit() + store + waitGroup(0)}, FaultKind::Race);
  // A warp that has waited knows that the reads of all four warps are done.
  std::string first = "setp.eq.u32 %p2, %r0, 0;\n";
  Ran ran = launch({first + fence() + step() + waitAll() + "@!%p2 bra past;\n" + store + "past:\n" +
                    storeResults(4)});
  EXPECT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<float>(0), 16.0f);
}

TEST(WgmmaAsync, ExitWithAnOperationInFlight) {
  Ran ran = launch({fence() + step() + commit()});
  EXPECT_TRUE(ran.faults(FaultKind::EarlyExit)) << ran.text();
}

TEST(WgmmaAsync, ImpossibleDescriptors) {
  Kernel kernel{fence() + step() + waitAll()};
  kernel.extraBits = uint64_t(1) << 46;
  EXPECT_TRUE(contains(faultOf(kernel, FaultKind::Descriptor), "bits 46 to 48"));
  EXPECT_TRUE(contains(
      faultOf({"mov.b64 %rd21, 0x3fff;\n" + fence() + step() + waitAll()}, FaultKind::OutOfBounds),
      "operand B"));
}

TEST(WgmmaAsync, ImpossibleMetadata) {
  EXPECT_TRUE(contains(faultOf({fence() +
                                "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 "
                                "{%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, %rd21, "
                                "%r9, 0, 1, 1, 1, 0;\n" +
                                waitAll()},
                               FaultKind::Descriptor),
                       "two different indices"));
}
