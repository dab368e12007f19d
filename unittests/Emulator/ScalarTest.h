// Runs a list of scalar instructions on literal operands, one result each: for the tests of the
// scalar families. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_SCALARTEST_H
#define TS_UNITTESTS_EMULATOR_SCALARTEST_H

#include "RunPtx.h"

#include <cinttypes>

namespace ts::emu::test {

/// `op` with a destination of `shape[0]` and sources of the rest: h 16, r 32, d 64 bits, p
/// predicate.
struct Scalar {
  const char *op;
  const char *shape;
  std::vector<uint64_t> in;
  uint64_t expected;
};

inline std::string registerName(char shape, unsigned index) {
  const char *prefix = shape == 'h' ? "%rs" : shape == 'r' ? "%r" : shape == 'd' ? "%rd" : "%p";
  return prefix + std::to_string(index);
}

/// The results of all of them, in one launch; 64 bits each, zero-extended.
inline void runScalars(const std::vector<Scalar> &list) {
  std::string body;
  char line[160];
  for (size_t n = 0; n < list.size(); ++n) {
    const Scalar &s = list[n];
    std::string shape = s.shape;
    ASSERT_EQ(shape.size(), s.in.size() + 1) << s.op;
    std::string operands = registerName(shape[0], 2);
    for (size_t i = 0; i < s.in.size(); ++i) {
      char c = shape[i + 1];
      std::string name = registerName(c, unsigned(i) + 3);
      if (c == 'p')
        snprintf(line, sizeof line, "setp.ne.u32 %s, %u, 0;\n", name.c_str(), unsigned(s.in[i]));
      else
        snprintf(line, sizeof line, "mov.b%d %s, 0x%" PRIx64 ";\n",
                 c == 'h'   ? 16
                 : c == 'r' ? 32
                            : 64,
                 name.c_str(), s.in[i]);
      body += line;
      operands += ", " + name;
    }
    body += std::string(s.op) + " " + operands + ";\n";
    std::string at = "[%rd0+" + std::to_string(8 * n) + "]";
    std::string result = registerName(shape[0], 2);
    if (shape[0] == 'p')
      body += "selp.b32 %r2, 1, 0, %p2;\nst.global.b32 " + at + ", %r2;\n";
    else
      body += std::string("st.global.b") +
              (shape[0] == 'h'   ? "16 "
               : shape[0] == 'r' ? "32 "
                                 : "64 ") +
              at + ", " + result + ";\n";
  }
  Run run;
  run.body = body;
  run.outputBytes = 8 * list.size();
  run.options.block = {1, 1, 1};
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (size_t n = 0; n < list.size(); ++n)
    EXPECT_EQ(ran.at<uint64_t>(n), list[n].expected)
        << std::hex << list[n].op << " of 0x" << (list[n].in.empty() ? 0 : list[n].in[0]) << ", 0x"
        << (list[n].in.size() < 2 ? 0 : list[n].in[1]);
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_SCALARTEST_H
