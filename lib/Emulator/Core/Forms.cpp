// Expands the patterns of the decoder table and decodes a sample of each form. SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Emulator/Forms.h"

#include "Decode.h"

namespace ts::emu {
namespace {

/// Alternatives up to `end` (0: the end of the text), each possibly several strings.
std::vector<std::string> alternatives(std::string_view text, size_t &at, char end);

std::vector<std::string> sequence(std::string_view text, size_t &at, char end) {
  std::vector<std::string> result{""};
  auto append = [&](const std::vector<std::string> &tails) {
    std::vector<std::string> next;
    next.reserve(result.size() * tails.size());
    for (const std::string &head : result)
      for (const std::string &tail : tails)
        next.push_back(head + tail);
    result = std::move(next);
  };
  while (at < text.size() && text[at] != '|' && text[at] != end) {
    char c = text[at++];
    if (c == '{') {
      append(alternatives(text, at, '}'));
    } else if (c == '[') {
      std::vector<std::string> tails = alternatives(text, at, ']');
      tails.insert(tails.begin(), "");
      append(tails);
    } else {
      for (std::string &head : result)
        head += c;
    }
  }
  return result;
}

std::vector<std::string> alternatives(std::string_view text, size_t &at, char end) {
  std::vector<std::string> result;
  while (true) {
    std::vector<std::string> some = sequence(text, at, end);
    result.insert(result.end(), some.begin(), some.end());
    if (at >= text.size())
      return result;
    if (text[at++] != '|')
      return result;
  }
}

constexpr const char *prefix = ".version 8.8\n.target sm_100a\n.address_size 64\n"
                               ".extern .shared .align 1024 .b8 dyn[];\n"
                               ".global .align 16 .b8 global_data[256];\n"
                               ".func callee()\n{\nret;\n}\n"
                               ".visible .entry forms(.param .u64 out, .param .u64 in)\n"
                               "{\n.reg .pred %p<64>;\n.reg .b8 %rb<64>;\n.reg .b16 %rs<256>;\n"
                               ".reg .b32 %r<1024>;\n.reg .b64 %rd<256>;\n.reg .f32 %f<1024>;\n"
                               ".reg .f64 %fd<256>;\n.reg .b128 %rq<64>;\n"
                               ".local .align 16 .b8 local_data[64];\n$here:\n"
                               "$list: .branchtargets $here;\n";

} // namespace

std::vector<std::string> expandForms(std::string_view pattern) {
  size_t at = 0;
  return alternatives(pattern, at, '\0');
}

std::vector<FormStatus> listForms() {
  std::vector<FormStatus> result;
  for (const DecoderTable::Form &entry : decoderTable().forms()) {
    std::vector<std::string> forms = expandForms(entry.pattern);
    // One module for a pattern; what does not parse is told by its first form.
    std::string text = prefix;
    for (const std::string &form : forms)
      text += form + " " + entry.operands + ";\n";
    text += "ret;\n}\n";
    Result<ptx::Module> module = ptx::parse(text, "forms");
    std::string syntax = module ? "" : module.error().message;
    GlobalMemory global;
    std::unique_ptr<Program> program;
    const Code *code = nullptr;
    if (module) {
      Result<std::unique_ptr<Program>> decoded = decode(std::move(*module), global, false);
      if (decoded)
        program = std::move(*decoded);
      for (size_t i = 0; program && i < program->functions.size(); ++i)
        if (program->functions[i]->function->name == "forms")
          code = program->functions[i].get();
    }
    for (size_t i = 0; i < forms.size(); ++i) {
      FormStatus status{entry.pattern, entry.operands, forms[i], false, syntax};
      if (code && i < code->entries.size()) {
        status.why = code->entries[i].refused;
        status.executed = status.why.empty();
      }
      if (entry.note && !status.executed)
        status.why = entry.note;
      result.push_back(std::move(status));
    }
  }
  return result;
}

} // namespace ts::emu
