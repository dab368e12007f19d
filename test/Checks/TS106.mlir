// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS106: all tasks step through the same tiles.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @advances(%n: index, %flag: i1) warps(4) {
    %c0 = arith.constant 0 : index
    %queue = ts.work_queue "tiles" static over(%n)
    ts.task "none" warps(0, 1) reads(%queue) {
      // expected-note @+2 {{on the path with the loop runs: yes, first iteration: yes, last iteration: yes}}
      // expected-error @+1 {{[TS106] task 'none' advances 'tiles' not at all in one iteration of its tile_loop on some path; expected exactly one next_tile on every path, so that all tasks work on the same tile}}
      ts.tile_loop %queue {
      }
    }
    ts.task "twice" warps(1, 1) reads(%queue) {
      // expected-note-re @+2 {{on the path with {{.*}}flag: yes}}
      // expected-error @+1 {{[TS106] task 'twice' advances 'tiles' more than once in one iteration of its tile_loop on some path; expected exactly one next_tile on every path, so that all tasks work on the same tile}}
      ts.tile_loop %queue {
        ts.next_tile %queue
        ts.when %flag is true {
          // expected-note @+1 {{the second advance}}
          ts.next_tile %queue
        }
      }
    }
    ts.task "inside" warps(2, 1) reads(%queue) {
      ts.tile_loop %queue {
        // expected-note @+1 {{the loop}}
        ts.for %i = %c0 to %n {
          // expected-error @+1 {{[TS106] next_tile of 'tiles' stands inside a domain loop, so it takes several tiles at once; move it to the body of the tile_loop itself}}
          ts.next_tile %queue
        }
      }
    }
    ts.task "skipped" warps(3, 1) reads(%queue) {
      ts.tile_loop %queue {
        // expected-note @+1 {{the skippable region}}
        ts.skippable {
          // expected-error @+1 {{[TS106] next_tile of 'tiles' stands inside a skippable region, so a skipped tile is never left; move it to the body of the tile_loop itself}}
          ts.next_tile %queue
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @schedulers(%n: index) warps(4) {
    %static = ts.work_queue "static" static over(%n)
    %two = ts.work_queue "two" clc over(%n)
    // expected-error @+1 {{[TS106] no task fetches from the clc queue 'nobody'; one scheduler task does acquire, fetch_tile and commit per tile}}
    %nobody = ts.work_queue "nobody" clc over(%n)
    ts.task "a" warps(0, 1) reads(%static) writes(%static) {
      ts.tile_loop %static {
        // expected-error @+1 {{[TS106] task 'a' fetches from the static queue 'static', whose tiles every CTA computes itself; remove the fetch, or declare the queue 'clc'}}
        ts.fetch_tile %static
        ts.next_tile %static
      }
    }
    ts.task "b" warps(1, 1) reads(%two) writes(%two) {
      ts.tile_loop %two {
        ts.acquire %two
        // expected-note @+1 {{task 'b' fetches already}}
        ts.fetch_tile %two
        ts.commit %two
        ts.next_tile %two
      }
    }
    ts.task "c" warps(2, 1) reads(%two) writes(%two) {
      ts.tile_loop %two {
        ts.acquire %two
        // expected-error @+1 {{[TS106] 2 tasks fetch from the clc queue 'two', expected one: each tile is handed out once}}
        ts.fetch_tile %two
        ts.commit %two
        ts.next_tile %two
      }
    }
    ts.task "d" warps(3, 1) reads(%nobody) {
      ts.tile_loop %nobody {
        ts.next_tile %nobody
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @together(%n: index) warps(8) {
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g, %queue) writes(%r) {
      ts.tile_loop %queue {
        ts.consume %g "nothing" aux {
        }
        ts.acquire %r
        // expected-note @+1 {{used once per tile here}}
        ts.commit %r
        ts.next_tile %queue
      }
    }
    ts.task "drain" warps(4, 3) reads(%r) {
      ts.wait %r
      // expected-error @+1 {{[TS106] task 'drain' uses 'r' outside of a tile_loop, task 'fill' inside of one over 'tiles'; tasks that share a ring persist together}}
      ts.release %r
    }
    // expected-error @+1 {{[TS106] task 'idle' takes part in queue 'tiles' but has no tile_loop over it; every task of a persistent kernel steps through all tiles}}
    ts.task "idle" warps(7, 1) reads(%queue) {
      // expected-error @+1 {{[TS106] next_tile of 'tiles' stands outside of a tile_loop over it in task 'idle'; the tile is advanced once per iteration of that loop}}
      ts.next_tile %queue
    }
  }
}
