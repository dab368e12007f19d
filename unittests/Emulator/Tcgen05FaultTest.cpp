// What the emulator says about misuse of tensor memory and of tcgen05 instructions, and what it has
// to accept. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05MmaKernel.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

std::string group1() { return ".cta_group::1.sync.aligned"; }

std::string alloc(unsigned columns, const char *slot = "slot") {
  return "mov.u32 %r20, " + std::string(slot) + ";\ntcgen05.alloc" + group1() +
         ".shared::cta.b32 [%r20], " + std::to_string(columns) + ";\nld.shared.b32 %r21, [%r20];\n";
}
std::string dealloc(unsigned columns, const char *address = "%r21") {
  return "tcgen05.dealloc" + group1() + ".b32 " + address + ", " + std::to_string(columns) + ";\n";
}

Ran runWarps(const std::string &body, unsigned warps = 1, const LaunchOptions &options = {}) {
  Run run;
  run.globals = ".shared .align 1024 .b8 smem[8192];\n.shared .align 8 .b64 bar;\n"
                ".shared .align 4 .b32 slot;\n.shared .align 4 .b32 slot2;\n";
  run.body = "shr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r0, 0;\n" + body;
  run.options = options;
  run.options.block = {32 * warps, 1, 1};
  run.options.threads = 1;
  return runPtx(run);
}

/// Empty if the run ends with that fault and its text contains `part`.
std::string wrongFault(const Ran &ran, FaultKind kind, const std::string &part) {
  if (ran.result.faults.empty())
    return ran.error.empty() ? "no fault" : ran.error;
  const Report &report = ran.result.faults.front();
  std::string text = report.str(false);
  if (report.kind != kind || text.find(part) == std::string::npos)
    return text;
  return {};
}

TEST(Tcgen05Fault, Allocation) {
  FaultKind tensor = FaultKind::TensorMemory;
  EXPECT_EQ(runWarps(alloc(64) + dealloc(64)).text(), "");
  EXPECT_EQ(wrongFault(runWarps(alloc(48)), tensor, "power of two from 32 to 512"), "");
  EXPECT_EQ(wrongFault(runWarps(alloc(16)), tensor, "power of two from 32 to 512"), "");
  EXPECT_EQ(wrongFault(runWarps("tcgen05.relinquish_alloc_permit" + group1() + ";\n" + alloc(32)),
                       tensor, "after tcgen05.relinquish_alloc_permit"),
            "");
  EXPECT_EQ(wrongFault(runWarps(alloc(32) + alloc(64)), tensor, "may not increase"), "");
  EXPECT_EQ(wrongFault(runWarps(alloc(32)), tensor, "ends with 32 columns"), "");
  EXPECT_EQ(wrongFault(runWarps(alloc(64) + dealloc(32)), tensor, "were allocated as 64"), "");
  EXPECT_EQ(
      wrongFault(runWarps(alloc(64) + dealloc(64) + dealloc(64)), tensor, "no allocation begins"),
      "");
  EXPECT_EQ(wrongFault(runWarps(alloc(64) + dealloc(64, "32")), tensor, "no allocation begins"),
            "");
}

TEST(Tcgen05Fault, AllocationWaitsForSpace) {
  // Warp 1 gets its columns when warp 0 has freed; they are the same.
  std::string body = "@%p1 bra first;\nbar.sync 1, 64;\n" + alloc(512, "slot2") + dealloc(512) +
                     "st.global.b32 [%rd0+4], %r21;\nbra end;\nfirst:\n" + alloc(512) +
                     "st.global.b32 [%rd0], %r21;\nbar.sync 1, 64;\n" + dealloc(512) + "end:\n";
  Ran ran = runWarps(body, 2);
  EXPECT_EQ(ran.text(), "");
  EXPECT_EQ(ran.at<uint32_t>(0), ran.at<uint32_t>(1));
  EXPECT_EQ(wrongFault(runWarps(alloc(512) + alloc(512)), FaultKind::Hang,
                       "512 free columns of tensor memory"),
            "");
}

