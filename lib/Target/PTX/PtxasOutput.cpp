// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads what `ptxas -v` prints. Lines that are not understood are dropped, except errors.
#include "ts/Target/PTX/Ptxas.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;
using namespace mlir::ts;

/// The number in front of `unit` in "168 registers, used 1 barriers, 400 bytes smem", or 0.
static unsigned numberBefore(StringRef text, StringRef unit) {
  size_t at = text.find((" " + unit).str());
  if (at == StringRef::npos)
    return 0;
  StringRef head = text.take_front(at);
  StringRef digits = head.take_back(head.size() - (head.find_last_not_of("0123456789") + 1));
  unsigned value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

/// The text between the first pair of single quotes.
static StringRef quoted(StringRef text) { return text.split('\'').second.split('\'').first; }

static void takeNumber(StringRef &text, unsigned &value) {
  text = text.ltrim();
  if (text.consumeInteger(10, value))
    value = 0;
}

/// Fills in the source position of each message that has a PTX line.
static void mapToSource(StringRef ptx, PtxasResult &result) {
  unsigned last = 0;
  for (const PtxasMessage &message : result.messages)
    last = std::max(last, message.ptxLine);
  if (last == 0)
    return;
  struct Position {
    unsigned file = 0, line = 0, column = 0;
  };
  std::map<unsigned, Position> positions; // by PTX line: each holds up to the next
  std::map<unsigned, std::string> files;
  unsigned number = 0;
  while (!ptx.empty()) {
    StringRef line;
    std::tie(line, ptx) = ptx.split('\n');
    line = line.trim();
    ++number;
    if (line.consume_front(".file")) {
      unsigned id = 0;
      takeNumber(line, id);
      files[id] = line.split('"').second.split('"').first.str();
    } else if (line.consume_front(".loc")) {
      Position position;
      takeNumber(line, position.file);
      takeNumber(line, position.line);
      takeNumber(line, position.column);
      positions[number] = position;
    } else if (line.contains(".entry") || line.contains(".func")) {
      positions[number] = {}; // a function before its first .loc
    }
  }
  for (PtxasMessage &message : result.messages) {
    auto it = positions.upper_bound(message.ptxLine);
    if (message.ptxLine == 0 || it == positions.begin())
      continue;
    const Position &position = std::prev(it)->second;
    message.file = files[position.file];
    message.line = message.file.empty() ? 0 : position.line;
    message.column = position.column;
  }
}

/// Splits "ptxas info    : text" and "ptxas g.ptx, line 7; error   : text".
static bool splitLine(StringRef line, StringRef &kind, StringRef &text, unsigned &ptxLine) {
  if (!line.consume_front("ptxas "))
    return false;
  StringRef head;
  std::tie(head, text) = line.split(" : ");
  if (text.empty())
    std::tie(head, text) = line.split(": ");
  size_t at = head.find(", line ");
  if (at != StringRef::npos) {
    StringRef position = head.drop_front(at + 7);
    takeNumber(position, ptxLine);
    head = head.rsplit(';').second;
  }
  kind = head.trim();
  text = text.trim();
  return !kind.empty();
}

void mlir::ts::parsePtxasOutput(StringRef output, StringRef ptx, PtxasResult &result) {
  auto kernelNamed = [&](StringRef name) -> PtxasKernel & {
    for (PtxasKernel &kernel : result.kernels)
      if (kernel.name == name)
        return kernel;
    result.kernels.emplace_back().name = name.str();
    return result.kernels.back();
  };
  std::string compiling, properties; // whose numbers follow
  while (!output.empty()) {
    StringRef line, kind, text;
    std::tie(line, output) = output.split('\n');
    unsigned ptxLine = 0;
    if (!splitLine(line, kind, text, ptxLine)) {
      if (line.contains("bytes spill stores") && !properties.empty()) {
        PtxasKernel &kernel = kernelNamed(properties);
        kernel.stackBytes = numberBefore(line, "bytes stack frame");
        kernel.spillStoreBytes = numberBefore(line, "bytes spill stores");
        kernel.spillLoadBytes = numberBefore(line, "bytes spill loads");
      }
      continue;
    }
    if (kind == "info" && text.starts_with("Compiling entry function")) {
      compiling = quoted(text).str();
      kernelNamed(compiling);
    } else if (kind == "info" && text.consume_front("Function properties for ")) {
      // Device functions that were not inlined have numbers of their own; kernels only here.
      properties = text.trim() == compiling ? compiling : std::string();
    } else if (kind == "info" && text.starts_with("Used ") && !compiling.empty()) {
      PtxasKernel &kernel = kernelNamed(compiling);
      kernel.registers = numberBefore(text, "registers");
      kernel.barriers = numberBefore(text, "barriers");
      kernel.sharedBytes = numberBefore(text, "bytes smem");
    } else {
      PtxasMessage message;
      message.ptxLine = ptxLine;
      if (text.starts_with("(C") && text.contains(')'))
        message.id = text.drop_front().split(')').first.str();
      if (kind == "error" || kind == "fatal")
        message.severity = PtxasMessage::Severity::Error;
      else if (kind == "warning")
        message.severity = PtxasMessage::Severity::Warning;
      else if (message.id.empty())
        continue;
      message.text = (message.id.empty() ? text : text.split(") ").second).str();
      result.messages.push_back(std::move(message));
    }
  }
  // The summary says nothing beside the errors that it follows.
  if (result.messages.size() > 1 && result.messages.back().text.starts_with("Ptx assembly aborted"))
    result.messages.pop_back();
  mapToSource(ptx, result);
}
