// Reports as text and JSON. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Emulator/Report.h"

#include "ts/Support/Checks.h"

#include <nlohmann/json.hpp>

namespace ts::emu {
namespace {
using Json = nlohmann::json;

constexpr unsigned firstId = unsigned(CheckId::TS701); // that of FaultKind 0

std::string place(const Site &site) {
  std::string text;
  if (!site.file.empty() && site.line)
    text = site.file + ":" + std::to_string(site.line) + ":" + std::to_string(site.column) + ": ";
  return text;
}

std::string details(const Site &site) {
  std::string text;
  auto add = [&](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
  if (!site.instruction.empty())
    add(site.instruction);
  if (site.ptxLine)
    add("PTX line " + std::to_string(site.ptxLine));
  if (site.warp >= 0 || !site.instruction.empty()) {
    std::string cta = std::to_string(site.cta[0]);
    if (site.cta[1] || site.cta[2])
      cta += "," + std::to_string(site.cta[1]) + "," + std::to_string(site.cta[2]);
    add("CTA " + cta + (site.ctaRank ? " (rank " + std::to_string(site.ctaRank) + ")" : ""));
  }
  if (site.warp >= 0)
    add("warp " + std::to_string(site.warp));
  if (!site.engine.empty())
    add(site.engine);
  return text;
}

Json toJson(const Site &site) {
  return {{"file", site.file},
          {"line", site.line},
          {"column", site.column},
          {"ptx_line", site.ptxLine},
          {"instruction", site.instruction},
          {"cta", {site.cta[0], site.cta[1], site.cta[2]}},
          {"cta_rank", site.ctaRank},
          {"warp", site.warp},
          {"lanes", site.lanes},
          {"engine", site.engine}};
}

Json toJson(const std::vector<Note> &notes) {
  Json list = Json::array();
  for (const Note &note : notes)
    list.push_back({{"text", note.text}, {"site", toJson(note.site)}});
  return list;
}
} // namespace

std::string_view kindName(FaultKind kind) { return checkName(CheckId(firstId + unsigned(kind))); }

std::string Report::id() const { return checkTag(CheckId(firstId + unsigned(kind))); }

std::string Report::str(bool withHistory, const char *severity) const {
  if (!severity)
    severity = isWarning ? "warning" : "error";
  std::string text = place(site) + severity + ": [" + id() + "] " + message + "\n";
  if (std::string where = details(site); !where.empty())
    text += "  at " + where + "\n";
  for (const Note &note : notes) {
    text += "  " + place(note.site) + "note: " + note.text;
    if (std::string where = details(note.site); !where.empty())
      text += " (" + where + ")";
    text += "\n";
  }
  if (withHistory && !history.empty()) {
    text += "  the last steps of the warp, the newest last:\n";
    for (const Note &note : history)
      text += "    " + place(note.site) + note.site.instruction + ", PTX line " +
              std::to_string(note.site.ptxLine) + " (" + note.text + ")\n";
  }
  return text;
}

std::string toJson(const std::vector<Report> &reports) {
  Json list = Json::array();
  for (const Report &report : reports)
    list.push_back({{"id", report.id()},
                    {"kind", kindName(report.kind)},
                    {"message", report.message},
                    {"site", toJson(report.site)},
                    {"notes", toJson(report.notes)},
                    {"history", toJson(report.history)}});
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

} // namespace ts::emu
