// A static persistent queue: D[m] = sum over k of A[m, k]. As many CTAs as the device has SMs walk the
// tiles of 64 rows; every task of a CTA steps through the same tiles, and the ring of stages goes on
// where the last tile left it. K = 0 is a tile without a step: its sums are zero.
//
//   ts-compile examples/patterns/static_queue.mlir --arch=sm_90a -o q.ptx
//   ts-run q.ptx --sms 2 --array A=200x100 --array D=200x1 --check 'D = sum(A, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>

gpu.module @sums attributes {ts.chip = "sm_90a"} {
  ts.kernel @static_queue(%A: !map, %D: memref<?x1xf32>,
                          %rows: index = dim(%A, 0),
                          %tiles_m: index = ceildiv(dim(%A, 0), 64),
                          %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %part = ts.resource "smem_part" smem(x: !tile) pipeline(tma_async, stages = 3)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%tiles_m)
    ts.depends %part on %src
    ts.depends %dst on %part

    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "coords" -> index {
          %r = arith.muli %m, %c64 : index
          ts.yield %r : index
        }
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

    // Thread t has row t of the tile.
    ts.task "sum" warps(0, 2) reads(%part, %queue) writes(%dst) {
      %t = ts.info thread : index
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
          %row0 = arith.muli %m, %c64 : index
          %row = arith.addi %row0, %t : index
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
