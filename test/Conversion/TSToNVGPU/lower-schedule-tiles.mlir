// Work tiles of a static queue: which tiles a CTA takes, their coordinates, skipped tiles, carried
// values.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

// CHECK-LABEL: gpu.func @one_dim
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_dim(%n: index, %X: memref<?xindex>) warps(1) {
    // CHECK: %[[N:.*]] = arith.index_cast %arg0 : i64 to index
    %q = ts.work_queue "tiles" static over(%n)
    ts.task "t" warps(0, 1) reads(%q) {
      // CHECK: %[[TILES:.*]] = arith.index_cast %[[N]] : index to i32
      // CHECK-NEXT: %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
      // CHECK-NEXT: %[[FROM:.*]] = arith.index_cast %[[CTA]]
      // CHECK-NEXT: %[[TO:.*]] = arith.index_cast %[[TILES]]
      // CHECK-NEXT: %[[CTAS:.*]] = nvvm.read.ptx.sreg.nctaid.x
      // CHECK-NEXT: %[[STEP:.*]] = arith.index_cast %[[CTAS]]
      // CHECK-NEXT: scf.for %[[T:.*]] = %[[FROM]] to %[[TO]] step %[[STEP]] {
      ts.tile_loop %q (%m) {
        // CHECK: %[[T32:.*]] = arith.index_cast %[[T]]
        // CHECK-NEXT: %[[M:.*]] = arith.index_cast %[[T32]]
        // CHECK-NEXT: memref.store %[[M]], %{{.*}}[%[[M]]]
        memref.store %m, %X[%m] : memref<?xindex>
        ts.next_tile %q
      }
    }
  }
}

// -----

// Rows first: tile / columns, tile mod columns.
// CHECK-LABEL: gpu.func @two_dims
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_dims(%a: index, %b: index, %X: memref<?x?xindex>) warps(1) {
    %q = ts.work_queue "tiles" static over(%a, %b)
    ts.task "t" warps(0, 1) reads(%q) {
      // CHECK: %[[ROWS:.*]] = arith.index_cast %{{.*}} : index to i32
      // CHECK: %[[COLS:.*]] = arith.index_cast %{{.*}} : index to i32
      // CHECK: %[[TOTAL:.*]] = arith.muli %[[ROWS]], %[[COLS]]
      // CHECK: arith.index_cast %[[TOTAL]]
      ts.tile_loop %q (%m, %n) {
        // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
        // CHECK-NEXT: %[[ROW:.*]] = arith.divui %[[T]], %[[COLS]]
        // CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[ROW]], %[[COLS]]
        // CHECK-NEXT: %[[COL:.*]] = arith.subi %[[T]], %[[BEGIN]]
        // CHECK-NEXT: %[[M:.*]] = arith.index_cast %[[ROW]]
        // CHECK-NEXT: %[[N:.*]] = arith.index_cast %[[COL]]
        // CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[M]], %[[N]]]
        memref.store %m, %X[%m, %n] : memref<?x?xindex>
        ts.next_tile %q
      }
    }
  }
}

// -----

// Groups of eight rows; the last group may be lower.
// CHECK-LABEL: gpu.func @grouped
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @grouped(%a: index, %b: index, %X: memref<?x?xindex>) warps(1) {
    %q = ts.work_queue "tiles" static over(%a, %b) group(8)
    ts.task "t" warps(0, 1) reads(%q) {
      // CHECK: %[[ROWS:.*]] = arith.index_cast %{{.*}} : index to i32
      // CHECK: %[[COLS:.*]] = arith.index_cast %{{.*}} : index to i32
      ts.tile_loop %q (%m, %n) {
        // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
        // CHECK: %[[SIZE:.*]] = arith.constant 8
        // CHECK-NEXT: %[[PER:.*]] = arith.muli %[[COLS]], %[[SIZE]]
        // CHECK-NEXT: %[[G:.*]] = arith.divui %[[T]], %[[PER]]
        // CHECK-NEXT: %[[GT:.*]] = arith.muli %[[G]], %[[PER]]
        // CHECK-NEXT: %[[REST:.*]] = arith.subi %[[T]], %[[GT]]
        // CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[G]], %[[SIZE]]
        // CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]]
        // CHECK-NEXT: %[[SMALL:.*]] = arith.cmpi ult, %[[LEFT]], %[[SIZE]]
        // CHECK-NEXT: %[[HEIGHT:.*]] = arith.select %[[SMALL]], %[[LEFT]], %[[SIZE]]
        // CHECK-NEXT: %[[COL:.*]] = arith.divui %[[REST]], %[[HEIGHT]]
        // CHECK-NEXT: %[[DOWN:.*]] = arith.muli %[[COL]], %[[HEIGHT]]
        // CHECK-NEXT: %[[IN:.*]] = arith.subi %[[REST]], %[[DOWN]]
        // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[IN]]
        // CHECK-NEXT: %[[M:.*]] = arith.index_cast %[[ROW]]
        // CHECK-NEXT: %[[N:.*]] = arith.index_cast %[[COL]]
        // CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[M]], %[[N]]]
        memref.store %m, %X[%m, %n] : memref<?x?xindex>
        ts.next_tile %q
      }
    }
  }
}

