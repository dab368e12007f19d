// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every pass of the project: verification, inference, allocation and lowering.
#ifndef TS_PASSES_TD
#define TS_PASSES_TD
include "mlir/Pass/PassBase.td"

def TSLowerSchedule : Pass<"ts-lower-schedule", "::mlir::gpu::GPUModuleOp"> {
  let summary = "ts kernels to gpu.func: warp dispatch, barriers, pipeline state, work inlined";
  let description = [{
    Every protocol step is emitted from the Protocol component's action table. Work primitives
    (`ts.tma_load`, `ts.umma`, `ts.wgmma`, ...) stay; `ts-lower-work` turns them into nvvm.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def TSLowerWork : Pass<"ts-lower-work", "::mlir::gpu::GPUModuleOp"> {
  let summary = "work primitives to nvvm and llvm ops, stage views to plain memrefs";
  let description = [{
    Runs after `ts-lower-schedule`. Addresses are followed to the start of dynamic shared memory,
    accesses to swizzled views get the XOR of their swizzle, register tiles become structs, and the
    types of this dialect disappear, so that only upstream passes follow. For instance

    ```
    %f = ts.wgmma_wait 0, %acc : !ts.wgmma<64x8xf32> -> !ts.fragment<64x8xf32>
    ```

    becomes an assembly call that carries the four registers of the accumulator through the wait:

    ```
    %r = llvm.inline_asm ... "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}" ...
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def TSInferPipelines : Pass<"ts-infer-pipelines", "::mlir::gpu::GPUModuleOp"> {
  let summary = "fill in arrival counts, transaction bytes, padding warps and register groups";
  let description = [{
    What the program leaves out of its pipelines is taken from the protocol component and written
    into the `#ts.pipeline`; the kernel gets `ts.launch_warps` and, where a task asks for registers,
    `ts.registers`. A remark says what was filled in and how it comes about.
  }];
  let options = [Option<"remarks", "remarks", "bool", "true", "say what was filled in">];
}

def TSProve : Pass<"ts-prove", "::mlir::gpu::GPUModuleOp"> {
  let summary = "prove every kernel free of deadlock, race and overrun, or refute it with a witness";
  let description = [{
    Layer 3 of the verification: all interleavings, all completion orders of the engines, all trip
    counts from the declared minimum. A refutation is an error (TS301 to TS308) with the steps that
    lead there; a verdict that is bounded or unknown is a warning that says why.
  }];
  let options = [Option<"severity", "severity", "std::string", "\"error\"",
                        "`error`, or `warn` for findings that do not stop the pipeline">,
                 Option<"summary", "summary", "bool", "false",
                        "print the verdict of each kernel on standard output">,
                 Option<"timing", "timing", "bool", "true", "print the time with the summary">,
                 Option<"maxStates", "max-states", "int64_t", "20000",
                        "normalised states before the search gives up">];
  let statistics = [Statistic<"states", "states", "normalised states visited">,
                    Statistic<"steps", "steps", "instructions of the model executed">];
}

def TSAllocate : Pass<"ts-allocate", "::mlir::gpu::GPUModuleOp"> {
  let summary = "place allocations, barriers and slots in shared and tensor memory";
  let description = [{
    Records offsets, strides, barrier addresses, named-barrier ids and the kernel's sizes as `ts.*`
    attributes (ts/Dialect/TS/Transforms/Allocation.h). Running it again replaces what it recorded.
  }];
  let options = [Option<"printMap", "print-map", "bool", "false",
                        "report the memory map of each kernel as a remark">];
}

def TSLowerVectors : Pass<"ts-lower-vectors", "::mlir::gpu::GPUModuleOp"> {
  let summary = "vector operations without a counterpart in LLVM IR become ones that have one";
  let description = [{
    Slices, shape casts, transposes, reductions and transfers of several dimensions, masks, steps.
    What a body may hold of the vector dialect is what that dialect's own lowering to LLVM takes;
    convert-gpu-to-nvvm brings the last step of it only.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

def TSFinalizeKernels : Pass<"ts-finalize-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "what upstream's gpu-to-nvvm conversion cannot carry: grid constants, alignment";
  let description = [{
    Marks tensor-map parameters `byval` grid constants (gpu.func refuses the attribute, and without
    it the descriptor is copied to local memory), and makes the dynamic shared memory an external
    symbol aligned to 1024 bytes, which swizzled stages need.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def TSVerifyStructure : Pass<"ts-verify-structure", "::mlir::gpu::GPUModuleOp"> {
  let summary = "structure checks of each task and the dependency graph (TS101 to TS114)";
  let description = [{
    Bounds, roles, dependencies, coverage, brackets on every path, work queues, guards, conditions,
    names, values and the order of steps in one task. Changes nothing. `ts.waive = {TS105 = "reason"}` on an op waives a check there.
  }];
  let options = [Option<"severity", "severity", "std::string", "\"error\"",
                        "what a finding is: error or warn">];
}

def TSVerifyProtocol : Pass<"ts-verify-protocol", "::mlir::gpu::GPUModuleOp"> {
  let summary = "pipelines, warps, registers, capacity and chip of a kernel (TS215 to TS228)";
  let description = [{
    Compares what a program declares with the protocol component and with what its bodies do: counts,
    bytes, signalling, interleaving, groups, warp ranges, register budgets, memory, features of the
    chip. Changes nothing.
  }];
  let options = [Option<"severity", "severity", "std::string", "\"error\"",
                        "what a finding is: error or warn">];
}

def TSFillBodies : Pass<"ts-fill-bodies", "::mlir::gpu::GPUModuleOp"> {
  let summary = "give declared work bodies that perform its accesses and check what arrives";
  let description = [{
    A schedule whose work is only declared is verified but cannot run. This pass gives every such
    call a body that performs its declared accesses by its engine. Producers write a word that
    names the slot (stage and generation), consumers that read by threads compare every word with
    the one of their slot and note a difference in the kernel's last argument, `fill_report`.
    The tables `fill_<bytes>` that copies read hold `row + 1` in every byte of row `row`.

    Work that no body can be made for is an error (TS404) that says why; what is not performed as
    declared, or not compared, is a remark.
  }];
  let options = [Option<"remarks", "remarks", "bool", "true",
                        "say what is not performed as declared, or not compared">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def TestPrintSchedule : Pass<"test-print-schedule", "::mlir::gpu::GPUModuleOp"> {
  let summary = "print the schedule model of each kernel (for tests)";
}

#endif
