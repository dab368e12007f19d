// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "ts/Target/PTX/DeviceModule.h"
#include "IRFixes.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "ts/Support/Checks.h"
#include "ts/Target/PTX/CrashGuard.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::ts;
using ::ts::CheckId;
using ::ts::checkPrefix;

void mlir::ts::registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
}

namespace {
/// Ends the passes once the compilation is cancelled: the passes of the backend ask it as LLVM's
/// context has it, those of the optimiser by their own way.
struct CancelGate : llvm::OptPassGate {
  explicit CancelGate(const std::atomic<bool> *cancelled) : cancelled(cancelled) {}
  bool isEnabled() const override { return cancelled && *cancelled; }
  bool shouldRunPass(StringRef, StringRef) const override { return !isEnabled(); }
  const std::atomic<bool> *cancelled;
};
} // namespace

struct DeviceModule::Impl {
  Location loc;
  const Chip &chip;
  CancelGate gate;
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  llvm::StringMap<CallSite> intrinsicCalls;
  std::string llvmErrors; ///< what LLVM reported through its diagnostic handler

  Impl(Location loc, const Chip &chip, const std::atomic<bool> *cancelled)
      : loc(loc), chip(chip), gate(cancelled) {
    context->setOptPassGate(gate);
  }

  /// After a crash nothing of LLVM's is in a state that can be destroyed.
  void abandon() {
    (void)module.release();
    (void)machine.release();
    (void)context.release();
  }

  Location locationOf(const CallSite &site) const {
    if (site.file.empty() || !site.line)
      return loc;
    return FileLineColLoc::get(loc.getContext(), site.file, site.line, site.column);
  }

  bool createTargetMachine();
  LogicalResult guarded(StringRef step, llvm::function_ref<void()> fn);
  void reportFatal(StringRef step, StringRef message);
};

DeviceModule::DeviceModule(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
DeviceModule::DeviceModule(DeviceModule &&) noexcept = default;
DeviceModule &DeviceModule::operator=(DeviceModule &&) noexcept = default;
DeviceModule::~DeviceModule() = default;

bool DeviceModule::Impl::createTargetMachine() {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target)
    machine.reset(target->createTargetMachine(triple, chip.name, chip.ptxFeature, {}, std::nullopt,
                                              std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    emitError(loc) << checkPrefix(CheckId::TS402) << "this LLVM has no NVPTX backend: " << error;
  return machine != nullptr;
}

/// Takes the ", file:line:column" off the end of a message, where LLVM prints the debug location of
/// what it could not select.
static CallSite takeTrailingLocation(StringRef &message) {
  CallSite site;
  auto [head, position] = message.rsplit(", ");
  auto [fileAndLine, column] = position.rsplit(':');
  auto [file, line] = fileAndLine.rsplit(':');
  if (column.getAsInteger(10, site.column) || line.getAsInteger(10, site.line))
    return {};
  site.file = file.str();
  message = head;
  return site;
}

/// Says what the backend could not do, at the op that asked for it where that is known.
void DeviceModule::Impl::reportFatal(StringRef step, StringRef message) {
  auto [firstLine, rest] = message.split('\n');
  auto [selection, intrinsic] = firstLine.split("intrinsic %");
  if (!selection.contains("Cannot select") || intrinsic.empty()) {
    CallSite site = takeTrailingLocation(firstLine);
    emitError(locationOf(site)) << checkPrefix(CheckId::TS402) << "LLVM gave up while it was "
                                << step << " for " << chip.name << ": " << firstLine.trim()
                                << (rest.empty() ? "" : "; ") << rest.split('\n').first.trim();
    return;
  }
  intrinsic = intrinsic.take_while([](char c) { return llvm::isAlnum(c) || c == '.' || c == '_'; });
  // LLVM prints the name without the suffix for overloaded types.
  const CallSite *site = nullptr;
  for (const auto &entry : intrinsicCalls)
    if (entry.first() == intrinsic || (!site && entry.first().starts_with(intrinsic)))
      site = &entry.second;
  InFlightDiagnostic diagnostic = emitError(site ? locationOf(*site) : loc);
  diagnostic << checkPrefix(CheckId::TS402) << chip.name << " has no instruction for '" << intrinsic
             << "'";
  if (site)
    diagnostic << " in function '" << site->function << "'";
  diagnostic << "; use another form of the operation or another --arch";
}

LogicalResult DeviceModule::Impl::guarded(StringRef step, llvm::function_ref<void()> fn) {
  if (std::optional<std::string> message = runGuarded(fn)) {
    reportFatal(step, *message);
    abandon();
    return failure();
  }
  if (llvmErrors.empty())
    return success();
  emitError(loc) << checkPrefix(CheckId::TS402) << "LLVM reported while it was " << step << " for "
                 << chip.name << ": " << StringRef(llvmErrors).trim();
  return failure();
}

namespace {
/// Collects errors; LLVM's own handler would print them and end the process.
struct CollectErrors : llvm::DiagnosticHandler {
  explicit CollectErrors(std::string &out) : out(out) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(out);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      if (!out.empty())
        stream << "; ";
      info.print(printer);
    }
    return true;
  }
  std::string &out;
};
} // namespace

