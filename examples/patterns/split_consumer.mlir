// Split consumer: who waits for a buffer is not who releases it. A light task waits for the tiles of A
// and B and signals one proxy barrier; the task with the work waits for the proxy alone, reads both
// tiles and releases them. The graph makes it safe: the proxy depends on both buffers, so its wait
// says that they are full. The light task only waits, and moves on to its next stage at the wait.
// D is the sum of A * B over each row, 32 columns at a time, by one thread per row.
//
//   ts-compile examples/patterns/split_consumer.mlir --arch=sm_90a -o s.ptx
//   ts-run s.ptx --array A=200x96 --array B=200x96 --array D=200x1 --check 'D = sum(A * B, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!column = memref<?x1xf32>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @split_consumer(%A: !map, %B: !map, %D: !column, %rows: index = dim(%A, 0),
                            %tiles_m: index = ceildiv(dim(%A, 0), 128),
                            %tiles_k: index = ceildiv(dim(%A, 1), 32)) warps(7) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 3)
    %b = ts.resource "smem_b" smem(b: !tile) pipeline(tma_async, stages = 3)
    %proxy = ts.resource "proxy" barrier pipeline(async_async, stages = 3)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %proxy on %a, %b
    ts.depends %dst on %proxy

    ts.task "load_a" warps(4, 1) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row_a" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.produce %a "load_a" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(5, 1) reads(%src, %queue) writes(%b) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row_b" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_k {
          %col = arith.muli %k, %c32 : index
          ts.acquire %b
          ts.produce %b "load_b" (%x) {
            ts.tma_load %B[%row, %col] to %x : !map, !tile
          }
          ts.commit %b
        }
        ts.next_tile %queue
      }
    }

    ts.task "sync" warps(6, 1) reads(%a, %b, %queue) writes(%proxy) {
      ts.tile_loop %queue (%m) {
        ts.for %k = %c0 to %tiles_k {
          ts.wait %a
          ts.wait %b
          ts.acquire %proxy
          ts.produce %proxy "signal_ready" {
          }
          ts.commit %proxy
        }
        ts.next_tile %queue
      }
    }

    ts.task "dot" warps(0, 4) reads(%proxy, %a, %b, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %t : index
        %in = arith.cmpi slt, %row, %rows : index
        %sum = ts.for %k = %c0 to %tiles_k iter(%s = %zero : f32) {
          ts.wait %proxy
          // No wait of their own: the proxy speaks for them.
          %x = ts.consume %a "tile_a" (%v) -> !tile {
            ts.yield %v : !tile
          }
          %y = ts.consume %b "tile_b" (%v) -> !tile {
            ts.yield %v : !tile
          }
          %next = ts.consume %proxy "products" -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %w = memref.load %y[%t, %c] : !tile
              %uw = arith.mulf %u, %w : f32
              %q = arith.addf %p, %uw : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %a
          ts.release %b
          ts.release %proxy
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
