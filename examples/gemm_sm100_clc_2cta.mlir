// The 2-CTA GEMM of gemm_sm100_2cta.mlir with its tiles from cluster launch control and the epilogue
// under the next main loop: D = A * B^T for bf16 A (M x K) and B (N x K), f32 D. A pair of CTAs
// works on 256 x 256 tiles; tensor memory holds two accumulators of 128 x 256 for each CTA, so that
// the products of the next tile begin while this one leaves by TMA. A scheduler task asks for the
// next tile as soon as the loads of the last one have begun (the throttle), and each answer goes to
// both CTAs; the queue's ring holds three.
//
//   ts-compile examples/gemm_sm100_clc_2cta.mlir --arch=sm_100a -o g.ptx
//   ts-run g.ptx --array A=512x256 --array B=768x256 --array D=512x768 --check 'D = A @ B.T'
!operand = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x256xf32, #ts.tmem>
!stage = memref<4x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @gemm attributes {ts.chip = "sm_100a"} {
  ts.kernel @gemm_clc_2cta(%A: !operand, %B: !operand, %D: !result,
                  %tiles_m: index = ceildiv(dim(%A, 0), 256),
                  %tiles_n: index = ceildiv(dim(%B, 0), 256),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(7) cluster(2, 1, 1) flush_denormals {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %c8 = arith.constant 8 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile)
            pipeline(tma_umma, stages = 6, consumer_signal = cta_leader, mcast = (0, 0), cta_layout = (2, 1, 1, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc)
             pipeline(umma_async, stages = 2, producer_signal = cta_leader, cta_layout = (2, 1, 1, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    %queue = ts.work_queue "tiles" clc over(%tiles_m, %tiles_n) group(8)
               pipeline(clc_fetch_async, stages = 3, cta_layout = (2, 1, 1, 1)) throttle(%token)
    ts.depends %ab on %src
    ts.depends %acc on %ab
    ts.depends %dst on %acc

    ts.task "load" warps(5, 1) registers(40) reads(%src, %queue) writes(%ab, %token) {
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
        ts.acquire %token
        ts.commit %token
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.try_acquire %ab
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            ts.tma_load %A[%row_a, %col] to %a {cta_group = 2} : !operand, !tile
            ts.tma_load %B[%row_b, %col] to %b {cta_group = 2} : !operand, !tile
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    ts.task "schedule" warps(6, 1) registers(40) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        ts.wait %token
        ts.release %token
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(4, 1) registers(40) reads(%ab, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.try_wait %ab
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
            ts.yield %va, %vb : !tile, !tile
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %a, %b accumulate(%more) {cta_group = 2 : i64} : !acc, !tile, !tile
          }
          ts.release %ab
        }
        ts.commit %acc
        ts.next_tile %queue
      }
    }

    // With no k step nothing was multiplied: the compiler makes the loads below read zeros then.
    ts.task "store" warps(0, 4) registers(192) reads(%acc, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %rank = ts.info cta_rank : index
        %half_row = arith.muli %rank, %c128 : index
        %row_pair = arith.muli %m, %c256 : index
        %row_tile = arith.addi %row_pair, %half_row : index
        %row = arith.addi %row_tile, %row_warp : index
        %col_tile = arith.muli %n, %c256 : index
        ts.wait %acc
        ts.for %j = %c0 to %c8 {
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