TEST(Tcgen05Fault, AllocationsDoNotOverlap) {
  Ran ran = runWarps(alloc(128) + "mov.u32 %r30, %r21;\n" + alloc(64, "slot2") +
                     "st.global.b32 [%rd0], %r30;\nst.global.b32 [%rd0+4], %r21;\n" + dealloc(64) +
                     dealloc(128, "%r30"));
  ASSERT_EQ(ran.text(), "");
  uint32_t a = ran.at<uint32_t>(0), b = ran.at<uint32_t>(1);
  EXPECT_TRUE(a + 128 <= b || b + 64 <= a) << a << " " << b;
}

TEST(Tcgen05Fault, AllocationByPairs) {
  auto pair = [&](const std::string &body) {
    ts::emu::test::Run run;
    run.globals = ".shared .align 4 .b32 slot;\n";
    run.body =
        "mov.u32 %r20, slot;\nmov.u32 %r22, %cluster_ctarank;\nsetp.eq.u32 %p1, %r22, 0;\n" + body;
    run.options.grid = run.options.cluster = {2, 1, 1};
    return runPtx(run);
  };
  const std::string both = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r20], 64;\n"
                           "ld.shared.b32 %r21, [%r20];\n";
  const std::string freeBoth = "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r21, 64;\n";
  EXPECT_EQ(
      pair(both + "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n" + freeBoth).text(),
      "");
  EXPECT_EQ(wrongFault(pair("@%p1 bra end;\n" + both + freeBoth + "end:\n"), FaultKind::EarlyExit,
                       "peer CTA 0 has exited"),
            "");
  EXPECT_EQ(wrongFault(pair("@%p1 bra other;\n" + both + freeBoth +
                            "bra end;\nother:\n"
                            "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r20], 32;\n"
                            "end:\n"),
                       FaultKind::TensorMemory, "do not agree"),
            "");
  EXPECT_EQ(wrongFault(runWarps("mov.u32 %r20, slot;\ntcgen05.alloc.cta_group::2.sync.aligned."
                                "shared::cta.b32 [%r20], 64;\n"),
                       FaultKind::Launch, "has no peer"),
            "");
}

std::string load1() { return "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, "; }
std::string store1() { return "tcgen05.st.sync.aligned.32x32b.x1.b32 "; }
std::string waitLoad() { return "tcgen05.wait::ld.sync.aligned;\n"; }
std::string waitStore() { return "tcgen05.wait::st.sync.aligned;\n"; }

TEST(Tcgen05Fault, LoadsAndStores) {
  FaultKind tensor = FaultKind::TensorMemory;
  std::string fill = alloc(32) + store1() + "[%r21], {%r0};\n";
  EXPECT_EQ(runWarps(fill + waitStore() + load1() + "[%r21];\n" + waitLoad() + dealloc(32)).text(),
            "");
  // In order without a wait in between.
  EXPECT_EQ(runWarps(fill + load1() + "[%r21];\n" + waitLoad() + waitStore() + dealloc(32)).text(),
            "");
  EXPECT_EQ(wrongFault(runWarps(alloc(32) + load1() + "[%r21+32];\n"), tensor, "column 32 is not"),
            "");
  EXPECT_EQ(
      wrongFault(runWarps(alloc(32) + dealloc(32) + load1() + "[%r21];\n"), tensor, "or no longer"),
      "");
  EXPECT_EQ(wrongFault(runWarps(alloc(32) + load1() + "[%r21+0x200000];\n"), tensor,
                       "reaches the lanes 0 to 31 only"),
            "");
  EXPECT_EQ(wrongFault(runWarps("@!%p1 bra second;\n" + alloc(32) +
                                    "bar.sync 0;\nbra end;\nsecond:"
                                    "\nbar.sync 0;\nld.shared.b32 %r21, [slot];\n" +
                                    store1() + "[%r21], {%r0};\nend:\n",
                                2),
                       tensor, "reaches the lanes 32 to 63 only"),
            "");
  // What a load of undefined memory gives may be discarded, also after a way through tensor memory.
  const std::string reads = load1() + "[%r21];\n" + waitLoad();
  const std::string undefined =
      alloc(32) + reads + store1() + "[%r21], {%r40};\n" + waitStore() + reads;
  EXPECT_EQ(runWarps(undefined + dealloc(32)).text(), "");
  EXPECT_TRUE(runWarps(undefined + dealloc(32)).result.warnings.empty());
  EXPECT_EQ(wrongFault(runWarps(undefined + "st.global.u32 [%rd0], %r40;\n"),
                       FaultKind::Uninitialised, "only undefined values have been written there"),
            "");
  EXPECT_EQ(runWarps(undefined + store1() + "[%r21], {%r0};\n" + waitStore() + reads +
                     "st.global.u32 [%rd0], %r40;\n" + dealloc(32))
                .text(),
            "");
  EXPECT_EQ(wrongFault(runWarps(fill + waitStore() + load1() + "[%r21];\nadd.u32 %r41, %r40, 1;\n"),
                       FaultKind::TensorFence, "tcgen05.ld"),
            "");
  EXPECT_EQ(wrongFault(runWarps(fill + dealloc(32)), FaultKind::Race, "tensor memory"), "");
}

