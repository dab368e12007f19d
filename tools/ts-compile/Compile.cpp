// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header. One member function per phase, in the order in which they run.
#include "Compile.h"
#include "OutputFile.h"
#include "Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "ts/Conversion/Pipelines.h"
#include "ts/Dialect/TS/Transforms/Passes.h"
#include "ts/InitAll.h"
#include "ts/Support/Checks.h"
#include "ts/Support/Nesting.h"
#include "ts/Target/PTX/CrashGuard.h"
#include "ts/Target/PTX/DeviceModule.h"
#include "ts/Target/PTX/Manifest.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace ts_compile;
using mlir::failed;
using mlir::gpu::GPUModuleOp;
using ::ts::CheckId;
using ::ts::checkPrefix;

static constexpr StringLiteral chipAttrName = "ts.chip";

static Status environmentError(const Twine &message) {
  WithColor::error(errs(), "ts-compile") << message << "\n";
  return Status::Environment;
}

static mlir::DialectRegistry allDialects() {
  mlir::DialectRegistry registry;
  mlir::ts::registerAllTSDialects(registry);
  mlir::ts::registerPTXTranslations(registry);
  return registry;
}

namespace {
/// Sorts the passes into phases by their name.
struct PhaseInstrumentation : mlir::PassInstrumentation {
  explicit PhaseInstrumentation(PhaseTimer &timer) : timer(timer) {}
  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    StringRef name = pass->getArgument();
    if (name.empty()) // an adaptor that runs nested passes
      return;
    bool verifies = name.starts_with("ts-verify") || name == "ts-prove";
    timer.start(verifies ? "verify" : name.starts_with("ts-") ? "lower" : "upstream");
  }
  PhaseTimer &timer;
};

class Compilation {
public:
  Compilation(const Options &options, const char *program)
      : options(options), program(program), context(allDialects(), threading),
        printer(sources, &context), log(context) {
    // The op itself is in the user's file; printing it again hides the message.
    context.printOpOnDiagnostic(false);
  }

  Status run();

private:
  // Each phase returns a status other than Ok to end the compilation.
  Status openFiles();
  Status parse();
  Status chooseChip();
  Status verify();
  Status lower();
  Status translate();
  Status assemble();
  Status write();
  Status phases();

  Status runPasses(llvm::function_ref<void(mlir::OpPassManager &)> build);
  Status failedStatus() const { return log.status() == Status::Ok ? Status::Error : log.status(); }
  void reportPtxas(const mlir::ts::PtxasResult &result);
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
  std::string printModule();
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
  GPUModuleOp gpuModule;
  const mlir::ts::Chip *chip = nullptr;
  Status verdict = Status::Ok; ///< of the prover
  std::string text, manifest;
  std::optional<mlir::ts::PtxasResult> usage;
  std::vector<::ts::reports::KernelInput> kernels; ///< for the reports
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
  auto modules = module->getOps<GPUModuleOp>();
  if (modules.empty()) {
    module->emitError() << "there is no gpu.module in '" << options.input
                        << "': put the kernels into one";
    return Status::Error;
  }
  gpuModule = *modules.begin();
  if (std::next(modules.begin()) != modules.end()) {
    mlir::InFlightDiagnostic diagnostic = (*std::next(modules.begin())).emitError()
                                          << "a second gpu.module: one output holds one, so put "
                                             "all kernels into one or compile them separately";
    diagnostic.attachNote(gpuModule.getLoc()) << "the first is here";
    return Status::Error;
  }
  return Status::Ok;
}

