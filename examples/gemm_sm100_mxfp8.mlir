// D = (A * scales) * (B * scales)^T for mxfp8 on Blackwell: e4m3 A (M x K) and B (N x K), a power of two
// (ue8m0) for every 32 elements of a row, f32 accumulation, bf16 D. TMA fills tiles and scales; a warp of
// its own copies the scales to tensor memory (tcgen05.cp), where the products find them: a umma_umma
// pipeline between two tensor-core tasks. Persistent, two accumulators.
//
// Scales lie as tcgen05.cp wants them: blocks of 128 rows by four scales, SA[m / 128][k / 128] for the
// rows and elements from m and k. In a block of 32 x 16 bytes, row r and scale s stand at
// [r % 32][r / 32 * 4 + s]. Blocks are whole: what pads them has to be a number, not NaN (0xff).
//   ts-compile examples/gemm_sm100_mxfp8.mlir --arch=sm_100a -o g.ptx
//   ts-run g.ptx --array A=128x256 --array SA=1x2x32x16 --array B=128x256 --array SB=1x2x32x16 --array D=128x128 \
//     --check 'D = (A * repeat(reshape(transpose(reshape(SA, dim(SA, 0), dim(SA, 1), 32, 4, 4), 0, 3, 2, 1, 4), dim(SA, 0) * 128, dim(SA, 1) * 4), 32, axis=1)[:dim(A, 0), :dim(A, 1)]) @ (B * repeat(reshape(transpose(reshape(SB, dim(SB, 0), dim(SB, 1), 32, 4, 4), 0, 3, 2, 1, 4), dim(SB, 0) * 128, dim(SB, 1) * 4), 32, axis=1)[:dim(B, 0), :dim(B, 1)]).T'
!operand = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!scales = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!result = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
!stage = memref<4x2x32x64xbf16, #ts.smem<128>>
!piece = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>

gpu.module @gemm attributes {ts.chip = "sm_100a"} {
  ts.kernel @gemm_mxfp8(%A: !operand, %SA: !scales, %B: !operand, %SB: !scales, %D: !result,
                        %tiles_m: index = ceildiv(dim(%A, 0), 128),
                        %tiles_n: index = ceildiv(dim(%B, 0), 128),
                        %tiles_k: index = ceildiv(dim(%A, 1), 128)) warps(7) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 4)
    %sf = ts.resource "smem_sf" smem(a: !block, b: !block) pipeline(tma_umma, stages = 4)
    %factors = ts.resource "tmem_sf" tmem(a: !factors, b: !factors) pipeline(umma_umma, stages = 4)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) group(8)
    ts.depends %ab on %src
    ts.depends %sf on %src
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.depends %dst on %acc

    ts.task "load" warps(5, 1) reads(%src, %queue) writes(%ab, %sf) {
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %a = arith.muli %m, %c128 : index
          %b = arith.muli %n, %c128 : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c128 : index
          ts.acquire %sf
          ts.produce %sf "load_scales" (%a, %b) {
            ts.tma_load %SA[%m, %k, %c0, %c0] to %a : !scales, !block
            ts.tma_load %SB[%n, %k, %c0, %c0] to %b : !scales, !block
          }
          ts.commit %sf
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            ts.tma_load %A[%row_a, %col] to %a : !operand, !tile
            ts.tma_load %B[%row_b, %col] to %b : !operand, !tile
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    ts.task "copy_scales" warps(6, 1) reads(%sf, %queue) writes(%factors) {
      ts.tile_loop %queue {
        ts.for %k = %c0 to %tiles_k {
          ts.wait %sf
          %a, %b = ts.consume %sf "blocks" (%va, %vb) -> !block, !block {
            ts.yield %va, %vb : !block, !block
          }
          ts.acquire %factors
          ts.produce %factors "copy" (%fa, %fb) {
            ts.tmem_copy %a to %fa "32x128b.warpx4" : !block, !factors
            ts.tmem_copy %b to %fb "32x128b.warpx4" : !block, !factors
          }
          ts.commit %factors
          ts.release %sf
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(4, 1) reads(%ab, %factors, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %factors
          %fa, %fb = ts.consume %factors "factors" (%va, %vb) -> !factors, !factors {
            ts.yield %va, %vb : !factors, !factors
          }
          ts.try_wait %ab
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
            ts.yield %va, %vb : !tile, !tile
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %a, %b accumulate(%more) scales(%fa, %fb : !factors, !factors) : !acc, !tile, !tile
          }
          ts.release %ab
          ts.release %factors
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
        %row_tile = arith.muli %m, %c128 : index
        %row = arith.addi %row_tile, %row_warp : index
        %col_tile = arith.muli %n, %c128 : index
        ts.wait %acc
        ts.for %j = %c0 to %c2 {
          %column = arith.muli %j, %c64 : index
          %v = ts.consume %acc "columns" (%c) -> vector<64xbf16> {
            %x = ts.tmem_load %c[%column] : !acc -> vector<64xf32>
            %y = arith.truncf %x : vector<64xf32> to vector<64xbf16>
            ts.yield %y : vector<64xbf16>
          }
          ts.guard last {
            ts.release %acc
          }
          %col = arith.addi %col_tile, %column : index
          ts.produce %dst "store" (%stage) {
            %s = memref.subview %stage[%warp, %j, 0, 0] [1, 1, 32, 64] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<64xbf16>
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
