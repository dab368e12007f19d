// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS101: bounds of a loop that contains barrier ops.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @thread_bound(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %g = ts.resource "g" gmem
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      // expected-note @+1 {{the thread's identity comes in here}}
      %t = ts.info thread : index
      %end = arith.addi %n, %t : index
      // expected-error @+1 {{[TS101] the end of this loop depends on the thread, but the loop contains 'acquire', which all threads of the task execute equally often; take the bound from launch arguments or the tile}}
      ts.for %i = %c0 to %end {
        ts.acquire %r
        ts.commit %r
      }
      // Without a barrier op inside, threads may run differently often.
      ts.for %i = %c0 to %end {
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
  ts.kernel @zero_step(%n: index, %step: index, %good: index min 1) warps(8) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    %s = ts.resource "s" barrier pipeline(async_async, stages = 2)
    ts.depends %s on %r
    ts.task "fill" warps(0, 4) writes(%r) {
      // expected-error @+1 {{[TS101] the step of this loop is %step, which a launch may make 0; a loop with barrier ops needs a step of at least 1 (declare it with 'min 1')}}
      ts.for %i = %c0 to %n step %step {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) writes(%s) {
      ts.for %i = %c0 to %n step %good {
        ts.wait %r
        ts.acquire %s
        ts.commit %s
        ts.release %r
      }
    }
    ts.task "end" warps(4, 4) reads(%s) {
      ts.for %i = %c0 to %n step %good {
        ts.wait %s
        ts.release %s
      }
    }
  }
}
