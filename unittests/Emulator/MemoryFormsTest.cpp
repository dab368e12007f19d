// Every form of ld, ldu and st that the decoder table lists, each moving a pattern from or to the
// space it names. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../lib/Emulator/Core/Decode.h"
#include "RunPtx.h"

#include <set>

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

/// All spellings of a pattern with {alternatives} and [options].
void expand(const std::string &done, const std::string &rest, std::vector<std::string> &out) {
  size_t open = rest.find_first_of("{[");
  if (open == std::string::npos) {
    out.push_back(done + rest);
    return;
  }
  size_t close = rest.find(rest[open] == '{' ? '}' : ']', open);
  std::string before = done + rest.substr(0, open), after = rest.substr(close + 1);
  if (rest[open] == '[')
    expand(before, after, out);
  for (size_t at = open + 1; at <= close;) {
    size_t end = std::min(rest.find('|', at), close);
    expand(before + rest.substr(at, end - at), after, out);
    at = end + 1;
  }
}

struct Form {
  std::string opcode, operands;
  bool has(const std::string &part) const {
    return (opcode + ".").find("." + part + ".") != std::string::npos;
  }
  bool isShared() const { return opcode.find(".shared") != std::string::npos; }
  bool isParam() const { return opcode.find(".param") != std::string::npos; }
  unsigned elementBytes() const {
    std::string digits = opcode.substr(opcode.find_last_of("bsuf") + 1);
    return unsigned(std::stoul(digits)) / 8;
  }
  /// The registers (or _) outside of the brackets, without a cache policy.
  std::vector<std::string> values() const {
    std::string text = operands;
    size_t open = text.find('['), close = text.find(']');
    bool load = open > 0;
    text = load ? text.substr(0, open) : text.substr(close + 1);
    if (!load && (has("L2::cache_hint") || text.find('[') != std::string::npos))
      text = text.substr(0, text.rfind(','));
    std::vector<std::string> registers;
    for (size_t at = 0; (at = text.find_first_of("%_", at)) != std::string::npos;) {
      size_t end = text.find_first_of(",}", at);
      end = std::min(end, text.size());
      registers.push_back(text.substr(at, end - at));
      at = end;
    }
    return registers;
  }
};

std::vector<Form> formsOf(const std::string &instruction, bool async = false) {
  std::vector<Form> forms;
  std::set<std::string> seen;
  for (const DecoderTable::Form &form : decoderTable().forms()) {
    std::string pattern = form.pattern;
    size_t end = pattern.find_first_of(".[{");
    if (pattern.substr(0, end) != instruction || form.note ||
        (pattern.find(".async") < 4) != async || pattern.rfind("st.bulk", 0) == 0)
      continue;
    std::vector<std::string> all;
    expand("", pattern, all);
    for (std::string &opcode : all)
      if (seen.insert(opcode + form.operands).second)
        forms.push_back({opcode, form.operands});
  }
  return forms;
}

const std::vector<uint8_t> &pattern() {
  static const std::vector<uint8_t> bytes = [] {
    std::vector<uint8_t> values(64);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = uint8_t(i * 29 + 17);
    return values;
  }();
  return bytes;
}

std::string copy(const std::string &from, const std::string &fromSpace, const std::string &to,
                 const std::string &toSpace) {
  std::string text;
  for (unsigned at : {0u, 16u})
    text += "ld" + fromSpace + ".v4.b32 {%r40,%r41,%r42,%r43}, [" + from + "+" +
            std::to_string(at) + "];\nst" + toSpace + ".v4.b32 [" + to + "+" + std::to_string(at) +
            "], {%r40,%r41,%r42,%r43};\n";
  return text;
}

/// Puts the address of the form's space into the register it uses.
std::string address(const Form &form, const char *global) {
  if (form.isShared())
    return "mov.u32 %r1, sv;\n";
  if (form.has("local"))
    return "mov.u64 %rd1, lv;\n";
  if (form.has("const"))
    return "mov.u64 %rd1, cv;\n";
  return std::string("mov.u64 %rd1, ") + global + ";\n";
}

std::string bits(unsigned bytes) { return std::to_string(8 * bytes); }

Ran execute(const std::string &body) {
  test::Run run;
  run.globals = ".const .align 16 .b8 cv[64] = {";
  for (size_t i = 0; i < 64; ++i)
    run.globals += (i ? ", " : "") + std::to_string(pattern()[i]);
  run.globals += "};\n";
  run.body =
      ".shared .align 32 .b8 sv[64];\n.local .align 32 .b8 lv[64];\nmov.u64 %rd31, %rd1;\n" + body;
  run.input = pattern();
  run.options.block = {1, 1, 1};
  return runPtx(run);
}
} // namespace

