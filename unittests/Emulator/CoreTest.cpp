// The run loop itself: places of faults, hangs, memory bounds. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

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
