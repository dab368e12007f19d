// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Prover/Report.h"

#include <algorithm>

namespace ts::prover {

std::string summary(const Verdict &verdict) {
  constexpr const char *claims = "no deadlock, no race, no overrun, clean exit";
  std::string over;
  for (const std::string &symbol : verdict.symbols)
    over += (over.empty() ? "" : ", ") + symbol;
  switch (verdict.kind) {
  case Verdict::Kind::Proven:
    return "proven" + (over.empty() ? std::string() : " for every " + over) + ": " + claims;
  case Verdict::Kind::ProvenUpTo:
    return "proven up to " + std::to_string(verdict.bound) +
           (over.empty() ? std::string() : " for " + over) + ": " + claims + "; bounded, as " +
           verdict.reason;
  case Verdict::Kind::Unknown:
    return "unknown: " + verdict.reason;
  case Verdict::Kind::Refuted:
    break;
  }
  const Fault &fault = *verdict.fault;
  return std::string(name(fault.kind)) + (fault.when.empty() ? "" : " when " + fault.when) + ": " +
         fault.message;
}

namespace {

struct Row {
  size_t number = 0;
  std::vector<std::string> cells;
};

} // namespace

/// The agents that the fault is about come first, then the busy ones.
static std::vector<int> columnsOf(const Verdict &verdict, size_t most) {
  const Fault &fault = *verdict.fault;
  std::vector<int> result;
  auto add = [&](int agent) {
    if (agent >= 0 && result.size() < most &&
        std::find(result.begin(), result.end(), agent) == result.end())
      result.push_back(agent);
  };
  add(fault.agent);
  for (const AccessSite &site : fault.sites)
    add(site.agent);
  for (const BlockedAgent &blocked : fault.blocked)
    add(blocked.agent);
  for (auto it = fault.steps.rbegin(); it != fault.steps.rend(); ++it)
    add(it->agent);
  std::sort(result.begin(), result.end());
  return result;
}

std::string stepTable(const Verdict &verdict, size_t maxRows, size_t maxColumns) {
  if (!verdict.fault || verdict.fault->steps.empty())
    return "";
  std::vector<int> columns = columnsOf(verdict, std::max<size_t>(1, maxColumns));
  std::vector<Row> rows;
  // A row takes steps of different agents as long as they come one after the other.
  for (const WitnessStep &step : verdict.fault->steps) {
    auto column = std::find(columns.begin(), columns.end(), step.agent);
    if (column == columns.end())
      continue;
    size_t at = size_t(column - columns.begin());
    bool room = !rows.empty();
    if (room)
      for (size_t i = at; i < columns.size(); ++i)
        room &= rows.back().cells[i].empty();
    if (!room)
      rows.push_back({rows.size(), std::vector<std::string>(columns.size())});
    rows.back().cells[at] = step.text + (step.blocked ? " *" : "");
  }
  size_t head = rows.size();
  bool cut = rows.size() > maxRows;
  if (cut)
    head = std::min<size_t>(4, maxRows / 2);
  size_t tail = cut ? rows.size() - (maxRows - head) : rows.size();
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns.size(); ++c) {
    size_t width = verdict.agents[size_t(columns[c])].size();
    for (const Row &row : rows)
      if (row.number < head || row.number >= tail)
        width = std::max(width, row.cells[c].size());
    widths.push_back(std::min<size_t>(width, 40));
  }
  auto pad = [](std::string text, size_t width) {
    if (text.size() > width)
      text = text.substr(0, width - 1) + "~";
    text.resize(std::max(width, text.size()), ' ');
    return text;
  };
  auto trimmed = [](std::string line) {
    line.resize(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  std::string text = "  step";
  for (size_t c = 0; c < columns.size(); ++c)
    text += "  " + pad(verdict.agents[size_t(columns[c])], widths[c]);
  text = trimmed(text);
  for (const Row &row : rows) {
    if (cut && row.number == head)
      text += "   ...\n";
    if (row.number >= head && row.number < tail)
      continue;
    std::string number = std::to_string(row.number);
    std::string line = std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + number;
    for (size_t c = 0; c < columns.size(); ++c)
      line += "  " + pad(row.cells[c].empty() ? "." : row.cells[c], widths[c]);
    text += trimmed(line);
  }
  return text;
}

} // namespace ts::prover
