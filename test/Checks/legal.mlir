// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))' -o /dev/null
// The forms that VERIFICATION.md calls legal: a careless checker rejects them.

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // Rule 1: a constant loop that runs zero times; run-time start and step without barrier ops.
  // Rule 2: one task fills and drains a staging ring. Rule 5: brackets without work.
  ts.kernel @staging(%n: index, %from: index, %step: index) warps(4) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "both" warps(0, 4) reads(%g, %r) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %c0 {
        ts.acquire %r
        ts.commit %r
      }
      ts.for %i = %from to %n step %step {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "fill" {
        }
        // The producer may look at its own stage.
        ts.consume %r "look" {
        }
        ts.commit %r
        ts.wait %r
        ts.consume %r "drain" {
        }
        ts.release %r
      }
    }
  }

  // Rule 3: ordering edges need no task behind them and may close a cycle; a read under the
  // producer's own acquire backs an edge. Rule 12: a self-edge; its consumer writes under its wait.
  ts.kernel @edges(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %pdl = ts.pdl "previous"
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" barrier pipeline(async_async, stages = 2)
    %s = ts.resource "s" smem(x: memref<64xf32>) pipeline(async_async, stages = 1)
    ts.depends %a on %pdl
    ts.depends %a on %b ordering
    ts.depends %b on %a
    ts.depends %s on %s
    ts.depends %s on %a
    ts.task "fill" warps(0, 4) reads(%pdl, %s) writes(%a, %b) {
      ts.griddep_wait %pdl
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.consume %a "old" {
        }
        ts.acquire %b
        ts.commit %b
        ts.commit %a
        ts.wait %s
        ts.produce %s "write back" {
        }
        ts.release %s
      }
    }
    ts.task "drain" warps(4, 4) reads(%a, %b) writes(%s) {
      ts.for %i = %c0 to %n {
        ts.wait %b
        ts.release %b
        ts.wait %a
        ts.acquire %s
        ts.consume %s "ping" {
        }
        ts.produce %s "pong" {
        }
        ts.commit %s
        ts.release %a
      }
    }
  }

  // Rule 5: delayed commit and release with the advance flags, head / loop / tail, guards of one
  // iteration that agree, a try ahead of the next iteration, zero trips.
  ts.kernel @delayed(%n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>)
        pipeline(async_async, stages = 4, advance_on_wait, advance_on_acquire)
    %q = ts.resource "q" barrier pipeline(async_async, stages = 1)
    ts.depends %r on %g
    ts.depends %q on %r
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      %some = arith.cmpi sgt, %n, %c0 : index
      // Run ahead by one stage: acquire before, commit one iteration late, drain after the loop.
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "fill" {
        }
        ts.guard not_first {
          ts.commit %r
        }
      }
      ts.when %some is true {
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) writes(%q) {
      ts.for %i = %c0 to %n {
        ts.guard first {
          ts.acquire %q
        }
        ts.wait %r
        ts.guard not_last {
          ts.try_wait %r
        }
        ts.consume %r "use" {
        }
        ts.release %r
        ts.guard last {
          ts.commit %q
        }
      }
    }
    ts.task "end" warps(4, 4) reads(%q) {
      // The same condition as "the loop runs".
      %some = arith.cmpi ne, %n, %c0 : index
      ts.when %some is true {
        ts.wait %q
        ts.release %q
      }
      // Two branches of one condition, and both sides of one flag.
      ts.when %flag is true {
        ts.when %some is true {
        }
      } else {
      }
    }
  }

  // Rule 5: a wait-only task, a release-only task that works behind a proxy, token-only brackets,
  // a commit that the engine performs and that is written nowhere. Rule 4 with a pipeline group.
  ts.kernel @split(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %a = ts.resource "a" smem(x: memref<64x64xbf16, #ts.smem<128>>)
        pipeline(tma_umma, stages = 4, advance_on_wait)
    %proxy = ts.resource "proxy" barrier pipeline(async_umma, stages = 4)
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %a on %g
    ts.depends %proxy on %a
    ts.depends %acc on %proxy
    ts.task "load" warps(0, 1) reads(%g) writes(%a) {
      ts.for %i = %c0 to %n {
        ts.consume %g "coords" {
        }
        ts.try_acquire %a
        ts.acquire %a
        ts.produce %a "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
      }
    }
    ts.task "sync" warps(1, 1) reads(%a) writes(%proxy) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.acquire %proxy
        ts.commit %proxy
      }
    }
    ts.task "mma" warps(2, 1) reads(%a, %proxy) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %n {
        ts.wait %proxy
        ts.consume %a "operands" {
        }
        ts.produce %acc "mma" {
        }
        ts.release %a
        ts.release %proxy
      }
      ts.commit %acc
    }
    ts.task "store" warps(4, 4) reads(%acc) {
      ts.consume %acc "prepare" aux {
      }
      ts.wait %acc
      ts.consume %acc "store" {
      }
      ts.release %acc
    }
  }

  // Rule 6: a tile that is advanced by one of two branches, work in the skippable part, a scheduler
  // of a hardware queue. Rule 8: guards of the tile loop. Rule 9: a condition without a key.
  ts.kernel @tiles(%n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %queue = ts.work_queue "tiles" clc over(%n) skip(%m) {
      %odd = arith.cmpi eq, %m, %n : index
      ts.yield %odd : i1
    }
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "schedule" warps(0, 1) reads(%queue) writes(%queue) {
      ts.tile_loop %queue {
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
    ts.task "fill" warps(4, 1) reads(%g, %queue) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %queue (%m) {
        ts.skippable {
          %some = arith.cmpi ult, %m, %n : index
          ts.for %i = %c0 to %m {
            ts.acquire %r
            ts.commit %r
          }
        }
        ts.when %flag is true {
          ts.next_tile %queue
        } else {
          ts.next_tile %queue
        }
      }
    }
    ts.task "drain" warps(5, 1) reads(%r, %queue) {
      ts.tile_loop %queue (%m) {
        ts.guard first {
        }
        ts.skippable {
          ts.for %i = %c0 to %m {
            ts.wait %r
            ts.release %r
          }
        }
        ts.next_tile %queue
      }
    }
  }

  // Groups: the collapsed op names the group.
  ts.kernel @groups(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    ts.depends %a on %g
    ts.depends %b on %g
    ts.depends %d on %ab
    ts.task "fill" warps(0, 4) reads(%g) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.consume %g "nothing" {
        }
        ts.acquire %a
        ts.produce %a "a" {
        }
        ts.commit %a
        ts.acquire %b
        ts.produce %b "b" {
        }
        ts.commit %b
      }
    }
    ts.task "drain" warps(4, 4) reads(%ab) writes(%d) {
      ts.for %i = %c0 to %n {
        ts.wait %ab
        ts.consume %a "a" {
        }
        ts.consume %b "b" {
        }
        ts.produce %d "store" {
        }
        ts.release %ab
      }
    }
  }
}
