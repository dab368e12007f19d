// RUN: not %judge %s 2>&1 | %check OUT %s --implicit-check-not=assumed
// One lane waits or arrives for its warp: what lets the others know, and what is not meant by it.

// The wait is the elected thread's alone, too; the warp meets behind it.
// OUT-DAG: waits_alone: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @waits_alone(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %k: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.depends %d on %g
    ts.task "store" warps(0, 1) reads(%g) writes(%d) {
      ts.consume %g "n" aux {
      }
      %lane = ts.info lane : index
      ts.for %i = %c0 to %k {
        %row = arith.muli %i, %c32 : index
        ts.produce %d "store" (%s) {
          ts.elect {
            ts.bulk_wait 0 read
          }
          ts.warp_sync
          vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s to %D[%row, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
          ts.bulk_commit
        }
      }
    }
  }
}

// -----

// Every thread gives the stage back, the one that waited too, and every thread waits for that.
// OUT-DAG: ring_meets: proven
gpu.module @r attributes {ts.chip = "sm_90a"} {
  ts.kernel @ring_meets(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %k: index) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %t = ts.resource "t" smem(x: memref<32x32xf32, #ts.smem<128>>) pipeline(async_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %t on %g
    ts.depends %d on %t
    ts.task "both" warps(0, 1) reads(%g, %t) writes(%t, %d) {
      ts.consume %g "n" aux {
      }
      %lane = ts.info lane : index
      ts.for %i = %c0 to %k {
        ts.acquire %t
        ts.produce %t "fill" (%s) {
          vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        }
        ts.commit %t
        ts.wait %t
        %x = ts.consume %t "tile" (%s) -> memref<32x32xf32, #ts.smem<128>> {
          ts.yield %s : memref<32x32xf32, #ts.smem<128>>
        }
        ts.produce %d "store" {
          ts.tma_store %x to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %t
      }
    }
  }
}

// -----

// "x" is handed over by the second barrier: the first one says nothing about it.
// OUT-DAG: other_barrier: proven
gpu.module @n attributes {ts.chip = "sm_90a"} {
  ts.kernel @other_barrier(%k: index) warps(2) {
    %one = arith.constant 1.0 : f32
    %even = arith.constant 0 : i32
    %g = ts.resource "g" gmem
    %y = ts.resource "y" smem(v: memref<32xf32>)
    %x = ts.resource "x" smem(v: memref<32xf32>)
    %first = ts.mbarrier "first" count(1)
    %second = ts.mbarrier "second" count(1)
    ts.depends %y on %g
    ts.depends %x on %g
    ts.task "write" warps(0, 1) reads(%g) writes(%y, %x) {
      ts.consume %g "n" aux {
      }
      %lane = ts.info lane : index
      ts.produce %y "y" (%v) {
        memref.store %one, %v[%lane] : memref<32xf32, #ts.smem>
      }
      ts.warp_sync
      ts.produce %x "x" (%v) {
        memref.store %one, %v[%lane] : memref<32xf32, #ts.smem>
      }
      ts.elect {
        ts.mbarrier_arrive %first
      }
      ts.warp_sync
      ts.elect {
        ts.mbarrier_arrive %second
      }
    }
    ts.task "read" warps(1, 1) reads(%y, %x) {
      %lane = ts.info lane : index
      ts.mbarrier_wait %first parity %even
      ts.consume %y "y" (%v) {
        %f = memref.load %v[%lane] : memref<32xf32, #ts.smem>
      }
      ts.mbarrier_wait %second parity %even
      ts.consume %x "x" (%v) {
        %f = memref.load %v[%lane] : memref<32xf32, #ts.smem>
      }
    }
  }
}

// -----

// Every lane arrives for itself.
// OUT-DAG: all_lanes: proven
gpu.module @o attributes {ts.chip = "sm_90a"} {
  ts.kernel @all_lanes(%k: index) warps(2) {
    %one = arith.constant 1.0 : f32
    %even = arith.constant 0 : i32
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(v: memref<32xf32>)
    %first = ts.mbarrier "first" count(32)
    ts.depends %x on %g
    ts.task "write" warps(0, 1) reads(%g) writes(%x) {
      ts.consume %g "n" aux {
      }
      %lane = ts.info lane : index
      ts.produce %x "x" (%v) {
        memref.store %one, %v[%lane] : memref<32xf32, #ts.smem>
      }
      ts.mbarrier_arrive %first
    }
    ts.task "read" warps(1, 1) reads(%x) {
      %lane = ts.info lane : index
      ts.mbarrier_wait %first parity %even
      ts.consume %x "x" (%v) {
        %f = memref.load %v[%lane] : memref<32xf32, #ts.smem>
      }
    }
  }
}

// -----

// The same with one arrival, of a lane that has seen its own store only.
// OUT-DAG: error: [TS302] race: one lane of warp 0 of 'write' arrives on 'first' and nothing says that the other lanes have written 'v' by then
// OUT-DAG: help: insert ts.warp_sync between the two
gpu.module @p attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_lane(%k: index) warps(2) {
    %one = arith.constant 1.0 : f32
    %even = arith.constant 0 : i32
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(v: memref<32xf32>)
    %first = ts.mbarrier "first" count(1)
    ts.depends %x on %g
    ts.task "write" warps(0, 1) reads(%g) writes(%x) {
      ts.consume %g "n" aux {
      }
      %lane = ts.info lane : index
      ts.produce %x "x" (%v) {
        memref.store %one, %v[%lane] : memref<32xf32, #ts.smem>
      }
      ts.elect {
        ts.mbarrier_arrive %first
      }
    }
    ts.task "read" warps(1, 1) reads(%x) {
      %lane = ts.info lane : index
      ts.mbarrier_wait %first parity %even
      ts.consume %x "x" (%v) {
        %f = memref.load %v[%lane] : memref<32xf32, #ts.smem>
      }
    }
  }
}