/// --arch replaces every ts.chip in the module, so that no later phase can see another one.
Status Compilation::chooseChip() {
  mlir::Operation *holder = nullptr;
  mlir::WalkResult walked = module->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    mlir::Attribute attr = op->getAttr(chipAttrName);
    if (!attr)
      return mlir::WalkResult::advance();
    auto name = dyn_cast<mlir::StringAttr>(attr);
    if (!name) {
      op->emitError() << checkPrefix(CheckId::TS406) << "'" << chipAttrName
                      << "' must be a string such as \"sm_90a\"";
      return mlir::WalkResult::interrupt();
    }
    if (!options.arch.empty()) {
      if (name.getValue() != options.arch)
        op->emitRemark() << chipAttrName << " = \"" << name.getValue()
                         << "\" is replaced by --arch=" << options.arch;
      op->setAttr(chipAttrName, mlir::StringAttr::get(&context, options.arch));
    } else if (holder && holder->getAttr(chipAttrName) != attr) {
      mlir::InFlightDiagnostic diagnostic = op->emitError()
                                            << checkPrefix(CheckId::TS406) << chipAttrName
                                            << " = \"" << name.getValue()
                                            << "\" differs from the other; one output has one chip";
      diagnostic.attachNote(holder->getLoc()) << "the other is here";
      return mlir::WalkResult::interrupt();
    }
    if (!holder)
      holder = op;
    return mlir::WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return Status::Error;
  std::string name = options.arch;
  if (name.empty() && holder)
    name = cast<mlir::StringAttr>(holder->getAttr(chipAttrName)).getValue().str();
  if (name.empty()) {
    gpuModule.emitError() << checkPrefix(CheckId::TS405)
                          << "no target: pass --arch=sm_90a, or put ts.chip = \"sm_90a\" on the "
                             "gpu.module (known: "
                          << mlir::ts::knownChipNames() << ")";
    return Status::Error;
  }
  chip = mlir::ts::findChip(name);
  if (!chip) {
    holder->emitError() << checkPrefix(CheckId::TS406) << "unknown " << chipAttrName << " \""
                        << name << "\"; known are " << mlir::ts::knownChipNames();
    return Status::Error;
  }
  gpuModule->setAttr(chipAttrName, mlir::StringAttr::get(&context, name));
  return Status::Ok;
}

Status Compilation::runPasses(llvm::function_ref<void(mlir::OpPassManager &)> build) {
  mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
  passes.addInstrumentation(std::make_unique<PhaseInstrumentation>(timer));
  build(passes);
  return failed(passes.run(*module)) ? failedStatus() : Status::Ok;
}

/// All checks, and what the reports need while the kernels are still in ts.
Status Compilation::verify() {
  mlir::ts::TSLowerOptions checks;
  checks.verify = options.verify == Verify::Error  ? "error"
                  : options.verify == Verify::Warn ? "warn"
                                                   : "off";
  checks.prove = false; // judgeKernels does, and keeps the verdicts
  Status status = runPasses(
      [&](mlir::OpPassManager &passes) { mlir::ts::buildTSVerifyPipeline(passes, checks); });
  timer.start("verify");
  kernels = collectKernels(*module);
  // On a schedule that is not well-formed there is nothing to prove.
  if (options.verify == Verify::Off || (status != Status::Ok && status != Status::Refuted))
    return status;
  judgeKernels(*module, kernels, log, options.verify == Verify::Error);
  if (status == Status::Ok && options.verify == Verify::Error)
    verdict = statusOf(kernels);
  bool reported = options.report != ReportForm::None && options.reportFile == "-";
  if (verdict != Status::Refuted && !reported && (options.verifyOnly || options.output != "-"))
    outs() << summaryOf(kernels);
  return verdict == Status::Refuted ? verdict : status;
}

Status Compilation::lower() {
  mlir::ts::TSLowerOptions lowering;
  lowering.verify = "off"; // done
  return runPasses([&](mlir::OpPassManager &passes) {
    // What was declared is what was verified.
    if (options.fillBodies)
      passes.nest<GPUModuleOp>().addPass(mlir::ts::createTSFillBodies());
    if (options.emit == Emit::Lowered)
      mlir::ts::buildTSLowerPipeline(passes, lowering);
    else
      mlir::ts::buildTSToLLVMPipeline(passes, lowering);
  });
}

std::string Compilation::printModule() {
  std::string result;
  raw_string_ostream stream(result);
  module->print(stream);
  stream << "\n";
  return result;
}

Status Compilation::translate() {
  if (options.emit == Emit::Lowered || options.emit == Emit::MLIR) {
    text = printModule();
    return Status::Ok;
  }
  // The passes may have replaced the op that was parsed.
  gpuModule = *module->getOps<GPUModuleOp>().begin();
  mlir::FailureOr<std::string> collected = mlir::ts::collectManifest(gpuModule);
  if (failed(collected))
    return Status::Error;
  manifest = std::move(*collected);

  timer.start("translate");
  mlir::FailureOr<mlir::ts::DeviceModule> device =
      mlir::ts::DeviceModule::translate(gpuModule, *chip, {options.lineInfo});
  if (failed(device))
    return failedStatus();
  timer.start("optimise");
  if (failed(device->optimize()))
    return failedStatus();
  if (options.emit == Emit::LLVM) {
    text = device->llvmIR();
    return Status::Ok;
  }
  timer.start("codegen");
  mlir::FailureOr<std::string> ptx = device->emitPTX();
  if (failed(ptx))
    return failedStatus();
  text = std::move(*ptx);
  return Status::Ok;
}