TEST(Tcgen05Fault, StoreSeenByAnotherWarp) {
  // Warps 0 and 4 reach the same lanes.
  auto body = [&](const std::string &wait, const std::string &before, const std::string &after) {
    return "setp.eq.u32 %p3, %r1, 4;\n@!%p1 bra others;\n" + alloc(32) + store1() +
           "[%r21], {%r0};\n" + wait + before + "bar.sync 0;\nbar.sync 0;\n" + dealloc(32) +
           "bra end;\nothers:\nbar.sync 0;\n@!%p3 bra skip;\nld.shared.b32 %r21, [slot];\n" +
           after + load1() + "[%r21];\n" + waitLoad() + "skip:\nbar.sync 0;\nend:\n";
  };
  const std::string before = "tcgen05.fence::before_thread_sync;\n";
  const std::string after = "tcgen05.fence::after_thread_sync;\n";
  Ran ran = runWarps(body(waitStore(), before, after), 5);
  EXPECT_EQ(ran.text(), "");
  EXPECT_TRUE(ran.result.warnings.empty());
  EXPECT_EQ(wrongFault(runWarps(body("", before, after), 5), FaultKind::Race, "tensor memory"), "");
  for (bool first : {true, false}) {
    std::string missing = body(waitStore(), first ? "" : before, first ? after : "");
    ran = runWarps(missing, 5);
    EXPECT_EQ(ran.text(), "");
    ASSERT_EQ(ran.result.warnings.size(), 1u);
    EXPECT_NE(ran.result.warnings.front().str().find("warning: [TS704]"), std::string::npos);
    LaunchOptions strict;
    strict.strictTcgen05Fences = true;
    EXPECT_EQ(wrongFault(runWarps(missing, 5, strict), FaultKind::TensorFence, "tcgen05.fence"),
              "");
  }
}

/// A whole product with something changed in its text.
Ran changed(const MmaCase &c, const std::string &from, const std::string &to) {
  TensorKernel kernel = c.kernel();
  size_t at = kernel.body.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos)
    kernel.body.replace(at, from.size(), to);
  return kernel.run();
}
Ran withDescriptor(MmaCase c, uint32_t clear, uint32_t set) {
  c.steps = 1;
  uint32_t bits = c.instructionDescriptor();
  return changed(c, "mov.u32 %r431, " + std::to_string(bits),
                 "mov.u32 %r431, " + std::to_string((bits & ~clear) | set));
}

