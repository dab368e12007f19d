// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS225: register budgets against the 64 Ki registers of an SM.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @over() warps(16) {
    // expected-error @+1 {{[TS225] the register budgets of the 4 warpgroup(s) of kernel 'over' add up to 24 + 240 + 240 + 240 = 744 per thread, but the launch hands out 128 to each of 512 threads, 512 over all warpgroups, so setmaxnreg would wait for ever; lower the budgets by 232 in all}}
    ts.task "load" warps(0, 4) registers(24) {
    }
    ts.task "math" warps(4, 12) registers(240) {
    }
  }
  ts.kernel @fits() warps(12) {
    ts.task "load" warps(0, 4) registers(24) {
    }
    ts.task "math" warps(4, 8) registers(240) {
    }
  }
}
