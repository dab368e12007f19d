// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A counter-example as a timeline: one column per task, * where a task is blocked.
#include "ts/Analysis/Reports/Text.h"

#include <algorithm>

namespace ts::reports {

using prover::Verdict;
using prover::WitnessStep;

Timeline timelineOf(const Verdict &verdict, size_t limit) {
  Timeline timeline;
  if (!verdict.fault)
    return timeline;
  const std::vector<WitnessStep> &steps = verdict.fault->steps;
  // Columns: the agents that do something, in the order of the verdict.
  std::vector<int> column(verdict.agents.size(), -1);
  for (size_t agent = 0; agent < verdict.agents.size(); ++agent)
    if (std::any_of(steps.begin(), steps.end(),
                    [&](const WitnessStep &step) { return step.agent == int(agent); })) {
      column[agent] = int(timeline.columns.size());
      timeline.columns.push_back(verdict.agents[agent]);
    }
  for (const WitnessStep &step : steps) {
    if (step.agent < 0 || size_t(step.agent) >= column.size())
      continue;
    size_t at = size_t(column[size_t(step.agent)]);
    // Steps of different tasks share a row as long as they come one after the other.
    bool joins = !timeline.rows.empty();
    for (size_t i = at; joins && i < timeline.columns.size(); ++i)
      joins = timeline.rows.back().cells[i] == ".";
    if (!joins) {
      Timeline::Row row;
      row.step = std::to_string(timeline.rows.size());
      row.cells.assign(timeline.columns.size(), ".");
      timeline.rows.push_back(std::move(row));
    }
    timeline.rows.back().blocked |= step.blocked;
    timeline.rows.back().cells[at] = step.text + (step.blocked ? " *" : "");
  }
  size_t count = timeline.rows.size();
  if (limit >= 4 && count > limit) {
    size_t head = std::min<size_t>(limit / 4, 6), tail = limit - head - 1;
    Timeline::Row gap;
    gap.step = "...";
    gap.cells.assign(timeline.columns.size(), "");
    auto first = timeline.rows.begin();
    timeline.rows.erase(first + ptrdiff_t(head), timeline.rows.end() - ptrdiff_t(tail));
    timeline.rows.insert(timeline.rows.begin() + ptrdiff_t(head), std::move(gap));
  }
  return timeline;
}

static std::string agentName(const Verdict &verdict, int agent) {
  return agent >= 0 && size_t(agent) < verdict.agents.size() ? verdict.agents[size_t(agent)]
                                                             : "nobody";
}

std::string formatTimeline(const KernelInput &input, size_t limit) {
  if (!input.verdict || !input.verdict->fault)
    return "";
  const Verdict &verdict = *input.verdict;
  const prover::Fault &fault = *verdict.fault;
  std::string text = input.kernel.name + ": counter-example";
  std::string values;
  for (const prover::Choice &choice : fault.choices) {
    values += (values.empty() ? " with " : ", ") + choice.name + (choice.atLeast ? " >= " : " = ") +
              std::to_string(choice.value);
    if (choice.tile >= 0)
      values += " in tile " + std::to_string(choice.tile);
  }
  text += values + "\n";
  auto at = [&](schedule::LocId loc) {
    const Place &place = input.place(loc);
    return place.known() ? "   (" + place.text() + ")" : std::string();
  };
  Timeline timeline = timelineOf(verdict, limit);
  if (!timeline.rows.empty()) {
    std::vector<std::vector<std::string>> rows{{"step"}};
    rows[0].insert(rows[0].end(), timeline.columns.begin(), timeline.columns.end());
    size_t width = 4;
    for (const Timeline::Row &row : timeline.rows)
      width = std::max(width, row.step.size());
    for (const Timeline::Row &row : timeline.rows) {
      rows.push_back({std::string(width - row.step.size(), ' ') + row.step});
      rows.back().insert(rows.back().end(), row.cells.begin(), row.cells.end());
    }
    text += alignColumns(rows, "  ");
    if (std::any_of(timeline.rows.begin(), timeline.rows.end(),
                    [](const Timeline::Row &row) { return row.blocked; }))
      text += "  (* blocked)\n";
  }
  for (const prover::BlockedAgent &blocked : fault.blocked) {
    text += "  '" + agentName(verdict, blocked.agent) + "' waits for " + blocked.waitsFor +
            at(blocked.loc) + "\n";
    if (!blocked.waker.empty())
      text += "    " + blocked.waker + at(blocked.wakerLoc) + "\n";
  }
  for (const prover::AccessSite &site : fault.sites)
    text += "  " + site.text + at(site.loc) + "\n";
  if (std::string help = helpLine(fault); !help.empty())
    text += "help: " + help + "\n";
  return text;
}

} // namespace ts::reports
