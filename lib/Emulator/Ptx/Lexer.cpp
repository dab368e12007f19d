// Source: PTX ISA, "Source Format", "Identifiers", "Constants". SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "Lexer.h"

#include <bit>
#include <cstdlib>

namespace ts::ptx {
namespace {
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool isWord(char c) { return isWordStart(c) || isDigit(c); }
int digitOf(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}
} // namespace

void Lexer::fail(std::string message) const {
  throw SyntaxError{line, uint32_t(pos - lineStart + 1), std::move(message)};
}

void Lexer::advance() {
  if (text[pos] == '\n') {
    ++line;
    lineStart = pos + 1;
  }
  ++pos;
}

void Lexer::skip() {
  while (pos < text.size()) {
    char c = text[pos];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      advance();
    } else if (c == '/' && at(1) == '/') {
      while (pos < text.size() && text[pos] != '\n')
        ++pos;
    } else if (c == '/' && at(1) == '*') {
      pos += 2;
      while (pos < text.size() && !(text[pos] == '*' && at(1) == '/'))
        advance();
      if (pos >= text.size())
        fail("a comment has no end");
      pos += 2;
    } else if (c == '\0') {
      if (text.find_first_not_of('\0', pos) == std::string_view::npos)
        pos = text.size(); // zeros at the end, as in PTX embedded into a program
      else
        fail("a zero byte inside the text");
    } else {
      return;
    }
  }
}

Token Lexer::number() {
  Token token;
  token.line = line;
  token.column = uint32_t(pos - lineStart + 1);
  size_t start = pos;
  char second = at(1);
  if (at() == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    size_t digits = second == 'f' || second == 'F' ? 8 : 16;
    bool hex = true;
    for (size_t i = 0; i < digits; ++i)
      hex &= digitOf(at(2 + i)) < 16;
    if (!hex)
      fail("expected " + std::to_string(digits) + " hexadecimal digits behind 0" + second);
    for (size_t i = 0; i < digits; ++i)
      token.bits = token.bits << 4 | uint64_t(digitOf(at(2 + i)));
    token.kind = Token::Kind::Float;
    token.isF32 = digits == 8;
    pos += 2 + digits;
  } else {
    unsigned base = 10;
    if (at() == '0' && (second == 'x' || second == 'X')) {
      base = 16;
      pos += 2;
    } else if (at() == '0' && (second == 'b' || second == 'B')) {
      base = 2;
      pos += 2;
    }
    size_t digits = pos;
    while (digitOf(at()) < int(base))
      ++pos;
    bool decimal = base == 10 && (at() == '.' || at() == 'e' || at() == 'E');
    if (decimal) {
      const std::string copy(text.substr(start, 64));
      char *end = nullptr;
      double value = std::strtod(copy.c_str(), &end);
      pos = start + size_t(end - copy.c_str());
      token.kind = Token::Kind::Float;
      token.bits = std::bit_cast<uint64_t>(value);
    } else {
      if (pos == digits)
        fail("a number without digits");
      if (base == 10 && text[digits] == '0' && pos - digits > 1)
        base = 8;
      token.kind = Token::Kind::Integer;
      for (size_t i = digits; i < pos; ++i) {
        auto digit = uint64_t(digitOf(text[i]));
        if (digit >= base)
          fail("a digit that its base does not have");
        if (token.bits > (~uint64_t(0) - digit) / base)
          fail("an integer of more than 64 bits");
        token.bits = token.bits * base + digit;
      }
      if (at() == 'U' || at() == 'u')
        ++pos;
    }
  }
  if (isWord(at()))
    fail("a number runs into a name");
  token.text = text.substr(start, pos - start);
  return token;
}

Token Lexer::next() {
  skip();
  Token token;
  token.line = line;
  token.column = uint32_t(pos - lineStart + 1);
  if (pos >= text.size())
    return token;
  size_t start = pos;
  char c = text[pos];
  if (isDigit(c))
    return number();
  if (isWordStart(c)) {
    while (isWord(at()))
      ++pos;
    token.kind = Token::Kind::Word;
    token.text = text.substr(start, pos - start);
    return token;
  }
  if (c == '.' && (isWordStart(at(1)) || isDigit(at(1)))) {
    ++pos;
    while (isWord(at()) || (at() == ':' && at(1) == ':' && isWord(at(2)))) {
      if (at() == ':')
        ++pos;
      ++pos;
    }
    token.kind = Token::Kind::Directive;
    token.text = text.substr(start + 1, pos - start - 1);
    return token;
  }
  if (c == '"') {
    ++pos;
    while (pos < text.size() && text[pos] != '"' && text[pos] != '\n')
      pos += text[pos] == '\\' && pos + 1 < text.size() && text[pos + 1] != '\n' ? 2 : 1;
    if (pos >= text.size() || text[pos] != '"')
      fail("a string has no end");
    token.kind = Token::Kind::String;
    token.text = text.substr(start + 1, pos - start - 1);
    ++pos;
    return token;
  }
  if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
    fail("a character that PTX does not have");
  ++pos;
  token.kind = Token::Kind::Punct;
  token.text = text.substr(start, 1);
  return token;
}

std::string_view Lexer::modifiers() {
  size_t start = pos;
  while (at() == '.' && isWord(at(1))) {
    ++pos;
    while (isWord(at()) || (at() == ':' && at(1) == ':' && isWord(at(2)))) {
      if (at() == ':')
        ++pos;
      ++pos;
    }
  }
  return text.substr(start, pos - start);
}

} // namespace ts::ptx
