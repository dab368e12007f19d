// ts.info: what each kind becomes, per task, loop and work op.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

// CHECK-LABEL: gpu.func @identity
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @identity(%X: memref<?xindex>, %Y: memref<?xi32>) warps(8) {
    // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
    // CHECK: %[[LANE:.*]] = arith.andi %[[TID]], %c31_i32
    // CHECK: %[[SMEM:.*]] = llvm.inttoptr
    ts.task "t" warps(4, 4) replicas(2) (%r) {
      // CHECK: %[[R:.*]] = arith.divui
      // CHECK: %[[W:.*]] = arith.subi
      // CHECK: %[[T:.*]] = arith.addi
      %t = ts.info thread : index
      %w = ts.info warp : index
      %l = ts.info lane : i32
      %p = ts.info replica : i32
      %c = ts.info cta_rank : i32
      %s = ts.info smem_base : i32
      // CHECK: %[[TI:.*]] = arith.index_cast %[[T]] : i32 to index
      // CHECK-NEXT: %[[WI:.*]] = arith.index_cast %[[W]] : i32 to index
      // CHECK-NEXT: %[[CTA:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
      // CHECK-NEXT: %[[S:.*]] = llvm.ptrtoint %[[SMEM]] : !llvm.ptr<3> to i32
      // CHECK-NEXT: memref.store %[[TI]], %{{.*}}[%[[WI]]]
      memref.store %t, %X[%w] : memref<?xindex>
      // CHECK: memref.store %[[LANE]]
      memref.store %l, %Y[%w] : memref<?xi32>
      // CHECK: memref.store %[[R]]
      memref.store %p, %Y[%w] : memref<?xi32>
      // CHECK: memref.store %[[CTA]]
      memref.store %c, %Y[%w] : memref<?xi32>
      // CHECK: memref.store %[[S]]
      memref.store %s, %Y[%w] : memref<?xi32>
    }
  }
}

// -----

// CHECK-LABEL: gpu.func @loops
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @loops(%lo: index, %hi: index, %X: memref<?xindex>) warps(1) {
    %c3 = arith.constant 3 : index
    ts.task "t" warps(0, 1) {
      // CHECK: scf.for %[[I:.*]] = %[[LO:.*]] to %[[HI:.*]] step %[[STEP:.*]] {
      ts.for %i = %lo to %hi step %c3 {
        %o = ts.info loop_offset : index
        %s = ts.info loop_start : index
        %e = ts.info loop_end : index
        %d = ts.info loop_step : index
        // CHECK-NEXT: memref.store %[[I]], %{{.*}}[%[[LO]]]
        memref.store %o, %X[%s] : memref<?xindex>
        // CHECK-NEXT: memref.store %[[HI]], %{{.*}}[%[[STEP]]]
        memref.store %e, %X[%d] : memref<?xindex>
      }
    }
  }
}

// -----

// Stage, barrier, views: of the slot the enclosing work stands on. in_flight counts the stages that the
// side holds: one in a bracket, the distance of the positions with an advance flag.
// CHECK-LABEL: gpu.func @slots
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @slots(%n: index, %Y: memref<?xi32>) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 3, advance_on_wait)
    ts.task "p" warps(0, 1) writes(%r) {
      // CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
      ts.for %k = %c0 to %n {
        ts.acquire %r
        ts.produce %r "first" {
          %s = ts.info stage : i32
          %b = ts.info barrier : i32
          %f = ts.info in_flight : i32
          %i = ts.info call_index : i32
          // CHECK: %[[FULL:.*]] = llvm.getelementptr %{{.*}}[768]
          // CHECK: %[[EIGHT:.*]] = arith.muli %[[S]], %c8_i32
          // CHECK: %[[BAR:.*]] = llvm.getelementptr %[[FULL]][%[[EIGHT]]]
          // CHECK: %[[B:.*]] = llvm.ptrtoint %[[BAR]]
          // CHECK: memref.store %[[S]]
          memref.store %s, %Y[%c0] : memref<?xi32>
          // CHECK: memref.store %[[B]]
          memref.store %b, %Y[%c0] : memref<?xi32>
          // CHECK: memref.store %c1_i32
          memref.store %f, %Y[%c0] : memref<?xi32>
          // CHECK: memref.store %c0_i32
          memref.store %i, %Y[%c0] : memref<?xi32>
        }
        // CHECK: %[[CALL:.*]] = arith.constant 1 : i32
        // CHECK-NEXT: memref.store %[[CALL]]
        ts.produce %r "second" {
          %i = ts.info call_index : i32
          memref.store %i, %Y[%c0] : memref<?xi32>
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(1, 1) reads(%r) {
      %some = arith.cmpi sgt, %n, %c0 : index
      // CHECK: scf.for {{.*}} iter_args(%[[W:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[R:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
      ts.for %k = %c0 to %n {
        // CHECK: %[[NEXT:.*]] = arith.select
        ts.wait %r
        ts.consume %r "use" {
          // CHECK: %[[D:.*]] = arith.subi %[[NEXT]], %[[R]]
          // CHECK: %[[U:.*]] = arith.addi %[[D]], %c3_i32
          // CHECK: %[[M:.*]] = arith.remui %[[U]], %c3_i32
          // CHECK: %[[ALL:.*]] = arith.cmpi eq, %[[M]], %c0_i32
          // CHECK: %[[F:.*]] = arith.select %[[ALL]], %c3_i32{{.*}}, %[[M]]
          // CHECK: memref.store %[[F]]
          %f = ts.info in_flight : i32
          memref.store %f, %Y[%c0] : memref<?xi32>
          // CHECK: memref.store %[[W]]
          %s = ts.info stage : i32
          memref.store %s, %Y[%c0] : memref<?xi32>
        }
        ts.guard not_first {
          ts.release %r
        }
      }
      ts.when %some is true {
        ts.release %r
      }
    }
  }
}

// -----

// CHECK-LABEL: gpu.func @tensor_memory
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @tensor_memory(%Y: memref<?xi32>) warps(4) {
    %c0 = arith.constant 0 : index
    %d = ts.resource "d" tmem(c: memref<128x32xf32>)
    // CHECK: %[[BASE:.*]] = llvm.load
    ts.task "t" warps(0, 4) writes(%d) {
      // CHECK: memref.store %[[BASE]]
      %b = ts.info tmem_base : i32
      memref.store %b, %Y[%c0] : memref<?xi32>
    }
  }
}
