// Grouped GEMM on Hopper: rows offsets[g] .. offsets[g + 1] - 1 of A belong to group g and meet its own
// B[g]: D[rows] = A[rows] * B[g]^T for bf16 A (M x K), B (G x N x K) and D, f32 accumulation. Groups lie
// packed behind each other, of any number of rows, 0 included; D's rows before the first and behind the
// last offset stay as they are.
//
// The offsets are read on the device: the launch knows M and G only, so the queue has a row of tiles for
// every 128 rows of A and one more for each group, and those beyond the last are skipped. Tiles come in
// rising order, so a task keeps its place in the offsets from tile to tile and never looks at a group twice.
// A tile is loaded whole, and only its own group's rows are stored, row by row.
//
// Two consumer warpgroups work in ping-pong, as in gemm_sm90_pingpong.mlir: a unit of work is a pair of
// neighbouring tiles, and while one warpgroup stores, the other multiplies.
//
//   ts-compile examples/gemm_sm90_grouped.mlir --arch=sm_90a -o h.ptx
//   ts-run h.ptx --array A=300x64 --array B=3x128x64 --array D=300x128 --array 'offsets=values(0, 1, 130, 300)' ...
!operand_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!operand_b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!matrix = memref<?x?xbf16, strided<[?, 1]>>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<128x64xbf16, #ts.smem<128>>
!a_top = memref<64x64xbf16, strided<[64, 1]>, #ts.smem<128>>
!a_bottom = memref<64x64xbf16, strided<[64, 1], offset: 4096>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
// Each warp's rows on their way out; the padding keeps rows in different banks.
!stage = memref<8x16x136xbf16, #ts.smem>
!piece = memref<16x128xbf16, strided<[136, 1], offset: ?>, #ts.smem>
!eight = vector<8xbf16>

gpu.module @gemm attributes {ts.chip = "sm_90a"} {
  ts.kernel @gemm_grouped(%A: !operand_a, %B: !operand_b, %D: !matrix, %offsets: memref<?xi32>,
                          %groups: index = dim(%B, 0), %cols: index = dim(%D, 1), %ld: index = stride(%D, 0),
                          %tiles_m: index = ceildiv(dim(%A, 0), 128) + dim(%B, 0),
                          %pairs_n: index = ceildiv(dim(%B, 1), 256),
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
    %no = arith.constant false

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b) pipeline(tma_async, stages = 6, advance_on_wait, interleave = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %order = ts.baton "epilogue" holders(2) first(0)
    %queue = ts.work_queue "pairs" static over(%tiles_m, %pairs_n) skip(%m, %pair) {
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

    // Step k of the pair's tile t is use 2 k + t of the ring.
    ts.task "load" warps(0, 2) replicas(2) (%t) registers(40) reads(%src, %queue) writes(%ab) {
      %uses = arith.muli %tiles_k, %c2 : index
      ts.tile_loop %queue (%m, %pair) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %base, %row_a, %row_b = ts.consume %src "coords" -> index, index, index, index {
          // The group of tile row m: the first one, from the last tile's group on, that ends behind m.
          %g, %base, %first = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index, index) {
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
          %first_n = arith.muli %pair, %c2 : index
          %n = arith.addi %first_n, %t : index
          %b = arith.muli %n, %c128 : index
          ts.yield %g, %base, %a, %b : index, index, index, index
        }
        ts.skippable {
          ts.for %use = %t to %uses step %c2 {
            %twice = arith.subi %use, %t : index
            %col = arith.muli %twice, %c32 : index
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

    // One tile of 128 rows for each warpgroup; one step's matrix operations stay in flight over the next wait.
    ts.task "mma" warps(4, 8) replicas(2) (%t) registers(232) reads(%src, %ab, %queue) writes(%dst) {
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
      %t4 = arith.muli %t, %c4 : index
      %slot = arith.addi %t4, %warp : index
      %row_warp = arith.muli %warp, %c16 : index
      %uses = arith.muli %tiles_k, %c2 : index
      ts.tile_loop %queue (%m, %pair) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %base, %row_tile, %row_end = ts.consume %src "rows" -> index, index, index, index {
          %g, %base, %first, %end = scf.while (%g = %g0, %base = %base0)
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
          %first = arith.muli %pair, %c2 : index
          %n = arith.addi %first, %t : index
          %col_tile = arith.muli %n, %c128 : index
          %col = arith.addi %col_tile, %col_lane : index
          %row0 = arith.addi %row_tile, %row_warp : index
          %row1 = arith.addi %row0, %c64 : index
          ts.take %order
          // Rows of the next group are left alone: their own tile stores them.
          ts.produce %dst "store" (%stage) {
            %s = memref.subview %stage[%slot, 0, 0] [1, 16, 128] [1, 1, 1] : !stage to !piece
            ts.warp_sync
            ts.fragment_store %sum0 column 0 to %s : !frag, !piece
            ts.warp_sync
            scf.for %r = %row_lane to %c16 step %c2 {
              %row = arith.addi %row0, %r : index
              %row_in = arith.cmpi slt, %row, %row_end : index
              scf.if %row_in {
                %v = vector.load %s[%r, %col_lane] {alignment = 16} : !piece, !eight
                scf.if %whole {
                  %col_in = arith.cmpi slt, %col, %cols : index
                  scf.if %col_in {
                    vector.store %v, %D[%row, %col] {alignment = 16} : !matrix, !eight
                  }
                } else {
                  scf.for %j = %c0 to %c8 step %c1 {
                    %at = arith.addi %col, %j : index
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
            ts.fragment_store %sum1 column 0 to %s : !frag, !piece
            ts.warp_sync
            scf.for %r = %row_lane to %c16 step %c2 {
              %row = arith.addi %row1, %r : index
              %row_in = arith.cmpi slt, %row, %row_end : index
              scf.if %row_in {
                %v = vector.load %s[%r, %col_lane] {alignment = 16} : !piece, !eight
                scf.if %whole {
                  %col_in = arith.cmpi slt, %col, %cols : index
                  scf.if %col_in {
                    vector.store %v, %D[%row, %col] {alignment = 16} : !matrix, !eight
                  }
                } else {
                  scf.for %j = %c0 to %c8 step %c1 {
                    %at = arith.addi %col, %j : index
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
          ts.pass %order
        }
        ts.next_tile %queue
        ts.yield %group, %base : index, index
      }
    }
  }
}
