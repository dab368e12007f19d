// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "ts/Driver/Report.h"
#include "mlir/IR/MLIRContext.h"
#include "ts/Analysis/Reports/Collect.h"
#include "ts/Analysis/Reports/Formats.h"
#include "ts/Analysis/Reports/Text.h"
#include "ts/Dialect/TS/Transforms/Prove.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mlir::ts::driver;
namespace reports = ::ts::reports;

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

static reports::Diagnostic::Severity severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note:
    return reports::Diagnostic::Severity::Note;
  case mlir::DiagnosticSeverity::Warning:
    return reports::Diagnostic::Severity::Warning;
  case mlir::DiagnosticSeverity::Error:
    return reports::Diagnostic::Severity::Error;
  case mlir::DiagnosticSeverity::Remark:
    return reports::Diagnostic::Severity::Remark;
  }
  llvm_unreachable("covered above");
}

/// Takes "[TS301] " out of the message and returns its number, or 0. Verifiers of ops write it
/// behind "'ts.op' op ".
static unsigned takeCheckNumber(std::string &message) {
  constexpr StringLiteral behindOp("' op ");
  size_t start = 0;
  if (StringRef(message).starts_with("'"))
    if (size_t end = message.find(behindOp); end != std::string::npos)
      start = end + behindOp.size();
  unsigned number = 0;
  StringRef rest = StringRef(message).drop_front(start);
  if (!rest.consume_front("[TS") || rest.consumeInteger(10, number) || !rest.consume_front("]"))
    return 0;
  message = message.substr(0, start) + rest.ltrim().str();
  return number;
}

void DiagnosticLog::see(mlir::Diagnostic &diagnostic) {
  reports::Diagnostic entry;
  entry.message = diagnostic.str();
  entry.check = takeCheckNumber(entry.message);
  entry.severity = severityOf(diagnostic.getSeverity());
  entry.place = mlir::ts::reportPlace(diagnostic.getLocation());
  if (entry.severity == reports::Diagnostic::Severity::Error) {
    // The 300s are the prover's: a refutation is its own status. Any other error outranks it,
    // since the schedule that was proven on is then not well-formed.
    bool refuted = entry.check / 100 == 3;
    if (!refuted)
      worst = Status::Error;
    else if (worst == Status::Ok)
      worst = Status::Refuted;
  }
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    entry.notes.push_back({note.str(), mlir::ts::reportPlace(note.getLocation())});
  diagnostics.push_back(std::move(entry));
}

void mlir::ts::driver::printUsage(raw_ostream &out, const mlir::ts::PtxasResult &result,
                                  StringRef chip) {
  for (const mlir::ts::PtxasKernel &kernel : result.kernels)
    out << formatv("{0}: {1} registers, {2} bytes spill stores, {3} bytes spill loads, {4} bytes "
                   "stack, {5} bytes static shared memory ({6})\n",
                   kernel.name, kernel.registers, kernel.spillStoreBytes, kernel.spillLoadBytes,
                   kernel.stackBytes, kernel.sharedBytes, chip);
}

std::vector<reports::KernelInput> mlir::ts::driver::collectKernels(mlir::ModuleOp module) {
  std::vector<reports::KernelInput> kernels;
  module.walk([&](mlir::ts::KernelOp kernel) {
    if (std::optional<reports::KernelInput> input = mlir::ts::collectReport(kernel))
      kernels.push_back(std::move(*input));
  });
  return kernels;
}

void mlir::ts::driver::judgeKernels(mlir::ModuleOp module,
                                    std::vector<reports::KernelInput> &kernels,
                                    const DiagnosticLog &log, bool asErrors,
                                    const std::atomic<bool> *cancelled) {
  bool told = any_of(log.entries(), [](const auto &entry) { return entry.check / 100 == 3; });
  ::ts::prover::Options options;
  options.cancelled = cancelled;
  module.walk([&](mlir::ts::KernelOp kernel) {
    auto input = find_if(kernels, [&](const auto &known) {
      return known.kernel.name == kernel.getSymName() && !known.verdict;
    });
    if (input == kernels.end() || (cancelled && *cancelled))
      return;
    mlir::FailureOr<mlir::ts::ScheduleModel> model = mlir::ts::buildSchedule(kernel);
    if (failed(model))
      return;
    auto start = std::chrono::steady_clock::now();
    auto verdict = mlir::ts::proveSchedule(kernel, *model, options);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (failed(verdict) || (cancelled && *cancelled))
      return;
    input->proverMilliseconds = time.count();
    if (!told) {
      mlir::ts::CheckReporter reporter(asErrors);
      mlir::ts::reportVerdict(kernel, *model, *verdict, reporter);
    }
    input->verdict = std::move(*verdict);
  });
}

