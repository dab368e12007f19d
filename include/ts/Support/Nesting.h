// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A look at a text before a recursive-descent parser gets it: brackets nested so deeply that the
// parser would run out of stack. Knows strings and `//` comments, nothing else of the language.
#ifndef TS_SUPPORT_NESTING_H
#define TS_SUPPORT_NESTING_H

#include <cstddef>
#include <optional>
#include <string_view>

namespace ts {

/// MLIR's parser takes a few hundred bytes of stack a level; 8 MiB hold many times this.
inline constexpr size_t kMaxNesting = 2048;

struct TextPlace {
  size_t line = 1, column = 1;
};

/// Where brackets first stand more than `limit` deep, if anywhere.
std::optional<TextPlace> findTooDeep(std::string_view text, size_t limit = kMaxNesting);

} // namespace ts

#endif
