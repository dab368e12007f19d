// Grouped GEMM on Blackwell: rows offsets[g] .. offsets[g + 1] - 1 of A belong to group g and meet its
// own B[g]: D[rows] += A[rows] * B[g]^T for bf16 A (M x K) and B (G x N x K), f32 D. Groups lie packed
// behind each other, of any number of rows, 0 included; rows before the first and behind the last
// offset stay as they are. The offsets are read on the device: the launch knows M and G only, so the
// queue (cluster launch control) has a tile for every 128 rows and one more for each group, and tiles
// beyond the last are skipped. A tile finds its group by walking the offsets, is loaded whole, and
// only its own group's rows are stored. Two accumulators: one tile leaves under the next one's products.
//
//   ts-compile examples/gemm_sm100_grouped.mlir --arch=sm_100a -o g.ptx
!operand_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!operand_b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!matrix = memref<?x?xf32, strided<[?, 1]>>
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
!stage = memref<4x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @gemm attributes {ts.chip = "sm_100a"} {
  ts.kernel @gemm_grouped(%A: !operand_a, %B: !operand_b, %D: !matrix, %offsets: memref<?xi32>,
                          %groups: index = dim(%B, 0), %cols: index = dim(%D, 1),
                          %tiles_m: index = ceildiv(dim(%A, 0), 128) + dim(%B, 0),
                          %tiles_n: index = ceildiv(dim(%D, 1), 128),
                          %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(7) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 6)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" clc over(%tiles_m, %tiles_n) pipeline(clc_fetch_async, stages = 3)
               skip(%m, %n) {
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
    ts.depends %acc on %ab
    ts.depends %dst on %acc

    ts.task "schedule" warps(6, 1) reads(%queue) writes(%queue) {
      ts.tile_loop %queue {
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }

    ts.task "load" warps(5, 1) reads(%src, %queue) writes(%ab) {
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
              ts.tma_load %A[%row_a, %col] to %a : !operand_a, !tile
              ts.tma_load %B[%group, %row_b, %col] to %b : !operand_b, !tile
            }
            ts.commit %ab
          }
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(4, 1) reads(%ab, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.skippable {
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
        }
        ts.next_tile %queue
      }
    }

    // Each warp drains 32 rows; with no k step the loads below read zeros.
    ts.task "add" warps(0, 4) reads(%src, %acc, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c32 : index
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
          %row_first = arith.addi %row_tile, %row_warp : index
          %col_tile = arith.muli %n, %c128 : index
          %col_lane = arith.addi %col_tile, %lane : index
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
            // Rows of the next group are left alone: their tile adds to them.
            ts.produce %dst "add" (%stage) {
              %s = memref.subview %stage[%warp, 0, 0] [1, 32, 32] [1, 1, 1] : !stage to !piece
              ts.warp_sync
              vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
              ts.warp_sync
              %col = arith.addi %col_lane, %column : index
              %col_in = arith.cmpi slt, %col, %cols : index
              scf.for %r = %c0 to %c32 step %c1 {
                %row = arith.addi %row_first, %r : index
                %row_in = arith.cmpi slt, %row, %row_end : index
                %in = arith.andi %row_in, %col_in : i1
                scf.if %in {
                  %w = memref.load %s[%r, %lane] : !piece
                  %old = memref.load %D[%row, %col] : !matrix
                  %new = arith.addf %old, %w : f32
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
