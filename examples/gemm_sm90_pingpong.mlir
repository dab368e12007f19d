// D = A * B^T for row-major bf16 A (M x K) and B (N x K), bf16 out, f32 accumulation, on Hopper: persistent
// ping-pong. A unit of work is a pair of neighbouring tiles of 128 x 128, one for each of two consumer
// warpgroups, which do not share a tile. The baton lets one warpgroup store at a time: after their first
// tiles they are out of step, and one multiplies while the other rounds, stages and stores.
// Two loading warps, one for each warpgroup, fill one ring, each in its own lane. Ordering the main loops
// instead of the epilogues was slower: a lane has half of the stages, which does not cover the latency of
// the loads when its warpgroup multiplies alone. Any M, N, K; rows are multiples of 16 bytes.
//
//   ts-compile examples/gemm_sm90_pingpong.mlir --arch=sm_90a -o p.ptx
//   ts-run p.ptx --array A=256x128 --array B=512x128 --array D=256x512 --check 'D = A @ B.T'
!operand_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!operand_b = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!d_bf16 = !ts.tensor_map<?x?xbf16, box = 16x64, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<128x64xbf16, #ts.smem<128>>
!a_top = memref<64x64xbf16, strided<[64, 1]>, #ts.smem<128>>
!a_bottom = memref<64x64xbf16, strided<[64, 1], offset: 4096>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
// Staging for the output: pieces of 16 rows, 2 for each warp.
!stage = memref<8x2x16x64xbf16, #ts.smem<128>>
!piece = memref<16x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>

gpu.module @gemm attributes {ts.chip = "sm_90a"} {
  ts.kernel @gemm_pingpong(%A: !operand_a, %B: !operand_b, %D: !d_bf16,
                   %tiles_m: index = ceildiv(dim(%A, 0), 128),
                   %pairs_n: index = ceildiv(dim(%B, 0), 256),
                   %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(12) flush_denormals {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %half_k = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %cn = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b) pipeline(tma_async, stages = 6, advance_on_wait, interleave = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %order = ts.baton "epilogue" holders(2) first(0)
    %queue = ts.work_queue "pairs" static over(%tiles_m, %pairs_n) group(8)
    ts.depends %ab on %src
    ts.depends %dst on %ab

    // Step k of the pair's tile t is use 2 k + t of the ring.
    ts.task "load" warps(0, 2) replicas(2) (%t) registers(40) reads(%src, %queue) writes(%ab) {
      %uses = arith.muli %tiles_k, %c2 : index
      ts.tile_loop %queue (%m, %pair) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %a = arith.muli %m, %c128 : index
          %first = arith.muli %pair, %c2 : index
          %n = arith.addi %first, %t : index
          %b = arith.muli %n, %cn : index
          ts.yield %a, %b : index, index
        }
        ts.for %use = %t to %uses step %c2 {
          %twice = arith.subi %use, %t : index
          %col = arith.muli %twice, %half_k : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            ts.tma_load %A[%row_a, %col] to %a : !operand_a, !a
            ts.tma_load %B[%row_b, %col] to %b : !operand_b, !b
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    // One tile of 128 rows for each warpgroup; one step's matrix operations stay in flight over the next wait.
    ts.task "mma" warps(4, 8) replicas(2) (%t) registers(232) reads(%ab, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %t4 = arith.muli %t, %c4 : index
      %slot = arith.addi %t4, %warp : index
      %row_warp = arith.muli %warp, %c16 : index
      %uses = arith.muli %tiles_k, %c2 : index
      %some = arith.cmpi sgt, %tiles_k, %c0 : index
      ts.tile_loop %queue (%m, %pair) {
          %zero = ts.wgmma_zero : !acc
          %acc:2 = ts.for %use = %t to %uses step %c2 iter(%c0_rows = %zero : !acc, %c1_rows = %zero : !acc) {
            ts.wait %ab
            %a0, %a1, %b = ts.consume %ab "operands" (%va, %vb) -> !a_top, !a_bottom, !b {
              %top = memref.subview %va[0, 0] [64, 64] [1, 1] : !a to !a_top
              %bottom = memref.subview %va[64, 0] [64, 64] [1, 1] : !a to !a_bottom
              ts.yield %top, %bottom, %vb : !a_top, !a_bottom, !b
            }
            %i0 = ts.wgmma %a0, %b, %c0_rows : !a_top, !b, !acc
            %i1 = ts.wgmma %a1, %b, %c1_rows : !a_bottom, !b, !acc
            ts.wgmma_commit
            %n0, %n1 = ts.wgmma_wait 1, %i0, %i1 : !acc, !acc -> !acc, !acc
            ts.guard not_first {
              ts.release %ab
            }
            ts.yield %n0, %n1 : !acc, !acc
          }
          %sum0, %sum1 = ts.wgmma_wait 0, %acc#0, %acc#1 : !acc, !acc -> !frag, !frag
          ts.when %some is true {
            ts.release %ab
          }
          %row_tile = arith.muli %m, %c128 : index
          %row0 = arith.addi %row_tile, %row_warp : index
          %row1 = arith.addi %row0, %c64 : index
          %first = arith.muli %pair, %c2 : index
          %n = arith.addi %first, %t : index
          %col = arith.muli %n, %cn : index
          ts.take %order
          ts.produce %dst "store" (%stage) {
            %s0 = memref.subview %stage[%slot, 0, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : !stage to !piece
            %s1 = memref.subview %stage[%slot, 1, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            ts.fragment_store %sum0 column 0 to %s0 : !frag, !piece
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s0 to %D[%row0, %col] : !piece, !d_bf16
            ts.bulk_commit
            %o64 = arith.constant 64 : index
            %col64 = arith.addi %col, %o64 : index
            ts.bulk_wait 1 read
            ts.warp_sync
            ts.fragment_store %sum0 column 64 to %s1 : !frag, !piece
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s1 to %D[%row0, %col64] : !piece, !d_bf16
            ts.bulk_commit
            ts.bulk_wait 1 read
            ts.warp_sync
            ts.fragment_store %sum1 column 0 to %s0 : !frag, !piece
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s0 to %D[%row1, %col] : !piece, !d_bf16
            ts.bulk_commit
            ts.bulk_wait 1 read
            ts.warp_sync
            ts.fragment_store %sum1 column 64 to %s1 : !frag, !piece
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s1 to %D[%row1, %col64] : !piece, !d_bf16
            ts.bulk_commit
          }
          ts.pass %order
        ts.next_tile %queue
      }
    }
  }
}
