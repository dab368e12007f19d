// RUN: %judge %s 2>&1 | %check OUT %s
// Conditions on the thread that those who act together agree on.

// OUT: warp_if: proven
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @warp_if(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %i = arith.cmpi slt, %w, %k : index
      scf.if %i {
        ts.warp_sync
      }
      scf.for %j = %c0 to %w step %c1 {
        ts.warp_sync
      }
    }
  }
}

// -----

// OUT: warp_of_thread: proven
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @warp_of_thread(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %v = arith.divui %t, %c32 : index
      %s = arith.addi %v, %k : index
      %i = arith.cmpi slt, %s, %c4 : index
      scf.if %i {
        ts.warp_sync
      }
    }
  }
}

// -----

// OUT: load_at_warp: proven
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @load_at_warp(%k: index, %X: memref<?xindex>) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %x = memref.load %X[%w] : memref<?xindex>
      %i = arith.cmpi eq, %x, %c0 : index
      scf.if %i {
        ts.warp_sync
      }
    }
  }
}

// -----

// OUT: vote: proven
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @vote(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %all = arith.constant -1 : i32
      %s = arith.addi %t, %k : index
      %i = arith.cmpi eq, %s, %c4 : index
      %any = nvvm.vote.sync any %all, %i -> i1
      scf.if %any {
        ts.warp_sync
      }
    }
  }
}

// -----

// OUT: always: proven
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @always(%k: index) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    ts.task "a" warps(0, 4) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : index
      %c128 = arith.constant 128 : index
      %i = arith.cmpi slt, %t, %c128 : index
      scf.if %i {
        ts.cluster_sync
        ts.warp_sync
      }
    }
  }
}

// -----

// OUT: first_lanes_arrive: proven
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @first_lanes_arrive(%k: index) warps(4) {
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
      %i = arith.cmpi eq, %l, %c0 : index
      scf.if %i {
        ts.mbarrier_arrive %b
      }
      ts.mbarrier_wait %b parity %z
    }
  }
}
