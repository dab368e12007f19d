// GEMM on Hopper for few tiles and a large K, bf16 in, f32 out; any M, N, K. Several CTAs share a tile of
// 128 x 128, each with a part of K:
//
// gemm_splitk      D = A * B^T. A cluster of four CTAs works on one tile, each on every fourth step along K.
//                  The partial sums stay on chip: every CTA leaves its own in shared memory, and when all
//                  CTAs of the cluster are past that, each adds up the four partial sums of its 32 rows,
//                  read through distributed shared memory, and stores them. The order of additions is fixed.
//                  The loader knows nothing of the exchange and runs ahead into the next tile.
// gemm_splitk_add  D += A * B^T. As many parts as the GPU has CTAs for: the launch divides its
//                  multiprocessors by the tiles. Each CTA adds its partial sum to D in the L2, by reducing
//                  tensor stores, in whatever order they arrive; rows of D are multiples of 16 bytes.
//
//   ts-compile examples/gemm_sm90_splitk.mlir --arch=sm_90a -o s.ptx
//   ts-run s.ptx --kernel gemm_splitk --array A=256x2048 --array B=128x2048 --array D=256x128 --check 'D = A @ B.T'
//   ts-run s.ptx --kernel gemm_splitk_add --array A=256x2048 --array B=128x2048 --array D=256x128 --check 'D = D + A @ B.T'
!operand = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!a_wg = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
// Partial sums: 16 rows of each of the eight warps, in four pieces of 32 columns.
!part = memref<8x4x16x32xf32, #ts.smem<128>>
!piece = memref<16x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
!matrix = memref<?x?xf32, strided<[?, 1]>>
// On their way to D: per warp two such pieces, so that one is filled while the other leaves.
!stage = memref<8x2x16x32xf32, #ts.smem<128>>
!d_f32 = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>

