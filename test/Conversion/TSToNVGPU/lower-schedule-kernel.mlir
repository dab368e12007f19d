// The kernel around the tasks: parameters, launch bounds, dispatch of warps, replicas, registers,
// hand-written mbarriers' initialisation.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

// Tensor maps are pointers, arrays a pointer and what is dynamic, index an i64.
// CHECK-LABEL: gpu.func @arguments(
// CHECK-SAME: %[[MAP:.*]]: !llvm.ptr, %[[A:.*]]: !llvm.ptr, %[[A0:.*]]: i64, %[[B:.*]]: !llvm.ptr, %[[B0:.*]]: i64, %[[B1:.*]]: i64, %[[BS:.*]]: i64, %[[C:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[F:.*]]: f32) kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 96>
// CHECK-SAME: nvvm.minctasm = 1
// CHECK-SAME: ts.flush_denormals
// CHECK-SAME: ts.tensor_map_args = array<i64: 0>
!map = !ts.tensor_map<?x?xf32, box = 8x32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @arguments(%map: !map, %A: memref<?x16xf32>, %B: memref<?x?xf32, strided<[?, 1]>>,
                       %C: memref<4xf32>, %n: index, %f: f32) warps(3) flush_denormals {
    // CHECK: builtin.unrealized_conversion_cast %[[MAP]] : !llvm.ptr to !ts.tensor_map
    // Identity layout: strides follow from the sizes.
    // CHECK: llvm.insertvalue %[[A]], %{{.*}}[0]
    // CHECK: llvm.insertvalue %[[A]], %{{.*}}[1]
    // CHECK: llvm.insertvalue %[[A0]], %{{.*}}[3, 0]
    // CHECK: %[[W:.*]] = llvm.mlir.constant(16 : i64)
    // CHECK: llvm.insertvalue %[[W]], %{{.*}}[3, 1]
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
    // CHECK: llvm.insertvalue %[[ONE]], %{{.*}}[4, 1]
    // CHECK: %[[S:.*]] = llvm.mul %[[ONE]], %[[W]]
    // CHECK: llvm.insertvalue %[[S]], %{{.*}}[4, 0]
    // Strided layout: the dynamic stride is a parameter of its own.
    // CHECK: llvm.insertvalue %[[B0]], %{{.*}}[3, 0]
    // CHECK: llvm.insertvalue %[[B1]], %{{.*}}[3, 1]
    // CHECK: llvm.insertvalue %[[BS]], %{{.*}}[4, 0]
    // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?x?xf32, strided<[?, 1]>>
    // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<4xf32>
    // CHECK: %[[IDX:.*]] = arith.index_cast %[[N]] : i64 to index
    // Arithmetic of the kernel's level is done by everybody, before the tasks.
    // CHECK: %[[TWICE:.*]] = arith.addi %[[IDX]], %[[IDX]]
    %twice = arith.addi %n, %n : index
    // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
    // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
    // CHECK: %[[LANE:.*]] = arith.andi %[[TID]], %c31_i32
    // No barriers, no tensor memory: nothing to initialise.
    // CHECK-NOT: nvvm.barrier
    // CHECK: %[[REL:.*]] = arith.subi %[[WARP]], %c1_i32
    // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[REL]], %c2_i32
    // CHECK: scf.if %[[IN]] {
    ts.task "t" warps(1, 2) {
      %t = ts.info thread : index
      // CHECK: memref.store %[[F]], %{{.*}}[%{{.*}}, %[[TWICE]]]
      memref.store %f, %B[%t, %twice] : memref<?x?xf32, strided<[?, 1]>>
    }
    // CHECK: }
    // CHECK-NEXT: gpu.return
  }
}

// -----

