// Pipeline groups in front of the tensor core: D = A * B^T, 128 x 64 a tile.
//
// merge_umma   threads bring A, TMA brings B: two full barriers of two kinds, and one release, by the commit
//              of the products
// fused_umma   TMA brings both: one full barrier that counts the bytes of both loaders, one release
// fork_mixed   A is loaded once and read by the tensor core and by threads; each gives the stage back in
//              its own way. The threads add up relu(A) over each row, which is added to the row of D.
//
//   ts-compile examples/patterns/groups_sm100.mlir --arch=sm_100a -o g.ptx
//   ts-run g.ptx --kernel fork_mixed --array A=128x128 --array B=64x128 --array D=128x64 \
//     --check 'D = A @ B.T + sum(relu(A), axis=1, keepdims=True)'
!map_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!map_b = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!matrix = memref<?x?xbf16, strided<[?, 1]>>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
!stage = memref<4x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
!sums = memref<128xf32>
!sums_s = memref<128xf32, #ts.smem>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @merge_umma(%A: !matrix, %B: !map_b, %D: !result, %rows: index = dim(%A, 0), %depth: index = dim(%A, 1),
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_n: index = ceildiv(dim(%B, 0), 64),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(10) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !a) pipeline(async_umma, stages = 3)
    %b = ts.resource "smem_b" smem(b: !b) pipeline(tma_umma, stages = 3)
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %acc on %a, %b
    ts.depends %dst on %acc

    // One thread per row of A; what lies outside is zero.
    ts.task "load_a" warps(4, 4) reads(%src, %queue) writes(%a) {
      %t = ts.info thread : index
      %none = arith.constant dense<0.0> : vector<8xbf16>
      ts.tile_loop %queue (%m, %n) {
        %row = ts.consume %src "row" -> index {
          %first = arith.muli %m, %c128 : index
          %r = arith.addi %first, %t : index
          ts.yield %r : index
        }
        %row_in = arith.cmpi slt, %row, %rows : index
        ts.for %k = %c0 to %tiles_k {
          %col0 = arith.muli %k, %c64 : index
          ts.acquire %a
          ts.produce %a "copy" (%x) {
            scf.for %chunk = %c0 to %c64 step %c8 {
              %col = arith.addi %col0, %chunk : index
              %col_in = arith.cmpi slt, %col, %depth : index
              %in = arith.andi %row_in, %col_in : i1
              %v = scf.if %in -> vector<8xbf16> {
                %e = vector.load %A[%row, %col] : !matrix, vector<8xbf16>
                scf.yield %e : vector<8xbf16>
              } else {
                scf.yield %none : vector<8xbf16>
              }
              vector.store %v, %x[%t, %chunk] : !a, vector<8xbf16>
            }
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(8, 1) reads(%src, %queue) writes(%b) {
      ts.tile_loop %queue (%m, %n) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %n, %c64 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %b
          ts.produce %b "load" (%x) {
            ts.tma_load %B[%row, %col] to %x : !map_b, !b
          }
          ts.commit %b
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(9, 1) reads(%a, %b, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %a
          ts.wait %b
          %va = ts.consume %a "operand_a" (%x) -> !a {
            ts.yield %x : !a
          }
          %vb = ts.consume %b "operand_b" (%x) -> !b {
            ts.yield %x : !b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %va, %vb accumulate(%more) : !acc, !a, !b
          }
          ts.release %ab
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
        %col_tile = arith.muli %n, %c64 : index
        ts.wait %acc
        ts.for %j = %c0 to %c2 {
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
            %s = memref.subview %stage[%warp, 0, 0] [1, 32, 32] [1, 1, 1] : !stage to !piece
            ts.bulk_wait 0 read
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

  ts.kernel @fused_umma(%A: !map_a, %B: !map_b, %D: !result,
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_n: index = ceildiv(dim(%B, 0), 64),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(7) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !a) pipeline(tma_umma, stages = 3)
    %b = ts.resource "smem_b" smem(b: !b) pipeline(tma_umma, stages = 3)
    %ab = ts.pipeline_group "ab" fused_merge(%a, %b)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %acc on %a, %b
    ts.depends %dst on %acc

    ts.task "load_a" warps(4, 1) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m, %n) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %a
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map_a, !a
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(5, 1) reads(%src, %queue) writes(%b) {
      ts.tile_loop %queue (%m, %n) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %n, %c64 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %b
          ts.produce %b "load" (%x) {
            ts.tma_load %B[%row, %col] to %x : !map_b, !b
          }
          ts.commit %b
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(6, 1) reads(%a, %b, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %ab
          %va = ts.consume %a "operand_a" (%x) -> !a {
            ts.yield %x : !a
          }
          %vb = ts.consume %b "operand_b" (%x) -> !b {
            ts.yield %x : !b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %va, %vb accumulate(%more) : !acc, !a, !b
          }
          ts.release %ab
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
        %col_tile = arith.muli %n, %c64 : index
        ts.wait %acc
        ts.for %j = %c0 to %c2 {
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
            %s = memref.subview %stage[%warp, 0, 0] [1, 32, 32] [1, 1, 1] : !stage to !piece
            ts.bulk_wait 0 read
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

  ts.kernel @fork_mixed(%A: !map_a, %B: !map_b, %D: !result,
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_n: index = ceildiv(dim(%B, 0), 64),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(11) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !a) pipeline(tma_umma, stages = 3)
    %again = ts.resource "smem_a_again" smem(a: !a) pipeline(tma_async, stages = 3)
    ts.alias_group "one_tile" (%a, %again) phases [1, 1]
    %both = ts.pipeline_group "both" fork(%a, %again)
    %b = ts.resource "smem_b" smem(b: !b) pipeline(tma_umma, stages = 3)
    %sums = ts.resource "sums" smem(s: !sums) pipeline(async_async, stages = 1)
    ts.depends %again on %src
    ts.depends %sums on %again
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %acc on %a, %b
    ts.depends %dst on %acc, %sums

    ts.task "load_a" warps(8, 1) reads(%src, %queue) writes(%a, %again) {
      ts.tile_loop %queue (%m, %n) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %a
          ts.acquire %again
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map_a, !a
          }
          ts.commit %both
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(9, 1) reads(%src, %queue) writes(%b) {
      ts.tile_loop %queue (%m, %n) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %n, %c64 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %b
          ts.produce %b "load" (%x) {
            ts.tma_load %B[%row, %col] to %x : !map_b, !b
          }
          ts.commit %b
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(10, 1) reads(%a, %b, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %a
          ts.wait %b
          %va = ts.consume %a "operand_a" (%x) -> !a {
            ts.yield %x : !a
          }
          %vb = ts.consume %b "operand_b" (%x) -> !b {
            ts.yield %x : !b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %va, %vb accumulate(%more) : !acc, !a, !b
          }
          ts.release %a
          ts.release %b
        }
        ts.commit %acc
        ts.next_tile %queue
      }
    }

    ts.task "relu" warps(4, 4) reads(%again, %queue) writes(%sums) {
      %t = ts.info thread : index
      %zero = arith.constant 0.0 : f32
      ts.tile_loop %queue (%m, %n) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %again
          %next = ts.consume %again "relu_sum" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c64 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !a
              %f = arith.extf %u : bf16 to f32
              %g = arith.maximumf %f, %zero : f32
              %q = arith.addf %p, %g : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %again
          ts.yield %next : f32
        }
        ts.acquire %sums
        ts.produce %sums "hand_over" (%v) {
          memref.store %sum, %v[%t] : !sums_s
        }
        ts.commit %sums
        ts.next_tile %queue
      }
    }

    ts.task "store" warps(0, 4) reads(%acc, %sums, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %t = ts.info thread : index
      %row_warp = arith.muli %warp, %c32 : index
      ts.tile_loop %queue (%m, %n) {
        %row_tile = arith.muli %m, %c128 : index
        %row = arith.addi %row_tile, %row_warp : index
        %col_tile = arith.muli %n, %c64 : index
        ts.wait %sums
        %sum = ts.consume %sums "take_over" (%v) -> f32 {
          %e = memref.load %v[%t] : !sums_s
          ts.yield %e : f32
        }
        ts.release %sums
        ts.wait %acc
        ts.for %j = %c0 to %c2 {
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
            %s = memref.subview %stage[%warp, 0, 0] [1, 32, 32] [1, 1, 1] : !stage to !piece
            %all = vector.broadcast %sum : f32 to vector<32xf32>
            %w = arith.addf %v, %all : vector<32xf32>
            ts.bulk_wait 0 read
            ts.warp_sync
            vector.store %w, %s[%lane, %c0] : !piece, vector<32xf32>
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
