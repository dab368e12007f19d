// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One gpu.module on its way from the LLVM dialect to PTX text, in three steps that the caller can
// time and stop after: translate, optimize, emitPTX. Nothing here can end the process: what the
// backend cannot select becomes a diagnostic at the op's location.
// Not for: lowering (the module holds only LLVM-dialect functions) and not for ptxas (Ptxas.h).
#ifndef TS_TARGET_PTX_DEVICEMODULE_H
#define TS_TARGET_PTX_DEVICEMODULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "ts/Target/PTX/Chip.h"
#include <atomic>
#include <memory>

namespace mlir::ts {

/// Registers the translations to LLVM IR that DeviceModule uses.
void registerPTXTranslations(DialectRegistry &registry);

struct PTXOptions {
  /// `.file` / `.loc` directives from the MLIR locations.
  bool lineInfo = true;
  /// Set by another thread, and never cleared: optimize() and emitPTX() skip the passes that they
  /// can do without. Nobody wants what they give then.
  const std::atomic<bool> *cancelled = nullptr;
};

class DeviceModule {
public:
  /// Translates the module's functions to LLVM IR and applies the fixes of IRFixes.h. The module
  /// itself is left alone. Reports and fails on ops that are no LLVM dialect, instructions that the
  /// chip lacks and calls of functions that nobody defines.
  static FailureOr<DeviceModule> translate(gpu::GPUModuleOp module, const Chip &chip,
                                           const PTXOptions &options = {});

  /// LLVM's O3 pipeline for the chip.
  LogicalResult optimize();

  /// Runs the NVPTX backend. The module is consumed: no other call may follow.
  FailureOr<std::string> emitPTX();

  /// The LLVM IR as text.
  std::string llvmIR() const;

  DeviceModule(DeviceModule &&) noexcept;
  DeviceModule &operator=(DeviceModule &&) noexcept;
  ~DeviceModule();

private:
  struct Impl;
  explicit DeviceModule(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace mlir::ts

#endif // TS_TARGET_PTX_DEVICEMODULE_H
