// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C27: the release is moved before the store that still reads the slot.

// ERR: error: [TS107] reads the stage of 'x' that 'tile' saw, but task 'store' has released it before; move the release behind this op
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @release_first(%A: !map, %D: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %x on %g
    ts.depends %d on %x
    ts.task "load" warps(0, 1) reads(%g) writes(%x) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
    }
    ts.task "store" warps(1, 1) reads(%x) writes(%d) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        %s = ts.consume %x "tile" (%v) -> !buf {
          ts.yield %v : !buf
        }
        ts.release %x
        ts.produce %d "store" {
          ts.tma_store %s to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
      }
    }
  }
}

// -----

// The store is issued before, and waited for after the release.
// ERR: error: [TS302] race when k {{>?=}} 3: 'load' and 'store' touch the same memory and nothing orders them
// ERR: note: write of 'x.x' stage 0, bytes [0, 4096), asynchronous, by 'load'
// ERR: note: read of 'x.x' stage 0, bytes [0, 4096), asynchronous, by 'store'
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @wait_behind(%A: !map, %D: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %x on %g
    ts.depends %d on %x
    ts.task "load" warps(0, 1) reads(%g) writes(%x) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
    }
    ts.task "store" warps(1, 1) reads(%x) writes(%d) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        %s = ts.consume %x "tile" (%v) -> !buf {
          ts.yield %v : !buf
        }
        ts.produce %d "store" {
          ts.tma_store %s to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
        }
        ts.release %x
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// OUT: release_last: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @release_last(%A: !map, %D: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %x on %g
    ts.depends %d on %x
    ts.task "load" warps(0, 1) reads(%g) writes(%x) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
    }
    ts.task "store" warps(1, 1) reads(%x) writes(%d) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        %s = ts.consume %x "tile" (%v) -> !buf {
          ts.yield %v : !buf
        }
        ts.produce %d "store" {
          ts.tma_store %s to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %x
      }
    }
  }
}
