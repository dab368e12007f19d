// Leader-routed completions on pairs of CTAs: D = A * B^T, 256 x 128 a tile, by 2-CTA matrix products. The
// copies of both CTAs complete on the leader's barrier, which the leader arms for all of them
// (cta_leader). In the second kernel two warps of each CTA load, each 64 rows of A and 32 of B, and the
// leader's first warp alone arms for all four (cta_leader|task_warp_leader). What one warp of one
// CTA brings is declared, so that the sum over warps and CTAs is checked.
//
//   ts-compile examples/patterns/signalling_sm100.mlir --arch=sm_100a -o s.ptx
//   ts-run s.ptx --kernel cta_leader --array A=256x128 --array B=128x128 --array D=256x128 --check 'D = A @ B.T'
!map_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!map_b = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!map_b2 = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!a_half = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!b_half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
!stage = memref<4x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @cta_leader(%A: !map_a, %B: !map_b, %D: !result,
                  %tiles_m: index = ceildiv(dim(%A, 0), 256),
                  %tiles_n: index = ceildiv(dim(%B, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(6) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b)
        pipeline(tma_umma, stages = 3, producer_signal = cta_leader, consumer_signal = cta_leader,
                 bytes_per_warp_per_cta = 24576, mcast = (0, 0), cta_layout = (2, 1, 1, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc)
        pipeline(umma_async, stages = 2, producer_signal = cta_leader, cta_layout = (2, 1, 1, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %acc on %ab
    ts.depends %dst on %acc

    ts.task "load" warps(5, 1) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %rank = ts.info cta_rank : index
          %half_a = arith.muli %rank, %c128 : index
          %half_b = arith.muli %rank, %c64 : index
          %m0 = arith.muli %m, %c256 : index
          %n0 = arith.muli %n, %c128 : index
          %a = arith.addi %m0, %half_a : index
          %b = arith.addi %n0, %half_b : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            ts.tma_load %A[%row_a, %col] to %a {cta_group = 2} : !map_a, !a
            ts.tma_load %B[%row_b, %col] to %b {cta_group = 2} : !map_b, !b
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(4, 1) reads(%ab, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
            ts.yield %va, %vb : !a, !b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %a, %b accumulate(%more) {cta_group = 2 : i64} : !acc, !a, !b
          }
          ts.release %ab
        }
        ts.commit %acc
        ts.next_tile %queue
      }
    }

    ts.task "store" warps(0, 4) reads(%acc, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %rank = ts.info cta_rank : index
        %half_row = arith.muli %rank, %c128 : index
        %row_pair = arith.muli %m, %c256 : index
        %row_tile = arith.addi %row_pair, %half_row : index
        %row = arith.addi %row_tile, %row_warp : index
        %col_tile = arith.muli %n, %c128 : index
        ts.wait %acc
        ts.for %j = %c0 to %c4 {
          %column = arith.muli %j, %c32 : index
          %v = ts.consume %acc "columns" (%c) -> vector<32xf32> {
            %x = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %x : vector<32xf32>
          }
          ts.guard last {
            ts.release %acc
          }
          %col = arith.addi %col_tile, %column : index
          ts.produce %dst "store" (%stage) {
            %s = memref.subview %stage[%warp, 0, 0] [1, 32, 32] [1, 1, 1] : !stage to !piece
            ts.bulk_wait 0 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%row, %col] : !piece, !result
            ts.bulk_commit
          }
        }
        ts.next_tile %queue
      }
    }
  }

  ts.kernel @both_leaders(%A: !map_b, %B: !map_b2, %D: !result,
                  %tiles_m: index = ceildiv(dim(%A, 0), 256),
                  %tiles_n: index = ceildiv(dim(%B, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(7) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b)
        pipeline(tma_umma, stages = 3, producer_signal = cta_leader|task_warp_leader, consumer_signal = cta_leader,
                 bytes_per_warp_per_cta = 12288, mcast = (0, 0), cta_layout = (2, 1, 1, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc)
        pipeline(umma_async, stages = 2, producer_signal = cta_leader, cta_layout = (2, 1, 1, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %acc on %ab
    ts.depends %dst on %acc

    ts.task "load" warps(5, 2) reads(%src, %queue) writes(%ab) {
      %w = ts.info warp : index
      %first_a = arith.muli %w, %c64 : index
      %first_b = arith.muli %w, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %rank = ts.info cta_rank : index
          %half_a = arith.muli %rank, %c128 : index
          %half_b = arith.muli %rank, %c64 : index
          %m0 = arith.muli %m, %c256 : index
          %n0 = arith.muli %n, %c128 : index
          %a = arith.addi %m0, %half_a : index
          %b = arith.addi %n0, %half_b : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            %own_a = memref.subview %a[%first_a, 0] [64, 64] [1, 1] : !a to !a_half
            %own_b = memref.subview %b[%first_b, 0] [32, 64] [1, 1] : !b to !b_half
            %ra = arith.addi %row_a, %first_a : index
            %rb = arith.addi %row_b, %first_b : index
            ts.tma_load %A[%ra, %col] to %own_a {cta_group = 2} : !map_b, !a_half
            ts.tma_load %B[%rb, %col] to %own_b {cta_group = 2} : !map_b2, !b_half
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(4, 1) reads(%ab, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
            ts.yield %va, %vb : !a, !b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %a, %b accumulate(%more) {cta_group = 2 : i64} : !acc, !a, !b
          }
          ts.release %ab
        }
        ts.commit %acc
        ts.next_tile %queue
      }
    }

    ts.task "store" warps(0, 4) reads(%acc, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %rank = ts.info cta_rank : index
        %half_row = arith.muli %rank, %c128 : index
        %row_pair = arith.muli %m, %c256 : index
        %row_tile = arith.addi %row_pair, %half_row : index
        %row = arith.addi %row_tile, %row_warp : index
        %col_tile = arith.muli %n, %c128 : index
        ts.wait %acc
        ts.for %j = %c0 to %c4 {
          %column = arith.muli %j, %c32 : index
          %v = ts.consume %acc "columns" (%c) -> vector<32xf32> {
            %x = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %x : vector<32xf32>
          }
          ts.guard last {
            ts.release %acc
          }
          %col = arith.addi %col_tile, %column : index
          ts.produce %dst "store" (%stage) {
            %s = memref.subview %stage[%warp, 0, 0] [1, 32, 32] [1, 1, 1] : !stage to !piece
            ts.bulk_wait 0 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%row, %col] : !piece, !result
            ts.bulk_commit
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