TEST(MemoryForms, Loads) {
  unsigned count = 0;
  for (const char *instruction : {"ld", "ldu"})
    for (const Form &form : formsOf(instruction)) {
      std::string body = form.isShared()     ? copy("%rd31", ".global", "sv", ".shared")
                         : form.has("local") ? copy("%rd31", ".global", "lv", ".local")
                                             : "";
      body += address(form, "%rd31") + form.opcode + " " + form.operands + ";\n";
      std::vector<std::string> values = form.values();
      unsigned size = form.elementBytes();
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i] != "_")
          body += "st.global.b" + bits(size) + " [%rd0+" + std::to_string(64 + i * size) + "], " +
                  values[i] + ";\n";
      body += "st.global.b64 [%rd0], %rd0;\n";
      Ran ran = execute(body);
      ASSERT_TRUE(ran.ok()) << body << ran.text();
      for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] == "_")
          continue;
        const uint8_t *expected = form.isParam() ? ran.output.data() : pattern().data() + i * size;
        std::vector<uint8_t> bytes(expected, expected + size);
        EXPECT_EQ(memcmp(ran.output.data() + 64 + i * size, bytes.data(), size), 0)
            << form.opcode << " element " << i;
      }
      ++count;
    }
  EXPECT_GT(count, 200u);
}

TEST(MemoryForms, Stores) {
  unsigned count = 0;
  for (const Form &form : formsOf("st")) {
    std::vector<std::string> values = form.values();
    unsigned size = form.elementBytes();
    std::string body = address(form, "%rd0");
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != "_")
        body += "ld.global.b" + bits(size) + " " + values[i] + ", [%rd31+" +
                std::to_string(i * size) + "];\n";
    body += form.opcode + " " + form.operands + ";\n";
    bool elsewhere = form.isShared() || form.has("local");
    for (size_t i = 0; elsewhere && i < values.size(); ++i) {
      std::string at = "+" + std::to_string(i * size) + "]", tail = ".b" + bits(size) + " ";
      body += (form.isShared() ? "ld.shared" + tail + values[i] + ", [sv" + at
                               : "ld.local" + tail + values[i] + ", [lv" + at) +
              ";\nst.global" + tail + "[%rd0" + at + ", " + values[i] + ";\n";
    }
    Ran ran = execute(body);
    ASSERT_TRUE(ran.ok()) << body << ran.text();
    for (size_t i = 0; i < values.size(); ++i)
      for (unsigned b = 0; b < size; ++b)
        EXPECT_EQ(ran.output[i * size + b], values[i] == "_" ? 0 : pattern()[i * size + b])
            << form.opcode << " element " << i;
    EXPECT_EQ(ran.output[values.size() * size], 0);
    ++count;
  }
  EXPECT_GT(count, 100u);
}

TEST(MemoryForms, FencesAndHints) {
  for (const char *name :
       {"fence", "membar", "prefetch", "prefetchu", "applypriority", "stacksave"})
    for (const Form &form : formsOf(name)) {
      Ran ran = execute(form.opcode + " " + form.operands + ";\n");
      EXPECT_TRUE(ran.ok()) << form.opcode << ran.text();
    }
}

namespace {
uint64_t reduced(const Form &form, uint64_t old, uint64_t b) {
  if (form.has("add"))
    return old + b;
  if (form.has("min"))
    return std::min(old, b);
  if (form.has("max"))
    return std::max(old, b);
  if (form.has("and"))
    return old & b;
  if (form.has("or"))
    return old | b;
  if (form.has("xor"))
    return old ^ b;
  if (form.has("inc"))
    return old >= b ? 0 : old + 1;
  return old == 0 || old > b ? b : old - 1; // dec
}
} // namespace

// st.async and red.async: into shared memory with an mbarrier, or into global memory.
TEST(MemoryForms, AsynchronousStores) {
  unsigned count = 0;
  for (const char *instruction : {"st", "red"})
    for (const Form &form : formsOf(instruction, true)) {
      bool toShared = form.opcode.find("mbarrier") != std::string::npos;
      bool reduces = *instruction == 'r';
      std::vector<std::string> values = form.values();
      unsigned size = form.elementBytes();
      std::string all = std::to_string(size * values.size());
      std::string body = toShared ? "st.shared.v2.u64 [sv], {100, 0};\nmov.u32 %r3, bar;\n"
                                    "mbarrier.init.shared.b64 [bar], 1;\n"
                                    "mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], " +
                                        all + ";\nmov.u32 %r1, sv;\n"
                                  : "st.global.u64 [%rd0], 100;\nmov.u64 %rd1, %rd0;\n";
      for (const std::string &value : values)
        body += "mov.b" + bits(size) + " " + value + ", 41;\n";
      body += form.opcode + " " + form.operands + ";\n";
      if (toShared)
        body +=
            "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra W;\n"
            "ld.shared.v2.u64 {%rd10, %rd11}, [sv];\nst.global.v2.u64 [%rd0], {%rd10, %rd11};\n";
      Ran ran = execute(".shared .align 8 .b64 bar;\n" + body);
      ASSERT_TRUE(ran.ok()) << body << ran.text();
      for (size_t i = 0; i < values.size(); ++i) {
        uint64_t value = 0;
        memcpy(&value, ran.output.data() + i * size, size);
        EXPECT_EQ(value, reduces ? reduced(form, 100, 41) : 41) << form.opcode;
      }
      ++count;
    }
  EXPECT_GT(count, 60u);
}
