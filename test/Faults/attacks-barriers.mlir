// RUN: not %judge %s > /dev/null 2> %t.err
// RUN: %check ERR %s --input-file=%t.err
// Programs written to get a wrong schedule past the verifier: two tasks in one role, replicas on one
// scratch, batons and named barriers that do not add up, conditions and loops of one side only.

// ERR: error: [TS301] deadlock when k {{>?=}} 1: 'a[1]' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @baton_no_pass(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %b = ts.baton "b" holders(2)
    ts.task "a" warps(0, 2) replicas(2) (%rep) {
      ts.for %i = %c0 to %k {
        ts.take %b
      }
    }
  }
}

// -----

// ERR: error: [TS303] overrun when k {{>?=}} 1: an arrival of 'a[1]' for use 1 of named barrier 'b' can come while use 0 is not complete
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @baton_pass_first(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %b = ts.baton "b" holders(2)
    ts.task "a" warps(0, 2) replicas(2) (%rep) {
      ts.for %i = %c0 to %k {
        ts.pass %b
        ts.take %b
      }
    }
  }
}

// -----

// ERR: error: [TS303] overrun when k {{>?=}} 1: an arrival of 'a[1]' for use 1 of named barrier 'b' can come while use 0 is not complete
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @baton_pass_twice(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %b = ts.baton "b" holders(2)
    ts.task "a" warps(0, 2) replicas(2) (%rep) {
      ts.for %i = %c0 to %k {
        ts.take %b
        ts.pass %b
        ts.pass %b
      }
    }
  }
}

// -----

// ERR: error: [TS303] overrun when k {{>?=}} 1: an arrival of 'a[2]' for use 1 of named barrier 'b' can come while use 0 is not complete
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @baton_three_of_two(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %b = ts.baton "b" holders(2)
    ts.task "a" warps(0, 3) replicas(3) (%rep) {
      ts.for %i = %c0 to %k {
        ts.take %b
        ts.pass %b
      }
    }
  }
}

// -----

// ERR: error: [TS302] race when k {{>?=}} 1: 'c' and 'a' touch the same memory and nothing orders them
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @cp_async_not_waited(%A: memref<?xf32>, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<128xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      %t = ts.info lane : index
      %c4 = arith.constant 4 : index
      %e = arith.muli %t, %c4 : index
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "cp" (%x) {
          ts.cp_async %A[%e] to %x[%e], 16 : memref<?xf32>, memref<128xf32, #ts.smem>
          ts.cp_async_commit
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS302] race: 'a (CTA 1)' and 'a (CTA 0)' touch the same memory and nothing orders them
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @dsmem_unsynced(%k: index) warps(12) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<64xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 1) reads(%g, %s) writes(%s) {
      ts.consume %g "n" aux {
      }
      %rank = ts.info cta_rank : index
      %peer = arith.subi %c1, %rank : index
      ts.produce %s "w" (%x) {
        ts.dsmem_store %one to %x[%c0] cta(%peer) : f32, memref<64xf32, #ts.smem>
      }
      ts.consume %s "r" (%x) {
        %v = memref.load %x[%c0] : memref<64xf32, #ts.smem>
      }
      ts.cluster_sync
    }
  }
}

// -----

// ERR: error: [TS109] 'commit' stands in ts.elect, but all threads of task 'a' execute it: which of them arrive is the pipeline's; take it out of the region
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @elect_commit(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.elect {
          ts.commit %r
        }
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'barrier_sync' of task 'a' stands in 'ts.when', whose condition differs between the warps of the task, but all threads of the task are taken to come here
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @if_rank_lane(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %b = ts.named_barrier "b" threads(128)
    ts.task "a" warps(0, 4) {
      %w = ts.info warp : index
      %l = arith.cmpi eq, %w, %c0 : index
      ts.when %l is true {
        ts.barrier_sync %b
      }
    }
  }
}

// -----

