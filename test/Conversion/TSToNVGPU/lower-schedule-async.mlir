// Thread pipelines: every thread waits and arrives; cp.async producers; the fences that an
// asynchronous reader needs.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

// CHECK-LABEL: gpu.func @threads
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @threads(%n: index) warps(4) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 3)
    // One full and one empty barrier per stage, each with the 64 threads of two warps.
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK: llvm.getelementptr %{{.*}}[768]
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c64_i32
    // CHECK: llvm.getelementptr %{{.*}}[792]
    // CHECK-COUNT-5: nvvm.mbarrier.init %{{.*}}, %c64_i32
    // CHECK-NOT: nvvm.mbarrier.init
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK-NEXT: }
    // CHECK-NEXT: nvvm.barrier
    ts.task "fill" warps(0, 2) writes(%r) {
      %t = ts.info thread : index
      // The first lap of the producer passes: parity 1.
      // CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %c0_i32{{.*}}, %[[PARITY:.*]] = %c1_i32{{.*}})
      ts.for %k = %c0 to %n {
        // CHECK: %[[EMPTY:.*]] = llvm.getelementptr %{{.*}}[792]
        // CHECK: %[[BAR:.*]] = llvm.getelementptr %[[EMPTY]]
        // CHECK-NOT: scf.if
        // CHECK: scf.while
        // CHECK-NEXT: nvvm.mbarrier.try_wait %[[BAR]], %[[PARITY]]
        ts.acquire %r
        // CHECK: memref.view %{{.*}}[%{{.*}}][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
        // CHECK: memref.store
        ts.produce %r "fill" (%x) {
          %f = arith.constant 1.0 : f32
          memref.store %f, %x[%t] : memref<64xf32, #ts.smem>
        }
        // Plain readers need no proxy fence.
        // CHECK-NOT: fence
        // CHECK: %[[FULL:.*]] = llvm.getelementptr %{{.*}}[768]
        // CHECK: %[[BAR2:.*]] = llvm.getelementptr %[[FULL]]
        // CHECK-NEXT: nvvm.mbarrier.arrive %[[BAR2]]
        ts.commit %r
        // CHECK: %[[NEXT:.*]] = arith.addi %[[STAGE]], %c1_i32
        // CHECK: %[[WRAP:.*]] = arith.cmpi uge, %[[NEXT]], %c3_i32
        // CHECK: %[[S:.*]] = arith.select %[[WRAP]], %{{.*}}, %[[NEXT]]
        // CHECK: %[[W:.*]] = arith.extui %[[WRAP]]
        // CHECK: %[[P:.*]] = arith.xori %[[PARITY]], %[[W]]
        // CHECK: scf.yield %[[S]], %[[P]] : i32, i32
      }
    }
    ts.task "drain" warps(2, 2) reads(%r) {
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32{{.*}}, %[[CP:.*]] = %c0_i32{{.*}})
      ts.for %k = %c0 to %n {
        // CHECK: llvm.getelementptr %{{.*}}[768]
        // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[CP]]
        ts.wait %r
        ts.consume %r "use" (%x) {
          %f = memref.load %x[%c0] : memref<64xf32, #ts.smem>
        }
        // CHECK: llvm.getelementptr %{{.*}}[792]
        // CHECK-NOT: scf.if
        // CHECK: nvvm.mbarrier.arrive
        ts.release %r
      }
    }
    // Nothing is left on its way, so nothing is drained.
    // CHECK-NOT: try_wait
    // CHECK: gpu.return
  }
}

// -----

// cp.async: the copies arrive by themselves, one deferred arrival per thread.
// CHECK-LABEL: gpu.func @cp_async
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @cp_async(%A: memref<?xf32>) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, producer_op = load)
    // CHECK-COUNT-4: nvvm.mbarrier.init %{{.*}}, %c32_i32
    ts.task "fill" warps(0, 1) writes(%r) {
      %t = ts.info thread : index
      ts.acquire %r
      ts.produce %r "copy" (%x) {
        ts.cp_async %A[%t] to %x[%t], 4 : memref<?xf32>, memref<64xf32, #ts.smem>
      }
      // CHECK: ts.cp_async
      // CHECK-NOT: wait_group
      // CHECK-NOT: nvvm.mbarrier.arrive
      // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true} : !llvm.ptr<3>
      ts.commit %r
    }
    ts.task "drain" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.consume %r "use" (%x) {
        %f = memref.load %x[%c0] : memref<64xf32, #ts.smem>
      }
      // CHECK: nvvm.mbarrier.arrive
      ts.release %r
    }
  }
}

// -----

// cp.async under a plain arrival: the thread waits for its copies before it speaks for them.
// CHECK-LABEL: gpu.func @cp_async_thread
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @cp_async_thread(%A: memref<?xf32>) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "fill" warps(0, 1) writes(%r) {
      %t = ts.info thread : index
      ts.acquire %r
      ts.produce %r "copy" (%x) {
        ts.cp_async %A[%t] to %x[%t], 4 : memref<?xf32>, memref<64xf32, #ts.smem>
      }
      // CHECK: ts.cp_async
      // CHECK: nvvm.cp.async.wait.group 0
      // CHECK: nvvm.mbarrier.arrive
      ts.commit %r
    }
    ts.task "drain" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.consume %r "use" (%x) {
        %f = memref.load %x[%c0] : memref<64xf32, #ts.smem>
      }
      ts.release %r
    }
  }
}

// -----

// The stage leaves by TMA: the writers make their stores visible to it before they arrive, and the
// single storing thread hands the stage back for 32.
// CHECK-LABEL: gpu.func @to_tma
!map = !ts.tensor_map<?x?xf32, box = 8x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @to_tma(%D: !map) warps(2) {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %r = ts.resource "r" smem(x: memref<8x32xf32>) pipeline(async_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.task "fill" warps(0, 1) writes(%r) {
      %t = ts.info thread : index
      ts.acquire %r
      ts.produce %r "fill" (%x) {
        memref.store %f, %x[%c0, %t] : memref<8x32xf32, #ts.smem>
      }
      // CHECK: memref.store
      // CHECK: nvvm.fence.proxy
      // CHECK-SAME: async.shared
      // CHECK-SAME: cta
      // CHECK: nvvm.mbarrier.arrive
      ts.commit %r
    }
    ts.task "out" warps(1, 1) reads(%r) writes(%d) {
      ts.wait %r
      %x = ts.consume %r "tile" (%v) -> memref<8x32xf32, #ts.smem> {
        ts.yield %v : memref<8x32xf32, #ts.smem>
      }
      ts.produce %d "store" {
        ts.tma_store %x to %D[%c0, %c0] : memref<8x32xf32, #ts.smem>, !map
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
      // CHECK: %[[LANE:.*]] = arith.cmpi eq
      // CHECK: scf.if
      // CHECK-NEXT: ts.tma_store
      // CHECK: ts.bulk_wait 0 read
      // CHECK: nvvm.mbarrier.arrive
      ts.release %r
      // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    }
  }
}
