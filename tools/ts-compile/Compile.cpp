// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header. One member function per phase, in the order in which they run.
#include "Compile.h"
#include "OutputFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "ts/Driver/Compiler.h"
#include "ts/Support/Nesting.h"
#include "ts/Target/PTX/CrashGuard.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace ts_compile;
using namespace mlir::ts::driver;

static Status environmentError(const Twine &message) {
  WithColor::error(errs(), "ts-compile") << message << "\n";
  return Status::Environment;
}

namespace {
class Compilation {
public:
  Compilation(const Options &options, const char *program)
      : options(options), program(program), context(compilerDialects(), threading),
        printer(sources, &context), log(context) {
    // The op itself is in the user's file; printing it again hides the message.
    context.printOpOnDiagnostic(false);
  }

  Status run();

private:
  // Each phase returns a status other than Ok to end the compilation.
  Status openFiles();
  Status parse();
  Status check();
  Status generate();
  Status write();
  Status phases();

  Status failedStatus() const { return log.status() == Status::Ok ? Status::Error : log.status(); }
  Status report(Status status);
  /// Whether the report says something about registers and spills.
  bool reportsUsage() const {
    return options.report == ReportForm::Text || options.report == ReportForm::JSON ||
           options.report == ReportForm::HTML;
  }
  /// The terminal is left to a report that programs read.
  bool quiet() const {
    return options.report != ReportForm::None && options.report != ReportForm::Text &&
           options.reportFile == "-";
  }
  /// Reports go to standard output unless the compilation's own output does.
  raw_ostream &reportStream() const {
    return options.output == "-" && !options.verifyOnly ? errs() : outs();
  }

  // Threads cost more than they bring on inputs of this size.
  static constexpr auto threading = mlir::MLIRContext::Threading::DISABLED;

  const Options &options;
  const char *program;
  SourceMgr sources;
  mlir::MLIRContext context;
  mlir::SourceMgrDiagnosticHandler printer;
  DiagnosticLog log;
  PhaseTimer timer;

  std::optional<OutputFile> output, manifestFile, reportFile;
  std::string manifestPath;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<Compiler> compiler;
};
} // namespace

Status Compilation::openFiles() {
  // The input is read before the output is opened: they may be the same file.
  ErrorOr<std::unique_ptr<MemoryBuffer>> input = MemoryBuffer::getFileOrSTDIN(options.input);
  if (!input)
    return environmentError("cannot read '" + options.input + "': " + input.getError().message());
  // Upstream's parser recurses; refuse what would end in a stack overflow.
  if (!(*input)->getBuffer().starts_with("ML\xefR"))
    if (auto place = ::ts::findTooDeep((*input)->getBuffer())) {
      errs() << options.input << ':' << place->line << ':' << place->column
             << ": error: brackets are nested more than " << ::ts::kMaxNesting
             << " deep; no program needs that\n";
      return Status::Error;
    }
  sources.AddNewSourceBuffer(std::move(*input), SMLoc());
  auto open = [](StringRef path, std::optional<OutputFile> &file) {
    Expected<OutputFile> opened = OutputFile::open(path);
    if (!opened)
      return environmentError(toString(opened.takeError()));
    file.emplace(std::move(*opened));
    return Status::Ok;
  };
  if (options.reportFile != "-")
    if (Status status = open(options.reportFile, reportFile); status != Status::Ok)
      return status;
  if (options.verifyOnly)
    return Status::Ok;
  Status status = open(options.output, output);
  bool launchable = options.emit == Emit::PTX || options.emit == Emit::Cubin;
  if (status != Status::Ok || !output->isFile() || !launchable)
    return status;
  SmallString<256> path(options.output);
  sys::path::replace_extension(path, ".json");
  manifestPath = path.str();
  return open(manifestPath, manifestFile);
}

Status Compilation::parse() {
  mlir::ParserConfig config(&context);
  // Upstream's parser faults on some wrong inputs (array<index: 1>); they are still just wrong.
  if (auto crash = mlir::ts::runGuarded(
          [&] { module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config); })) {
    errs() << options.input << ": error: MLIR's parser cannot read this text: " << *crash << '\n';
    return Status::Error;
  }
  if (!module)
    return failedStatus();
  return Status::Ok;
}

