// UmmaUmma: both sides of a pipeline are the tensor core. One task copies block scales from shared to
// tensor memory (tcgen05.cp), another multiplies with them; a commit and a release are both an arrival
// of the tensor core behind what the task has issued (tcgen05.commit). No thread waits for a copy, and a
// stage of scales is free when the products that read it have ended.
// D = (A * scales) * (B * scales)^T for mxfp4: e2m1 with a power of two for every 32 elements of a row. The
// scales' layout is that of gemm_sm100_mxfp8.mlir.
//
//   ts-compile examples/patterns/umma_umma.mlir --arch=sm_100a -o u.ptx
//   ts-run u.ptx --array A=128x256 --array SA=1x2x32x16 --array B=128x256 --array SB=1x2x32x16 --array D=128x128 \
//     --check 'D = (A * repeat(reshape(transpose(reshape(SA, dim(SA, 0), dim(SA, 1), 32, 4, 4), 0, 3, 2, 1, 4), dim(SA, 0) * 128, dim(SA, 1) * 4), 32, axis=1)[:dim(A, 0), :dim(A, 1)]) @ (B * repeat(reshape(transpose(reshape(SB, dim(SB, 0), dim(SB, 1), 32, 4, 4), 0, 3, 2, 1, 4), dim(SB, 0) * 128, dim(SB, 1) * 4), 32, axis=1)[:dim(B, 0), :dim(B, 1)]).T'
!operand = !ts.tensor_map<?x?xf4E2M1FN, box = 128x256, swizzle = 128>
!scales = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x2x32x16>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!tile = memref<128x256xf4E2M1FN, #ts.smem<128>>
!blocks = memref<1x2x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x32xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
!stage = memref<4x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @umma_umma(%A: !operand, %SA: !scales, %B: !operand, %SB: !scales, %D: !result,
                       %tiles_m: index = ceildiv(dim(%A, 0), 128),
                       %tiles_n: index = ceildiv(dim(%B, 0), 128),
                       %tiles_k: index = ceildiv(dim(%A, 1), 256)) warps(7) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "smem_sf" smem(a: !blocks, b: !blocks) pipeline(tma_umma, stages = 2)
    %factors = ts.resource "tmem_sf" tmem(a: !factors, b: !factors) pipeline(umma_umma, stages = 3)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
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
          %col = arith.muli %k, %c256 : index
          %block = arith.muli %k, %c2 : index
          ts.acquire %sf
          ts.produce %sf "load_scales" (%a, %b) {
            ts.tma_load %SA[%m, %block, %c0, %c0] to %a : !scales, !blocks
            ts.tma_load %SB[%n, %block, %c0, %c0] to %b : !scales, !blocks
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
          %a, %b = ts.consume %sf "blocks" (%va, %vb) -> !blocks, !blocks {
            ts.yield %va, %vb : !blocks, !blocks
          }
          ts.acquire %factors
          ts.produce %factors "copy" (%fa, %fb) {
            ts.tmem_copy %a to %fa "32x128b.warpx4" : !blocks, !factors
            ts.tmem_copy %b to %fb "32x128b.warpx4" : !blocks, !factors
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
            %half = arith.remui %j, %c2 : index
            %s = memref.subview %stage[%warp, %half, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
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
