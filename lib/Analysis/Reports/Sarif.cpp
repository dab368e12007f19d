// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SARIF 2.1.0 (OASIS): diagnostics as results, checks as rules, witnesses as code flows.
#include "ts/Analysis/Reports/Formats.h"
#include "ts/Analysis/Reports/Json.h"
#include "ts/Analysis/Reports/Text.h"
#include "ts/Support/Checks.h"

#include <algorithm>
#include <cstdio>

namespace ts::reports {

namespace {

/// A path as a URI reference: absolute paths with a scheme, odd characters escaped.
std::string uriOf(const std::string &path) {
  std::string uri = path.starts_with("/") ? "file://" : "";
  for (char c : path) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 std::string_view("/-_.~").find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      char escape[8];
      snprintf(escape, sizeof escape, "%%%02X", unsigned(uint8_t(c)));
      uri += escape;
    }
  }
  return uri;
}

Json message(const std::string &text) { return Json::object().set("text", text); }

Json location(const Place &place, const std::string &text = "", int id = -1) {
  Json object = Json::object();
  if (id >= 0)
    object.set("id", id);
  if (place.known()) {
    Json region = Json::object().set("startLine", place.line);
    if (place.column)
      region.set("startColumn", place.column);
    object.set("physicalLocation",
               Json::object()
                   .set("artifactLocation", Json::object().set("uri", uriOf(place.file)))
                   .set("region", std::move(region)));
  }
  if (!text.empty())
    object.set("message", message(text));
  return object;
}

const char *levelOf(Diagnostic::Severity severity) {
  switch (severity) {
  case Diagnostic::Severity::Error:
    return "error";
  case Diagnostic::Severity::Warning:
    return "warning";
  default:
    return "note";
  }
}

class SarifWriter {
public:
  explicit SarifWriter(const Input &input) : input(input) {}

  std::string run() {
    for (const Diagnostic &diagnostic : input.diagnostics) {
      Json result = begin(diagnostic.check, levelOf(diagnostic.severity), diagnostic.message,
                          diagnostic.place);
      Json related = Json::array();
      int id = 0;
      for (const Note &note : diagnostic.notes)
        related.push(location(note.place, note.message, id++));
      if (!related.empty())
        result.set("relatedLocations", std::move(related));
      if (const KernelInput *kernel = refutedAt(diagnostic))
        result.set("codeFlows", codeFlows(*kernel));
      results.push(std::move(result));
    }
    for (const KernelInput &kernel : input.kernels)
      if (kernel.verdict && kernel.verdict->fault && !told(kernel))
        addRefutation(kernel);
    Json driver = Json::object()
                      .set("name", input.tool)
                      .set("version", input.toolVersion)
                      .set("informationUri", "https://mlir.llvm.org/")
                      .set("rules", std::move(rules));
    Json one = Json::object()
                   .set("tool", Json::object().set("driver", std::move(driver)))
                   .set("columnKind", "unicodeCodePoints")
                   .set("results", std::move(results));
    return Json::object()
               .set("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
               .set("version", "2.1.0")
               .set("runs", Json::array().push(std::move(one)))
               .dump() +
           "\n";
  }

private:
  Json begin(unsigned check, const char *level, const std::string &text, const Place &place) {
    Json result = Json::object();
    if (check)
      result.set("ruleId", "TS" + std::to_string(check)).set("ruleIndex", ruleIndex(check));
    result.set("level", level).set("message", message(text));
    Json locations = Json::array();
    if (place.known())
      locations.push(location(place));
    result.set("locations", std::move(locations));
    return result;
  }

  int ruleIndex(unsigned check) {
    auto known = std::find(ruleNumbers.begin(), ruleNumbers.end(), check);
    if (known != ruleNumbers.end())
      return int(known - ruleNumbers.begin());
    std::string tag = "TS" + std::to_string(check);
    Json rule = Json::object().set("id", tag);
    if (const CheckInfo *info = findCheck(tag))
      rule.set("name", info->name)
          .set("shortDescription", message(std::string(info->title)))
          .set("fullDescription", message(std::string(info->why)))
          .set("help", message(std::string(info->fix)));
    rules.push(std::move(rule));
    ruleNumbers.push_back(check);
    return int(ruleNumbers.size()) - 1;
  }

  /// The refuted kernel that a diagnostic of the prover speaks of.
  const KernelInput *refutedAt(const Diagnostic &diagnostic) const {
    for (const KernelInput &kernel : input.kernels)
      if (kernel.verdict && kernel.verdict->fault &&
          unsigned(kernel.verdict->fault->kind) == diagnostic.check &&
          kernel.place(kernel.verdict->fault->loc).text() == diagnostic.place.text())
        return &kernel;
    return nullptr;
  }
  bool told(const KernelInput &kernel) const {
    return std::any_of(
        input.diagnostics.begin(), input.diagnostics.end(),
        [&](const Diagnostic &diagnostic) { return refutedAt(diagnostic) == &kernel; });
  }

  void addRefutation(const KernelInput &kernel) {
    const prover::Fault &fault = *kernel.verdict->fault;
    std::string text = verdictLine(kernel);
    if (std::string help = helpLine(fault); !help.empty())
      text += "; help: " + help;
    Json result = begin(unsigned(fault.kind), "error", text, kernel.place(fault.loc));
    Json related = Json::array();
    int id = 0;
    for (const prover::BlockedAgent &blocked : fault.blocked)
      related.push(location(kernel.place(blocked.loc), "waits for " + blocked.waitsFor, id++));
    for (const prover::AccessSite &site : fault.sites)
      related.push(location(kernel.place(site.loc), site.text, id++));
    if (!related.empty())
      result.set("relatedLocations", std::move(related));
    result.set("codeFlows", codeFlows(kernel));
    results.push(std::move(result));
  }

  /// One thread flow per task; the execution order runs through all of them.
  static Json codeFlows(const KernelInput &kernel) {
    const prover::Verdict &verdict = *kernel.verdict;
    Json threads = Json::array();
    for (size_t agent = 0; agent < verdict.agents.size(); ++agent) {
      Json locations = Json::array();
      int order = 0;
      for (const prover::WitnessStep &step : verdict.fault->steps) {
        ++order;
        if (step.agent == int(agent))
          locations.push(
              Json::object()
                  .set("executionOrder", order)
                  .set("location", location(kernel.place(step.loc),
                                            step.text + (step.blocked ? " (blocked)" : ""))));
      }
      if (!locations.empty())
        threads.push(
            Json::object().set("id", verdict.agents[agent]).set("locations", std::move(locations)));
    }
    Json flows = Json::array();
    if (!threads.empty())
      flows.push(Json::object().set("threadFlows", std::move(threads)));
    return flows;
  }

  const Input &input;
  Json rules = Json::array(), results = Json::array();
  std::vector<unsigned> ruleNumbers;
};

} // namespace

std::string formatSarif(const Input &input) { return SarifWriter(input).run(); }

} // namespace ts::reports
