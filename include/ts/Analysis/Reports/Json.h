// A JSON value that keeps the order of its members, for the writers here. It does not parse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_JSON_H
#define TS_ANALYSIS_REPORTS_JSON_H

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ts::reports {

class Json {
public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default; // null
  Json(bool value) : value(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) : value(int64_t(value)) {}
  Json(double value) : value(value) {}
  Json(std::string text) : value(std::move(text)) {}
  Json(std::string_view text) : value(std::string(text)) {}
  Json(const char *text) : value(std::string(text)) {}
  static Json array() { return Json(Array()); }
  static Json object() { return Json(Object()); }

  /// Appends a member and returns the object, so that calls chain.
  Json &set(std::string key, Json member);
  Json &push(Json element);
  bool empty() const;

  /// `indent` 0: one line.
  std::string dump(unsigned indent = 2) const;

private:
  explicit Json(Array list) : value(std::move(list)) {}
  explicit Json(Object members) : value(std::move(members)) {}
  void write(std::string &out, unsigned indent, unsigned depth) const;

  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value;
};

/// The text with U+FFFD for bytes that are not UTF-8: source locations may hold anything.
std::string validUtf8(std::string_view text);

/// Quoted and escaped; bytes that are not UTF-8 become U+FFFD.
std::string quoteJson(std::string_view text);

} // namespace ts::reports

#endif // TS_ANALYSIS_REPORTS_JSON_H
