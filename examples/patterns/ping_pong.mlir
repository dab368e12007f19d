// Ping-pong: one buffer that two tasks take turns to change in place, x := A[i] - x by the one, then
// x := B[i] - x by the other, row after row. The self-edge says so: the resource depends on itself, its
// pipeline has one stage, the producer side reads what the consumer side left there and writes the
// next contents under its acquire, and the consumer side transforms in place under its wait. After
// all rows x is the sum of B - A; without the turns a row would be lost or its sign be wrong.
//
//   ts-compile examples/patterns/ping_pong.mlir --arch=sm_90a -o p.ptx
//   ts-run p.ptx --array A=5x200 --array B=5x200 --array D=1x200 \
//     --check 'D = sum(B, axis=0, keepdims=True) - sum(A, axis=0, keepdims=True)'
!matrix = memref<?x?xf32, strided<[?, 1]>>
!row = memref<128xf32>
!row_s = memref<128xf32, #ts.smem>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @ping_pong(%A: !matrix, %B: !matrix, %D: !matrix,
                       %rows: index = dim(%A, 0), %cols: index = dim(%A, 1),
                       %tiles: index = ceildiv(dim(%A, 1), 128)) warps(8) {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_ab" gmem
    %x = ts.resource "smem_pp" smem(x: !row) pipeline(async_async, stages = 1)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "columns" static over(%tiles)
    ts.depends %x on %x
    ts.depends %x on %src
    ts.depends %dst on %x

    ts.task "even" warps(0, 4) reads(%src, %queue) writes(%x) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%n) {
        %tile = arith.muli %n, %c128 : index
        %col = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %col, %cols : index
        ts.for %i = %c0 to %rows {
          %a = ts.consume %src "row_a" -> f32 {
            %v = scf.if %in -> f32 {
              %e = memref.load %A[%i, %col] : !matrix
              scf.yield %e : f32
            } else {
              scf.yield %zero : f32
            }
            ts.yield %v : f32
          }
          ts.acquire %x
          // The first row finds nothing in the buffer.
          %current = ts.guard first -> f32 {
            ts.yield %zero : f32
          } else {
            %old = ts.consume %x "read_current" (%view) -> f32 {
              %v = memref.load %view[%t] : !row_s
              ts.yield %v : f32
            }
            ts.yield %old : f32
          }
          ts.produce %x "write_next" (%view) {
            %next = arith.subf %a, %current : f32
            memref.store %next, %view[%t] : !row_s
          }
          ts.commit %x
        }
        ts.next_tile %queue
      }
    }

    ts.task "odd" warps(4, 4) reads(%src, %x, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%n) {
        %tile = arith.muli %n, %c128 : index
        %col = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %col, %cols : index
        %sum = ts.for %i = %c0 to %rows iter(%before = %zero : f32) {
          %b = ts.consume %src "row_b" -> f32 {
            %v = scf.if %in -> f32 {
              %e = memref.load %B[%i, %col] : !matrix
              scf.yield %e : f32
            } else {
              scf.yield %zero : f32
            }
            ts.yield %v : f32
          }
          ts.wait %x
          %y = ts.consume %x "transform_inplace" (%view) -> f32 {
            %v = memref.load %view[%t] : !row_s
            %next = arith.subf %b, %v : f32
            memref.store %next, %view[%t] : !row_s
            ts.yield %next : f32
          }
          ts.release %x
          ts.yield %y : f32
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
}
