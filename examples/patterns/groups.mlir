// Pipeline groups: several rings that share a side. D is the sum of A * B over each row in the merges.
//
// merge          a full barrier for each of A and B, one release for both; both come by TMA
// merge_mixed    the same, but threads bring A and TMA brings B: the members arrive in their own ways
// fused_merge    one full and one empty barrier for both, one wait and one release
// fork           one tile, loaded once, with two readers that release it independently: one adds up
//                the squares of a row, the other the elements; D is the difference
//
//   ts-compile examples/patterns/groups.mlir --arch=sm_90a -o g.ptx
//   ts-run g.ptx --kernel merge --array A=200x96 --array B=200x96 --array D=200x1 \
//     --check 'D = sum(A * B, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!matrix = memref<?x?xf32, strided<[?, 1]>>
!column = memref<?x1xf32>
!sums = memref<128xf32>
!sums_s = memref<128xf32, #ts.smem>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @merge(%A: !map, %B: !map, %D: !column, %rows: index = dim(%A, 0),
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 3)
    %b = ts.resource "smem_b" smem(b: !tile) pipeline(tma_async, stages = 3)
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %dst on %a, %b

    ts.task "load_a" warps(4, 1) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(5, 1) reads(%src, %queue) writes(%b) {
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

    ts.task "dot" warps(0, 4) reads(%a, %b, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %a
          ts.wait %b
          %x = ts.consume %a "tile_a" (%v) -> !tile {
            ts.yield %v : !tile
          }
          %next = ts.consume %b "products" (%y) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %w = memref.load %y[%t, %c] : !tile
              %uw = arith.mulf %u, %w : f32
              %q = arith.addf %p, %uw : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %ab
          ts.yield %next : f32
        }
        ts.produce %dst "store" {
          scf.if %in {
            memref.store %sum, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }

  ts.kernel @merge_mixed(%A: !matrix, %B: !map, %D: !column, %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(9) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(async_async, stages = 3)
    %b = ts.resource "smem_b" smem(b: !tile) pipeline(tma_async, stages = 3)
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %dst on %a, %b

    ts.task "load_a" warps(4, 4) reads(%src, %queue) writes(%a) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %tile = arith.muli %m, %c128 : index
          %r = arith.addi %tile, %t : index
          ts.yield %r : index
        }
        %row_in = arith.cmpi slt, %row, %rows : index
        ts.for %k = %c0 to %tiles_k {
          %first = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.produce %a "copy" (%x) {
            scf.for %c = %c0 to %c32 step %c1 {
              %col = arith.addi %first, %c : index
              %col_in = arith.cmpi slt, %col, %cols : index
              %in = arith.andi %row_in, %col_in : i1
              %v = scf.if %in -> f32 {
                %e = memref.load %A[%row, %col] : !matrix
                scf.yield %e : f32
              } else {
                scf.yield %zero : f32
              }
              memref.store %v, %x[%t, %c] : !tile
            }
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(8, 1) reads(%src, %queue) writes(%b) {
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

    ts.task "dot" warps(0, 4) reads(%a, %b, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %a
          ts.wait %b
          %x = ts.consume %a "tile_a" (%v) -> !tile {
            ts.yield %v : !tile
          }
          %next = ts.consume %b "products" (%y) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %w = memref.load %y[%t, %c] : !tile
              %uw = arith.mulf %u, %w : f32
              %q = arith.addf %p, %uw : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %ab
          ts.yield %next : f32
        }
        ts.produce %dst "store" {
          scf.if %in {
            memref.store %sum, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }

  ts.kernel @fused_merge(%A: !map, %B: !map, %D: !column, %rows: index = dim(%A, 0),
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 3)
    %b = ts.resource "smem_b" smem(b: !tile) pipeline(tma_async, stages = 3)
    %ab = ts.pipeline_group "ab" fused_merge(%a, %b)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %dst on %a, %b

    ts.task "load_a" warps(4, 1) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(5, 1) reads(%src, %queue) writes(%b) {
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

    ts.task "dot" warps(0, 4) reads(%a, %b, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %ab
          %x = ts.consume %a "tile_a" (%v) -> !tile {
            ts.yield %v : !tile
          }
          %next = ts.consume %b "products" (%y) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %w = memref.load %y[%t, %c] : !tile
              %uw = arith.mulf %u, %w : f32
              %q = arith.addf %p, %uw : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %ab
          ts.yield %next : f32
        }
        ts.produce %dst "store" {
          scf.if %in {
            memref.store %sum, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }

  ts.kernel @fork(%A: !map, %D: !column, %rows: index = dim(%A, 0),
                  %tiles_m: index = ceildiv(dim(%A, 0), 128),
                  %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(9) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 3)
    %again = ts.resource "smem_a_again" smem(a: !tile) pipeline(tma_async, stages = 3)
    ts.alias_group "one_tile" (%a, %again) phases [1, 1]
    %both = ts.pipeline_group "both" fork(%a, %again)
    %sums = ts.resource "sums" smem(s: !sums) pipeline(async_async, stages = 1)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %again on %src
    ts.depends %sums on %again
    ts.depends %dst on %a, %sums

    ts.task "load" warps(8, 1) reads(%src, %queue) writes(%a, %again) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.acquire %again
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %both
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(4, 4) reads(%again, %queue) writes(%sums) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %again
          %next = ts.consume %again "add" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %q = arith.addf %p, %u : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %again
          ts.yield %next : f32
        }
        ts.acquire %sums
        ts.produce %sums "hand_over" (%v) {
          memref.store %sum, %v[%t] : !sums_s
        }
        ts.commit %sums
        ts.next_tile %queue
      }
    }

    ts.task "squares" warps(0, 4) reads(%a, %sums, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %a
          %next = ts.consume %a "squares" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %uu = arith.mulf %u, %u : f32
              %q = arith.addf %p, %uu : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %a
          ts.yield %next : f32
        }
        ts.wait %sums
        %other = ts.consume %sums "take_over" (%v) -> f32 {
          %e = memref.load %v[%t] : !sums_s
          ts.yield %e : f32
        }
        ts.release %sums
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        ts.produce %dst "store" {
          scf.if %in {
            %d = arith.subf %sum, %other : f32
            memref.store %d, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
