// RUN: ts-compile %s -o %t.ptx --timing 2>&1 | FileCheck %s
// RUN: %python %ts_src/utils/bench/compile_time.py %ts_bin/ts-compile %s --runs=1 | FileCheck %s --check-prefix=BENCH
// CHECK: phase ms share
// CHECK: parse
// CHECK: translate
// CHECK: optimise
// CHECK: codegen
// CHECK: total
// BENCH: timing.mlir to ptx: {{[0-9.]+}} ms wall, median of 1 runs
// BENCH: codegen {{[0-9.]+}} ms {{[0-9]+}} %
gpu.module @m attributes {ts.chip = "sm_90a"} {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
