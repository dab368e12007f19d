// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C12: the declared thread group is not the one that arrives.

// ERR: error: [TS215] producer count of 'r' is 32, expected 1 arrival per phase by 'acquire': the barrier never completes; write 1, or leave the count out to have it inferred
// ERR: note: expected: 1 arming warp of 'load' = 1
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @full_of_a_warp(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, producer_count = 32)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" declared
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

// ERR: error: [TS215] consumer count of 'r' is 1, expected 4 arrivals per phase by 'release': the barrier completes too early; write 4 or 128 (4 warps x 32 threads of 'compute' = 128), or leave the count out to have it inferred
// ERR: note: expected: 4 warps x 1 elected lane of 'compute' = 4
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @empty_of_one(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, consumer_count = 1)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" declared
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

// One elected thread per warp.
// OUT: per_warp: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @per_warp(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, producer_count = 1, consumer_count = 4)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" declared
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

// Every thread of the four warps.
// OUT: per_thread: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @per_thread(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 3, consumer_count = 128)
    ts.depends %r on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" declared
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