TEST(Tcgen05Fault, InstructionDescriptors) {
  FaultKind descriptor = FaultKind::Descriptor;
  MmaCase plain;
  EXPECT_EQ(wrongFault(withDescriptor(plain, 0, 1u << 2), descriptor, "sparsity"), "");
  EXPECT_EQ(wrongFault(withDescriptor(plain, 0, 1u << 6), descriptor, "reserved"), "");
  EXPECT_EQ(wrongFault(withDescriptor(plain, 7u << 7, 2u << 7), descriptor, "type of A"), "");
  EXPECT_EQ(wrongFault(withDescriptor(plain, 3u << 4, 2u << 4), descriptor, "type of D"), "");
  EXPECT_EQ(wrongFault(withDescriptor(plain, 0x3fu << 17, 0), descriptor, "N = 0"), "");
  EXPECT_EQ(wrongFault(withDescriptor(plain, 31u << 24, 6u << 24), descriptor, "M = 96"), "");
  EXPECT_EQ(wrongFault(withDescriptor(plain, 0, 1u << 3), descriptor, "saturation"), "");
  EXPECT_EQ(wrongFault(withDescriptor(plain, 0, 1u << 30), descriptor, "maximum shift"), "");
  MmaCase i8 = plain;
  i8.kind = "i8";
  i8.d = "s32";
  i8.a = i8.b = s8;
  EXPECT_EQ(wrongFault(withDescriptor(i8, 0, 1u << 13), descriptor, "negation"), "");
  MmaCase scaled = plain;
  scaled.kind = "mxf4nvf4";
  scaled.suffix = ".block_scale.block16";
  scaled.a = scaled.b = e2m1;
  scaled.vectors = 4;
  EXPECT_EQ(wrongFault(withDescriptor(scaled, 0, 1u << 31), descriptor, "K = 96"), "");
  EXPECT_EQ(wrongFault(withDescriptor(scaled, 0, 2u << 29), descriptor, "scale factor id"), "");
  EXPECT_EQ(wrongFault(withDescriptor(scaled, 0, 1u << 15), descriptor, "transposition"), "");
  MmaCase pair = plain;
  pair.group = 2;
  EXPECT_EQ(wrongFault(withDescriptor(pair, 0x3fu << 17, 3u << 17), descriptor, "multiple of 16"),
            "");
  MmaCase wide;
  wide.kind = "tf32";
  wide.a = wide.b = tf32;
  wide.kMajorA = false; // 16-byte atoms
  EXPECT_EQ(wrongFault(wide.kernel().run(), descriptor, "32-byte atoms"), "");
}

TEST(Tcgen05Fault, Operands) {
  MmaCase c;
  c.n = 32;
  EXPECT_EQ(wrongFault(changed(c, "add.u32 %r432, %r410, 0", "add.u32 %r432, %r410, 0x100000"),
                       FaultKind::TensorMemory, "begins in lane 16"),
            "");
  EXPECT_EQ(wrongFault(changed(c, "add.u32 %r432, %r410, 0", "add.u32 %r432, %r410, 16"),
                       FaultKind::TensorMemory, "column 32 is not allocated"),
            "");
  EXPECT_EQ(
      wrongFault(changed(c, "or.b64 %rd20, %rd20, ", "or.b64 %rd20, %rd20, 0x20000000000000; //"),
                 FaultKind::Descriptor, "bits 53 to 60"),
      "");
  EXPECT_EQ(
      wrongFault(changed(c, "tcgen05.mma.cta_group::1.kind::f16 [%r432], %rd20, %rd21, %r431,",
                         "tcgen05.mma.cta_group::2.kind::f16 [%r432], %rd20, %rd21, %r431,"),
                 FaultKind::Launch, "has no peer"),
      "");
  EXPECT_EQ(wrongFault(changed(c, "tcgen05.mma.cta_group::1.kind::f16 [%r432], %rd20, %rd21,",
                               "tcgen05.mma.sp.cta_group::1.kind::f16 [%r432], %rd20, %rd21, "
                               "[%r432],"),
                       FaultKind::Descriptor, "1 with .sp"),
            "");
}

