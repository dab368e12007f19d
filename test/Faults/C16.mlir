// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C16: expected bytes that do not match the copies. A box that is partly out of bounds counts in full.

// (a) Half of the box is expected.
// ERR: error: [TS217] bytes of 'r' are 1024, expected 2048 per phase: the barrier completes before all data is there; write 2048, leave the bytes out, or change the copies
// ERR: note: expected: 2048 bytes of the copies of 'load' = 2048
!map = !ts.tensor_map<?x?xbf16, box = 16x64, swizzle = 128>
!part = memref<16x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @too_few(%A: !map, %k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, num_bytes = 1024)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h0 = memref.subview %x[%c0, 0] [16, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !part
          ts.tma_load %A[%c0, %c0] to %h0 : !map, !part
        }
        ts.commit %r
      }
    }
    ts.task "compute" warps(0, 4) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
}

// -----

// (b) Two slices, the bytes of one.
// ERR: error: [TS217] bytes of 'r' are 4096, expected 8192 per phase: the barrier completes before all data is there; write 8192, leave the bytes out, or change the copies
// ERR: note: expected: 8192 bytes of the copies of 'load' = 8192
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!part = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_of_two(%A: !map, %k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, num_bytes = 4096)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h0 = memref.subview %x[%c0, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !part
          ts.tma_load %A[%c0, %c0] to %h0 : !map, !part
          %h32 = memref.subview %x[%c32, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !part
          ts.tma_load %A[%c0, %c0] to %h32 : !map, !part
        }
        ts.commit %r
      }
    }
    ts.task "compute" warps(0, 4) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
}

// -----

// OUT: two_slices: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!part = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_slices(%A: !map, %k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, num_bytes = 8192)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h0 = memref.subview %x[%c0, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !part
          ts.tma_load %A[%c0, %c0] to %h0 : !map, !part
          %h32 = memref.subview %x[%c32, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !part
          ts.tma_load %A[%c0, %c0] to %h32 : !map, !part
        }
        ts.commit %r
      }
    }
    ts.task "compute" warps(0, 4) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
}

// -----

// OUT: inferred: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!part = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @inferred(%A: !map, %k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h0 = memref.subview %x[%c0, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !part
          ts.tma_load %A[%c0, %c0] to %h0 : !map, !part
          %h32 = memref.subview %x[%c32, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !part
          ts.tma_load %A[%c0, %c0] to %h32 : !map, !part
        }
        ts.commit %r
      }
    }
    ts.task "compute" warps(0, 4) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
}

// -----

// (c) Two pairs of CTAs, 16384 bytes per CTA: a pair's leader expects those of its pair, not all four.
// ERR: error: [TS217] bytes of 'r' are 65536, expected 32768 per phase: the barrier never completes; write 32768, leave the bytes out, or change the copies
// ERR: note: expected: 16384 bytes of the copies of 'load' x 2 CTAs = 32768
!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @cluster_of_pairs(%A: !map, %k: index) warps(8) cluster(4, 1, 1) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<128x64xbf16, #ts.smem<128>>)
        pipeline(tma_umma, stages = 3, num_bytes = 65536, consumer_signal = cta_leader,
                 mcast = (0, 0), cta_layout = (2, 2, 1, 1))
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1, producer_signal = cta_leader, cta_layout = (2, 2, 1, 1))
    ts.depends %r on %g
    ts.depends %acc on %r
    ts.task "load" warps(1, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          ts.tma_load %A[%c0, %c0] to %x {cta_group = 2} : !map, memref<128x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "mma" warps(0, 1) reads(%r) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "operands" declared
        ts.produce %acc "mma" declared
        ts.release %r
      }
      ts.commit %acc
    }
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" declared
      ts.release %acc
    }
  }
}
