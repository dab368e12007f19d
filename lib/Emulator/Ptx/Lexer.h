// PTX text as tokens. Opcodes with their modifiers are one token, since modifiers may begin with
// digits (.2d, .16x256b). SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_PTX_LEXER_H
#define TS_EMULATOR_PTX_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace ts::ptx {

struct SyntaxError {
  uint32_t line = 0, column = 0;
  std::string message;
};

struct Token {
  enum class Kind : uint8_t {
    End,
    Word,      // identifiers, registers; text
    Directive, // .reg, .b32: text without the dot
    Integer,   // bits
    Float,     // bits; isF32 for 0f...
    String,    // text without quotes
    Punct,     // text: one character
  };
  Kind kind = Kind::End;
  std::string_view text;
  uint64_t bits = 0;
  bool isF32 = false;
  uint32_t line = 1, column = 1;
  bool is(char c) const { return kind == Kind::Punct && text[0] == c; }
};

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}
  /// The next token; throws SyntaxError.
  Token next();
  /// The rest of an opcode whose first word has just been read: ".global.v4.b32", possibly empty.
  std::string_view modifiers();

private:
  void skip();
  void advance();
  [[noreturn]] void fail(std::string message) const;
  Token number();
  char at(size_t ahead = 0) const { return pos + ahead < text.size() ? text[pos + ahead] : '\0'; }
  std::string_view text;
  size_t pos = 0;
  uint32_t line = 1;
  size_t lineStart = 0;
};

} // namespace ts::ptx

#endif // TS_EMULATOR_PTX_LEXER_H
