// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS229: arrivals and syncs make up the count of a named barrier.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // One side alone completes it.
  ts.kernel @half() warps(8) {
    // expected-error @+1 {{[TS229] named barrier 'half' counts 128 threads, but the tasks that sync and arrive at it have 256: it completes before all are there; give the count 256}}
    %half = ts.named_barrier "half" threads(128)
    %right = ts.named_barrier "right" threads(256)
    // expected-note @+1 {{4 warp(s) of task 'a' arrive}}
    ts.task "a" warps(0, 4) {
      ts.barrier_arrive %half
      ts.barrier_arrive %right
    }
    // expected-note @+1 {{4 warp(s) of task 'b' sync or arrive}}
    ts.task "b" warps(4, 4) {
      ts.barrier_sync %half
      ts.barrier_arrive %half
      ts.barrier_sync %right
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // One warp of the first task and the second replica of the other one.
  ts.kernel @some() warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %right = ts.named_barrier "right" threads(96)
    // expected-error @+1 {{[TS229] named barrier 'more' counts 128 threads, but the tasks that sync and arrive at it have 96: it never completes; give the count 96}}
    %more = ts.named_barrier "more" threads(128)
    // expected-note @+1 {{1 warp(s) of task 'a' sync}}
    ts.task "a" warps(0, 4) {
      %warp = ts.info warp : index
      %first = arith.cmpi eq, %warp, %c0 : index
      scf.if %first {
        ts.barrier_sync %right
        ts.barrier_sync %more
      }
    }
    // expected-note @+1 {{2 warp(s) of task 'b' sync}}
    ts.task "b" warps(4, 4) replicas(2) (%r) {
      %second = arith.cmpi eq, %r, %c1 : index
      ts.when %second is true {
        ts.barrier_sync %right
        ts.barrier_sync %more
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @nobody() warps(4) {
    // expected-error @+1 {{[TS229] nobody waits at named barrier 'nobody': its tasks only arrive; use ts.barrier_sync in the task that waits}}
    %nobody = ts.named_barrier "nobody" threads(128)
    // expected-note @+1 {{4 warp(s) of task 'a' arrive}}
    ts.task "a" warps(0, 4) {
      ts.barrier_arrive %nobody
    }
  }
}
