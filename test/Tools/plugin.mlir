// REQUIRES: plugin
// RUN: mlir-opt-22 %s --load-dialect-plugin=%ts_plugin --load-pass-plugin=%ts_plugin --pass-pipeline='builtin.module(ts-verify,ts-lower)' | FileCheck %s
// RUN: mlir-opt-22 %s --load-dialect-plugin=%ts_plugin --load-pass-plugin=%ts_plugin --pass-pipeline='builtin.module(ts-to-llvm)' | FileCheck %s --check-prefix=LLVM
// RUN: mlir-opt-22 %examples/copy_tma.mlir --load-dialect-plugin=%ts_plugin --load-pass-plugin=%ts_plugin --pass-pipeline='builtin.module(ts-verify,ts-lower)' | FileCheck %s --check-prefix=EXAMPLE
// RUN: mlir-opt-22 %s --load-dialect-plugin=%ts_plugin --load-pass-plugin=%ts_plugin --pass-pipeline='builtin.module(gpu.module(ts-allocate))' | FileCheck %s --check-prefix=PASS
// RUN: mlir-opt-22 --load-dialect-plugin=%ts_plugin --show-dialects | FileCheck %s --check-prefix=DIALECT
// The stock mlir-opt, with ts loaded into it: dialect, passes and pipelines.

// DIALECT: ts
// EXAMPLE: gpu.func @copy_tma
// EXAMPLE-NOT: ts.task
// CHECK: gpu.func @k
// CHECK-NOT: ts.task
// LLVM: llvm.func @k
// LLVM: llvm.store
// PASS: ts.smem_bytes = 0
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @k(%D: memref<?xf32>) warps(1) {
    %out = ts.resource "out" gmem
    %one_value = ts.resource "one" gmem
    ts.depends %out on %one_value
    ts.task "fill" warps(0, 1) reads(%one_value) writes(%out) {
      ts.consume %one_value "read" {
      }
      ts.produce %out "fill" {
        %t = ts.info thread : index
        %one = arith.constant 1.0 : f32
        memref.store %one, %D[%t] : memref<?xf32>
      }
    }
  }
}
