// RUN: %judge %s 2>&1 | %check OUT %s
// Right programs that a careless verifier would reject.

// OUT: computed_cond_same: proven for every number of tiles of 'q', cmpi eq(q[0], 0): no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @computed_cond_same(%n: index) warps(12) {
    %c0 = arith.constant 0 : index
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
        %f = arith.cmpi eq, %m, %c0 : index
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

// OUT: memory_condition_key: proven for every m: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @memory_condition_key(%M: memref<?xi1>) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      %f = memref.load %M[%c0] : memref<?xi1>
      ts.when %f is true key("m") {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      %f = memref.load %M[%c0] : memref<?xi1>
      ts.when %f is true key("m") {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// OUT: nested: proven for every k, n: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @nested(%k: index, %n: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
      ts.for %j = %c0 to %n {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
      ts.for %j = %c0 to %n {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
      }
    }
  }
}

// -----

// OUT: pair_of_replicas: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @pair_of_replicas(%k: index) warps(12) {
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
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 2) replicas(2) (%rep) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// OUT: peek_S2: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @peek_S2(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, advance_on_wait)
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
        ts.guard not_last {
          ts.try_wait %r
        }
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// OUT: same_arg_no_key: proven for every k, f: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @same_arg_no_key(%k: index, %f: i1) warps(12) {
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
        ts.when %f is true {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        }
      }
    }
  }
}

// -----

// OUT: same_coordinate: proven for every number of tiles of 'q', q[1]: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @same_coordinate(%n: index, %n2: index) warps(12) trips_per_tile {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %q = ts.work_queue "q" static over(%n, %n2)
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g, %q) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.tile_loop %q (%m, %l) {
        ts.for %i = %c0 to %l {
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

// OUT: same_keys: proven for every k, k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @same_keys(%k: index, %f: i1) warps(12) {
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
        ts.when %f is true key("k") {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        }
      }
    }
  }
}

// -----

// OUT: self_lag: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @self_lag(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g, %r) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.acquire %r
      ts.produce %r "w" declared
      ts.commit %r
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
      ts.wait %r
      ts.consume %r "r" declared
      ts.release %r
    }
  }
}

// -----

// OUT: sequential_loops: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @sequential_loops(%k: index) warps(12) {
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
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
      ts.for %j = %c0 to %k {
        ts.wait %t
        ts.consume %t "r" declared
        ts.release %t
      }
    }
  }
}

// -----

// OUT: shifted_loop: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @shifted_loop(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
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
      %kk = arith.addi %k, %c1 : index
      ts.for %i = %c1 to %kk {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// OUT: skip_both: proven for every number of tiles of 'q', skip of 'q': no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @skip_both(%n: index) warps(12) {
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
        ts.skippable {
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

// OUT: two_consumers: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_consumers(%k: index) warps(12) {
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

// OUT: two_per_step: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_per_step(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 3)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      %kk = arith.muli %k, %c2 : index
      ts.for %i = %c0 to %kk {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
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
