// D = A * B^T for row-major bf16 A (M x K) and B (N x K) and f32 D, on Blackwell: TMA fills four
// stages, one warp issues tcgen05.mma into two tensor-memory accumulators, four warps drain them
// through shared memory by TMA. Persistent: while a tile is stored, the next is being multiplied.
//   ts-compile examples/gemm_sm100.mlir --arch=sm_100a -o g.ptx
//   ts-run g.ptx --array A=256x256 --array B=256x256 --array D=256x256 --check 'D = A @ B.T'
!operand = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
!stage = memref<4x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @gemm attributes {ts.chip = "sm_100a"} {
  ts.kernel @gemm(%A: !operand, %B: !operand, %D: !result,
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_n: index = ceildiv(dim(%B, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 4)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) group(8)
    ts.depends %ab on %src
    ts.depends %acc on %ab
    ts.depends %dst on %acc

    ts.task "load" warps(5, 1) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %a = arith.muli %m, %c128 : index
          %b = arith.muli %n, %c128 : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.try_acquire %ab
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

    ts.task "mma" warps(4, 1) reads(%ab, %queue) writes(%acc) {
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
            ts.umma %c, %a, %b accumulate(%more) : !acc, !tile, !tile
          }
          ts.release %ab
        }
        ts.commit %acc
        ts.next_tile %queue
      }
    }

    // With no k step nothing was multiplied: the compiler makes the loads below read zeros then.
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
