// Races between a grid and the one that may begin before it has ended: what griddepcontrol.wait
// orders, whoever comes first in this run. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

struct Grid {
  std::string body;
  bool pdl = true; // of the first there is none before
  uint32_t warps = 1, ctas = 1;
};

struct Sequence {
  LaunchResult result;
  std::vector<uint32_t> words; // of the buffer at %rd0
  std::string text() const {
    return result.faults.empty() ? result.stopped : result.faults.front().str();
  }
  bool ok() const { return result.ok(); }
  bool race() const {
    return !result.faults.empty() && result.faults.front().kind == FaultKind::Race &&
           text().find("put griddepcontrol.wait before this access") != std::string::npos &&
           text().find("in the grid before") != std::string::npos;
  }
};

/// One after the other on a buffer of zeros; %rd0 is its address, %r0 the thread.
Sequence sequence(const std::vector<Grid> &grids, unsigned threads = 2, bool checkRaces = true,
                  const std::vector<MapParam> &maps = {}) {
  constexpr uint64_t bytes = 4096;
  Device device;
  uint64_t buffer = device.allocate(bytes);
  memset(device.host(buffer, bytes), 0, bytes);
  ParamBytes param(8);
  memcpy(param.data(), &buffer, 8);
  std::vector<Device::Pending> launches;
  for (const Grid &grid : grids) {
    test::Run run;
    run.body = grid.body;
    run.globals = ".shared .align 128 .b8 smem[1024];\n.shared .align 8 .b64 bar;\n";
    run.maps = maps;
    Result<unsigned> module = device.load(ptxModule(run), "test.ptx");
    EXPECT_TRUE(bool(module)) << (module ? "" : module.error().message);
    if (!module)
      return {};
    std::vector<ParamBytes> params{param, param};
    for (const MapParam &map : maps)
      params.push_back(*Device::encodeTensorMap(map.plan, buffer));
    LaunchOptions options;
    options.block = {32 * grid.warps, 1, 1};
    options.grid = {grid.ctas, 1, 1};
    options.pdl = grid.pdl && !launches.empty();
    options.threads = threads;
    options.checkRaces = checkRaces;
    options.stepLimit = 10'000'000;
    launches.push_back({*module, options, params});
  }
  Sequence done;
  done.result = device.launchSequence(launches);
  done.words.resize(bytes / 4);
  memcpy(done.words.data(), device.host(buffer, bytes), bytes);
  return done;
}

/// Only thread 0 executes it.
std::string only(const std::string &body) {
  return "setp.ne.u32 %p8, %r0, 0;\n@%p8 bra end;\n" + body + "end:\n";
}

/// Pieces of kernels.
class GridOrderTest : public testing::Test {
protected:
  const std::string release = "griddepcontrol.launch_dependents;\n";
  const std::string waitForGrid = "griddepcontrol.wait;\n";
  const std::string late = "mov.u32 %r9, 0;\nlate:\nadd.u32 %r9, %r9, 1;\n"
                           "setp.lt.u32 %p9, %r9, 3000;\n@%p9 bra late;\n";
  const std::string writeWord = "st.global.u32 [%rd0], 7;\n";
  const std::string readWord = "ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0+64], %r1;\n";
};
} // namespace

// Whether the predecessor writes before or after it lets the dependent go: only the wait makes it
// visible.
TEST_F(GridOrderTest, ReadsBehindTheWaitOnly) {
  for (unsigned threads : {1u, 2u})
    for (const std::string &first : {only(writeWord + release), only(release + late + writeWord)}) {
      Sequence waits = sequence({{first}, {only(waitForGrid + readWord)}}, threads);
      ASSERT_TRUE(waits.ok()) << waits.text();
      EXPECT_EQ(waits.words[16], 7u);
      Sequence races = sequence({{first}, {only(readWord + waitForGrid)}}, threads);
      EXPECT_TRUE(races.race()) << races.text();
      EXPECT_NE(races.text().find("the read by this grid and the write by the grid before it"),
                std::string::npos);
      EXPECT_NE(races.text().find("at byte 0 of an allocation of 4096 bytes"), std::string::npos);
      EXPECT_NE(races.text().find("error: [TS702]"), std::string::npos);
      EXPECT_NE(races.text().find("ld.global.u32"), std::string::npos); // there is the mistake
      EXPECT_TRUE(sequence({{first}, {only(readWord)}}, threads).race());
      EXPECT_TRUE(sequence({{first}, {only(readWord)}}, threads, /*checkRaces=*/false).ok());
    }
}

