// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What another compiler does: registers the dialects, builds a kernel with C++ builders, and runs
// the pipeline down to the llvm dialect.
#include "ts/Conversion/Pipelines.h"
#include "ts/Dialect/TS/IR/TS.h"
#include "ts/InitAll.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main() {
  DialectRegistry registry;
  mlir::ts::registerAllTSDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(b, loc);
  b.setInsertionPointToStart(module->getBody());
  auto gpuModule = gpu::GPUModuleOp::create(b, loc, "m");
  gpuModule->setAttr(mlir::ts::kChipAttr, b.getStringAttr("sm_90a"));
  b.setInsertionPointToStart(gpuModule.getBody());
  auto kernel = mlir::ts::KernelOp::create(
      b, loc, "nothing", b.getStrArrayAttr({}), b.getStrArrayAttr({}), ArrayRef<int64_t>{}, 1,
      ArrayRef<int64_t>{1, 1, 1}, b.getStrArrayAttr({}), false, IntegerAttr(), false);
  b.createBlock(&kernel.getBody());
  mlir::ts::YieldOp::create(b, loc, ValueRange());
  PassManager pm(&context);
  mlir::ts::buildTSToLLVMPipeline(pm);
  if (failed(verify(*module)) || failed(pm.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
