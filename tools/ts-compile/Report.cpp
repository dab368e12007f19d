// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "Report.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "ts/Support/Checks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace ts_compile;

void PhaseTimer::stop() {
  if (running.empty())
    return;
  std::chrono::duration<double, std::milli> elapsed = Clock::now() - since;
  auto known = find_if(phases, [&](const Phase &phase) { return phase.name == running; });
  if (known == phases.end())
    known = phases.insert(known, {running, 0});
  known->milliseconds += elapsed.count();
  running.clear();
}

void PhaseTimer::start(StringRef phase) {
  if (running == phase)
    return;
  stop();
  running = phase;
  since = Clock::now();
}

void PhaseTimer::print(raw_ostream &out) {
  stop();
  double total = 0;
  for (const Phase &phase : phases)
    total += phase.milliseconds;
  out << formatv("{0,-12}{1,10}{2,9}\n", "phase", "ms", "share");
  for (const Phase &phase : phases)
    out << formatv("{0,-12}{1,10:f1}{2,7:f0} %\n", phase.name, phase.milliseconds,
                   total > 0 ? 100 * phase.milliseconds / total : 0.0);
  out << formatv("{0,-12}{1,10:f1}\n", "total", total);
}

DiagnosticLog::DiagnosticLog(mlir::MLIRContext &context) : context(context) {
  handler = context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    see(diagnostic);
    return mlir::failure(); // not ours to print: pass it on
  });
}

DiagnosticLog::~DiagnosticLog() { context.getDiagEngine().eraseHandler(handler); }

static StringRef severityName(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note:
    return "note";
  case mlir::DiagnosticSeverity::Warning:
    return "warning";
  case mlir::DiagnosticSeverity::Error:
    return "error";
  case mlir::DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("covered above");
}

/// "file:line:col", or what MLIR prints for a location of another kind.
static std::string locationText(mlir::Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(), file.getColumn())
        .str();
  std::string text;
  raw_string_ostream(text) << location;
  return text;
}

/// The number in "[TS301] ...", or 0.
static unsigned checkNumber(StringRef message) {
  unsigned number = 0;
  if (!message.consume_front("[TS") || message.consumeInteger(10, number))
    return 0;
  return number;
}

void DiagnosticLog::see(mlir::Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  unsigned number = checkNumber(message);
  if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
    // The 300s are the prover's: a refutation is its own status. Any other error outranks it,
    // since the schedule that was proven on is then not well-formed.
    bool refuted = number / 100 == 3;
    if (!refuted)
      worst = Status::Error;
    else if (worst == Status::Ok)
      worst = Status::Refuted;
  }
  json::Object entry{{"severity", severityName(diagnostic.getSeverity())},
                     {"message", message},
                     {"location", locationText(diagnostic.getLocation())}};
  if (number)
    entry["id"] = formatv("TS{0}", number).str();
  json::Array notes;
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    notes.push_back(
        json::Object{{"message", note.str()}, {"location", locationText(note.getLocation())}});
  if (!notes.empty())
    entry["notes"] = std::move(notes);
  diagnostics.push_back(std::move(entry));
}

void ts_compile::printUsage(raw_ostream &out, const mlir::ts::PtxasResult &result, StringRef chip) {
  for (const mlir::ts::PtxasKernel &kernel : result.kernels)
    out << formatv("{0}: {1} registers, {2} bytes spill stores, {3} bytes spill loads, {4} bytes "
                   "stack, {5} bytes static shared memory ({6})\n",
                   kernel.name, kernel.registers, kernel.spillStoreBytes, kernel.spillLoadBytes,
                   kernel.stackBytes, kernel.sharedBytes, chip);
}

static StringRef verdictName(Status status) {
  switch (status) {
  case Status::Ok:
    return "verified";
  case Status::Refuted:
    return "refuted";
  case Status::Undecided:
    return "undecided";
  case Status::Error:
  case Status::Environment:
    return "error";
  }
  llvm_unreachable("covered above");
}

json::Value ts_compile::jsonReport(Status status, StringRef chip, const DiagnosticLog &log,
                                   const mlir::ts::PtxasResult *usage) {
  json::Object report{{"version", 1},
                      {"verdict", verdictName(status)},
                      {"arch", chip},
                      {"diagnostics", json::Array(log.entries())}};
  if (usage) {
    json::Array kernels;
    for (const mlir::ts::PtxasKernel &kernel : usage->kernels)
      kernels.push_back(json::Object{{"name", kernel.name},
                                     {"registers", kernel.registers},
                                     {"spill_stores", kernel.spillStoreBytes},
                                     {"spill_loads", kernel.spillLoadBytes},
                                     {"stack", kernel.stackBytes},
                                     {"static_smem", kernel.sharedBytes},
                                     {"barriers", kernel.barriers}});
    report["kernels"] = std::move(kernels);
  }
  return report;
}
