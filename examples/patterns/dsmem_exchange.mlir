// Partial sums exchanged through distributed shared memory (split-K reduce-scatter): a cluster of four
// CTAs works on 128 rows, each CTA adds up every fourth tile of columns. Every CTA leaves its partial
// sums in its own shared memory; when all CTAs are past that ("written" has an arrival of each warp of
// the cluster, in every CTA), each adds up the four partial sums of its 32 rows and stores them. When all
// are past that ("read"), the memory may be written for the next tile, or the CTA may exit.
//
//   ts-compile examples/patterns/dsmem_exchange.mlir --arch=sm_90a -o d.ptx
//   ts-run d.ptx --array A=200x300 --array D=200x1 --check 'D = sum(A, axis=1, keepdims=True)'
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!column = memref<?x1xf32>
!sums = memref<128xf32>
!sums_s = memref<128xf32, #ts.smem>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @reduce_scatter(%A: !map, %D: !column, %rows: index = dim(%A, 0),
                            %tiles_m: index = ceildiv(dim(%A, 0), 128),
                            %steps: index = ceildiv(ceildiv(dim(%A, 1), 32), 4)) warps(5) cluster(4, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %even = arith.constant 0 : i32
    %one = arith.constant 1 : i32

    %src = ts.resource "gmem_a" gmem
    %a = ts.resource "smem_a" smem(a: !tile) pipeline(tma_async, stages = 2, mcast = (0, 0))
    %part = ts.resource "partial" smem(s: !sums)
    %dst = ts.resource "gmem_d" gmem
    %written = ts.mbarrier "written" count(16)
    %read = ts.mbarrier "read" count(16)
    %queue = ts.work_queue "rows" static over(%tiles_m)
    ts.depends %a on %src
    ts.depends %part on %a
    ts.depends %dst on %part

    ts.task "load" warps(4, 1) reads(%src, %queue) writes(%a) {
      ts.tile_loop %queue (%m) {
        %row, %first = ts.consume %src "coords" -> index, index {
          %r = arith.muli %m, %c128 : index
          %rank = ts.info cta_rank : index
          %c = arith.muli %rank, %c32 : index
          ts.yield %r, %c : index, index
        }
        ts.for %k = %c0 to %steps {
          %next = arith.muli %k, %c128 : index
          %col = arith.addi %next, %first : index
          ts.acquire %a
          ts.produce %a "load" (%x) {
            ts.tma_load %A[%row, %col] to %x : !map, !tile
          }
          ts.commit %a
        }
        ts.next_tile %queue
      }
    }

    ts.task "add" warps(0, 4) reads(%a, %part, %queue) writes(%part, %dst) {
      %t = ts.info thread : index
      %lane = ts.info lane : index
      %warp = ts.info warp : index
      %rank = ts.info cta_rank : index
      %share = arith.muli %rank, %c32 : index
      %mine = arith.addi %share, %lane : index
      %leads = arith.cmpi eq, %warp, %c0 : index
      ts.tile_loop %queue (%m) iter(%parity = %even : i32) {
        %sum = ts.for %k = %c0 to %steps iter(%s = %zero : f32) {
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
        ts.produce %part "leave" (%s) {
          memref.store %sum, %s[%t] : !sums_s
        }
        ts.warp_sync
        ts.elect {
          ts.mbarrier_arrive %written cta(%c0)
          ts.mbarrier_arrive %written cta(%c1)
          ts.mbarrier_arrive %written cta(%c2)
          ts.mbarrier_arrive %written cta(%c3)
        }
        ts.mbarrier_wait %written parity %parity
        %total = ts.consume %part "reduce" (%s) -> f32 {
          %r = scf.for %c = %c0 to %c4 step %c1 iter_args(%p = %zero) -> f32 {
            %u = ts.dsmem_load %s[%mine] cta(%c) : !sums_s -> f32
            %q = arith.addf %p, %u : f32
            scf.yield %q : f32
          }
          ts.yield %r : f32
        }
        ts.warp_sync
        ts.elect {
          ts.mbarrier_arrive %read cta(%c0)
          ts.mbarrier_arrive %read cta(%c1)
          ts.mbarrier_arrive %read cta(%c2)
          ts.mbarrier_arrive %read cta(%c3)
        }
        %tile = arith.muli %m, %c128 : index
        %row = arith.addi %tile, %mine : index
        %in = arith.cmpi slt, %row, %rows : index
        %stores = arith.andi %leads, %in : i1
        ts.produce %dst "store" {
          scf.if %stores {
            memref.store %total, %D[%row, %c0] : !column
          }
        }
        ts.mbarrier_wait %read parity %parity
        ts.next_tile %queue
        %flipped = arith.xori %parity, %one : i32
        ts.yield %flipped : i32
      }
    }
  }
}
