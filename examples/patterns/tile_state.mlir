// State of a tile, state that outlives tiles, and several work methods on one stage.
//
// carried   One CTA walks over tiles of 64 rows. The rows that a tile has are state of the tile; the sums of
//           the columns are carried from tile to tile in registers, and written once at the end. Rows
//           that do not exist count nothing: D is the sum over the rows of A + 1.
// methods   Three named methods read each stage: squares, sum, positive. Each weighs by a constant of the
//           compilation, the number of its call. The copies fill the tile of a stage, the methods also use a
//           note beside it. D is the sum of A * A + 2 A + 3 relu(A) over each row.
//
//   ts-compile examples/patterns/tile_state.mlir --arch=sm_90a -o t.ptx
//   ts-run t.ptx --kernel carried --array A=200x96 --array D=1x96 --check 'D = sum(A + 1, axis=0, keepdims=True)'
!rows_map = !ts.tensor_map<?x?xf32, box = 64x128>
!rows_tile = memref<64x128xf32>
!rows_view = memref<64x128xf32, #ts.smem>
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!matrix = memref<?x?xf32, strided<[?, 1]>>
!column = memref<?x1xf32>
!note = memref<128xf32>
!note_s = memref<128xf32, #ts.smem>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @carried(%A: !rows_map, %D: !matrix, %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
                     %tiles_m: index = ceildiv(dim(%A, 0), 64)) warps(5) grid(1, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32

    %src = ts.resource "gmem_a" gmem
    %a = ts.resource "smem_a" smem(a: !rows_tile) pipeline(tma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %dst on %a

    ts.task "load" warps(4, 1) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c64 : index
          ts.yield %r : index
        }
        ts.acquire %a
        ts.produce %a "load" (%x) {
          ts.tma_load %A[%row, %c0] to %x : !rows_map, !rows_view
        }
        ts.commit %a
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 4) reads(%a, %queue) writes(%dst) {
      %t = ts.info thread : index
      %sum = ts.tile_loop %queue (%m) iter(%s = %zero : f32) {
        %valid = ts.consume %a "begin_tile" aux -> index {
          %first = arith.muli %m, %c64 : index
          %left = arith.subi %rows, %first : index
          %most = arith.minsi %left, %c64 : index
          ts.yield %most : index
        }
        ts.wait %a
        %next = ts.consume %a "columns" (%x) -> f32 {
          %r = scf.for %i = %c0 to %valid step %c1 iter_args(%p = %s) -> f32 {
            %u = memref.load %x[%i, %t] : !rows_view
            %v = arith.addf %u, %one : f32
            %q = arith.addf %p, %v : f32
            scf.yield %q : f32
          }
          ts.yield %r : f32
        }
        ts.release %a
        ts.next_tile %queue
        ts.yield %next : f32
      }
      ts.produce %dst "store" {
        %in = arith.cmpi slt, %t, %cols : index
        scf.if %in {
          memref.store %sum, %D[%c0, %t] : !matrix
        }
      }
    }
  }

  ts.kernel @methods(%A: !map, %D: !column, %rows: index = dim(%A, 0),
                     %tiles_m: index = ceildiv(dim(%A, 0), 128),
                     %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(5) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %i3 = arith.constant 3 : i32
    %i8 = arith.constant 8 : i32
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %a = ts.resource "smem_a" smem(a: !tile, note: !note) pipeline(tma_async, stages = 3)
        producer_uses(a) consumer_uses(a, note)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %dst on %a

    ts.task "load" warps(4, 1) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          ts.acquire %a
          ts.produce %a "load" (%x, %note) {
            %step = ts.info loop_offset : index
            %col = arith.muli %step, %c32 : index
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 4) reads(%a, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %a
          // Leaves its sum in a note beside the tile, for the last method. That its stage and barrier are
          // what they should be is part of the sum.
          ts.consume %a "squares" (%x, %note) {
            %call = ts.info call_index : i32
            %number = arith.addi %call, %i1 : i32
            %stage = ts.info stage : i32
            %barrier = ts.info barrier : i32
            %base = ts.info smem_base : i32
            %offset = arith.subi %barrier, %base : i32
            %rest = arith.remui %offset, %i8 : i32
            %aligned = arith.cmpi eq, %rest, %i0 : i32
            %inside = arith.cmpi ult, %stage, %i3 : i32
            %right = arith.andi %aligned, %inside : i1
            %times = arith.select %right, %number, %i0 : i32
            %weight = arith.sitofp %times : i32 to f32
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %zero) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %v = arith.mulf %u, %u : f32
              %y = arith.mulf %v, %weight : f32
              %q = arith.addf %p, %y : f32
              scf.yield %q : f32
            }
            memref.store %r, %note[%t] : !note_s
          }
          %plain = ts.consume %a "sum" (%x, %note) -> f32 {
            %call = ts.info call_index : i32
            %number = arith.addi %call, %i1 : i32
            %weight = arith.sitofp %number : i32 to f32
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %v = arith.addf %u, %zero : f32
              %y = arith.mulf %v, %weight : f32
              %q = arith.addf %p, %y : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          %all = ts.consume %a "positive" (%x, %note) -> f32 {
            %call = ts.info call_index : i32
            %number = arith.addi %call, %i1 : i32
            %weight = arith.sitofp %number : i32 to f32
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %plain) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %v = arith.maximumf %u, %zero : f32
              %y = arith.mulf %v, %weight : f32
              %q = arith.addf %p, %y : f32
              scf.yield %q : f32
            }
            %noted = memref.load %note[%t] : !note_s
            %sum = arith.addf %r, %noted : f32
            ts.yield %sum : f32
          }
          ts.release %a
          ts.yield %all : f32
        }
        ts.produce %dst "store" {
          %first = arith.muli %m, %c128 : index
          %row = arith.addi %first, %t : index
          %in = arith.cmpi slt, %row, %rows : index
          scf.if %in {
            memref.store %sum, %D[%row, %c0] : !column
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
