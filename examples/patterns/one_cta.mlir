// Tasks on one CTA of a cluster: CTA 0 adds up the rows of A, CTA 1 those of B, which may have another
// number of columns. CTA 1 stores its sums into CTA 0's shared memory, the cluster meets, and CTA 0
// subtracts and writes D. A second meeting keeps the next tile's sums from overtaking the reader.
//
//   ts-compile examples/patterns/one_cta.mlir --arch=sm_90a -o o.ptx
//   ts-run o.ptx --array A=200x96 --array B=200x36 --array D=200x1 \
//     --check 'D = sum(A, axis=1, keepdims=True) - sum(B, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!column = memref<?x1xf32>
!sums = memref<128xf32>
!sums_s = memref<128xf32, #ts.smem>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_cta(%A: !map, %B: !map, %D: !column, %rows: index = dim(%A, 0),
                     %tiles_m: index = ceildiv(dim(%A, 0), 128),
                     %tiles_a: index = ceildiv(dim(%A, 1), 32),
                     %tiles_b: index = ceildiv(dim(%B, 1), 32)) warps(10) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    %src = ts.resource "gmem_ab" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 2)
    %b = ts.resource "smem_b" smem(b: !tile) pipeline(tma_async, stages = 2)
    %hand = ts.resource "handed_over" smem(s: !sums)
    %dst = ts.resource "gmem_d" gmem
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.depends %hand on %b
    ts.depends %dst on %a, %hand

    ts.task "load_a" warps(8, 1) only_cta(0) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_a {
          %col = arith.muli %k, %c32 : index
          ts.acquire %a
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %a
        }
        ts.cluster_sync
        ts.cluster_sync
        ts.next_tile %queue
      }
    }

    ts.task "load_b" warps(9, 1) only_cta(1) reads(%src, %queue) writes(%b) {
      ts.tile_loop %queue (%m) {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.for %k = %c0 to %tiles_b {
          %col = arith.muli %k, %c32 : index
          ts.acquire %b
          ts.produce %b "load" (%x) {
            ts.tma_load %B[%row, %col] to %x : !map, !tile
          }
          ts.commit %b
        }
        ts.cluster_sync
        ts.cluster_sync
        ts.next_tile %queue
      }
    }

    ts.task "add_b" warps(4, 4) only_cta(1) reads(%b, %queue) writes(%hand) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_b iter(%s = %zero : f32) {
          ts.wait %b
          %next = ts.consume %b "row_sum" (%x) -> f32 {
            %r = scf.for %c = %c0 to %c32 step %c1 iter_args(%p = %s) -> f32 {
              %u = memref.load %x[%t, %c] : !tile
              %q = arith.addf %p, %u : f32
              scf.yield %q : f32
            }
            ts.yield %r : f32
          }
          ts.release %b
          ts.yield %next : f32
        }
        ts.produce %hand "hand_over" (%s) {
          ts.dsmem_store %sum to %s[%t] cta(%c0) : f32, !sums_s
        }
        ts.cluster_sync
        ts.cluster_sync
        ts.next_tile %queue
      }
    }

    ts.task "add_a" warps(0, 4) only_cta(0) reads(%a, %hand, %queue) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%m) {
        %sum = ts.for %k = %c0 to %tiles_a iter(%s = %zero : f32) {
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
        ts.cluster_sync
        %other = ts.consume %hand "take_over" (%s) -> f32 {
          %v = memref.load %s[%t] : !sums_s
          ts.yield %v : f32
        }
        ts.cluster_sync
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
