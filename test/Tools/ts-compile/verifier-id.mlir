// The id of a check is in the report also when the verifier of an op finds it, which puts the op's name in front.
//
// RUN: not ts-compile %s --verify-only --report=json 2>/dev/null | FileCheck %s
// CHECK: "diagnostics":
// CHECK: "id": "TS228"
// CHECK-NEXT: "message": "'ts.resource' op the innermost dimension of allocation 'x' is 256 bytes

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @k(%A: !ts.tensor_map<?x?xf16, box = 64x64>) warps(1) {
    %r = ts.resource "r" smem(x: memref<64x128xf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
  }
}
