// Every spelling of the mbarrier instructions does what its kind does: orders, scopes and state
// spaces are swept. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

struct Where {
  const char *space, *address;
  bool remoteForm = false; // shared::cluster: no state is returned
};
constexpr Where places[] = {
    {"", "%rd5"}, {".shared", "bar"}, {".shared::cta", "bar"}, {".shared::cluster", "%r5", true}};

std::vector<std::string> orders(const char *first) {
  std::vector<std::string> all{""};
  for (const char *sem : {first, "relaxed"})
    for (const char *scope : {"cta", "cluster"})
      all.push_back(std::string(".") + sem + "." + scope);
  return all;
}

Ran run(const std::string &body) {
  test::Run run;
  run.globals = ".shared .align 8 .b64 bar;\n";
  run.options.block = {1, 1, 1};
  run.body = "mov.u64 %rd5, bar;\ncvta.shared.u64 %rd5, %rd5;\nmov.u32 %r5, bar;\n" + body;
  return runPtx(run);
}
/// Stores whether phase 0 is over.
std::string phaseOver(int index) {
  return "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\nselp.b32 %r9, 1, 0, %p1;\n"
         "st.global.b32 [%rd0+" +
         std::to_string(4 * index) + "], %r9;\n";
}
std::string init(int count) {
  return "mbarrier.init.shared.b64 [bar], " + std::to_string(count) + ";\n";
}
} // namespace

TEST(MbarrierForms, Arrivals) {
  for (const Where &where : places)
    for (const std::string &order : orders("release"))
      for (bool drop : {false, true}) {
        std::string name = std::string("mbarrier.arrive") + (drop ? "_drop" : "");
        std::string state = where.remoteForm ? "_" : "%rd6";
        std::string form = name + order + where.space + ".b64 ";
        // Two of four, then the rest one by one; the second phase tells whether counts were
        // dropped: three are gone then.
        Ran ran = run(init(4) + form + state + ", [" + where.address + "], 2;\n" + phaseOver(0) +
                      form + "_, [" + where.address + "];\n" + phaseOver(1) +
                      "mbarrier.arrive.shared.b64 _, [bar];\n" + phaseOver(2) +
                      "mbarrier.arrive.shared.b64 _, [bar];\n" + phaseOver(3));
        ASSERT_TRUE(ran.ok()) << form << ran.text();
        EXPECT_EQ(ran.at<uint32_t>(0), 0u) << form;
        EXPECT_EQ(ran.at<uint32_t>(1), 0u) << form;
        EXPECT_EQ(ran.at<uint32_t>(2), 1u) << form;
        // With drops one arrival ends phase 1, and phase 2 is open: parity 0 is not over.
        EXPECT_EQ(ran.at<uint32_t>(3), drop ? 0u : 1u) << form;
        form = name + ".expect_tx" + order + where.space + ".b64 ";
        ran = run(init(2) + form + state + ", [" + where.address + "], 32;\n" + phaseOver(0) +
                  "mbarrier.arrive.shared.b64 _, [bar];\n" + phaseOver(1) +
                  "mbarrier.complete_tx.shared.b64 [bar], 32;\n" + phaseOver(2));
        ASSERT_TRUE(ran.ok()) << form << ran.text();
        EXPECT_EQ(ran.at<uint32_t>(1), 0u) << form;
        EXPECT_EQ(ran.at<uint32_t>(2), 1u) << form;
        if (where.remoteForm || (!order.empty() && order != ".release.cta"))
          continue;
        form = name + ".noComplete" + order + where.space + ".b64 ";
        ran = run(init(3) + form + "%rd6, [" + where.address +
                  "], 2;\nmbarrier.pending_count.b64 %r1, %rd6;\nst.global.b32 [%rd0], %r1;\n"
                  "mbarrier.arrive.shared.b64 _, [bar];\n" +
                  phaseOver(1));
        ASSERT_TRUE(ran.ok()) << form << ran.text();
        EXPECT_EQ(ran.at<uint32_t>(0), 3u) << form;
        EXPECT_EQ(ran.at<uint32_t>(1), 1u) << form;
      }
}

TEST(MbarrierForms, Transactions) {
  for (const Where &where : places)
    for (const char *order : {"", ".relaxed.cta", ".relaxed.cluster"}) {
      std::string form = std::string(order) + where.space + ".b64 [" + where.address + "], ";
      Ran ran = run(init(1) + "mbarrier.expect_tx" + form + "48;\n" +
                    "mbarrier.arrive.shared.b64 _, [bar];\n" + phaseOver(0) +
                    "mbarrier.complete_tx" + form + "16;\n" + phaseOver(1) +
                    "mbarrier.complete_tx" + form + "32;\n" + phaseOver(2));
      ASSERT_TRUE(ran.ok()) << form << ran.text();
      EXPECT_EQ(ran.at<uint32_t>(0), 0u) << form;
      EXPECT_EQ(ran.at<uint32_t>(1), 0u) << form;
      EXPECT_EQ(ran.at<uint32_t>(2), 1u) << form;
    }
}

TEST(MbarrierForms, Waits) {
  for (const Where &where : places)
    for (const std::string &order : orders("acquire"))
      for (const char *kind : {"test_wait", "try_wait"})
        for (bool parity : {false, true}) {
          if (where.remoteForm)
            continue;
          std::string form = std::string("mbarrier.") + kind + (parity ? ".parity" : "") + order +
                             where.space + ".b64 %p1, [" + where.address + "], ";
          std::string store = ";\nselp.b32 %r9, 1, 0, %p1;\nst.global.b32 [%rd0+";
          Ran ran = run(init(2) + "mbarrier.arrive.shared.b64 %rd6, [bar];\n" + form +
                        (parity ? "0" : "%rd6") + store + "0], %r9;\n" +
                        "mbarrier.arrive.shared.b64 _, [bar];\n" + form + (parity ? "2" : "%rd6") +
                        store + "4], %r9;\n" + "mbarrier.arrive.shared.b64 %rd6, [bar];\n" + form +
                        (parity ? "1" : "%rd6") + store + "8], %r9;\n");
          ASSERT_TRUE(ran.ok()) << form << ran.text();
          EXPECT_EQ(ran.at<uint32_t>(0), 0u) << form;
          EXPECT_EQ(ran.at<uint32_t>(1), 1u) << form;
          EXPECT_EQ(ran.at<uint32_t>(2), 0u) << form;
        }
}

TEST(MbarrierForms, InitAndInval) {
  for (const Where &where : places) {
    if (where.remoteForm)
      continue;
    const std::string at = std::string(where.space) + ".b64 [" + where.address + "]";
    Ran ran = run("mbarrier.init" + at + ", 1;\nmbarrier.arrive.shared.b64 _, [bar];\n" +
                  phaseOver(0) + "mbarrier.inval" + at + ";\nmbarrier.init" + at + ", 2;\n" +
                  phaseOver(1) + "mbarrier.inval" + at + ";\nst.shared.b64 [bar], 5;\n" +
                  "ld.shared.b32 %r1, [bar];\nst.global.b32 [%rd0+8], %r1;\n");
    ASSERT_TRUE(ran.ok()) << at << ran.text();
    EXPECT_EQ(ran.at<uint32_t>(0), 1u);
    EXPECT_EQ(ran.at<uint32_t>(1), 0u);
    EXPECT_EQ(ran.at<uint32_t>(2), 5u);
  }
}
