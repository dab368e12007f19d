// RUN: %judge %s 2>&1 | %check OUT %s --implicit-check-not=assumed
// Threads of one task that share a buffer in the right way: nothing is refused, and nothing but what
// stands here is assumed.

// OUT: own_element: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @own_element(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
        %v = memref.load %x[%t] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// OUT: reverse: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @reverse(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
        ts.barrier_sync %bar
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// OUT: reverse_in_loop: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @reverse_in_loop(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.for %i = %c0 to %k {
        ts.produce %s "st" (%x) {
          memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
          ts.barrier_sync %bar
          %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
          ts.barrier_sync %bar
        }
      }
    }
  }
}

// -----

// OUT: epilogue: proven
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @epilogue(%D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x32xf32, #ts.tmem>) pipeline(umma_async, stages = 2)
    %s = ts.resource "s" gmem(x: !tile)
    ts.depends %acc on %g
    ts.depends %s on %acc
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "mma" warps(4, 1) reads(%g) writes(%acc) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
      }
    }
    ts.task "store" warps(0, 4) reads(%acc) writes(%s) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lead = arith.cmpi eq, %w, %c0 : index
      ts.for %i = %c0 to %k {
        ts.wait %acc
        %r = ts.consume %acc "load" (%c) -> vector<32xf32> {
          %l = ts.tmem_load %c[%c0] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
          ts.yield %l : vector<32xf32>
        }
        ts.release %acc
        ts.produce %s "st" (%x) {
          scf.if %lead {
            ts.bulk_wait 0 read
          }
          ts.barrier_sync %bar
          vector.store %r, %x[%t, %c0] : !tile, vector<32xf32>
          ts.fence proxy_async_shared
          ts.barrier_sync %bar
          scf.if %lead {
            ts.tma_store %x to %D[%c0, %c0] : !tile, !map
            ts.bulk_commit
          }
        }
      }
    }
  }
}

// -----

// OUT: ping_pong: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @ping_pong(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<2x128xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.for %i = %c0 to %k {
        %h = arith.remui %i, %c2 : index
        ts.produce %s "st" (%x) {
          memref.store %one, %x[%h, %t] : memref<2x128xf32, #ts.smem>
          ts.barrier_sync %bar
          %v = memref.load %x[%h, %o] : memref<2x128xf32, #ts.smem>
        }
      }
    }
  }
}

// -----

// OUT: own_rows: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @own_rows(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<4x2x32xf32>)
    ts.depends %s on %g
    %q = ts.work_queue "q" static over(%k)
    ts.task "a" warps(0, 4) reads(%g, %q) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      %r = arith.constant 31 : index
      %p = arith.subi %r, %lane : index
      ts.tile_loop %q (%m) {
        %h = arith.remui %m, %c2 : index
        ts.produce %s "st" (%x) {
          memref.store %one, %x[%w, %h, %lane] : memref<4x2x32xf32, #ts.smem>
          ts.warp_sync
          %v = memref.load %x[%w, %h, %p] : memref<4x2x32xf32, #ts.smem>
          ts.warp_sync
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// OUT: two_halves: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_halves(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<2x128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(256)
    ts.task "a" warps(0, 8) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      %c128 = arith.constant 128 : index
      %h = arith.divui %t, %c128 : index
      %u = arith.remui %t, %c128 : index
      %z = arith.subi %c127, %u : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%h, %u] : memref<2x128xf32, #ts.smem>
        ts.barrier_sync %bar
        %v = memref.load %x[%h, %z] : memref<2x128xf32, #ts.smem>
      }
    }
  }
}

// -----

// OUT: thread_filled_ring: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @thread_filled_ring(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>) pipeline(async_async, stages = 2)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.for %i = %c0 to %k {
        ts.acquire %s
        ts.produce %s "st" (%x) {
          memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
        }
        ts.commit %s
      }
    }
    ts.task "c" warps(4, 4) reads(%s) {
      %t = ts.info thread : index
      %o = arith.subi %c127, %t : index
      ts.for %i = %c0 to %k {
        ts.wait %s
        ts.consume %s "ld" (%x) {
          %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
        }
        ts.release %s
      }
    }
  }
}

// -----

// OUT: own_lanes: proven
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @own_lanes(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" tmem(x: memref<128x32xf32, #ts.tmem>)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      %z = arith.constant dense<0.0> : vector<32xf32>
      ts.produce %s "st" (%x) {
        ts.tmem_store %z to %x[%c0] : vector<32xf32>, memref<128x32xf32, #ts.tmem>
        %v = ts.tmem_load %x[%c0] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
      }
    }
  }
}

