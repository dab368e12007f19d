// Tensor-core pipelines: tcgen05.commit as arrival, fences around tensor memory, its lifetime, zeros
// for accumulators that no k step wrote, the drain of engine arrivals.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>

// CHECK-LABEL: gpu.func @one_warp_issue
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @one_warp_issue(%A: !map, %n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 2)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 2)
    // Barriers first, by thread 0; then the allocation by the whole of warp 0.
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: scf.if
    // CHECK-NEXT: arith.constant -1 : i32
    // CHECK-NEXT: nvvm.bar.warp.sync
    // CHECK: %[[COLUMNS:.*]] = arith.constant 256 : i32
    // CHECK-NEXT: nvvm.tcgen05.alloc %[[SLOT:.*]], %[[COLUMNS]]
    // CHECK-NEXT: nvvm.tcgen05.relinquish_alloc_permit
    // CHECK-NEXT: }
    // CHECK-NEXT: nvvm.tcgen05.fence <before>
    // CHECK-NEXT: nvvm.barrier
    // CHECK-NEXT: nvvm.tcgen05.fence <after>
    // CHECK-NEXT: %[[BASE:.*]] = llvm.load %[[SLOT]]
    ts.task "load" warps(5, 1) writes(%ab) {
      ts.for %k = %c0 to %n {
        // CHECK: nvvm.mbarrier.arrive.expect_tx
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %k] to %a : !map, !tile
          ts.tma_load %A[%c0, %k] to %b : !map, !tile
        }
        // CHECK-COUNT-2: ts.tma_load
        ts.commit %ab
        // CHECK: scf.yield %[[S:.*]], %[[P:.*]] : i32, i32
      }
    }
    // The stages are given back by tcgen05.commit: two waits at the end, one per stage.
    // CHECK: }
    // CHECK-COUNT-2: nvvm.mbarrier.try_wait
    // CHECK-NOT: nvvm.mbarrier.try_wait
    // CHECK: nvvm.bar.warp.sync
    ts.task "mma" warps(4, 1) reads(%ab) writes(%d) {
      // CHECK: nvvm.elect.sync
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.tcgen05.fence <after>
      ts.acquire %d
      // CHECK: scf.for
      ts.for %k = %c0 to %n {
        // CHECK: nvvm.mbarrier.try_wait
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        // CHECK: ts.tmem_view
        // CHECK-NOT: scf.if
        // CHECK: ts.umma
        ts.produce %d "mma" (%c) {
          %more = arith.cmpi ne, %k, %c0 : index
          ts.umma %c, %x, %y accumulate(%more) : !acc, !tile, !tile
        }
        // CHECK: nvvm.tcgen05.commit %{{.*}} : !llvm.ptr<3>
        // CHECK: scf.yield
        ts.release %ab
      }
      // CHECK: nvvm.tcgen05.commit %{{.*}} : !llvm.ptr<3>
      ts.commit %d
    }
    ts.task "store" warps(0, 4) reads(%d) {
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.tcgen05.fence <after>
      ts.wait %d
      // CHECK: %[[V:.*]] = ts.tmem_load
      // CHECK: %[[RAN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : index
      // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
      // CHECK: arith.select %[[RAN]], %[[V]], %[[ZERO]]
      %v = ts.consume %d "read" (%c) -> vector<32xf32> {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
        ts.yield %x : vector<32xf32>
      }
      // CHECK: nvvm.tcgen05.fence <before>
      // CHECK: nvvm.mbarrier.arrive
      ts.release %d
    }
    // Freed by the warp that allocated, when every warp is here.
    // CHECK: nvvm.tcgen05.fence <before>
    // CHECK-NEXT: nvvm.barrier
    // CHECK-NEXT: nvvm.tcgen05.fence <after>
    // CHECK: scf.if
    // CHECK-NEXT: %[[P6:.*]] = llvm.inttoptr %[[BASE]] : i32 to !llvm.ptr<6>
    // CHECK: nvvm.tcgen05.dealloc %[[P6]], %{{.*}}
    // CHECK: gpu.return
  }
}

// -----

// A task of four warps issues, waits and commits in one thread: a warp that merely looked on could
// fall a lap behind and wait for a phase that has passed.
// CHECK-LABEL: gpu.func @four_warps_issue
!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @four_warps_issue(%A: !map, %n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %t = arith.constant true
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_umma, stages = 2)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.task "load" warps(4, 1) writes(%ab) {
      ts.for %k = %c0 to %n {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %k] to %a : !map, !tile
          ts.tma_load %A[%c0, %k] to %b : !map, !tile
        }
        ts.commit %ab
      }
    }
    // CHECK: nvvm.elect.sync
    // CHECK: nvvm.bar.warp.sync
    ts.task "both" warps(0, 4) reads(%ab, %d) writes(%d) {
      // CHECK: arith.muli %{{.*}}, %c32_i32
      // CHECK-NEXT: %[[THREAD:.*]] = arith.addi
      // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]]
      // CHECK: scf.if %[[FIRST]] {
      // CHECK-NEXT: scf.while
      ts.acquire %d
      // CHECK: scf.for
      ts.for %k = %c0 to %n {
        // CHECK: scf.if %[[FIRST]] {
        // CHECK-NEXT: scf.while
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !tile, !tile {
          ts.yield %va, %vb : !tile, !tile
        }
        // CHECK: scf.if %[[FIRST]] {
        // CHECK-NEXT: ts.umma
        ts.produce %d "mma" (%c) {
          %more = arith.cmpi ne, %k, %c0 : index
          ts.umma %c, %x, %y accumulate(%more) : !acc, !tile, !tile
        }
        // CHECK: scf.if %[[FIRST]] {
        // CHECK-NEXT: nvvm.tcgen05.commit
        ts.release %ab
        // CHECK: scf.yield
      }
      // CHECK: scf.if %[[FIRST]] {
      // CHECK-NEXT: nvvm.tcgen05.commit
      ts.commit %d
      // Everybody waits for the result; the warp of the issuing thread is whole again before the load.
      // CHECK-NOT: scf.if
      // CHECK: scf.while
      ts.wait %d
      // CHECK: nvvm.bar.warp.sync
      // CHECK-NEXT: ts.tmem_load
      %v = ts.consume %d "read" (%c) -> vector<32xf32> {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
        ts.yield %x : vector<32xf32>
      }
      ts.release %d
    }
  }
}

