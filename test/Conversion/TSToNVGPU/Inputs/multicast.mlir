// Lowered by clusters.test.
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!omap = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @x(%A: !map, %D: !omap, %k: index) warps(4) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %m3 = arith.constant 3 : i16
    %g = ts.resource "g" gmem
    %o = ts.resource "o" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2, mcast = (0, 1), cta_layout = (1, 2, 1, 1))
    ts.depends %r on %g
    ts.depends %o on %r
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          %rank = ts.info cta_rank : index
          %row = arith.muli %rank, %c32 : index
          %col = arith.muli %i, %c32 : index
          %half = memref.subview %x[%row, 0] [32, 32] [1, 1] : !buf to memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
          ts.tma_load %A[%row, %col] to %half multicast(%m3) : !map, memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "store" warps(1, 1) reads(%r) writes(%o) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "st" (%x) {
        }
        ts.release %r
        ts.produce %o "w" aux {
        }
      }
    }
  }
}
