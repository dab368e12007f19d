// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// A loop whose first two steps stand before it, under "more than none" and "more than one": the counts of
// both tasks agree for every n, also where each tile has its own; and they do not where a limit is off.
!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// OUT: peeled: proven for every
gpu.module @peeled_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @peeled(%A: !map, %n: index, %tiles: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3)
    %q = ts.work_queue "q" static over(%tiles)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      %some = arith.cmpi sgt, %n, %c0 : index
      %more = arith.cmpi sgt, %n, %c1 : index
      ts.tile_loop %q (%i) {
        ts.consume %src "c" aux {
        }
        ts.when %some is true {
          ts.acquire %x
          ts.produce %x "first" (%v) {
            ts.tma_load %A[%c0, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.when %more is true {
          ts.acquire %x
          ts.produce %x "second" (%v) {
            ts.tma_load %A[%c1, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.for %k = %c2 to %n {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%k, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
      }
    }
    ts.task "use" warps(1, 1) reads(%x, %q) {
      ts.tile_loop %q (%i) {
        ts.for %k = %c0 to %n {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.release %x
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// OUT: per_tile: proven for every
gpu.module @per_tile_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @per_tile(%A: !map, %n: index, %tiles: index) warps(2) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3)
    %q = ts.work_queue "q" static over(%tiles)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      %some = arith.cmpi sgt, %n, %c0 : index
      %more = arith.cmpi sgt, %n, %c1 : index
      ts.tile_loop %q (%i) {
        ts.consume %src "c" aux {
        }
        ts.when %some is true {
          ts.acquire %x
          ts.produce %x "first" (%v) {
            ts.tma_load %A[%c0, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.when %more is true {
          ts.acquire %x
          ts.produce %x "second" (%v) {
            ts.tma_load %A[%c1, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.for %k = %c2 to %n {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%k, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
      }
    }
    ts.task "use" warps(1, 1) reads(%x, %q) {
      ts.tile_loop %q (%i) {
        ts.for %k = %c0 to %n {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.release %x
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// ERR: error: [TS301] deadlock when {{.*}}n = 2
// ERR: (n > 0) + (n > 2) + max(0, n - 2) times per tile
gpu.module @above_two_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @above_two(%A: !map, %n: index, %tiles: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3)
    %q = ts.work_queue "q" static over(%tiles)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      %some = arith.cmpi sgt, %n, %c0 : index
      %more = arith.cmpi sgt, %n, %c2 : index
      ts.tile_loop %q (%i) {
        ts.consume %src "c" aux {
        }
        ts.when %some is true {
          ts.acquire %x
          ts.produce %x "first" (%v) {
            ts.tma_load %A[%c0, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.when %more is true {
          ts.acquire %x
          ts.produce %x "second" (%v) {
            ts.tma_load %A[%c1, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.for %k = %c2 to %n {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%k, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
      }
    }
    ts.task "use" warps(1, 1) reads(%x, %q) {
      ts.tile_loop %q (%i) {
        ts.for %k = %c0 to %n {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.release %x
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// ERR: error: {{.*}} when {{.*}}n = 1
// ERR: 2 * (n > 0) + max(0, n - 2) times per tile
gpu.module @above_none_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @above_none(%A: !map, %n: index, %tiles: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3)
    %q = ts.work_queue "q" static over(%tiles)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      %some = arith.cmpi sgt, %n, %c0 : index
      %more = arith.cmpi sgt, %n, %c0 : index
      ts.tile_loop %q (%i) {
        ts.consume %src "c" aux {
        }
        ts.when %some is true {
          ts.acquire %x
          ts.produce %x "first" (%v) {
            ts.tma_load %A[%c0, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.when %more is true {
          ts.acquire %x
          ts.produce %x "second" (%v) {
            ts.tma_load %A[%c1, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.for %k = %c2 to %n {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%k, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
      }
    }
    ts.task "use" warps(1, 1) reads(%x, %q) {
      ts.tile_loop %q (%i) {
        ts.for %k = %c0 to %n {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.release %x
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// OUT: at_least_two: proven for every
gpu.module @at_least_two_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @at_least_two(%A: !map, %n: index min 2, %tiles: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3)
    %q = ts.work_queue "q" static over(%tiles)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      %some = arith.cmpi sgt, %n, %c0 : index
      %more = arith.cmpi sgt, %n, %c0 : index
      ts.tile_loop %q (%i) {
        ts.consume %src "c" aux {
        }
        ts.when %some is true {
          ts.acquire %x
          ts.produce %x "first" (%v) {
            ts.tma_load %A[%c0, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.when %more is true {
          ts.acquire %x
          ts.produce %x "second" (%v) {
            ts.tma_load %A[%c1, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.for %k = %c2 to %n {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%k, %c0] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
      }
    }
    ts.task "use" warps(1, 1) reads(%x, %q) {
      ts.tile_loop %q (%i) {
        ts.for %k = %c0 to %n {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.release %x
        }
        ts.next_tile %q
      }
    }
  }
}
