// The table of tcgen05 forms: every executed one decodes, every other one refuses with its note.
// With TS_WRITE_TCGEN05_FORMS=FILE the executed ones are written for ptxas.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../lib/Emulator/Core/Decode.h"
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

/// "a[.b].{c|d}" written out.
std::vector<std::string> writtenOut(const std::string &pattern) {
  size_t open = pattern.find_first_of("[{");
  if (open == std::string::npos)
    return {pattern};
  size_t close = pattern.find_first_of("]}", open);
  std::string inner = pattern.substr(open + 1, close - open - 1);
  if (pattern[open] == '[')
    inner += "|";
  std::vector<std::string> all;
  for (size_t at = 0; at <= inner.size();) {
    size_t bar = std::min(inner.find('|', at), inner.size());
    for (std::string &text : writtenOut(pattern.substr(0, open) + inner.substr(at, bar - at) +
                                        pattern.substr(close + 1)))
      all.push_back(std::move(text));
    at = bar + 1;
  }
  return all;
}

std::string load(const std::string &body) {
  ts::emu::test::Run run;
  run.body = body;
  Device device;
  ts::Result<unsigned> module = device.load(ptxModule(run), "forms.ptx", /*strict=*/true);
  return module ? "" : module.error().message;
}

TEST(Tcgen05Forms, OfTheTable) {
  std::string executed, all;
  unsigned count = 0;
  for (const DecoderTable::Form &form : decoderTable().forms()) {
    if (std::string_view(form.pattern).rfind("tcgen05", 0) != 0)
      continue;
    for (const std::string &text : writtenOut(form.pattern)) {
      std::string line = text + " " + form.operands + ";\n";
      all += line;
      ++count;
      if (!form.note)
        executed += line;
      else
        EXPECT_NE(load(line).find(form.note), std::string::npos) << line;
    }
  }
  EXPECT_GT(count, 500u);
  EXPECT_EQ(load(executed), "");
  if (const char *path = getenv("TS_WRITE_TCGEN05_FORMS")) {
    ts::emu::test::Run run;
    run.body = all;
    FILE *file = fopen(path, "w");
    ASSERT_NE(file, nullptr);
    fputs(ptxModule(run).c_str(), file);
    fclose(file);
  }
}

} // namespace
