// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Support/Nesting.h"

std::optional<ts::TextPlace> ts::findTooDeep(std::string_view text, size_t limit) {
  TextPlace place;
  size_t depth = 0, signs = 0;
  bool inString = false, inComment = false;
  char previous = 0;
  for (char c : text) {
    bool escaped = previous == '\\';
    if (c == '\n') {
      inComment = inString = false;
      ++place.line;
      place.column = 0;
    } else if (inComment) {
      // until the end of the line
    } else if (inString) {
      inString = c != '"' || escaped;
    } else if (c == '"') {
      inString = true;
    } else if (c == '/' && previous == '/') {
      inComment = true;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}' || (c == '>' && previous != '-')) {
      depth -= depth > 0;
    }
    // Unary signs nest as well.
    if (c == '-' || c == '!')
      ++signs;
    else if (c != ' ' && c != '\n')
      signs = 0;
    if (depth > limit || signs > limit)
      return place;
    previous = escaped && inString ? 0 : c;
    ++place.column;
  }
  return std::nullopt;
}
