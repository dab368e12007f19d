// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C65: two copies share one barrier.

// OUT: both_expected: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @both_expected(%A: !map, %B: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 1, num_bytes = 16384)
    ts.depends %ab on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "use" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.consume %ab "tile" declared
        ts.release %ab
      }
    }
  }
}

// -----

// OUT: inferred: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @inferred(%A: !map, %B: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 1)
    ts.depends %ab on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "use" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.consume %ab "tile" declared
        ts.release %ab
      }
    }
  }
}

// -----

// The bytes of A only.
// ERR: error: [TS217] bytes of 'ab' are 8192, expected 16384 per phase: the barrier completes before all data is there; write 16384, leave the bytes out, or change the copies
// ERR: note: expected: 16384 bytes of the copies of 'load' = 16384
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_expected(%A: !map, %B: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 1, num_bytes = 8192)
    ts.depends %ab on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "use" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.consume %ab "tile" declared
        ts.release %ab
      }
    }
  }
}
