// Skipped tiles: D[m] += A[m] for the first `live` rows only. The launch knows how many rows there may
// be, the device how many there are (a captured graph that is replayed with fewer). The queue hands
// out every tile; its predicate says which ones are skipped, and every task leaves out its skippable
// part of them, by the same predicate, and steps on: no stage is armed, waited for or given back.
//
//   ts-compile examples/patterns/skip_tiles.mlir --arch=sm_90a -o s.ptx
//   ts-run s.ptx --array A=200x64 --array D=200x64 --array 'live=values(70)' \
//          --check 'D = D + where(reshape(arange(dim(A, 0)), dim(A, 0), 1) < live, A, 0)'
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
!matrix = memref<?x?xf32>

gpu.module @skip attributes {ts.chip = "sm_90a"} {
  ts.kernel @skip_tiles(%A: !map, %D: !matrix, %live: memref<1xi32>,
                        %cols: index = dim(%D, 1),
                        %tiles_m: index = ceildiv(dim(%A, 0), 64),
                        %tiles_n: index = ceildiv(dim(%A, 1), 32)) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index

    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem_tile" smem(x: !tile) pipeline(tma_async, stages = 3)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) skip(%m, %n) {
      %row = arith.muli %m, %c64 : index
      %l = memref.load %live[%c0] : memref<1xi32>
      %rows = arith.index_cast %l : i32 to index
      %dead = arith.cmpi sge, %row, %rows : index
      ts.yield %dead : i1
    }
    ts.depends %tile on %src
    ts.depends %dst on %tile

    ts.task "load" warps(1, 1) reads(%src, %queue) writes(%tile) {
      ts.tile_loop %queue (%m, %n) {
        ts.skippable {
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
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 1) reads(%src, %tile, %queue) writes(%dst) {
      %lane = ts.info lane : index
      ts.tile_loop %queue (%m, %n) {
        ts.skippable {
          %row0 = arith.muli %m, %c64 : index
          %col0 = arith.muli %n, %c32 : index
          %left = ts.consume %src "rows" -> index {
            %l = memref.load %live[%c0] : memref<1xi32>
            %rows = arith.index_cast %l : i32 to index
            %rest = arith.subi %rows, %row0 : index
            %least = arith.minsi %rest, %c64 : index
            ts.yield %least : index
          }
          ts.wait %tile
          %x = ts.consume %tile "tile" (%view) -> !tile {
            ts.yield %view : !tile
          }
          ts.produce %dst "add" {
            %col = arith.addi %col0, %lane : index
            %in = arith.cmpi slt, %col, %cols : index
            scf.if %in {
              scf.for %r = %c0 to %left step %c1 {
                %row = arith.addi %row0, %r : index
                %v = memref.load %x[%r, %lane] : !tile
                %old = memref.load %D[%row, %col] : !matrix
                %new = arith.addf %old, %v : f32
                memref.store %new, %D[%row, %col] : !matrix
              }
            }
          }
          ts.release %tile
        }
        ts.next_tile %queue
      }
    }
  }
}
