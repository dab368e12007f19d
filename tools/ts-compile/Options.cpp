// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "Options.h"
#include "ts/Target/PTX/Chip.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace ts_compile;

static constexpr char overview[] =
    "compile a ts kernel to PTX\n\n"
    "Reads a module with one gpu.module of ts kernels, checks it, lowers it and writes what the\n"
    "suffix of the output asks for: .ptx, .cubin (needs ptxas), .ll or .mlir. The launch manifest\n"
    "goes beside a .ptx or .cubin as .json.\n";

static constexpr char examples[] =
    "\nEXAMPLES:\n"
    "  ts-compile gemm.mlir --arch=sm_100a -o gemm.ptx   writes gemm.ptx and gemm.json\n"
    "  ts-compile gemm.mlir --verify-only                checks only\n"
    "  ts-compile gemm.mlir --verify-only --report=html --report-file=gemm.html\n"
    "  ts-compile gemm.mlir -o gemm.cubin --report=text  assembles, prints registers and spills\n"
    "  ts-compile gemm.mlir -o - --emit=lowered          the level below ts, to look at\n"
    "  ts-compile --explain TS301                        what a check means and how to mend it\n"
    "\nEXIT STATUS:\n"
    "  0 compiled or verified, 1 wrong input, 2 refuted by the prover, 3 proven up to a bound or\n"
    "  unknown, 4 a file or program is missing\n";

StringRef ts_compile::emitName(Emit emit) {
  switch (emit) {
  case Emit::Lowered:
    return "lowered";
  case Emit::MLIR:
    return "mlir";
  case Emit::LLVM:
    return "ll";
  case Emit::PTX:
    return "ptx";
  case Emit::Cubin:
    return "cubin";
  }
  llvm_unreachable("covered above");
}

static std::optional<Status> error(const Twine &message) {
  WithColor::error(errs(), "ts-compile") << message << "\n";
  return Status::Error;
}

static std::optional<Emit> emitOfSuffix(StringRef path) {
  return StringSwitch<std::optional<Emit>>(sys::path::extension(path))
      .Case(".ptx", Emit::PTX)
      .Case(".cubin", Emit::Cubin)
      .Case(".ll", Emit::LLVM)
      .Case(".mlir", Emit::MLIR)
      .Default(std::nullopt);
}

/// Chooses what to write from --emit and the output's suffix.
static std::optional<Status> chooseEmit(std::optional<Emit> asked, Options &options) {
  if (options.output == "-") {
    options.emit = asked.value_or(Emit::PTX);
    return std::nullopt;
  }
  std::optional<Emit> suffix = emitOfSuffix(options.output);
  if (!asked && !suffix)
    return error("the suffix of '" + options.output +
                 "' does not say what to write: use .ptx, .cubin, .ll or .mlir, or give --emit");
  options.emit = asked ? *asked : *suffix;
  // .mlir is the suffix of both MLIR levels.
  Emit level = options.emit == Emit::Lowered ? Emit::MLIR : options.emit;
  if (suffix && *suffix != level)
    return error("--emit=" + emitName(options.emit) + " contradicts the suffix of '" +
                 options.output + "'");
  return std::nullopt;
}

