// The run loop itself: places of faults, hangs, memory bounds. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;
using Snippet = ts::emu::test::Run; // testing::Test has a Run too

TEST(Core, UnknownInstructionIsNamed) {
  Ran ran = runPtx("foo.bar %r1;");
  ASSERT_TRUE(ran.faults(FaultKind::Unsupported)) << ran.text();
  EXPECT_NE(ran.text().find("foo.bar"), std::string::npos);
}

TEST(Core, BarrierWithTooFewThreadsIsAHang) {
  Ran ran = runPtx("bar.sync 1, 64;");
  ASSERT_TRUE(ran.faults(FaultKind::Hang)) << ran.text();
  EXPECT_NE(ran.text().find("32 of 64 threads have arrived"), std::string::npos);
}

namespace {
Ran launched(void (*change)(LaunchOptions &), const std::string &globals = "") {
  Snippet run;
  run.globals = globals;
  change(run.options);
  return runPtx(run);
}
std::string launchError(void (*change)(LaunchOptions &)) {
  Ran ran = launched(change);
  return ran.faults(FaultKind::Launch) ? ran.text() : "no launch fault: " + ran.text();
}
bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }
} // namespace

TEST(Core, ImpossibleLaunchesAreRefused) {
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.grid = {0, 1, 1}; }), "zero");
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.grid = {1, 70000, 1}; }), "larger");
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.block = {1025, 1, 1}; }), "1024");
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.block = {~0u, ~0u, ~0u}; }), "1024");
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.cluster = {32, 1, 1}; }), "at most 16");
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.cluster = {2, 1, 1}; }), "not divisible");
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.dynamicSmem = ~0u; }), "shared memory");
  EXPECT_PRED2(has, launchError([](LaunchOptions &o) { o.entry = "other"; }), "no kernel 'other'");
}

TEST(Core, AbsurdModulesAreRefused) {
  auto nothing = [](LaunchOptions &) {};
  EXPECT_PRED2(has, launched(nothing, ".global .b8 a[99999999999];").error, "global");
  EXPECT_PRED2(has, launched(nothing, ".func f() { .local .b8 a[99999999]; ret; }").error, "local");
  EXPECT_PRED2(has, launched(nothing, ".func f(.param .b8 a[99999]) { ret; }").error, "parameters");
  EXPECT_PRED2(has, launched(nothing, ".func f() { .shared .b8 a[9999999999]; ret; }").error,
               "shared");
}

TEST(Core, ManyRegistersInALargeBlockAreRefused) {
  Snippet run;
  run.body = ".reg .b32 %many<5000>;";
  run.options.block = {1024, 1, 1};
  EXPECT_TRUE(runPtx(run).ok());
  run.body = ".reg .b32 %many<1000000>;";
  EXPECT_TRUE(runPtx(run).faults(FaultKind::Launch));
}

// A grid larger than any memory runs cluster after cluster.
TEST(Core, HugeGridRunsProgressively) {
  Snippet run;
  run.options.grid = {1'000'000'000, 1, 1};
  run.options.stepLimit = 50'000;
  Ran ran = runPtx(run);
  EXPECT_FALSE(ran.result.stopped.empty()) << ran.text();
}

TEST(Core, EndlessRecursionIsATrap) {
  Snippet run;
  run.globals = ".func f() { call f; ret; }";
  run.body = "call f;";
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.faults(FaultKind::Trap)) << ran.text();
}

TEST(Core, ParametersMustFit) {
  Device device;
  auto module = device.load(ptxModule({}), "test.ptx");
  ASSERT_TRUE(bool(module));
  LaunchOptions options;
  options.block = {32, 1, 1};
  EXPECT_EQ(device.launch(*module, options, {}).faults.front().kind, FaultKind::Launch);
  EXPECT_EQ(device.launch(*module, options, {ParamBytes(4), ParamBytes(8)}).faults.front().kind,
            FaultKind::Launch);
  EXPECT_EQ(device.launch(*module + 7, options, {}).faults.front().kind, FaultKind::Launch);
}

// The elected lane waits for ever, its siblings wait for it: that is a hang, not divergence.
TEST(Core, WaitingInABranchIsAHang) {
  Snippet run;
  run.body = ".shared .align 8 .b64 full;\nmov.u32 %r1, full;\nsetp.ne.u32 %p0, %r0, 0;\n"
             "@%p0 bra meet;\nmbarrier.init.shared.b64 [%r1], 1;\n"
             "wait:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n@!%p1 bra wait;\n"
             "meet:\nbar.warp.sync -1;";
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.faults(FaultKind::Hang)) << ran.text();
  EXPECT_NE(ran.result.faults.front().site.instruction.find("try_wait"), std::string::npos);
}