Status mlir::ts::driver::statusOf(const std::vector<reports::KernelInput> &kernels) {
  using Kind = ::ts::prover::Verdict::Kind;
  Status status = Status::Ok;
  for (const reports::KernelInput &kernel : kernels) {
    if (!kernel.verdict || kernel.verdict->kind == Kind::Proven)
      continue;
    if (kernel.verdict->kind == Kind::Refuted)
      return Status::Refuted;
    status = Status::Undecided;
  }
  return status;
}

std::string mlir::ts::driver::summaryOf(const std::vector<reports::KernelInput> &kernels) {
  std::string text;
  for (const reports::KernelInput &kernel : kernels) {
    reports::SteadyState model = reports::modelSteadyState(kernel);
    text += formatSummary(kernel, &model, /*brief=*/true);
  }
  return text;
}

void mlir::ts::driver::addUsage(std::vector<reports::KernelInput> &kernels,
                                const mlir::ts::PtxasResult &usage) {
  for (const mlir::ts::PtxasKernel &kernel : usage.kernels) {
    auto known =
        find_if(kernels, [&](const auto &input) { return input.kernel.name == kernel.name; });
    if (known == kernels.end()) {
      known = kernels.emplace(kernels.end());
      known->kernel.name = kernel.name;
    }
    known->usage = {int64_t(kernel.registers),      int64_t(kernel.spillStoreBytes),
                    int64_t(kernel.spillLoadBytes), int64_t(kernel.stackBytes),
                    int64_t(kernel.sharedBytes),    int64_t(kernel.barriers)};
  }
}

/// The remarks on waived checks, each with the kernel that it stands in.
static void addWaivers(std::vector<reports::KernelInput> &kernels,
                       const std::vector<reports::Diagnostic> &diagnostics) {
  for (const reports::Diagnostic &entry : diagnostics) {
    if (!entry.check || !StringRef(entry.message).starts_with("waived ("))
      continue;
    reports::KernelInput *owner = nullptr;
    for (reports::KernelInput &kernel : kernels)
      if (const reports::Place &place = kernel.place(0);
          place.file == entry.place.file && place.line <= entry.place.line)
        if (!owner || owner->place(0).line < place.line)
          owner = &kernel;
    if (owner)
      owner->waived.push_back(formatv("TS{0} at {1}: {2}", entry.check, entry.place.text(),
                                      entry.message.substr(strlen("waived ")))
                                  .str());
  }
}

std::string mlir::ts::driver::renderReport(ReportForm form, StringRef source, Status status,
                                           StringRef chip,
                                           std::vector<reports::KernelInput> kernels,
                                           const std::vector<reports::Diagnostic> &diagnostics) {
  reports::Input input;
  input.toolVersion = TS_VERSION;
  input.source = source.str();
  input.arch = chip.str();
  input.failed = status == Status::Error || status == Status::Environment;
  input.diagnostics = diagnostics;
  addWaivers(kernels, diagnostics);
  for (reports::KernelInput &kernel : kernels)
    kernel.checksFailed = input.failed;
  input.kernels = std::move(kernels);
  reports::Models models;
  auto model = [&] {
    for (const reports::KernelInput &kernel : input.kernels)
      models.push_back(reports::modelSteadyState(kernel));
  };
  std::string text;
  switch (form) {
  case ReportForm::None:
    break;
  case ReportForm::JSON:
    model();
    return formatJson(input, models);
  case ReportForm::Perfetto:
    model();
    return formatPerfetto(input, models);
  case ReportForm::HTML:
    model();
    return formatHtml(input, models);
  case ReportForm::SARIF:
    return formatSarif(input);
  case ReportForm::Table:
    for (const reports::KernelInput &kernel : input.kernels)
      text += (text.empty() ? "" : "\n") + formatScheduleTable(kernel);
    break;
  case ReportForm::Text:
    model();
    for (size_t k = 0; k < input.kernels.size(); ++k)
      if (!input.kernels[k].kernel.tasks.empty())
        text += (text.empty() ? "" : "\n") + formatText(input.kernels[k], models[k]);
    break;
  }
  return text;
}
