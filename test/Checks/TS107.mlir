// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS107: a slot is not given back before the op that reads it was issued.

!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @early(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 4, advance_on_wait)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "load" warps(0, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %k = %c0 to %n {
        ts.acquire %ab
        ts.produce %ab "load" declared
        ts.commit %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %k = %c0 to %n {
        ts.wait %ab
        // expected-note @+1 {{the operand comes from here}}
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        // expected-note @+1 {{released here}}
        ts.release %ab
        ts.produce %acc "mma" (%c) {
          // expected-error @+1 {{[TS107] reads the stage of 'ab' that 'operands' saw, but task 'mma' has released it before; move the release behind this op}}
          ts.umma %c, %a, %b : !acc, !tile, !tile
        }
      }
      ts.commit %acc
    }
    ts.task "store" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.release %acc
    }
  }
}

// -----

!tile = memref<128x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  // Two stages held: the release gives back the older one. Work without a body says what it uses.
  ts.kernel @two_held(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %a = ts.resource "a" smem(a: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %d = ts.resource "d" gmem
    ts.depends %a on %g
    ts.depends %d on %a
    ts.task "load" warps(0, 1) reads(%g) writes(%a) {
      ts.consume %g "coords" {
      }
      ts.for %k = %c0 to %n {
        ts.acquire %a
        ts.produce %a "load" declared
        ts.acquire %a
        ts.produce %a "load" declared
      }
    }
    ts.task "use" warps(4, 4) reads(%a) writes(%d) {
      ts.for %k = %c0 to %n {
        ts.wait %a
        // expected-note @+1 {{the operand comes from here}}
        %first = ts.consume %a "first" (%x) -> !tile {
          ts.yield %x : !tile
        }
        ts.wait %a
        %second = ts.consume %a "second" (%x) -> !tile {
          ts.yield %x : !tile
        }
        // expected-note @+1 {{released here}}
        ts.release %a
        ts.produce %d "legal" uses(%second : !tile) declared
        // expected-error @+1 {{[TS107] reads the stage of 'a' that 'first' saw, but task 'use' has released it before; move the release behind this op}}
        ts.produce %d "late" uses(%first : !tile) declared
        ts.release %a
      }
    }
  }
}
