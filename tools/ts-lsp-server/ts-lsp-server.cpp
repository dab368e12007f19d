// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Language server for .mlir files with `ts`: diagnostics, hover, definitions, completion in an
// editor. Everything but the list of dialects is upstream's.
#include "ts/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LogicalResult.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::ts::registerAllTSDialects(registry);
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
