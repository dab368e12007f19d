// AsyncLoad producers on Hopper: D = A * B^T for bf16 A (M x K) and B (N x K), both copied by cp.async of
// four warps, 16 bytes a thread, zeros outside. A commit makes the arrival of each thread part of its
// copies (cp.async.mbarrier.arrive): nobody waits for them but who reads the stage. Rows begin at
// multiples of 16 bytes.
//
//   ts-compile examples/patterns/async_load_producers.mlir --arch=sm_90a -o p.ptx
//   ts-run p.ptx --array A=100x96 --array B=72x96 --array D=100x72 --check 'D = A @ B.T'
!matrix = memref<?x?xbf16, strided<[?, 1]>>
!result = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
!frag = !ts.fragment<64x64xf32>
!stage = memref<4x2x16x32xf32, #ts.smem<128>>
!piece = memref<16x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @async_load_producers(%A: !matrix, %B: !matrix, %D: !result,
                                  %rows_a: index = dim(%A, 0), %rows_b: index = dim(%B, 0),
                                  %depth: index = dim(%A, 1),
                                  %tiles_m: index = ceildiv(dim(%A, 0), 64),
                                  %tiles_n: index = ceildiv(dim(%B, 0), 64),
                                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(8) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(async_async, stages = 3, producer_op = load)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %dst on %ab

    // Thread t copies every 128th chunk of eight elements; what lies outside of a matrix is zero.
    ts.task "load" warps(0, 4) reads(%src, %queue) writes(%ab) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "rows" -> index, index {
          %a = arith.muli %m, %c64 : index
          %b = arith.muli %n, %c64 : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %tiles_k {
          %col0 = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "copy" (%a, %b) {
            scf.for %i = %t to %c512 step %c128 {
              %r = arith.divui %i, %c8 : index
              %chunk = arith.remui %i, %c8 : index
              %c = arith.muli %chunk, %c8 : index
              %row = arith.addi %row_a, %r : index
              %col = arith.addi %col0, %c : index
              %row_in = arith.cmpi slt, %row, %rows_a : index
              %left = arith.subi %depth, %col : index
              %some = arith.maxsi %left, %c0 : index
              %most = arith.minsi %some, %c8 : index
              %valid = arith.select %row_in, %most, %c0 : index
              ts.cp_async %A[%row, %col] to %a[%r, %c], 16 valid %valid : !matrix, !tile
            }
            scf.for %i = %t to %c512 step %c128 {
              %r = arith.divui %i, %c8 : index
              %chunk = arith.remui %i, %c8 : index
              %c = arith.muli %chunk, %c8 : index
              %row = arith.addi %row_b, %r : index
              %col = arith.addi %col0, %c : index
              %row_in = arith.cmpi slt, %row, %rows_b : index
              %left = arith.subi %depth, %col : index
              %some = arith.maxsi %left, %c0 : index
              %most = arith.minsi %some, %c8 : index
              %valid = arith.select %row_in, %most, %c0 : index
              ts.cp_async %B[%row, %col] to %b[%r, %c], 16 valid %valid : !matrix, !tile
            }
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(4, 4) reads(%ab, %queue) writes(%dst) {
      %warp = ts.info warp : index
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
        %row_tile = arith.muli %m, %c64 : index
        %row = arith.addi %row_tile, %row_warp : index
        %col = arith.muli %n, %c64 : index
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
