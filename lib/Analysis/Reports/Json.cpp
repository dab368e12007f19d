// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "ts/Analysis/Reports/Json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ts::reports {

Json &Json::set(std::string key, Json member) {
  if (!std::holds_alternative<Object>(value))
    value = Object();
  std::get<Object>(value).emplace_back(std::move(key), std::move(member));
  return *this;
}

Json &Json::push(Json element) {
  if (!std::holds_alternative<Array>(value))
    value = Array();
  std::get<Array>(value).push_back(std::move(element));
  return *this;
}

bool Json::empty() const {
  if (auto *list = std::get_if<Array>(&value))
    return list->empty();
  if (auto *members = std::get_if<Object>(&value))
    return members->empty();
  return std::holds_alternative<std::monostate>(value);
}

/// Length of the UTF-8 sequence at the start of `text`, 0 if it is not one.
static size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0u; };
  unsigned first = byte(0);
  size_t length = first < 0x80       ? 1
                  : first >> 5 == 6  ? 2
                  : first >> 4 == 14 ? 3
                  : first >> 3 == 30 ? 4
                                     : 0;
  for (size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 2)
      return 0;
  // Overlong forms, surrogates and what lies above U+10FFFF.
  if ((length == 2 && first < 0xc2) || (length == 3 && first == 0xe0 && byte(1) < 0xa0) ||
      (length == 3 && first == 0xed && byte(1) > 0x9f) ||
      (length == 4 &&
       (first > 0xf4 || (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f))))
    return 0;
  return length;
}

std::string validUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    out += length ? text.substr(0, length) : "\xef\xbf\xbd";
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string quoteJson(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    char c = text.front();
    if (length == 0) {
      out += "\\ufffd";
      length = 1;
    } else if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (uint8_t(c) < 0x20 || c == 0x7f) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", unsigned(uint8_t(c)));
      out += escape;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

void Json::write(std::string &out, unsigned indent, unsigned depth) const {
  auto newline = [&](unsigned level) {
    if (indent)
      out.append(1, '\n').append(size_t(indent) * level, ' ');
  };
  auto list = [&](const auto &elements, char open, char close, auto one) {
    out += open;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i)
        out += indent ? "," : ", ";
      newline(depth + 1);
      one(elements[i]);
    }
    if (!elements.empty())
      newline(depth);
    out += close;
  };
  if (std::holds_alternative<std::monostate>(value)) {
    out += "null";
  } else if (auto *flag = std::get_if<bool>(&value)) {
    out += *flag ? "true" : "false";
  } else if (auto *integer = std::get_if<int64_t>(&value)) {
    out += std::to_string(*integer);
  } else if (auto *real = std::get_if<double>(&value)) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", *real);
    out += std::isfinite(*real) ? text : "null";
  } else if (auto *string = std::get_if<std::string>(&value)) {
    out += quoteJson(*string);
  } else if (auto *elements = std::get_if<Array>(&value)) {
    list(*elements, '[', ']', [&](const Json &one) { one.write(out, indent, depth + 1); });
  } else {
    list(std::get<Object>(value), '{', '}', [&](const auto &member) {
      out += quoteJson(member.first) + ": ";
      member.second.write(out, indent, depth + 1);
    });
  }
}

std::string Json::dump(unsigned indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

} // namespace ts::reports
