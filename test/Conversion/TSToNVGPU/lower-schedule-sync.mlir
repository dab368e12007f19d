// Synchronisation beside the pipelines: batons, named barriers, mbarriers by hand, elected regions,
// programmatic launch; and that a warp is whole where an instruction wants it whole.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

// The replica before the first holder hands it over at the start; take waits on one's own barrier,
// pass arrives at the next replica's.
// CHECK-LABEL: gpu.func @baton
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @baton(%n: index) warps(12) {
    %c0 = arith.constant 0 : index
    %order = ts.baton "order" holders(3) first(1)
    ts.task "t" warps(0, 12) replicas(3) (%r) {
      // CHECK: %[[WHO:.*]] = arith.divui
      // CHECK: %[[GIVER:.*]] = arith.cmpi eq, %[[WHO]], %c0_i32
      // CHECK-NEXT: scf.if %[[GIVER]] {
      // CHECK: %[[ID:.*]] = arith.constant 2 : i32
      // CHECK: %[[ALL:.*]] = arith.constant 256 : i32
      // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[ID]], %[[ALL]])
      // CHECK: %[[R:.*]] = arith.divui
      ts.for %i = %c0 to %n {
        // CHECK: scf.for
        // CHECK: %[[MINE1:.*]] = arith.select %{{.*}}, %c2_i32{{.*}}, %c1_i32
        // CHECK: %[[MINE:.*]] = arith.select %{{.*}}, %c3_i32{{.*}}, %[[MINE1]]
        // CHECK: nvvm.barrier id = %[[MINE]] number_of_threads = %c256_i32
        ts.take %order
        // CHECK: %[[NEXT:.*]] = arith.addi %[[R]], %c1_i32
        // CHECK: %[[OVER:.*]] = arith.cmpi eq, %[[NEXT]], %c3_i32
        // CHECK: %[[TO:.*]] = arith.select %[[OVER]], %c0_i32{{.*}}, %[[NEXT]]
        // CHECK: arith.cmpi eq, %[[TO]]
        // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"
        ts.pass %order
      }
    }
  }
}

// -----

// Named barriers: assigned and pinned numbers.
// CHECK-LABEL: gpu.func @named
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @named() warps(4) {
    %a = ts.named_barrier "a" threads(128)
    %b = ts.named_barrier "b" threads(64) id(7)
    ts.task "x" warps(0, 2) {
      // CHECK: nvvm.barrier id = %c[[ID:[1-9][0-9]*]]_i32 number_of_threads = %c128_i32
      ts.barrier_sync %a
      // CHECK: nvvm.barrier id = %c7_i32 number_of_threads = %c64_i32
      ts.barrier_sync %b
    }
    ts.task "y" warps(2, 2) {
      // CHECK: arith.constant [[ID]] : i32
      // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%{{.*}}, %c128_i32
      ts.barrier_arrive %a
    }
  }
}

// -----

// mbarriers by hand: initialised with the kernel's, every executing thread arrives.
// CHECK-LABEL: gpu.func @by_hand
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @by_hand() warps(2) {
    %zero = arith.constant 0 : i32
    %m = ts.mbarrier "m" count(32)
    %l = ts.mbarrier "l" count(1)
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c32_i32
    // CHECK: nvvm.mbarrier.init %[[L:.*]], %c1_i32
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: nvvm.barrier
    ts.task "a" warps(0, 1) {
      // CHECK-NOT: nvvm.elect.sync
      // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
      ts.mbarrier_arrive %m
      // CHECK: scf.if
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16_i32
      ts.elect {
        ts.mbarrier_arrive %l expect 16
      }
    }
    ts.task "b" warps(1, 1) {
      // CHECK: scf.while
      // CHECK-NEXT: nvvm.mbarrier.try_wait %{{.*}}, %c0_i32
      ts.mbarrier_wait %m parity %zero
    }
  }
}

// -----

// CHECK-LABEL: gpu.func @dependent_launch
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @dependent_launch() warps(1) {
    %pdl = ts.pdl "previous"
    ts.task "t" warps(0, 1) reads(%pdl) {
      // CHECK: nvvm.griddepcontrol wait
      ts.griddep_wait %pdl
      // CHECK: nvvm.griddepcontrol launch_dependents
      ts.griddep_launch %pdl
    }
  }
}