TEST_F(GridOrderTest, EveryKindOfAccess) {
  const std::string reads = "ld.global.u32 %r1, [%rd0];\n",
                    adds = "red.global.add.u32 [%rd0], 1;\n",
                    polls = "ld.relaxed.gpu.global.u32 %r1, [%rd0];\n";
  struct Pair {
    std::string first, second;
    bool race;
  };
  for (const Pair &pair : std::initializer_list<Pair>{{reads, writeWord, true},
                                                      {writeWord, writeWord, true},
                                                      {adds, writeWord, true},
                                                      {writeWord, adds, true},
                                                      {reads, adds, true},
                                                      {adds, reads, true},
                                                      {writeWord, polls, true},
                                                      {adds, adds, false},
                                                      {adds, polls, false},
                                                      {reads, reads, false},
                                                      {reads, polls, false}})
    for (const std::string &first :
         {only(pair.first + release), only(release + late + pair.first)}) {
      Sequence ran = sequence({{first}, {only(pair.second)}});
      EXPECT_EQ(ran.race(), pair.race) << first << pair.second << ran.text();
      EXPECT_EQ(ran.ok(), !pair.race) << ran.text();
      EXPECT_TRUE(sequence({{first}, {only(waitForGrid + pair.second)}}).ok());
    }
}

TEST_F(GridOrderTest, ToTheByte) {
  const std::string first = only(release + late + "mov.u32 %r2, 5;\nst.global.u8 [%rd0+5], %r2;\n");
  EXPECT_TRUE(sequence({{first},
                        {only("ld.global.u8 %r1, [%rd0+4];\nld.global.u16 %r1, [%rd0+6];\n"
                              "ld.global.u32 %r1, [%rd0];\n")}})
                  .ok());
  Sequence races = sequence({{first}, {only("ld.global.u32 %r1, [%rd0+4];\n")}});
  EXPECT_TRUE(races.race());
  EXPECT_NE(races.text().find("at byte 5 of"), std::string::npos) << races.text();
}

// What one warp has waited for, another knows once they have met.
TEST_F(GridOrderTest, TheWaitIsHandedOn) {
  const std::string first = only(release + late + writeWord);
  const std::string waitsFirst =
      "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra other;\n" + waitForGrid + "other:\n";
  const std::string second = "setp.ne.u32 %p2, %r0, 32;\n@%p2 bra end;\n" + readWord + "end:\n";
  Sequence meets = sequence({{first}, {waitsFirst + "bar.sync 0;\n" + second, true, 2}});
  EXPECT_TRUE(meets.ok()) << meets.text();
  EXPECT_EQ(meets.words[16], 7u);
  Sequence races = sequence({{first}, {waitsFirst + second, true, 2}});
  EXPECT_TRUE(races.race()) << races.text();
  // Through an mbarrier.
  const std::string init = "setp.ne.u32 %p3, %r0, 0;\n@!%p3 mbarrier.init.shared.b64 [bar], 1;\n"
                           "bar.sync 0;\n";
  meets = sequence({{first},
                    {init + "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra other;\n" + waitForGrid +
                         "@!%p3 mbarrier.arrive.shared.b64 _, [bar];\nother:\npoll:\n"
                         "mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;\n@!%p4 bra poll;\n" +
                         second,
                     true, 2}});
  EXPECT_TRUE(meets.ok()) << meets.text();
}

// Nothing overlaps: without the attribute, and where no CTA lets the dependent go before its end.
TEST_F(GridOrderTest, GridsThatDoNotOverlap) {
  Sequence ran = sequence({{only(release + late + writeWord)}, {only(readWord), /*pdl=*/false}});
  EXPECT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.words[16], 7u);
  ran = sequence({{only(late + writeWord)}, {only(readWord)}});
  EXPECT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.words[16], 7u);
  // One CTA of several lets it go.
  ran = sequence({{"mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p1, %r5, 0;\n@!%p1 bra go;\n" + release +
                       "go:\n" + only(writeWord),
                   true, 1, 2},
                  {only(readWord)}});
  EXPECT_TRUE(ran.race()) << ran.text();
  // The third begins after both, also where the second has overtaken the first.
  ran = sequence({{only(release + late + writeWord)}, {release}, {only(readWord), /*pdl=*/false}});
  EXPECT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.words[16], 7u);
}

