// Split consumer across a pair of CTAs: D = A * B^T, 256 x 128 a tile, by 2-CTA matrix products whose
// operands threads bring by cp.async. Such a copy arrives on the barrier of its own CTA, so the leader, who
// issues the products, learns nothing about its peer's half. A light task in each CTA waits there, and
// signals a proxy at the leader; the matrix task waits for the proxy and gives the stages of both CTAs
// back. So all CTAs wait and the leader alone releases: consumer_wait_signal says it.
//
//   ts-compile examples/patterns/split_consumer_2cta.mlir --arch=sm_100a -o s.ptx
//   ts-run s.ptx --array A=256x128 --array B=128x128 --array D=256x128 --check 'D = A @ B.T'
!matrix = memref<?x?xbf16, strided<[?, 1]>>
!result = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
!stage = memref<4x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @split_consumer_2cta(%A: !matrix, %B: !matrix, %D: !result,
                  %rows: index = dim(%A, 0), %cols: index = dim(%B, 0), %depth: index = dim(%A, 1),
                  %tiles_m: index = ceildiv(dim(%A, 0), 256),
                  %tiles_n: index = ceildiv(dim(%B, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 64)) warps(10) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b)
        pipeline(async_umma, stages = 3, producer_op = load, consumer_signal = cta_leader,
                 consumer_wait_signal = all, cta_layout = (2, 1, 1, 1))
    %proxy = ts.resource "proxy" barrier
        pipeline(async_umma, stages = 3, consumer_signal = cta_leader, cta_layout = (2, 1, 1, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc)
        pipeline(umma_async, stages = 2, producer_signal = cta_leader, cta_layout = (2, 1, 1, 1))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %ab on %src
    ts.depends %proxy on %ab
    ts.depends %acc on %proxy
    ts.depends %dst on %acc

    // One thread per row of A; the first two warps bring the rows of B as well. What lies outside is zero.
    ts.task "load" warps(4, 4) reads(%src, %queue) writes(%ab) {
      %t = ts.info thread : index
      %has_b = arith.cmpi slt, %t, %c64 : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "rows" -> index, index {
          %rank = ts.info cta_rank : index
          %half_a = arith.muli %rank, %c128 : index
          %half_b = arith.muli %rank, %c64 : index
          %m0 = arith.muli %m, %c256 : index
          %n0 = arith.muli %n, %c128 : index
          %m1 = arith.addi %m0, %half_a : index
          %n1 = arith.addi %n0, %half_b : index
          %a = arith.addi %m1, %t : index
          %b = arith.addi %n1, %t : index
          ts.yield %a, %b : index, index
        }
        %in_a = arith.cmpi slt, %row_a, %rows : index
        %in_b = arith.cmpi slt, %row_b, %cols : index
        %from_a = arith.select %in_a, %row_a, %c0 : index
        %from_b = arith.select %in_b, %row_b, %c0 : index
        ts.for %k = %c0 to %tiles_k {
          %col0 = arith.muli %k, %c64 : index
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            scf.for %chunk = %c0 to %c64 step %c8 {
              %col = arith.addi %col0, %chunk : index
              %left = arith.subi %depth, %col : index
              %some = arith.maxsi %left, %c0 : index
              %most = arith.minsi %some, %c8 : index
              %valid_a = arith.select %in_a, %most, %c0 : index
              %inside = arith.cmpi sgt, %left, %c0 : index
              %from = arith.select %inside, %col, %c0 : index
              ts.cp_async %A[%from_a, %from] to %a[%t, %chunk], 16 valid %valid_a : !matrix, !a
              scf.if %has_b {
                %valid_b = arith.select %in_b, %most, %c0 : index
                ts.cp_async %B[%from_b, %from] to %b[%t, %chunk], 16 valid %valid_b : !matrix, !b
              }
            }
          }
          ts.commit %ab
        }
        ts.next_tile %queue
      }
    }

    ts.task "sync" warps(8, 1) reads(%ab, %queue) writes(%proxy) {
      ts.tile_loop %queue {
        ts.for %k = %c0 to %tiles_k {
          ts.wait %ab
          ts.acquire %proxy
          ts.produce %proxy "signal_ready" {
          }
          ts.commit %proxy
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(9, 1) reads(%proxy, %ab, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %tiles_k {
          ts.wait %proxy
          %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
            ts.yield %va, %vb : !a, !b
          }
          ts.produce %acc "mma" (%c) {
            %more = arith.cmpi ne, %k, %c0 : index
            ts.umma %c, %a, %b accumulate(%more) {cta_group = 2 : i64} : !acc, !a, !b
          }
          ts.release %ab
          ts.release %proxy
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
        %rank = ts.info cta_rank : index
        %half_row = arith.muli %rank, %c128 : index
        %row_pair = arith.muli %m, %c256 : index
        %row_tile = arith.addi %row_pair, %half_row : index
        %row = arith.addi %row_tile, %row_warp : index
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
}
