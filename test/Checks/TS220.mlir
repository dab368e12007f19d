// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS220: a wait override where the consumer is not split.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_task(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS220] consumer wait signalling of 'r' is set, but 'drain' both waits and releases: there is no split consumer; remove the override, or let one task wait and another one release}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, consumer_wait_signal = cta_leader)
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    // expected-note @+1 {{task 'drain' takes part here}}
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// The same set on both sides overrides nothing.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @same_set(%n: index) warps(9) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS220] consumer wait signalling of 'r' is all, the same as the release side's; remove the override, or give wait and release different signalling}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, consumer_wait_signal = all, advance_on_wait)
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "wait" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
      }
    }
    ts.task "release" warps(8, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.release %r
      }
    }
  }
}

// -----

// One task waits, two release, one of which waits as well: still no split.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @half_split(%n: index) warps(6) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS220] consumer wait signalling of 'r' is set, but 'both' both waits and releases: there is no split consumer; remove the override, or let one task wait and another one release}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, consumer_wait_signal = cta_leader, advance_on_wait)
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    // expected-note @+1 {{task 'both' takes part here}}
    ts.task "both" warps(4, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
    ts.task "release" warps(5, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.release %r
      }
    }
  }
}

// -----

// Split for real: no finding.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @split(%n: index) warps(9) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, consumer_wait_signal = cta_leader, advance_on_wait)
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "wait" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
      }
    }
    ts.task "release" warps(8, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.release %r
      }
    }
  }
}