// -----

// What only one lane does may take longer than the others: the warp is brought together before the next
// instruction for whole warps, in straight code, at the entry and the back edge of a loop, and after a
// branch.
// CHECK-LABEL: gpu.func @converges
!map = !ts.tensor_map<?x?xf32, box = 8x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @converges(%D: !map, %n: index, %b: i1, %X: memref<?xindex>) warps(4) {
    %c0 = arith.constant 0 : index
    %bar = ts.named_barrier "all" threads(128)
    %d = ts.resource "d" smem(x: memref<8x32xf32>)
    ts.task "t" warps(0, 4) writes(%d) {
      %t = ts.info thread : index
      ts.produce %d "store" (%x) {
        // CHECK: ts.bulk_wait 0
        ts.bulk_wait 0
        // CHECK: nvvm.bar.warp.sync
        // CHECK: nvvm.barrier id
        ts.barrier_sync %bar
        // Whole already.
        // CHECK-NOT: nvvm.bar.warp.sync
        // CHECK: nvvm.barrier id
        ts.barrier_sync %bar
        // CHECK: ts.tma_store
        ts.tma_store %x to %D[%c0, %c0] : memref<8x32xf32, #ts.smem>, !map
      }
      // CHECK: nvvm.bar.warp.sync
      // CHECK: scf.for
      ts.for %i = %c0 to %n {
        // CHECK-NOT: nvvm.bar.warp.sync
        // CHECK: nvvm.barrier id
        ts.barrier_sync %bar
        ts.produce %d "again" (%x) {
          // CHECK: ts.tma_store
          ts.tma_store %x to %D[%c0, %c0] : memref<8x32xf32, #ts.smem>, !map
        }
        // CHECK: nvvm.bar.warp.sync
        // CHECK-NEXT: }
      }
      // CHECK: scf.if
      // CHECK: ts.bulk_commit
      ts.bulk_commit
      // CHECK: scf.if %arg2
      // CHECK: ts.bulk_wait 0
      ts.when %b is true {
        ts.bulk_wait 0
      }
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.barrier id
      ts.barrier_sync %bar
      // CHECK: ts.bulk_wait 0
      ts.elect {
        ts.bulk_wait 0
      }
      // CHECK: ts.warp_sync
      ts.warp_sync
      // CHECK-NOT: nvvm.bar.warp.sync
      // CHECK: nvvm.barrier id
      ts.barrier_sync %bar
      // The stores read shared memory: they are waited for before the CTA may go.
      // CHECK: scf.if
      // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0 {read}
      // CHECK-NEXT: }
      // CHECK-NEXT: arith.constant -1
      // CHECK-NEXT: nvvm.bar.warp.sync
      memref.store %t, %X[%t] : memref<?xindex>
    }
  }
}

// -----

// A task that needs no second thread runs in one; thread-dependent work makes it run in all.
// CHECK-LABEL: gpu.func @one_thread
!map = !ts.tensor_map<?x?xf32, box = 8x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_thread(%A: !map, %X: memref<?xf32>) warps(3) {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %s = ts.resource "s" smem(x: memref<8x32xf32>)
    // CHECK: nvvm.elect.sync
    ts.task "prefetch" warps(0, 1) {
      // CHECK-NEXT: scf.if
      // CHECK-NEXT: ts.tma_prefetch
      ts.tma_prefetch %A : !map
      // CHECK-NEXT: }
      // CHECK: nvvm.bar.warp.sync
    }
    // CHECK-NOT: nvvm.elect.sync
    // CHECK: ts.tma_prefetch
    ts.task "lanes" warps(1, 1) {
      ts.tma_prefetch %A : !map
      %l = ts.info lane : index
      memref.store %f, %X[%l] : memref<?xf32>
    }
    ts.task "memory" warps(2, 1) {
      // CHECK: memref.store
      memref.store %f, %X[%c0] : memref<?xf32>
    }
    // CHECK: gpu.return
  }
}
