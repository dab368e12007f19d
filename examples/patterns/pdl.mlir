// Programmatic dependent launch: two kernels of which the second begins before the first has ended.
//
// scale     B = 2 A. When it has waited for the grid before it, it lets the next one start: that only
//           sets up its barriers and reads what does not depend on B.
// row_sum   D = W * (sum of B's rows). The loader waits for all of scale before it loads B; the
//           threads that add up read W in the meantime, without a wait.
//
// The manifest says that both want the launch attribute. ts-run launches several kernels in turn, on
// arrays of the same names:
//
//   ts-compile examples/patterns/pdl.mlir --arch=sm_90a -o p.ptx
//   ts-run p.ptx --kernel scale,row_sum --array A=200x96 --array B=200x96 --array W=200x1 --array D=200x1 \
//     --check 'B = 2 * A' --check 'D = W * sum(2 * A, axis=1, keepdims=True)'
!matrix = memref<?x?xf32, strided<[?, 1]>>
!column = memref<?x1xf32>
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @scale(%A: !matrix, %B: !matrix, %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
                   %tiles_m: index = ceildiv(dim(%A, 0), 8)) warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %two = arith.constant 2.0 : f32

    %before = ts.pdl "previous_grid"
    %src = ts.resource "gmem_a" gmem
    %dst = ts.resource "gmem_b" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %dst on %src, %before

    ts.task "scale" warps(0, 4) reads(%before, %src, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.griddep_wait %before
      ts.griddep_launch %before
      ts.tile_loop %queue (%m) {
        %first = ts.consume %src "rows" -> index {
          %r = arith.muli %m, %c8 : index
          ts.yield %r : index
        }
        %end = arith.addi %first, %c8 : index
        %last = arith.minsi %end, %rows : index
        ts.produce %dst "scale" {
          scf.for %i = %first to %last step %c1 {
            scf.for %j = %t to %cols step %c128 {
              %a = memref.load %A[%i, %j] : !matrix
              %b = arith.mulf %a, %two : f32
              memref.store %b, %B[%i, %j] : !matrix
            }
          }
        }
        ts.next_tile %queue
      }
    }
  }

  ts.kernel @row_sum(%B: !map, %W: !column, %D: !column, %rows: index = dim(%B, 0),
                     %tiles_m: index = ceildiv(dim(%B, 0), 128),
                     %tiles_k: index = ceildiv(dim(%B, 1), 32)) warps(5) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %before = ts.pdl "previous_grid"
    %src = ts.resource "gmem_b" gmem
    %weights = ts.resource "gmem_w" gmem
    %b = ts.resource "smem_b" smem(b: !tile) pipeline(tma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %b on %src, %before
    ts.depends %dst on %b, %weights

    ts.task "load" warps(4, 1) reads(%before, %src, %queue) writes(%b) {
      ts.griddep_wait %before
      ts.griddep_launch %before
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %b
          ts.produce %b "load" (%x) {
            ts.tma_load %B[%row, %col] to %x : !map, !tile
          }
          ts.commit %b
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 4) reads(%b, %weights, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        %weight = ts.consume %weights "weight" -> f32 {
          %v = scf.if %in -> f32 {
            %w = memref.load %W[%row, %c0] : !column
            scf.yield %w : f32
          } else {
            scf.yield %zero : f32
          }
          ts.yield %v : f32
        }
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %b
          %next = ts.consume %b "row_sum" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %q = arith.addf %p, %u : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %b
          ts.yield %next : f32
        }
        ts.produce %dst "store" {
          scf.if %in {
            %d = arith.mulf %weight, %sum : f32
            memref.store %d, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
