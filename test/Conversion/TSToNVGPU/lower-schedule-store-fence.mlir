// A fence before a synchronisation waits for the task's stores to tensor memory, which end with their
// wait only; a task without stores has none to wait for.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' %s | FileCheck %s

// CHECK-LABEL: gpu.func @fences
// CHECK: ts.tmem_store
// CHECK: nvvm.tcgen05.wait <store>
// CHECK-NEXT: ts.fence tcgen05_before
// CHECK-NOT: nvvm.tcgen05.wait <store>
// CHECK: ts.fence tcgen05_before
// CHECK-NOT: nvvm.tcgen05.wait <store>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @fences() warps(8) {
    %c0 = arith.constant 0 : index
    %x = arith.constant dense<0.0> : vector<32xf32>
    %t = ts.resource "t" tmem(c: memref<128x64xf32>)
    ts.task "stores" warps(0, 4) writes(%t) {
      ts.produce %t "fill" (%c) {
        ts.tmem_store %x to %c[%c0] : vector<32xf32>, memref<128x64xf32, #ts.tmem>
        ts.fence tcgen05_before
      }
    }
    ts.task "other" warps(4, 4) reads(%t) {
      ts.consume %t "nothing" {
        ts.fence tcgen05_before
      }
    }
  }
}