// A flag of the predecessor's orders what came before it.
TEST_F(GridOrderTest, FlagsOrder) {
  const std::string flag = "st.release.gpu.global.u32 [%rd0+128], 1;\n",
                    fenced = "fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd0+128], 1;\n";
  auto poll = [](const std::string &order) {
    return "poll:\nld." + order +
           ".gpu.global.u32 %r3, [%rd0+128];\nsetp.eq.u32 %p3, %r3, 0;\n"
           "@%p3 bra poll;\n";
  };
  for (unsigned threads : {1u, 2u}) {
    EXPECT_TRUE(
        sequence({{only(release + late + writeWord + flag)}, {only(poll("acquire") + readWord)}},
                 threads)
            .ok());
    EXPECT_TRUE(sequence({{only(release + late + writeWord + fenced)},
                          {only(poll("relaxed") + "fence.acq_rel.gpu;\n" + readWord)}},
                         threads)
                    .ok());
    Sequence races = sequence(
        {{only(release + late + writeWord + flag)}, {only(poll("relaxed") + readWord)}}, threads);
    EXPECT_TRUE(races.race()) << races.text();
  }
}

// Engines: who starts them has to have waited.
TEST_F(GridOrderTest, CopiesByEngines) {
  const std::string expect =
      "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n";
  const std::string arrives = "again:\nmbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;\n"
                              "@!%p4 bra again;\n";
  MapParam map;
  map.plan.sizes = {32, 32};
  map.plan.strides = {128};
  map.plan.box = {16, 4};
  map.plan.elementStrides = {1, 1};
  const std::string bulk = expect +
                           "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                           "[smem], [%rd0], 256, [bar];\n" +
                           arrives;
  const std::string tensor =
      expect +
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[smem], [%rd2, {0, 0}], [bar];\n" +
      arrives;
  const std::string ampere = "cp.async.ca.shared.global [smem], [%rd0], 16;\ncp.async.wait_all;\n";
  const std::string fill = "mov.u32 %r4, 0;\nfill:\nmov.u32 %r6, smem;\nadd.u32 %r6, %r6, %r4;\n"
                           "st.shared.u32 [%r6], 3;\nadd.u32 %r4, %r4, 4;\n"
                           "setp.lt.u32 %p7, %r4, 1024;\n@%p7 bra fill;\nfence.proxy.async;\n";
  const std::string drain = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  const std::string bulkStore =
      fill + "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [smem], 256;\n" + drain;
  const std::string tensorStore =
      fill +
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {0, 0}], [smem];\n" +
      drain;
  for (const std::string &copy : {bulk, tensor, ampere}) {
    for (const std::string &first : {only(writeWord + release), only(release + late + writeWord)}) {
      Sequence races = sequence({{first}, {only(copy)}}, 2, true, {map});
      EXPECT_TRUE(races.race()) << copy << races.text();
      Sequence waits = sequence({{first}, {only(waitForGrid + copy)}}, 2, true, {map});
      EXPECT_TRUE(waits.ok()) << copy << waits.text();
    }
    // Rows of the box, and nothing between them.
    const std::string beside = "st.global.u32 [%rd0+1024], 7;\nst.global.u32 [%rd0+576], 7;\n";
    Sequence apart = sequence({{only(release + late + beside)}, {only(copy)}}, 2, true, {map});
    EXPECT_TRUE(apart.ok()) << copy << apart.text();
  }
  for (const std::string &store : {bulkStore, tensorStore}) {
    Sequence races = sequence({{only(store + release)}, {only(readWord)}}, 2, true, {map});
    EXPECT_TRUE(races.race()) << store << races.text();
    races = sequence({{only(readWord + release)}, {only(store)}}, 2, true, {map});
    EXPECT_TRUE(races.race()) << store << races.text();
    Sequence waits =
        sequence({{only(store + release)}, {only(waitForGrid + readWord)}}, 2, true, {map});
    EXPECT_TRUE(waits.ok()) << store << waits.text();
    EXPECT_EQ(waits.words[16], 3u);
  }
}