Status Compilation::check() {
  void *address = reinterpret_cast<void *>(&environmentError);
  std::string executable = sys::fs::getMainExecutable(program, address);
  CompileOptions wanted;
  wanted.emit = options.emit;
  wanted.arch = options.arch;
  wanted.ptxas = options.ptxas;
  wanted.toolDir = sys::path::parent_path(executable).str();
  wanted.verify = options.verify;
  wanted.fillBodies = options.fillBodies;
  wanted.lineInfo = options.lineInfo;
  wanted.usage = reportsUsage();
  compiler.emplace(*module, std::move(wanted), log, timer);
  Status status = compiler->check();
  if (status == Status::Error || options.verify == Verify::Off)
    return status;
  bool reported = options.report != ReportForm::None && options.reportFile == "-";
  if (status == Status::Ok && !reported && (options.verifyOnly || options.output != "-"))
    outs() << summaryOf(compiler->kernels());
  return status;
}

Status Compilation::generate() {
  Status status = compiler->generate();
  if (status == Status::Environment)
    return environmentError(compiler->missing());
  if (!compiler->note().empty())
    WithColor::note(errs(), "ts-compile") << compiler->note() << "\n";
  return status;
}

Status Compilation::write() {
  timer.start("write");
  if (Error error = output->commit(compiler->text()))
    return environmentError(toString(std::move(error)));
  bool withManifest = manifestFile && !compiler->manifest().empty();
  if (withManifest)
    if (Error error = manifestFile->commit(compiler->manifest()))
      return environmentError(toString(std::move(error)));
  if (options.output == "-" || quiet())
    return Status::Ok;
  outs() << "wrote " << options.output << " (" << compiler->chip()->name << ", ";
  if (options.emit == Emit::Cubin)
    outs() << compiler->text().size() << " bytes)";
  else
    outs() << StringRef(compiler->text()).count('\n') << " lines)";
  if (withManifest)
    outs() << ", " << manifestPath;
  outs() << "\n";
  return Status::Ok;
}

Status Compilation::phases() {
  timer.start("parse");
  Status status = openFiles();
  using Phase = Status (Compilation::*)();
  for (Phase phase : {&Compilation::parse, &Compilation::check})
    if (status == Status::Ok)
      status = (this->*phase)();
  if (!options.verifyOnly)
    for (Phase phase : {&Compilation::generate, &Compilation::write})
      if (status == Status::Ok)
        status = (this->*phase)();
  // Bounded or unknown: written, but said so.
  return status == Status::Ok ? compiler->verdict() : status;
}

/// Writes the report, also that of a compilation that failed.
Status Compilation::report(Status status) {
  if (options.report == ReportForm::None)
    return Status::Ok;
  timer.start("report");
  std::string chipName = options.arch, text;
  std::vector<::ts::reports::KernelInput> kernels;
  if (compiler) {
    if (compiler->chip())
      chipName = compiler->chip()->name;
    kernels = std::move(compiler->kernels());
    if (const std::optional<mlir::ts::PtxasResult> &usage = compiler->usage()) {
      if (options.report == ReportForm::Text)
        printUsage(reportStream(), *usage, chipName);
      addUsage(kernels, *usage);
    }
  }
  StringRef source = options.input == "-" ? StringRef("<stdin>") : StringRef(options.input);
  text = renderReport(options.report, source, status, chipName, std::move(kernels), log.entries());
  if (!reportFile) {
    // A report file that could not be opened was told already.
    if (options.reportFile == "-")
      reportStream() << text;
    return Status::Ok;
  }
  if (Error error = reportFile->commit(text))
    return environmentError(toString(std::move(error)));
  if (options.output != "-" || options.verifyOnly)
    outs() << "wrote " << options.reportFile << "\n";
  return Status::Ok;
}

Status Compilation::run() {
  Status status = phases();
  timer.stop();
  if (Status written = report(status); written != Status::Ok)
    status = written;
  if (options.timing)
    timer.print(errs());
  return status;
}

Status ts_compile::compile(const Options &options, const char *program) {
  return Compilation(options, program).run();
}
