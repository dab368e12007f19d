// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS104: what a task declares is used, and a pipeline has two sides.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @unused() warps(1) {
    // expected-note @+1 {{the resource is declared here}}
    %a = ts.resource "a" gmem
    %b = ts.resource "b" gmem
    ts.depends %b on %a
    // expected-error @+1 {{[TS104] task 't' reads 'a', but no op of its schedule uses it; use it or take it out of 'reads'}}
    ts.task "t" warps(0, 1) reads(%a) writes(%b) {
      ts.produce %b "b" aux {
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_side() warps(1) {
    %a = ts.resource "a" gmem
    // expected-error @+1 {{[TS104] the pipeline of 'r' is used on one side only: no task waits for or releases it, so it fills up after 2 stage(s); use both sides or take the pipeline out}}
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    ts.depends %r on %a
    ts.task "t" warps(0, 1) reads(%a) writes(%r) {
      ts.consume %a "a" aux {
      }
      // expected-note @+1 {{the producer's side is here}}
      ts.acquire %r
      ts.commit %r
    }
  }
}