// -----

// OUT: run_time_index: proven
// OUT-NEXT: assumed: warps of 'a' touch different parts of 'x' at
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @run_time_index(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%k] : memref<128xf32, #ts.smem>
        %v = memref.load %x[%t] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// OUT: meets_if: proven
// OUT-NEXT: assumed: warps of 'a' touch different parts of 'x' at
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @meets_if(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
      }
      %c = arith.cmpi eq, %k, %c1 : index
      ts.when %c is true {
        ts.barrier_sync %bar
      }
      ts.produce %s "ld" (%x) {
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// OUT: declared_twice: proven
// OUT-NEXT: assumed: calls without a body leave each warp of 'a' its own part of 'x' at 
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @declared_twice(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "one" declared
      ts.produce %s "two" declared
    }
  }
}

// -----

// OUT: declared_once: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @declared_once(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "one" declared
      ts.barrier_sync %bar
      ts.produce %s "two" declared
    }
  }
}

// -----

// OUT: if_then_barrier: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @if_then_barrier(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4)  reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        %c = arith.cmpi eq, %k, %c1 : index
        scf.if %c {
          memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
          ts.barrier_sync %bar
          %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
        }
      }

    }
  }
}

// -----

// OUT: both_branches: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @both_branches(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4)  reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        %c = arith.cmpi eq, %k, %c1 : index
        memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
        scf.if %c {
          ts.barrier_sync %bar
        } else {
          ts.barrier_sync %bar
        }
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
      }

    }
  }
}

// -----

// OUT: if_else_same: proven
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @if_else_same(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4)  reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        %c = arith.cmpi eq, %k, %c1 : index
        scf.if %c {
          memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
        } else {
          %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
        }
      }

    }
  }
}

// -----

// OUT: after_branch: proven
// OUT-NEXT: assumed: warps of 'a' touch different parts of 'x' at
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @after_branch(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4)  reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        %c = arith.cmpi eq, %k, %c1 : index
        memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
        scf.if %c {
          ts.barrier_sync %bar
        }
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
      }

    }
  }
}

// -----

// OUT: runtime_thread_branch: proven
// OUT-NEXT: assumed: warps of 'a' touch different parts of 'x' at
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @runtime_thread_branch(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4)  reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        %c = arith.cmpi eq, %t, %k : index
        scf.if %c {
          memref.store %one, %x[%c0] : memref<128xf32, #ts.smem>
        }
        %v = memref.load %x[%c0] : memref<128xf32, #ts.smem>
      }

    }
  }
}

// -----

// OUT: if_view: proven
// OUT-NEXT: assumed: warps of 'a' touch different parts of 'x' at
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @if_view(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4)  reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        %c = arith.cmpi eq, %k, %c1 : index
        %lo = memref.subview %x[0] [64] [1] : memref<128xf32, #ts.smem> to memref<64xf32, strided<[1]>, #ts.smem>
        %hi = memref.subview %x[64] [64] [1] : memref<128xf32, #ts.smem> to memref<64xf32, strided<[1], offset: 64>, #ts.smem>
        %l2 = memref.cast %lo : memref<64xf32, strided<[1]>, #ts.smem> to memref<64xf32, strided<[1], offset: ?>, #ts.smem>
        %h2 = memref.cast %hi : memref<64xf32, strided<[1], offset: 64>, #ts.smem> to memref<64xf32, strided<[1], offset: ?>, #ts.smem>
        %y = scf.if %c -> memref<64xf32, strided<[1], offset: ?>, #ts.smem> {
          scf.yield %l2 : memref<64xf32, strided<[1], offset: ?>, #ts.smem>
        } else {
          scf.yield %h2 : memref<64xf32, strided<[1], offset: ?>, #ts.smem>
        }
        memref.store %one, %y[%w] : memref<64xf32, strided<[1], offset: ?>, #ts.smem>
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
      }

    }
  }
}

// -----

// OUT: sampled: proven
// OUT-NEXT: assumed: warps of 'a' touch different parts of 'x' at
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @sampled(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<4096xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4)  reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.for %i = %c0 to %k {
        %b = arith.muli %i, %c128 : index
        %p = arith.addi %b, %t : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%p] : memref<4096xf32, #ts.smem>
      }
      }
      ts.produce %s "st" (%x) {
        %v = memref.load %x[%t] : memref<4096xf32, #ts.smem>
      }

    }
  }
}
