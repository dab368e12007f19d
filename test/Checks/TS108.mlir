// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS108: a guard speaks of a loop around it.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @outside() warps(1) {
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{[TS108] guard 'first' stands outside of every loop of task 't'; it selects iterations of the innermost ts.for or ts.tile_loop around it, so move it into one}}
      ts.guard first {
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @period() warps(1) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    ts.task "t" warps(0, 1) {
      ts.for %i = %c0 to %c8 {
        // expected-error @+1 {{'ts.guard' op [TS108] period 0 of 'every' is outside 1..2^20}}
        ts.guard every 0 {
        }
      }
    }
  }
}
