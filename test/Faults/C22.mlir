// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C22: the position in a ring of store buffers starts anew with every tile: the fourth store of a tile and the first of the next share a buffer, and the wait lets the youngest two go on reading.

// ERR: error: [TS302] race when number of tiles of 'tiles' {{>?=}} 2: 'epi' and 'epi' touch the same memory and nothing orders them
// ERR: note: write of 'd.c', bytes [0, 4096), by 'epi'
// ERR: note: read of 'd.c', bytes [0, 4096), asynchronous, by 'epi'
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<3x32x32xf32, #ts.smem<128>>
!part = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @four_of_three(%D: !map, %n: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %q = ts.work_queue "tiles" static over(%n)
    %d = ts.resource "d" gmem(c: !buf)
    %g = ts.resource "g" gmem
    ts.depends %d on %g
    ts.task "epi" warps(0, 1) reads(%q, %g) writes(%d) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.produce %d "store" (%c) {
          %s0 = memref.subview %c[%c0, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
          ts.bulk_wait 2 read
          ts.warp_sync
          vector.store %z, %s0[%lane, %c0] : !part, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %D[%c0, %c0] : !part, !map
          ts.bulk_commit
          %s1 = memref.subview %c[%c1, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
          ts.bulk_wait 2 read
          ts.warp_sync
          vector.store %z, %s1[%lane, %c0] : !part, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s1 to %D[%c0, %c0] : !part, !map
          ts.bulk_commit
          %s2 = memref.subview %c[%c2, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
          ts.bulk_wait 2 read
          ts.warp_sync
          vector.store %z, %s2[%lane, %c0] : !part, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s2 to %D[%c0, %c0] : !part, !map
          ts.bulk_commit
          %s3 = memref.subview %c[%c0, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
          ts.bulk_wait 2 read
          ts.warp_sync
          vector.store %z, %s3[%lane, %c0] : !part, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s3 to %D[%c0, %c0] : !part, !map
          ts.bulk_commit
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// The same with the position computed.
// ERR: error: [TS302] race when number of tiles of 'tiles' {{>?=}} 2: 'epi' and 'epi' touch the same memory and nothing orders them
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<3x32x32xf32, #ts.smem<128>>
!part = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @position_restarts(%D: !map, %n: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %q = ts.work_queue "tiles" static over(%n)
    %d = ts.resource "d" gmem(c: !buf)
    %g = ts.resource "g" gmem
    ts.depends %d on %g
    ts.task "epi" warps(0, 1) reads(%q, %g) writes(%d) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.for %i = %c0 to %c4 {
          %slot = arith.remui %i, %c3 : index
          ts.produce %d "store" (%c) {
            %s = memref.subview %c[%slot, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
            ts.bulk_wait 2 read
            ts.warp_sync
            vector.store %z, %s[%lane, %c0] : !part, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%c0, %c0] : !part, !map
            ts.bulk_commit
          }
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// Three stores per tile come back to the same place.
// OUT: three_of_three: proven for every number of tiles of 'tiles': no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<3x32x32xf32, #ts.smem<128>>
!part = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @three_of_three(%D: !map, %n: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %q = ts.work_queue "tiles" static over(%n)
    %d = ts.resource "d" gmem(c: !buf)
    %g = ts.resource "g" gmem
    ts.depends %d on %g
    ts.task "epi" warps(0, 1) reads(%q, %g) writes(%d) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.produce %d "store" (%c) {
          %s0 = memref.subview %c[%c0, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
          ts.bulk_wait 2 read
          ts.warp_sync
          vector.store %z, %s0[%lane, %c0] : !part, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %D[%c0, %c0] : !part, !map
          ts.bulk_commit
          %s1 = memref.subview %c[%c1, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
          ts.bulk_wait 2 read
          ts.warp_sync
          vector.store %z, %s1[%lane, %c0] : !part, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s1 to %D[%c0, %c0] : !part, !map
          ts.bulk_commit
          %s2 = memref.subview %c[%c2, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
          ts.bulk_wait 2 read
          ts.warp_sync
          vector.store %z, %s2[%lane, %c0] : !part, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s2 to %D[%c0, %c0] : !part, !map
          ts.bulk_commit
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// The position goes on over the tiles.
// OUT: position_goes_on: proven for every number of tiles of 'tiles': no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<3x32x32xf32, #ts.smem<128>>
!part = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @position_goes_on(%D: !map, %n: index) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %q = ts.work_queue "tiles" static over(%n)
    %d = ts.resource "d" gmem(c: !buf)
    %g = ts.resource "g" gmem
    ts.depends %d on %g
    ts.task "epi" warps(0, 1) reads(%q, %g) writes(%d) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      %last = ts.tile_loop %q (%m) iter(%base = %c0 : index) {
        ts.for %i = %c0 to %c4 {
          %at = arith.addi %base, %i : index
          %slot = arith.remui %at, %c3 : index
          ts.produce %d "store" (%c) {
            %s = memref.subview %c[%slot, 0, 0] [1, 32, 32] [1, 1, 1] : !buf to !part
            ts.bulk_wait 2 read
            ts.warp_sync
            vector.store %z, %s[%lane, %c0] : !part, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%c0, %c0] : !part, !map
            ts.bulk_commit
          }
        }
        ts.next_tile %q
        %next = arith.addi %base, %c4 : index
        ts.yield %next : index
      }
    }
  }
}