// -----

// Three dimensions: whole planes first.
// CHECK-LABEL: gpu.func @three_dims
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @three_dims(%z: index, %a: index, %b: index, %X: memref<?x?x?xindex>) warps(1) {
    %q = ts.work_queue "tiles" static over(%z, %a, %b)
    ts.task "t" warps(0, 1) reads(%q) {
      // CHECK: arith.index_cast %{{.*}} : index to i32
      // CHECK: %[[ROWS:.*]] = arith.index_cast %{{.*}} : index to i32
      // CHECK: %[[COLS:.*]] = arith.index_cast %{{.*}} : index to i32
      ts.tile_loop %q (%l, %m, %n) {
        // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
        // CHECK-NEXT: %[[PLANE:.*]] = arith.muli %[[ROWS]], %[[COLS]]
        // CHECK-NEXT: %[[BATCH:.*]] = arith.divui %[[T]], %[[PLANE]]
        // CHECK-DAG: %[[L:.*]] = arith.index_cast %[[BATCH]]
        // CHECK-DAG: %[[REST:.*]] = arith.subi %[[T]]
        // CHECK-DAG: arith.divui %[[REST]], %[[COLS]]
        // CHECK: memref.store %{{.*}}, %{{.*}}[%[[L]], %{{.*}}, %{{.*}}]
        memref.store %m, %X[%l, %m, %n] : memref<?x?x?xindex>
        ts.next_tile %q
      }
    }
  }
}

// -----

// A skipped tile leaves out what is skippable, in every task by the same predicate; positions and
// carried values go on.
// CHECK-LABEL: gpu.func @skipped
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @skipped(%a: index, %b: index, %X: memref<?xindex>) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %q = ts.work_queue "tiles" static over(%a, %b) skip(%m, %n) {
      %above = arith.cmpi ugt, %n, %m : index
      ts.yield %above : i1
    }
    ts.task "p" warps(0, 1) reads(%q) writes(%r) {
      // CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[C:.*]] = %c0, %[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (index, i32, i32) {
      %count = ts.tile_loop %q (%m, %n) iter(%c = %c0 : index) {
        // CHECK: %[[SKIP:.*]] = arith.cmpi ugt
        // CHECK: %[[KEEP:.*]] = arith.xori %[[SKIP]], %true
        // CHECK: %[[NEW:.*]]:2 = scf.if %[[KEEP]] -> (i32, i32) {
        ts.skippable {
          ts.acquire %r
          ts.commit %r
        }
        // CHECK: } else {
        // CHECK-NEXT: scf.yield %[[S]], %[[P]]
        // CHECK: %[[SUM:.*]] = arith.addi %[[C]]
        // CHECK: scf.yield %[[SUM]], %[[NEW]]#0, %[[NEW]]#1
        %next = arith.addi %c, %m : index
        ts.next_tile %q
        ts.yield %next : index
      }
      // CHECK: memref.store %[[LOOP]]#0
      memref.store %count, %X[%c0] : memref<?xindex>
    }
    ts.task "c" warps(1, 1) reads(%r, %q) {
      // CHECK: scf.for
      // CHECK: arith.cmpi ugt
      // CHECK: scf.if
      ts.tile_loop %q {
        ts.skippable {
          ts.wait %r
          ts.release %r
        }
        ts.next_tile %q
      }
    }
  }
}
