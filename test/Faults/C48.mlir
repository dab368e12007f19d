// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C48: a register hand-over that can never be satisfied: 64 Ki registers, entry budget 65536 / threads rounded down to 8.

// ERR: error: [TS225] the register budgets of the 4 warpgroup(s) of kernel 'three_of_240' add up to 24 + 240 + 240 + 240 = 744 per thread, but the launch hands out 128 to each of 512 threads, 512 over all warpgroups, so setmaxnreg would wait for ever; lower the budgets by 232 in all
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @three_of_240() warps(16) {
    ts.task "load" warps(0, 4) registers(24) {
    }
    ts.task "math" warps(4, 12) registers(240) {
    }
  }
}

// -----

// Nobody gives registers back before two warpgroups ask for more.
// ERR: error: [TS225] the register budgets of the 4 warpgroup(s) of kernel 'no_decrease' add up to 128 + 168 + 168 + 128 = 592 per thread, but the launch hands out 128 to each of 512 threads, 512 over all warpgroups, so setmaxnreg would wait for ever; lower the budgets by 80 in all
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_decrease() warps(16) {
    ts.task "load" warps(0, 4) {
    }
    ts.task "math" warps(4, 8) registers(168) {
    }
    ts.task "more" warps(12, 4) {
    }
  }
}

// -----

// OUT: two_of_240: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_of_240() warps(12) {
    ts.task "load" warps(0, 4) registers(24) {
    }
    ts.task "math" warps(4, 8) registers(240) {
    }
  }
}

// -----

// OUT: three_of_160: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @three_of_160() warps(16) {
    ts.task "load" warps(0, 4) registers(24) {
    }
    ts.task "math" warps(4, 12) registers(160) {
    }
  }
}
