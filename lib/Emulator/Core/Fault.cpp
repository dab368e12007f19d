// Throwing of faults. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fault.h"

#include <cstdarg>
#include <cstdio>

namespace ts::emu {
namespace {
std::string formatList(const char *text, va_list args) {
  va_list again;
  va_copy(again, args);
  int size = vsnprintf(nullptr, 0, text, again);
  va_end(again);
  std::string result(size_t(std::max(size, 0)), '\0');
  vsnprintf(result.data(), result.size() + 1, text, args);
  return result;
}
} // namespace

std::string format(const char *text, ...) {
  va_list args;
  va_start(args, text);
  std::string result = formatList(text, args);
  va_end(args);
  return result;
}

void fault(FaultKind kind, const char *text, ...) {
  va_list args;
  va_start(args, text);
  std::string message = formatList(text, args);
  va_end(args);
  throw FaultException{kind, std::move(message), {}, {}};
}

void faultWith(FaultKind kind, std::vector<Note> notes, const char *text, ...) {
  va_list args;
  va_start(args, text);
  std::string message = formatList(text, args);
  va_end(args);
  throw FaultException{kind, std::move(message), std::move(notes), {}};
}

} // namespace ts::emu