void Compilation::reportPtxas(const mlir::ts::PtxasResult &result) {
  for (const mlir::ts::PtxasMessage &message : result.messages) {
    mlir::Location location = gpuModule.getLoc();
    if (message.line)
      location = mlir::FileLineColLoc::get(&context, message.file, message.line, message.column);
    bool isError = message.severity == mlir::ts::PtxasMessage::Severity::Error;
    mlir::InFlightDiagnostic diagnostic = isError ? mlir::emitError(location)
                                                        << checkPrefix(CheckId::TS403)
                                                  : mlir::emitWarning(location);
    diagnostic << "ptxas" << (message.id.empty() ? "" : " ") << message.id << ": " << message.text;
    if (message.ptxLine)
      diagnostic << " (line " << message.ptxLine << " of the PTX)";
  }
  for (const mlir::ts::PtxasKernel &kernel : result.kernels)
    if (kernel.spillStoreBytes || kernel.spillLoadBytes)
      mlir::emitWarning(gpuModule.getLoc())
          << "ptxas spills registers of '" << kernel.name << "': " << kernel.spillStoreBytes
          << " bytes stored, " << kernel.spillLoadBytes << " bytes loaded";
}

/// Runs ptxas if the output or a report needs it.
Status Compilation::assemble() {
  bool cubin = options.emit == Emit::Cubin;
  if (!cubin && (options.emit != Emit::PTX || !reportsUsage()))
    return Status::Ok;
  timer.start("ptxas");
  void *address = reinterpret_cast<void *>(&environmentError);
  std::string executable = sys::fs::getMainExecutable(program, address);
  std::string toolDir = sys::path::parent_path(executable).str();
  Expected<std::string> ptxas = mlir::ts::findPtxas({options.ptxas, toolDir});
  if (!ptxas) {
    std::string message = toString(ptxas.takeError());
    if (cubin || !options.ptxas.empty())
      return environmentError(message);
    WithColor::note(errs(), "ts-compile")
        << "no registers and spills in the report: " << message << "\n";
    return Status::Ok;
  }
  Expected<mlir::ts::PtxasResult> result = mlir::ts::runPtxas(*ptxas, text, chip->name);
  if (!result)
    return environmentError(toString(result.takeError()));
  reportPtxas(*result);
  if (!result->assembled) {
    if (log.status() == Status::Ok) // it failed without a word that we understand
      gpuModule.emitError() << checkPrefix(CheckId::TS403) << "ptxas failed without a message";
    return Status::Error;
  }
  usage = std::move(*result);
  if (cubin)
    text = usage->cubin;
  return Status::Ok;
}

Status Compilation::write() {
  timer.start("write");
  if (Error error = output->commit(text))
    return environmentError(toString(std::move(error)));
  bool withManifest = manifestFile && !manifest.empty();
  if (withManifest)
    if (Error error = manifestFile->commit(manifest))
      return environmentError(toString(std::move(error)));
  if (options.output == "-" || quiet())
    return Status::Ok;
  outs() << "wrote " << options.output << " (" << chip->name << ", ";
  if (options.emit == Emit::Cubin)
    outs() << text.size() << " bytes)";
  else
    outs() << StringRef(text).count('\n') << " lines)";
  if (withManifest)
    outs() << ", " << manifestPath;
  outs() << "\n";
  return Status::Ok;
}

Status Compilation::phases() {
  timer.start("parse");
  Status status = openFiles();
  using Phase = Status (Compilation::*)();
  for (Phase phase : {&Compilation::parse, &Compilation::chooseChip, &Compilation::verify})
    if (status == Status::Ok)
      status = (this->*phase)();
  if (!options.verifyOnly)
    for (Phase phase : {&Compilation::lower, &Compilation::translate, &Compilation::assemble,
                        &Compilation::write})
      if (status == Status::Ok)
        status = (this->*phase)();
  // Bounded or unknown: written, but said so.
  return status == Status::Ok ? verdict : status;
}

/// Writes the report, also that of a compilation that failed.
Status Compilation::report(Status status) {
  if (options.report == ReportForm::None)
    return Status::Ok;
  timer.start("report");
  StringRef chipName = chip ? StringRef(chip->name) : StringRef(options.arch);
  std::string text;
  if (usage) {
    if (options.report == ReportForm::Text)
      printUsage(reportStream(), *usage, chipName);
    addUsage(kernels, *usage);
  }
  text = renderReport(options, status, chipName, std::move(kernels), log);
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
