// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C25: the wait for the store's groups allows the very group that reads the slot.

// ERR: error: [TS302] race when k {{>?=}} 1: 'copy' and 'copy' touch the same memory and nothing orders them
// ERR: note: write of 'x.x' stage 0, bytes [0, 4096), asynchronous, by 'copy'
// ERR: note: read of 'x.x' stage 0, bytes [0, 4096), asynchronous, by 'copy'
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_in_flight(%A: !map, %D: !map, %k: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %x on %g
    ts.depends %d on %x
    ts.task "copy" warps(0, 1) reads(%g, %x) writes(%x, %d) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %c2 {
        ts.acquire %x
        ts.produce %x "first" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
      ts.for %i = %c0 to %k {
        ts.wait %x
        %s = ts.consume %x "tile" (%v) -> !buf {
          ts.yield %v : !buf
        }
        ts.produce %d "store" {
          ts.tma_store %s to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
          ts.bulk_wait 1 read
        }
        ts.release %x
        ts.acquire %x
        ts.produce %x "next" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
      ts.for %i = %c0 to %c2 {
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

// -----

// OUT: none_in_flight: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @none_in_flight(%A: !map, %D: !map, %k: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %x on %g
    ts.depends %d on %x
    ts.task "copy" warps(0, 1) reads(%g, %x) writes(%x, %d) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %c2 {
        ts.acquire %x
        ts.produce %x "first" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
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
        ts.acquire %x
        ts.produce %x "next" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
      ts.for %i = %c0 to %c2 {
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
