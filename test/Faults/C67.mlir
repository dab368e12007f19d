// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C67: arrive and sync together make the count.

// OUT: both: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @both() warps(8) {
    %b = ts.named_barrier "b" threads(256)
    ts.task "wg0" warps(0, 4) {
      ts.barrier_arrive %b
    }
    ts.task "wg1" warps(4, 4) {
      ts.barrier_sync %b
    }
  }
}

// -----

// 'Fixed': each side alone completes the barrier.
// ERR: error: [TS229] named barrier 'b' counts 128 threads, but the tasks that sync and arrive at it have 256: it completes before all are there; give the count 256
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @each_alone() warps(8) {
    %b = ts.named_barrier "b" threads(128)
    ts.task "wg0" warps(0, 4) {
      ts.barrier_arrive %b
    }
    ts.task "wg1" warps(4, 4) {
      ts.barrier_sync %b
    }
  }
}
