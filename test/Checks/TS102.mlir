// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS102: a task uses a resource on the side that it declares.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @wrong_side() warps(8) {
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    ts.depends %r on %g
    // expected-note @+1 {{task 'fill' declares it here}}
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.acquire %r
      ts.commit %r
      // expected-error @+1 {{[TS102] 'wait' is a consumer's op, but task 'fill' lists 'r' under 'writes'; use try_acquire, acquire, produce and commit there, or list the resource under 'reads'}}
      ts.wait %r
    }
    // expected-note @+1 {{task 'drain' declares it here}}
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.wait %r
      // expected-error @+2 {{[TS102] 'produce' is a producer's op, but task 'drain' lists 'r' under 'reads'; use try_wait, wait, consume and release there, or list the resource under 'writes' (both for a task that fills and drains it)}}
      // expected-error @+1 {{[TS105] work 'late' writes 'r' outside of acquire and commit in task 'drain', when the stage belongs to the consumer; put it between them, or mark it 'aux' if it touches no memory}}
      ts.produce %r "late" {
      }
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @undeclared() warps(8) {
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    %s = ts.resource "s" barrier pipeline(async_async, stages = 2)
    ts.depends %s on %r
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.acquire %r
      ts.commit %r
    }
    ts.task "drain" warps(4, 4) reads(%r) writes(%s) {
      ts.wait %r
      ts.acquire %s
      ts.commit %s
      ts.release %r
    }
    ts.task "end" warps(4, 4) {
      // expected-error @+1 {{[TS102] 'wait' on resource 's', which task 'end' does not declare; add it to the task's 'reads'}}
      ts.wait %s
      // expected-error @+1 {{[TS102] 'release' on resource 's', which task 'end' does not declare; add it to the task's 'reads'}}
      ts.release %s
    }
  }
}
