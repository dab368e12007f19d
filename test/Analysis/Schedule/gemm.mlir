// RUN: ts-opt %s --test-print-schedule -o /dev/null | FileCheck %s
// The model of a small warp-specialised matrix product: resources, events, where operands come from.

!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>

gpu.module @m attributes {ts.chip = "sm_100a"} {
// CHECK-LABEL: kernel gemm chip sm_100a warps 6 cluster 1x1x1 ctas_per_mma 1
// CHECK-NEXT:   resource src gmem
// CHECK-NEXT:   resource ab memory tma_umma stages 4 bytes inferred counts inferred/inferred
// CHECK-NEXT:     alloc a smem bytes 16384 swizzle 128
// CHECK-NEXT:     alloc b smem bytes 16384 swizzle 128
// CHECK-NEXT:   resource acc memory umma_async stages 2 bytes inferred counts inferred/inferred
// CHECK-NEXT:     alloc c tmem columns 128
// CHECK-NEXT:   resource dst gmem
// CHECK-NEXT:   resource tiles queue static skip
// CHECK-NEXT:   depends ab on src
// CHECK-NEXT:   depends acc on ab
// CHECK-NEXT:   depends dst on acc
// CHECK-NEXT:   task load warps 5..5 reads src tiles writes ab
// CHECK-NEXT:     #0 tile_loop tiles
// CHECK-NEXT:       #1 skippable
// CHECK-NEXT:         #2 loop 0 to tiles_k step 1 min_trips 1
// CHECK-NEXT:           #3 guard every 2 of #2
// CHECK-NEXT:             #4 consume src 'coords' aux
// CHECK-NEXT:           #5 acquire ab
// CHECK-NEXT:           #6 produce ab 'load' issues 32768 bytes
// CHECK-NEXT:             #7 access
// CHECK-NEXT:               write ab.a bytes [0, 16384) by tma via #6
// CHECK-NEXT:               read A all part by tma
// CHECK-NEXT:             #8 access
// CHECK-NEXT:               write ab.b bytes [0, 16384) by tma via #6
// CHECK-NEXT:               read B all part by tma
// CHECK-NEXT:       #9 next_tile tiles
// CHECK-NEXT:   task mma warps 4..4 reads ab tiles writes acc
// CHECK-NEXT:     #0 tile_loop tiles
// CHECK-NEXT:       #1 acquire acc
// CHECK-NEXT:       #2 loop 0 to tiles_k step 1 min_trips 1
// CHECK-NEXT:         #3 wait ab
// CHECK-NEXT:         #4 consume ab 'operands'
// CHECK-NEXT:         #5 produce acc 'mma'
// CHECK-NEXT:           #6 access
// CHECK-NEXT:             write acc.c columns [0, 128) by umma via #5
// CHECK-NEXT:             read ab.a bytes [0, 16384) by umma via #4
// CHECK-NEXT:             read ab.b bytes [0, 16384) by umma via #4
// CHECK-NEXT:         #7 release ab
// CHECK-NEXT:       #8 commit acc
// CHECK-NEXT:       #9 next_tile tiles
// CHECK-NEXT:   task store[0] warps 0..1 registers 96 reads acc tiles writes dst
// CHECK-NEXT:     #0 tile_loop tiles
// CHECK-NEXT:       #1 wait acc
// CHECK-NEXT:       #2 consume acc 'columns'
// CHECK-NEXT:         #3 access
// CHECK-NEXT:           read acc.c columns [0, 32) by tcgen05.ld via #2 in_flight
// CHECK-NEXT:         #4 tmem_wait
// CHECK-NEXT:       #5 when tiles_k - 3 > 0 is true shared
// CHECK-NEXT:         #6 produce dst 'store'
// CHECK-NEXT:           #7 access
// CHECK-NEXT:             write D all part by generic
// CHECK-NEXT:       else
// CHECK-NEXT:         #8 produce dst 'other' aux
// CHECK-NEXT:       #9 release acc
// CHECK-NEXT:       #10 next_tile tiles
// CHECK-NEXT:   task store[1] warps 2..3 registers 96
// CHECK:              read acc.c columns [32, 64) by tcgen05.ld via #2 in_flight
ts.kernel @gemm(%A: !map, %B: !map, %D: memref<?xf32>,
                %tiles_m: index = ceildiv(dim(%A, 0), 128),
                %tiles_k: index = ceildiv(dim(%A, 1), 64) min 1) warps(6) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %src = ts.resource "src" gmem
  %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 4)
  %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 2)
  %dst = ts.resource "dst" gmem
  %queue = ts.work_queue "tiles" static over(%tiles_m) skip(%m) {
    %t = arith.cmpi eq, %m, %c3 : index
    ts.yield %t : i1
  }
  ts.depends %ab on %src
  ts.depends %acc on %ab
  ts.depends %dst on %acc

  ts.task "load" warps(5, 1) reads(%src, %queue) writes(%ab) {
    ts.tile_loop %queue (%m) {
      ts.skippable {
        ts.for %k = %c0 to %tiles_k {
          ts.guard every 2 {
            ts.consume %src "coords" aux {
            }
          }
          ts.acquire %ab
          ts.produce %ab "load" (%a, %b) {
            ts.tma_load %A[%m, %k] to %a : !map, !tile
            ts.tma_load %B[%m, %k] to %b : !map, !tile
          }
        }
      }
      ts.next_tile %queue
    }
  }
  ts.task "mma" warps(4, 1) reads(%ab, %queue) writes(%acc) {
    ts.tile_loop %queue {
      ts.acquire %acc
      ts.for %k = %c0 to %tiles_k {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %a, %b : !acc, !tile, !tile
        }
        ts.release %ab
      }
      ts.commit %acc
      ts.next_tile %queue
    }
  }
  ts.task "store" warps(0, 4) replicas(2) (%r) registers(96) reads(%acc, %queue) writes(%dst) {
    %column = arith.muli %r, %c32 : index
    %some = arith.cmpi sgt, %tiles_k, %c3 : index
    ts.tile_loop %queue (%m) {
      ts.wait %acc
      %v = ts.consume %acc "columns" (%c) -> vector<32xf32> {
        %x = ts.tmem_load %c[%column] : !acc -> !ts.async<vector<32xf32>>
        %y = ts.tmem_wait %x : !ts.async<vector<32xf32>> -> vector<32xf32>
        ts.yield %y : vector<32xf32>
      }
      ts.when %some is true {
        ts.produce %dst "store" {
          vector.store %v, %D[%m] : memref<?xf32>, vector<32xf32>
        }
      } else {
        ts.produce %dst "other" aux {
        }
      }
      ts.release %acc
      ts.next_tile %queue
    }
  }
}
}
