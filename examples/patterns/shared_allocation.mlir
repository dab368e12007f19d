// Several pipelines guard one allocation. A tile comes by TMA into memory that the program places itself. Two
// warps square it in place and hand it on in parts: the upper 64 rows to one task as soon as they are
// done, then the lower ones to another task. Three rings stand on the same bytes: "loaded" from the
// copies to the squaring warps, "upper" and "lower" from there to the tasks that add up. Those give
// the loader its stage back, so who waits for "loaded" is not who releases it; the proxy fence between
// the squares and the next copy comes with the commits of "upper" and "lower". The mbarriers of all rings
// are in an allocation of the program's. D is the sum of A * A over each row.
//
//   ts-compile examples/patterns/shared_allocation.mlir --arch=sm_90a -o s.ptx
//   ts-run s.ptx --array A=200x96 --array D=200x1 --check 'D = sum(A * A, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!upper = memref<64x32xf32, strided<[32, 1]>, #ts.smem<128>>
!lower = memref<64x32xf32, strided<[32, 1], offset: 2048>, #ts.smem<128>>
!column = memref<?x1xf32>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @shared_allocation(%A: !map, %D: !column, %rows: index = dim(%A, 0),
                               %tiles_m: index = ceildiv(dim(%A, 0), 128),
                               %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(7) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %own = ts.resource "own" smem(barriers: memref<18xi64> unstaged at 49152)
    %loaded = ts.resource "loaded" smem(x: !tile at 0) pipeline(tma_async, stages = 3) barriers(%own : "barriers")
    %upper = ts.resource "upper" smem(x: !tile at 0) pipeline(async_async, stages = 3) barriers(%own : "barriers")
    %lower = ts.resource "lower" smem(x: !tile at 0) pipeline(async_async, stages = 3) barriers(%own : "barriers")
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %loaded on %src
    ts.depends %upper on %loaded
    ts.depends %lower on %loaded
    ts.depends %dst on %upper, %lower

    ts.task "load" warps(6, 1) reads(%src, %queue) writes(%loaded) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %loaded
          ts.produce %loaded "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %loaded
        }
        ts.next_tile %queue
      }
    }

    ts.task "square" warps(4, 2) reads(%loaded, %queue) writes(%upper, %lower) {
      %t = ts.info thread : index
      ts.tile_loop %queue {
        ts.for %k = %c0 to %tiles_k {
          ts.wait %loaded
          ts.acquire %upper
          ts.produce %upper "square" (%x) {
            %p = memref.subview %x[0, 0] [64, 32] [1, 1] : !tile to !upper
            scf.for %c = %c0 to %c32 step %c1 {
              %u = memref.load %p[%t, %c] : !upper
              %uu = arith.mulf %u, %u : f32
              memref.store %uu, %p[%t, %c] : !upper
            }
          }
          ts.commit %upper
          ts.acquire %lower
          ts.produce %lower "square" (%x) {
            %p = memref.subview %x[64, 0] [64, 32] [1, 1] : !tile to !lower
            scf.for %c = %c0 to %c32 step %c1 {
              %u = memref.load %p[%t, %c] : !lower
              %uu = arith.mulf %u, %u : f32
              memref.store %uu, %p[%t, %c] : !lower
            }
          }
          ts.commit %lower
        }
        ts.next_tile %queue
      }
    }

    ts.task "add_upper" warps(0, 2) reads(%upper, %loaded, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %upper
          %next = ts.consume %upper "row_sum" (%x) -> f32 {
            %p = memref.subview %x[0, 0] [64, 32] [1, 1] : !tile to !upper
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%q = %s) -> f32 {
              %u = memref.load %p[%t, %c] : !upper
              %v = arith.addf %q, %u : f32
              scf.yield %v : f32
            }
            ts.yield %r : f32
          }
          ts.release %upper
          ts.release %loaded
          ts.yield %next : f32
        }
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        ts.produce %dst "store" {
          scf.if %in {
            memref.store %sum, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }

    ts.task "add_lower" warps(2, 2) reads(%lower, %loaded, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %lower
          %next = ts.consume %lower "row_sum" (%x) -> f32 {
            %p = memref.subview %x[64, 0] [64, 32] [1, 1] : !tile to !lower
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%q = %s) -> f32 {
              %u = memref.load %p[%t, %c] : !lower
              %v = arith.addf %q, %u : f32
              scf.yield %v : f32
            }
            ts.yield %r : f32
          }
          ts.release %lower
          ts.release %loaded
          ts.yield %next : f32
        }
        %tile = arith.muli %m, %c128 : index
        %part = arith.addi %tile, %c64 : index
        %row = arith.addi %part, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        ts.produce %dst "store" {
          scf.if %in {
            memref.store %sum, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
