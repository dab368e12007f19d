// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header. Colours and layout stand in the style sheet of Html.cpp.
#include "HtmlParts.h"

#include "ts/Analysis/Reports/Json.h"
#include "ts/Analysis/Reports/Text.h"

#include <algorithm>
#include <cstdio>

namespace ts::reports::html {

std::string escape(std::string_view text) {
  std::string out;
  for (char c : validUtf8(text))
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      out += c;
    }
  return out;
}

namespace {

std::string number(int64_t n) { return std::to_string(n); }

std::string decimal(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// Marks that tie everything about one resource together: its colour, and what lights up on hover.
std::string ringAttributes(int resource) {
  return resource < 0 ? "" : " data-r=\"" + number(resource) + "\"";
}
std::string colourClass(int resource) { return resource < 0 ? "" : " c" + number(resource % 8); }

std::string cell(const std::string &text, const char *tag = "td") {
  return std::string("<") + tag + ">" + escape(text) + "</" + tag + ">";
}

} // namespace

std::string schedule(const KernelInput &input) {
  ScheduleTable table = reports::scheduleTable(input);
  std::string out = "<div class=\"scroll\"><table class=\"schedule\"><thead><tr><th></th>";
  for (size_t t = 0; t < table.columns.size(); ++t)
    out +=
        "<th>" + escape(table.columns[t]) + "<small>" + escape(table.details[t]) + "</small></th>";
  out += "</tr></thead><tbody>";
  for (const TableRow &row : table.rows) {
    out += "<tr class=\"d" + number(std::min(row.depth, 3)) + (row.opensLoop ? " open" : "") +
           (row.phase.empty() ? "" : " first") + "\"><th>" + escape(row.phase) + "</th>";
    for (size_t t = 0; t < row.cells.size(); ++t) {
      const std::string &text = row.cells[t];
      size_t indent = std::min(text.find_first_not_of(' '), text.size());
      if (text.empty()) {
        out += "<td></td>";
        continue;
      }
      out += "<td><span class=\"op" + colourClass(row.resources[t]) + "\"" +
             ringAttributes(row.resources[t]) +
             " style=\"margin-left:" + number(int64_t(indent) * 8 + int64_t(row.depth) * 12) +
             "px\">" + escape(text.substr(indent)) + "</span></td>";
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string timeline(const KernelInput &input) {
  const prover::Verdict &verdict = *input.verdict;
  const prover::Fault &fault = *verdict.fault;
  Timeline table = timelineOf(verdict, 60);
  std::string out = "<div class=\"scroll\"><table class=\"timeline\"><thead><tr><th>step</th>";
  for (const std::string &column : table.columns)
    out += cell(column, "th");
  out += "</tr></thead><tbody>";
  for (const Timeline::Row &row : table.rows) {
    out += "<tr><th>" + escape(row.step) + "</th>";
    for (const std::string &text : row.cells) {
      bool blocked = text.ends_with(" *");
      out += blocked       ? "<td class=\"blocked\">" + escape(text) + "</td>"
             : text == "." ? "<td class=\"idle\">&middot;</td>"
                           : cell(text);
    }
    out += "</tr>";
  }
  out += "</tbody></table></div><ul class=\"notes\">";
  auto item = [&](const std::string &text, schedule::LocId loc) {
    const Place &place = input.place(loc);
    out += "<li>" + escape(text) +
           (place.known() ? " <code>" + escape(place.text()) + "</code>" : "") + "</li>";
  };
  for (const prover::BlockedAgent &blocked : fault.blocked) {
    std::string who = blocked.agent >= 0 && size_t(blocked.agent) < verdict.agents.size()
                          ? verdict.agents[size_t(blocked.agent)]
                          : std::string("nobody");
    item("'" + who + "' waits for " + blocked.waitsFor, blocked.loc);
    if (!blocked.waker.empty())
      item(blocked.waker, blocked.wakerLoc);
  }
  for (const prover::AccessSite &site : fault.sites)
    item(site.text, site.loc);
  out += "</ul>";
  if (std::string help = helpLine(fault); !help.empty())
    out += "<p class=\"help\"><b>help:</b> " + escape(help) + "</p>";
  return out;
}

std::string resources(const KernelInput &input) {
  std::string out = "<div class=\"scroll\"><table><thead><tr><th>resource</th><th>pipeline</th>"
                    "<th>stages</th><th>barrier</th><th>per phase</th><th>because</th></tr></thead>"
                    "<tbody>";
  for (size_t r = 0; r < input.kernel.resources.size(); ++r) {
    const schedule::Resource &resource = input.kernel.resources[r];
    std::string head = "<td><span class=\"op" + colourClass(int(r)) + "\"" +
                       ringAttributes(int(r)) + ">" + escape(resource.name) + "</span></td>";
    if (resource.pipeline)
      head += cell(std::string(protocol::name(resource.pipeline->type))) +
              cell(number(resource.pipeline->stages));
    else
      head += "<td></td><td></td>";
    bool any = false;
    auto row = [&](const BarrierUse &use, const protocol::Expected &expected, const char *unit) {
      out += "<tr>" + (any ? "<td></td><td></td><td></td>" : head) +
             cell(std::string(protocol::name(use.barrier))) +
             cell((expected.value ? number(*expected.value) : "?") + " " + unit +
                  (expected.value == 1 ? "" : "s")) +
             cell(expected.derivation) + "</tr>";
      any = true;
    };
    for (const BarrierUse &use : input.barriers) {
      if (use.resource != int(r))
        continue;
      row(use, use.arrivals, "arrival");
      if (use.bytes)
        row(use, *use.bytes, "byte");
    }
    if (!any)
      out += "<tr>" + head + "<td></td><td></td><td></td></tr>";
  }
  return out + "</tbody></table></div>";
}

/// One bar to scale for each memory, one line per alias phase, and a table.
std::string memory(const KernelInput &input) {
  std::string out;
  for (bool tmem : {false, true}) {
    std::vector<const MemoryItem *> items;
    for (const MemoryItem &item : input.memory.items)
      if (item.tmem == tmem && item.offset >= 0)
        items.push_back(&item);
    if (items.empty())
      continue;
    std::sort(items.begin(), items.end(), [](const MemoryItem *a, const MemoryItem *b) {
      return a->offset != b->offset ? a->offset < b->offset : a->name < b->name;
    });
    int64_t limit = std::max<int64_t>(tmem ? input.memory.tmemLimit : input.memory.smemLimit, 1);
    int64_t end = limit;
    int64_t phases = 1;
    for (const MemoryItem *item : items) {
      end = std::max(end, item->offset + item->extent);
      phases = std::max(phases, item->phase + 1);
    }
    out += "<h4>" + std::string(tmem ? "Tensor memory: " : "Shared memory: ");
    out += tmem ? number(input.memory.tmemColumns) + " of " + number(limit) + " columns"
                : formatBytes(input.memory.smemBytes) + " of " + formatBytes(limit);
    out += input.memory.valid ? "</h4>" : " &mdash; does not fit</h4>";
    out += "<svg class=\"bar\" viewBox=\"0 0 1000 " + number(phases * 34 + 2) +
           "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"memory map\">";
    out += "<rect class=\"room\" x=\"0\" y=\"0\" width=\"" +
           decimal(1000.0 * double(limit) / double(end)) + "\" height=\"" + number(phases * 34) +
           "\"/>";
    std::vector<std::string> names;
    for (const MemoryItem *item : items) {
      std::string base = item->name.substr(0, item->name.find('.'));
      auto known = std::find_if(input.kernel.resources.begin(), input.kernel.resources.end(),
                                [&](const auto &resource) { return resource.name == base; });
      int resource =
          known == input.kernel.resources.end() ? -1 : int(known - input.kernel.resources.begin());
      int64_t stages = std::min<int64_t>(item->stages, 256);
      for (int64_t stage = 0; stage < stages; ++stage)
        out += "<rect class=\"item" + colourClass(resource) + "\"" + ringAttributes(resource) +
               " x=\"" +
               decimal(1000.0 * double(item->offset + stage * item->stride) / double(end)) +
               "\" y=\"" + number(std::max<int64_t>(item->phase, 0) * 34) + "\" width=\"" +
               decimal(std::max(1000.0 * double(item->size) / double(end), 0.6)) +
               "\" height=\"32\"><title>" + escape(item->name) + " stage " + number(stage) + ": " +
               number(item->offset + stage * item->stride) + " + " + number(item->size) +
               "</title></rect>";
    }
    out += "</svg><div class=\"scroll\"><table><thead><tr><th>from</th><th>to</th><th>what</th>"
           "<th>stages</th><th>kind</th></tr></thead><tbody>";
    for (const MemoryItem *item : items)
      out += "<tr>" + cell(number(item->offset)) + cell(number(item->offset + item->extent)) +
             cell(item->name) + cell(number(item->stages) + " x " + number(item->size)) +
             cell(item->kind + (item->aliasGroup.empty() ? ""
                                                         : ", phase " + number(item->phase) +
                                                               " of " + item->aliasGroup)) +
             "</tr>";
    out += "</tbody></table></div>";
  }
  return out;
}

std::string stageRates(const KernelInput &input, const SteadyState &model) {
  if (model.rings.empty())
    return "";
  std::string out = "<div class=\"scroll\"><table><thead><tr><th>ring</th><th>who waits</th>"
                    "<th>declared</th><th>deadlock-free from</th><th>full rate from</th>"
                    "<th>share of the full rate by stages</th></tr></thead><tbody>";
  for (const RingModel &ring : model.rings) {
    out += "<tr><td><span class=\"op" + colourClass(ring.resource) + "\"" +
           ringAttributes(ring.resource) + ">" + escape(input.resourceName(ring.resource)) +
           "</span></td>" + cell(ring.waiter.empty() ? "-" : ring.waiter) +
           cell(number(ring.declared)) +
           cell(ring.deadlockFree ? number(*ring.deadlockFree) : "-") +
           cell(ring.fullRate ? number(*ring.fullRate) : "-") + "<td class=\"rates\">";
    for (const StageRate &rate : ring.rates)
      out += "<span class=\"rate" + std::string(rate.stages == ring.declared ? " declared" : "") +
             "\"><i style=\"height:" + number(int64_t(rate.share * 28) + 1) + "px\"></i>" +
             number(rate.stages) + "<small>" + formatPercent(rate.share) + "</small></span>";
    out += "</td></tr>";
  }
  return out + "</tbody></table></div>";
}

/// The modelled run, one line per task and unit.
std::string gantt(const SteadyState &model) {
  if (!model.valid() || model.times.empty())
    return "";
  struct Bar {
    int64_t start, length;
    const Interval *interval;
  };
  std::vector<Bar> bars;
  for (int period = 0; period < model.shown; ++period)
    for (const Interval &interval : model.run.intervals) {
      size_t base = size_t(period) * size_t(model.run.graph.nodes);
      int64_t start = model.times[base + size_t(interval.from)];
      int64_t length =
          interval.to < 0 ? interval.length : model.times[base + size_t(interval.to)] - start;
      if (length > 0)
        bars.push_back({start, length, &interval});
    }
  std::sort(bars.begin(), bars.end(), [](const Bar &a, const Bar &b) {
    return std::pair(a.start, a.interval) < std::pair(b.start, b.interval);
  });
  // More than this is for Perfetto.
  constexpr size_t maxBars = 1200;
  bool cut = bars.size() > maxBars;
  int64_t end = 1;
  if (cut) {
    end = std::max<int64_t>(bars[maxBars].start, 1);
    bars.resize(maxBars);
  } else {
    for (const Bar &bar : bars)
      end = std::max(end, bar.start + bar.length);
  }
  size_t lines = model.run.tracks.size();
  std::string out = "<p class=\"zoom\"><label>zoom <input type=\"range\" min=\"1\" max=\"30\" "
                    "value=\"1\"></label> " +
                    number(end) + " cycles" + (cut ? ", the first part only" : "") +
                    "</p><div class=\"gantt\"><div class=\"names\">";
  for (const Track &track : model.run.tracks)
    out += std::string("<div") + (track.engine ? " class=\"unit\"" : "") + ">" +
           escape(track.name) + "</div>";
  out += "</div><div class=\"lanes\"><svg viewBox=\"0 0 1000 " + number(int64_t(lines) * 24) +
         "\" preserveAspectRatio=\"none\" style=\"height:" + number(int64_t(lines) * 24) +
         "px\" role=\"img\" aria-label=\"modelled run\">";
  for (const Bar &bar : bars) {
    double x = 1000.0 * double(bar.start) / double(end);
    double width =
        std::max(1000.0 * double(std::min(bar.length, end - bar.start)) / double(end), 0.1);
    const Interval &interval = *bar.interval;
    const char *kind = interval.waiting                                  ? "waits"
                       : model.run.tracks[size_t(interval.track)].engine ? "busy"
                                                                         : "works";
    out += "<rect class=\"" + std::string(kind) + "\"" + ringAttributes(interval.resource) +
           " x=\"" + decimal(x) + "\" y=\"" + number(interval.track * 24 + 3) + "\" width=\"" +
           decimal(width) + "\" height=\"18\"><title>" + escape(interval.label) + " at " +
           number(bar.start) + ", " + number(bar.length) + " cycles</title></rect>";
  }
  return out + "</svg></div></div>";
}

std::string diagnostics(const Input &input) {
  if (input.diagnostics.empty())
    return "";
  std::string out = "<section><h2>Diagnostics</h2><ul class=\"diagnostics\">";
  for (const Diagnostic &diagnostic : input.diagnostics) {
    out += "<li class=\"" + std::string(name(diagnostic.severity)) + "\"><code>" +
           escape(diagnostic.place.text()) + "</code> <b>" +
           std::string(name(diagnostic.severity)) + "</b> " +
           (diagnostic.check ? "[TS" + number(diagnostic.check) + "] " : "") +
           escape(diagnostic.message);
    if (!diagnostic.notes.empty()) {
      out += "<ul>";
      for (const Note &note : diagnostic.notes)
        out +=
            "<li><code>" + escape(note.place.text()) + "</code> " + escape(note.message) + "</li>";
      out += "</ul>";
    }
    out += "</li>";
  }
  return out + "</ul></section>";
}

} // namespace ts::reports::html
