// RUN: ts-opt %s --ts-lower | %python %S/Inputs/tile_order.py | FileCheck %s
// C21: tiles that nobody computes. Orders are the compiler's: the decode that is emitted is evaluated
// for every tile number of many grids, those that groups do not divide included.

// CHECK: groups_of_8: 98 grids, every tile once
// CHECK: rows: 98 grids, every tile once
// CHECK: groups_of_3: 686 grids, every tile once
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @groups_of_8(%D: memref<?x?xf32>, %tm: index, %tn: index) warps(1) {
    %f = arith.constant 1.0 : f32
    %q = ts.work_queue "tiles" static over(%tm, %tn) group(8)
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem
    ts.depends %d on %g
    ts.task "t" warps(0, 1) reads(%q, %g) writes(%d) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m, %n) {
        ts.produce %d "store" {
          memref.store %f, %D[%m, %n] : memref<?x?xf32>
        }
        ts.next_tile %q
      }
    }
  }
  ts.kernel @rows(%D: memref<?x?xf32>, %tm: index, %tn: index) warps(1) {
    %f = arith.constant 1.0 : f32
    %q = ts.work_queue "tiles" static over(%tm, %tn)
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem
    ts.depends %d on %g
    ts.task "t" warps(0, 1) reads(%q, %g) writes(%d) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m, %n) {
        ts.produce %d "store" {
          memref.store %f, %D[%m, %n] : memref<?x?xf32>
        }
        ts.next_tile %q
      }
    }
  }
  ts.kernel @groups_of_3(%D: memref<?x?x?xf32>, %tm: index, %tn: index, %tb: index) warps(1) {
    %f = arith.constant 1.0 : f32
    %q = ts.work_queue "tiles" static over(%tm, %tn, %tb) group(3)
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem
    ts.depends %d on %g
    ts.task "t" warps(0, 1) reads(%q, %g) writes(%d) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m, %n, %b) {
        ts.produce %d "store" {
          memref.store %f, %D[%m, %n, %b] : memref<?x?x?xf32>
        }
        ts.next_tile %q
      }
    }
  }
}
