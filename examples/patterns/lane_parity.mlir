// Lanes whose parity flips between tiles: D[m] += A[m] for the rows of sequences packed without
// padding. Two sibling tasks share one ring: lane 0 takes its even slots, lane 1 the odd ones, so that
// each takes every other step of 64 rows of a sequence. Slots go on over the tiles, so after a sequence
// with an odd number of steps the lanes change places: each carries over the tiles with which step it
// begins. The number of steps is read on the device and may be zero or one.
//
//   ts-compile examples/patterns/lane_parity.mlir --arch=sm_90a -o p.ptx
//   ts-run p.ptx --array A=200x64 --array D=200x64 --array 'offsets=values(0, 70, 70, 200)' --check 'D = D + A'
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
!matrix = memref<?x?xf32>

gpu.module @lanes attributes {ts.chip = "sm_90a"} {
  ts.kernel @lane_parity(%A: !map, %D: !matrix, %offsets: memref<?xi32>,
                         %sequences: index = dim(%offsets, 0) - 1, %cols: index = dim(%D, 1),
                         %tiles_n: index = ceildiv(dim(%D, 1), 32)) warps(3) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index

    %src = ts.resource "gmem_a" gmem
    %part = ts.resource "smem_part" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = (1, 1, 2, 2))
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "tiles" static over(%sequences, %tiles_n)
    ts.depends %part on %src
    ts.depends %dst on %part

    ts.task "load" warps(2, 1) reads(%src, %queue) writes(%part) {
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

    ts.task "add" warps(0, 2) replicas(2) (%which) reads(%src, %part, %queue) writes(%dst) {
      %lane = ts.info lane : index
      ts.tile_loop %queue (%s, %n) iter(%start = %which : index) {
        %begin, %end, %steps = ts.consume %src "domain" -> index, index, index {
          %next = arith.addi %s, %c1 : index
          %from = memref.load %offsets[%s] : memref<?xi32>
          %to = memref.load %offsets[%next] : memref<?xi32>
          %first = arith.index_cast %from : i32 to index
          %last = arith.index_cast %to : i32 to index
          %length = arith.subi %to, %from : i32
          %rows = arith.index_cast %length : i32 to index
          %blocks = arith.ceildivsi %rows, %c64 : index
          ts.yield %first, %last, %blocks : index, index, index
        }
        ts.for %k = %start to %steps step %c2 {
          ts.wait %part
          %x = ts.consume %part "rows" (%view) -> !tile {
            ts.yield %view : !tile
          }
          ts.produce %dst "add" {
            %col0 = arith.muli %n, %c32 : index
            %col = arith.addi %col0, %lane : index
            %in = arith.cmpi slt, %col, %cols : index
            %down = arith.muli %k, %c64 : index
            %row0 = arith.addi %begin, %down : index
            %rest = arith.subi %end, %row0 : index
            %least = arith.minsi %rest, %c64 : index
            scf.if %in {
              scf.for %i = %c0 to %least step %c1 {
                %row = arith.addi %row0, %i : index
                %v = memref.load %x[%i, %lane] : !tile
                %old = memref.load %D[%row, %col] : !matrix
                %new = arith.addf %old, %v : f32
                memref.store %new, %D[%row, %col] : !matrix
              }
            }
          }
          ts.release %part
        }
        // The lane that would come next begins the next tile.
        %sum = arith.addi %start, %steps : index
        %other = arith.remui %sum, %c2 : index
        ts.next_tile %queue
        ts.yield %other : index
      }
    }
  }
}
