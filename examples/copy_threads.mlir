// D = A for a row-major f32 matrix of any shape and row stride: four warps fill a double-buffered tile with plain
// loads and stores, four others empty it. The smallest complete kernel: one async_async pipeline.
//
//   ts-compile examples/copy_threads.mlir --arch=sm_90a -o copy.ptx
//   ts-run copy.ptx --array A=100x300 --array D=100x300 --check 'D = A'
!matrix = memref<?x?xf32, strided<[?, 1]>>

gpu.module @copy attributes {ts.chip = "sm_90a"} {
  ts.kernel @copy_threads(%A: !matrix, %D: !matrix,
                          %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
                          %tiles_m: index = ceildiv(dim(%A, 0), 32),
                          %tiles_n: index = ceildiv(dim(%A, 1), 128)) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem_tile" smem(x: memref<32x128xf32>) pipeline(async_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %tile on %src
    ts.depends %dst on %tile

    ts.task "load" warps(0, 4) reads(%src, %queue) writes(%tile) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m, %n) {
        %row0 = arith.muli %m, %c32 : index
        %col0 = arith.muli %n, %c128 : index
        ts.consume %src "coords" {
        }
        ts.acquire %tile
        ts.produce %tile "fill" (%x) {
          %col = arith.addi %col0, %t : index
          %col_in = arith.cmpi slt, %col, %cols : index
          scf.for %r = %c0 to %c32 step %c1 {
            %row = arith.addi %row0, %r : index
            %row_in = arith.cmpi slt, %row, %rows : index
            %in = arith.andi %row_in, %col_in : i1
            scf.if %in {
              %v = memref.load %A[%row, %col] : !matrix
              memref.store %v, %x[%r, %t] : memref<32x128xf32, #ts.smem>
            }
          }
        }
        ts.commit %tile
        ts.next_tile %queue
      }
    }

    ts.task "store" warps(4, 4) reads(%tile, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m, %n) {
        %row0 = arith.muli %m, %c32 : index
        %col0 = arith.muli %n, %c128 : index
        ts.wait %tile
        %x = ts.consume %tile "tile" (%view) -> memref<32x128xf32, #ts.smem> {
          ts.yield %view : memref<32x128xf32, #ts.smem>
        }
        ts.produce %dst "empty" {
          %col = arith.addi %col0, %t : index
          %col_in = arith.cmpi slt, %col, %cols : index
          scf.for %r = %c0 to %c32 step %c1 {
            %row = arith.addi %row0, %r : index
            %row_in = arith.cmpi slt, %row, %rows : index
            %in = arith.andi %row_in, %col_in : i1
            scf.if %in {
              %v = memref.load %x[%r, %t] : memref<32x128xf32, #ts.smem>
              memref.store %v, %D[%row, %col] : !matrix
            }
          }
        }
        ts.release %tile
        ts.next_tile %queue
      }
    }
  }
}
