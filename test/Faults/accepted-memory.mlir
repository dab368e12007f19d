// RUN: %judge %s 2>&1 | %check OUT %s
// Right programs that a careless verifier would reject.

// OUT: delayed_release_view: proven for every k >= 1: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @delayed_release_view(%k: index min 1) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 3, advance_on_wait)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.guard not_first {
          ts.release %r
        }
      }
      ts.release %r
    }
  }
}

// -----

// OUT: gap_scratch_waited: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @gap_scratch_waited(%A: !map, %D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    %s = ts.resource "s" gmem(y: !buf)
    ts.depends %s on %r
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !buf
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(1, 1) reads(%r) writes(%s) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        %v = ts.consume %r "t" (%x) -> !buf {
          ts.yield %x : !buf
        }
        ts.produce %s "copy" (%y) {
          %l = ts.info lane : index
          ts.bulk_wait 0 read
          ts.warp_sync
          %q = vector.load %v[%l, %c0] : !buf, vector<32xf32>
          vector.store %q, %y[%l, %c0] : !buf, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %y to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
        }
        ts.release %r
      }
    }
  }
}

// -----

// OUT: half_views_disjoint: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!p = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @half_views_disjoint(%D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %s = ts.resource "s" gmem(y: memref<64x32xf32, #ts.smem<128>>)
    ts.depends %s on %g
    ts.task "c" warps(1, 1) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %l = ts.info lane : index
      ts.for %i = %c0 to %k {
        ts.produce %s "copy" (%y) {
          %c32 = arith.constant 32 : index
          %a = memref.subview %y[%c0, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem<128>> to !p
          %b = memref.subview %y[%c32, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem<128>> to !p
          ts.bulk_wait 1 read
          ts.warp_sync
          vector.store %z, %a[%l, %c0] : !p, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %a to %D[%c0, %c0] : !p, !map
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          vector.store %z, %b[%l, %c0] : !p, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %b to %D[%c0, %c0] : !p, !map
          ts.bulk_commit
        }
      }
    }
  }
}

// -----

// OUT: quarters: proven for every k: no deadlock, no race, no overrun, clean exit
!buf = memref<32x32xf32, #ts.smem<128>>
!q = memref<8x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
!mq = !ts.tensor_map<?x?xf32, box = 8x32, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @quarters(%A: !mq, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2, num_bytes = 4096)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          %c8 = arith.constant 8 : index
          %n = arith.constant 4 : index
          scf.for %j = %c0 to %n step %c1 {
            %o = arith.muli %j, %c8 : index
            %h = memref.subview %x[%o, 0] [8, 32] [1, 1] : !buf to !q
            ts.tma_load %A[%o, %c0] to %h : !mq, !q
          }
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}
