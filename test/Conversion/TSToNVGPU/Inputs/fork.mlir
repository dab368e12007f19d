// Lowered by clusters.test.
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @x(%A: !map, %B: !map, %D: !map, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %g = ts.resource "g" gmem
    %o = ts.resource "o" gmem
    %p = ts.resource "p" smem(x: !buf) pipeline(tma_async, stages = 2)
    %q = ts.resource "q" smem(y: !buf) pipeline(tma_async, stages = 2)
    %f = ts.pipeline_group "f" fork(%p, %q)
    ts.depends %p on %g
    ts.depends %q on %g
    ts.depends %o on %p, %q
    ts.task "load" warps(0, 1) reads(%g) writes(%p, %q) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        %col = arith.muli %i, %c32 : index
        ts.acquire %p
        ts.acquire %q
        ts.produce %p "lp" (%x) {
          ts.tma_load %A[%c0, %col] to %x : !map, !buf
        }
        ts.produce %q "lq" (%y) {
          ts.tma_load %B[%c0, %col] to %y : !map, !buf
        }
        ts.commit %f
      }
    }
    ts.task "use" warps(1, 1) reads(%p, %q) writes(%o) {
      ts.for %i = %c0 to %k {
        ts.wait %p
        ts.wait %q
        ts.consume %p "up" (%x) {
        }
        ts.consume %q "uq" (%y) {
        }
        ts.produce %o "w" aux {
        }
        ts.release %p
        ts.release %q
      }
    }
  }
}
