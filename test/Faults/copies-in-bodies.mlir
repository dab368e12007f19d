// Copies in a body that add up to the same bytes on every path: branches that ask the same go the same
// way, and the iterations of a short loop are told apart.
// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err

// OUT: guards: proven for every n: no deadlock
// OUT-NOT: assumed
// OUT: conditions: proven for every n, up: no deadlock
// OUT-NOT: assumed
// OUT: inner: proven for every n: no deadlock
// OUT-NOT: assumed
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @guards(%A: !ts.tensor_map<?x?xf32, box = 32x32>, %n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x32xf32, #ts.smem>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %u = memref.subview %x[0, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem> to memref<32x32xf32, strided<[32, 1]>, #ts.smem>
          %l = memref.subview %x[32, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem> to memref<32x32xf32, strided<[32, 1], offset: 1024>, #ts.smem>
          ts.guard first {
            ts.tma_load %A[%c0, %c0] to %u : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, strided<[32, 1]>, #ts.smem>
          }
          ts.tma_load %A[%c32, %c0] to %l : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, strided<[32, 1], offset: 1024>, #ts.smem>
          ts.guard not_first {
            ts.tma_load %A[%c0, %c32] to %u : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, strided<[32, 1]>, #ts.smem>
          }
        }
        ts.commit %r
      }
    }
    ts.task "read" warps(1, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
  ts.kernel @conditions(%A: !ts.tensor_map<?x?xf32, box = 32x32>, %n: index, %up: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %is = arith.cmpi sgt, %up, %c0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<32x32xf32, #ts.smem>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          ts.when %is is true {
            ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, #ts.smem>
          }
          ts.when %is is false {
            ts.tma_load %A[%c32, %c0] to %x : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, #ts.smem>
          }
        }
        ts.commit %r
      }
    }
    ts.task "read" warps(1, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
  ts.kernel @inner(%A: !ts.tensor_map<?x?xf32, box = 32x32>, %n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<96x32xf32, #ts.smem>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          scf.for %j = %c0 to %c3 step %c1 {
            %row = arith.muli %j, %c32 : index
            %p = memref.subview %x[%row, 0] [32, 32] [1, 1] : memref<96x32xf32, #ts.smem> to memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
            %last = arith.cmpi eq, %j, %c2 : index
            scf.if %last {
              ts.tma_load %A[%c0, %c0] to %p : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
            } else {
              ts.tma_load %A[%row, %c32] to %p : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem>
            }
          }
        }
        ts.commit %r
      }
    }
    ts.task "read" warps(1, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS217] the copies of task 'load' into 'r' add up to 4096 bytes on one path and to 8192 on another
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @both_first(%A: !ts.tensor_map<?x?xf32, box = 32x32>, %n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x32xf32, #ts.smem>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          %u = memref.subview %x[0, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem> to memref<32x32xf32, strided<[32, 1]>, #ts.smem>
          %l = memref.subview %x[32, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem> to memref<32x32xf32, strided<[32, 1], offset: 1024>, #ts.smem>
          ts.tma_load %A[%c0, %c0] to %u : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, strided<[32, 1]>, #ts.smem>
          ts.guard every 2 {
            ts.tma_load %A[%c32, %c0] to %l : !ts.tensor_map<?x?xf32, box = 32x32>, memref<32x32xf32, strided<[32, 1], offset: 1024>, #ts.smem>
          }
        }
        ts.commit %r
      }
    }
    ts.task "read" warps(1, 1) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "tile" declared
        ts.release %r
      }
    }
  }
}
