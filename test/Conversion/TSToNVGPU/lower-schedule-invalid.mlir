// What the schedule lowering refuses, with its whole sentence.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines{remarks=false},ts-allocate,ts-lower-schedule))' --split-input-file --verify-diagnostics -o /dev/null %s

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_body() warps(1) {
    %r = ts.resource "r" smem(x: memref<64xf32>)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{[TS401] work "fill" of 'r' has no body yet, so there is no code to emit; give it a body, or stop at verification with --verify-only}}
      ts.produce %r "fill" declared effects [#ts.effect<write "x">]
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-error @+1 {{[TS404] the lowering cannot express this yet: arrays of 'vector<4xf32>'}}
  ts.kernel @element(%A: memref<?xvector<4xf32>>) warps(1) {
    ts.task "t" warps(0, 1) {
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @guard() warps(1) {
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{[TS108] guard 'first' stands outside any loop}}
      ts.guard first {
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_pipeline() warps(1) {
    %r = ts.resource "r" smem(x: memref<64xf32>)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{'r' has no pipeline, so there is nothing to acquire}}
      ts.acquire %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @counts() warps(1) {
    // expected-error @+1 {{the arrival counts of 'r' are not known: no task executes both sides of its pipeline; give producer_count and consumer_count, or complete the schedule}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      ts.acquire %r
      ts.commit %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @foreign(%b: i1) warps(2) {
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "p" warps(0, 1) writes(%r) {
      // expected-error @+1 {{[TS404] the lowering cannot express this yet: pipeline operations inside 'scf.if'; use ts.for, ts.guard or ts.when}}
      scf.if %b {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "c" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @elected() warps(2) {
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "p" warps(0, 1) writes(%r) {
      // expected-error @+1 {{[TS404] the lowering cannot express this yet: pipeline operations inside ts.elect; the lowering elects the threads that arrive by itself}}
      ts.elect {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "c" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @elected_barrier() warps(1) {
    %bar = ts.named_barrier "all" threads(32)
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{runs in one thread of a warp, but holds an operation that needs the whole warp; move it out of ts.elect}}
      ts.elect {
        ts.barrier_sync %bar
      }
    }
  }
}

// -----

// A copy outside a bracket of its pipeline has no barrier to complete on.
!map = !ts.tensor_map<?x?xf32, box = 8x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_bracket(%A: !map) warps(1) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<8x32xf32>) pipeline(tma_async, stages = 2, num_bytes = 1024, producer_count = 1, consumer_count = 1)
    ts.task "p" warps(0, 1) writes(%r) {
      // expected-error @+1 {{work "load" takes a stage of 'r', but task 'p' has no bracket of it}}
      ts.produce %r "load" (%x) {
        ts.tma_load %A[%c0, %c0] to %x : !map, memref<8x32xf32, #ts.smem>
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 8x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_barrier(%A: !map) warps(1) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(x: memref<8x32xf32>)
    ts.task "p" warps(0, 1) writes(%s) {
      ts.produce %s "load" (%x) {
        // expected-error @+1 {{completes on the full barrier of the enclosing ts.produce, but there is none of a pipelined resource here}}
        ts.tma_load %A[%c0, %c0] to %x : !map, memref<8x32xf32, #ts.smem>
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @info() warps(1) {
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{ts.info stage has no meaning here; stage, barrier and in_flight need an enclosing work op of a pipelined resource, loop_* an enclosing ts.for, tmem_base a tensor-memory resource}}
      %s = ts.info stage : i32
    }
  }
}

// -----

// Work of a ring that this task has no bracket of: no crash, a sentence.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @info_without_bracket() warps(1) {
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, producer_count = 32, consumer_count = 32)
    ts.task "t" warps(0, 1) writes(%r) {
      ts.produce %r "fill" {
        // expected-error @+1 {{ts.info in_flight has no meaning here}}
        %s = ts.info in_flight : i32
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @baton() warps(3) {
    %order = ts.baton "order" holders(2)
    ts.task "t" warps(0, 3) replicas(3) (%r) {
      // expected-error @+1 {{baton 'order' has 2 holders, but task 't' has 3 replicas}}
      ts.take %order
    }
  }
}

// -----

// Bytes that cannot be shared out among the warps that arm them.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @share(%A: !ts.tensor_map<?x?xf32, box = 8x32>, %b: i1) warps(4) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<8x32xf32>) pipeline(tma_async, stages = 2, num_bytes = 1024)
    ts.task "p" warps(0, 1) writes(%r) {
      // expected-error @+1 {{[TS404] the 1024 bytes of 'r' do not divide over the 3 warps that arm them, and what task 'p' copies is not known; copy the same bytes on every path}}
      ts.acquire %r
      ts.produce %r "load" (%x) {
        scf.if %b {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<?x?xf32, box = 8x32>, memref<8x32xf32, #ts.smem>
        }
      }
      ts.commit %r
    }
    ts.task "q" warps(1, 2) writes(%r) {
      ts.acquire %r
      ts.commit %r
    }
    ts.task "c" warps(3, 1) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

// A loop that may run zero times and that only its own task knows.
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @unknown_trips(%X: memref<?xindex>) warps(8) {
    %c0 = arith.constant 0 : index
    %t = arith.constant true
    %s = ts.resource "s" smem(a: !tile, b: !tile)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.task "mma" warps(4, 1) reads(%s) writes(%d) {
      %n = memref.load %X[%c0] : memref<?xindex>
      ts.acquire %d
      %x, %y = ts.consume %s "operands" (%va, %vb) -> !tile, !tile {
        ts.yield %va, %vb : !tile, !tile
      }
      ts.for %k = %c0 to %n {
        ts.produce %d "mma" (%c) {
          // expected-warning @+1 {{the accumulators of 'd' hold old values when the loop around this runs zero times, and its bounds are known to this task only; compute them from kernel arguments, or see to it that it runs}}
          ts.umma %c, %x, %y accumulate(%t) : !acc, !tile, !tile
        }
      }
      ts.commit %d
    }
    ts.task "store" warps(0, 4) reads(%d) {
      ts.wait %d
      ts.consume %d "read" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
        %y = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %d
    }
  }
}

// -----

!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @of_two(%n: index, %which: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %t = arith.constant true
    %s = ts.resource "s" smem(a: !tile, b: !tile)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 1)
    %e = ts.resource "e" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.task "mma" warps(4, 1) reads(%s) writes(%d, %e) {
      ts.acquire %d
      ts.acquire %e
      %x, %y = ts.consume %s "operands" (%va, %vb) -> !tile, !tile {
        ts.yield %va, %vb : !tile, !tile
      }
      ts.for %k = %c0 to %n {
        ts.produce %d "mma" (%c) {
          ts.umma %c, %x, %y accumulate(%t) : !acc, !tile, !tile
        }
      }
      ts.produce %e "mma" (%c) {
        ts.umma %c, %x, %y : !acc, !tile, !tile
      }
      ts.commit %d
      ts.commit %e
    }
    ts.task "store" warps(0, 4) reads(%d, %e) {
      ts.wait %d
      ts.wait %e
      %p = ts.consume %d "view" (%c) -> !acc {
        ts.yield %c : !acc
      }
      %q = ts.consume %e "view" (%c) -> !acc {
        ts.yield %c : !acc
      }
      %one = arith.select %which, %p, %q : !acc
      // expected-error @+1 {{[TS404] the lowering cannot express this yet: one load reads accumulators of}}
      %v = ts.tmem_load %one[%c0] : !acc -> vector<32xf32>
      ts.release %d
      ts.release %e
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @last_unknown(%n: index) warps(8) {
    %queue = ts.work_queue "tiles" clc over(%n)
    ts.task "schedule" warps(4, 1) reads(%queue) writes(%queue) {
      ts.tile_loop %queue {
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }
    ts.task "work" warps(0, 4) reads(%queue) {
      ts.tile_loop %queue {
        // expected-error @+1 {{[TS404] the lowering cannot express this yet: which tile of a cluster launch control queue is the last one is known only when the next one was asked for; write ts.next_tile before this guard, at the start of the tile if need be: the coordinates of the tile stay what they are}}
        ts.guard last {
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

!acc = memref<128x128xf32, #ts.tmem>
!flight = !ts.async<vector<32xf32>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @carried() warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %d = ts.resource "d" tmem(c: !acc)
    ts.task "store" warps(0, 4) reads(%d) {
      %first = ts.consume %d "first" (%c) -> !flight {
        %l = ts.tmem_load %c[%c0] : !acc -> !flight
        ts.yield %l : !flight
      }
      // expected-error @+1 {{[TS404] the lowering cannot express this yet: a tensor memory load that is still in flight passes 'ts.for', where its registers would be copied before they are written (PTX ISA 8.8, tcgen05.ld); wait for it before, and pass the vector}}
      %last = ts.for %j = %c1 to %c4 iter(%before = %first : !flight) {
        %v = ts.tmem_wait %before : !flight -> vector<32xf32>
        %next = ts.consume %d "next" (%c) -> !flight {
          %l = ts.tmem_load %c[%j] : !acc -> !flight
          ts.yield %l : !flight
        }
        ts.yield %next : !flight
      }
      %v = ts.tmem_wait %last : !flight -> vector<32xf32>
    }
  }
}
