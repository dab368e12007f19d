// Raster orders of a queue: which tile a work id stands for. D = 2 A on tiles of 16 x 32 elements, and
// T[m, n] = how many tiles the CTA had before tile (m, n). The counts are written slowest first, so
// over(m, n) walks along n, over(n, m) along m; group(4) walks column by column through four rows at a
// time (neighbouring CTAs share operands in the cache), and a third count makes planes of a batch.
//
//   ts-compile examples/patterns/raster_orders.mlir --arch=sm_90a -o r.ptx
//   ts-run r.ptx --kernel along_m --sms 1 --array A=40x100 --array D=40x100 --array T=3x4 --check 'D = 2 * A'
!matrix = memref<?x?xf32>
!order = memref<?x?xf32>
!batch = memref<?x?x?xf32>
!orders = memref<?x?x?xf32>

gpu.module @raster attributes {ts.chip = "sm_90a"} {
  ts.kernel @along_n(%A: !matrix, %D: !matrix, %T: !order,
              %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
              %tiles_m: index = ceildiv(dim(%A, 0), 16),
              %tiles_n: index = ceildiv(dim(%A, 1), 32)) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %src = ts.resource "gmem_a" gmem
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    ts.depends %dst on %src

    ts.task "scale" warps(0, 2) reads(%src, %queue) writes(%dst) {
      %thread = ts.info thread : index
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c8 : index
      ts.tile_loop %queue (%m, %n) iter(%before = %c0 : index) {
        %row0, %col = ts.consume %src "coords" -> index, index {
          %t = arith.muli %m, %c16 : index
          %r = arith.addi %t, %row_warp : index
          %c = arith.muli %n, %c32 : index
          %x = arith.addi %c, %lane : index
          ts.yield %r, %x : index, index
        }
        ts.produce %dst "scale" {
          scf.for %i = %c0 to %c8 step %c1 {
            %row = arith.addi %row0, %i : index
            %row_in = arith.cmpi slt, %row, %rows : index
            %col_in = arith.cmpi slt, %col, %cols : index
            %in = arith.andi %row_in, %col_in : i1
            scf.if %in {
              %v = memref.load %A[%row, %col] : !matrix
              %w = arith.addf %v, %v : f32
              memref.store %w, %D[%row, %col] : !matrix
            }
          }
          %first = arith.cmpi eq, %thread, %c0 : index
          scf.if %first {
            %b = arith.index_cast %before : index to i32
            %t = arith.sitofp %b : i32 to f32
            memref.store %t, %T[%m, %n] : !order
          }
        }
        %next = arith.addi %before, %c1 : index
        ts.next_tile %queue
        ts.yield %next : index
      }
    }
  }

  ts.kernel @along_m(%A: !matrix, %D: !matrix, %T: !order,
              %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
              %tiles_m: index = ceildiv(dim(%A, 0), 16),
              %tiles_n: index = ceildiv(dim(%A, 1), 32)) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %src = ts.resource "gmem_a" gmem
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%tiles_n, %tiles_m)
    ts.depends %dst on %src

    ts.task "scale" warps(0, 2) reads(%src, %queue) writes(%dst) {
      %thread = ts.info thread : index
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c8 : index
      ts.tile_loop %queue (%n, %m) iter(%before = %c0 : index) {
        %row0, %col = ts.consume %src "coords" -> index, index {
          %t = arith.muli %m, %c16 : index
          %r = arith.addi %t, %row_warp : index
          %c = arith.muli %n, %c32 : index
          %x = arith.addi %c, %lane : index
          ts.yield %r, %x : index, index
        }
        ts.produce %dst "scale" {
          scf.for %i = %c0 to %c8 step %c1 {
            %row = arith.addi %row0, %i : index
            %row_in = arith.cmpi slt, %row, %rows : index
            %col_in = arith.cmpi slt, %col, %cols : index
            %in = arith.andi %row_in, %col_in : i1
            scf.if %in {
              %v = memref.load %A[%row, %col] : !matrix
              %w = arith.addf %v, %v : f32
              memref.store %w, %D[%row, %col] : !matrix
            }
          }
          %first = arith.cmpi eq, %thread, %c0 : index
          scf.if %first {
            %b = arith.index_cast %before : index to i32
            %t = arith.sitofp %b : i32 to f32
            memref.store %t, %T[%m, %n] : !order
          }
        }
        %next = arith.addi %before, %c1 : index
        ts.next_tile %queue
        ts.yield %next : index
      }
    }
  }

  ts.kernel @grouped(%A: !matrix, %D: !matrix, %T: !order,
              %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
              %tiles_m: index = ceildiv(dim(%A, 0), 16),
              %tiles_n: index = ceildiv(dim(%A, 1), 32)) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %src = ts.resource "gmem_a" gmem
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%tiles_m, %tiles_n) group(4)
    ts.depends %dst on %src

    ts.task "scale" warps(0, 2) reads(%src, %queue) writes(%dst) {
      %thread = ts.info thread : index
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c8 : index
      ts.tile_loop %queue (%m, %n) iter(%before = %c0 : index) {
        %row0, %col = ts.consume %src "coords" -> index, index {
          %t = arith.muli %m, %c16 : index
          %r = arith.addi %t, %row_warp : index
          %c = arith.muli %n, %c32 : index
          %x = arith.addi %c, %lane : index
          ts.yield %r, %x : index, index
        }
        ts.produce %dst "scale" {
          scf.for %i = %c0 to %c8 step %c1 {
            %row = arith.addi %row0, %i : index
            %row_in = arith.cmpi slt, %row, %rows : index
            %col_in = arith.cmpi slt, %col, %cols : index
            %in = arith.andi %row_in, %col_in : i1
            scf.if %in {
              %v = memref.load %A[%row, %col] : !matrix
              %w = arith.addf %v, %v : f32
              memref.store %w, %D[%row, %col] : !matrix
            }
          }
          %first = arith.cmpi eq, %thread, %c0 : index
          scf.if %first {
            %b = arith.index_cast %before : index to i32
            %t = arith.sitofp %b : i32 to f32
            memref.store %t, %T[%m, %n] : !order
          }
        }
        %next = arith.addi %before, %c1 : index
        ts.next_tile %queue
        ts.yield %next : index
      }
    }
  }

  ts.kernel @planes(%A: !batch, %D: !batch, %T: !orders,
              %batches: index = dim(%A, 0),
              %rows: index = dim(%A, 1), %cols: index = dim(%A, 2),
              %tiles_m: index = ceildiv(dim(%A, 1), 16),
              %tiles_n: index = ceildiv(dim(%A, 2), 32)) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %src = ts.resource "gmem_a" gmem
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%batches, %tiles_m, %tiles_n) group(2)
    ts.depends %dst on %src

    ts.task "scale" warps(0, 2) reads(%src, %queue) writes(%dst) {
      %thread = ts.info thread : index
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c8 : index
      ts.tile_loop %queue (%l, %m, %n) iter(%before = %c0 : index) {
        %row0, %col = ts.consume %src "coords" -> index, index {
          %t = arith.muli %m, %c16 : index
          %r = arith.addi %t, %row_warp : index
          %c = arith.muli %n, %c32 : index
          %x = arith.addi %c, %lane : index
          ts.yield %r, %x : index, index
        }
        ts.produce %dst "scale" {
          scf.for %i = %c0 to %c8 step %c1 {
            %row = arith.addi %row0, %i : index
            %row_in = arith.cmpi slt, %row, %rows : index
            %col_in = arith.cmpi slt, %col, %cols : index
            %in = arith.andi %row_in, %col_in : i1
            scf.if %in {
              %v = memref.load %A[%l, %row, %col] : !batch
              %w = arith.addf %v, %v : f32
              memref.store %w, %D[%l, %row, %col] : !batch
            }
          }
          %first = arith.cmpi eq, %thread, %c0 : index
          scf.if %first {
            %b = arith.index_cast %before : index to i32
            %t = arith.sitofp %b : i32 to f32
            memref.store %t, %T[%l, %m, %n] : !orders
          }
        }
        %next = arith.addi %before, %c1 : index
        ts.next_tile %queue
        ts.yield %next : index
      }
    }
  }
}