// Replicas: the same schedule in sibling ranges, threads and warps counted within each.
// CHECK-LABEL: gpu.func @replicas
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @replicas(%X: memref<?x?xindex>) warps(8) {
    ts.task "t" warps(2, 6) replicas(3) (%r) {
      // CHECK: %[[IN:.*]] = arith.subi %{{.*}}, %c2_i32{{.*}} : i32
      // CHECK: scf.if
      // CHECK: %[[IN2:.*]] = arith.subi %{{.*}}, %c2_i32{{.*}} : i32
      // CHECK: %[[R:.*]] = arith.divui %[[IN2]], %c2_i32
      // CHECK: %[[BASE:.*]] = arith.muli %[[R]], %c2_i32
      // CHECK: %[[W:.*]] = arith.subi %[[IN2]], %[[BASE]]
      // CHECK: %[[W32:.*]] = arith.muli %[[W]], %c32_i32
      // CHECK: %[[T:.*]] = arith.addi %[[W32]]
      // CHECK: %[[RI:.*]] = arith.index_cast %[[R]]
      // CHECK: %[[TI:.*]] = arith.index_cast %[[T]]
      // CHECK: memref.store %{{.*}}, %{{.*}}[%[[RI]], %[[TI]]]
      %t = ts.info thread : index
      memref.store %t, %X[%r, %t] : memref<?x?xindex>
    }
  }
}

// -----

// One branch per run of warpgroups that share tasks; those without a budget keep what the launch gave
// them, and a budget equal to it needs no instruction.
// CHECK-LABEL: gpu.func @registers
// CHECK-SAME: nvvm.maxntid = array<i32: 512>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @registers(%X: memref<?xindex>) warps(16) {
    // 512 threads: 128 registers each at the start.
    // CHECK: %[[G0:.*]] = arith.cmpi ult, %[[WARP:.*]], %c4_i32
    // CHECK-NEXT: scf.if %[[G0]] {
    // CHECK-NEXT: nvvm.setmaxregister decrease 24
    ts.task "load" warps(0, 2) registers(24) {
      %t = ts.info thread : index
      // CHECK: memref.store
      memref.store %t, %X[%t] : memref<?xindex>
    }
    // CHECK: } else {
    // CHECK: %[[G1:.*]] = arith.cmpi ult, %[[WARP]], %c12_i32
    // CHECK-NEXT: scf.if %[[G1]] {
    // CHECK-NEXT: nvvm.setmaxregister increase 168
    ts.task "math" warps(4, 8) registers(168) {
      %t = ts.info thread : index
      memref.store %t, %X[%t] : memref<?xindex>
    }
    // CHECK: } else {
    // CHECK-NOT: nvvm.setmaxregister
    ts.task "rest" warps(12, 4) registers(128) {
      %t = ts.info thread : index
      memref.store %t, %X[%t] : memref<?xindex>
    }
    // CHECK: gpu.return
  }
}

// -----

// A task that reaches into the next warpgroup ties both to one budget, the larger one.
// CHECK-LABEL: gpu.func @shared_groups
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @shared_groups(%X: memref<?xindex>) warps(12) {
    // CHECK: arith.cmpi ult, %{{.*}}, %c8_i32
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: nvvm.setmaxregister decrease 104
    // CHECK-NOT: nvvm.setmaxregister
    ts.task "wide" warps(0, 6) registers(40) {
      %t = ts.info thread : index
      memref.store %t, %X[%t] : memref<?xindex>
    }
    ts.task "narrow" warps(6, 2) registers(104) {
      %t = ts.info thread : index
      memref.store %t, %X[%t] : memref<?xindex>
    }
    // CHECK: nvvm.setmaxregister increase 216
    ts.task "math" warps(8, 4) registers(216) {
      %t = ts.info thread : index
      memref.store %t, %X[%t] : memref<?xindex>
    }
  }
}

// -----

// Scratch without a pipeline is one stage at a fixed place.
// CHECK-LABEL: gpu.func @scratch
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @scratch() warps(1) {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %s = ts.resource "s" smem(x: memref<64xf32>, y: memref<8xf32>)
    ts.task "t" warps(0, 1) writes(%s) {
      // CHECK-NOT: nvvm.mbarrier
      // CHECK: %[[X:.*]] = arith.constant 0 : i32
      // CHECK: memref.view %{{.*}} to memref<64xf32, #gpu.address_space<workgroup>>
      // CHECK: %[[Y:.*]] = arith.constant 256 : i32
      // CHECK: %[[YI:.*]] = arith.index_cast %[[Y]]
      // CHECK-NEXT: memref.view %{{.*}}[%[[YI]]][] : {{.*}} to memref<8xf32, #gpu.address_space<workgroup>>
      ts.produce %s "fill" (%x, %y) {
        memref.store %f, %y[%c0] : memref<8xf32, #ts.smem>
      }
    }
  }
}
