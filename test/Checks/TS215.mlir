// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS215: declared arrival counts, and pipelines whose producer is another engine.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @producer(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS215] producer count of 'r' is 4, expected 1 arrival per phase by 'acquire': the barrier never completes; write 1, or leave the count out to have it inferred}}
    // expected-note @+1 {{expected: 1 arming warp of 'load' = 1}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, producer_count = 4)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "use" (%x) {
        }
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @consumer(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS215] consumer count of 'r' is 1, expected 4 arrivals per phase by 'release': the barrier completes too early; write 4 or 128 (4 warps x 32 threads of 'drain' = 128), or leave the count out to have it inferred}}
    // expected-note @+1 {{expected: 4 warps x 1 elected lane of 'drain' = 4}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, consumer_count = 1)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "use" (%x) {
        }
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @engine(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+1 {{[TS215] 'r' is async_async, but its producer works through tma, whose end an arrive of its threads does not wait for; choose the pipeline type whose producer is what touches the memory}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "use" (%x) {
        }
        ts.release %r
      }
    }
  }
}

// -----

// What is given and right is accepted: one signal per warp, or all threads.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @per_warp(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, num_bytes = 8192, producer_count = 1, consumer_count = 4)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "use" (%x) {
        }
        ts.release %r
      }
    }
  }
}

gpu.module @n attributes {ts.chip = "sm_90a"} {
  ts.kernel @per_thread(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, consumer_count = 128)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "use" (%x) {
        }
        ts.release %r
      }
    }
  }
}