// -----

// Loads that stay in flight: waited for before the stage is given back even if nobody did; the zero
// of an empty k loop goes into the value that the wait hands out.
// CHECK-LABEL: gpu.func @async_loads
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @async_loads(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %t = arith.constant true
    %s = ts.resource "s" smem(a: !tile, b: !tile)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.task "mma" warps(4, 1) reads(%s) writes(%d) {
      ts.acquire %d
      %x, %y = ts.consume %s "operands" (%va, %vb) -> !tile, !tile {
        ts.yield %va, %vb : !tile, !tile
      }
      ts.for %k = %c0 to %n {
        ts.produce %d "mma" (%c) {
          ts.umma %c, %x, %y accumulate(%t) : !acc, !tile, !tile
        }
      }
      ts.commit %d
    }
    ts.task "store" warps(0, 4) reads(%d) {
      ts.wait %d
      // CHECK: %[[L:.*]] = ts.tmem_load {{.*}} -> !ts.async<vector<32xf32>>
      // CHECK: %[[W:.*]] = ts.tmem_wait %[[L]]
      // CHECK: %[[Z:.*]] = arith.select %{{.*}}, %[[W]], %{{.*}} : vector<32xf32>
      // CHECK: vector.extract %[[Z]]
      ts.consume %d "read" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> !ts.async<vector<32xf32>>
        %v = ts.tmem_wait %x : !ts.async<vector<32xf32>> -> vector<32xf32>
        %e = vector.extract %v[0] : f32 from vector<32xf32>
      }
      // CHECK: nvvm.tcgen05.wait <load>
      // CHECK: nvvm.tcgen05.fence <before>
      // CHECK: nvvm.mbarrier.arrive
      ts.release %d
    }
  }
}

// -----

// The accumulator is written on every path when the trip count is a constant: no select.
// CHECK-LABEL: gpu.func @always_written
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @always_written() warps(8) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %t = arith.constant true
    %s = ts.resource "s" smem(a: !tile, b: !tile)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.task "mma" warps(4, 1) reads(%s) writes(%d) {
      ts.acquire %d
      %x, %y = ts.consume %s "operands" (%va, %vb) -> !tile, !tile {
        ts.yield %va, %vb : !tile, !tile
      }
      ts.for %k = %c0 to %c4 {
        ts.produce %d "mma" (%c) {
          ts.umma %c, %x, %y accumulate(%t) : !acc, !tile, !tile
        }
      }
      ts.commit %d
    }
    // CHECK: ts.tmem_load
    // CHECK-NOT: arith.select {{.*}} vector
    // CHECK: gpu.return
    ts.task "store" warps(0, 4) reads(%d) {
      ts.wait %d
      ts.consume %d "read" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %d
    }
  }
}

// -----

// Work may hand out a load in flight: the wait knows where it came from.
// CHECK-LABEL: gpu.func @handed_out
!tile = memref<128x64xbf16, #ts.smem<128>>
!acc = memref<128x128xf32, #ts.tmem>
!flight = !ts.async<vector<32xf32>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @handed_out(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %t = arith.constant true
    %s = ts.resource "s" smem(a: !tile, b: !tile)
    %d = ts.resource "d" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.task "mma" warps(4, 1) reads(%s) writes(%d) {
      ts.acquire %d
      %x, %y = ts.consume %s "operands" (%va, %vb) -> !tile, !tile {
        ts.yield %va, %vb : !tile, !tile
      }
      ts.for %k = %c0 to %n {
        ts.produce %d "mma" (%c) {
          ts.umma %c, %x, %y accumulate(%t) : !acc, !tile, !tile
        }
      }
      ts.commit %d
    }
    ts.task "store" warps(0, 4) reads(%d) {
      ts.wait %d
      %p, %q = ts.consume %d "read" (%c) -> !flight, vector<32xf32> {
        %l = ts.tmem_load %c[%c0] : !acc -> !flight
        // CHECK: %[[X:.*]] = ts.tmem_load {{.*}} -> vector<32xf32>
        // CHECK: arith.select %{{.*}}, %[[X]], %{{.*}} : vector<32xf32>
        %x = ts.tmem_load %c[%c32] : !acc -> vector<32xf32>
        ts.yield %l, %x : !flight, vector<32xf32>
      }
      // CHECK: %[[W:.*]] = ts.tmem_wait
      // CHECK: %[[Z:.*]] = arith.select %{{.*}}, %[[W]], %{{.*}} : vector<32xf32>
      // CHECK: vector.extract %[[Z]]
      %v = ts.tmem_wait %p : !flight -> vector<32xf32>
      %e = vector.extract %v[0] : f32 from vector<32xf32>
      // The view of a stage may be handed out as well.
      // CHECK: %[[LATE:.*]] = ts.tmem_load {{.*}} -> vector<32xf32>
      // CHECK: arith.select %{{.*}}, %[[LATE]], %{{.*}} : vector<32xf32>
      %view = ts.consume %d "view" (%c) -> !acc {
        ts.yield %c : !acc
      }
      %late = ts.tmem_load %view[%c0] : !acc -> vector<32xf32>
      ts.release %d
    }
  }
}
