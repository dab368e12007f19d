// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header. One member function per phase, in the order in which they run.
#include "ts/Driver/Compiler.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "ts/Conversion/Pipelines.h"
#include "ts/Dialect/TS/Transforms/Passes.h"
#include "ts/InitAll.h"
#include "ts/Support/Checks.h"
#include "ts/Target/PTX/DeviceModule.h"
#include "ts/Target/PTX/Manifest.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::driver;
using llvm::Expected;
using llvm::StringRef;
using mlir::gpu::GPUModuleOp;
using ::ts::CheckId;
using ::ts::checkPrefix;

namespace {
/// What a pass says that changed nothing. Without it the whole module is verified behind each pass
/// that is skipped.
struct Untouched : Pass {
  static void mark(const Pass &pass) {
    (const_cast<Pass &>(pass).*&Untouched::markAllAnalysesPreserved)();
  }
};
} // namespace

SkipPasses::SkipPasses(MLIRContext &context, const std::atomic<bool> *cancelled)
    : context(cancelled ? &context : nullptr) {
  if (cancelled)
    context.registerActionHandler(
        [cancelled](llvm::function_ref<void()> run, const tracing::Action &action) {
          auto pass = dyn_cast<PassExecutionAction>(&action);
          if (*cancelled && pass)
            Untouched::mark(pass->getPass());
          else
            run();
        });
}

SkipPasses::~SkipPasses() {
  if (context)
    context->registerActionHandler(nullptr);
}

static constexpr llvm::StringLiteral chipAttrName = "ts.chip";

DialectRegistry driver::compilerDialects() {
  DialectRegistry registry;
  registerAllTSDialects(registry);
  registerPTXTranslations(registry);
  return registry;
}

namespace {
/// Sorts the passes into phases by their name.
struct PhaseInstrumentation : PassInstrumentation {
  explicit PhaseInstrumentation(PhaseTimer &timer) : timer(timer) {}
  void runBeforePass(Pass *pass, Operation *) override {
    StringRef name = pass->getArgument();
    if (name.empty()) // an adaptor that runs nested passes
      return;
    bool verifies = name.starts_with("ts-verify") || name == "ts-prove";
    timer.start(verifies ? "verify" : name.starts_with("ts-") ? "lower" : "upstream");
  }
  PhaseTimer &timer;
};
} // namespace

Compiler::Compiler(ModuleOp module, CompileOptions options, DiagnosticLog &log, PhaseTimer &timer)
    : module(module), options(std::move(options)), log(log), timer(timer) {}

Status Compiler::findModule() {
  auto modules = module.getOps<GPUModuleOp>();
  if (modules.empty()) {
    module.emitError() << "there is no gpu.module: put the kernels into one";
    return Status::Error;
  }
  gpuModule = *modules.begin();
  if (std::next(modules.begin()) != modules.end()) {
    InFlightDiagnostic diagnostic = (*std::next(modules.begin())).emitError()
                                    << "a second gpu.module: one output holds one, so put all "
                                       "kernels into one or compile them separately";
    diagnostic.attachNote(gpuModule.getLoc()) << "the first is here";
    return Status::Error;
  }
  return Status::Ok;
}

/// --arch replaces every ts.chip in the module, so that no later phase can see another one.
Status Compiler::chooseChip() {
  Operation *holder = nullptr;
  WalkResult walked = module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Attribute attr = op->getAttr(chipAttrName);
    if (!attr)
      return WalkResult::advance();
    auto name = dyn_cast<StringAttr>(attr);
    if (!name) {
      op->emitError() << checkPrefix(CheckId::TS406) << "'" << chipAttrName
                      << "' must be a string such as \"sm_90a\"";
      return WalkResult::interrupt();
    }
    if (!options.arch.empty()) {
      if (name.getValue() != options.arch)
        op->emitRemark() << chipAttrName << " = \"" << name.getValue()
                         << "\" is replaced by --arch=" << options.arch;
      op->setAttr(chipAttrName, StringAttr::get(module.getContext(), options.arch));
    } else if (holder && holder->getAttr(chipAttrName) != attr) {
      InFlightDiagnostic diagnostic = op->emitError()
                                      << checkPrefix(CheckId::TS406) << chipAttrName << " = \""
                                      << name.getValue()
                                      << "\" differs from the other; one output has one chip";
      diagnostic.attachNote(holder->getLoc()) << "the other is here";
      return WalkResult::interrupt();
    }
    if (!holder)
      holder = op;
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return Status::Error;
  std::string name = options.arch;
  if (name.empty() && holder)
    name = cast<StringAttr>(holder->getAttr(chipAttrName)).getValue().str();
  if (name.empty()) {
    gpuModule.emitError() << checkPrefix(CheckId::TS405)
                          << "no target: pass --arch=sm_90a, or put ts.chip = \"sm_90a\" on the "
                             "gpu.module (known: "
                          << knownChipNames() << ")";
    return Status::Error;
  }
  target = findChip(name);
  if (!target) {
    holder->emitError() << checkPrefix(CheckId::TS406) << "unknown " << chipAttrName << " \""
                        << name << "\"; known are " << knownChipNames();
    return Status::Error;
  }
  gpuModule->setAttr(chipAttrName, StringAttr::get(module.getContext(), name));
  return Status::Ok;
}

Status Compiler::runPasses(llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.addInstrumentation(std::make_unique<PhaseInstrumentation>(timer));
  build(passes);
  SkipPasses skip(*module.getContext(), options.cancelled);
  LogicalResult result = passes.run(module);
  return failed(result) || isCancelled() ? failedStatus() : Status::Ok;
}

