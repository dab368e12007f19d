// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of skipped tiles forbid. The first kernel is right.

!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%A: !map, %n: index, %k: index, %live: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %odd = arith.cmpi sge, %t, %live : index
      ts.yield %odd : i1
    }
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.skippable {
          ts.for %i = %c0 to %k {
            ts.acquire %part
            ts.produce %part "load" (%x) {
              ts.tma_load %A[%m, %i] to %x : !map, !tile
            }
            ts.commit %part
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
        ts.skippable {
          ts.for %i = %c0 to %k {
            ts.wait %part
            ts.consume %part "add" declared
            ts.release %part
          }
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The consumer forgets to skip.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: move the release or commit in front of the wait that it feeds, or give the ring more stages}}
  ts.kernel @one_side(%A: !map, %n: index, %k: index, %live: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %odd = arith.cmpi sge, %t, %live : index
      ts.yield %odd : i1
    }
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.skippable {
          ts.for %i = %c0 to %k {
            // expected-note @+1 {{'load' would arrive here, but has ended after 0 uses}}
            ts.acquire %part
            ts.produce %part "load" (%x) {
              ts.tma_load %A[%m, %i] to %x : !map, !tile
            }
            // expected-note @+1 {{the roles of ring 'part' are not balanced: 'load' commits it -(skip of 'tiles') * k + k times per tile, 'sum' releases it k times per tile}}
            ts.commit %part
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
          ts.for %i = %c0 to %k {
            // expected-error @+2 {{[TS301] deadlock when number of tiles of 'tiles' = 1, skip of 'tiles' is true in tile 0, k >= 1: 'sum' waits for ever}}
            // expected-note @+1 {{'sum' waits for the data of 'part' (use 0, stage 0 of 2); 1 of 1 arrivals are missing}}
            ts.wait %part
            ts.consume %part "add" declared
            ts.release %part
          }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The consumer skips by a test of its own, off by one.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: move the release or commit in front of the wait that it feeds, or give the ring more stages}}
  ts.kernel @own_test(%A: !map, %n: index, %k: index, %live: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %odd = arith.cmpi sge, %t, %live : index
      ts.yield %odd : i1
    }
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.skippable {
          ts.for %i = %c0 to %k {
            // expected-note @+1 {{'load' would arrive here, but has ended after 0 uses}}
            ts.acquire %part
            ts.produce %part "load" (%x) {
              ts.tma_load %A[%m, %i] to %x : !map, !tile
            }
            // expected-note @+1 {{the roles of ring 'part' are not balanced: 'load' commits it -(skip of 'tiles') * k + k times per tile, 'sum' releases it k * (cmpi sle(tiles[0], live)) times per tile}}
            ts.commit %part
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue (%m) {
        %keep = arith.cmpi sle, %m, %live : index
        ts.when %keep is true {
          ts.for %i = %c0 to %k {
            // expected-error @+2 {{[TS301] deadlock when number of tiles of 'tiles' = 1, skip of 'tiles' is true in tile 0, cmpi sle(tiles[0], live) is true in tile 0, k >= 1: 'sum' waits for ever}}
            // expected-note @+1 {{'sum' waits for the data of 'part' (use 0, stage 0 of 2); 1 of 1 arrivals are missing}}
            ts.wait %part
            ts.consume %part "add" declared
            ts.release %part
          }
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The step to the next tile is skipped as well.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @never_left(%A: !map, %n: index, %k: index, %live: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %odd = arith.cmpi sge, %t, %live : index
      ts.yield %odd : i1
    }
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.skippable {
          ts.for %i = %c0 to %k {
            ts.acquire %part
            ts.produce %part "load" (%x) {
              ts.tma_load %A[%m, %i] to %x : !map, !tile
            }
            ts.commit %part
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
        // expected-note @+1 {{the skippable region}}
        ts.skippable {
          ts.for %i = %c0 to %k {
            ts.wait %part
            ts.consume %part "add" declared
            ts.release %part
          }
          // expected-error @+1 {{[TS106] next_tile of 'tiles' stands inside a skippable region, so a skipped tile is never left; move it to the body of the tile_loop itself}}
          ts.next_tile %queue
        }
      }
    }
  }
}

// -----

// A stage is armed before it is known whether the tile is skipped.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @armed_first(%A: !map, %n: index, %k: index, %live: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %odd = arith.cmpi sge, %t, %live : index
      ts.yield %odd : i1
    }
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        // expected-error @+3 {{[TS217] the copies of task 'load' into 'part' add up to 0 bytes on one path and to 8192 on another, but the barrier expects one number for every phase; issue the same copies on every path between acquire and commit}}
        // expected-note @+2 {{0 bytes on the path with the loop runs: yes, first iteration: no, last iteration: no}}
        // expected-note @+1 {{8192 bytes on the path with the loop runs: yes, first iteration: no, last iteration: no}}
        ts.acquire %part
        ts.skippable {
          ts.produce %part "load" (%x) {
            // expected-note @+1 {{this copy brings 8192 bytes}}
            ts.tma_load %A[%m, %c0] to %x : !map, !tile
          }
        }
        ts.commit %part
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
        ts.wait %part
        ts.skippable {
          ts.consume %part "add" declared
        }
        ts.release %part
        ts.next_tile %queue
      }
    }
  }
}

// -----

// Nothing says which tile is meant.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_tile(%A: !map, %n: index, %k: index, %live: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %odd = arith.cmpi sge, %t, %live : index
      ts.yield %odd : i1
    }
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.skippable {
          ts.for %i = %c0 to %k {
            ts.acquire %part
            ts.produce %part "load" (%x) {
              ts.tma_load %A[%m, %i] to %x : !map, !tile
            }
            // expected-note @+1 {{used once per tile here}}
            ts.commit %part
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part) {
      // expected-error @+1 {{[TS113] skippable part outside of a tile_loop in task 'sum'; the skip predicate of the queue decides per tile, so there is nothing to decide here}}
      ts.skippable {
        ts.for %i = %c0 to %k {
          ts.wait %part
          ts.consume %part "add" declared
          // expected-error @+1 {{[TS106] task 'sum' uses 'part' outside of a tile_loop, task 'load' inside of one over 'tiles'; tasks that share a ring persist together}}
          ts.release %part
        }
      }
    }
  }
}