std::optional<Status> ts_compile::parseOptions(int argc, char **argv, Options &options) {
  cl::OptionCategory category("ts-compile options");
  cl::opt<std::string> input(cl::Positional, cl::desc("<input.mlir | ->"), cl::init("-"),
                             cl::cat(category));
  cl::opt<std::string> output("o", cl::desc("Output file, - for standard output (default)"),
                              cl::value_desc("file"), cl::init("-"), cl::cat(category));
  cl::opt<Emit> emit("emit", cl::desc("What to write (default: by the suffix of the output)"),
                     cl::values(clEnumValN(Emit::PTX, "ptx", "PTX text"),
                                clEnumValN(Emit::Cubin, "cubin", "binary, through ptxas"),
                                clEnumValN(Emit::LLVM, "ll", "optimised LLVM IR"),
                                clEnumValN(Emit::MLIR, "mlir", "MLIR in the LLVM dialect"),
                                clEnumValN(Emit::Lowered, "lowered", "MLIR right below ts")),
                     cl::cat(category));
  cl::opt<std::string> arch("arch", cl::desc("Target chip; replaces the module's ts.chip"),
                            cl::value_desc("sm_90a"), cl::cat(category));
  cl::opt<bool> verifyOnly("verify-only", cl::desc("Check the schedule and write nothing"),
                           cl::cat(category));
  cl::opt<Verify> verify("verify", cl::desc("What a failed check does (default: error)"),
                         cl::values(clEnumValN(Verify::Error, "error", "stop"),
                                    clEnumValN(Verify::Warn, "warn", "warn and go on"),
                                    clEnumValN(Verify::Off, "off", "do not check")),
                         cl::init(Verify::Error), cl::cat(category));
  cl::opt<bool> fillBodies("fill-bodies",
                           cl::desc("Give work that is only declared bodies that perform its "
                                    "accesses and check what arrives"),
                           cl::cat(category));
  cl::opt<bool> noLineInfo("no-line-info", cl::desc("Leave .file and .loc out of the PTX"),
                           cl::cat(category));
  cl::opt<std::string> ptxas("ptxas", cl::desc("The ptxas to run"), cl::value_desc("path"),
                             cl::cat(category));
  cl::opt<ReportForm> report(
      "report", cl::desc("Tell what the kernels are, what is proven, and what ptxas says"),
      cl::values(clEnumValN(ReportForm::Text, "text", "verdict, schedule, barriers, memory, model"),
                 clEnumValN(ReportForm::JSON, "json", "for programs, with all diagnostics"),
                 clEnumValN(ReportForm::Perfetto, "perfetto",
                            "trace of the counter-example or the modelled run"),
                 clEnumValN(ReportForm::SARIF, "sarif", "diagnostics as SARIF 2.1.0"),
                 clEnumValN(ReportForm::HTML, "html", "one page for a browser"),
                 clEnumValN(ReportForm::Table, "table", "the schedule, one column per task")),
      cl::init(ReportForm::None), cl::cat(category));
  cl::opt<std::string> reportFile("report-file",
                                  cl::desc("Where the report goes, - for the terminal (default)"),
                                  cl::value_desc("file"), cl::init("-"), cl::cat(category));
  cl::opt<bool> timing("timing", cl::desc("Print the time of each phase"), cl::cat(category));
  cl::opt<bool> listChecks("list-checks", cl::desc("List all checks"), cl::cat(category));
  cl::opt<std::string> explain("explain", cl::desc("Explain a check, by id or name"),
                               cl::value_desc("TS301"), cl::cat(category));
  cl::extrahelp help(examples);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &out) {
    out << "ts-compile " << TS_VERSION << " (LLVM " << LLVM_VERSION_STRING << ")\n";
  });
  cl::ParseCommandLineOptions(argc, argv, overview);

  options.input = input;
  options.output = output;
  options.arch = arch;
  options.ptxas = ptxas;
  options.verify = verify;
  options.report = report;
  options.reportFile = reportFile;
  options.verifyOnly = verifyOnly;
  options.fillBodies = fillBodies;
  options.lineInfo = !noLineInfo;
  options.timing = timing;
  options.listChecks = listChecks;
  options.explain = explain;
  if (listChecks || !options.explain.empty())
    return std::nullopt;

  if (arch.getNumOccurrences() && !mlir::ts::findChip(options.arch))
    return error("[TS406] unknown --arch '" + options.arch + "'; known are " +
                 mlir::ts::knownChipNames());
  if (verifyOnly && (output.getNumOccurrences() || emit.getNumOccurrences()))
    return error("--verify-only writes nothing: leave out -o and --emit");
  if (verifyOnly && verify == Verify::Off)
    return error("--verify-only and --verify=off leave nothing to do");
  if (reportFile.getNumOccurrences() && report == ReportForm::None)
    return error("--report-file needs --report=text, json, perfetto, sarif, html or table");
  if (reportFile != "-" && reportFile == output)
    return error("-o and --report-file are both '" + reportFile + "'");
  return chooseEmit(emit.getNumOccurrences() ? std::optional<Emit>(emit) : std::nullopt, options);
}
