// RUN: ts-compile %s --arch=sm_90a --emit=ptx -o - | FileCheck %s
// RUN: ts-compile %s --arch=sm_100a --emit=ptx -o - | FileCheck %s
// A sum over the lanes of a warp, in work and in a queue's skip region, is one instruction.
// CHECK-LABEL: .entry sum
// CHECK: redux.sync.add.s32
// CHECK: redux.sync.max.s32
gpu.module @m {
  ts.kernel @sum(%X: memref<?xi32>, %Y: memref<?xi32>, %n: index = dim(%X, 0)) warps(1) {
    %src = ts.resource "x" gmem
    %dst = ts.resource "y" gmem
    ts.depends %dst on %src
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %lane = gpu.lane_id
      %v = memref.load %X[%lane] : memref<?xi32>
      %all = gpu.subgroup_reduce add %v uniform : (i32) -> i32
      %i = arith.index_cast %all : i32 to index
      %skip = arith.cmpi sge, %t, %i : index
      ts.yield %skip : i1
    }
    ts.task "t" warps(0, 1) reads(%src, %queue) writes(%dst) {
      ts.tile_loop %queue (%t) {
        ts.skippable {
          %most = ts.consume %src "max" -> i32 {
            %lane = gpu.lane_id
            %v = memref.load %X[%lane] : memref<?xi32>
            %m = gpu.subgroup_reduce maxsi %v uniform : (i32) -> i32
            ts.yield %m : i32
          }
          ts.produce %dst "store" {
            memref.store %most, %Y[%t] : memref<?xi32>
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
