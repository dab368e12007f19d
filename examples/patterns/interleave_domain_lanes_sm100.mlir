// Domain lanes around the tensor core, the shape of an attention kernel's two softmax tasks (see
// interleave_domain_lanes.mlir and examples/attention_sm100.mlir): D[i] = relu(A[i]) * B[i]^T for a batch
// of matrices. Two groups of four warps take the even and the odd products: each puts relu(A[i]) into
// tensor memory, where the one warp that multiplies reads it (async_umma, lanes on the producer side),
// and takes the product out (umma_async, lanes on the consumer side). Two loading warps are lanes as well.
//   ts-compile examples/patterns/interleave_domain_lanes_sm100.mlir --arch=sm_100a -o d.ptx
//   ts-run d.ptx --array A=5x100x64 --array B=5x64x64 --array D=5x100x64 \
//     --check 'D = relu(A) @ transpose(B, 0, 2, 1)'
!map_a = !ts.tensor_map<?x?x64xbf16, box = 1x128x64, swizzle = 128>
!map_b = !ts.tensor_map<?x?x64xbf16, box = 1x64x64, swizzle = 128>
!map_d = !ts.tensor_map<?x?x?xf32, box = 1x32x32, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!left = memref<128x64xbf16, #ts.tmem>
!acc = memref<128x64xf32, #ts.tmem>
!row = vector<64xbf16>
!stage = memref<8x2x32x32xf32, #ts.smem<128>>
!piece = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_100a"} {
  ts.kernel @relu_bmm(%A: !map_a, %B: !map_b, %D: !map_d,
                      %batches: index = 2 * ceildiv(dim(%A, 0), 2)) warps(11) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %false = arith.constant false

    %src = ts.resource "gmem_ab" gmem
    %raw = ts.resource "smem_raw" smem(a: !a) pipeline(tma_async, stages = 4, interleave = 2)
    %b = ts.resource "smem_b" smem(b: !b) pipeline(tma_umma, stages = 4, interleave = (2, 2, 1, 1))
    %a = ts.resource "tmem_a" tmem(a: !left) pipeline(async_umma, stages = 2, interleave = (2, 2, 1, 1))
    %acc = ts.resource "tmem_c" tmem(c: !acc) pipeline(umma_async, stages = 2, interleave = (1, 1, 2, 2))
    %dst = ts.resource "gmem_d" gmem(stage: !stage)
    ts.depends %raw on %src
    ts.depends %b on %src
    ts.depends %a on %raw
    ts.depends %acc on %a
    ts.depends %acc on %b
    ts.depends %dst on %acc

    ts.task "load" warps(8, 2) replicas(2) (%me) reads(%src) writes(%raw, %b) {
      ts.for %i = %me to %batches step %c2 {
        %batch = ts.consume %src "batch" -> index {
          ts.yield %i : index
        }
        ts.acquire %raw
        ts.produce %raw "load_a" (%view) {
          ts.tma_load %A[%batch, %c0, %c0] to %view : !map_a, !a
        }
        ts.commit %raw
        ts.acquire %b
        ts.produce %b "load_b" (%view) {
          ts.tma_load %B[%batch, %c0, %c0] to %view : !map_b, !b
        }
        ts.commit %b
      }
    }

    ts.task "mma" warps(10, 1) reads(%a, %b) writes(%acc) {
      ts.for %i = %c0 to %batches {
        ts.wait %a
        %va = ts.consume %a "a" (%view) -> !left {
          ts.yield %view : !left
        }
        ts.wait %b
        %vb = ts.consume %b "b" (%view) -> !b {
          ts.yield %view : !b
        }
        ts.acquire %acc
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %va, %vb accumulate(%false) : !acc, !left, !b
        }
        ts.commit %acc
        ts.release %a
        ts.release %b
      }
    }

    ts.task "lanes" warps(0, 8) replicas(2) (%me) reads(%raw, %acc) writes(%a, %dst) {
      %t = ts.info thread : index
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %zero = arith.constant dense<0.0> : !row
      %row = arith.muli %warp, %c32 : index
      %first_warp = arith.muli %me, %c4 : index
      %mine = arith.addi %first_warp, %warp : index
      ts.for %i = %me to %batches step %c2 {
        ts.wait %raw
        %x = ts.consume %raw "row" (%view) -> !row {
          %v = vector.load %view[%t, %c0] : !a, !row
          ts.yield %v : !row
        }
        ts.release %raw
        ts.acquire %a
        ts.produce %a "relu" (%view) {
          %y = arith.maximumf %x, %zero : !row
          ts.tmem_store %y to %view[%c0] : !row, !left
        }
        ts.commit %a
        ts.wait %acc
        ts.for %j = %c0 to %c2 {
          %column = arith.muli %j, %c32 : index
          %v = ts.consume %acc "columns" (%c) -> vector<32xf32> {
            %z = ts.tmem_load %c[%column] : !acc -> vector<32xf32>
            ts.yield %z : vector<32xf32>
          }
          ts.produce %dst "store" (%stage) {
            %s = memref.subview %stage[%mine, %j, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : !stage to !piece
            ts.bulk_wait 1 read
            ts.warp_sync
            vector.store %v, %s[%lane, %c0] : !piece, vector<32xf32>
            ts.fence proxy_async_shared
            ts.warp_sync
            ts.tma_store %s to %D[%i, %row, %column] : !piece, !map_d
            ts.bulk_commit
          }
        }
        ts.release %acc
      }
    }
  }
}
