// Guards, conditions, unrolling, carried values: which branch runs and what it hands on.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

// CHECK-LABEL: gpu.func @guards
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @guards(%lo: index, %hi: index, %X: memref<?xindex>) warps(1) {
    %c3 = arith.constant 3 : index
    // CHECK: %[[LO:.*]] = arith.index_cast %arg0
    // CHECK: %[[HI:.*]] = arith.index_cast %arg1
    ts.task "t" warps(0, 1) {
      // CHECK: scf.for %[[I:.*]] = %[[LO]] to %[[HI]] step %[[STEP:.*]] {
      ts.for %i = %lo to %hi step %c3 {
        // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %[[LO]]
        // CHECK-NEXT: scf.if %[[FIRST]] {
        ts.guard first {
          memref.store %i, %X[%i] : memref<?xindex>
        }
        // CHECK: %[[NOT:.*]] = arith.cmpi ne, %[[I]], %[[LO]]
        // CHECK-NEXT: scf.if %[[NOT]] {
        ts.guard not_first {
          memref.store %i, %X[%i] : memref<?xindex>
        }
        // The last trip is the one whose successor is at or past the end, also when the step does not
        // divide the range.
        // CHECK: %[[AFTER:.*]] = arith.addi %[[I]], %[[STEP]]
        // CHECK-NEXT: %[[LAST:.*]] = arith.cmpi sge, %[[AFTER]], %[[HI]]
        // CHECK-NEXT: scf.if %[[LAST]] {
        ts.guard last {
          memref.store %i, %X[%i] : memref<?xindex>
        }
        // CHECK: %[[MORE:.*]] = arith.cmpi slt, %{{.*}}, %[[HI]]
        // CHECK-NEXT: scf.if %[[MORE]] {
        ts.guard not_last {
          memref.store %i, %X[%i] : memref<?xindex>
        }
        // Counted in trips, not in index values.
        // CHECK: %[[OFF:.*]] = arith.subi %[[I]], %[[LO]]
        // CHECK-NEXT: %[[TRIP:.*]] = arith.divui %[[OFF]], %[[STEP]]
        // CHECK: %[[REST:.*]] = arith.remui %[[TRIP]], %c4
        // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[REST]], %c0
        // CHECK-NEXT: scf.if %[[ZERO]] {
        ts.guard every 4 {
          memref.store %i, %X[%i] : memref<?xindex>
        }
      }
    }
  }
}

// -----

// The guard belongs to the innermost loop, the tile loop included.
// CHECK-LABEL: gpu.func @inner_and_tile
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @inner_and_tile(%n: index, %X: memref<?xindex>) warps(1) {
    %c0 = arith.constant 0 : index
    %q = ts.work_queue "tiles" static over(%n)
    ts.task "t" warps(0, 1) reads(%q) {
      // CHECK: %[[CTA:.*]] = arith.index_cast %{{.*}} : i32 to index
      // CHECK: scf.for %[[T:.*]] = %[[CTA]]
      ts.tile_loop %q {
        // CHECK: scf.for %[[K:.*]] =
        ts.for %k = %c0 to %n {
          // CHECK: arith.cmpi eq, %[[K]]
          ts.guard first {
            memref.store %k, %X[%k] : memref<?xindex>
          }
        }
        // CHECK: arith.cmpi eq, %[[T]], %[[CTA]]
        ts.guard first {
          memref.store %c0, %X[%c0] : memref<?xindex>
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// Results and positions leave a branch together; without an else the old position stays.
// CHECK-LABEL: gpu.func @results
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @results(%n: index, %b: i1, %X: memref<?xindex>) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "p" warps(0, 1) writes(%r) {
      // CHECK: %[[W:.*]]:3 = scf.if %arg1 -> (index, i32, i32) {
      // CHECK: nvvm.mbarrier.arrive
      // CHECK: scf.yield %c1{{.*}}, %[[S:.*]], %[[P:.*]] : index, i32, i32
      // CHECK: } else {
      // CHECK-NEXT: scf.yield %c0{{.*}}, %c0_i32{{.*}}, %c1_i32{{.*}} : index, i32, i32
      %v = ts.when %b is true key("b") -> index {
        ts.acquire %r
        ts.commit %r
        ts.yield %c1 : index
      } else {
        ts.yield %c0 : index
      }
      // CHECK: memref.store %[[W]]#0
      memref.store %v, %X[%c0] : memref<?xindex>
      // CHECK: %[[N:.*]] = arith.xori %arg1
      // CHECK: %[[F:.*]]:2 = scf.if %[[N]] -> (i32, i32) {
      // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[W]]#2
      // CHECK: } else {
      // CHECK-NEXT: scf.yield %[[W]]#1, %[[W]]#2 : i32, i32
      ts.when %b is false key("b") {
        ts.acquire %r
        ts.commit %r
      }
      ts.for %i = %c0 to %n {
        // CHECK: %[[G:.*]] = scf.if %{{.*}} -> (index) {
        // CHECK: } else {
        %g = ts.guard first -> index {
          ts.yield %c1 : index
        } else {
          ts.yield %i : index
        }
        // CHECK: memref.store %[[G]]
        memref.store %g, %X[%i] : memref<?xindex>
      }
    }
    ts.task "c" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

// Unrolling, also where the upper bound may lie below the lower one.
// CHECK-LABEL: gpu.func @unrolled
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @unrolled(%lo: index, %hi: index, %X: memref<?xindex>) warps(1) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    ts.task "t" warps(0, 1) {
      // CHECK: scf.for
      // CHECK-COUNT-4: memref.store
      // CHECK-NOT: memref.store
      // CHECK: }
      // CHECK-NOT: ts.unroll
      ts.for %i = %c0 to %c8 unroll(4) {
        memref.store %i, %X[%i] : memref<?xindex>
      }
      // CHECK: arith.maxsi
      // CHECK: scf.for
      // CHECK-COUNT-2: memref.store
      // CHECK: }
      // CHECK: scf.for
      // CHECK: memref.store
      ts.for %i = %lo to %hi unroll(2) {
        memref.store %i, %X[%i] : memref<?xindex>
      }
      // CHECK: scf.for
      // CHECK: memref.store
      // CHECK-NOT: memref.store
      ts.for %i = %c0 to %c8 unroll(1) {
        memref.store %i, %X[%i] : memref<?xindex>
      }
    }
  }
}

// -----

// Ops of other dialects with regions keep their shape; ts ops in them are lowered too.
// CHECK-LABEL: gpu.func @foreign
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @foreign(%n: index, %X: memref<?xindex>) warps(1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    ts.task "t" warps(0, 1) {
      // CHECK: %[[S:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (index) {
      %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> index {
        // CHECK: %[[T:.*]] = arith.index_cast
        // CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[T]]
        // CHECK: scf.yield %[[SUM]]
        %t = ts.info lane : index
        %sum = arith.addi %a, %t : index
        scf.yield %sum : index
      }
      // CHECK: memref.store %[[S]]
      memref.store %s, %X[%c0] : memref<?xindex>
    }
  }
}
