// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of dynamic domains forbid. The first kernel is right.

!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%A: !map, %n: index, %offsets: memref<?xi32>) warps(4) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.wait %part
          ts.consume %part "add" declared
          ts.release %part
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The consumer rounds down: the last, partial step is nobody's.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: wait for what is outstanding at the end of the task, or meet at a cluster barrier}}
  ts.kernel @rounds_down(%A: !map, %n: index, %offsets: memref<?xi32>) warps(4) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            // expected-error @+1 {{[TS305] exit when number of tiles of 'tiles' = 1, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) = 1 in tile 0, divsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) = 0 in tile 0: a write of 'part.x' stage 0, bytes [0, 8192), asynchronous, by 'load' can be outstanding when the CTA exits}}
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.divsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.wait %part
          ts.consume %part "add" declared
          // expected-note @+1 {{the roles of ring 'part' are not balanced: 'load' commits it ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) times per tile, 'sum' releases it divsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) times per tile}}
          ts.release %part
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The consumer takes the length of the sequence before.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: wait for what is outstanding at the end of the task, or meet at a cluster barrier}}
  ts.kernel @another_tile(%A: !map, %n: index, %offsets: memref<?xi32>) warps(4) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            // expected-error @+1 {{[TS305] exit when number of tiles of 'tiles' = 1, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) = 1 in tile 0, ceildivsi(subi(load(offsets, tiles[0]), load(offsets, tiles[0] - 1)), 64) = 0 in tile 0: a write of 'part.x' stage 0, bytes [0, 8192), asynchronous, by 'load' can be outstanding when the CTA exits}}
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) {
        %before = arith.subi %m, %c1 : index
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %before, %c1 : index
          %from = memref.load %offsets[%before] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.wait %part
          ts.consume %part "add" declared
          // expected-note @+1 {{the roles of ring 'part' are not balanced: 'load' commits it ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) times per tile, 'sum' releases it ceildivsi(subi(load(offsets, tiles[0]), load(offsets, tiles[0] - 1)), 64) times per tile}}
          ts.release %part
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// An empty sequence has no first step.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: safe for every ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) >= 1: declare min = 1}}
  ts.kernel @peeled(%A: !map, %n: index, %offsets: memref<?xi32>) warps(4) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          // expected-note @+1 {{'load' would arrive here, but has ended after 0 uses}}
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          // expected-note @+1 {{the roles of ring 'part' are not balanced: 'load' commits it ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) times per tile, 'sum' releases it max(0, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) - 1) + 1 times per tile}}
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        // expected-error @+2 {{[TS301] deadlock when number of tiles of 'tiles' = 1, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) = 0 in tile 0: 'sum' waits for ever}}
        // expected-note @+1 {{'sum' waits for the data of 'part' (use 0, stage 0 of 2); 1 of 1 arrivals are missing}}
        ts.wait %part
        ts.consume %part "first" declared
        ts.release %part
        ts.for %i = %c1 to %steps {
          ts.wait %part
          ts.consume %part "add" declared
          ts.release %part
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// All steps of a sequence are held until its end: a long one needs more stages than there are.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @held(%A: !map, %n: index, %offsets: memref<?xi32>) warps(4) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2, advance_on_wait)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          // expected-error @+2 {{[TS105] wait number 3 for 'part' without a release, but it has 2 stage(s), so nothing more can arrive; release earlier or add stages}}
          // expected-note @+1 {{on the path with the loop runs: yes, first iteration: yes, last iteration: yes, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) > 0: yes, first iteration: no, last iteration: no}}
          ts.wait %part
          ts.consume %part "add" declared
        }
        ts.for %i = %c0 to %steps {
          // expected-error @+2 {{[TS105] release of 'part' without an open wait in task 'sum'; every release closes one wait}}
          // expected-note @+1 {{on the path with the loop runs: yes, first iteration: yes, last iteration: yes, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) > 0: yes, first iteration: no, last iteration: no}}
          ts.release %part
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// A stage is released once a sequence.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @released_last(%A: !map, %n: index, %offsets: memref<?xi32>) warps(4) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 2)
    %queue = ts.work_queue "tiles" static over(%n)
    ts.depends %part on %src
    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "sum" warps(0, 2) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %c0 to %steps {
          // expected-error @+3 {{[TS105] wait for 'part' while its previous stage is still held in task 'sum'; release it first, or set advance_on_wait to hold several}}
          // expected-note @+2 {{on the path with the loop runs: yes, first iteration: yes, last iteration: yes, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) > 0: yes, first iteration: no, last iteration: no}}
          // expected-note @+1 {{the open wait}}
          ts.wait %part
          ts.consume %part "add" declared
          ts.guard last {
            ts.release %part
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
