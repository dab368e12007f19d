// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS228: operand layouts that depend on the chip. What no chip can do is refused by the ops.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-error @+1 {{[TS228] tensor map '%A' has the sub-byte element type 'f4E2M1FN', which TMA of sm_90a does not have; use one of sm_100a, sm_100f, sm_103a, sm_120a, or describe the array as bytes}}
  ts.kernel @fp4(%A: !ts.tensor_map<128x128xf4E2M1FN, box = 128x128>) warps(1) {
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_103a"} {
  ts.kernel @int8() warps(4) {
    %s = ts.resource "s" smem(a: memref<128x128xi8, #ts.smem<128>>, b: memref<128x128xi8, #ts.smem<128>>)
    %acc = ts.resource "acc" tmem(c: memref<128x128xi32>)
    ts.task "mma" warps(0, 1) reads(%s) writes(%acc) {
      %a, %b = ts.consume %s "operands" (%x, %y) -> memref<128x128xi8, #ts.smem<128>>, memref<128x128xi8, #ts.smem<128>> {
        ts.yield %x, %y : memref<128x128xi8, #ts.smem<128>>, memref<128x128xi8, #ts.smem<128>>
      }
      ts.produce %acc "mma" (%c) {
        // expected-error @+1 {{[TS228] 8-bit integer operands of tcgen05.mma (kind::i8) exist on sm_100a, not on sm_103a; convert to an 8-bit float format or compile for sm_100a}}
        ts.umma %c, %a, %b : memref<128x128xi32, #ts.tmem>, memref<128x128xi8, #ts.smem<128>>, memref<128x128xi8, #ts.smem<128>>
      }
    }
  }
}
