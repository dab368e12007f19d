// AsyncThread producers on Blackwell: who writes a stage by ordinary stores (AsyncThread): D = A * B^T for bf16 A (M x K),
// by TMA, and int8 weights B (N x K), which four warps turn into bf16 on their way into shared memory.
// A commit is an arrival of each of their threads behind their stores; that tcgen05.mma reads the stage
// through the async proxy is the compiler's business: it puts the fence in front of the arrival.
//
//   ts-compile examples/patterns/async_thread_producers_umma.mlir --arch=sm_100a -o p.ptx
//   ts-run p.ptx --array A=100x96 --array B=72x96 --array D=100x72 --check 'D = A @ B.T'
!operand = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!weights = memref<?x?xi8, strided<[?, 1]>>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
!stage = memref<4x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @async_thread_producers_umma(%A: !operand, %B: !weights, %D: !result,
                                         %rows_b: index = dim(%B, 0), %depth: index = dim(%B, 1),
                                         %tiles_m: index = ceildiv(dim(%A, 0), 128),
                                         %tiles_n: index = ceildiv(dim(%B, 0), 64),
                                         %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(10) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %none = arith.constant 0 : i8
    %zeros = arith.constant dense<0.0> : vector<8xbf16>

    %src_a = ts.resource "gmem_a" gmem
    %src_b = ts.resource "gmem_b" gmem
    %a = ts.resource "smem_a" smem(x: !a) pipeline(tma_umma, stages = 3)
    %b = ts.resource "smem_b" smem(x: !b) pipeline(async_umma, stages = 3)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %a on %src_a
    ts.depends %b on %src_b
    ts.depends %acc on %a, %b
    ts.depends %dst on %acc

    ts.task "load_a" warps(5, 1) reads(%src_a, %queue) writes(%a) {
      ts.tile_loop %queue (%m, %n) {
        %row_a = ts.consume %src_a "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c64 : index
          ts.acquire %a
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row_a, %col] to %x : !operand, !a
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    // Thread t turns every 128th chunk of eight weights into bf16; what lies outside of B becomes zero.
    ts.task "convert" warps(6, 4) reads(%src_b, %queue) writes(%b) {
      %t = ts.info thread : index
      %last_row = arith.subi %rows_b, %c1 : index
      %last_col = arith.subi %depth, %c1 : index
      ts.tile_loop %queue (%m, %n) {
        %row_b = ts.consume %src_b "row" -> index {
          %r = arith.muli %n, %c64 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col0 = arith.muli %k, %c64 : index
          ts.acquire %b
          ts.produce %b "convert" (%x) {
            scf.for %i = %t to %c512 step %c128 {
              %r = arith.divui %i, %c8 : index
              %chunk = arith.remui %i, %c8 : index
              %c = arith.muli %chunk, %c8 : index
              %row = arith.addi %row_b, %r : index
              %row_in = arith.cmpi sle, %row, %last_row : index
              %row_at = arith.minsi %row, %last_row : index
              %first = arith.addi %col0, %c : index
              %eight = scf.for %e = %c0 to %c8 step %c1 iter_args(%u = %zeros) -> vector<8xbf16> {
                %col = arith.addi %first, %e : index
                %col_in = arith.cmpi sle, %col, %last_col : index
                %col_at = arith.minsi %col, %last_col : index
                %in = arith.andi %row_in, %col_in : i1
                %value = memref.load %B[%row_at, %col_at] : !weights
                %kept = arith.select %in, %value, %none : i8
                %w = arith.sitofp %kept : i8 to f32
                %y = arith.truncf %w : f32 to bf16
                %next = vector.insert %y, %u[%e] : bf16 into vector<8xbf16>
                scf.yield %next : vector<8xbf16>
              }
              vector.store %eight, %x[%r, %c] : !b, vector<8xbf16>
            }
          }
          ts.commit %b
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(4, 1) reads(%a, %b, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %a
          %xa = ts.consume %a "a" (%v) -> !a {
            ts.yield %v : !a
          }
          ts.wait %b
          %xb = ts.consume %b "b" (%v) -> !b {
            ts.yield %v : !b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %xa, %xb accumulate(%more) : !acc, !a, !b
          }
          ts.release %a
          ts.release %b
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
        %col = arith.muli %n, %c64 : index
        %col1 = arith.addi %col, %c32 : index
        ts.wait %acc
        %v0, %v1 = ts.consume %acc "sums" (%c) -> vector<32xf32>, vector<32xf32> {
          %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
          %y = ts.tmem_load %c[%c32] : !acc -> vector<32xf32>
          ts.yield %x, %y : vector<32xf32>, vector<32xf32>
        }
        ts.release %acc
        ts.produce %dst "store" (%stage) {
          %s0 = memref.subview %stage[%warp, 0, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
          %s1 = memref.subview %stage[%warp, 1, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
          ts.bulk_wait 0 read
          ts.warp_sync
          vector.store %v0, %s0[%lane, %c0] : !piece, vector<32xf32>
          vector.store %v1, %s1[%lane, %c0] : !piece, vector<32xf32>
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