/// A copy of the module, made ready for the translation, inside a builtin module of its own.
static FailureOr<OwningOpRef<ModuleOp>> prepareCopy(gpu::GPUModuleOp module,
                                                    const llvm::DataLayout &layout) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  auto clone = cast<gpu::GPUModuleOp>(module->clone());
  copy->push_back(clone);
  // With LLVM's own layout, pointers to shared and tensor memory have their true size from the
  // start.
  clone->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                 StringAttr::get(module.getContext(), layout.getStringRepresentation()));
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  // NVVM ops that are spelled as inline assembly have no translation of their own.
  passes.nest<gpu::GPUModuleOp>().addPass(createConvertNVVMToLLVMPass());
  // Line tables without DWARF sections: those would switch ptxas to debug code.
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(
      {/*emissionKind=*/LLVM::DIEmissionKind::DebugDirectivesOnly}));
  if (failed(passes.run(*copy)))
    return failure();
  return copy;
}

FailureOr<DeviceModule> DeviceModule::translate(gpu::GPUModuleOp module, const Chip &chip,
                                                const PTXOptions &options) {
  auto impl = std::make_unique<Impl>(module.getLoc(), chip, options.cancelled);
  if (!impl->createTargetMachine())
    return failure();
  impl->context->setDiagnosticHandler(std::make_unique<CollectErrors>(impl->llvmErrors));
  const llvm::DataLayout layout = impl->machine->createDataLayout();
  FailureOr<OwningOpRef<ModuleOp>> copy = prepareCopy(module, layout);
  if (failed(copy))
    return failure();
  auto clone = *(*copy)->getOps<gpu::GPUModuleOp>().begin();

  LogicalResult translated = impl->guarded("translating the module to LLVM IR", [&] {
    impl->module = translateModuleToLLVMIR(clone, *impl->context, module.getName(),
                                           /*disableVerification=*/true);
  });
  if (failed(translated))
    return failure();
  if (!impl->module)
    return failure(); // reported by the translation
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*impl->module, &stream)) {
    emitError(impl->loc) << checkPrefix(CheckId::TS402)
                         << "the LLVM IR is not valid: " << StringRef(broken).trim();
    return failure();
  }

  impl->module->setTargetTriple(impl->machine->getTargetTriple());
  impl->module->setDataLayout(layout);
  fixDeviceIR(*impl->module);
  bool good = checkDeviceIR(*impl->module, chip, [&](const CallSite &site, const Twine &message) {
    emitError(impl->locationOf(site)) << message.str();
  });
  if (!good)
    return failure();
  // Collected while locations are there, so that the backend's complaints can be placed even if
  // the PTX is to carry none.
  impl->intrinsicCalls = collectIntrinsicCalls(*impl->module);
  if (!options.lineInfo)
    llvm::StripDebugInfo(*impl->module);
  return DeviceModule(std::move(impl));
}

LogicalResult DeviceModule::optimize() {
  return impl->guarded("optimising the LLVM IR", [&] {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager sccs;
    llvm::ModuleAnalysisManager modules;
    llvm::PassInstrumentationCallbacks callbacks;
    callbacks.registerShouldRunOptionalPassCallback(
        [&](StringRef, const llvm::Any &) { return !impl->gate.isEnabled(); });
    llvm::PassBuilder builder(impl->machine.get(), {}, std::nullopt, &callbacks);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*impl->module, modules);
  });
}

FailureOr<std::string> DeviceModule::emitPTX() {
  llvm::SmallString<0> text;
  bool supported = true;
  LogicalResult result = impl->guarded("selecting instructions", [&] {
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    // true means "cannot emit this kind of file".
    supported = !impl->machine->addPassesToEmitFile(passes, stream, nullptr,
                                                    llvm::CodeGenFileType::AssemblyFile);
    if (supported)
      passes.run(*impl->module);
  });
  if (failed(result))
    return failure();
  if (!supported) {
    emitError(impl->loc) << checkPrefix(CheckId::TS402) << "this LLVM cannot emit PTX text";
    return failure();
  }
  // An empty section that LLVM appends with line information; nothing reads it.
  StringRef ptx = text;
  static constexpr StringLiteral emptySection = "\t.section\t.debug_macinfo\t{\t}\n";
  auto [head, tail] = ptx.split(emptySection);
  return (head + tail).str();
}

std::string DeviceModule::llvmIR() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  impl->module->print(stream, nullptr);
  return text;
}
