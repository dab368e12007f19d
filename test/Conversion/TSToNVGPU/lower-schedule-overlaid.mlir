// What threads store through one ring, copies may overwrite through another one on the same bytes: the
// commit brings the proxy fence. Readers that are done need none, nor do rings on memory of their own.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s | FileCheck %s

// CHECK-LABEL: gpu.func @pinned
// CHECK: memref.store
// CHECK-NOT: nvvm.mbarrier.arrive
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.mbarrier.arrive
// CHECK-NOT: nvvm.fence.proxy
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @pinned(%A: !map, %n: index) warps(5) {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %in = ts.resource "in" smem(x: !tile at 0) pipeline(tma_async, stages = 2)
    %out = ts.resource "out" smem(y: !tile at 8192) pipeline(async_async, stages = 2)
    ts.task "load" warps(4, 1) writes(%in) {
      ts.for %k = %c0 to %n {
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }
    ts.task "square" warps(0, 2) reads(%in) writes(%out) {
      %t = ts.info thread : index
      ts.for %k = %c0 to %n {
        ts.wait %in
        ts.acquire %out
        ts.produce %out "fill" (%y) {
          memref.store %f, %y[%t, %c0] : !tile
        }
        ts.commit %out
        ts.release %in
      }
    }
    ts.task "read" warps(2, 2) reads(%out) {
      %t = ts.info thread : index
      ts.for %k = %c0 to %n {
        ts.wait %out
        ts.consume %out "look" (%y) {
          %v = memref.load %y[%t, %c0] : !tile
        }
        ts.release %out
      }
    }
  }
}

// -----

// CHECK-LABEL: gpu.func @phases
// CHECK: memref.store
// CHECK-NOT: nvvm.mbarrier.arrive
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.mbarrier.arrive
// CHECK-NOT: nvvm.fence.proxy
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @phases(%A: !map, %n: index) warps(5) {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %in = ts.resource "in" smem(x: !tile) pipeline(tma_async, stages = 2)
    %out = ts.resource "out" smem(y: !tile) pipeline(async_async, stages = 2)
    ts.alias_group "reuse" (%in, %out) phases [1, 1]
    ts.task "load" warps(4, 1) writes(%in) {
      ts.for %k = %c0 to %n {
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }
    ts.task "square" warps(0, 2) reads(%in) writes(%out) {
      %t = ts.info thread : index
      ts.for %k = %c0 to %n {
        ts.wait %in
        ts.acquire %out
        ts.produce %out "fill" (%y) {
          memref.store %f, %y[%t, %c0] : !tile
        }
        ts.commit %out
        ts.release %in
      }
    }
    ts.task "read" warps(2, 2) reads(%out) {
      %t = ts.info thread : index
      ts.for %k = %c0 to %n {
        ts.wait %out
        ts.consume %out "look" (%y) {
          %v = memref.load %y[%t, %c0] : !tile
        }
        ts.release %out
      }
    }
  }
}

// -----

// CHECK-LABEL: gpu.func @apart
// CHECK-NOT: nvvm.fence.proxy
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @apart(%A: !map, %n: index) warps(5) {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %in = ts.resource "in" smem(x: !tile at 0) pipeline(tma_async, stages = 2)
    %out = ts.resource "out" smem(y: !tile at 16384) pipeline(async_async, stages = 2)
    ts.task "load" warps(4, 1) writes(%in) {
      ts.for %k = %c0 to %n {
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }
    ts.task "square" warps(0, 2) reads(%in) writes(%out) {
      %t = ts.info thread : index
      ts.for %k = %c0 to %n {
        ts.wait %in
        ts.acquire %out
        ts.produce %out "fill" (%y) {
          memref.store %f, %y[%t, %c0] : !tile
        }
        ts.commit %out
        ts.release %in
      }
    }
    ts.task "read" warps(2, 2) reads(%out) {
      %t = ts.info thread : index
      ts.for %k = %c0 to %n {
        ts.wait %out
        ts.consume %out "look" (%y) {
          %v = memref.load %y[%t, %c0] : !tile
        }
        ts.release %out
      }
    }
  }
}
