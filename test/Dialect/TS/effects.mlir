// Memory effects: upstream passes neither drop, merge, hoist nor reorder a step of a protocol or an
// asynchronous access, while pure ops are cleaned up as usual.
// RUN: ts-opt %s -canonicalize -cse -loop-invariant-code-motion -sccp -control-flow-sink -canonicalize -cse | FileCheck %s

// Two equal steps in a row stay two steps, and a task or guard that does nothing stays declared.
// CHECK-LABEL: ts.kernel @steps
// CHECK: ts.task "t"
// CHECK-NEXT: ts.try_acquire %[[R:.*]]
// CHECK-NEXT: ts.try_acquire %[[R]]
// CHECK-NEXT: ts.acquire %[[R]]
// CHECK-NEXT: ts.acquire %[[R]]
// CHECK-NEXT: ts.produce %[[R]] "w" {
// CHECK-NEXT: }
// CHECK-NEXT: ts.produce %[[R]] "w" {
// CHECK-NEXT: }
// CHECK-NEXT: ts.commit %[[R]]
// CHECK-NEXT: ts.commit %[[R]]
// CHECK-NEXT: ts.barrier_sync
// CHECK-NEXT: ts.barrier_sync
// CHECK-NEXT: ts.fence cta
// CHECK-NEXT: ts.fence cta
// CHECK-NEXT: }
// CHECK: ts.task "idle"
gpu.module @m {
ts.kernel @steps() warps(2) {
  %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
  %unused = ts.resource "unused" gmem
  %b = ts.named_barrier "b" threads(32)
  ts.task "t" warps(0, 1) writes(%r) {
    ts.try_acquire %r
    ts.try_acquire %r
    ts.acquire %r
    ts.acquire %r
    ts.produce %r "w" {
    }
    ts.produce %r "w" {
    }
    ts.commit %r
    ts.commit %r
    ts.barrier_sync %b
    ts.barrier_sync %b
    ts.fence cta
    ts.fence cta
  }
  ts.task "idle" warps(1, 1) {
  }
}

// The same question in an inner loop is another question: ts.info and ts.guard do not merge with
// equal ones of the outer loop, and a load is not moved over a wait.
// CHECK-LABEL: ts.kernel @position
// CHECK: ts.for
// CHECK: %[[OUTER:.*]] = ts.info loop_offset
// CHECK: %[[G0:.*]] = ts.guard first -> index
// CHECK: ts.for
// CHECK: %[[INNER:.*]] = ts.info loop_offset
// CHECK: %[[G1:.*]] = ts.guard first -> index
// CHECK: memref.load %{{.*}}[%[[OUTER]], %[[INNER]]]
// CHECK: ts.wait
// CHECK: memref.load %{{.*}}[%[[OUTER]], %[[INNER]]]
// CHECK: memref.store %{{.*}}[%[[G0]], %[[G1]]]
ts.kernel @position(%g: memref<8x8xf32>) warps(1) {
  %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  ts.task "t" warps(0, 1) reads(%r) {
    ts.for %i = %c0 to %c8 {
      %o = ts.info loop_offset : index
      %p = ts.guard first -> index {
        ts.yield %c0 : index
      } else {
        ts.yield %c1 : index
      }
      ts.for %j = %c0 to %c8 {
        %n = ts.info loop_offset : index
        %q = ts.guard first -> index {
          ts.yield %c0 : index
        } else {
          ts.yield %c1 : index
        }
        %v = memref.load %g[%o, %n] : memref<8x8xf32>
        ts.wait %r
        %w = memref.load %g[%o, %n] : memref<8x8xf32>
        ts.release %r
        %s = arith.addf %v, %w : f32
        memref.store %s, %g[%p, %q] : memref<8x8xf32>
      }
    }
  }
}
}

// An access whose result nobody uses stays, its loop-invariant twin in a loop is not hoisted.
// CHECK-LABEL: func.func @accesses
// CHECK: ts.tmem_load
// CHECK-NEXT: ts.tmem_load
// CHECK-NEXT: scf.for
// CHECK-NEXT: ts.tmem_load
// CHECK-NEXT: ts.wgmma_commit
// CHECK-NEXT: ts.wgmma_wait 0
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @accesses(%m: memref<128x32xf32, #ts.tmem>, %i: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = ts.tmem_load %m[%i] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
  %1 = ts.tmem_load %m[%i] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
  scf.for %k = %c0 to %n step %c1 {
    %2 = ts.tmem_load %m[%i] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
    ts.wgmma_commit
    ts.wgmma_wait 0
  }
  return
}

// Pure ops are cleaned up: equal ones merge, unused ones go, invariant ones are hoisted.
// CHECK-LABEL: func.func @pure
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: %[[Z:.*]] = ts.wgmma_zero
// CHECK-NEXT: scf.for {{.*}} iter_args(%{{.*}} = %[[Z]]
// CHECK-NEXT: ts.wgmma_wait 0, %{{.*}}, %[[Z]]
// CHECK-NEXT: scf.yield
func.func @pure(%n: index, %f: !ts.fragment<64x64xf32>) -> !ts.wgmma<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = ts.wgmma_zero : !ts.wgmma<64x64xf32>
  %unused = ts.wgmma_start %f : !ts.fragment<64x64xf32> -> !ts.wgmma<64x64xf32>
  %map = ts.fragment_map %f (%x) : !ts.fragment<64x64xf32> -> !ts.fragment<64x64xf32> {
    %y = arith.addf %x, %x : f32
    ts.yield %y : f32
  }
  %thread = ts.info thread : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %a) -> !ts.wgmma<64x64xf32> {
    %b = ts.wgmma_zero : !ts.wgmma<64x64xf32>
    %w:2 = ts.wgmma_wait 0, %acc, %b : !ts.wgmma<64x64xf32>, !ts.wgmma<64x64xf32> -> !ts.wgmma<64x64xf32>, !ts.wgmma<64x64xf32>
    scf.yield %w#0 : !ts.wgmma<64x64xf32>
  }
  return %r : !ts.wgmma<64x64xf32>
}
