// D = A * B^T on Hopper by clusters of two CTAs: both work on one column of tiles, each loads half of
// B's rows and multicasts it to both, so that B crosses the L2 once for 256 rows of D. A stage is
// free when the consumers of both CTAs say so. Otherwise as gemm_bf16 of gemm_sm90.mlir.
//
//   ts-compile examples/gemm_sm90_cluster.mlir --arch=sm_90a -o h.ptx
//   ts-run h.ptx --array A=512x256 --array B=768x256 --array D=512x768 --check 'D = A @ B.T'
!operand_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!operand_b = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!d_bf16 = !ts.tensor_map<?x?xbf16, box = 16x64, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<256x64xbf16, #ts.smem<128>>
!b_half = memref<128x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!a_wg = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x256xf32>
!frag = !ts.fragment<64x256xf32>
// Staging for the output: per warp two pieces of 16 rows, so that one is filled while the other leaves.
!stage_bf16 = memref<8x2x16x64xbf16, #ts.smem<128>>
!piece_bf16 = memref<16x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>

gpu.module @gemm attributes {ts.chip = "sm_90a"} {
  ts.kernel @gemm_cluster(%A: !operand_a, %B: !operand_b, %D: !d_bf16,
                   %tiles_m: index = ceildiv(dim(%A, 0), 256),
                   %tiles_n: index = ceildiv(dim(%B, 0), 256),
                   %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(12) cluster(2, 1, 1) flush_denormals {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b) pipeline(tma_async, stages = 4, advance_on_wait, mcast = (0, 1), cta_layout = (1, 2, 1, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage_bf16)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) group(8)
    ts.depends %ab on %src
    ts.depends %dst on %ab

    ts.task "load" warps(0, 1) registers(40) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %rank = ts.info cta_rank : index
          %half = arith.muli %rank, %c128 : index
          %m0 = arith.muli %m, %c256 : index
          %n0 = arith.muli %n, %c256 : index
          %a = arith.addi %m0, %half : index
          %b = arith.addi %n0, %half : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            ts.tma_load %A[%row_a, %col] to %a : !operand_a, !a
            %rank = ts.info cta_rank : index
            %first = arith.muli %rank, %c128 : index
            %h = memref.subview %b[%first, 0] [128, 64] [1, 1] : !b to !b_half
            ts.tma_load %B[%row_b, %col] to %h {along = "m"} : !operand_b, !b_half
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    // Two warpgroups of 64 rows each; one step's matrix operations stay in flight over the next wait.
    ts.task "mma" warps(4, 8) replicas(2) (%wg) registers(232) reads(%ab, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %wg4 = arith.muli %wg, %c4 : index
      %slot = arith.addi %wg4, %warp : index
      %row_wg = arith.muli %wg, %c64 : index
      %row_warp = arith.muli %slot, %c16 : index
      %some = arith.cmpi sgt, %tiles_k, %c0 : index
      ts.tile_loop %queue (%m, %n) {
        %zero = ts.wgmma_zero : !acc
        %acc = ts.for %k = %c0 to %tiles_k iter(%c = %zero : !acc) {
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a_wg, !b {
            %rows = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !a to !a_wg
            ts.yield %rows, %vb : !a_wg, !b
          }
          %issued = ts.wgmma %a, %b, %c : !a_wg, !b, !acc
          ts.wgmma_commit
          %next = ts.wgmma_wait 1, %issued : !acc -> !acc
          ts.guard not_first {
            ts.release %ab
          }
          ts.yield %next : !acc
        }
        %sum = ts.wgmma_wait 0, %acc : !acc -> !frag
        ts.when %some is true {
          ts.release %ab
        }
        %rank = ts.info cta_rank : index
        %half = arith.muli %rank, %c128 : index
        %row_pair = arith.muli %m, %c256 : index
        %row_tile = arith.addi %row_pair, %half : index
        %row = arith.addi %row_tile, %row_warp : index
        %col = arith.muli %n, %c256 : index
        ts.produce %dst "store" (%stage) {
          %s0 = memref.subview %stage[%slot, 0, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : !stage_bf16 to !piece_bf16
          %s1 = memref.subview %stage[%slot, 1, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : !stage_bf16 to !piece_bf16
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 0 to %s0 : !frag, !piece_bf16
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %D[%row, %col] : !piece_bf16, !d_bf16
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 64 to %s1 : !frag, !piece_bf16
          ts.fence proxy_async_shared
          ts.warp_sync
          %o1 = arith.constant 64 : index
          %col1 = arith.addi %col, %o1 : index
          ts.tma_store %s1 to %D[%row, %col1] : !piece_bf16, !d_bf16
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 128 to %s0 : !frag, !piece_bf16
          ts.fence proxy_async_shared
          ts.warp_sync
          %o2 = arith.constant 128 : index
          %col2 = arith.addi %col, %o2 : index
          ts.tma_store %s0 to %D[%row, %col2] : !piece_bf16, !d_bf16
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 192 to %s1 : !frag, !piece_bf16
          ts.fence proxy_async_shared
          ts.warp_sync
          %o3 = arith.constant 192 : index
          %col3 = arith.addi %col, %o3 : index
          ts.tma_store %s1 to %D[%row, %col3] : !piece_bf16, !d_bf16
          ts.bulk_commit
        }
        ts.next_tile %queue
      }
    }
  }
}
