// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The default pipelines, built in one place for ts-opt, ts-compile, the plugin and embedders.
#ifndef TS_CONVERSION_PIPELINES_H
#define TS_CONVERSION_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::ts {

struct TSLowerOptions : public PassPipelineOptions<TSLowerOptions> {
  PassOptions::Option<std::string> verify{
      *this, "verify", llvm::cl::desc("what ts-verify does with its findings: error, warn or off"),
      llvm::cl::init("error")};
  PassOptions::Option<bool> prove{
      *this, "prove",
      llvm::cl::desc("end ts-verify with ts-prove; off for callers that prove by themselves"),
      llvm::cl::init(true)};
};

/// `ts-verify`: all checks; changes nothing.
void buildTSVerifyPipeline(OpPassManager &pm, const TSLowerOptions &options = {});
/// `ts-lower`: verify, infer counts, allocate, and convert to scf + gpu + nvvm.
void buildTSLowerPipeline(OpPassManager &pm, const TSLowerOptions &options = {});
/// `ts-to-llvm`: ts-lower and the upstream conversions down to the llvm dialect.
void buildTSToLLVMPipeline(OpPassManager &pm, const TSLowerOptions &options = {});
/// Registers the three under their names.
void registerTSPipelines();

} // namespace mlir::ts

#endif
