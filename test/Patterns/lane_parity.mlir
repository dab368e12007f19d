// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of lanes over tiles of any number of steps forbid. The first kernel is right.

!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%A: !map, %n: index, %offsets: memref<?xi32>) warps(3) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = (1, 1, 2, 2))
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
    ts.task "add" warps(0, 2) replicas(2) (%which) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) iter(%start = %which : index) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %start to %steps step %c2 {
          ts.wait %part
          ts.consume %part "rows" declared
          ts.release %part
        }
        %sum = arith.addi %start, %steps : index
        %other = arith.remui %sum, %c2 : index
        ts.next_tile %queue
        ts.yield %other : index
      }
    }
  }
}

// -----

// Each tile begins with lane 0, also after an odd number of steps: the slots of the ring do not.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: move the release or commit in front of the wait that it feeds, or give the ring more stages}}
  ts.kernel @fixed(%A: !map, %n: index, %offsets: memref<?xi32>) warps(3) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = (1, 1, 2, 2))
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
          // expected-note @+1 {{'load' would arrive here, but has ended after 2 uses}}
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%m, %i] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }
    ts.task "add" warps(0, 2) replicas(2) (%which) reads(%src, %part, %queue) {
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
        ts.for %i = %which to %steps step %c2 {
          // expected-error @+2 {{[TS301] deadlock when number of tiles of 'tiles' = 2, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) = 1 in tile 0, ceildivsi(subi(load(offsets, tiles[0] + 1), load(offsets, tiles[0])), 64) = 1 in tile 1: 'add[0]' waits for ever}}
          // expected-note @+1 {{'add[0]' waits for the data of 'part' (use 2, stage 2 of 4); 1 of 1 arrivals are missing}}
          ts.wait %part
          ts.consume %part "rows" declared
          ts.release %part
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// Both lanes begin with the first step.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @together(%A: !map, %n: index, %offsets: memref<?xi32>) warps(3) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    // expected-error @+3 {{[TS221] tasks 'add[0]' and 'add[1]' both own lane 0 of 'part'; start each sibling's loop at a lane of its own}}
    // expected-error @+2 {{[TS221] nobody executes 'wait' of 'part' on lane 1 of 2; add a sibling task whose loop starts at that lane}}
    // expected-note @+1 {{expected: 2 lanes with a sibling task each, found 1}}
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = (1, 1, 2, 2))
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
    // expected-note @+1 {{task 'add[1]' takes part here}}
    ts.task "add" warps(0, 2) replicas(2) (%which) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) iter(%start = %c0 : index) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %start to %steps step %c2 {
          ts.wait %part
          ts.consume %part "rows" declared
          ts.release %part
        }
        %sum = arith.addi %start, %steps : index
        %other = arith.remui %sum, %c2 : index
        ts.next_tile %queue
        ts.yield %other : index
      }
    }
  }
}

// -----

// The start moves on by the steps of one lane.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @half(%A: !map, %n: index, %offsets: memref<?xi32>) warps(3) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    // expected-error @+1 {{[TS221] task 'add[0]' executes 'wait' of 'part' with stride 2, but has 1 warp and its loop has no constant start and step; give the task 2 warps (one lane each), or make one task per lane with loop start 0 to 1 and step 2}}
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = (1, 1, 2, 2))
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
    // expected-note @+1 {{task 'add[0]' takes part here}}
    ts.task "add" warps(0, 2) replicas(2) (%which) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) iter(%start = %which : index) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %start to %steps step %c2 {
          ts.wait %part
          ts.consume %part "rows" declared
          ts.release %part
        }
        %mine = arith.ceildivsi %steps, %c2 : index
        %sum = arith.addi %start, %mine : index
        %other = arith.remui %sum, %c2 : index
        ts.next_tile %queue
        ts.yield %other : index
      }
    }
  }
}

// -----

// The lanes change places after every tile, also after an even number of steps.
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @always(%A: !map, %n: index, %offsets: memref<?xi32>) warps(3) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "src" gmem
    // expected-error @+1 {{[TS221] task 'add[0]' executes 'wait' of 'part' with stride 2, but has 1 warp and its loop has no constant start and step; give the task 2 warps (one lane each), or make one task per lane with loop start 0 to 1 and step 2}}
    %part = ts.resource "part" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = (1, 1, 2, 2))
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
    // expected-note @+1 {{task 'add[0]' takes part here}}
    ts.task "add" warps(0, 2) replicas(2) (%which) reads(%src, %part, %queue) {
      ts.tile_loop %queue (%m) iter(%start = %which : index) {
        %steps = ts.consume %src "domain" -> index {
          %next = arith.addi %m, %c1 : index
          %from = memref.load %offsets[%m] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %rows = arith.subi %to, %from : i32
          %length = arith.index_cast %rows : i32 to index
          %blocks = arith.ceildivsi %length, %c64 : index
          ts.yield %blocks : index
        }
        ts.for %i = %start to %steps step %c2 {
          ts.wait %part
          ts.consume %part "rows" declared
          ts.release %part
        }
        %sum = arith.addi %start, %c1 : index
        %other = arith.remui %sum, %c2 : index
        ts.next_tile %queue
        ts.yield %other : index
      }
    }
  }
}
