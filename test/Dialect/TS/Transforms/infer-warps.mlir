// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines))' | FileCheck %s
// Padding warps and register groups.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // Nothing needs whole warpgroups: no padding, no budgets.
  // CHECK-LABEL: ts.kernel @plain
  // CHECK-SAME: attributes {ts.launch_warps = 3 : i64}
  ts.kernel @plain() warps(3) {
    ts.task "t" warps(0, 3) {
    }
  }
  // The tasks of one warpgroup share the largest budget; a warpgroup without one has 0.
  // CHECK-LABEL: ts.kernel @shared
  // CHECK-SAME: {ts.launch_warps = 12 : i64, ts.registers = array<i64: 40, 232, 0>}
  // expected-remark @+1 {{launches 12 warps for the 9 of kernel 'shared'}}
  ts.kernel @shared() warps(9) {
    // expected-remark @+1 {{task 'a' gets the 40 registers of warpgroup 0}}
    ts.task "a" warps(0, 1) registers(24) {
    }
    // expected-remark @+1 {{task 'b' gets the 40 registers of warpgroup 0}}
    ts.task "b" warps(1, 1) {
    }
    ts.task "c" warps(2, 2) registers(40) {
    }
    ts.task "d" warps(4, 4) registers(232) {
    }
    ts.task "e" warps(8, 1) {
    }
  }
  // A task over two warpgroups counts in both.
  // CHECK-LABEL: ts.kernel @wide
  // CHECK-SAME: {ts.launch_warps = 12 : i64, ts.registers = array<i64: 24, 240, 240>}
  ts.kernel @wide() warps(12) {
    ts.task "load" warps(0, 4) registers(24) {
    }
    ts.task "mma" warps(4, 8) registers(240) {
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // 64 Ki registers over 384 threads are 168 each, 504 over three warpgroups.
  ts.kernel @over() warps(12) {
    // expected-error @+1 {{[TS225] the register budgets of the 3 warpgroup(s) of kernel 'over' add up to 40 + 240 + 240 = 520 per thread, but the launch hands out 168 to each of 384 threads, 504 over all warpgroups, so setmaxnreg would wait for ever; lower the budgets by 16 in all}}
    ts.task "load" warps(0, 4) registers(40) {
    }
    ts.task "mma" warps(4, 8) registers(240) {
    }
  }
  // A warpgroup without a budget keeps what the launch gave it.
  ts.kernel @keeps() warps(12) {
    // expected-error @+1 {{add up to 232 + 168 + 168 = 568 per thread}}
    ts.task "mma" warps(0, 4) registers(232) {
    }
  }
  // Ranges outside of the kernel's warps are the verifier's; they must not crash here.
  // expected-remark @+1 {{launches 4 warps}}
  ts.kernel @outside() warps(1) {
    ts.task "mma" warps(30, 32) registers(240) {
    }
  }
}
