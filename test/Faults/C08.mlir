// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C08: a parity taken from the wrong counter. Pipelines derive theirs; barriers by hand can have it.

// (a) One barrier completes in every iteration, the parity changes in every third.
// ERR: error: [TS303] overrun when k {{>?=}} 2: the parity that 'load' waits for can mean use 0 or use 2 of barrier 'done'
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @every_third(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %done = ts.mbarrier "done" count(1)
    %back = ts.mbarrier "back" count(1)
    ts.task "mma" warps(0, 1) {
      ts.for %i = %c0 to %k {
        ts.elect {
          ts.mbarrier_arrive %done
        }
        %r = arith.remui %i, %c2 : index
        %p = arith.index_cast %r : index to i32
        ts.mbarrier_wait %back parity %p
      }
    }
    ts.task "load" warps(1, 1) {
      ts.for %i = %c0 to %k {
        %d = arith.divui %i, %c3 : index
        %r = arith.remui %d, %c2 : index
        %p = arith.index_cast %r : index to i32
        ts.mbarrier_wait %done parity %p
        ts.elect {
          ts.mbarrier_arrive %back
        }
      }
    }
  }
}

// -----

// OUT: own_count: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @own_count(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %done = ts.mbarrier "done" count(1)
    %back = ts.mbarrier "back" count(1)
    ts.task "mma" warps(0, 1) {
      ts.for %i = %c0 to %k {
        ts.elect {
          ts.mbarrier_arrive %done
        }
        %r = arith.remui %i, %c2 : index
        %p = arith.index_cast %r : index to i32
        ts.mbarrier_wait %back parity %p
      }
    }
    ts.task "load" warps(1, 1) {
      ts.for %i = %c0 to %k {
        %r = arith.remui %i, %c2 : index
        %p = arith.index_cast %r : index to i32
        ts.mbarrier_wait %done parity %p
        ts.elect {
          ts.mbarrier_arrive %back
        }
      }
    }
  }
}

// -----

// (b) Each barrier is used once; the odd ones are waited for with parity 1.
// ERR: error: [TS303] overrun: the parity that 'use' waits for can mean use -1 or use 1 of barrier 'b1'
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @parity_of_the_index() warps(2) {
    %p0 = arith.constant 0 : i32
    %p1 = arith.constant 1 : i32
    %b0 = ts.mbarrier "b0" count(1)
    %b1 = ts.mbarrier "b1" count(1)
    ts.task "fill" warps(0, 1) {
      ts.elect {
        ts.mbarrier_arrive %b0
        ts.mbarrier_arrive %b1
      }
    }
    ts.task "use" warps(1, 1) {
      ts.mbarrier_wait %b0 parity %p0
      ts.mbarrier_wait %b1 parity %p1
    }
  }
}

// -----

// OUT: parity_zero: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @parity_zero() warps(2) {
    %p0 = arith.constant 0 : i32
    %b0 = ts.mbarrier "b0" count(1)
    %b1 = ts.mbarrier "b1" count(1)
    ts.task "fill" warps(0, 1) {
      ts.elect {
        ts.mbarrier_arrive %b0
        ts.mbarrier_arrive %b1
      }
    }
    ts.task "use" warps(1, 1) {
      ts.mbarrier_wait %b0 parity %p0
      ts.mbarrier_wait %b1 parity %p0
    }
  }
}

// -----

// A parity that is no function of a loop is not judged, and never proven.
// ERR: warning: [TS301] not checked to the end: kernel 'any_parity' is not judged: the parity of a wait on 'b' in 'use' is %p, which is not affine in a loop variable
// OUT: any_parity: unknown: the parity of a wait on 'b' in 'use' is %p, which is not affine in a loop variable
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @any_parity(%p: i32) warps(2) {
    %b = ts.mbarrier "b" count(1)
    ts.task "fill" warps(0, 1) {
      ts.elect {
        ts.mbarrier_arrive %b
      }
    }
    ts.task "use" warps(1, 1) {
      ts.mbarrier_wait %b parity %p
    }
  }
}
