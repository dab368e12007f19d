// RUN: ts-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(ts-prove{severity=warn summary timing=false}))' -o %t 2> %t.err > %t.out
// RUN: FileCheck %s --input-file %t.out
// RUN: FileCheck %s --input-file %t.err --check-prefix=DIAG
// RUN: not ts-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(ts-prove))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: [TS301] deadlock when k >= 5
// Verdicts of the prover as diagnostics; a proof says nothing unless it is asked.

// DIAG-NOT: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // CHECK: fine: proven for every k: no deadlock, no race, no overrun, clean exit{{$}}
  ts.kernel @fine(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %ab = ts.resource "ab" smem(x: memref<64xf32, #ts.smem>) pipeline(async_async, stages = 4)
    ts.task "load" warps(0, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "fill" declared
        ts.commit %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.consume %ab "use" declared
        ts.release %ab
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // CHECK: held: deadlock when k >= 5: 'load' and 'mma' wait for each other
  // DIAG: prove.mlir:[[#@LINE+9]]:9: warning: [TS301] deadlock when k >= 5: 'load' and 'mma' wait for each other
  // DIAG: prove.mlir:[[#@LINE+8]]:9: note: 'load' waits for a free stage of 'ab' (use 4, stage 0 of 4); 32 of 32 arrivals are missing
  // DIAG: prove.mlir:[[#@LINE+16]]:9: note: 'mma' would arrive here, but does not get this far
  // DIAG: prove.mlir:[[#@LINE+12]]:9: note: 'mma' waits for the data of 'ab' (use 4, stage 0 of 4); 32 of 32 arrivals are missing
  ts.kernel @held(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %ab = ts.resource "ab" smem(x: memref<64xf32, #ts.smem>) pipeline(async_async, stages = 4, advance_on_wait)
    ts.task "load" warps(0, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.commit %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
      }
      ts.for %i = %c0 to %k {
        ts.release %ab
      }
    }
  }
  // DIAG: note: the steps of one run that ends there:
  // DIAG-NEXT: step load mma
  // DIAG-NEXT: 0 acquire ab #0 .
  // DIAG: acquire ab #4 * wait ab #4 *
  // DIAG: note: help: move the release or commit in front of the wait that it feeds, or give the ring more stages
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // A race names both accesses.
  // CHECK: early: race when k >= 2: 'load' and 'mma' touch the same memory and nothing orders them
  // DIAG: prove.mlir:[[#@LINE+9]]:9: warning: [TS302] race when k >= 2: 'load' and 'mma' touch the same memory and nothing orders them
  // DIAG: prove.mlir:[[#@LINE+8]]:9: note: write of 'ab.x', bytes [0, 256), by 'load'
  // DIAG: prove.mlir:[[#@LINE+15]]:9: note: read of 'ab.x', bytes [0, 256), by 'mma'
  ts.kernel @early(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %ab = ts.resource "ab" smem(x: memref<64xf32, #ts.smem>) pipeline(async_async, stages = 1, advance_on_wait)
    ts.task "load" warps(0, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "fill" declared
        ts.commit %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.release %ab
        ts.consume %ab "use" declared
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // The smallest count that helps is named.
  // CHECK: peeled: deadlock when k = 0: 'mma' waits for ever
  // DIAG: warning: [TS301] deadlock when k = 0: 'mma' waits for ever
  // DIAG: note: 'load' would arrive here, but has ended after 0 uses
  // DIAG: note: help: safe for every k >= 1: declare min = 1
  ts.kernel @peeled(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ab = ts.resource "ab" smem(x: memref<64xf32, #ts.smem>) pipeline(async_async, stages = 2)
    ts.task "load" warps(0, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.commit %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) {
      ts.wait %ab
      ts.release %ab
      ts.for %i = %c1 to %k {
        ts.wait %ab
        ts.release %ab
      }
    }
  }
  // CHECK: peeled_min: proven for every k >= 1
  ts.kernel @peeled_min(%k: index min 1) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ab = ts.resource "ab" smem(x: memref<64xf32, #ts.smem>) pipeline(async_async, stages = 2)
    ts.task "load" warps(0, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.commit %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) {
      ts.wait %ab
      ts.release %ab
      ts.for %i = %c1 to %k {
        ts.wait %ab
        ts.release %ab
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // An overrun names the rule.
  // CHECK: follower: overrun when k >= 1
  // DIAG: warning: [TS303] overrun when k >= 1: use 0 of the empty barrier of 'ab', stage 0 can complete before 'other' has seen use -1
  // DIAG: note: rule W2 of the prover does not hold; what happens after it depends on the interleaving
  ts.kernel @follower(%k: index) warps(3) {
    %c0 = arith.constant 0 : index
    %ab = ts.resource "ab" smem(x: memref<64xf32, #ts.smem>) pipeline(async_async, stages = 2)
    ts.task "load" warps(0, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.commit %ab
      }
    }
    ts.task "other" warps(2, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.release %ab
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // What cannot be judged is neither proven nor refuted.
  // CHECK: unknown: unknown: the parity of a wait on 'done' in 'b' is
  // DIAG: warning: {{.*}}kernel 'unknown' is not judged: the parity of a wait on 'done' in 'b' is %p, which is not affine in a loop variable
  ts.kernel @unknown(%p: i32) warps(2) {
    %done = ts.mbarrier "done" count(32)
    ts.task "a" warps(0, 1) {
      ts.mbarrier_arrive %done
    }
    ts.task "b" warps(1, 1) {
      ts.mbarrier_wait %done parity %p
    }
  }
}
