// RUN: ts-opt %s --test-print-schedule -o /dev/null | FileCheck %s
// Where memref operands come from, issued bytes, declared work, hand-written synchronisation.

!tile = memref<64x64xbf16, #ts.smem<128>>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>

gpu.module @m attributes {ts.chip = "sm_90a"} {
// CHECK-LABEL: kernel trace
ts.kernel @trace(%A: !map, %n: index, %lens: memref<?xindex>) warps(4) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %r = ts.resource "r" smem(x: !tile) pipeline(async_async, stages = 2)
  %s = ts.resource "s" smem(y: !tile)
  // Windows of a view, a view carried over the back edge, one of two views.
  // CHECK: task views
  ts.task "views" warps(0, 1) reads(%r) writes(%s) {
    // CHECK: consume r 'first'
    %x0 = ts.consume %r "first" (%x) -> !tile {
      ts.yield %x : !tile
    }
    %last = ts.for %i = %c0 to %n iter(%v = %x0 : !tile) {
      // CHECK: #2 consume r 'next'
      %x1 = ts.consume %r "next" (%x) -> !tile {
        ts.yield %x : !tile
      }
      // CHECK: #3 produce s 'work'
      ts.produce %s "work" (%y) {
        %lower = memref.subview %v[32, 0] [32, 64] [1, 1] : !tile to memref<32x64xbf16, strided<[64, 1], offset: 2048>, #ts.smem<128>>
        %some = memref.subview %y[%i, 0] [32, 64] [1, 1] : !tile to !half
        // CHECK-NEXT: #4 access
        // CHECK-DAG: read r.x bytes [4096, 8192) by generic via #2 carried
        // CHECK-DAG: read r.x bytes [4096, 8192) by generic via #0
        // CHECK-DAG: write s.y bytes [0, 8192) part by generic via #3
        memref.copy %lower, %some : memref<32x64xbf16, strided<[64, 1], offset: 2048>, #ts.smem<128>> to !half
      }
      ts.yield %x1 : !tile
    }
  }
  // CHECK: task declared
  ts.task "declared" warps(1, 1) reads(%s) writes(%r, %s) {
    // CHECK-NEXT: produce r 'all' declared
    // CHECK-NEXT:   write r.x bytes [0, 8192) by generic via #0
    ts.produce %r "all" declared
    // CHECK-NEXT: produce s 'part' declared
    // CHECK-NEXT:   write s.y bytes [128, 192) by tma via #1
    // CHECK-NEXT:   read s.y bytes [0, 8192) by umma via #1
    ts.produce %s "part" declared effects [#ts.effect<write "y", offset = 128, size = 64, engine = tma>, #ts.effect<read "", engine = umma>]
    // CHECK-NEXT: consume s 'aux' aux declared
    // CHECK-NEXT: {{task|#3}}
    ts.consume %s "aux" aux declared
    // Loops inside work that only touch memory become accesses; a per-tile bound keeps its text.
    %len = memref.load %lens[%n] : memref<?xindex>
    // CHECK: loop 1 to load(lens, n) step 2
    ts.for %i = %c1 to %len step %c2 {
      // CHECK-NEXT: consume s 'loop'
      // CHECK-NEXT:   access
      // CHECK-NEXT:     read s.y bytes [0, 8192) by generic
      // CHECK-NOT: inner_loop
      ts.consume %s "loop" (%y) {
        scf.for %j = %c0 to %c32 step %c1 {
          %e = memref.load %y[%j, %j] : !tile
        }
      }
    }
  }
  // CHECK: task hand_written
  %bar = ts.named_barrier "bar" threads(64) id(3)
  %mbar = ts.mbarrier "mbar" count(1)
  ts.task "hand_written" warps(2, 2) writes(%s) {
    %warp = ts.info warp : index
    ts.for %i = %c0 to %n {
      ts.produce %s "sync" (%y) {
        // CHECK: barrier_sync bar
        ts.barrier_sync %bar
        // CHECK-NEXT: mbarrier_arrive mbar expect 64
        ts.mbarrier_arrive %mbar expect 64
        %q = arith.divui %i, %c2 : index
        %p = arith.remui %q, %c2 : index
        %p32 = arith.index_cast %p : index to i32
        // CHECK-NEXT: mbarrier_wait mbar parity (1 * k + 0) / 2 mod 2 of #0
        ts.mbarrier_wait %mbar parity %p32
        %one = arith.cmpi eq, %warp, %c1 : index
        scf.if %one {
          // CHECK-NEXT: access elected
          // CHECK-NEXT:   read s.y bytes [0, 8192) by tma via
          // CHECK-NEXT:   write A all part by tma
          ts.tma_store %y to %A[%c0, %c0] : !tile, !map
          // CHECK-NEXT: bulk_commit elected
          ts.bulk_commit
          // CHECK-NEXT: bulk_wait elected 0 read
          ts.bulk_wait 0 read
        }
      }
    }
  }
}
}
