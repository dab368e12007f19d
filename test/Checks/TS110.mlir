// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS110: names resolve.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @storage() warps(8) {
    // expected-note @+1 {{the storage is declared here}}
    %s = ts.resource "s" smem(bars: memref<4xi64> unstaged, other: memref<4xi64> unstaged)
    // expected-error @+1 {{[TS110] barriers of 'r' are placed in 'barz', an allocation that resource 's' does not have; did you mean 'bars'?}}
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2) barriers(%s : "barz")
    ts.depends %r on %s
    ts.task "fill" warps(0, 4) reads(%s) writes(%r) {
      ts.consume %s "nothing" aux {
      }
      ts.acquire %r
      ts.commit %r
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @waivers() warps(1) {
    // expected-error @+1 {{[TS110] 'TS1O4' in ts.waive is no check; did you mean 'TS104'?}}
    ts.task "a" warps(0, 1) attributes {ts.waive = {TS1O4 = "a typing error"}} {
    }
    // expected-error @+1 {{[TS110] waiving TS104 needs a reason: write ts.waive = {TS104 = "why this is right"}}}
    ts.task "b" warps(0, 1) attributes {ts.waive = {TS104 = ""}} {
    }
  }
}