TEST(Tcgen05Fault, SparseMetadata) {
  MmaCase c;
  c.n = 32;
  c.sparse = true;
  TensorKernel kernel = c.kernel();
  kernel.cell(0, 5, c.columnOfMetadata(0)) = 0; // both of two elements in one place
  EXPECT_EQ(wrongFault(kernel.run(), FaultKind::Descriptor, "two different positions"), "");
  c.m = 64;
  EXPECT_EQ(wrongFault(c.kernel().run(), FaultKind::Unsupported, "layout of its metadata"), "");
}

TEST(Tcgen05Fault, OrderOfProducts) {
  MmaCase c;
  c.n = 32;
  TensorKernel kernel = c.kernel();
  // The first step accumulates onto nothing.
  kernel.options.checkUninitialised = true;
  EXPECT_EQ(kernel.run().text(), "");
  size_t at = kernel.body.find("setp.ne.u32 %p1, 0, 0;");
  kernel.body.replace(at, 22, "setp.eq.u32 %p1, 0, 0;");
  EXPECT_EQ(wrongFault(kernel.run(), FaultKind::Uninitialised, "tensor memory"), "");
  // D is read without waiting: the commit goes to the barrier before the last step.
  kernel = c.kernel();
  kernel.commits = false;
  kernel.body = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r422];\n" +
                kernel.body;
  EXPECT_EQ(wrongFault(kernel.run(), FaultKind::Race, "tensor memory"), "");
  // A of the second product is D of the first, in one pipeline: not ordered.
  MmaCase chained;
  chained.n = 32;
  chained.tmemA = true;
  chained.steps = 1;
  kernel = chained.kernel();
  std::string again = kernel.body;
  again.replace(again.find("add.u32 %r430, %r410, 32"), 24, "add.u32 %r430, %r410, 0 ");
  again.replace(again.find("add.u32 %r432, %r410, 0"), 23, "add.u32 %r432, %r410, 32");
  kernel.body += again;
  EXPECT_EQ(wrongFault(kernel.run(), FaultKind::Race, "tensor memory"), "");
}

TEST(Tcgen05Fault, SharedMemoryOfOperands) {
  MmaCase c;
  c.n = 32;
  // Written after the proxy fence of the kernel, by the issuing thread.
  EXPECT_EQ(wrongFault(changed(c, "mov.u32 %r431", "st.shared.b32 [%r400], 0;\nmov.u32 %r431"),
                       FaultKind::ProxyFence, "fence.proxy.async"),
            "");
  EXPECT_EQ(changed(c, "mov.u32 %r431",
                    "st.shared.b32 [%r400], 0;\nfence.proxy.async;\n"
                    "mov.u32 %r431")
                .text(),
            "");
  // Written while the product may still read it.
  TensorKernel kernel = c.kernel();
  kernel.body += "st.shared.b32 [%r400], 0;\n";
  EXPECT_EQ(wrongFault(kernel.run(), FaultKind::Race, "shared memory"), "");
}

TEST(Tcgen05Fault, EveryLaneIssues) {
  // Two lanes issue the same accumulating product.
  MmaCase c;
  c.n = 32;
  c.steps = 1;
  c.accumulate = true;
  TensorKernel kernel = c.kernel();
  kernel.body = "@%p22 bra issued;\n" + kernel.body;
  Ran once = kernel.run();
  ASSERT_EQ(c.compare(kernel, once), "");
  MmaCase::Cell at = c.cellOf(3, 5);
  kernel.body += "tcgen05.mma.cta_group::1.kind::f16 [%r432], %rd20, %rd21, %r431, %p1;\n";
  Ran twice = kernel.run();
  ASSERT_EQ(twice.text(), "");
  EXPECT_EQ(std::bit_cast<float>(kernel.result(twice, 0, at.lane, at.column)),
            float(c.expected(3, 5) + c.product(3, 5)));
}

} // namespace
