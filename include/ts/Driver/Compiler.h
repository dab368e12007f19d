// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compilation of one module in memory: checks, proof, lowering, PTX, cubin, manifest. What
// ts-compile does between reading and writing, and what the Python module does. Not for files.
#ifndef TS_DRIVER_COMPILER_H
#define TS_DRIVER_COMPILER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "ts/Driver/Report.h"
#include "ts/Target/PTX/Chip.h"
#include <atomic>
#include <optional>

namespace mlir::ts::driver {

/// What is made, in the order of the compilation.
enum class Emit { Lowered, MLIR, LLVM, PTX, Cubin };
enum class Verify { Error, Warn, Off };

struct CompileOptions {
  Emit emit = Emit::PTX;
  std::string arch;    ///< empty: the module's ts.chip
  std::string ptxas;   ///< empty: searched, first in toolDir
  std::string toolDir; ///< where the running program lies
  Verify verify = Verify::Error;
  bool fillBodies = false; ///< give declared work bodies before lowering
  bool lineInfo = true;
  bool usage = false; ///< registers and spills are wanted, if there is a ptxas
  /// Set by another thread, and never cleared: check() and generate() end soon, with any status.
  /// The proof, passes that have not begun and ptxas are left; a pass that runs comes to its end.
  const std::atomic<bool> *cancelled = nullptr;
};

/// `ts` and every dialect and translation that a compilation needs.
DialectRegistry compilerDialects();

/// While it lives, passes of the context that begin after `cancelled` was set are skipped. Null:
/// none.
class SkipPasses {
public:
  SkipPasses(MLIRContext &context, const std::atomic<bool> *cancelled);
  ~SkipPasses();
  SkipPasses(const SkipPasses &) = delete;
  SkipPasses &operator=(const SkipPasses &) = delete;

private:
  MLIRContext *context;
};

class Compiler {
public:
  /// The module is changed in place. Diagnostics go to its context, which `log` watches.
  Compiler(ModuleOp module, CompileOptions options, DiagnosticLog &log, PhaseTimer &timer);

  /// Finds the one gpu.module and its chip, runs all checks and the prover. Refuted ends a
  /// compilation; a proof up to a bound does not, see verdict().
  Status check();
  /// Lowers and makes what options.emit asks for; after check().
  Status generate();

  /// What the prover's verdicts ask for, Ok without verification.
  Status verdict() const { return proof; }
  /// What is missing, when a member returned Status::Environment.
  const std::string &missing() const { return missingText; }
  /// Why usage that was wanted is not there.
  const std::string &note() const { return noteText; }

  /// The chip, once known.
  const Chip *chip() const { return target; }
  std::string &text() { return output; }
  const std::string &manifest() const { return launch; }
  const std::optional<PtxasResult> &usage() const { return assembled; }
  std::vector<::ts::reports::KernelInput> &kernels() { return inputs; }

private:
  Status findModule();
  Status chooseChip();
  Status verify();
  Status lower();
  Status translate();
  Status assemble();
  Status runPasses(llvm::function_ref<void(OpPassManager &)> build);
  Status failedStatus() const { return log.status() == Status::Ok ? Status::Error : log.status(); }
  Status isMissing(std::string what);
  bool isCancelled() const { return options.cancelled && *options.cancelled; }
  void reportPtxas(const PtxasResult &result);

  ModuleOp module;
  CompileOptions options;
  DiagnosticLog &log;
  PhaseTimer &timer;
  gpu::GPUModuleOp gpuModule;
  const Chip *target = nullptr;
  Status proof = Status::Ok;
  std::string missingText, noteText, output, launch;
  std::optional<PtxasResult> assembled;
  std::vector<::ts::reports::KernelInput> inputs;
};

} // namespace mlir::ts::driver

#endif // TS_DRIVER_COMPILER_H
