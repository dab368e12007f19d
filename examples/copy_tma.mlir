// D = A through the bulk copy engine: one warp loads 64 x 32 tiles by TMA into four stages, another
// stores them by TMA. A row-major f32 matrix of any number of rows; rows are multiples of 16 bytes.
//
//   ts-compile examples/copy_tma.mlir --arch=sm_90a -o copy.ptx
//   ts-run copy.ptx --array A=1000x500 --array D=1000x500 --check 'D = A'
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>

gpu.module @copy attributes {ts.chip = "sm_90a"} {
  ts.kernel @copy_tma(%A: !map, %D: !map,
                      %tiles_m: index = ceildiv(dim(%A, 0), 64),
                      %tiles_n: index = ceildiv(dim(%A, 1), 32)) warps(2) {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index

    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem_tile" smem(x: !tile) pipeline(tma_async, stages = 4)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %tile on %src
    ts.depends %dst on %tile

    ts.task "load" warps(0, 1) reads(%src, %queue) writes(%tile) {
      ts.tile_loop %queue (%m, %n) {
        %row, %col = ts.consume %src "coords" -> index, index {
          %r = arith.muli %m, %c64 : index
          %c = arith.muli %n, %c32 : index
          ts.yield %r, %c : index, index
        }
        ts.acquire %tile
        ts.produce %tile "load" (%x) {
          ts.tma_load %A[%row, %col] to %x : !map, !tile
        }
        ts.commit %tile
        ts.next_tile %queue
      }
    }

    ts.task "store" warps(1, 1) reads(%tile, %queue) writes(%dst) {
      ts.tile_loop %queue (%m, %n) {
        %row = arith.muli %m, %c64 : index
        %col = arith.muli %n, %c32 : index
        ts.wait %tile
        %x = ts.consume %tile "tile" (%view) -> !tile {
          ts.yield %view : !tile
        }
        ts.produce %dst "store" {
          ts.tma_store %x to %D[%row, %col] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %tile
        ts.next_tile %queue
      }
    }
  }
}
