// The schedule lowering needs the places that ts-allocate assigns, and says so.
// RUN: not ts-opt --pass-pipeline='builtin.module(gpu.module(ts-lower-schedule))' %s 2>&1 | FileCheck %s
// CHECK: error: memory is not placed yet; run ts-allocate before ts-lower-schedule
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @k() warps(1) {
    %r = ts.resource "r" smem(x: memref<64xf32>)
    ts.task "t" warps(0, 1) writes(%r) {
    }
  }
}
