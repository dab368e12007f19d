// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule as a table: one column per task, loops side by side, head, loop and tail marked.
#include "ts/Analysis/Reports/Text.h"

#include "ts/Support/Saturating.h"

#include <algorithm>

namespace ts::reports {

using namespace schedule;

namespace {

struct Line {
  std::string text;
  int resource = -1;
};

std::string loopText(const KernelInput &input, const Loop &loop) {
  if (loop.kind == LoopKind::Tile)
    return "tile_loop " + input.resourceName(loop.queue);
  std::string text = "for " + toString(loop.lower) + " to " + toString(loop.upper);
  if (!loop.step.isConstant() || loop.step.offset != 1)
    text += " step " + toString(loop.step);
  return text;
}

std::string guardText(const Guard &guard) {
  std::string text(name(guard.kind));
  return guard.kind == GuardKind::Every ? text + " " + std::to_string(guard.period) : text;
}

class TableMaker {
public:
  explicit TableMaker(const KernelInput &input) : input(input) {}

  ScheduleTable run() {
    std::vector<const std::vector<StepId> *> bodies;
    for (const Task &task : input.kernel.tasks) {
      table.columns.push_back(task.name);
      std::string warps = std::to_string(task.firstWarp);
      if (task.warps > 1)
        warps = "s " + warps + "-" + std::to_string(saturatingAdd(task.firstWarp, task.warps - 1));
      else
        warps = " " + warps;
      table.details.push_back("warp" + warps);
      bodies.push_back(&task.body);
    }
    level(bodies, 0);
    return std::move(table);
  }

private:
  using Bodies = std::vector<const std::vector<StepId> *>; ///< by task, null for none

  const Step &step(size_t task, StepId id) const {
    return input.kernel.tasks[task].steps[size_t(id)];
  }

  /// The bodies of loops at one level: what stands before, in and after their own loops.
  void level(const Bodies &bodies, int depth) {
    size_t tasks = bodies.size(), loops = 0;
    std::vector<std::vector<StepId>> own(tasks);
    for (size_t t = 0; t < tasks; ++t) {
      for (StepId id : bodies[t] ? *bodies[t] : std::vector<StepId>())
        if (step(t, id).kind == StepKind::Loop)
          own[t].push_back(id);
      loops = std::max(loops, own[t].size());
    }
    // Segment i of a task stands before its loop i; what follows its last loop is the tail of all.
    std::vector<std::vector<std::vector<Line>>> segments(loops + 1,
                                                         std::vector<std::vector<Line>>(tasks));
    for (size_t t = 0; t < tasks; ++t) {
      size_t segment = 0;
      for (StepId id : bodies[t] ? *bodies[t] : std::vector<StepId>()) {
        if (step(t, id).kind == StepKind::Loop)
          segment = segment + 1 == own[t].size() ? loops : segment + 1;
        else
          lines(t, id, 0, segments[segment][t]);
      }
    }
    for (size_t i = 0; i <= loops; ++i) {
      bool only = loops == 0;
      section(segments[i],
              only         ? (depth ? "" : "body")
              : i == 0     ? "head"
              : i == loops ? "tail"
                           : "between",
              depth);
      if (i == loops)
        break;
      Bodies inner(tasks, nullptr);
      TableRow row{"loop", depth, true, std::vector<std::string>(tasks),
                   std::vector<int>(tasks, -1)};
      for (size_t t = 0; t < tasks; ++t)
        if (i < own[t].size()) {
          const Step &loop = step(t, own[t][i]);
          row.cells[t] = loopText(input, loop.loop);
          row.resources[t] = loop.loop.queue;
          inner[t] = &loop.body;
        }
      table.rows.push_back(std::move(row));
      level(inner, depth + 1);
    }
  }

  void section(const std::vector<std::vector<Line>> &segment, const std::string &phase, int depth) {
    size_t height = 0;
    for (const auto &column : segment)
      height = std::max(height, column.size());
    for (size_t i = 0; i < height; ++i) {
      TableRow row{i ? "" : phase, depth, false, {}, {}};
      for (const auto &column : segment) {
        row.cells.push_back(i < column.size() ? column[i].text : "");
        row.resources.push_back(i < column.size() ? column[i].resource : -1);
      }
      table.rows.push_back(std::move(row));
    }
  }

  /// One step and what stands in it, as lines of a cell.
  void lines(size_t task, StepId id, size_t indent, std::vector<Line> &out) {
    const Step &at = step(task, id);
    auto nested = [&](const std::string &head, const std::vector<StepId> &body) {
      std::vector<Line> inside;
      for (StepId child : body)
        lines(task, child, 0, inside);
      if (inside.empty())
        return;
      if (inside.size() == 1) {
        out.push_back(
            {std::string(indent, ' ') + head + ": " + inside[0].text, inside[0].resource});
        return;
      }
      out.push_back({std::string(indent, ' ') + head + ":", -1});
      for (Line &line : inside)
        out.push_back({std::string(indent + 2, ' ') + line.text, line.resource});
    };
    switch (at.kind) {
    case StepKind::Loop:
      return nested(loopText(input, at.loop), at.body);
    case StepKind::Guard:
      return nested(guardText(at.guard), at.body);
    case StepKind::Skippable:
      return nested("skippable", at.body);
    case StepKind::When:
    case StepKind::Branch: {
      std::string key = at.condition.key.empty() ? "?" : at.condition.key;
      nested((at.condition.expected ? "when " : "when not ") + key, at.body);
      return nested("else", at.orelse);
    }
    case StepKind::Event:
      break;
    }
    const Event &event = at.event;
    switch (event.kind) {
    case EventKind::Access: // parts of work, shown by its label
    case EventKind::Fence:
    case EventKind::WarpSync:
    case EventKind::TmemWait:
      return;
    default:
      break;
    }
    std::string text(name(event.kind));
    if (event.resource >= 0)
      text += " " + input.resourceName(event.resource);
    if (!event.label.empty())
      text += " '" + event.label + "'";
    if (event.kind == EventKind::WgmmaWait || event.kind == EventKind::BulkWait ||
        event.kind == EventKind::CpAsyncWait)
      text += " " + std::to_string(event.pending);
    out.push_back({std::string(indent, ' ') + text, event.resource});
    for (StepId child : at.body)
      lines(task, child, indent + 2, out);
  }

  const KernelInput &input;
  ScheduleTable table;
};

} // namespace

ScheduleTable scheduleTable(const KernelInput &input) { return TableMaker(input).run(); }

std::string alignColumns(const std::vector<std::vector<std::string>> &rows,
                         const std::string &indent) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto &row : rows) {
    std::string line = indent;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size())
        line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string formatScheduleTable(const KernelInput &input) {
  ScheduleTable table = scheduleTable(input);
  std::vector<std::vector<std::string>> rows;
  auto heading = [&](const std::vector<std::string> &cells) {
    rows.push_back({""});
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  };
  heading(table.columns);
  heading(table.details);
  for (const TableRow &row : table.rows) {
    std::string indent(size_t(row.depth) * 2, ' ');
    rows.push_back({indent + row.phase});
    for (const std::string &cell : row.cells)
      rows.back().push_back(cell.empty() ? "" : indent + cell);
  }
  return input.kernel.name + ": schedule\n" + alignColumns(rows, "  ");
}

} // namespace ts::reports
