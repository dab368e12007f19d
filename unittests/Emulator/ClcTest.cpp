// Cluster launch control, grid dependencies, setmaxnreg. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "TensorReference.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

const char *const globals = ".shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 bar;\n";

#define EXPECT_FAULT(RAN, KIND, TEXT)                                                              \
  do {                                                                                             \
    const Ran &ran_ = (RAN);                                                                       \
    EXPECT_TRUE(ran_.faults(FaultKind::KIND)) << ran_.text();                                      \
    EXPECT_NE(ran_.text().find(TEXT), std::string::npos) << ran_.text();                           \
  } while (false)

std::string request() {
  return "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
         "[answer], "
         "[bar];\n";
}
std::string expectTx() { return "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"; }

/// Each CTA counts itself at out[x + 8 * y], then takes over CTAs until none is left.
std::string persistent(const std::string &behind = "") {
  return "mbarrier.init.shared.b64 [bar], 1;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\n"
         "mov.b32 %r5, 0;\nWORK:\nmul.lo.u32 %r3, %r2, 8;\nadd.u32 %r3, %r3, %r1;\n"
         "mul.wide.u32 %rd5, %r3, 4;\nadd.u64 %rd5, %rd0, %rd5;\n"
         "ld.global.b32 %r4, [%rd5];\nadd.u32 %r4, %r4, 1;\nst.global.b32 [%rd5], %r4;\n" +
         expectTx() + request() +
         "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r5;\n@!%p1 bra WAIT;\n"
         "xor.b32 %r5, %r5, 1;\nld.shared.b128 %rq1, [answer];\n"
         "fence.proxy.async.shared::cta;\n"
         "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %rq1;\n@!%p2 bra DONE;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %rq1;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {_, %r2, %r7, _}, %rq1;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r8, %rq1;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r9, %rq1;\n"
         "bra WORK;\nDONE:\n" +
         behind;
}

test::Run program(const std::string &body, std::array<uint32_t, 3> grid = {1, 1, 1},
                  std::array<uint32_t, 3> cluster = {1, 1, 1}) {
  test::Run run;
  run.globals = globals;
  run.options.block = {1, 1, 1};
  run.options.grid = grid;
  run.options.cluster = cluster;
  run.body = body;
  return run;
}
} // namespace

TEST(Clc, EveryCtaIsDoneOnce) {
  for (Schedule::Kind kind : {Schedule::Kind::Fair, Schedule::Kind::Random}) {
    test::Run run = program(persistent(), {8, 3, 1});
    run.options.schedule.kind = kind;
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    for (int i = 0; i < 24; ++i)
      EXPECT_EQ(ran.at<uint32_t>(i), 1u) << i;
  }
}

TEST(Clc, MulticastToTheCluster) {
  // One CTA asks for both; each adds its own place in the cluster to the first CTA's coordinates.
  test::Run run = program(
      "mov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p3, %r20, 0;\n"
      "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      "mov.u32 %r1, %ctaid.x;\nmov.b32 %r5, 0;\nWORK:\nmul.wide.u32 %rd5, %r1, 4;\n"
      "add.u64 %rd5, %rd0, %rd5;\nld.global.b32 %r4, [%rd5];\nadd.u32 %r4, %r4, 1;\n"
      "st.global.b32 [%rd5], %r4;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" +
          expectTx() +
          "@%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
          "multicast::cluster::all.b128 [answer], [bar];\n"
          "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r5;\n@!%p1 bra WAIT;\n"
          "xor.b32 %r5, %r5, 1;\nld.shared.b128 %rq1, [answer];\n"
          "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %rq1;\n@!%p2 bra DONE;\n"
          "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %rq1;\n"
          "add.u32 %r1, %r1, %r20;\nbra WORK;\nDONE:\n"
          "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
      {10, 1, 1}, {2, 1, 1});
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(ran.at<uint32_t>(i), 1u) << i;
}

TEST(Clc, Faults) {
  EXPECT_FAULT(runPtx(program(persistent(expectTx() + request()), {4, 1, 1})), LaunchControl,
               "after one that failed");
  // The response is read before its barrier says that it is there.
  std::string early = persistent();
  size_t at = early.find("WAIT:");
  early.insert(at, "ld.shared.b128 %rq1, [answer];\n");
  EXPECT_FAULT(runPtx(program(early, {4, 1, 1})), Race, "cluster launch control");
  EXPECT_FAULT(runPtx(program("mov.b128 %rq1, {%rd0, %rd1};\nclusterlaunchcontrol.query_cancel."
                              "is_canceled.pred.b128 %p2, %rq1;\n")),
               LaunchControl, "no response");
  EXPECT_FAULT(runPtx(program("mov.u64 %rd4, bar;\ncvta.shared.u64 %rd4, %rd4;\n"
                              "mbarrier.init.b64 [%rd4], 1;\nadd.u64 %rd5, %rd4, 8;\n"
                              "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes."
                              "b128 [%rd5], [%rd4];\n")),
               Alignment, "multiple of 16");
  EXPECT_FAULT(runPtx(program(request())), BarrierState, "no mbarrier has been initialised");
}

