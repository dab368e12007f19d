// TMA multicast in both directions: a cluster of 2 x 2 CTAs multiplies tiles of 128 x 128, each CTA its
// quarter of 64 x 64. The two CTAs of a row need the same rows of A: each loads half of them and
// multicasts it along n. The two of a column do so with B along m. Each operand crosses the L2 once for
// the cluster. A stage is free when the consumers of all three CTAs that share a copy with this one say so:
// how many arrive where is derived from `mcast` and `cta_layout`.
//
//   ts-compile examples/patterns/multicast_mn.mlir --arch=sm_90a -o m.ptx
//   ts-run m.ptx --array A=256x256 --array B=128x256 --array D=256x128 --check 'D = A @ B.T'
!operand = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!result = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
!frag = !ts.fragment<64x64xf32>
!stage = memref<4x2x16x32xf32, #ts.smem<128>>
!piece = memref<16x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @multicast_mn(%A: !operand, %B: !operand, %D: !result,
                          %tiles_m: index = ceildiv(dim(%A, 0), 128),
                          %tiles_n: index = ceildiv(dim(%B, 0), 128),
                          %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(5) cluster(4, 1, 1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, mcast = (1, 1), cta_layout = (1, 2, 2, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %dst on %ab

    ts.task "load" warps(4, 1) reads(%src, %queue) writes(%ab) {
      // CTA (m, n) of the cluster has rank m + 2 n; it brings the n-th half of A and the m-th of B.
      %rank = ts.info cta_rank : index
      %rank_m = arith.remui %rank, %c2 : index
      %rank_n = arith.divui %rank, %c2 : index
      %half_a = arith.muli %rank_n, %c32 : index
      %half_b = arith.muli %rank_m, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %tile_m = arith.muli %m, %c128 : index
          %quarter_m = arith.muli %rank_m, %c64 : index
          %m0 = arith.addi %tile_m, %quarter_m : index
          %a = arith.addi %m0, %half_a : index
          %tile_n = arith.muli %n, %c128 : index
          %quarter_n = arith.muli %rank_n, %c64 : index
          %n0 = arith.addi %tile_n, %quarter_n : index
          %b = arith.addi %n0, %half_b : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            %to_a = memref.subview %a[%half_a, 0] [32, 64] [1, 1] : !tile to !half
            ts.tma_load %A[%row_a, %col] to %to_a {along = "n"} : !operand, !half
            %to_b = memref.subview %b[%half_b, 0] [32, 64] [1, 1] : !tile to !half
            ts.tma_load %B[%row_b, %col] to %to_b {along = "m"} : !operand, !half
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(0, 4) reads(%ab, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %rank = ts.info cta_rank : index
      %rank_m = arith.remui %rank, %c2 : index
      %rank_n = arith.divui %rank, %c2 : index
      %row_warp = arith.muli %warp, %c16 : index
      ts.tile_loop %queue (%m, %n) {
        %zero = ts.wgmma_zero : !acc
        %acc = ts.for %k = %c0 to %tiles_k iter(%c = %zero : !acc) {
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
        %sum = ts.wgmma_wait 0, %acc : !acc -> !frag
        %tile_m = arith.muli %m, %c128 : index
        %quarter_m = arith.muli %rank_m, %c64 : index
        %m0 = arith.addi %tile_m, %quarter_m : index
        %row = arith.addi %m0, %row_warp : index
        %tile_n = arith.muli %n, %c128 : index
        %quarter_n = arith.muli %rank_n, %c64 : index
        %col = arith.addi %tile_n, %quarter_n : index
        %col1 = arith.addi %col, %c32 : index
        ts.produce %dst "store" (%stage) {
          %s0 = memref.subview %stage[%warp, 0, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !stage to !piece
          %s1 = memref.subview %stage[%warp, 1, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !stage to !piece
          ts.bulk_wait 0 read
          ts.warp_sync
          ts.fragment_store %sum column 0 to %s0 : !frag, !piece
          ts.fragment_store %sum column 32 to %s1 : !frag, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %D[%row, %col] : !piece, !result
          ts.tma_store %s1 to %D[%row, %col1] : !piece, !result
          ts.bulk_commit
        }
        ts.next_tile %queue
      }
    }
  }
}
