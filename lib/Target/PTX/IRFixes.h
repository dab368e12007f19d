// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has to be put right in the LLVM IR between MLIR's translation and the optimiser, and the
// checks that are made there. Private to this library.
#ifndef TS_LIB_TARGET_PTX_IRFIXES_H
#define TS_LIB_TARGET_PTX_IRFIXES_H

#include "ts/Target/PTX/Chip.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Module.h"

namespace mlir::ts {

/// Where an intrinsic is called first: enough to report an error after the module is gone.
struct CallSite {
  std::string function, file;
  unsigned line = 0, column = 0;
};

/// Receives the errors of the checks below.
using ReportFn = llvm::function_ref<void(const CallSite &, const llvm::Twine &)>;

/// Marks inline assembly and the functions as convergent (MLIR's ops cannot say it, and the
/// optimiser would duplicate or sink barriers), raises dynamic shared memory to 1024 bytes (the
/// swizzle pattern of TMA repeats from there) and makes all but the kernels private to the module.
void fixDeviceIR(llvm::Module &module);

/// Reports instructions that the chip lacks and undefined functions and variables. Returns true if
/// there were none.
bool checkDeviceIR(const llvm::Module &module, const Chip &chip, ReportFn report);

/// First call site of each intrinsic, by name.
llvm::StringMap<CallSite> collectIntrinsicCalls(const llvm::Module &module);

} // namespace mlir::ts

#endif // TS_LIB_TARGET_PTX_IRFIXES_H
