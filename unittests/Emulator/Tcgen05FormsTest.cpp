// The table of tcgen05 forms: every executed one decodes, every mma multiplies, every other one
// refuses with its note.
// With TS_WRITE_TCGEN05_FORMS=FILE the executed ones are written for ptxas.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../lib/Emulator/Core/Decode.h"
#include "Tcgen05MmaKernel.h"

#include <set>

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

/// A small product of the form: operands as its kind has them, the rest of the name as it stands.
MmaCase caseOf(const std::string &opcode) {
  MmaCase c;
  std::string rest = opcode.substr(std::string("tcgen05.mma").size());
  auto take = [&](const std::string &part) {
    if (rest.rfind(part, 0) != 0)
      return false;
    rest = rest.substr(part.size());
    return true;
  };
  c.ws = take(".ws");
  c.sparse = take(".sp");
  c.group = take(".cta_group::2") ? 2 : 1;
  take(".cta_group::1");
  size_t end = std::min(rest.find('.', 1), rest.size());
  c.kind = rest.substr(7, end - 7); // behind .kind::
  c.suffix = rest.substr(end);
  const std::pair<const char *, const Operand &> kinds[] = {
      {"f16", bf16},      {"tf32", tf32}, {"f8f6f4", e5m2},  {"i8", s8},
      {"mxf8f6f4", e4m3}, {"mxf4", e2m1}, {"mxf4nvf4", e2m1}};
  for (const auto &[kind, operand] : kinds)
    if (c.kind == kind)
      c.a = c.b = operand;
  if (c.kind == "i8")
    c.d = "s32";
  bool four =
      c.suffix.find("4X") != std::string::npos || c.suffix.find("block16") != std::string::npos;
  if (c.kind[0] == 'm')
    c.vectors = c.kind == "mxf8f6f4" ? 1 : four ? 4 : 2;
  c.tmemA = c.ashift = c.suffix.rfind(".ashift", 0) == 0;
  c.m = c.ws ? 64 : 128 * c.group;
  c.n = c.ws ? 64 : 32;
  c.steps = 1;
  return c;
}

TEST(Tcgen05Forms, EveryProduct) {
  std::set<std::string> opcodes;
  for (const DecoderTable::Form &form : decoderTable().forms())
    if (!form.note && std::string_view(form.pattern).rfind("tcgen05.mma", 0) == 0)
      for (const std::string &text : writtenOut(form.pattern))
        opcodes.insert(text);
  EXPECT_GT(opcodes.size(), 200u);
  for (const std::string &opcode : opcodes) {
    MmaCase c = caseOf(opcode);
    TensorKernel kernel = c.kernel();
    Ran ran = kernel.run();
    EXPECT_EQ(c.compare(kernel, ran), "") << opcode;
    const std::vector<std::string> &forms = ran.result.forms;
    EXPECT_NE(std::find(forms.begin(), forms.end(), opcode), forms.end()) << opcode;
  }
}

TEST(Tcgen05Forms, AllocationByGenericAddress) {
  for (unsigned group : {1u, 2u}) {
    std::string name = "cta_group::" + std::to_string(group);
    ts::emu::test::Run run;
    run.globals = ".shared .align 4 .b32 slot;\n";
    run.body = "mov.u32 %r20, slot;\ncvt.u64.u32 %rd20, %r20;\ncvta.shared.u64 %rd20, %rd20;\n"
               "mov.u32 %r22, 64;\ntcgen05.alloc." +
               name + ".sync.aligned.b32 [%rd20], %r22;\nld.shared.b32 %r21, [slot];\n" +
               "tcgen05.relinquish_alloc_permit." + name + ".sync.aligned;\ntcgen05.dealloc." +
               name + ".sync.aligned.b32 %r21, %r22;\n";
    run.options.grid = run.options.cluster = {group, 1, 1};
    EXPECT_EQ(runPtx(run).text(), "");
  }
}

} // namespace
