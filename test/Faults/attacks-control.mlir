// RUN: not %judge %s > /dev/null 2> %t.err
// RUN: %check ERR %s --input-file=%t.err
// Programs written to get a wrong schedule past the verifier: two tasks in one role, replicas on one
// scratch, batons and named barriers that do not add up, conditions and loops of one side only.

// ERR: error: [TS301] deadlock when k {{>?=}} 1: 'a' and 'b' wait for each other
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @cross_wait(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %x on %g
    %y = ts.resource "y" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %y on %g
    ts.task "a" warps(0, 1) reads(%g, %y) writes(%x) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.wait %y
        ts.acquire %x
        ts.produce %x "w" declared
        ts.commit %x
        ts.release %y
      }
    }
    ts.task "b" warps(1, 1) reads(%g, %x) writes(%y) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.acquire %y
        ts.produce %y "w" declared
        ts.commit %y
        ts.release %x
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when k {{>?=}} 1, f is false, h is true: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @different_args(%k: index, %f: i1, %h: i1) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.when %f is true {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        }
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.when %h is true {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        }
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when k {{>?=}} 1, n {{>?=}} 3: 'a' and 'c' wait for each other
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @nested_swapped_order(%k: index, %n: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    %o = ts.resource "o" smem(x: memref<64xf32>) pipeline(async_async, stages = 1)
    ts.depends %o on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r, %o) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %o
        ts.produce %o "w" declared
      ts.for %j = %c0 to %n {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
        ts.commit %o
      }
    }
    ts.task "c" warps(2, 1) reads(%r, %o) {
      ts.for %i = %c0 to %k {
        ts.wait %o
      ts.for %j = %c0 to %n {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
        ts.consume %o "r" declared
        ts.release %o
      }
    }
  }
}

// -----

// ERR: error: [TS218] task 'c' waits on the full barriers of 'r' in CTA 1, where no 'acquire' of 'a' arrives; let 'a' run on every CTA that waits, or restrict the wait to the leader CTA
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @only_cta_producer(%A: !map, %k: index) warps(12) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) only_cta(0) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !buf
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

// ERR: error: [TS301] deadlock when k {{>?=}} 1: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @opposite_keys(%k: index, %f: i1) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.when %f is true key("k") {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        }
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.when %f is false key("k") {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        }
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when number of tiles of 'q' {{>?=}} 1, q[0] {{>?=}} 0 in tile 0, q[1] {{>?=}} 1 in tile 0: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @other_coordinate(%n: index, %n2: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %q = ts.work_queue "q" static over(%n, %n2)
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g, %q) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.tile_loop %q (%m, %l) {
        ts.for %i = %c0 to %m {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        }
        ts.next_tile %q
      }
    }
    ts.task "c" warps(2, 1) reads(%r, %q) {
      ts.tile_loop %q (%m, %l) {
        ts.for %i = %c0 to %l {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// ERR: error: [TS303] overrun when k {{>?=}} 2: the result of the probe for use 0 decides the wait for use 1 of the full barrier of 'r', stage 0
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @peek_S1(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 1)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.guard not_last {
          ts.try_wait %r
        }
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when k {{>?=}} 1: 'a (CTA 0)' and 'c (CTA 1)' wait for each other
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @rank_condition(%A: !map, %k: index) warps(12) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %lead = arith.cmpi eq, %rank, %c0 : index
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.when %lead is true {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !buf
        }
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

// ERR: error: [TS301] deadlock when k {{>?=}} 3: 'a' and 'b' wait for each other
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @sequential_swapped(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    %t = ts.resource "t" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %t on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r, %t) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
      ts.for %j = %c0 to %k {
        ts.acquire %t
        ts.produce %t "w" declared
        ts.commit %t
      }
    }
    ts.task "b" warps(1, 1) reads(%r, %t) {
      ts.for %j = %c0 to %k {
        ts.wait %t
        ts.consume %t "r" declared
        ts.release %t
      }
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when number of tiles of 'q' {{>?=}} 1, skip of 'q' is true in tile 0: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @skip_one_task(%n: index) warps(12) {
    %g = ts.resource "g" gmem
    %q = ts.work_queue "q" static over(%n) skip(%m) {
      %o = arith.cmpi eq, %m, %n : index
      ts.yield %o : i1
    }
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g, %q) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.tile_loop %q (%m) {
        ts.skippable {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        }
        ts.next_tile %q
      }
    }
    ts.task "c" warps(2, 1) reads(%r, %q) {
      ts.tile_loop %q (%m) {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        ts.next_tile %q
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when k {{>?=}} 1: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_per_step_odd(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 3)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      %kk = arith.muli %k, %c2 : index
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when number of tiles of 'q' {{>?=}} 0: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_queues(%n: index, %n2: index) warps(12) {
    %g = ts.resource "g" gmem
    %q = ts.work_queue "q" static over(%n)
    %q2 = ts.work_queue "q2" static over(%n2)
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g, %q) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        ts.next_tile %q
      }
    }
    ts.task "c" warps(2, 1) reads(%r, %q2) {
      ts.tile_loop %q2 (%m) {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        ts.next_tile %q2
      }
    }
  }
}

// -----

// ERR: error: [TS301] deadlock when number of tiles of 'q' {{>?=}} 1, cmpi eq(q[0], 0) is false in tile 0, cmpi eq(q[0], 1) is true in tile 0: 'c' waits for ever
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @unkeyed_computed_cond(%n: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %q = ts.work_queue "q" static over(%n)
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g, %q) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.tile_loop %q (%m) {
        %f = arith.cmpi eq, %m, %c0 : index
        ts.when %f is true {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        }
        ts.next_tile %q
      }
    }
    ts.task "c" warps(2, 1) reads(%r, %q) {
      ts.tile_loop %q (%m) {
        %f = arith.cmpi eq, %m, %c1 : index
        ts.when %f is true {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// ERR: error: [TS303] overrun when k {{>?=}} 2: use 1 of the full barrier of 'r', stage 0 can complete before 'b' has seen use 0
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @wait_only_S1(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 1, advance_on_wait)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "b" warps(1, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "look" declared
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
