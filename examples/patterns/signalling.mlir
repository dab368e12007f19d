// Who signals: two warps fill one stage, each with its half. By default (All) each of them arms the
// barrier for the bytes of its own copies; with task_warp_leader the first warp arms for both, and the
// bytes that one warp brings are declared, so that the sum is checked. Both kernels compute the sums
// of the rows of A. The CTA leader's part is signalling_sm100.mlir.
//
//   ts-compile examples/patterns/signalling.mlir --arch=sm_90a -o s.ptx
//   ts-run s.ptx --kernel signal_all --array A=200x96 --array D=200x1 --check 'D = sum(A, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!half = memref<64x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
!column = memref<?x1xf32>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @signal_all(%A: !map, %D: !column, %rows: index = dim(%A, 0),
                        %tiles_m: index = ceildiv(dim(%A, 0), 128),
                        %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 3)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %dst on %a

    ts.task "load" warps(4, 2) reads(%src, %queue) writes(%a) {
      %w = ts.info warp : index
      %first = arith.muli %w, %c64 : index
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %tile = arith.muli %m, %c128 : index
          %r = arith.addi %tile, %first : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.produce %a "load_half" (%x) {
            %h = memref.subview %x[%first, 0] [64, 32] [1, 1] : !tile to !half
            ts.tma_load %A[%row, %col] to %h : !map, !half
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 4) reads(%a, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %a
          %next = ts.consume %a "row_sum" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %q = arith.addf %p, %u : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %a
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

  ts.kernel @signal_warp_leader(%A: !map, %D: !column, %rows: index = dim(%A, 0),
                        %tiles_m: index = ceildiv(dim(%A, 0), 128),
                        %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %a = ts.resource "smem_a" smem(a: !tile)
        pipeline(tma_async, stages = 3, producer_signal = task_warp_leader, bytes_per_warp_per_cta = 8192)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %dst on %a

    ts.task "load" warps(4, 2) reads(%src, %queue) writes(%a) {
      %w = ts.info warp : index
      %first = arith.muli %w, %c64 : index
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %tile = arith.muli %m, %c128 : index
          %r = arith.addi %tile, %first : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.produce %a "load_half" (%x) {
            %h = memref.subview %x[%first, 0] [64, 32] [1, 1] : !tile to !half
            ts.tma_load %A[%row, %col] to %h : !map, !half
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 4) reads(%a, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %a
          %next = ts.consume %a "row_sum" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %q = arith.addf %p, %u : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %a
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
}
