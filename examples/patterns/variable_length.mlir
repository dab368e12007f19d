// A dynamic domain per tile: D[s] = sum of the rows offsets[s] .. offsets[s + 1] - 1 of A, sequences
// packed without padding. A tile is one sequence and 32 columns; how many steps of 64 rows it has is
// read on the device, once per tile, and may be zero. Every task counts the same steps, so the ring
// goes on where the last sequence left it. Rows of the next sequence in a last step are not added.
//
//   ts-compile examples/patterns/variable_length.mlir --arch=sm_90a -o v.ptx
//   ts-run v.ptx --array A=200x64 --array D=3x64 --array 'offsets=values(0, 70, 70, 200)' --check ...
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
!matrix = memref<?x?xf32>

gpu.module @varlen attributes {ts.chip = "sm_90a"} {
  ts.kernel @variable_length(%A: !map, %D: !matrix, %offsets: memref<?xi32>,
                             %sequences: index = dim(%D, 0), %cols: index = dim(%D, 1),
                             %tiles_n: index = ceildiv(dim(%D, 1), 32)) warps(2) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_a" gmem
    %part = ts.resource "smem_part" smem(x: !tile) pipeline(tma_async, stages = 3)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%sequences, %tiles_n)
    ts.depends %part on %src
    ts.depends %dst on %part

    ts.task "load" warps(1, 1) reads(%src, %queue) writes(%part) {
      ts.tile_loop %queue (%s, %n) {
        %begin, %steps, %col = ts.consume %src "domain" -> index, index, index {
          %next = arith.addi %s, %c1 : index
          %from = memref.load %offsets[%s] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %first = arith.index_cast %from : i32 to index
          %length = arith.subi %to, %from : i32
          %rows = arith.index_cast %length : i32 to index
          %blocks = arith.ceildivsi %rows, %c64 : index
          %c = arith.muli %n, %c32 : index
          ts.yield %first, %blocks, %c : index, index, index
        }
        ts.for %k = %c0 to %steps {
          %down = arith.muli %k, %c64 : index
          %row = arith.addi %begin, %down : index
          ts.acquire %part
          ts.produce %part "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %part
        }
        ts.next_tile %queue
      }
    }

    ts.task "sum" warps(0, 1) reads(%src, %part, %queue) writes(%dst) {
      %lane = ts.info lane : index
      ts.tile_loop %queue (%s, %n) {
        %rows, %steps = ts.consume %src "domain" -> index, index {
          %next = arith.addi %s, %c1 : index
          %from = memref.load %offsets[%s] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %length = arith.subi %to, %from : i32
          %r = arith.index_cast %length : i32 to index
          %blocks = arith.ceildivsi %r, %c64 : index
          ts.yield %r, %blocks : index, index
        }
        %sum = ts.for %k = %c0 to %steps iter(%a = %zero : f32) {
          ts.wait %part
          %new = ts.consume %part "add" (%x) -> f32 {
            %down = arith.muli %k, %c64 : index
            %rest = arith.subi %rows, %down : index
            %least = arith.minsi %rest, %c64 : index
            %r = scf.for %i = %c0 to %least step %c1 iter_args(%b = %a) -> f32 {
              %v = memref.load %x[%i, %lane] : !tile
              %c = arith.addf %b, %v : f32
              scf.yield %c : f32
            }
            ts.yield %r : f32
          }
          ts.release %part
          ts.yield %new : f32
        }
        ts.produce %dst "store" {
          %col0 = arith.muli %n, %c32 : index
          %col = arith.addi %col0, %lane : index
          %in = arith.cmpi slt, %col, %cols : index
          scf.if %in {
            memref.store %sum, %D[%s, %col] : !matrix
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
