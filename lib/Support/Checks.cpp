// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Look-up and printing of the check registry. The entries themselves are data: see Checks.def.
#include "ts/Support/Checks.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <vector>

namespace ts {

static constexpr CheckInfo checkTable[] = {
#define TS_CHECK(id, name, title, why, fix) {CheckId::TS##id, name, title, why, fix},
#include "ts/Support/Checks.def"
};

// findCheck and the documentation rely on the order; a duplicate id fails here as well.
static constexpr bool isSortedById() {
  for (size_t i = 1; i < std::size(checkTable); ++i)
    if (checkTable[i - 1].id >= checkTable[i].id)
      return false;
  return true;
}
static_assert(isSortedById(), "Checks.def must list ids in rising order, each once");

std::span<const CheckInfo> allChecks() { return checkTable; }

const CheckInfo &checkInfo(CheckId id) {
  const auto *it =
      std::lower_bound(std::begin(checkTable), std::end(checkTable), id,
                       [](const CheckInfo &info, CheckId wanted) { return info.id < wanted; });
  assert(it != std::end(checkTable) && it->id == id && "every CheckId has an entry");
  return *it;
}

std::string_view checkName(CheckId id) { return checkInfo(id).name; }
std::string_view checkTitle(CheckId id) { return checkInfo(id).title; }
std::string_view checkWhy(CheckId id) { return checkInfo(id).why; }
std::string_view checkFix(CheckId id) { return checkInfo(id).fix; }

std::string checkTag(CheckId id) { return "TS" + std::to_string(static_cast<unsigned>(id)); }

std::string checkPrefix(CheckId id) { return "[" + checkTag(id) + "] "; }

/// Lower case, without brackets and blanks around the text.
static std::string normalised(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != '[' && c != ']' && !std::isspace(static_cast<unsigned char>(c)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

const CheckInfo *findCheck(std::string_view text, std::string *suggestion) {
  // Longer than any id or name: not worth comparing, and never a near miss.
  constexpr size_t maxLength = 64;
  if (suggestion)
    suggestion->clear();
  if (text.size() > maxLength)
    return nullptr;
  std::string wanted = normalised(text);
  if (!wanted.empty() && std::all_of(wanted.begin(), wanted.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; }))
    wanted = "ts" + wanted;

  size_t nearest = wanted.size(); // a suggestion shares at least something with the text
  for (const CheckInfo &info : checkTable) {
    std::string tag = checkTag(info.id);
    if (wanted == normalised(tag) || wanted == info.name)
      return &info;
    if (!suggestion)
      continue;
    size_t toTag = editDistance(wanted, normalised(tag));
    size_t toName = editDistance(wanted, info.name);
    size_t distance = std::min(toTag, toName);
    if (distance < nearest && distance <= 1 + wanted.size() / 4) {
      nearest = distance;
      *suggestion = toTag <= toName ? tag : std::string(info.name);
    }
  }
  return nullptr;
}

/// Appends `text` as paragraph lines of at most `columns` characters, each behind `indent`.
static void appendWrapped(std::string &out, std::string_view text, std::string_view indent,
                          unsigned columns) {
  size_t lineLength = 0;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (lineLength != 0 && lineLength + 1 + word.size() > columns) {
      out += '\n';
      lineLength = 0;
    }
    if (lineLength == 0) {
      out += indent;
      lineLength = indent.size();
    } else {
      out += ' ';
      ++lineLength;
    }
    out += word;
    lineLength += word.size();
  }
  out += '\n';
}

std::string explainCheck(const CheckInfo &info, unsigned columns) {
  std::string out = checkTag(info.id) + " (" + std::string(info.name) + ")\n";
  appendWrapped(out, info.title, "  ", columns);
  out += "\nWhy\n";
  appendWrapped(out, info.why, "  ", columns);
  out += "\nFix\n";
  appendWrapped(out, info.fix, "  ", columns);
  return out;
}

} // namespace ts