/// All checks, and what the reports need while the kernels are still in ts.
Status Compiler::verify() {
  TSLowerOptions checks;
  checks.verify = options.verify == Verify::Error  ? "error"
                  : options.verify == Verify::Warn ? "warn"
                                                   : "off";
  checks.prove = false; // judgeKernels does, and keeps the proofs
  Status status = runPasses([&](OpPassManager &passes) { buildTSVerifyPipeline(passes, checks); });
  timer.start("verify");
  inputs = collectKernels(module);
  // On a schedule that is not well-formed there is nothing to prove.
  if (options.verify == Verify::Off || (status != Status::Ok && status != Status::Refuted))
    return status;
  judgeKernels(module, inputs, log, options.verify == Verify::Error, options.cancelled);
  if (isCancelled())
    return failedStatus();
  if (status == Status::Ok && options.verify == Verify::Error)
    proof = statusOf(inputs);
  return proof == Status::Refuted ? proof : status;
}

Status Compiler::lower() {
  TSLowerOptions lowering;
  lowering.verify = "off"; // done
  return runPasses([&](OpPassManager &passes) {
    // What was declared is what was verified.
    if (options.fillBodies)
      passes.nest<GPUModuleOp>().addPass(createTSFillBodies());
    if (options.emit == Emit::Lowered)
      buildTSLowerPipeline(passes, lowering);
    else
      buildTSToLLVMPipeline(passes, lowering);
  });
}

Status Compiler::translate() {
  if (options.emit == Emit::Lowered || options.emit == Emit::MLIR) {
    llvm::raw_string_ostream stream(output);
    module.print(stream);
    stream << "\n";
    return Status::Ok;
  }
  // The passes may have replaced the op that was parsed.
  gpuModule = *module.getOps<GPUModuleOp>().begin();
  FailureOr<std::string> collected = collectManifest(gpuModule);
  if (failed(collected))
    return Status::Error;
  launch = std::move(*collected);

  timer.start("translate");
  FailureOr<DeviceModule> device =
      DeviceModule::translate(gpuModule, *target, {options.lineInfo, options.cancelled});
  if (failed(device) || isCancelled())
    return failedStatus();
  timer.start("optimise");
  // The backend would take long for what is not optimised.
  if (failed(device->optimize()) || isCancelled())
    return failedStatus();
  if (options.emit == Emit::LLVM) {
    output = device->llvmIR();
    return Status::Ok;
  }
  timer.start("codegen");
  FailureOr<std::string> ptx = device->emitPTX();
  if (failed(ptx))
    return failedStatus();
  output = std::move(*ptx);
  return Status::Ok;
}

void Compiler::reportPtxas(const PtxasResult &result) {
  for (const PtxasMessage &message : result.messages) {
    Location location = gpuModule.getLoc();
    if (message.line)
      location =
          FileLineColLoc::get(module.getContext(), message.file, message.line, message.column);
    bool isError = message.severity == PtxasMessage::Severity::Error;
    InFlightDiagnostic diagnostic =
        isError ? emitError(location) << checkPrefix(CheckId::TS403) : emitWarning(location);
    diagnostic << "ptxas" << (message.id.empty() ? "" : " ") << message.id << ": " << message.text;
    if (message.ptxLine)
      diagnostic << " (line " << message.ptxLine << " of the PTX)";
  }
  for (const PtxasKernel &kernel : result.kernels)
    if (kernel.spillStoreBytes || kernel.spillLoadBytes)
      emitWarning(gpuModule.getLoc())
          << "ptxas spills registers of '" << kernel.name << "': " << kernel.spillStoreBytes
          << " bytes stored, " << kernel.spillLoadBytes << " bytes loaded";
}

Status Compiler::isMissing(std::string what) {
  missingText = std::move(what);
  return Status::Environment;
}

/// Runs ptxas if the output or a report needs it.
Status Compiler::assemble() {
  bool cubin = options.emit == Emit::Cubin;
  if (!cubin && (options.emit != Emit::PTX || !options.usage))
    return Status::Ok;
  timer.start("ptxas");
  Expected<std::string> ptxas = findPtxas({options.ptxas, options.toolDir});
  if (!ptxas) {
    std::string message = toString(ptxas.takeError());
    if (cubin || !options.ptxas.empty())
      return isMissing(message);
    noteText = "no registers and spills in the report: " + message;
    return Status::Ok;
  }
  Expected<PtxasResult> result = runPtxas(*ptxas, output, target->name, options.cancelled);
  if (!result)
    return isMissing(toString(result.takeError()));
  reportPtxas(*result);
  if (!result->assembled) {
    if (log.status() == Status::Ok) // it failed without a word that we understand
      gpuModule.emitError() << checkPrefix(CheckId::TS403) << "ptxas failed without a message";
    return Status::Error;
  }
  assembled = std::move(*result);
  if (cubin)
    output = assembled->cubin;
  return Status::Ok;
}

Status Compiler::check() {
  for (auto phase : {&Compiler::findModule, &Compiler::chooseChip, &Compiler::verify})
    if (Status status = (this->*phase)(); status != Status::Ok)
      return status;
  return Status::Ok;
}

Status Compiler::generate() {
  for (auto phase : {&Compiler::lower, &Compiler::translate, &Compiler::assemble})
    if (Status status = (this->*phase)(); status != Status::Ok || isCancelled())
      return isCancelled() ? failedStatus() : status;
  return Status::Ok;
}
