// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS221: lanes of an interleaved ring.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @divides(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{[TS221] interleave stride 3 of 'acquire' on 'r' does not divide its 4 stages; use a stride that divides the stages, or change the stages}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = 3)
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// Four warps for two lanes, and a loop that is no lane's.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lanes(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{[TS221] task 'fill' executes 'acquire' of 'r' with stride 2, but has 4 warps and its loop starts at 0 with step 1; give the task 2 warps (one lane each), or make one task per lane with loop start 0 to 1 and step 2}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 1, 1))
    // expected-note @+1 {{task 'fill' takes part here}}
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// Two siblings on one lane leave the other one to nobody.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lane_twice(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+3 {{[TS221] tasks 'fill0' and 'fill1' both own lane 0 of 'r'; start each sibling's loop at a lane of its own}}
    // expected-error @+2 {{[TS221] nobody executes 'acquire' of 'r' on lane 1 of 2; add a sibling task whose loop starts at that lane}}
    // expected-note @+1 {{expected: 2 lanes with a sibling task each, found 1}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 1, 1))
    ts.task "fill0" warps(0, 1) writes(%r) {
      ts.for %i = %c0 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    // expected-note @+1 {{task 'fill1' takes part here}}
    ts.task "fill1" warps(1, 1) writes(%r) {
      ts.for %i = %c0 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lane_missing(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+2 {{[TS221] nobody executes 'acquire' of 'r' on lane 1 of 2; add a sibling task whose loop starts at that lane}}
    // expected-note @+1 {{expected: 2 lanes with a sibling task each, found 1}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 1, 1))
    ts.task "fill" warps(0, 1) writes(%r) {
      ts.for %i = %c0 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lane_widths(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{[TS221] lanes of 'r' differ: 'fill0' has 1 warp, 'fill1' has 3; give every sibling task the same number of warps: all stages expect one count}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 1, 1))
    ts.task "fill0" warps(0, 1) writes(%r) {
      ts.for %i = %c0 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    // expected-note @+1 {{task 'fill1' takes part here}}
    ts.task "fill1" warps(1, 3) writes(%r) {
      ts.for %i = %c1 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// Opened by lanes, closed in turn, by one task and with one cursor.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @strides_differ(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+2 {{[TS221] 'acquire' and 'commit' of 'r' have strides 4 and 1, but share one cursor; set advance_on_acquire, or use equal strides}}
    // expected-error @+1 {{[TS221] task 'fill' executes 'acquire' and 'commit' of 'r', whose strides 4 and 1 differ; let one task open and another one close, or use equal strides}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (4, 1, 1, 1))
    // expected-note @+1 {{task 'fill' takes part here}}
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @no_lanes_of_umma(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{[TS221] producer of 'r' is interleaved, but umma_async supports lanes on its consumer side only; use stride 1 for acquire and commit}}
    %r = ts.resource "r" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 4, interleave = (2, 2, 1, 1))
    ts.task "fill0" warps(0, 1) writes(%r) {
      ts.for %i = %c0 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "fill1" warps(1, 1) writes(%r) {
      ts.for %i = %c1 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// TMA lanes stay within one CTA.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @cluster(%n: index) warps(8) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{[TS221] 'r' is interleaved over a cluster of 2 CTAs, but tma_async supports lanes within one CTA only; use interleave stride 1, or give the pipeline a layout of one CTA}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(tma_async, stages = 4, interleave = (2, 2, 1, 1))
    ts.task "fill0" warps(0, 1) writes(%r) {
      ts.for %i = %c0 to %n step %c2 {
        ts.acquire %r
        ts.produce %r "load" declared effects [#ts.effect<write "x", engine = tma>]
        ts.commit %r
      }
    }
    ts.task "fill1" warps(1, 1) writes(%r) {
      ts.for %i = %c1 to %n step %c2 {
        ts.acquire %r
        ts.produce %r "load" declared effects [#ts.effect<write "x", engine = tma>]
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// One sibling task per lane on one side, one warp per lane on the other: no finding.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @siblings(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 4, 4))
    ts.task "fill0" warps(0, 1) writes(%r) {
      ts.for %i = %c0 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "fill1" warps(1, 1) writes(%r) {
      ts.for %i = %c1 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}
