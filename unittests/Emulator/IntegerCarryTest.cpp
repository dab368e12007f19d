// Arithmetic with carries. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FormTest.h"
#include "ScalarTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

TEST(Integer, Carries) {
  Ran ran = runPtx("mov.b32 %r1, 0xffffffff;\nmov.b32 %r2, 1;\nmov.b32 %r3, 5;\n"
                   "add.cc.u32 %r4, %r1, %r0;\naddc.cc.u32 %r5, %r1, 0;\naddc.u32 %r6, %r3, %r3;\n"
                   "sub.cc.u32 %r7, %r0, 1;\nsubc.cc.u32 %r8, 0, 0;\nsubc.u32 %r9, %r3, %r2;\n"
                   "mad.lo.cc.u32 %r10, %r1, %r1, %r1;\nmadc.hi.cc.u32 %r11, %r1, %r1, 0;\n"
                   "madc.lo.u32 %r12, %r2, %r3, 0;\nmad.hi.cc.s32 %r13, %r1, %r1, %r1;\n"
                   "mov.b64 %rd4, -1;\nadd.cc.u64 %rd5, %rd4, 2;\naddc.u64 %rd6, 3, 4;\n"
                   "mad.hi.cc.s64 %rd7, %rd4, %rd4, %rd4;\nmadc.lo.u64 %rd8, %rd4, 3, 4;\n"
                   "mul.wide.u32 %rd2, %r0, 64;\nadd.u64 %rd3, %rd0, %rd2;\n"
                   "st.global.v4.b32 [%rd3], {%r4, %r5, %r6, %r7};\n"
                   "st.global.v4.b32 [%rd3+16], {%r8, %r9, %r10, %r11};\n"
                   "st.global.v2.b32 [%rd3+32], {%r12, %r13};\n"
                   "st.global.b64 [%rd3+40], %rd6;\nst.global.b64 [%rd3+48], %rd8;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto r = [&](unsigned i) { return ran.at<uint32_t>(16 * lane + i); };
    uint64_t sum = 0xffffffffu + uint64_t(lane);
    EXPECT_EQ(r(0), uint32_t(sum));
    uint64_t second = 0xffffffffu + (sum >> 32);
    EXPECT_EQ(r(1), uint32_t(second));
    EXPECT_EQ(r(2), 10 + (second >> 32));
    EXPECT_EQ(r(3), lane - 1);
    uint32_t borrow = lane < 1;
    EXPECT_EQ(r(4), 0 - borrow);
    EXPECT_EQ(r(5), 4 - borrow); // 0 - 0 - 1 borrows again
    // 0xffffffff squared is 0xfffffffe'00000001; plus 0xffffffff in the low word carries.
    EXPECT_EQ(r(6), 0u);
    EXPECT_EQ(r(7), 0xffffffffu);
    EXPECT_EQ(r(8), 5u);
    EXPECT_EQ(r(9), 0xffffffffu); // -1 * -1 has a high word of zero
    EXPECT_EQ(ran.at<uint64_t>(8 * lane + 5), 8u);
    EXPECT_EQ(ran.at<uint64_t>(8 * lane + 6), 1u); // no carry came from 0 + -1
  }
}

