// TMA pipelines: an elected thread arms the bytes and issues the copies; who waits, who gives back,
// several producing warps and tasks.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

!map = !ts.tensor_map<?x?xf32, box = 8x32>
!tile = memref<8x32xf32>
!view = memref<8x32xf32, #ts.smem>

// CHECK-LABEL: gpu.func @one_warp
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_warp(%A: !map, %n: index) warps(5) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: !tile) pipeline(tma_async, stages = 4)
    // One arming warp; one signal from each of four consumer warps.
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c4_i32
    // The whole task is one elected thread: nothing inside is elected again.
    // CHECK: %[[ELECT:.*]] = nvvm.elect.sync -> i1
    // CHECK-NEXT: scf.if %[[ELECT]] {
    ts.task "load" warps(4, 1) writes(%r) {
      ts.for %k = %c0 to %n {
        // CHECK: scf.while
        // CHECK-NOT: scf.if
        // CHECK: %[[BYTES:.*]] = arith.constant 1024 : i32
        // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx %[[FULL:.*]], %[[BYTES]]
        ts.acquire %r
        // CHECK-NOT: scf.if
        // CHECK: ts.tma_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} barrier(%{{.*}} : !llvm.ptr<3>)
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %k] to %x : !map, !view
        }
        // The engine's bytes are the commit.
        // CHECK-NOT: arrive
        ts.commit %r
        // CHECK: scf.yield
      }
    }
    // CHECK: nvvm.bar.warp.sync
    ts.task "use" warps(0, 4) reads(%r) {
      ts.for %k = %c0 to %n {
        // Every thread waits.
        // CHECK: scf.for
        // CHECK-NOT: scf.if
        // CHECK: scf.while
        ts.wait %r
        ts.consume %r "use" (%x) {
          %f = memref.load %x[%c0, %c0] : !view
        }
        // CHECK: memref.load
        // CHECK: nvvm.bar.warp.sync
        // CHECK: scf.if
        // CHECK-NEXT: nvvm.mbarrier.arrive
        ts.release %r
      }
    }
    // The consumers' arrivals are local and over before they leave: no drain.
    // CHECK-NOT: try_wait
    // CHECK: gpu.return
  }
}

// -----

// Two warps that each load a part: each arms its own bytes, and no warp waits alone in one lane only.
// CHECK-LABEL: gpu.func @two_warps
!map = !ts.tensor_map<?x?xf32, box = 4x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_warps(%A: !map) warps(3) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<2x4x32xf32>) pipeline(tma_async, stages = 2)
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c2_i32
    ts.task "load" warps(0, 2) writes(%r) {
      %w = ts.info warp : index
      // CHECK: %[[LANE0:.*]] = arith.cmpi eq
      // CHECK: scf.if %{{.*}} {
      // CHECK-NEXT: scf.while
      // CHECK: nvvm.bar.warp.sync
      // CHECK: scf.if %[[LANE:.*]] {
      // CHECK-NEXT: arith.constant 512 : i32
      // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx
      ts.acquire %r
      ts.produce %r "load" (%x) {
        %s = memref.subview %x[%w, 0, 0] [1, 4, 32] [1, 1, 1] : memref<2x4x32xf32, #ts.smem> to memref<4x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
        // CHECK: scf.if %[[LANE]] {
        // CHECK-NEXT: ts.tma_load
        ts.tma_load %A[%w, %c0] to %s : !map, memref<4x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
      }
      ts.commit %r
    }
    ts.task "use" warps(2, 1) reads(%r) {
      ts.wait %r
      ts.consume %r "use" (%x) {
        %f = memref.load %x[%c0, %c0, %c0] : memref<2x4x32xf32, #ts.smem>
      }
      ts.release %r
    }
  }
}

// -----

