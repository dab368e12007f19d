// Two MMA pairs in one cluster of four CTAs: 2-CTA matrix products (cta_group 2) of 256 x 128, a pair for
// each half of a tile of 256 x 256. Both pairs need the same rows of A: CTA v of either pair loads half of
// the 128 rows that the CTAs v need and multicasts it along n. B is each pair's own. The leader of a pair
// arms for both of its CTAs; when the pair has read a stage its leader tells everyone that writes into it,
// the CTAs of the other pair too: who is told is derived from `mcast` and `cta_layout`. The second kernel has
// four pairs and multicasts both operands.
//
//   ts-compile examples/patterns/multicast_2cta.mlir --arch=sm_100a -o m.ptx
//   ts-run m.ptx --kernel multicast_2cta --array A=256x256 --array B=256x256 --array D=256x256 --check 'D = A @ B.T'
!operand = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!quarter = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!tile_a = memref<128x64xbf16, #ts.smem<128>>
!half_a = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!tile_b = memref<64x64xbf16, #ts.smem<128>>
!half_b = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
!stage = memref<4x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @multicast_2cta(%A: !operand, %B: !operand, %D: !result,
                            %tiles_m: index = ceildiv(dim(%A, 0), 256),
                            %tiles_n: index = ceildiv(dim(%B, 0), 256),
                            %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(6) cluster(4, 1, 1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile_a, b: !tile_b) pipeline(tma_umma, stages = 4, consumer_signal = cta_leader, mcast = (1, 0), cta_layout = (2, 1, 2, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2, producer_signal = cta_leader, cta_layout = (2, 1, 2, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %acc on %ab
    ts.depends %dst on %acc

    ts.task "load" warps(5, 1) reads(%src, %queue) writes(%ab) {
      // CTA v of pair n has rank v + 2 n.
      %rank = ts.info cta_rank : index
      %v = arith.remui %rank, %c2 : index
      %pair = arith.divui %rank, %c2 : index
      %first_a = arith.muli %pair, %c64 : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %tile_m = arith.muli %m, %c256 : index
          %half_m = arith.muli %v, %c128 : index
          %m0 = arith.addi %tile_m, %half_m : index
          %a = arith.addi %m0, %first_a : index
          %tile_n = arith.muli %n, %c256 : index
          %part_n = arith.muli %pair, %c128 : index
          %half_n = arith.muli %v, %c64 : index
          %n0 = arith.addi %tile_n, %part_n : index
          %b = arith.addi %n0, %half_n : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            %half = memref.subview %a[%first_a, 0] [64, 64] [1, 1] : !tile_a to !half_a
            ts.tma_load %A[%row_a, %col] to %half {cta_group = 2, along = "n"} : !operand, !half_a
            ts.tma_load %B[%row_b, %col] to %b {cta_group = 2} : !operand, !tile_b
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
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile_a, !tile_b {
            ts.yield %va, %vb : !tile_a, !tile_b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %a, %b accumulate(%more) {cta_group = 2 : i64} : !acc, !tile_a, !tile_b
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
      %rank = ts.info cta_rank : index
      %v = arith.remui %rank, %c2 : index
      %pair = arith.divui %rank, %c2 : index
      %row_warp = arith.muli %warp, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %tile_m = arith.muli %m, %c256 : index
        %half_m = arith.muli %v, %c128 : index
        %m0 = arith.addi %tile_m, %half_m : index
        %row = arith.addi %m0, %row_warp : index
        %tile_n = arith.muli %n, %c256 : index
        %part_n = arith.muli %pair, %c128 : index
        %col_tile = arith.addi %tile_n, %part_n : index
        ts.wait %acc
        ts.for %j = %c0 to %c4 {
          %column = arith.muli %j, %c32 : index
          %x = ts.consume %acc "columns" (%c) -> vector<32xf32> {
            %y = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %y : vector<32xf32>
          }
          ts.guard last {
            ts.release %acc
          }
          %col = arith.addi %col_tile, %column : index
          ts.produce %dst "store" (%stage) {
            %half = arith.remui %j, %c2 : index
            %s = memref.subview %stage[%warp, %half, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %x, %s[%lane, %c0] : !piece, vector<32xf32>
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

  // Four pairs in a cluster of eight CTAs, 512 x 256: A is multicast along n, B along m.
  ts.kernel @multicast_2cta_mn(%A: !operand, %B: !quarter, %D: !result,
                               %tiles_m: index = ceildiv(dim(%A, 0), 512),
                               %tiles_n: index = ceildiv(dim(%B, 0), 256),
                               %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(6) cluster(8, 1, 1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile_a, b: !tile_b) pipeline(tma_umma, stages = 4, consumer_signal = cta_leader, mcast = (1, 1), cta_layout = (2, 2, 2, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2, producer_signal = cta_leader, cta_layout = (2, 2, 2, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %acc on %ab
    ts.depends %dst on %acc

    ts.task "load" warps(5, 1) reads(%src, %queue) writes(%ab) {
      // CTA v of pair (m, n) has rank v + 2 m + 4 n.
      %rank = ts.info cta_rank : index
      %v = arith.remui %rank, %c2 : index
      %pair = arith.divui %rank, %c2 : index
      %pair_m = arith.remui %pair, %c2 : index
      %pair_n = arith.divui %pair, %c2 : index
      %first_a = arith.muli %pair_n, %c64 : index
      %first_b = arith.muli %pair_m, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %tile_m = arith.muli %m, %c512 : index
          %part_m = arith.muli %pair_m, %c256 : index
          %half_m = arith.muli %v, %c128 : index
          %m0 = arith.addi %tile_m, %part_m : index
          %m1 = arith.addi %m0, %half_m : index
          %a = arith.addi %m1, %first_a : index
          %tile_n = arith.muli %n, %c256 : index
          %part_n = arith.muli %pair_n, %c128 : index
          %half_n = arith.muli %v, %c64 : index
          %n0 = arith.addi %tile_n, %part_n : index
          %n1 = arith.addi %n0, %half_n : index
          %b = arith.addi %n1, %first_b : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            %half = memref.subview %a[%first_a, 0] [64, 64] [1, 1] : !tile_a to !half_a
            ts.tma_load %A[%row_a, %col] to %half {cta_group = 2, along = "n"} : !operand, !half_a
            %part = memref.subview %b[%first_b, 0] [32, 64] [1, 1] : !tile_b to !half_b
            ts.tma_load %B[%row_b, %col] to %part {cta_group = 2, along = "m"} : !quarter, !half_b
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
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile_a, !tile_b {
            ts.yield %va, %vb : !tile_a, !tile_b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %a, %b accumulate(%more) {cta_group = 2 : i64} : !acc, !tile_a, !tile_b
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
      %rank = ts.info cta_rank : index
      %v = arith.remui %rank, %c2 : index
      %pair = arith.divui %rank, %c2 : index
      %pair_m = arith.remui %pair, %c2 : index
      %pair_n = arith.divui %pair, %c2 : index
      %row_warp = arith.muli %warp, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %tile_m = arith.muli %m, %c512 : index
        %part_m = arith.muli %pair_m, %c256 : index
        %half_m = arith.muli %v, %c128 : index
        %m0 = arith.addi %tile_m, %part_m : index
        %m1 = arith.addi %m0, %half_m : index
        %row = arith.addi %m1, %row_warp : index
        %tile_n = arith.muli %n, %c256 : index
        %part_n = arith.muli %pair_n, %c128 : index
        %col_tile = arith.addi %tile_n, %part_n : index
        ts.wait %acc
        ts.for %j = %c0 to %c4 {
          %column = arith.muli %j, %c32 : index
          %x = ts.consume %acc "columns" (%c) -> vector<32xf32> {
            %y = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %y : vector<32xf32>
          }
          ts.guard last {
            ts.release %acc
          }
          %col = arith.addi %col_tile, %column : index
          ts.produce %dst "store" (%stage) {
            %half = arith.remui %j, %c2 : index
            %s = memref.subview %stage[%warp, %half, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %x, %s[%lane, %c0] : !piece, vector<32xf32>
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