// ERR: error: [TS109] this condition differs between the threads of task 'a', but it guards 'acquire', which all of them execute; take it from launch arguments, the tile or a value that all threads share
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lane_commit(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      %lane = ts.info lane : index
      %l = arith.cmpi eq, %lane, %c0 : index
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.when %l is true {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        }
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS101] the end of this loop depends on the thread, but the loop contains 'acquire', which all threads of the task execute equally often; take the bound from launch arguments or the tile
// ERR: error: [TS101] the end of this loop depends on the thread, but the loop contains 'wait', which all threads of the task execute equally often; take the bound from launch arguments or the tile
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lane_dependent_loop(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      %lane = ts.info lane : index
      ts.for %i = %c0 to %lane {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %lane {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS109] 'barrier_sync' of task 'a' stands in 'ts.when', whose condition differs between the threads of a warp
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @lane_sync(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %b = ts.named_barrier "b" threads(64)
    ts.task "a" warps(0, 1) {
      %lane = ts.info lane : index
      %l = arith.cmpi eq, %lane, %c0 : index
        ts.when %l is true {
        ts.barrier_sync %b
        }
    }
    ts.task "b" warps(1, 1) {
      ts.barrier_sync %b
    }
  }
}

// -----

// ERR: error: [TS303] overrun: 'a' arrives with 128 threads on barrier 'b', which waits for only 4 more
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @mbarrier_all_threads(%k: index) warps(12) {
    %p0 = arith.constant 0 : i32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<64xf32>)
    ts.depends %s on %g
    %b = ts.mbarrier "b" count(4)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      ts.produce %s "w" declared
      ts.mbarrier_arrive %b
    }
    ts.task "b" warps(4, 1) reads(%s) {
      ts.mbarrier_wait %b parity %p0
      ts.consume %s "r" declared
    }
  }
}

// -----

// ERR: error: [TS303] overrun: 'a' arrives with 4 threads on barrier 'b', which waits for only 1 more
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @mbarrier_elect4(%k: index) warps(12) {
    %p0 = arith.constant 0 : i32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<64xf32>)
    ts.depends %s on %g
    %b = ts.mbarrier "b" count(1)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      ts.produce %s "w" declared
      ts.elect {
        ts.mbarrier_arrive %b
      }
    }
    ts.task "b" warps(4, 1) reads(%s) {
      ts.mbarrier_wait %b parity %p0
      ts.consume %s "r" declared
    }
  }
}

// -----

// ERR: error: [TS301] deadlock: 'b' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @mbarrier_two(%k: index) warps(12) {
    %p0 = arith.constant 0 : i32
    %b = ts.mbarrier "b" count(2)
    ts.task "a" warps(0, 1) {
      ts.elect {
        ts.mbarrier_arrive %b
      }
    }
    ts.task "b" warps(1, 1) {
      ts.mbarrier_wait %b parity %p0
    }
  }
}

// -----

// ERR: error: [TS302] race when k {{>?=}} 2: 'a' and 'b' touch the same memory and nothing orders them
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_sync_loop(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<64xf32>)
    ts.depends %s on %g
    %b = ts.named_barrier "b" threads(64)
    ts.task "a" warps(0, 1) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.produce %s "w" declared
        ts.barrier_sync %b
      }
    }
    ts.task "b" warps(1, 1) reads(%s) {
      ts.for %i = %c0 to %k {
        ts.barrier_sync %b
        ts.consume %s "r" declared
      }
    }
  }
}

// -----

// ERR: error: [TS306] pdl: 'l' lets the next grid start before any task is known to have waited for the previous one
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @pdl_launch_other(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %p = ts.pdl "p"
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g, %p
    ts.task "a" warps(0, 1) reads(%g, %p) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.griddep_wait %p
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "b" warps(1, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
    ts.task "l" warps(2, 1) reads(%p) {
      ts.griddep_launch %p
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when k {{>?=}} 0: 'b' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @sync_more_often(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %b = ts.named_barrier "b" threads(64)
    ts.task "a" warps(0, 1) {
      ts.for %i = %c0 to %k {
        ts.barrier_sync %b
      }
    }
    ts.task "b" warps(1, 1) {
      ts.for %i = %c0 to %k {
        ts.barrier_sync %b
      }
      ts.barrier_sync %b
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when k {{>?=}} 1, ?cmpi eq(?ts.info, 0) is false: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @warp_commit(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%r) {
      %w = ts.info warp : index
      %l = arith.cmpi eq, %w, %c0 : index
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.when %l is true {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        }
      }
    }
    ts.task "c" warps(4, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: warning: [TS301] not checked to the end: kernel 'warp_dependent_loop' is not judged: the trip count of a loop in 'a' (0 to ?ts.info step 1) is not affine in one launch value
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @warp_dependent_loop(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      %lane = ts.info warp : index
      ts.for %i = %c0 to %lane {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(4, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS105] wait for 'r' while its previous stage is still held in task 'c'; release it first, or set advance_on_wait to hold several
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @warp_release(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(4, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(0, 4) reads(%r) {
      %w = ts.info warp : index
      %l = arith.cmpi eq, %w, %c0 : index
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.when %l is true {
          ts.release %r
        }
      }
    }
  }
}
