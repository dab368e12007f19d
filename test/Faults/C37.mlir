// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C37: ordinary writes that a TMA store of the same body reads need the program's proxy fence, by the
// writing threads and on every path. Between two tasks the lowering emits it: C37-lowering.mlir.

// In one body, without a fence.
// ERR: error: [TS232]
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_fence(%D: !map, %k: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem(c: !buf)
    ts.depends %d on %g
    ts.task "store" warps(0, 1) reads(%g) writes(%d) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      ts.produce %d "store" (%x) {
        vector.store %z, %x[%lane, %c0] : !buf, vector<32xf32>

        ts.warp_sync
        ts.tma_store %x to %D[%c0, %c0] : !buf, !map
        ts.bulk_commit
      }
    }
  }
}

// -----

// The fence stands in a loop that may run zero times.
// ERR: error: [TS232]
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @fence_in_a_loop(%D: !map, %k: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem(c: !buf)
    ts.depends %d on %g
    ts.task "store" warps(0, 1) reads(%g) writes(%d) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      ts.produce %d "store" (%x) {
        vector.store %z, %x[%lane, %c0] : !buf, vector<32xf32>
        scf.for %i = %c0 to %k step %c1 {
          ts.fence proxy_async_shared
        }
        ts.warp_sync
        ts.tma_store %x to %D[%c0, %c0] : !buf, !map
        ts.bulk_commit
      }
    }
  }
}

// -----

// OUT: fence: proven: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @fence(%D: !map, %k: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem(c: !buf)
    ts.depends %d on %g
    ts.task "store" warps(0, 1) reads(%g) writes(%d) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      ts.produce %d "store" (%x) {
        vector.store %z, %x[%lane, %c0] : !buf, vector<32xf32>
        ts.fence proxy_async_shared
        ts.warp_sync
        ts.tma_store %x to %D[%c0, %c0] : !buf, !map
        ts.bulk_commit
      }
    }
  }
}
