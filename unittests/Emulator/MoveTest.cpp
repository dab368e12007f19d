// mov, selp and address conversions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

TEST(Move, PackAndUnpack) {
  Ran ran = runPtx("mov.b64 %rd5, 0x1122334455667788;\nmov.b64 {%r1, %r2}, %rd5;\n"
                   "mov.b64 %rd6, {%r2, %r1};\nmov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd5;\n"
                   "mov.b32 %r3, {%rs4, %rs1};\nmov.b32 {_, %rs5}, %r1;\nmov.b16 %rs6, %rs5;\n"
                   "mov.b128 %rq1, {%rd5, %rd6};\nmov.b128 %rq2, %rq1;\n"
                   "mov.b128 {%rd7, %rd8}, %rq2;\nst.global.b64 [%rd0], %rd6;\n"
                   "st.global.b32 [%rd0+8], %r3;\nst.global.b16 [%rd0+12], %rs6;\n"
                   "st.global.b64 [%rd0+16], %rd7;\nst.global.b64 [%rd0+24], %rd8;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<uint64_t>(0), 0x5566778811223344u);
  EXPECT_EQ(ran.at<uint32_t>(2), 0x77881122u);
  EXPECT_EQ(ran.at<uint16_t>(6), 0x5566u);
  EXPECT_EQ(ran.at<uint64_t>(2), 0x1122334455667788u);
  EXPECT_EQ(ran.at<uint64_t>(3), 0x5566778811223344u);
}
