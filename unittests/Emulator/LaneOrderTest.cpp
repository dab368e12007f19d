// Lanes of one warp that hand each other shared memory: themselves, or through an engine that one
// of them starts. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
// %r6: this lane's word; %p1 holds in lane 0.
constexpr const char *head = ".shared .align 128 .b32 sv[32];\nmov.u32 %r5, sv;\n"
                             "shl.b32 %r6, %r0, 2;\nadd.u32 %r6, %r6, %r5;\n"
                             "setp.eq.u32 %p1, %r0, 0;\nst.shared.u32 [%r6], %r0;\n";
constexpr const char *staged =
    "fence.proxy.async.shared::cta;\nBETWEEN\n"
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r5], 128;\n"
    "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group.read 0;\n";

Ran run(std::string body, const std::string &between, const std::string &behind = "") {
  if (size_t at = body.find("BETWEEN"); at != std::string::npos)
    body.replace(at, 7, between);
  return runPtx(head + body + behind);
}

std::string wrong(const Ran &ran, const std::string &text) {
  if (!ran.faults(FaultKind::Race))
    return "no race: " + ran.text();
  return ran.text().find(text) == std::string::npos ? ran.text() : "";
}
} // namespace

TEST(LaneOrder, EngineReadsOfOtherLanes) {
  EXPECT_EQ(wrong(run(staged, ""), "which lane 0 starts, and the write by lane 1 of the same warp"),
            "");
  for (const char *sync : {"bar.warp.sync -1;", "bar.sync 0;", "barrier.sync 1, 32;"}) {
    Ran good = run(staged, sync);
    EXPECT_TRUE(good.ok()) << sync << good.text();
    EXPECT_EQ(good.at<uint32_t>(31), 31u);
  }
  // An exchange of registers orders no memory.
  EXPECT_EQ(wrong(run(staged, "shfl.sync.bfly.b32 %r7, %r0, 1, 31, -1;"), "of the same warp"), "");
  // Its own word only.
  std::string own = "fence.proxy.async.shared::cta;\n@%p1 cp.async.bulk.global.shared::cta."
                    "bulk_group [%rd0], [%r5], 16;\n";
  EXPECT_EQ(wrong(run(own, ""), "lane 1"), ""); // 16 bytes are four words
}

TEST(LaneOrder, OverwritingWhatAnEngineReads) {
  const std::string sync = "bar.warp.sync -1;", again = "st.shared.u32 [%r6], 7;\n";
  EXPECT_EQ(wrong(run(staged, sync, again), "only the lanes 0x00000001 have waited for it"), "");
  Ran good = run(staged, sync, "bar.warp.sync -1;\n" + again);
  EXPECT_TRUE(good.ok()) << good.text();
  good = run(staged, sync, "@%p1 " + again); // the lane that has waited
  EXPECT_TRUE(good.ok()) << good.text();
}

TEST(LaneOrder, Exchange) {
  std::string read = "BETWEEN\nxor.b32 %r7, %r6, 4;\nld.shared.u32 %r8, [%r7];\n"
                     "shl.b32 %r9, %r0, 2;\ncvt.u64.u32 %rd9, %r9;\nadd.u64 %rd9, %rd9, %rd0;\n"
                     "st.global.u32 [%rd9], %r8;\n";
  EXPECT_EQ(wrong(run(read, ""), "the read by lane 0 and the write by lane 1 of the same warp"),
            "");
  for (const char *sync : {"bar.warp.sync -1;", "bar.sync 0;", "membar.cta;"}) {
    Ran good = run(read, sync);
    EXPECT_TRUE(good.ok()) << sync << good.text();
    EXPECT_EQ(good.at<uint32_t>(0), 1u);
  }
  Ran own = run("ld.shared.u32 %r8, [%r6];\n", "");
  EXPECT_TRUE(own.ok()) << own.text();
  // Through a strong store, as spinning lanes do.
  Ran strong = run("st.volatile.shared.u32 [%r6], 1;\nxor.b32 %r7, %r6, 4;\n"
                   "ld.volatile.shared.u32 %r8, [%r7];\n",
                   "");
  EXPECT_TRUE(strong.ok()) << strong.text();
}
