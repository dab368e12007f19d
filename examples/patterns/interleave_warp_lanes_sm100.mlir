// Warp lanes in front of the tensor core (see interleave_warp_lanes.mlir): D = relu(A) * B^T. Four warps
// load, each every fourth k step; four warps apply relu, each to a k step of its own; the one warp that
// multiplies takes all steps in order. Both of its operands come through pipelines with lanes on the
// producer side only: tma_umma for B, async_umma for relu(A). k steps come in fours.
//   ts-compile examples/patterns/interleave_warp_lanes_sm100.mlir --arch=sm_100a -o w.ptx
//   ts-run w.ptx --array A=128x256 --array B=64x256 --array D=128x64 --check 'D = relu(A) @ B.T'
!map_a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!map_b = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!map_d = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
!row = vector<64xbf16>
!stage = memref<4x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @relu_gemm(%A: !map_a, %B: !map_b, %D: !map_d,
                       %tiles_m: index = ceildiv(dim(%A, 0), 128),
                       %tiles_n: index = ceildiv(dim(%B, 0), 64),
                       %rounds: index = ceildiv(dim(%A, 1), 256)) warps(13) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %steps = arith.muli %rounds, %c4 : index

    %src = ts.resource "gmem_ab" gmem
    %raw = ts.resource "smem_raw" smem(a: !a) pipeline(tma_async, stages = 4, interleave = 4)
    %b = ts.resource "smem_b" smem(b: !b) pipeline(tma_umma, stages = 8, interleave = (4, 4, 1, 1))
    %a = ts.resource "smem_a" smem(a: !a) pipeline(async_umma, stages = 4, interleave = (4, 4, 1, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) group(8)
    ts.depends %raw on %src
    ts.depends %b on %src
    ts.depends %a on %raw
    ts.depends %acc on %a
    ts.depends %acc on %b
    ts.depends %dst on %acc

    ts.task "load" warps(4, 4) reads(%src, %queue) writes(%raw, %b) {
      %w = ts.info warp : index
      ts.tile_loop %queue (%m, %n) {
        %row_a, %row_b = ts.consume %src "coords" -> index, index {
          %x = arith.muli %m, %c128 : index
          %y = arith.muli %n, %c64 : index
          ts.yield %x, %y : index, index
        }
        ts.for %i = %c0 to %rounds {
          %first = arith.muli %i, %c4 : index
          %k = arith.addi %first, %w : index
          %col = arith.muli %k, %c64 : index
          ts.acquire %raw
          ts.produce %raw "load_a" (%view) {
            ts.tma_load %A[%row_a, %col] to %view : !map_a, !a
          }
          ts.commit %raw
          ts.acquire %b
          ts.produce %b "load_b" (%view) {
            ts.tma_load %B[%row_b, %col] to %view : !map_b, !b
          }
          ts.commit %b
        }
        ts.next_tile %queue
      }
    }

    // A warp has four rows for each of its threads.
    ts.task "relu" warps(8, 4) reads(%raw, %queue) writes(%a) {
      %lane = ts.info lane : index
      %zero = arith.constant dense<0.0> : !row
      ts.tile_loop %queue {
        ts.for %i = %c0 to %rounds {
          ts.wait %raw
          %from = ts.consume %raw "from" (%view) -> !a {
            ts.yield %view : !a
          }
          ts.acquire %a
          ts.produce %a "relu" (%to) {
            ts.for %r = %c0 to %c4 {
              %up = arith.muli %r, %c32 : index
              %row = arith.addi %up, %lane : index
              %x = vector.load %from[%row, %c0] : !a, !row
              %y = arith.maximumf %x, %zero : !row
              vector.store %y, %to[%row, %c0] : !a, !row
            }
          }
          ts.commit %a
          ts.release %raw
        }
        ts.next_tile %queue
      }
    }

    ts.task "mma" warps(12, 1) reads(%a, %b, %queue) writes(%acc) {
      ts.tile_loop %queue {
        ts.acquire %acc
        ts.for %k = %c0 to %steps {
          ts.wait %a
          %va = ts.consume %a "a" (%view) -> !a {
            ts.yield %view : !a
          }
          ts.wait %b
          %vb = ts.consume %b "b" (%view) -> !b {
            ts.yield %view : !b
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
            %s = memref.subview %stage[%warp, %j, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%row, %col] : !piece, !map_d
            ts.bulk_commit
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
