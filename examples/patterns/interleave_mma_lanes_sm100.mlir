// Lanes on both sides of the tensor core (see interleave_warp_lanes.mlir, interleave_domain_lanes.mlir).
//
// small_batches   Warp lanes of umma_async: D[b] = A[b] * B[b]^T for many A[b] of 32 rows. Four of them fill
//                 the 128 rows of one product, which is made once for each B[b]: the rows that count are the
//                 32 lanes of tensor memory that one warp reaches. So warp i of the storing task takes the
//                 accumulators 4 g + i, each at its own pace: lanes on the consumer side only.
// two_multipliers Domain lanes of tma_umma in all roles, one stride: two loading tasks fill the even and the
//                 odd stages, and two multiplying tasks, each with an accumulator of its own, empty them.
//
//   ts-compile examples/patterns/interleave_mma_lanes_sm100.mlir --arch=sm_100a -o m.ptx
//   ts-run m.ptx --kernel small_batches --array A=160x64 --array B=5x64x64 --array D=160x64 \
//     --check 'D = reshape(reshape(A, dim(B, 0), 32, 64) @ transpose(B, 0, 2, 1), dim(A, 0), dim(B, 1))'
!map_rows = !ts.tensor_map<?x64xbf16, box = 128x64, swizzle = 128>
!map_a = !ts.tensor_map<?x?x64xbf16, box = 1x128x64, swizzle = 128>
!map_b = !ts.tensor_map<?x?x64xbf16, box = 1x64x64, swizzle = 128>
!map_d = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!map_d3 = !ts.tensor_map<?x?x?xf32, box = 1x32x32, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
!stage = memref<4x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @small_batches(%A: !map_rows, %B: !map_b, %D: !map_d,
                           %groups: index = ceildiv(dim(%B, 0), 4)) warps(6) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %false = arith.constant false

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !a) pipeline(tma_umma, stages = 2)
    %b = ts.resource "smem_b" smem(b: !b) pipeline(tma_umma, stages = 6)
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 8, interleave = (1, 1, 4, 4))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %acc on %a
    ts.depends %acc on %b
    ts.depends %dst on %acc

    ts.task "load" warps(5, 1) reads(%src) writes(%a, %b) {
      ts.for %g = %c0 to %groups {
        %first, %row = ts.consume %src "group" -> index, index {
          %f = arith.muli %g, %c4 : index
          %r = arith.muli %g, %c128 : index
          ts.yield %f, %r : index, index
        }
        ts.acquire %a
        ts.produce %a "load_a" (%view) {
          ts.tma_load %A[%row, %c0] to %view : !map_rows, !a
        }
        ts.commit %a
        ts.for %i = %c0 to %c4 {
          %batch = arith.addi %first, %i : index
          ts.acquire %b
          ts.produce %b "load_b" (%view) {
            ts.tma_load %B[%batch, %c0, %c0] to %view : !map_b, !b
          }
          ts.commit %b
        }
      }
    }

    ts.task "mma" warps(4, 1) reads(%a, %b) writes(%acc) {
      ts.for %g = %c0 to %groups {
        ts.wait %a
        %va = ts.consume %a "a" (%view) -> !a {
          ts.yield %view : !a
        }
        ts.for %i = %c0 to %c4 {
          ts.wait %b
          %vb = ts.consume %b "b" (%view) -> !b {
            ts.yield %view : !b
          }
          ts.acquire %acc
          ts.produce %acc "mma" (%c) {
            ts.umma %c, %va, %vb accumulate(%false) : !acc, !a, !b
          }
          ts.commit %acc
          ts.release %b
        }
        ts.release %a
      }
    }

    ts.task "store" warps(0, 4) reads(%acc) writes(%dst) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %mine = arith.muli %warp, %c32 : index
      ts.for %g = %c0 to %groups {
        %group = arith.muli %g, %c128 : index
        %row = arith.addi %group, %mine : index
        ts.wait %acc
        ts.for %j = %c0 to %c2 {
          %column = arith.muli %j, %c32 : index
          %v = ts.consume %acc "columns" (%c) -> vector<32xf32> {
            %x = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %x : vector<32xf32>
          }
          ts.produce %dst "store" (%stage) {
            %s = memref.subview %stage[%warp, %j, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%row, %column] : !piece, !map_d
            ts.bulk_commit
          }
        }
        ts.release %acc
      }
    }
  }

  // Batches come in pairs; one that does not exist is loaded as zeros and stored nowhere.
  ts.kernel @two_multipliers(%A: !map_a, %B: !map_b, %D: !map_d3,
                             %batches: index = 2 * ceildiv(dim(%A, 0), 2)) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %false = arith.constant false

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !a, b: !b) pipeline(tma_umma, stages = 6, interleave = 2)
    %even = ts.resource "tmem_even" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %odd = ts.resource "tmem_odd" tmem(c: !acc) pipeline(umma_async, stages = 2)
    %dst_even = ts.resource "gmem_even" gmem(stage: !stage)
    %dst_odd = ts.resource "gmem_odd" gmem(stage: !stage)
    ts.depends %ab on %src
    ts.depends %even on %ab
    ts.depends %odd on %ab
    ts.depends %dst_even on %even
    ts.depends %dst_odd on %odd

    ts.task "load" warps(8, 2) replicas(2) (%me) reads(%src) writes(%ab) {
      ts.for %i = %me to %batches step %c2 {
        %batch = ts.consume %src "batch" -> index {
          ts.yield %i : index
        }
        ts.acquire %ab
        ts.produce %ab "load" (%va, %vb) {
          ts.tma_load %A[%batch, %c0, %c0] to %va : !map_a, !a
          ts.tma_load %B[%batch, %c0, %c0] to %vb : !map_b, !b
        }
        ts.commit %ab
      }
    }

    ts.task "mma_even" warps(10, 1) reads(%ab) writes(%even) {
      ts.for %i = %c0 to %batches step %c2 {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.acquire %even
        ts.produce %even "mma" (%c) {
          ts.umma %c, %a, %b accumulate(%false) : !acc, !a, !b
        }
        ts.commit %even
        ts.release %ab
      }
    }

    ts.task "mma_odd" warps(11, 1) reads(%ab) writes(%odd) {
      ts.for %i = %c1 to %batches step %c2 {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.acquire %odd
        ts.produce %odd "mma" (%c) {
          ts.umma %c, %a, %b accumulate(%false) : !acc, !a, !b
        }
        ts.commit %odd
        ts.release %ab
      }
    }

    ts.task "store_even" warps(0, 4) reads(%even) writes(%dst_even) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row = arith.muli %warp, %c32 : index
      ts.for %i = %c0 to %batches step %c2 {
        ts.wait %even
        ts.for %j = %c0 to %c2 {
          %column = arith.muli %j, %c32 : index
          %v = ts.consume %even "columns" (%c) -> vector<32xf32> {
            %x = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %x : vector<32xf32>
          }
          ts.produce %dst_even "store" (%stage) {
            %s = memref.subview %stage[%warp, %j, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%i, %row, %column] : !piece, !map_d3
            ts.bulk_commit
          }
        }
        ts.release %even
      }
    }

    ts.task "store_odd" warps(4, 4) reads(%odd) writes(%dst_odd) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row = arith.muli %warp, %c32 : index
      ts.for %i = %c1 to %batches step %c2 {
        ts.wait %odd
        ts.for %j = %c0 to %c2 {
          %column = arith.muli %j, %c32 : index
          %v = ts.consume %odd "columns" (%c) -> vector<32xf32> {
            %x = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %x : vector<32xf32>
          }
          ts.produce %dst_odd "store" (%stage) {
            %s = memref.subview %stage[%warp, %j, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%i, %row, %column] : !piece, !map_d3
            ts.bulk_commit
          }
        }
        ts.release %odd
      }
    }
  }
}