TEST(Integer, SixtyFourBitForms) {
  runScalars({
      {"addc.u32", "rrr", {1, 2}, 3},
      {"addc.s32", "rrr", {1, 2}, 3},
      {"sub.cc.u64", "ddd", {1, 2}, ~0u | uint64_t(~0u) << 32},
      {"subc.s64", "ddd", {5, 2}, 2},
      {"sub.cc.s32", "rrr", {3, 2}, 1},
      {"subc.cc.s32", "rrr", {3, 2}, 1},
      {"subc.cc.u64", "ddd", {3, 2}, 1},
      {"add.cc.s32", "rrr", {0xffffffff, 1}, 0},
      {"addc.cc.s32", "rrr", {1, 1}, 3},
      {"add.cc.s64", "ddd", {1, 1}, 2},
      {"addc.cc.s64", "ddd", {1, 1}, 2},
      {"addc.s64", "ddd", {1, 1}, 2},
      {"addc.cc.u64", "ddd", {1, 1}, 2},
      {"mad.lo.cc.s32", "rrrr", {2, 3, 4}, 10},
      {"madc.lo.cc.s32", "rrrr", {2, 3, 4}, 10},
      {"madc.lo.s64", "dddd", {2, 3, 4}, 10},
      {"madc.lo.cc.u64", "dddd", {2, 3, 4}, 10},
      {"mad.lo.cc.u64", "dddd", {2, 3, 4}, 10},
      {"mad.hi.cc.u64", "dddd", {uint64_t(1) << 63, 4, 4}, 6},
      {"madc.hi.u64", "dddd", {uint64_t(1) << 63, 4, 4}, 6},
      {"madc.hi.s32", "rrrr", {0x80000000, 4, 4}, 2},
  });
}

// Every form with both carries in, and what it carries out, seen by an addc behind it.
TEST(Integer, EveryCarry) {
  using Wide = unsigned __int128;
  std::vector<FormCase> forms;
  for (std::string type : {"u32", "s32", "u64", "s64"}) {
    bool wide = type[1] == '6', isSigned = type[0] == 's';
    uint64_t mask = wide ? ~uint64_t(0) : 0xffffffff;
    std::string reg = wide ? "%rd" : "%r";
    for (std::string op : {"add", "sub", "mad.lo", "mad.hi"})
      for (bool takes : {false, true})
        for (bool carry : {false, true})
          for (bool gives : {false, true}) {
            if (!takes && !gives)
              continue;
            bool mad = op[0] == 'm';
            auto compute = [=](uint64_t a, uint64_t b, uint64_t c) -> std::pair<uint64_t, bool> {
              a &= mask;
              b &= mask;
              c &= mask;
              Wide in = takes && carry;
              if (op == "sub") {
                Wide less = Wide(b) + in;
                return {uint64_t(a - less) & mask, less > a};
              }
              Wide first = a, second = b;
              if (mad) {
                auto extend = [&](uint64_t v) {
                  return !isSigned ? Wide(v) : Wide(__int128(wide ? int64_t(v) : int32_t(v)));
                };
                Wide product = extend(a) * extend(b);
                first = (op == "mad.hi" ? product >> (wide ? 64 : 32) : product) & mask;
                second = c;
              }
              Wide sum = first + second + in;
              return {uint64_t(sum) & mask, sum > mask};
            };
            std::string name = takes ? op.substr(0, 3) + "c" + op.substr(3) : op;
            name += std::string(gives ? ".cc." : ".") + type;
            std::string before =
                carry ? "add.cc.u32 %r30, 0xffffffff, 1;\n" : "add.cc.u32 %r30, 0, 1;\n";
            std::string shape(mad ? 4 : 3, wide ? 'd' : 'r');
            forms.push_back({before + name, shape, [=](uint64_t a, uint64_t b, uint64_t c) {
                               return compute(a, b, c).first;
                             }});
            std::string sources = reg + "10, " + reg + "11" + (mad ? ", " + reg + "12" : "");
            forms.push_back({before + name + " " + reg + "30, " + sources + ";\naddc." + type,
                             std::string(3, wide ? 'd' : 'r'),
                             [=](uint64_t a, uint64_t b, uint64_t c) {
                               bool out = gives ? compute(a, b, c).second : carry;
                               return (a + b + out) & mask;
                             }});
          }
  }
  Operands in = floatOperands({11, 52}, 600);
  for (unsigned i = 0; i < 32; i += 3) {
    in.a[i] = ~in.b[i];
    in.c[i] = i % 2 ? ~uint64_t(0) : 0;
  }
  runForms(forms, in);
}
