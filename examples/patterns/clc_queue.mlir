// A dynamic persistent queue: D[m] = sum over k of A[m, k] on clusters of two CTAs whose tiles of 128
// rows come from cluster launch control. One scheduler task asks ahead, up to three answers wait in
// their own ring, and each answer goes to both CTAs of the cluster; after the answer that nothing was
// left, no further request is made. The throttle: the scheduler asks for another tile only when the
// loads of this one have begun, so a slow cluster does not hoard tiles that an idle one could take.
//
//   ts-compile examples/patterns/clc_queue.mlir --arch=sm_100a -o q.ptx
//   ts-run q.ptx --array A=700x100 --array D=700x1 --check 'D = sum(A, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>

gpu.module @sums attributes {ts.chip = "sm_100a"} {
  ts.kernel @clc_queue(%A: !map, %D: memref<?x1xf32>,
                       %rows: index = dim(%A, 0),
                       %tiles_m: index = ceildiv(dim(%A, 0), 128),
                       %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(4) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %part = ts.resource "smem_part" smem(x: !tile) pipeline(tma_async, stages = 3)
    %dst = ts.resource "gmem_d" gmem
    %token = ts.resource "begun" barrier pipeline(async_async, stages = 2)
    %queue = ts.work_queue "tiles" clc over(%tiles_m)
               pipeline(clc_fetch_async, stages = 3, cta_layout = (2, 1, 1, 1)) throttle(%token)
    ts.depends %part on %src
    ts.depends %dst on %part

    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part, %token) {
      %rank = ts.info cta_rank : index
      %half = arith.muli %rank, %c64 : index
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "coords" -> index {
          %r = arith.muli %m, %c128 : index
          %s = arith.addi %r, %half : index
          ts.yield %s : index
        }
        ts.acquire %token
        ts.commit %token
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }

    ts.task "schedule" warps(3, 1) reads(%queue, %token) writes(%queue) {
      ts.tile_loop %queue {
        ts.wait %token
        ts.release %token
        ts.acquire %queue
        ts.fetch_tile %queue
        ts.commit %queue
        ts.next_tile %queue
      }
    }

    // Thread t has row t of the CTA's half of the tile.
    ts.task "sum" warps(0, 2) reads(%part, %queue) writes(%dst) {
      %t = ts.info thread : index
      %rank = ts.info cta_rank : index
      %half = arith.muli %rank, %c64 : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %part
          %new = ts.consume %part "add" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%a = %s) -> f32 {
              %v = memref.load %x[%t, %c] : !tile
              %b = arith.addf %a, %v : f32
              scf.yield %b : f32
            }
            ts.yield %r : f32
          }
          ts.release %part
          ts.yield %new : f32
        }
        ts.produce %dst "store" {
          %row0 = arith.muli %m, %c128 : index
          %row1 = arith.addi %row0, %half : index
          %row = arith.addi %row1, %t : index
          %in = arith.cmpi slt, %row, %rows : index
          scf.if %in {
            memref.store %sum, %D[%row, %c0] : memref<?x1xf32>
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
