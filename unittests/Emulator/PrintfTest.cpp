// printf and assertions of device code, through PTX as nvcc writes it. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

std::string bytesList(const std::string &text) {
  std::string list = "{";
  for (char c : text)
    list += std::to_string(int(uint8_t(c))) + ", ";
  return list + "0}";
}

struct Printed {
  Ran ran;
  std::string text;
};

/// One thread prints `format`; `stores` fill the argument buffer `args`.
Printed print(const std::string &format, const std::string &stores, unsigned threads = 1) {
  test::Run run;
  run.globals =
      ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 p0, .param .b64 p1);\n"
      ".extern .func __assertfail (.param .b64 p0, .param .b64 p1, .param .b32 p2, .param .b64 p3, "
      ".param .b64 p4);\n"
      ".extern .func (.param .b64 func_retval0) malloc (.param .b64 p0);\n"
      ".global .align 1 .b8 format[" +
      std::to_string(format.size() + 1) + "] = " + bytesList(format) +
      ";\n.global .align 1 .b8 word[5] = " + bytesList("word") + ";\n";
  run.body =
      ".local .align 8 .b8 args[128];\nmov.u64 %rd20, args;\n" + stores +
      "cvta.local.u64 %rd21, %rd20;\nmov.u64 %rd22, format;\n"
      "cvta.global.u64 %rd23, %rd22;\n{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd23;\n"
      ".param .b64 param1;\nst.param.b64 [param1+0], %rd21;\n.param .b32 retval0;\n"
      "call.uni (retval0), vprintf, (param0, param1);\nld.param.b32 %r9, [retval0+0];\n}\n"
      "st.global.u32 [%rd0], %r9;\n";
  run.options.block = {threads, 1, 1};
  Printed printed;
  run.options.print = [&](std::string_view text) { printed.text += text; };
  printed.ran = runPtx(run);
  EXPECT_TRUE(printed.ran.ok()) << printed.ran.text();
  return printed;
}
} // namespace

TEST(Printf, Conversions) {
  Printed p = print("%d|%5u|%x|%#X|%o|%i%%\n",
                    "st.local.u32 [args], -3;\nst.local.u32 [args+4], 42;\n"
                    "st.local.u32 [args+8], 0xbeef;\nst.local.u32 [args+12], 255;\n"
                    "st.local.u32 [args+16], 8;\nst.local.u32 [args+20], 7;\n");
  EXPECT_EQ(p.text, "-3|   42|beef|0XFF|10|7%\n");
  EXPECT_EQ(p.ran.at<uint32_t>(0), 6u);
}

TEST(Printf, WideValuesAreAligned) {
  Printed p = print("%d %llu %ld %lld %zu", "st.local.u32 [args], 1;\n"
                                            "st.local.u64 [args+8], -1;\n"
                                            "st.local.u64 [args+16], -2;\n"
                                            "st.local.u64 [args+24], 1234567890123;\n"
                                            "st.local.u64 [args+32], 5;\n");
  EXPECT_EQ(p.text, "1 18446744073709551615 -2 1234567890123 5");
}

TEST(Printf, Floats) {
  Printed p = print("%f %.3f %8.2e %g %G %-7.1f|",
                    "st.local.f64 [args], 0d3FF8000000000000;\n"      // 1.5
                    "st.local.f64 [args+8], 0d400921FB54442D18;\n"    // pi
                    "st.local.f64 [args+16], 0d40F86A0000000000;\n"   // 100000
                    "st.local.f64 [args+24], 0d3F1A36E2EB1C432D;\n"   // 0.0001
                    "st.local.f64 [args+32], 0d7FF0000000000000;\n"   // infinity
                    "st.local.f64 [args+40], 0dC008000000000000;\n"); // -3
  EXPECT_EQ(p.text, "1.500000 3.142 1.00e+05 0.0001 INF -3.0   |");
}

TEST(Printf, StringsCharactersAndStars) {
  Printed p = print("%s-%6s-%.2s-%c-%*d-%-*d|",
                    "mov.u64 %rd5, word;\ncvta.global.u64 %rd5, %rd5;\nst.local.u64 [args], %rd5;\n"
                    "st.local.u64 [args+8], %rd5;\nst.local.u64 [args+16], %rd5;\n"
                    "st.local.u32 [args+24], 120;\nst.local.u32 [args+28], 4;\n"
                    "st.local.u32 [args+32], 7;\nst.local.u32 [args+36], 3;\n"
                    "st.local.u32 [args+40], 9;\n");
  EXPECT_EQ(p.text, "word-  word-wo-x-   7-9  |");
}

TEST(Printf, ShortIntegersPointersAndOddities) {
  Printed p = print("%hd %hhu %p %y %", "st.local.u32 [args], 0x18000;\n"
                                        "st.local.u32 [args+4], 0x1ff;\n"
                                        "st.local.u64 [args+8], 0x1234;\n");
  EXPECT_EQ(p.text, "-32768 255 0x1234 %y %");
}

TEST(Printf, EveryLaneInOrder) {
  Printed p = print("%d,", "st.local.u32 [args], %r0;\n", 33);
  std::string expected;
  for (int i = 0; i < 33; ++i)
    expected += std::to_string(i) + ",";
  EXPECT_EQ(p.text, expected);
}

TEST(Printf, AssertionsEndTheLaunch) {
  test::Run run;
  run.globals = ".extern .func __assertfail (.param .b64 p0, .param .b64 p1, .param .b32 p2, "
                ".param .b64 p3, .param .b64 p4);\n"
                ".global .align 1 .b8 message[6] = " +
                bytesList("n > 3") + ";\n.global .align 1 .b8 file[5] = " + bytesList("a.cu") +
                ";\n.global .align 1 .b8 name[6] = " + bytesList("f(int)") + ";\n";
  run.globals.replace(run.globals.find("name[6]"), 7, "name[7]");
  run.body = "mov.u64 %rd2, message;\ncvta.global.u64 %rd2, %rd2;\nmov.u64 %rd3, file;\n"
             "cvta.global.u64 %rd3, %rd3;\nmov.u64 %rd4, name;\ncvta.global.u64 %rd4, %rd4;\n{\n"
             ".param .b64 a;\nst.param.b64 [a], %rd2;\n.param .b64 b;\nst.param.b64 [b], %rd3;\n"
             ".param .b32 c;\nst.param.b32 [c], 17;\n.param .b64 d;\nst.param.b64 [d], %rd4;\n"
             ".param .b64 e;\nst.param.b64 [e], 1;\ncall.uni __assertfail, (a, b, c, d, e);\n}\n";
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.faults(FaultKind::Trap)) << ran.text();
  EXPECT_NE(ran.text().find("a.cu:17: f(int): assertion 'n > 3' failed"), std::string::npos)
      << ran.text();
}

TEST(Printf, ThereIsNoHeap) {
  test::Run run;
  run.globals = ".extern .func (.param .b64 func_retval0) malloc (.param .b64 p0);\n";
  run.body = "{\n.param .b64 a;\nst.param.b64 [a], 16;\n.param .b64 r;\n"
             "call.uni (r), malloc, (a);\nld.param.b64 %rd2, [r];\n}\n";
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.faults(FaultKind::Unsupported)) << ran.text();
  EXPECT_NE(ran.text().find("device heap"), std::string::npos);
}