gpu.module @gemm attributes {ts.chip = "sm_90a"} {
  ts.kernel @gemm_splitk(%A: !operand, %B: !operand, %D: !matrix,
                         %rows: index = dim(%A, 0), %cols: index = dim(%B, 0),
                         %tiles_m: index = ceildiv(dim(%A, 0), 128),
                         %tiles_n: index = ceildiv(dim(%B, 0), 128),
                         %steps: index = ceildiv(ceildiv(dim(%A, 1), 64), 4)) warps(12) cluster(4, 1, 1) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %even = arith.constant 0 : i32
    %one = arith.constant 1 : i32

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 5, advance_on_wait, mcast = (0, 0))
    %part = ts.resource "partial" smem(p: !part)
    %dst = ts.resource "gmem_d" gmem
    // Each of the cluster's 32 warps says so to every CTA.
    %written = ts.mbarrier "written" count(32)
    %read = ts.mbarrier "read" count(32)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) group(8)
    ts.depends %ab on %src
    ts.depends %part on %ab
    ts.depends %dst on %part

    ts.task "load" warps(0, 1) registers(40) reads(%src, %queue) writes(%ab) {
      %rank = ts.info cta_rank : index
      %first = arith.muli %rank, %c64 : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %a = arith.muli %m, %c128 : index
          %b = arith.muli %n, %c128 : index
          ts.yield %a, %b : index, index
        }
        ts.for %k = %c0 to %steps {
          %step = arith.muli %k, %c256 : index
          %col = arith.addi %step, %first : index
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

    ts.task "mma" warps(4, 8) replicas(2) (%wg) registers(232) reads(%ab, %part, %queue) writes(%part, %dst) {
      %rank = ts.info cta_rank : index
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %wg4 = arith.muli %wg, %c4 : index
      %slot = arith.addi %wg4, %warp : index
      %row_wg = arith.muli %wg, %c64 : index
      // This CTA's 32 rows were left by two warps of every CTA; each warp here reads four of the rows,
      // a lane four columns.
      %share = arith.muli %rank, %c2 : index
      %left_by = arith.addi %share, %wg : index
      %row_left = arith.muli %warp, %c4 : index
      %row_cta = arith.muli %rank, %c32 : index
      %row_slot = arith.muli %slot, %c4 : index
      %row_mine = arith.addi %row_cta, %row_slot : index
      %piece = arith.divui %lane, %c8 : index
      %in_piece = arith.remui %lane, %c8 : index
      %col_piece = arith.muli %in_piece, %c4 : index
      %col_mine = arith.muli %lane, %c4 : index
      %some = arith.cmpi sgt, %steps, %c0 : index
      ts.tile_loop %queue (%m, %n) iter(%parity = %even : i32) {
        %zero = ts.wgmma_zero : !acc
        %acc = ts.for %k = %c0 to %steps iter(%c = %zero : !acc) {
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a_wg, !tile {
            %part_a = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !tile to !a_wg
            ts.yield %part_a, %vb : !a_wg, !tile
          }
          %issued = ts.wgmma %a, %b, %c : !a_wg, !tile, !acc
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
        ts.produce %part "leave" (%p) {
          %p0 = memref.subview %p[%slot, 0, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !part to !piece
          %p1 = memref.subview %p[%slot, 1, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !part to !piece
          %p2 = memref.subview %p[%slot, 2, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !part to !piece
          %p3 = memref.subview %p[%slot, 3, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !part to !piece
          ts.fragment_store %sum column 0 to %p0 : !frag, !piece
          ts.fragment_store %sum column 32 to %p1 : !frag, !piece
          ts.fragment_store %sum column 64 to %p2 : !frag, !piece
          ts.fragment_store %sum column 96 to %p3 : !frag, !piece
        }
        ts.warp_sync
        ts.elect {
          ts.mbarrier_arrive %written cta(%c0)
          ts.mbarrier_arrive %written cta(%c1)
          ts.mbarrier_arrive %written cta(%c2)
          ts.mbarrier_arrive %written cta(%c3)
        }
        ts.mbarrier_wait %written parity %parity
        %row_tile = arith.muli %m, %c128 : index
        %row_first = arith.addi %row_tile, %row_mine : index
        %col_tile = arith.muli %n, %c128 : index
        %col = arith.addi %col_tile, %col_mine : index
        ts.for %i = %c0 to %c4 {
          %total = ts.consume %part "reduce" (%p) -> vector<4xf32> {
            %r = arith.addi %row_left, %i : index
            %v0 = ts.dsmem_load %p[%left_by, %piece, %r, %col_piece] cta(%c0) : !part -> vector<4xf32>
            %v1 = ts.dsmem_load %p[%left_by, %piece, %r, %col_piece] cta(%c1) : !part -> vector<4xf32>
            %v2 = ts.dsmem_load %p[%left_by, %piece, %r, %col_piece] cta(%c2) : !part -> vector<4xf32>
            %v3 = ts.dsmem_load %p[%left_by, %piece, %r, %col_piece] cta(%c3) : !part -> vector<4xf32>
            %s0 = arith.addf %v0, %v1 : vector<4xf32>
            %s1 = arith.addf %v2, %v3 : vector<4xf32>
            %s = arith.addf %s0, %s1 : vector<4xf32>
            ts.yield %s : vector<4xf32>
          }
          %row = arith.addi %row_first, %i : index
          %in_m = arith.cmpi slt, %row, %rows : index
          ts.produce %dst "store" {
            scf.for %j = %c0 to %c4 step %c1 {
              %at = arith.addi %col, %j : index
              %in_n = arith.cmpi slt, %at, %cols : index
              %in = arith.andi %in_m, %in_n : i1
              scf.if %in {
                %v = vector.extract %total[%j] : f32 from vector<4xf32>
                memref.store %v, %D[%row, %at] : !matrix
              }
            }
          }
        }
        ts.warp_sync
        ts.elect {
          ts.mbarrier_arrive %read cta(%c0)
          ts.mbarrier_arrive %read cta(%c1)
          ts.mbarrier_arrive %read cta(%c2)
          ts.mbarrier_arrive %read cta(%c3)
        }
        ts.mbarrier_wait %read parity %parity
        ts.next_tile %queue
        %flipped = arith.xori %parity, %one : i32
        ts.yield %flipped : i32
      }
    }
  }

  ts.kernel @gemm_splitk_add(%A: !operand, %B: !operand, %D: !d_f32,
                             %tiles_m: index = ceildiv(dim(%A, 0), 128),
                             %tiles_n: index = ceildiv(dim(%B, 0), 128),
                             %parts: index = max(1, min(div(sms(), max(1, tiles_m * tiles_n)), ceildiv(dim(%A, 1), 64))),
                             %steps: index = ceildiv(ceildiv(dim(%A, 1), 64), parts)) warps(12) flush_denormals {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 6, advance_on_wait)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n, %parts)
    ts.depends %ab on %src
    ts.depends %dst on %ab

    // Each part has as many steps, so that all are proven alike; what lies behind K is loaded as zeros.
    ts.task "load" warps(0, 1) registers(40) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%m, %n, %part) {
        %row_a, %row_b, %first = ts.consume %src "coords" -> index, index, index {
          %a = arith.muli %m, %c128 : index
          %b = arith.muli %n, %c128 : index
          %f = arith.muli %part, %steps : index
          ts.yield %a, %b, %f : index, index, index
        }
        ts.for %k = %c0 to %steps {
          %step = arith.addi %first, %k : index
          %col = arith.muli %step, %c64 : index
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

    ts.task "mma" warps(4, 8) replicas(2) (%wg) registers(232) reads(%ab, %queue) writes(%dst) {
      %warp = ts.info warp : index
      %wg4 = arith.muli %wg, %c4 : index
      %slot = arith.addi %wg4, %warp : index
      %row_wg = arith.muli %wg, %c64 : index
      %row_warp = arith.muli %slot, %c16 : index
      %some = arith.cmpi sgt, %steps, %c0 : index
      ts.tile_loop %queue (%m, %n, %part) {
        %zero = ts.wgmma_zero : !acc
        %acc = ts.for %k = %c0 to %steps iter(%c = %zero : !acc) {
          ts.wait %ab
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a_wg, !tile {
            %part_a = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !tile to !a_wg
            ts.yield %part_a, %vb : !a_wg, !tile
          }
          %issued = ts.wgmma %a, %b, %c : !a_wg, !tile, !acc
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
        %row_tile = arith.muli %m, %c128 : index
        %row = arith.addi %row_tile, %row_warp : index
        %col0 = arith.muli %n, %c128 : index
        %col1 = arith.addi %col0, %c32 : index
        %col2 = arith.addi %col0, %c64 : index
        %col3 = arith.addi %col0, %c96 : index
        ts.produce %dst "add" (%stage) {
          %s0 = memref.subview %stage[%slot, 0, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !stage to !piece
          %s1 = memref.subview %stage[%slot, 1, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : !stage to !piece
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 0 to %s0 : !frag, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %D[%row, %col0] reduce add : !piece, !d_f32
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 32 to %s1 : !frag, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s1 to %D[%row, %col1] reduce add : !piece, !d_f32
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 64 to %s0 : !frag, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %D[%row, %col2] reduce add : !piece, !d_f32
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %sum column 96 to %s1 : !frag, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s1 to %D[%row, %col3] reduce add : !piece, !d_f32
          ts.bulk_commit
        }
        ts.next_tile %queue
      }
    }
  }
}
