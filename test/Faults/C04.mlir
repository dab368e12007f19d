// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C04: empty tiles: unmatched arrivals and a stray phase flip. Phases cannot be flipped by hand on a
// pipeline; what is left of the fault is a task that takes the empty tile as a full one, and the same
// flip on a hand-written barrier.

// ERR: error: [TS301] deadlock when number of tiles of 'tiles' {{>?=}} 1, empty is true in tile 0: 'corr' waits for ever
// ERR: note: 'corr' waits for the data of 'o' (use 0, stage 0 of 1); 1 of 1 arrivals are missing
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @corr_takes_empty_tiles(%n: index, %empty: i1) warps(9) {
    %q = ts.work_queue "tiles" static over(%n)
    %p = ts.resource "p" tmem(s: memref<128x64xf32>) pipeline(async_umma, stages = 1)
    %o = ts.resource "o" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %o on %p
    %g = ts.resource "g" gmem
    ts.depends %p on %g
    ts.task "softmax" warps(0, 4) reads(%q, %g) writes(%p) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.when %empty is false key("empty") {
          ts.acquire %p
          ts.produce %p "p" declared
          ts.commit %p
        }
        ts.next_tile %q
      }
    }
    ts.task "mma" warps(8, 1) reads(%q, %p) writes(%o) {
      ts.tile_loop %q (%m) {
        ts.when %empty is false key("empty") {
          ts.wait %p
          ts.acquire %o
          ts.consume %p "p" declared
          ts.produce %o "o" declared
          ts.release %p
          ts.commit %o
        }
        ts.next_tile %q
      }
    }
    ts.task "corr" warps(4, 4) reads(%q, %o) {
      ts.tile_loop %q (%m) {
        ts.wait %o
        ts.consume %o "o" declared
        ts.release %o
        ts.next_tile %q
      }
    }
  }
}

// -----

// OUT: all_skip: proven for every number of tiles of 'tiles', empty: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @all_skip(%n: index, %empty: i1) warps(9) {
    %q = ts.work_queue "tiles" static over(%n)
    %p = ts.resource "p" tmem(s: memref<128x64xf32>) pipeline(async_umma, stages = 1)
    %o = ts.resource "o" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %o on %p
    %g = ts.resource "g" gmem
    ts.depends %p on %g
    ts.task "softmax" warps(0, 4) reads(%q, %g) writes(%p) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.when %empty is false key("empty") {
          ts.acquire %p
          ts.produce %p "p" declared
          ts.commit %p
        }
        ts.next_tile %q
      }
    }
    ts.task "mma" warps(8, 1) reads(%q, %p) writes(%o) {
      ts.tile_loop %q (%m) {
        ts.when %empty is false key("empty") {
          ts.wait %p
          ts.acquire %o
          ts.consume %p "p" declared
          ts.produce %o "o" declared
          ts.release %p
          ts.commit %o
        }
        ts.next_tile %q
      }
    }
    ts.task "corr" warps(4, 4) reads(%q, %o) {
      ts.tile_loop %q (%m) {
        ts.when %empty is false key("empty") {
          ts.wait %o
          ts.consume %o "o" declared
          ts.release %o
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// The flip by hand: the parity advances with every tile, also with those that bring no arrival.
// ERR: error: [TS303] overrun when number of tiles of 'tiles' {{>?=}} 2, empty is true in tile 0, empty is false in tile 1: the parity that 'corr' waits for can mean use -1 or use 1 of barrier 'o'
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @flip_on_empty(%n: index, %empty: i1) warps(2) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %q = ts.work_queue "tiles" static over(%n)
    %o = ts.mbarrier "o" count(1)
    %back = ts.mbarrier "back" count(1)
    ts.task "mma" warps(0, 1) reads(%q) {
      %last = ts.tile_loop %q (%m) iter(%phase = %c0 : i32) {
        ts.when %empty is false key("empty") {
          ts.elect {
            ts.mbarrier_arrive %o
          }
          ts.mbarrier_wait %back parity %phase
        }
        %next = arith.xori %phase, %c1 : i32
        ts.next_tile %q
        ts.yield %next : i32
      }
    }
    ts.task "corr" warps(1, 1) reads(%q) {
      %last = ts.tile_loop %q (%m) iter(%phase = %c0 : i32) {
        ts.when %empty is false key("empty") {
          ts.mbarrier_wait %o parity %phase
          ts.elect {
            ts.mbarrier_arrive %back
          }
        }
        %next = arith.xori %phase, %c1 : i32
        ts.next_tile %q
        ts.yield %next : i32
      }
    }
  }
}
