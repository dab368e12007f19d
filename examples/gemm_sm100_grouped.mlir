// Grouped GEMM on Blackwell: rows offsets[g] .. offsets[g + 1] - 1 of A belong to group g and meet its
// own B[g]: D[rows] = A[rows] * B[g]^T for bf16 A (M x K), B (G x N x K) and D, f32 accumulation. Groups
// lie packed behind each other, of any number of rows, 0 included; D's rows before the first and behind
// the last offset stay as they are.
//
// The offsets are read on the device: the launch knows M and G only, so the queue (cluster launch control)
// has a row of tiles for every 128 rows of A and one more for each group, and those beyond the last are
// skipped. A task keeps its place in the offsets from tile to tile, and looks for the next group from there,
// or from the first where the queue went back. A tile is loaded whole, and only its own group's rows are
// stored, a row by each lane. Two accumulators: one tile leaves under the next one's products.
//
//   ts-compile examples/gemm_sm100_grouped.mlir --arch=sm_100a -o g.ptx
!operand_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!operand_b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!matrix = memref<?x?xbf16, strided<[?, 1]>>
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
!eight = vector<8xbf16>

gpu.module @gemm attributes {ts.chip = "sm_100a"} {
  ts.kernel @gemm_grouped(%A: !operand_a, %B: !operand_b, %D: !matrix, %offsets: memref<?xi32>,
                          %groups: index = dim(%B, 0), %cols: index = dim(%D, 1), %ld: index = stride(%D, 0),
                          %tiles_m: index = ceildiv(dim(%A, 0), 128) + dim(%B, 0),
                          %tiles_n: index = ceildiv(dim(%D, 1), 128),
                          %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(7) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %no = arith.constant false

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 6)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" clc over(%tiles_m, %tiles_n) pipeline(clc_fetch_async, stages = 3)
               skip(%m, %n) {
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
          %b = arith.muli %n, %c128 : index
          ts.yield %g, %base, %a, %b : index, index, index, index
        }
        ts.skippable {
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
        ts.yield %group, %base : index, index
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

    // Each lane drains one row, 32 columns at a time; with no k step the loads below read zeros.
    ts.task "store" warps(0, 4) reads(%src, %acc, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c32 : index
      %row_thread = arith.addi %row_warp, %lane : index
      // Eight columns at a time where they are aligned.
      %both = arith.ori %cols, %ld : index
      %odd = arith.andi %both, %c7 : index
      %whole = arith.cmpi eq, %odd, %c0 : index
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
          %row = arith.addi %row_tile, %row_thread : index
          %row_in = arith.cmpi slt, %row, %row_end : index
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
            // Rows of the next group are left alone: their own tile stores them.
            ts.produce %dst "store" {
              %half = arith.truncf %v : vector<32xf32> to vector<32xbf16>
              %col0 = arith.addi %col_tile, %column : index
              scf.if %row_in {
                %v0 = vector.shuffle %half, %half [0, 1, 2, 3, 4, 5, 6, 7] : vector<32xbf16>, vector<32xbf16>
                %v1 = vector.shuffle %half, %half [8, 9, 10, 11, 12, 13, 14, 15] : vector<32xbf16>, vector<32xbf16>
                %v2 = vector.shuffle %half, %half [16, 17, 18, 19, 20, 21, 22, 23] : vector<32xbf16>, vector<32xbf16>
                %v3 = vector.shuffle %half, %half [24, 25, 26, 27, 28, 29, 30, 31] : vector<32xbf16>, vector<32xbf16>
                %col1 = arith.addi %col0, %c8 : index
                %col2 = arith.addi %col1, %c8 : index
                %col3 = arith.addi %col2, %c8 : index
                scf.if %whole {
                  %in0 = arith.cmpi slt, %col0, %cols : index
                  scf.if %in0 {
                    vector.store %v0, %D[%row, %col0] {alignment = 16} : !matrix, !eight
                  }
                  %in1 = arith.cmpi slt, %col1, %cols : index
                  scf.if %in1 {
                    vector.store %v1, %D[%row, %col1] {alignment = 16} : !matrix, !eight
                  }
                  %in2 = arith.cmpi slt, %col2, %cols : index
                  scf.if %in2 {
                    vector.store %v2, %D[%row, %col2] {alignment = 16} : !matrix, !eight
                  }
                  %in3 = arith.cmpi slt, %col3, %cols : index
                  scf.if %in3 {
                    vector.store %v3, %D[%row, %col3] {alignment = 16} : !matrix, !eight
                  }
                } else {
                  scf.for %e = %c0 to %c8 step %c1 {
                    %at0 = arith.addi %col0, %e : index
                    %in0 = arith.cmpi slt, %at0, %cols : index
                    scf.if %in0 {
                      %x = vector.extract %v0[%e] : bf16 from !eight
                      memref.store %x, %D[%row, %at0] : !matrix
                    }
                    %at1 = arith.addi %col1, %e : index
                    %in1 = arith.cmpi slt, %at1, %cols : index
                    scf.if %in1 {
                      %x = vector.extract %v1[%e] : bf16 from !eight
                      memref.store %x, %D[%row, %at1] : !matrix
                    }
                    %at2 = arith.addi %col2, %e : index
                    %in2 = arith.cmpi slt, %at2, %cols : index
                    scf.if %in2 {
                      %x = vector.extract %v2[%e] : bf16 from !eight
                      memref.store %x, %D[%row, %at2] : !matrix
                    }
                    %at3 = arith.addi %col3, %e : index
                    %in3 = arith.cmpi slt, %at3, %cols : index
                    scf.if %in3 {
                      %x = vector.extract %v3[%e] : bf16 from !eight
                      memref.store %x, %D[%row, %at3] : !matrix
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
