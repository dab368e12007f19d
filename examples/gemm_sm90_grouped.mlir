// Grouped GEMM on Hopper: rows offsets[g] .. offsets[g + 1] - 1 of A belong to group g and meet its own
// B[g]: D[rows] = A[rows] * B[g]^T for bf16 A (M x K), B (G x N x K) and D, f32 accumulation. Groups lie
// packed behind each other, of any number of rows, 0 included; D's rows before the first and behind the
// last offset stay as they are.
//
// The offsets are read on the device: the launch knows M and G only, so the queue has a row of tiles for
// every 128 rows of A and one more for each group, and those beyond the last are skipped. A task keeps its
// place in the offsets from tile to tile, and looks for the next group from there, or from the first where
// the raster went back. A tile is loaded whole, and only its own group's rows are stored, row by row.
//
// The tile is 128 x 256, 64 rows for each of two warpgroups, and the raster the one of gemm_sm90.mlir.
//
//   ts-compile examples/gemm_sm90_grouped.mlir --arch=sm_90a -o h.ptx
//   ts-run h.ptx --array A=300x64 --array B=3x128x64 --array D=300x128 --array 'offsets=values(0, 1, 130, 300)' ...
!operand_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!operand_b = !ts.tensor_map<?x?x?xbf16, box = 1x256x64, swizzle = 128>
!matrix = memref<?x?xbf16, strided<[?, 1]>>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<256x64xbf16, #ts.smem<128>>
!a_wg = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x256xf32>
!frag = !ts.fragment<64x256xf32>
// Each warp's rows on their way out, half of the columns at a time; the padding keeps rows in different banks.
!stage = memref<8x16x136xbf16, #ts.smem>
!piece = memref<16x128xbf16, strided<[136, 1], offset: ?>, #ts.smem>
!eight = vector<8xbf16>

