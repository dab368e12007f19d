// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of a queue from cluster launch control forbid. The first kernel is right.

!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @right(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    %queue = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 3) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.acquire %token
        ts.commit %token
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
    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        ts.wait %token
        ts.release %token
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The throttle is named, but nobody waits for it.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @throttle_unused(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    // expected-note @+2 {{the resource is declared here}}
    // expected-error @+1 {{[TS104] the pipeline of 'begun' is used on one side only: no task waits for or releases it, so it fills up after 2 stage(s); use both sides or take the pipeline out}}
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    // expected-note @+1 {{the throttle is named here}}
    %queue = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 3) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        // expected-note @+1 {{the producer's side is here}}
        ts.acquire %token
        ts.commit %token
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
    // expected-error @+2 {{[TS104] task 'schedule' reads 'begun', but no op of its schedule uses it; use it or take it out of 'reads'}}
    // expected-error @+1 {{[TS106] task 'schedule' asks for the tiles of 'tiles' without waiting for the queue's throttle 'begun'; put ts.wait and ts.release of it before the fetch, in the body of the tile_loop}}
    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
  }
}

// -----

// One token for all tiles.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @throttle_once(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    // expected-note @+1 {{the throttle is named here}}
    %queue = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 3) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.acquire %token
        // expected-note @+1 {{used once per tile here}}
        ts.commit %token
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
    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      // expected-error @+1 {{[TS106] task 'schedule' asks for the tiles of 'tiles' but does not wait once per tile for the queue's throttle 'begun'; put ts.wait and ts.release of it before the fetch, in the body of the tile_loop}}
      ts.wait %token
      // expected-error @+1 {{[TS106] task 'schedule' uses 'begun' outside of a tile_loop, task 'load' inside of one over 'tiles'; tasks that share a ring persist together}}
      ts.release %token
      ts.tile_loop %queue {
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
  }
}

// -----

// A static queue has nobody to slow down.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @throttle_static(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    // expected-error @+1 {{[TS104] the pipeline of 'begun' is used on one side only: no task waits for or releases it, so it fills up after 2 stage(s); use both sides or take the pipeline out}}
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    // expected-error @+1 {{[TS106] the static queue 'tiles' has a throttle, 'begun', but nobody asks for its tiles; remove the clause, or declare the queue 'clc'}}
    %queue = ts.work_queue "tiles" static over(%n) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        // expected-note @+1 {{the producer's side is here}}
        ts.acquire %token
        ts.commit %token
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

// The answer has 16 bytes.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @bytes(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    // expected-error @+2 {{[TS216] bytes of 'tiles' are 8, expected 16 per phase: the barrier completes before all data is there; write 16, or leave the bytes out to have them inferred}}
    // expected-note @+1 {{expected: one 16-byte response per stage}}
    %queue = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 3, num_bytes = 8) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.acquire %token
        ts.commit %token
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
    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        ts.wait %token
        ts.release %token
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
  }
}

// -----

// Everyone who reads the answer gives it back: 4 warps.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @count(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    // expected-error @+2 {{[TS215] consumer count of 'tiles' is 96, expected 128 arrivals per phase by 'release': the barrier completes too early; write 128, or leave the count out to have it inferred}}
    // expected-note @+1 {{expected: 1 warp x 32 threads of 'load' + 2 warps x 32 threads of 'sum' + 1 warp x 32 threads of 'schedule' = 128}}
    %queue = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 3, consumer_count = 96) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.acquire %token
        ts.commit %token
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
    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        ts.wait %token
        ts.release %token
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The token is given in tiles that have a step only.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: safe for every k >= 1: declare min = 1}}
  ts.kernel @token_some(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    %queue = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 3) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.tile_loop %queue (%m) {
        ts.when %some is true {
          ts.acquire %token
          // expected-note @+2 {{the roles of ring 'begun' are not balanced: 'load' commits it (k > 0) times per tile, 'schedule' releases it 1 time per tile}}
          // expected-note @+1 {{'load' would arrive here, but does not get this far}}
          ts.commit %token
        }
        ts.for %i = %c0 to %k {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        // expected-error @+2 {{[TS301] deadlock when k = 0: 'load', 'sum' and 'schedule' wait for each other}}
        // expected-note @+1 {{'load' waits for the data of 'tiles' (use 0, stage 0 of 3); 1 of 1 arrivals are missing}}
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
        // expected-note @+1 {{'sum' waits for the data of 'tiles' (use 0, stage 0 of 3); 1 of 1 arrivals are missing}}
        ts.next_tile %queue
      }
    }
    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        // expected-note @+1 {{'schedule' waits for the data of 'begun' (use 0, stage 0 of 2); 32 of 32 arrivals are missing}}
        ts.wait %token
        ts.release %token
        // expected-note @+1 {{'schedule' would arrive here, but does not get this far}}
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
  }
}

// -----

// There is no cluster launch control on Hopper.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @hopper(%A: !map, %n: index, %k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    // expected-error @+1 {{[TS227] sm_90a has no cluster launch control (a clc queue); compile for one of sm_100a, sm_100f, sm_103a, or use a static queue}}
    %queue = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 3) throttle(%token)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      ts.consume %src "coords" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.acquire %token
        ts.commit %token
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
    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        ts.wait %token
        ts.release %token
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
  }
}
