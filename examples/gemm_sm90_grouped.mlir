// Grouped GEMM on Hopper: rows offsets[g] .. offsets[g + 1] - 1 of A belong to group g and meet its own
// B[g]: D[rows] += A[rows] * B[g]^T for bf16 A (M x K) and B (G x N x K), f32 D. Groups lie packed behind
// each other, of any number of rows, 0 included; rows before the first and behind the last offset stay
// as they are. The offsets are read on the device: the launch knows M and G only, so the queue has a
// tile for every 128 rows and one more for each group, and a tile beyond the last is skipped. A tile
// finds its group by walking the offsets, is loaded whole, and only its own group's rows are stored.
//
//   ts-compile examples/gemm_sm90_grouped.mlir --arch=sm_90a -o h.ptx
//   ts-run h.ptx --array A=300x64 --array B=3x128x64 --array D=300x128 --array 'offsets=values(0, 1, 130, 300)' ...
!operand_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!operand_b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!matrix = memref<?x?xf32, strided<[?, 1]>>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<128x64xbf16, #ts.smem<128>>
!a_wg = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
// Each warp's rows on their way out; the padding keeps rows in different banks.
!stage = memref<8x16x136xf32, #ts.smem>
!piece = memref<16x128xf32, strided<[136, 1], offset: ?>, #ts.smem>

gpu.module @gemm attributes {ts.chip = "sm_90a"} {
  ts.kernel @gemm_grouped(%A: !operand_a, %B: !operand_b, %D: !matrix, %offsets: memref<?xi32>,
                          %groups: index = dim(%B, 0), %cols: index = dim(%D, 1),
                          %tiles_m: index = ceildiv(dim(%A, 0), 128) + dim(%B, 0),
                          %tiles_n: index = ceildiv(dim(%D, 1), 128),
                          %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(12) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b) pipeline(tma_async, stages = 4, advance_on_wait)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) skip(%m, %n) {
      // What is left of m behind the tiles of all groups: nothing but its own number of tiles.
      %left = scf.for %g = %c0 to %groups step %c1 iter_args(%l = %m) -> index {
        %next = arith.addi %g, %c1 : index
        %from = memref.load %offsets[%g] : memref<?xi32>
        %to = memref.load %offsets[%next] : memref<?xi32>
        %rows32 = arith.subi %to, %from : i32
        %rows = arith.index_cast %rows32 : i32 to index
        %tiles = arith.ceildivsi %rows, %c128 : index
        %new = arith.subi %l, %tiles : index
        scf.yield %new : index
      }
      %beyond = arith.cmpi sge, %left, %c0 : index
      ts.yield %beyond : i1
    }
    ts.depends %ab on %src
    ts.depends %dst on %ab

    ts.task "load" warps(0, 1) registers(40) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%m, %n) {
        ts.skippable {
          %group, %row_a, %row_b = ts.consume %src "coords" -> index, index, index {
            %l, %at, %row = scf.for %g = %c0 to %groups step %c1
                iter_args(%l0 = %m, %at0 = %c0, %row0 = %c0) -> (index, index, index) {
              %next = arith.addi %g, %c1 : index
              %from = memref.load %offsets[%g] : memref<?xi32>
              %to = memref.load %offsets[%next] : memref<?xi32>
              %rows32 = arith.subi %to, %from : i32
              %rows = arith.index_cast %rows32 : i32 to index
              %first = arith.index_cast %from : i32 to index
              %tiles = arith.ceildivsi %rows, %c128 : index
              %left = arith.subi %l0, %tiles : index
              %not_before = arith.cmpi sge, %l0, %c0 : index
              %not_behind = arith.cmpi slt, %left, %c0 : index
              %here = arith.andi %not_before, %not_behind : i1
              %down = arith.muli %l0, %c128 : index
              %begin = arith.addi %first, %down : index
              %at1 = arith.select %here, %g, %at0 : index
              %row1 = arith.select %here, %begin, %row0 : index
              scf.yield %left, %at1, %row1 : index, index, index
            }
            %b = arith.muli %n, %c128 : index
            ts.yield %at, %row, %b : index, index, index
          }
          ts.for %k = %c0 to %tiles_k {
            %col = arith.muli %k, %c64 : index
            ts.acquire %ab
            ts.produce %ab "load" (%a, %b) {
              ts.tma_load %A[%row_a, %col] to %a : !operand_a, !a
              ts.tma_load %B[%group, %row_b, %col] to %b : !operand_b, !b
            }
            ts.commit %ab
          }
        }
        ts.next_tile %queue
      }
    }

    // Two warpgroups of 64 rows each; one step's matrix operations stay in flight over the next wait.
    ts.task "mma" warps(4, 8) replicas(2) (%wg) registers(232) reads(%src, %ab, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %wg4 = arith.muli %wg, %c4 : index
      %slot = arith.addi %wg4, %warp : index
      %row_wg = arith.muli %wg, %c64 : index
      %row_warp = arith.muli %slot, %c16 : index
      %some = arith.cmpi sgt, %tiles_k, %c0 : index
      ts.tile_loop %queue (%m, %n) {
        ts.skippable {
          %row_tile, %row_end = ts.consume %src "rows" -> index, index {
            %l, %row, %end = scf.for %g = %c0 to %groups step %c1
                iter_args(%l0 = %m, %row0 = %c0, %end0 = %c0) -> (index, index, index) {
              %next = arith.addi %g, %c1 : index
              %from = memref.load %offsets[%g] : memref<?xi32>
              %to = memref.load %offsets[%next] : memref<?xi32>
              %rows32 = arith.subi %to, %from : i32
              %rows = arith.index_cast %rows32 : i32 to index
              %first = arith.index_cast %from : i32 to index
              %last = arith.index_cast %to : i32 to index
              %tiles = arith.ceildivsi %rows, %c128 : index
              %left = arith.subi %l0, %tiles : index
              %not_before = arith.cmpi sge, %l0, %c0 : index
              %not_behind = arith.cmpi slt, %left, %c0 : index
              %here = arith.andi %not_before, %not_behind : i1
              %down = arith.muli %l0, %c128 : index
              %begin = arith.addi %first, %down : index
              %row1 = arith.select %here, %begin, %row0 : index
              %end1 = arith.select %here, %last, %end0 : index
              scf.yield %left, %row1, %end1 : index, index, index
            }
            ts.yield %row, %end : index, index
          }
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
          %row_first = arith.addi %row_tile, %row_warp : index
          %col_tile = arith.muli %n, %c128 : index
          %col_lane = arith.addi %col_tile, %lane : index
          // Rows of the next group are left alone: their tile adds to them.
          ts.produce %dst "add" (%stage) {
            %s = memref.subview %stage[%slot, 0, 0] [1, 16, 128] [1, 1, 1] : !stage to !piece
            ts.warp_sync
            ts.fragment_store %sum column 0 to %s : !frag, !piece
            ts.warp_sync
            scf.for %r = %c0 to %c16 step %c1 {
              %row = arith.addi %row_first, %r : index
              %row_in = arith.cmpi slt, %row, %row_end : index
              scf.for %j = %c0 to %c128 step %c32 {
                %col = arith.addi %col_lane, %j : index
                %col_in = arith.cmpi slt, %col, %cols : index
                %in = arith.andi %row_in, %col_in : i1
                scf.if %in {
                  %at = arith.addi %lane, %j : index
                  %v = memref.load %s[%r, %at] : !piece
                  %old = memref.load %D[%row, %col] : !matrix
                  %new = arith.addf %old, %v : f32
                  memref.store %new, %D[%row, %col] : !matrix
                }
              }
            }
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
