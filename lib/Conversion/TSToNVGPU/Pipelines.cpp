// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The default pipelines. Each pass stands with the reason for its place; what a pass does is in
// Passes.td.
#include "ts/Conversion/Pipelines.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::ts;

void mlir::ts::buildTSVerifyPipeline(OpPassManager &pm, const TSLowerOptions &options) {
  if (options.verify == "off")
    return;
  OpPassManager &gpuPm = pm.nest<gpu::GPUModuleOp>();
  // Structure first: the protocol checks speak of schedules whose brackets are in order.
  gpuPm.addPass(createTSVerifyStructure({options.verify}));
  gpuPm.addPass(createTSVerifyProtocol({options.verify}));
  // Last: the proof relies on counts and brackets being right.
  if (!options.prove)
    return;
  TSProveOptions prove;
  prove.severity = options.verify;
  gpuPm.addPass(createTSProve(prove));
}

void mlir::ts::buildTSLowerPipeline(OpPassManager &pm, const TSLowerOptions &options) {
  buildTSVerifyPipeline(pm, options);
  OpPassManager &gpuPm = pm.nest<gpu::GPUModuleOp>();
  // Counts first: they say how many barriers there are and what to initialise them with.
  gpuPm.addPass(createTSInferPipelines({/*remarks=*/false}));
  gpuPm.addPass(createTSAllocate());
  // Schedules first: they decide which thread executes which work primitive.
  gpuPm.addPass(createTSLowerSchedule());
  gpuPm.addPass(createCanonicalizerPass());
  gpuPm.addPass(createCSEPass());
  gpuPm.addPass(createTSLowerWork());
}

void mlir::ts::buildTSToLLVMPipeline(OpPassManager &pm, const TSLowerOptions &options) {
  buildTSLowerPipeline(pm, options);
  OpPassManager &gpuPm = pm.nest<gpu::GPUModuleOp>();
  // Subviews become offsets before memrefs become descriptors.
  gpuPm.addPass(memref::createExpandStridedMetadataPass());
  gpuPm.addPass(createLowerAffinePass());
  gpuPm.addPass(createCanonicalizerPass());
  gpuPm.addPass(createConvertVectorToSCFPass());
  gpuPm.addPass(createTSLowerVectors());
  gpuPm.addPass(createSCFToControlFlowPass());
  // Takes gpu, and through the registered interfaces arith, cf, index, math, memref and vector.
  ConvertGpuOpsToNVVMOpsOptions toNVVM;
  toNVVM.hasRedux = true; // from sm_80 on, so both of ours
  gpuPm.addPass(createConvertGpuOpsToNVVMOps(toNVVM));
  gpuPm.addPass(createReconcileUnrealizedCastsPass());
  gpuPm.addPass(createTSFinalizeKernels());
  gpuPm.addPass(createConvertNVVMToLLVMPass());
  gpuPm.addPass(createCanonicalizerPass());
  gpuPm.addPass(createCSEPass());
}

void mlir::ts::registerTSPipelines() {
  PassPipelineRegistration<TSLowerOptions>("ts-verify", "all checks; changes nothing",
                                           buildTSVerifyPipeline);
  PassPipelineRegistration<TSLowerOptions>(
      "ts-lower", "verify, infer counts, place memory, and lower ts to scf, gpu and nvvm",
      buildTSLowerPipeline);
  PassPipelineRegistration<TSLowerOptions>("ts-to-llvm", "ts-lower and on to the llvm dialect",
                                           buildTSToLLVMPipeline);
}
