// Split positions: a side that opens stages ahead of those it closes. The loader (advance_on_acquire)
// has up to four stages of cp.async copies in flight: it acquires two stages and issues their groups,
// waits until the groups of the pair before have landed, and commits that older pair. The multiplier (advance_on_wait)
// keeps one step of matrix products in flight: it waits for the next stage and issues on it before
// it releases the stage of the step before. What is still open after the loop is closed behind it.
// D = A * B^T, 64 x 64 a tile, one warpgroup. Rows of A and B are multiples of 16 bytes apart.
//
//   ts-compile examples/patterns/advance.mlir --arch=sm_90a -o a.ptx
//   ts-run a.ptx --array A=128x200 --array B=64x200 --array D=128x64 --check 'D = A @ B.T'
!matrix = memref<?x?xbf16, strided<[?, 1]>>
!result = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
!frag = !ts.fragment<64x64xf32>
!stage = memref<4x2x16x32xf32, #ts.smem<128>>
!piece = memref<16x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @advance(%A: !matrix, %B: !matrix, %D: !result,
                     %rows: index = dim(%A, 0), %cols: index = dim(%B, 0), %depth: index = dim(%A, 1),
                     %tiles_m: index = ceildiv(dim(%A, 0), 64),
                     %tiles_n: index = ceildiv(dim(%B, 0), 64),
                     %pairs: index = ceildiv(dim(%A, 1), 128)) warps(8) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %some = arith.cmpi sgt, %pairs, %c0 : index
    %steps = arith.muli %pairs, %c2 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile)
        pipeline(async_async, stages = 6, advance_on_wait, advance_on_acquire)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %dst on %ab

    // Half of the threads copy a row of A each, the others a row of B; what lies outside is zero.
    ts.task "load" warps(4, 4) reads(%src, %queue) writes(%ab) {
      %t = ts.info thread : index
      %of_b = arith.cmpi sge, %t, %c64 : index
      %r = arith.remui %t, %c64 : index
      ts.tile_loop %queue (%m, %n) {
        %in, %from = ts.consume %src "row" -> i1, index {
          %tile = arith.select %of_b, %n, %m : index
          %first = arith.muli %tile, %c64 : index
          %row = arith.addi %first, %r : index
          %limit = arith.select %of_b, %cols, %rows : index
          %inside = arith.cmpi slt, %row, %limit : index
          %safe = arith.select %inside, %row, %c0 : index
          ts.yield %inside, %safe : i1, index
        }
        ts.for %k = %c0 to %pairs {
          %older = ts.guard first -> index {
            ts.yield %c0 : index
          } else {
            ts.yield %c2 : index
          }
          ts.for %j = %c0 to %c2 {
            ts.acquire %ab
            ts.produce %ab "copy" (%a, %b) {
              // Open are this stage, those of the pair before it, and the older pair.
              %open = ts.info in_flight : index
              %same = arith.subi %open, %j : index
              %one = arith.subi %same, %older : index
              %pair = arith.muli %k, %c2 : index
              %step = arith.addi %pair, %j : index
              %col0 = arith.muli %step, %c64 : index
              scf.for %chunk = %c0 to %c64 step %c8 {
                %col = arith.addi %col0, %chunk : index
                %left = arith.subi %depth, %col : index
                %least = arith.maxsi %left, %c0 : index
                %most = arith.minsi %least, %c8 : index
                %right = arith.muli %most, %one : index
                %valid = arith.select %in, %right, %c0 : index
                %inside = arith.cmpi sgt, %left, %c0 : index
                %from_col = arith.select %inside, %col, %c0 : index
                scf.if %of_b {
                  ts.cp_async %B[%from, %from_col] to %b[%r, %chunk], 16 valid %valid : !matrix, !tile
                } else {
                  ts.cp_async %A[%from, %from_col] to %a[%r, %chunk], 16 valid %valid : !matrix, !tile
                }
              }
              ts.cp_async_commit
            }
          }
          ts.guard not_first {
            ts.cp_async_wait 2
            ts.for %j = %c0 to %c2 {
              ts.commit %ab
            }
          }
        }
        ts.when %some is true {
          ts.cp_async_wait 0
          ts.for %j = %c0 to %c2 {
            ts.commit %ab
          }
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(0, 4) reads(%ab, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %row_warp = arith.muli %warp, %c16 : index
      ts.tile_loop %queue (%m, %n) {
        %zero = ts.wgmma_zero : !acc
        %acc = ts.for %k = %c0 to %steps iter(%c = %zero : !acc) {
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
            ts.yield %va, %vb : !tile, !tile
          }
          %issued = ts.wgmma %a, %b, %c : !tile, !tile, !acc
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
