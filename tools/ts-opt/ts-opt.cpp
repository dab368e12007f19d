// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mlir-opt with the `ts` dialect, our passes, and the dialects and passes the pipelines need.
#include "ts/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/InitAllPasses.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::ts::registerAllTSDialects(registry);
  mlir::registerAllPasses();
  mlir::ts::registerTSPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "MLIR-TS optimizer driver\n", registry));
}
