// A stage that is handed over in every iteration has been written whenever somebody waits for it: its
// loads are neither warned about nor made zero, whoever knows how often the loop runs.
// RUN: ts-opt %s --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines{remarks=false},ts-allocate,ts-lower-schedule))' | FileCheck %s
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @unknown_trips(%X: memref<?xindex>, %Y: memref<?xf32>) warps(8) {
    %c0 = arith.constant 0 : index
    %t = arith.constant true
    %s = ts.resource "s" smem(a: !tile, b: !tile)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.task "mma" warps(4, 1) reads(%s) writes(%d) {
      %n = memref.load %X[%c0] : memref<?xindex>
      %x, %y = ts.consume %s "operands" (%va, %vb) -> !tile, !tile {
        ts.yield %va, %vb : !tile, !tile
      }
      ts.for %k = %c0 to %n {
        ts.acquire %d
        ts.produce %d "mma" (%c) {
          ts.umma %c, %x, %y accumulate(%t) : !acc, !tile, !tile
        }
        ts.commit %d
      }
    }
    ts.task "store" warps(0, 4) reads(%d) {
      %n = memref.load %X[%c0] : memref<?xindex>
      ts.for %k = %c0 to %n {
        ts.wait %d
        // CHECK: %[[V:.*]] = ts.tmem_load
        // CHECK-NEXT: vector.store %[[V]]
        ts.consume %d "read" (%c) {
          %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
          vector.store %x, %Y[%c0] : memref<?xf32>, vector<32xf32>
        }
        ts.release %d
      }
    }
  }
}