namespace {
/// Two launches of one kernel text each; the second may begin early.
LaunchResult sequence(const std::string &first, const std::string &second, uint32_t &out,
                      uint32_t *next = nullptr, unsigned threads = 2, bool checkRaces = true) {
  Device device;
  auto load = [&](const std::string &body) {
    test::Run run = program(body);
    run.globals.clear();
    Result<unsigned> module = device.load(ptxModule(run), "test.ptx");
    EXPECT_TRUE(bool(module));
    return *module;
  };
  uint64_t buffer = device.allocate(64);
  memset(device.host(buffer, 64), 0, 64);
  ParamBytes param(8);
  memcpy(param.data(), &buffer, 8);
  LaunchOptions options;
  options.block = {1, 1, 1};
  options.threads = threads;
  options.checkRaces = checkRaces;
  LaunchOptions dependent = options;
  dependent.pdl = true;
  options.grid = {3, 1, 1};
  LaunchResult result = device.launchSequence(
      {{load(first), options, {param, param}}, {load(second), dependent, {param, param}}});
  memcpy(&out, device.host(buffer, 4), 4);
  if (next)
    memcpy(next, device.host(buffer + 4, 4), 4);
  return result;
}
std::string describe(const LaunchResult &result) {
  return result.faults.empty() ? "" : result.faults.front().str();
}
} // namespace

TEST(GridDependency, WaitSeesAllOfThePredecessor) {
  // The predecessors let the dependent go at once and write late; each adds 5.
  std::string first = "griddepcontrol.launch_dependents;\nmov.b32 %r1, 0;\nL:\n"
                      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 20000;\n@%p1 bra L;\n"
                      "atom.global.add.u32 %r2, [%rd0], 5;\n";
  uint32_t out = 0, second = 0;
  LaunchResult result =
      sequence(first,
               "griddepcontrol.wait;\nld.global.b32 %r1, [%rd0];\nadd.u32 %r1, %r1, 100;\n"
               "st.global.b32 [%rd0], %r1;\n",
               out);
  ASSERT_TRUE(result.ok()) << describe(result);
  EXPECT_EQ(out, 115u);
  // Without the wait it sees what is there when it runs: not all, as the predecessors write late.
  // (With the check of races that is a fault: GridOrderTest.)
  const std::string early = "ld.global.b32 %r1, [%rd0];\nst.global.b32 [%rd0+4], %r1;\n";
  for (unsigned threads : {2u, 1u}) { // also on one thread it begins as soon as it may
    result = sequence(first, early, out, &second, threads, /*checkRaces=*/false);
    ASSERT_TRUE(result.ok()) << describe(result);
    EXPECT_EQ(out, 15u);
    EXPECT_LT(second, 15u);
  }
  // Predecessors that do not let it go end before it begins.
  result = sequence(first.substr(first.find('\n')),
                    "ld.global.b32 %r1, [%rd0];\nst.global.b32 [%rd0+4], %r1;\n", out, &second);
  ASSERT_TRUE(result.ok()) << describe(result);
  EXPECT_EQ(second, 15u);
  // Without a launch before it there is nothing to wait for.
  Ran alone = runPtx(program("griddepcontrol.wait;\nst.global.b32 [%rd0], 1;\n"));
  ASSERT_TRUE(alone.ok()) << alone.text();
  EXPECT_EQ(alone.at<uint32_t>(0), 1u);
}

namespace {
/// Three warpgroups of which the first gives registers to the others.
Ran registers(const std::string &first, const std::string &others, int maxnreg = 168) {
  test::Run run = program("setp.lt.u32 %p1, %r0, 128;\n@%p1 bra FIRST;\n" + others +
                          "bra END;\nFIRST:\n" + first + "END:\n");
  run.options.block = {384, 1, 1};
  if (maxnreg)
    run.directives = ".maxnreg " + std::to_string(maxnreg);
  return runPtx(run);
}
std::string setmax(const char *which, int n) {
  return std::string("setmaxnreg.") + which + ".sync.aligned.u32 " + std::to_string(n) + ";\n";
}
} // namespace

TEST(SetMaxNReg, PoolOfTheCta) {
  // 168 each, 504 for the three.
  Ran ran = registers(setmax("dec", 40), setmax("inc", 232));
  EXPECT_TRUE(ran.ok()) << ran.text();
  ran = registers(setmax("dec", 24), setmax("inc", 240));
  EXPECT_TRUE(ran.ok()) << ran.text();
  // 40 + 2 * 240 is more than there are: the last ones wait for ever.
  ran = registers(setmax("dec", 40), setmax("inc", 240));
  EXPECT_FAULT(ran, Hang, "setmaxnreg.inc");
  EXPECT_FAULT(registers(setmax("dec", 232), ""), Launch, "expected fewer");
  EXPECT_FAULT(registers(setmax("inc", 160), ""), Launch, "expected more");
  EXPECT_FAULT(registers("", setmax("inc", 28)), Unsupported, "multiple of 8");
  test::Run run = program(setmax("inc", 256));
  run.options.block = {512, 1, 1};
  Ran fits = registers("", "");
  EXPECT_TRUE(fits.ok());
  EXPECT_TRUE(runPtx(run).faults(FaultKind::Hang)); // 128 each: others would have to give back
  run.options.block = {128, 1, 1};
  Ran never = runPtx(run);
  EXPECT_TRUE(never.ok()) << never.text(); // 255 each, rounded up
}

TEST(SetMaxNReg, WithoutMaxnregNobodyKnowsWhatAWarpHas) {
  // 65536 / 384 is 170, but ptxas may have taken fewer.
  Ran ran = registers(setmax("dec", 40), setmax("inc", 160), 0);
  EXPECT_TRUE(ran.ok()) << ran.text();
  ran = registers(setmax("dec", 232), "", 0);
  EXPECT_TRUE(ran.ok()) << ran.text();
  // What a warp has set itself is known.
  EXPECT_FAULT(registers(setmax("dec", 40) + setmax("dec", 48), "", 0), Launch, "expected fewer");
}
