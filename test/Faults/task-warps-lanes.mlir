// RUN: %judge %s 2>&1 | %check OUT %s --implicit-check-not=assumed
// Warps with lanes of an interleaved pipeline have stages of their own: where in the stage they write is
// nobody else's business, even if it cannot be told.

// OUT: lanes: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lanes(%X: memref<?xindex>, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(v: memref<64xf32>) pipeline(async_async, stages = 8, interleave = 4)
    ts.depends %x on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%x) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %k {
        %at = ts.consume %g "at" -> index {
          %n = memref.load %X[%i] : memref<?xindex>
          ts.yield %n : index
        }
        ts.acquire %x
        ts.produce %x "one" (%v) {
          memref.store %one, %v[%lane] : memref<64xf32, #ts.smem>
          ts.warp_sync
          ts.elect {
            memref.store %one, %v[%at] : memref<64xf32, #ts.smem>
          }
        }
        ts.commit %x
      }
    }
    ts.task "read" warps(4, 4) reads(%x) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "read" (%v) {
          %f = memref.load %v[%lane] : memref<64xf32, #ts.smem>
        }
        ts.release %x
      }
    }
  }
}

// -----

// The whole stage of a warp's own, by a call that declares it.
// OUT: declared: proven
gpu.module @n attributes {ts.chip = "sm_90a"} {
  ts.kernel @declared(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(v: memref<64xf32>) pipeline(async_async, stages = 4, interleave = 4)
    ts.depends %x on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%x) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "head" declared effects [#ts.effect<write "v", offset = 0, size = 128>]
        ts.produce %x "all" declared effects [#ts.effect<write "v">]
        ts.commit %x
      }
    }
    ts.task "read" warps(4, 4) reads(%x) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "read" declared
        ts.release %x
      }
    }
  }
}