gpu.module @gemm attributes {ts.chip = "sm_90a"} {
  ts.kernel @gemm_grouped(%A: !operand_a, %B: !operand_b, %D: !matrix, %offsets: memref<?xi32>,
                          %groups: index = dim(%B, 0), %cols: index = dim(%D, 1), %ld: index = stride(%D, 0),
                          %tiles_m: index = ceildiv(dim(%A, 0), 128) + dim(%B, 0),
                          %tiles_n: index = ceildiv(dim(%D, 1), 256),
                          %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(12) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %no = arith.constant false

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b) pipeline(tma_async, stages = 4, advance_on_wait)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) group(8) skip(%m, %n) {
      // Beyond: what is left of m behind the tiles of all groups. A lane counts every 32nd group.
      %lane = gpu.lane_id
      %none = arith.constant 0 : i32
      %tile = arith.constant 128 : i32
      %own = scf.for %g = %lane to %groups step %c32 iter_args(%l = %none) -> i32 {
        %next = arith.addi %g, %c1 : index
        %from = memref.load %offsets[%g] : memref<?xi32>
        %to = memref.load %offsets[%next] : memref<?xi32>
        %rows32 = arith.subi %to, %from : i32
        %tiles = arith.ceildivsi %rows32, %tile : i32
        %new = arith.addi %l, %tiles : i32
        scf.yield %new : i32
      }
      %sum = gpu.subgroup_reduce add %own uniform : (i32) -> i32
      %all = arith.index_cast %sum : i32 to index
      %beyond = arith.cmpi sge, %m, %all : index
      ts.yield %beyond : i1
    }
    ts.depends %ab on %src
    ts.depends %dst on %ab

    ts.task "load" warps(0, 1) registers(40) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%m, %n) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %base, %row_a, %row_b = ts.consume %src "coords" -> index, index, index, index {
          %back = arith.cmpi slt, %m, %base0 : index
          %g_first = arith.select %back, %c0, %g0 : index
          %base_first = arith.select %back, %c0, %base0 : index
          // The group of tile row m: the first one that ends behind m.
          %g, %base, %first = scf.while (%g = %g_first, %base = %base_first) : (index, index) -> (index, index, index) {
            %exists = arith.cmpi slt, %g, %groups : index
            %on, %next, %first = scf.if %exists -> (i1, index, index) {
              %g1 = arith.addi %g, %c1 : index
              %from = memref.load %offsets[%g] : memref<?xi32>
              %to = memref.load %offsets[%g1] : memref<?xi32>
              %rows32 = arith.subi %to, %from : i32
              %rows = arith.index_cast %rows32 : i32 to index
              %tiles = arith.ceildivsi %rows, %c128 : index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %m, %next : index
              %first = arith.index_cast %from : i32 to index
              scf.yield %behind, %next, %first : i1, index, index
            } else {
              scf.yield %no, %base, %c0 : i1, index, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept, %first : index, index, index
          } do {
          ^bb0(%g: index, %base: index, %first: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %tile = arith.subi %m, %base : index
          %down = arith.muli %tile, %c128 : index
          %a = arith.addi %first, %down : index
          %b = arith.muli %n, %c256 : index
          ts.yield %g, %base, %a, %b : index, index, index, index
        }
        ts.skippable {
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
        ts.yield %group, %base : index, index
      }
    }

    // 64 rows for each warpgroup; one step's matrix operations stay in flight over the next wait.
    ts.task "mma" warps(4, 8) replicas(2) (%wg) registers(232) reads(%src, %ab, %queue) writes(%dst) {
      %some = arith.cmpi sgt, %tiles_k, %c0 : index
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      // A lane stores eight columns of every second row; in one piece where that is aligned.
      %row_lane = arith.divui %lane, %c16 : index
      %piece_lane = arith.remui %lane, %c16 : index
      %col_lane = arith.muli %piece_lane, %c8 : index
      %both = arith.ori %cols, %ld : index
      %odd = arith.andi %both, %c7 : index
      %whole = arith.cmpi eq, %odd, %c0 : index
      %wg4 = arith.muli %wg, %c4 : index
      %slot = arith.addi %wg4, %warp : index
      %row_wg = arith.muli %wg, %c64 : index
      %row_warp = arith.muli %slot, %c16 : index
      ts.tile_loop %queue (%m, %n) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %base, %row_tile, %row_end = ts.consume %src "rows" -> index, index, index, index {
          %back = arith.cmpi slt, %m, %base0 : index
          %g_first = arith.select %back, %c0, %g0 : index
          %base_first = arith.select %back, %c0, %base0 : index
          %g, %base, %first, %end = scf.while (%g = %g_first, %base = %base_first)
              : (index, index) -> (index, index, index, index) {
            %exists = arith.cmpi slt, %g, %groups : index
            %on, %next, %first, %end = scf.if %exists -> (i1, index, index, index) {
              %g1 = arith.addi %g, %c1 : index
              %from = memref.load %offsets[%g] : memref<?xi32>
              %to = memref.load %offsets[%g1] : memref<?xi32>
              %rows32 = arith.subi %to, %from : i32
              %rows = arith.index_cast %rows32 : i32 to index
              %tiles = arith.ceildivsi %rows, %c128 : index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %m, %next : index
              %first = arith.index_cast %from : i32 to index
              %end = arith.index_cast %to : i32 to index
              scf.yield %behind, %next, %first, %end : i1, index, index, index
            } else {
              scf.yield %no, %base, %c0, %c0 : i1, index, index, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept, %first, %end : index, index, index, index
          } do {
          ^bb0(%g: index, %base: index, %first: index, %end: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %tile = arith.subi %m, %base : index
          %down = arith.muli %tile, %c128 : index
          %row = arith.addi %first, %down : index
          ts.yield %g, %base, %row, %end : index, index, index, index
        }
        ts.skippable {
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
          %row0 = arith.addi %row_tile, %row_warp : index
          %col_tile = arith.muli %n, %c256 : index
          %col0 = arith.addi %col_tile, %col_lane : index
          %col1 = arith.addi %col0, %c128 : index
          // Rows of the next group are left alone: their own tile stores them.
          ts.produce %dst "store" (%stage) {
            %s = memref.subview %stage[%slot, 0, 0] [1, 16, 128] [1, 1, 1] : !stage to !piece
            ts.warp_sync
            ts.fragment_store %sum column 0 to %s : !frag, !piece
            ts.warp_sync
            scf.for %r = %row_lane to %c16 step %c2 {
              %row = arith.addi %row0, %r : index
              %row_in = arith.cmpi slt, %row, %row_end : index
              scf.if %row_in {
                %v = vector.load %s[%r, %col_lane] {alignment = 16} : !piece, !eight
                scf.if %whole {
                  %col_in = arith.cmpi slt, %col0, %cols : index
                  scf.if %col_in {
                    vector.store %v, %D[%row, %col0] {alignment = 16} : !matrix, !eight
                  }
                } else {
                  scf.for %j = %c0 to %c8 step %c1 {
                    %at = arith.addi %col0, %j : index
                    %at_in = arith.cmpi slt, %at, %cols : index
                    scf.if %at_in {
                      %e = vector.extract %v[%j] : bf16 from !eight
                      memref.store %e, %D[%row, %at] : !matrix
                    }
                  }
                }
              }
            }
            ts.warp_sync
            ts.fragment_store %sum column 128 to %s : !frag, !piece
            ts.warp_sync
            scf.for %r = %row_lane to %c16 step %c2 {
              %row = arith.addi %row0, %r : index
              %row_in = arith.cmpi slt, %row, %row_end : index
              scf.if %row_in {
                %v = vector.load %s[%r, %col_lane] {alignment = 16} : !piece, !eight
                scf.if %whole {
                  %col_in = arith.cmpi slt, %col1, %cols : index
                  scf.if %col_in {
                    vector.store %v, %D[%row, %col1] {alignment = 16} : !matrix, !eight
                  }
                } else {
                  scf.for %j = %c0 to %c8 step %c1 {
                    %at = arith.addi %col1, %j : index
                    %at_in = arith.cmpi slt, %at, %cols : index
                    scf.if %at_in {
                      %e = vector.extract %v[%j] : bf16 from !eight
                      memref.store %e, %D[%row, %at] : !matrix
                    }
                  }
                }
              }
            }
          }
        }
        ts.next_tile %queue
        ts.yield %group, %base : index, index
      }
    }
  }
}
