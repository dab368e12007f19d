// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect, passes and pipelines as a plugin of the stock mlir-opt of LLVM 22:
//   mlir-opt-22 --load-dialect-plugin=TSPlugin.so --load-pass-plugin=TSPlugin.so
//     --pass-pipeline='builtin.module(ts-verify)' in.mlir
// Not for tools of ours: they link the dialect, and loading it twice aborts.
#include "ts/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#define TS_EXPORT extern "C" __attribute__((visibility("default")))

TS_EXPORT mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "MLIR-TS", TS_VERSION,
          [](mlir::DialectRegistry *registry) { mlir::ts::registerAllTSDialects(*registry); }};
}

TS_EXPORT mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "MLIR-TS", TS_VERSION, [] { mlir::ts::registerTSPasses(); }};
}
