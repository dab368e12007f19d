// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C14: each CTA of a pair copies one half of the tile into both, so a slot is empty when the warps of both CTAs have released it.

// ERR: error: [TS215] consumer count of 'r' is 4, expected 8 arrivals per phase by 'release': the barrier completes too early; write 8 or 256 (4 warps x 32 threads of 'compute' x 2 CTAs that share its multicast = 256), or leave the count out to have it inferred
// ERR: note: expected: 4 warps x 1 elected lane of 'compute' x 2 CTAs that share its multicast = 8
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @local_count(%A: !map, %k: index) warps(5) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, consumer_count = 4)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h = memref.subview %x[%row, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !half
          ts.tma_load %A[%row, %c0] to %h multicast(%both) : !map, !half
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

// OUT: both_ctas: proven for every k: no deadlock, no race, no overrun, clean exit
// OUT-NOT: assumed
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @both_ctas(%A: !map, %k: index) warps(5) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, consumer_count = 8)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h = memref.subview %x[%row, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !half
          ts.tma_load %A[%row, %c0] to %h multicast(%both) : !map, !half
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
// OUT-NOT: assumed
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @inferred(%A: !map, %k: index) warps(5) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h = memref.subview %x[%row, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !half
          ts.tma_load %A[%row, %c0] to %h multicast(%both) : !map, !half
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

// Without the arrivals at the peer: nobody notifies it, and twice the warps are expected.
// ERR: error: [TS215] consumer count of 'r' is 8, expected 4 arrivals per phase by 'release': the barrier never completes; write 4 or 128 (4 warps x 32 threads of 'compute' = 128), or leave the count out to have it inferred
// ERR: note: expected: 4 warps x 1 elected lane of 'compute' = 4
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_remote_arrivals(%A: !map, %k: index) warps(5) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, mcast = (0, 0), consumer_count = 8)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %h = memref.subview %x[%row, 0] [32, 64] [1, 1] : memref<64x64xbf16, #ts.smem<128>> to !half
          ts.tma_load %A[%row, %c0] to %h multicast(%both) : !map, !half
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
