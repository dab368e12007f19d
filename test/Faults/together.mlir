// RUN: not %judge %s > /dev/null 2> %t.err
// RUN: %check ERR %s --input-file=%t.err
// What a warp or all threads of a task do together, where some of them do not come.

// ERR: error: [TS109] 'warp_sync' of task 'a' stands in 'scf.if', whose condition differs between the threads of a warp, but the operation needs the whole warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @lane_if(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %i = arith.cmpi slt, %l, %k : index
      scf.if %i {
        ts.warp_sync
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'warp_sync' of task 'a' stands in 'scf.if', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @lane_else(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %s = arith.addi %t, %k : index
      %i = arith.cmpi slt, %s, %c32 : index
      scf.if %i {
      } else {
        ts.warp_sync
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'warp_sync' of task 'a' stands in 'scf.for', whose number of iterations differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @lane_for(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      scf.for %i = %c0 to %l step %c1 {
        ts.warp_sync
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'warp_sync' of task 'a' stands in 'ts.when', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @lane_when(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %i = arith.cmpi eq, %l, %c0 : index
      ts.when %i is true {
        ts.warp_sync
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'warp_sync' of task 'a' stands in 'scf.if', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @load_at_thread(%k: index, %X: memref<?xindex>) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %x = memref.load %X[%t] : memref<?xindex>
      %i = arith.cmpi eq, %x, %c0 : index
      scf.if %i {
        ts.warp_sync
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'warp_sync' of task 'a' stands in 'scf.if', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @carried(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %x = scf.for %i = %c0 to %k step %c1 iter_args(%s = %c0) -> index {
        %n = arith.addi %s, %l : index
        scf.yield %n : index
      }
      %i = arith.cmpi eq, %x, %c0 : index
      scf.if %i {
        ts.warp_sync
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'warp_sync' of task 'a' stands in 'scf.if', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @nested(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %i = arith.cmpi slt, %l, %c4 : index
      %j = arith.cmpi slt, %w, %c2 : index
      scf.if %i {
        scf.if %j {
          ts.warp_sync
        }
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'barrier_sync' of task 'a' stands in 'scf.if', whose condition differs between the warps of the task
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @barrier_of_some_warps(%k: index, %X: memref<?xindex>) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %b = ts.named_barrier "b" threads(128)
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %x = memref.load %X[%w] : memref<?xindex>
      %i = arith.cmpi eq, %x, %c0 : index
      scf.if %i {
        ts.barrier_sync %b
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'cluster_sync' of task 'a' stands in 'scf.for', whose number of iterations differs between the warps of the task
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @loop_of_meetings(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      scf.for %i = %c0 to %w step %c1 {
        ts.cluster_sync
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'mbarrier_arrive' of task 'a' stands in 'scf.if', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @one_thread_arrives(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %b = ts.mbarrier "b" count(4)
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %z = arith.constant 0 : i32
      %i = arith.cmpi eq, %t, %c0 : index
      scf.if %i {
        ts.mbarrier_arrive %b
      }
      ts.mbarrier_wait %b parity %z
    }
  }
}

// -----

// ERR: error: [TS109] 'mbarrier_arrive' of task 'a' stands in 'scf.if', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @two_lanes_arrive(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %b = ts.mbarrier "b" count(4)
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %z = arith.constant 0 : i32
      %i = arith.cmpi slt, %l, %c2 : index
      scf.if %i {
        ts.mbarrier_arrive %b
      }
      ts.mbarrier_wait %b parity %z
    }
  }
}
