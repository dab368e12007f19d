// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C28: an asynchronous MMA still reads the slot that is released.

// ERR: error: [TS302] race when k {{>?=}} 5: 'load' and 'mma' touch the same memory and nothing orders them
// ERR: note: write of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'load'
// ERR: note: read of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'mma'
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @this_one(%A: !map, %B: !map, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4)
    %d = ts.resource "d" gmem
    ts.depends %ab on %g
    ts.depends %d on %ab
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) writes(%d) {
      %some = arith.cmpi sgt, %k, %c0 : index
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        %issued = ts.wgmma %a, %b, %c : !tile, !tile, !acc
        ts.wgmma_commit
        %next = ts.wgmma_wait 1, %issued : !acc -> !acc
        ts.release %ab
        ts.yield %next : !acc
      }
      %f = ts.wgmma_wait 0, %sum : !acc -> !ts.fragment<64x64xf32>
      ts.produce %d "nothing" aux {
      }
    }
  }
}

// -----

// The one before, whose group has ended; the last after the drain.
// OUT: the_one_before: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @the_one_before(%A: !map, %B: !map, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %d = ts.resource "d" gmem
    ts.depends %ab on %g
    ts.depends %d on %ab
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) writes(%d) {
      %some = arith.cmpi sgt, %k, %c0 : index
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        %issued = ts.wgmma %a, %b, %c : !tile, !tile, !acc
        ts.wgmma_commit
        %next = ts.wgmma_wait 1, %issued : !acc -> !acc
        ts.guard not_first {
          ts.release %ab
        }
        ts.yield %next : !acc
      }
      %f = ts.wgmma_wait 0, %sum : !acc -> !ts.fragment<64x64xf32>
      ts.when %some is true {
        ts.release %ab
      }
      ts.produce %d "nothing" aux {
      }
    }
  }
}

// -----

// OUT: waited_for: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @waited_for(%A: !map, %B: !map, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4)
    %d = ts.resource "d" gmem
    ts.depends %ab on %g
    ts.depends %d on %ab
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) writes(%d) {
      %some = arith.cmpi sgt, %k, %c0 : index
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        %issued = ts.wgmma %a, %b, %c : !tile, !tile, !acc
        ts.wgmma_commit
        %next = ts.wgmma_wait 0, %issued : !acc -> !acc
        ts.release %ab
        ts.yield %next : !acc
      }
      %f = ts.wgmma_wait 0, %sum : !acc -> !ts.fragment<64x64xf32>
      ts.produce %d "nothing" aux {
      }
    }
  }
}

// -----

// The last slot of a tile is given back before the drain, and the next tile fills it.
// ERR: error: [TS302] race when number of tiles of 'tiles' {{>?=}} 5, k {{>?=}} 1: 'load' and 'mma' touch the same memory and nothing orders them
// ERR: note: write of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'load'
// ERR: note: read of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'mma'
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @last_before_drain(%A: !map, %B: !map, %k: index, %n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %d = ts.resource "d" gmem
    ts.depends %ab on %g
    ts.depends %d on %ab
    ts.task "load" warps(4, 1) reads(%g, %q) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.tile_loop %q (%m) {
        ts.for %i = %c0 to %k {
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            ts.tma_load %A[%c0, %c0] to %a : !map, !tile
            ts.tma_load %B[%c0, %c0] to %b : !map, !tile
          }
          ts.commit %ab
        }
        ts.next_tile %q
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab, %q) writes(%d) {
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.tile_loop %q (%m) {
        %zero = ts.wgmma_zero : !acc
        %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
            ts.yield %va, %vb : !tile, !tile
          }
          %issued = ts.wgmma %a, %b, %c : !tile, !tile, !acc
          ts.wgmma_commit
          %next = ts.wgmma_wait 1, %issued : !acc -> !acc
          ts.guard not_first {
            ts.release %ab
          }
          ts.yield %next : !acc
        }
        ts.when %some is true {
          ts.release %ab
        }
        %f = ts.wgmma_wait 0, %sum : !acc -> !ts.fragment<64x64xf32>
        ts.produce %d "nothing" aux {
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// Two groups may be in flight, one slot is held back.
// ERR: error: [TS302] race when k {{>?=}} 5: 'load' and 'mma' touch the same memory and nothing orders them
// ERR: note: write of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'load'
// ERR: note: read of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'mma'
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @deeper(%A: !map, %B: !map, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %d = ts.resource "d" gmem
    ts.depends %ab on %g
    ts.depends %d on %ab
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) writes(%d) {
      %some = arith.cmpi sgt, %k, %c0 : index
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        %issued = ts.wgmma %a, %b, %c : !tile, !tile, !acc
        ts.wgmma_commit
        %next = ts.wgmma_wait 2, %issued : !acc -> !acc
        ts.guard not_first {
          ts.release %ab
        }
        ts.yield %next : !acc
      }
      %f = ts.wgmma_wait 0, %sum : !acc -> !ts.fragment<64x64xf32>
      ts.when %some is true {
        ts.release %ab
      }
      ts.produce %d "nothing" aux {
      }
    }
  }
}

// -----

// With a promised count, the condition around the last release always holds.
// OUT: at_least_one: proven for every k >= 1: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @at_least_one(%A: !map, %B: !map, %k: index min 1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %d = ts.resource "d" gmem
    ts.depends %ab on %g
    ts.depends %d on %ab
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !tile
          ts.tma_load %B[%c0, %c0] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) writes(%d) {
      %some = arith.cmpi sgt, %k, %c0 : index
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        %issued = ts.wgmma %a, %b, %c : !tile, !tile, !acc
        ts.wgmma_commit
        %next = ts.wgmma_wait 1, %issued : !acc -> !acc
        ts.guard not_first {
          ts.release %ab
        }
        ts.yield %next : !acc
      }
      %f = ts.wgmma_wait 0, %sum : !acc -> !ts.fragment<64x64xf32>
      ts.when %some is true {
        ts.release %ab
      }
      ts.produce %d "nothing" aux {
      }
    }
  }
}
