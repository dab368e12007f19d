// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C29: accumulator columns are given back before they are read.

// (a)
// ERR: error: [TS105] work 'ld' reads 'acc' outside of wait and release in task 'epi', when the stage may be overwritten; put it between them, or mark it 'aux' if it touches no memory
// ERR: note: on the path with the loop runs: yes, first iteration: yes, last iteration: yes
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @release_first(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %acc on %g
    ts.depends %d on %acc
    ts.task "mma" warps(4, 1) reads(%q, %g) writes(%acc) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
        ts.next_tile %q
      }
    }
    ts.task "epi" warps(0, 4) reads(%q, %acc) writes(%d) {
      ts.tile_loop %q (%m) {
        ts.wait %acc
        ts.release %acc
        %v = ts.consume %acc "ld" (%c) -> vector<64xf32> {
          %x = ts.tmem_load %c[%c0] : !acc -> vector<64xf32>
          ts.yield %x : vector<64xf32>
        }
        ts.produce %d "store" {
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// (b) The load is issued before, and waited for after the release.
// ERR: error: [TS302] race when number of tiles of 'tiles' {{>?=}} 3: 'mma' and 'epi' touch the same memory and nothing orders them
// ERR: note: write of 'acc.c' stage 0, columns [0, 64), asynchronous, by 'mma'
// ERR: note: read of 'acc.c' stage 0, columns [0, 64), asynchronous, by 'epi'
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @still_in_flight(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %acc on %g
    ts.depends %d on %acc
    ts.task "mma" warps(4, 1) reads(%q, %g) writes(%acc) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
        ts.next_tile %q
      }
    }
    ts.task "epi" warps(0, 4) reads(%q, %acc) writes(%d) {
      ts.tile_loop %q (%m) {
        ts.wait %acc
        %v = ts.consume %acc "ld" (%c) -> !ts.async<vector<64xf32>> {
          %x = ts.tmem_load %c[%c0] : !acc -> !ts.async<vector<64xf32>>
          ts.yield %x : !ts.async<vector<64xf32>>
        }
        ts.release %acc
        %y = ts.tmem_wait %v : !ts.async<vector<64xf32>> -> vector<64xf32>
        ts.produce %d "store" {
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// OUT: waited_for: proven for every number of tiles of 'tiles': no deadlock, no race, no overrun, clean exit
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @waited_for(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %acc on %g
    ts.depends %d on %acc
    ts.task "mma" warps(4, 1) reads(%q, %g) writes(%acc) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
        ts.next_tile %q
      }
    }
    ts.task "epi" warps(0, 4) reads(%q, %acc) writes(%d) {
      ts.tile_loop %q (%m) {
        ts.wait %acc
        %v = ts.consume %acc "ld" (%c) -> !ts.async<vector<64xf32>> {
          %x = ts.tmem_load %c[%c0] : !acc -> !ts.async<vector<64xf32>>
          ts.yield %x : !ts.async<vector<64xf32>>
        }
        %y = ts.tmem_wait %v : !ts.async<vector<64xf32>> -> vector<64xf32>
        ts.release %acc
        ts.produce %d "store" {
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// Two accumulators that share 32 columns: the release of one says nothing about the other.
// ERR: error: [TS302] race{{.*}}: 'epi' and 'mma' touch the same memory and nothing orders them
// ERR: note: read of 'even.c', columns [0, 64), by 'epi'
// ERR: note: write of 'odd.c', columns [0, 64), asynchronous, by 'mma'
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @overlap(%n: index) warps(12) {
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %even = ts.resource "even" tmem(c: memref<128x64xf32> at 0) pipeline(umma_async, stages = 1)
    %odd = ts.resource "odd" tmem(c: memref<128x64xf32> at 32) pipeline(umma_async, stages = 1)
    ts.depends %even on %g
    ts.depends %odd on %g
    ts.task "mma" warps(4, 1) reads(%q, %g) writes(%even, %odd) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %even
        ts.produce %even "mma" declared
        ts.commit %even
        ts.acquire %odd
        ts.produce %odd "mma" declared
        ts.commit %odd
        ts.next_tile %q
      }
    }
    ts.task "epi" warps(0, 4) reads(%q, %even) {
      ts.tile_loop %q (%m) {
        ts.wait %even
        ts.consume %even "ld" declared
        ts.release %even
        ts.next_tile %q
      }
    }
    ts.task "epi2" warps(8, 4) reads(%q, %odd) {
      ts.tile_loop %q (%m) {
        ts.wait %odd
        ts.consume %odd "ld" declared
        ts.release %odd
        ts.next_tile %q
      }
    }
  }
}
