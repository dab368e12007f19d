// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C34: barrier storage overlaps something live. Barriers have no init and inval in the program: they
// live as long as the kernel, and the compiler places them apart from everything else.

// (a) Two pipelines put their barriers into storage for one.
// ERR: error: [TS230] barriers 'b.full' cannot go into 'mine.bars': it has 32 bytes, of which 32 are taken, and they need 16 (8 for each of 2 stages)
// ERR: error: [TS230] barriers 'b.empty' cannot go into 'mine.bars': it has 32 bytes, of which 32 are taken, and they need 16 (8 for each of 2 stages)
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @same_place(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %mine = ts.resource "mine" smem(bars: memref<4xi64> unstaged)
    %a = ts.resource "a" barrier pipeline(async_async, stages = 2) barriers(%mine : "bars")
    %b = ts.resource "b" barrier pipeline(async_async, stages = 2) barriers(%mine : "bars")
    ts.depends %a on %g
    ts.depends %b on %a
    ts.task "one" warps(0, 1) reads(%g, %b) writes(%a) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.commit %a
        ts.wait %b
        ts.release %b
      }
    }
    ts.task "two" warps(1, 1) reads(%a) writes(%b) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.release %a
        ts.acquire %b
        ts.commit %b
      }
    }
  }
}

// -----

// (b) Scratch of another phase lies over the barriers.
// ERR: error: [TS230] barriers 'a.full' cannot go into 'mine.bars': alias group 'reuse' lets other phases overwrite it
// ERR: error: [TS230] barriers 'a.empty' cannot go into 'mine.bars': alias group 'reuse' lets other phases overwrite it
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @under_scratch(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %mine = ts.resource "mine" smem(bars: memref<4xi64> unstaged)
    %s = ts.resource "s" smem(x: memref<64xf32>)
    %a = ts.resource "a" barrier pipeline(async_async, stages = 2) barriers(%mine : "bars")
    ts.depends %a on %g
    ts.alias_group "reuse" (%mine, %s) phases [1, 1]
    ts.task "one" warps(0, 1) reads(%g) writes(%a) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.commit %a
      }
    }
    ts.task "two" warps(1, 1) reads(%a) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.release %a
      }
    }
  }
}

// -----

// The same by pinned places.
// ERR: error: [TS230] allocation 's.x' lies on the barriers 'a.empty' at bytes 16 to 32, whose state every store into it overwrites; pin it elsewhere, or let the compiler place it
// ERR: note: 'a.empty' lie in 'mine.bars'
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @pinned_over(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %mine = ts.resource "mine" smem(bars: memref<4xi64> at 0 unstaged)
    %s = ts.resource "s" smem(x: memref<64xf32> at 16)
    %a = ts.resource "a" barrier pipeline(async_async, stages = 2) barriers(%mine : "bars")
    ts.depends %a on %g
    ts.depends %s on %a
    ts.task "one" warps(0, 1) reads(%g) writes(%a) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.commit %a
      }
    }
    ts.task "two" warps(1, 1) reads(%a) writes(%s) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.produce %s "scratch" declared
        ts.release %a
      }
    }
  }
}

// -----

// Room for both.
// OUT: room_for_both: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @room_for_both(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %mine = ts.resource "mine" smem(bars: memref<8xi64> unstaged)
    %a = ts.resource "a" barrier pipeline(async_async, stages = 2) barriers(%mine : "bars")
    %b = ts.resource "b" barrier pipeline(async_async, stages = 2) barriers(%mine : "bars")
    ts.depends %a on %g
    ts.depends %b on %a
    ts.task "one" warps(0, 1) reads(%g, %b) writes(%a) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.commit %a
        ts.wait %b
        ts.release %b
      }
    }
    ts.task "two" warps(1, 1) reads(%a) writes(%b) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.release %a
        ts.acquire %b
        ts.commit %b
      }
    }
  }
}
