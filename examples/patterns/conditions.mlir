// Guards, conditions and auxiliary work. For each row of A, the sum of A * S, where S is one row of
// factors; 128 factors serve four steps of 32 columns, so they are fetched in every fourth step and
// given back before the next ones, or in the last step. What becomes of the sum is decided by a value
// in memory that each task reads for itself: if F is above zero, a tile of C is fetched and its rows
// are added, otherwise the sum is negated. The key says that all tasks see the same condition.
//
//   ts-compile examples/patterns/conditions.mlir --arch=sm_90a -o c.ptx
//   ts-run c.ptx --array A=200x296 --array S=1x296 --array C=200x32 --array F=1x1:full(1) --array D=200x1 \
//     --check 'D = where(F > 0, sum(A * S, axis=1, keepdims=True) + sum(C, axis=1, keepdims=True), 0 - sum(A * S, axis=1, keepdims=True))'
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!factors = !ts.tensor_map<?x?xf32, box = 1x128>
!tile = memref<128x32xf32, #ts.smem<128>>
!row = memref<1x128xf32, #ts.smem>
!column = memref<?x1xf32>
!flag = memref<1x1xf32>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @conditions(%A: !map, %S: !factors, %C: !map, %F: !flag, %D: !column,
                        %rows: index = dim(%A, 0), %tiles_m: index = ceildiv(dim(%A, 0), 128),
                        %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(5) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_in" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 3)
    %s = ts.resource "smem_s" smem(s: !row) pipeline(tma_async, stages = 2)
    %c = ts.resource "smem_c" smem(c: !tile) pipeline(tma_async, stages = 1)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %s on %src
    ts.depends %c on %src
    ts.depends %dst on %a, %s, %c

    ts.task "load" warps(4, 1) reads(%src, %queue) writes(%a, %s, %c) {
      %f = memref.load %F[%c0, %c0] : !flag
      %add = arith.cmpf ogt, %f, %zero : f32
      ts.tile_loop %queue (%m) {
        %row = ts.produce %a "coords" aux -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.consume %src "inputs" aux {
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.guard first {
            ts.try_acquire %a
          }
          ts.guard every 4 {
            ts.acquire %s
            ts.produce %s "factors" (%x) {
              ts.tma_load %S[%c0, %col] to %x : !factors, !row
            }
            ts.commit %s
          }
          ts.acquire %a
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %a
        }
        ts.when %add is true key("add C") {
          ts.acquire %c
          ts.produce %c "load" (%x) {
            ts.tma_load %C[%row, %c0] to %x : !map, !tile
          }
          ts.commit %c
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 4) reads(%a, %s, %c, %queue) writes(%dst) {
      %t = ts.info thread : index
      %f = memref.load %F[%c0, %c0] : !flag
      %add = arith.cmpf ogt, %f, %zero : f32
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%before = %zero : f32) {
          ts.guard every 4 {
            ts.guard not_first {
              ts.release %s
            }
            ts.wait %s
          }
          ts.wait %a
          %factors = ts.consume %s "factors" (%x) -> !row {
            ts.yield %x : !row
          }
          %next = ts.consume %a "products" (%x) -> f32 {
            %part = arith.remui %k, %c4 : index
            %base = arith.muli %part, %c32 : index
            %r = scf.for %j = %c0 to %c32 step %c1 iter_args(%p = %before) -> f32 {
              %u = memref.load %x[%t, %j] : !tile
              %at = arith.addi %base, %j : index
              %w = memref.load %factors[%c0, %at] : !row
              %uw = arith.mulf %u, %w : f32
              %q = arith.addf %p, %uw : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %a
          ts.guard last {
            ts.release %s
          }
          ts.yield %next : f32
        }
        %more = ts.when %add is true key("add C") -> f32 {
          ts.wait %c
          %all = ts.consume %c "row_sum" (%x) -> f32 {
            %r = scf.for %j = %c0 to %c32 step %c1 iter_args(%p = %sum) -> f32 {
              %u = memref.load %x[%t, %j] : !tile
              %q = arith.addf %p, %u : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %c
          ts.yield %all : f32
        } else {
          ts.yield %sum : f32
        }
        %result = ts.when %add is false key("add C") -> f32 {
          %minus = arith.subf %zero, %more : f32
          ts.yield %minus : f32
        } else {
          ts.yield %more : f32
        }
        ts.produce %dst "store" {
          %first = arith.muli %m, %c128 : index
          %row = arith.addi %first, %t : index
          %in = arith.cmpi slt, %row, %rows : index
          scf.if %in {
            memref.store %result, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
