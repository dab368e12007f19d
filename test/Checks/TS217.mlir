// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS217: bytes of the copies that are issued, on every path.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @bytes(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS217] bytes of 'r' are 16384, expected 8192 per phase: the barrier never completes; write 8192, leave the bytes out, or change the copies}}
    // expected-note @+1 {{expected: 8192 bytes of the copies of 'load' = 8192}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, num_bytes = 16384)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          // expected-note @+1 {{this copy brings 8192 bytes}}
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

// Two warps issue the copy once each.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @warps(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS217] bytes of 'r' are 8192, expected 16384 per phase: the barrier completes before all data is there}}
    // expected-note @+1 {{expected: 16384 bytes of the copies of 'load' = 16384}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, num_bytes = 8192)
    ts.depends %r on %g
    ts.task "load" warps(0, 2) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          // expected-note @+1 {{this copy brings 8192 bytes}}
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

// A copy that a condition skips after the bytes were armed.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @skipped(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        // expected-error @+3 {{[TS217] the copies of task 'load' into 'r' add up to 0 bytes on one path and to 8192 on another, but the barrier expects one number for every phase; issue the same copies on every path between acquire and commit}}
        // expected-note-re @+2 {{0 bytes on the path with {{.*}}flag: no}}
        // expected-note-re @+1 {{8192 bytes on the path with {{.*}}flag: yes}}
        ts.acquire %r
        ts.when %flag is true {
        ts.produce %r "load" (%x) {
          // expected-note @+1 {{this copy brings 8192 bytes}}
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
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
  ts.kernel @none(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        // expected-error @+1 {{[TS217] task 'load' acquires 'r', whose barrier counts the bytes of copies, but issues no copy into it, so the phase never completes; issue the copy between acquire and commit, or use async_async for stores by threads}}
        ts.acquire %r
        ts.produce %r "load" (%x) {
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

// One elected warp, a loop and a branch that both issue the same: 2 x 8192 bytes.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @counted(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>, y: memref<64x64xbf16, #ts.smem<128>>, z: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 2, num_bytes = 24576)
    ts.depends %r on %g
    ts.task "load" warps(0, 2) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x, %y, %z) {
          %w = ts.info warp : index
          %first = arith.cmpi eq, %w, %c0 : index
          scf.if %first {
            scf.for %j = %c0 to %c2 step %c1 {
              ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
            }
          } else {
            scf.if %flag {
              ts.tma_load %A[%c0, %c0] to %y : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
            } else {
              ts.tma_load %A[%i, %c0] to %y : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
            }
          }
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "use" (%x, %y, %z) {
        }
        ts.release %r
      }
    }
  }
}

// -----

// Each CTA multicasts its half to both: two copies reach each barrier.
!m = !ts.tensor_map<64x64xbf16, box = 32x64, swizzle = 128>
!t = memref<64x64xbf16, #ts.smem<128>>
!h = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @mc(%A: !m, %n: index) warps(8) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %mask = arith.constant 3 : i16
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !t) pipeline(tma_async, stages = 2, num_bytes = 8192)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "x" aux {
      }
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          %v = memref.subview %x[%row, 0] [32, 64] [1, 1] : !t to !h
          ts.tma_load %A[%row, %c0] to %v multicast(%mask) : !m, !h
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}