// One leader arms for its task; every warp still copies its part.
// CHECK-LABEL: gpu.func @leader
!map = !ts.tensor_map<?x?xf32, box = 4x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @leader(%A: !map) warps(3) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<2x4x32xf32>) pipeline(tma_async, stages = 2, producer_signal = task_warp_leader)
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32
    ts.task "load" warps(0, 2) writes(%r) {
      %w = ts.info warp : index
      // CHECK: scf.while
      // CHECK: scf.if %[[THREAD0:.*]] {
      // CHECK-NEXT: arith.constant 1024 : i32
      // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx
      ts.acquire %r
      ts.produce %r "load" (%x) {
        %s = memref.subview %x[%w, 0, 0] [1, 4, 32] [1, 1, 1] : memref<2x4x32xf32, #ts.smem> to memref<4x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
        // CHECK-NOT: scf.if %[[THREAD0]]
        // CHECK: ts.tma_load
        ts.tma_load %A[%w, %c0] to %s : !map, memref<4x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
      }
      ts.commit %r
    }
    ts.task "use" warps(2, 1) reads(%r) {
      ts.wait %r
      ts.consume %r "use" (%x) {
        %f = memref.load %x[%c0, %c0, %c0] : memref<2x4x32xf32, #ts.smem>
      }
      ts.release %r
    }
  }
}

// -----

// Two tasks fill one stage with different bytes: each arms exactly what it copies (a third of the sum
// would leave the barrier short by a byte and the kernel hanging).
// CHECK-LABEL: gpu.func @two_tasks
!map = !ts.tensor_map<?x?xf32, box = 8x32>
!half = !ts.tensor_map<?x?xf32, box = 4x32>
!view = memref<8x32xf32, #ts.smem>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_tasks(%A: !map, %B: !half) warps(4) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<8x32xf32>, y: memref<2x4x32xf32>) pipeline(tma_async, stages = 2)
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c3_i32
    ts.task "load_a" warps(0, 1) writes(%r) {
      // CHECK: %[[A:.*]] = arith.constant 1024 : i32
      // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[A]]
      ts.acquire %r
      ts.produce %r "a" (%x, %y) {
        ts.tma_load %A[%c0, %c0] to %x : !map, !view
      }
      ts.commit %r
    }
    ts.task "load_b" warps(1, 2) writes(%r) {
      %w = ts.info warp : index
      // CHECK: %[[B:.*]] = arith.constant 512 : i32
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[B]]
      ts.acquire %r
      ts.produce %r "b" (%x, %y) {
        %s = memref.subview %y[%w, 0, 0] [1, 4, 32] [1, 1, 1] : memref<2x4x32xf32, #ts.smem> to memref<4x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
        ts.tma_load %B[%w, %c0] to %s : !half, memref<4x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
      }
      ts.commit %r
    }
    ts.task "use" warps(3, 1) reads(%r) {
      ts.wait %r
      ts.consume %r "use" (%x, %y) {
        %f = memref.load %x[%c0, %c0] : !view
      }
      ts.release %r
    }
  }
}

// -----

// Zero fill by all lanes, then TMA over it: all lanes stand behind the wait.
// CHECK-LABEL: gpu.func @fill_then_copy
!map = !ts.tensor_map<?x?xf32, box = 8x32>
!view = memref<8x32xf32, #ts.smem>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @fill_then_copy(%A: !map) warps(2) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %r = ts.resource "r" smem(x: memref<8x32xf32>) pipeline(tma_async, stages = 2)
    ts.task "load" warps(0, 1) writes(%r) {
      %t = ts.info lane : index
      // CHECK: scf.while
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive.expect_tx
      ts.acquire %r
      // CHECK: memref.store
      ts.produce %r "load" (%x) {
        memref.store %zero, %x[%c0, %t] : !view
        ts.fence proxy_async_shared
        ts.warp_sync
        // CHECK: ts.warp_sync
        // CHECK: scf.if
        // CHECK-NEXT: ts.tma_load
        ts.tma_load %A[%c0, %c0] to %x : !map, !view
      }
      ts.commit %r
    }
    ts.task "use" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.consume %r "use" (%x) {
        %f = memref.load %x[%c0, %c0] : !view
      }
      ts.release %r
    }
  }
}
