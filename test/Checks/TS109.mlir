// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS109: conditions are values that all threads and, with a key, all tasks agree on.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @keys(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    %g = ts.resource "g" gmem
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      %some = arith.cmpi sgt, %n, %c0 : index
      // expected-note @+1 {{the key is first used here}}
      ts.when %some is true key("work") {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      %more = arith.cmpi sgt, %n, %c1 : index
      // expected-error @+1 {{[TS109] key 'work' is said to have one value, but the condition of task 'drain' differs from that of task 'fill' for n = 1; derive both from the same value or use different keys}}
      ts.when %more is true key("work") {
        ts.wait %r
        ts.release %r
      }
      // The same value in another form is the same.
      %same = arith.cmpi sge, %n, %c1 : index
      ts.when %same is true key("work") {
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @threads() warps(8) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    %g = ts.resource "g" gmem
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      // expected-note @+1 {{the thread's identity comes in here}}
      %t = ts.info thread : index
      %one = arith.cmpi eq, %t, %c0 : index
      // expected-error @+1 {{[TS109] this condition differs between the threads of task 'fill', but it guards 'acquire', which all of them execute; take it from launch arguments, the tile or a value that all threads share}}
      ts.when %one is true {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @elected() warps(2) {
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    %g = ts.resource "g" gmem
    ts.depends %r on %g
    ts.task "fill" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.acquire %r
      ts.elect {
        // expected-error @+1 {{[TS109] 'commit' stands in ts.elect, but all threads of task 'fill' execute it: which of them arrive is the pipeline's; take it out of the region}}
        ts.commit %r
      }
    }
    ts.task "drain" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}
