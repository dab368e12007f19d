// Order without data. Both kernels work on columns of 128, one thread per column.
//
// credit   One row of squares stands in memory that no pipeline guards. Two resources are barriers
//          only: "full" says that a row is there, "credit" that it may be written; the writer takes one
//          before each row. The reader's threads read what other threads wrote, and add
//          up: D is the sum of A * A over the rows.
// baton    Two replicas of one task change a row in turn, x := A[i] - x and x := B[i] - x. A baton keeps
//          the order; the loads of the next row are outside. D is the sum of B minus that of A.
//
//   ts-compile examples/patterns/sync_resources.mlir --arch=sm_90a -o s.ptx
//   ts-run s.ptx --kernel credit --array A=7x200 --array D=1x200 --check 'D = sum(A * A, axis=0, keepdims=True)'
!matrix = memref<?x?xf32, strided<[?, 1]>>
!row = memref<128xf32>
!row_s = memref<128xf32, #ts.smem>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @credit(%A: !matrix, %D: !matrix, %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
                    %tiles: index = ceildiv(dim(%A, 1), 128)) warps(8) {
    %c0 = arith.constant 0 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %x = ts.resource "row" smem(x: !row)
    %full = ts.resource "full" barrier pipeline(async_async, stages = 1)
    %credit = ts.resource "credit" barrier pipeline(async_async, stages = 1)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "columns" static over(%tiles)
    ts.depends %x on %src
    ts.depends %x on %credit ordering
    ts.depends %full on %src
    ts.depends %dst on %full, %x

    ts.task "square" warps(0, 4) reads(%src, %credit, %queue) writes(%x, %full) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%n) {
        %tile = arith.muli %n, %c128 : index
        %col = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %col, %cols : index
        ts.for %i = %c0 to %rows {
          %a = ts.consume %src "element" -> f32 {
            %v = scf.if %in -> f32 {
              %e = memref.load %A[%i, %col] : !matrix
              scf.yield %e : f32
            } else {
              scf.yield %zero : f32
            }
            ts.yield %v : f32
          }
          ts.wait %credit
          ts.release %credit
          ts.produce %x "square" (%view) {
            %aa = arith.mulf %a, %a : f32
            memref.store %aa, %view[%t] : !row_s
          }
          ts.acquire %full
          ts.commit %full
        }
        ts.next_tile %queue
      }
    }

    // One credit at the start of a tile, one after each row but the last.
    ts.task "add" warps(4, 4) reads(%full, %x, %queue) writes(%credit, %dst) {
      %t = ts.info thread : index
      %mirror = arith.subi %c127, %t : index
      %some = arith.cmpi sgt, %rows, %c0 : index
      ts.tile_loop %queue (%n) {
        %tile = arith.muli %n, %c128 : index
        %col = arith.addi %tile, %mirror : index
        %in = arith.cmpi slt, %col, %cols : index
        ts.when %some is true {
          ts.acquire %credit
          ts.commit %credit
        }
        %sum = ts.for %i = %c0 to %rows iter(%s = %zero : f32) {
          ts.wait %full
          %next = ts.consume %x "add" (%view) -> f32 {
            %v = memref.load %view[%mirror] : !row_s
            %r = arith.addf %s, %v : f32
            ts.yield %r : f32
          }
          ts.release %full
          ts.guard not_last {
            ts.acquire %credit
            ts.commit %credit
          }
          ts.yield %next : f32
        }
        ts.produce %dst "store" {
          scf.if %in {
            memref.store %sum, %D[%c0, %col] : !matrix
          }
        }
        ts.next_tile %queue
      }
    }
  }

  ts.kernel @baton(%A: !matrix, %B: !matrix, %D: !matrix, %rows: index = dim(%A, 0),
                   %cols: index = dim(%A, 1), %tiles: index = ceildiv(dim(%A, 1), 128)) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_ab" gmem
    %x = ts.resource "row" smem(x: !row)
    %dst = ts.resource "gmem_d" gmem
    %turn = ts.baton "turn" holders(2) first(0)
    %queue = ts.work_queue "columns" static over(%tiles)
    ts.depends %x on %src
    ts.depends %dst on %x

    ts.task "subtract" warps(0, 8) replicas(2) (%who) reads(%src, %x, %queue) writes(%x, %dst) {
      %t = ts.info thread : index
      %first = arith.cmpi eq, %who, %c0 : index
      // The replicas see the columns mirrored, so that each reads what other threads wrote.
      %mirror = arith.subi %c127, %t : index
      %mine = arith.select %first, %t, %mirror : index
      ts.tile_loop %queue (%n) {
        %tile = arith.muli %n, %c128 : index
        %col = arith.addi %tile, %mine : index
        %in = arith.cmpi slt, %col, %cols : index
        %last = ts.for %i = %c0 to %rows iter(%before = %zero : f32) {
          %e = ts.consume %src "element" -> f32 {
            %v = scf.if %in -> f32 {
              %w = scf.if %first -> f32 {
                %a = memref.load %A[%i, %col] : !matrix
                scf.yield %a : f32
              } else {
                %b = memref.load %B[%i, %col] : !matrix
                scf.yield %b : f32
              }
              scf.yield %w : f32
            } else {
              scf.yield %zero : f32
            }
            ts.yield %v : f32
          }
          ts.take %turn
          %old = ts.consume %x "current" (%view) -> f32 {
            // The very first turn finds nothing.
            %start = arith.cmpi eq, %i, %c0 : index
            %nothing = arith.andi %first, %start : i1
            %v = scf.if %nothing -> f32 {
              scf.yield %zero : f32
            } else {
              %u = memref.load %view[%mine] : !row_s
              scf.yield %u : f32
            }
            ts.yield %v : f32
          }
          %next = arith.subf %e, %old : f32
          ts.produce %x "next" (%view) {
            memref.store %next, %view[%mine] : !row_s
          }
          ts.pass %turn
          ts.yield %next : f32
        }
        ts.produce %dst "store" {
          %second = arith.cmpi ne, %who, %c0 : index
          %writes = arith.andi %in, %second : i1
          scf.if %writes {
            memref.store %last, %D[%c0, %col] : !matrix
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
