// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of a static persistent queue forbid. The first kernel is right.

!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.for %i = %c0 to %k {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
        ts.for %i = %c0 to %k {
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

// The consumer is written for one tile.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_tile(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.for %i = %c0 to %k {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          // expected-note @+1 {{used once per tile here}}
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part) {
      ts.for %i = %c0 to %k {
        ts.wait %part
        ts.consume %part "add" declared
        // expected-error @+1 {{[TS106] task 'sum' uses 'part' outside of a tile_loop, task 'load' inside of one over 'tiles'; tasks that share a ring persist together}}
        ts.release %part
      }
    }
  }
}

// -----

// The tile is advanced with the steps.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @advance_in_steps(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.for %i = %c0 to %k {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
        // expected-note @+1 {{the loop}}
        ts.for %i = %c0 to %k {
          ts.wait %part
          ts.consume %part "add" declared
          ts.release %part
          // expected-error @+1 {{[TS106] next_tile of 'tiles' stands inside a domain loop, so it takes several tiles at once; move it to the body of the tile_loop itself}}
          ts.next_tile %queue
        }
      }
    }
  }
}

// -----

// The tile is advanced only where there was something to do.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @advance_some(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.for %i = %c0 to %k {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      %some = arith.cmpi sgt, %k, %c0 : index
      // expected-error @+2 {{[TS106] task 'sum' advances 'tiles' not at all in one iteration of its tile_loop on some path; expected exactly one next_tile on every path, so that all tasks work on the same tile}}
      // expected-note @+1 {{on the path with the loop runs: yes, first iteration: yes, last iteration: yes, k > 0: no}}
      ts.tile_loop %queue {
        ts.when %some is true {
          ts.for %i = %c0 to %k {
            ts.wait %part
            ts.consume %part "add" declared
            ts.release %part
          }
          ts.next_tile %queue
        }
      }
    }
  }
}

// -----

// A first step taken out of the loop: there is none in a tile with K = 0.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: safe for every k >= 1: declare min = 1}}
  ts.kernel @peeled(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.for %i = %c0 to %k {
          // expected-note @+1 {{'load' would arrive here, but has ended after 0 uses}}
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          // expected-note @+1 {{the roles of ring 'part' are not balanced: 'load' commits it k times per tile, 'sum' releases it max(0, k - 1) + 1 times per tile}}
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
        // expected-error @+2 {{[TS301] deadlock when number of tiles of 'tiles' = 1, k = 0: 'sum' waits for ever}}
        // expected-note @+1 {{'sum' waits for the data of 'part' (use 0, stage 0 of 2); 1 of 1 arrivals are missing}}
        ts.wait %part
        ts.consume %part "first" declared
        ts.release %part
        ts.for %i = %c1 to %k {
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

// Tiles are computed, not asked for.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @asked(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %queue) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        // expected-error @+1 {{[TS106] task 'load' fetches from the static queue 'tiles', whose tiles every CTA computes itself; remove the fetch, or declare the queue 'clc'}}
        ts.fetch_tile %queue
        ts.for %i = %c0 to %k {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%part, %queue) {
      ts.tile_loop %queue {
        ts.for %i = %c0 to %k {
          ts.wait %part
          ts.consume %part "add" declared
          ts.release %part
        }
        ts.next_tile %queue
      }
    }
  }
}
