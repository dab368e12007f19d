// RUN: ts-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(ts-fill-bodies{remarks=false},canonicalize))' --verify-diagnostics | FileCheck %s
// What each engine does in the body that ts-fill-bodies gives a declared call.

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // The copy moves exactly the declared bytes, from the row of its slot; the threads compare.
  // CHECK-LABEL: ts.kernel @copy
  // CHECK-SAME: %fill_16x256: !ts.tensor_map<?x?xi8, box = 16x256>
  // CHECK-SAME: %fill_report: memref<?xi32>
  ts.kernel @copy(%n: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // Tiles are seen as bytes; what their swizzle asked for is kept.
    // CHECK: ts.resource "r" smem(x: memref<4096xi8, #ts.smem> align 1024)
    %r = ts.resource "r" smem(x: memref<32x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, num_bytes = 4096)
    ts.depends %r on %g
    // Slots are counted in memory of the thread, in the kernel's entry block.
    // CHECK: %[[COUNT:.+]] = llvm.alloca
    // CHECK: ts.task "load"
    // CHECK: llvm.store %{{.*}}, %[[COUNT]]
    ts.task "load" warps(4, 1) writes(%r) {
      ts.for %i = %c0 to %n {
        // CHECK: ts.acquire
        // CHECK: llvm.store %{{.*}}, %[[COUNT]]
        ts.acquire %r
        // CHECK: ts.produce %{{.*}} "load" (%[[STAGE:.+]]) {
        // CHECK: %[[SLOT:.+]] = llvm.load %[[COUNT]]
        // CHECK: arith.divsi %[[SLOT]]
        // CHECK: ts.info stage
        // CHECK: %[[VIEW:.+]] = memref.view %[[STAGE]]
        // CHECK: ts.tma_load %fill_16x256[%{{.*}}, %{{.*}}] to %[[VIEW]]
        // CHECK-NOT: ts.tma_load
        ts.produce %r "load" declared bytes(4096)
        ts.commit %r
      }
    }
    // CHECK: ts.task "store"
    ts.task "store" warps(0, 4) reads(%r) {
      // Helper work does nothing.
      // CHECK: ts.consume %{{.*}} "init" aux {
      // CHECK-NEXT: }
      ts.consume %r "init" aux declared
      ts.for %i = %c0 to %n {
        ts.wait %r
        // CHECK: ts.consume %{{.*}} "read" (%{{.*}}) -> (index, f32) {
        // CHECK: ts.info thread
        // CHECK: scf.for
        // CHECK: vector.load
        // CHECK: arith.xori
        // CHECK: scf.if
        // CHECK: memref.atomic_rmw maxu %{{.*}}, %fill_report
        // CHECK: ts.yield %{{.*}}, %{{.*}} : index, f32
        %x, %y = ts.consume %r "read" -> index, f32 declared
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // Products read whole stages as bytes and write all columns; tensor memory is compared between
  // its columns, or with the word of its slot if threads wrote it.
  // CHECK-LABEL: ts.kernel @product
  ts.kernel @product(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %a = ts.resource "a" smem(x: memref<8192xi8, #ts.smem>, y: memref<1024xi8, #ts.smem>) pipeline(tma_umma, stages = 2, num_bytes = 9216)
    // CHECK: tmem(c: memref<128x32xi32, #ts.tmem>)
    %d = ts.resource "d" tmem(c: memref<128x32xf32>) pipeline(umma_async, stages = 1)
    ts.task "mma" warps(4, 1) reads(%a) writes(%d) {
      ts.acquire %d
      ts.for %i = %c0 to %n {
        ts.wait %a
        // The stage goes to the product as a result.
        // CHECK: %[[DESC:.+]]:3 = ts.consume %{{.*}} "describe" (%{{.*}}, %{{.*}}) -> (index, memref<8192xi8, #ts.smem>, memref<1024xi8, #ts.smem>)
        %desc = ts.consume %a "describe" -> index declared
        // CHECK: ts.produce %{{.*}} "multiply" (%[[D:.+]])
        // CHECK-DAG: %[[A0:.+]] = memref.view %[[DESC]]#1[%c0][] : memref<8192xi8, #ts.smem> to memref<2x128x16xi8, #ts.smem>
        // CHECK-DAG: %[[B0:.+]] = memref.view %[[DESC]]#2[%c0][] : memref<1024xi8, #ts.smem> to memref<2x32x16xi8, #ts.smem>
        // CHECK: ts.umma %{{.*}}, %[[A0]], %[[B0]] accumulate(%false)
        // CHECK: memref.view %[[DESC]]#1[%c4096]
        // CHECK: ts.umma {{.*}} accumulate(%true)
        // CHECK-NOT: ts.umma
        ts.produce %d "multiply" uses(%desc : index) declared
        ts.release %a
      }
      ts.commit %d
    }
    // CHECK: ts.task "read"
    ts.task "read" warps(0, 4) reads(%d) {
      ts.wait %d
      // CHECK: %[[LOADED:.+]] = ts.tmem_load
      // CHECK: %[[FIRST:.+]] = vector.extract %[[LOADED]][0]
      // CHECK: vector.broadcast %[[FIRST]]
      ts.consume %d "read" declared
      ts.release %d
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // cp.async, threads, and tasks that fill one stage together.
  // CHECK-LABEL: ts.kernel @threads
  // CHECK-SAME: %fill_lines: memref<?x16xi8>
  ts.kernel @threads(%n: index) warps(4) {
    %c0 = arith.constant 0 : index
    %a = ts.resource "a" smem(x: memref<1024xi8, #ts.smem>) pipeline(async_async, stages = 2, producer_op = load)
    %b = ts.resource "b" smem(x: memref<1024xi8, #ts.smem>) pipeline(async_async, stages = 2)
    ts.task "first" warps(0, 1) writes(%a, %b) {
      ts.acquire %a
      // CHECK: ts.produce %{{.*}} "copy"
      // CHECK: scf.for
      // CHECK: ts.cp_async %fill_lines[%{{.*}}, %c0] to %{{.*}}[%{{.*}}], 16
      ts.produce %a "copy" declared
      ts.commit %a
      ts.acquire %b
      // Three warps in all take the stage in turns of 96 threads, 384 words.
      // CHECK: ts.produce %{{.*}} "store"
      // CHECK: scf.for %{{.*}} = %{{.*}} to %c256 step %c384
      // CHECK: vector.store
      ts.produce %b "store" declared
      ts.commit %b
    }
    ts.task "second" warps(1, 2) writes(%b) {
      ts.acquire %b
      // CHECK: ts.produce %{{.*}} "store too"
      // CHECK: %[[T:.+]] = ts.info thread
      // CHECK: arith.addi %[[T]], %c32
      ts.produce %b "store too" declared
      ts.commit %b
    }
    ts.task "third" warps(3, 1) reads(%a, %b) {
      ts.wait %a
      ts.consume %a "read" declared
      ts.release %a
      ts.wait %b
      ts.consume %b "read" declared
      ts.release %b
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // A copy out goes where nobody reads, and ends before the stage is given back.
  // CHECK-LABEL: ts.kernel @out
  // CHECK-SAME: %fill_sink: memref<?xi8>
  ts.kernel @out(%n: index) warps(8) {
    %r = ts.resource "r" smem(x: memref<4096xi8, #ts.smem>) pipeline(async_async, stages = 2)
    ts.task "fill" warps(4, 4) writes(%r) {
      ts.acquire %r
      ts.produce %r "fill" declared
      ts.commit %r
    }
    ts.task "store" warps(0, 4) reads(%r) {
      ts.wait %r
      // CHECK: ts.consume %{{.*}} "store"
      // CHECK: scf.if
      // CHECK: %[[PART:.+]] = memref.view %{{.*}}[%c1024][] : memref<4096xi8, #ts.smem> to memref<2048xi8, #ts.smem>
      // CHECK: ts.bulk_store %[[PART]] to %fill_sink
      // CHECK: ts.bulk_commit
      // CHECK: ts.bulk_wait 0 read
      ts.consume %r "store" declared effects [#ts.effect<read "x", offset = 1024, size = 2048, engine = tma>]
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @refused(%n: index) warps(8) {
    %r = ts.resource "r" smem(x: memref<4096xi8, #ts.smem>) pipeline(tma_async, stages = 2, num_bytes = 4096)
    ts.task "load" warps(4, 1) writes(%r) {
      ts.acquire %r
      ts.produce %r "load" declared
      ts.commit %r
    }
    ts.task "multiply" warps(0, 4) reads(%r) {
      ts.wait %r
      // expected-error @+1 {{[TS404] ts-fill-bodies cannot give "multiply" of 'r' a body: wgmma reads shared memory and writes registers}}
      ts.consume %r "multiply" declared effects [#ts.effect<write "x", engine = wgmma>]
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @mixed(%n: index) warps(8) {
    %r = ts.resource "r" smem(x: memref<32x64xbf16, #ts.smem<128>>) pipeline(async_async, stages = 2)
    ts.task "fill" warps(4, 4) writes(%r) {
      ts.acquire %r
      ts.produce %r "fill" {
      }
      ts.commit %r
    }
    ts.task "read" warps(0, 4) reads(%r) {
      ts.wait %r
      // expected-error @+1 {{[TS404] ts-fill-bodies cannot give "read" of 'r' a body: other calls of 'r' have bodies, so 'x' cannot be seen as plain bytes; fill all calls or none}}
      ts.consume %r "read" declared
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // Each CTA brings its half to both.
  // CHECK-LABEL: ts.kernel @multicast
  ts.kernel @multicast(%n: index) warps(8) cluster(2, 1, 1) {
    // CHECK-DAG: %[[BOTH:.+]] = arith.constant 3 : i16
    // CHECK-DAG: %[[HALF:.+]] = arith.constant 2048 : index
    %r = ts.resource "r" smem(x: memref<4096xi8, #ts.smem>) pipeline(tma_async, stages = 2, num_bytes = 4096, cta_layout = (1, 2, 1, 1), mcast = (0, 1))
    ts.task "load" warps(4, 1) writes(%r) {
      ts.acquire %r
      // CHECK: %[[RANK:.+]] = ts.info cta_rank
      // CHECK: %[[SECOND:.+]] = arith.cmpi eq, %[[RANK]]
      // CHECK: %[[PART:.+]] = arith.select %[[SECOND]], %[[HALF]]
      // CHECK: memref.view %{{.+}}[%[[PART]]]
      // CHECK: ts.tma_load {{.*}} multicast(%[[BOTH]])
      // CHECK-NOT: ts.tma_load
      ts.produce %r "load" declared bytes(2048)
      ts.commit %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // The operands of a product over 2 x 2 CTAs: one along each dimension.
  // CHECK-LABEL: ts.kernel @multicast_operands
  ts.kernel @multicast_operands(%n: index) warps(8) cluster(2, 2, 1) {
    %r = ts.resource "r" smem(x: memref<4096xi8, #ts.smem>, y: memref<8192xi8, #ts.smem>) pipeline(tma_async, stages = 2, num_bytes = 12288, cta_layout = (1, 2, 2, 1))
    ts.task "load" warps(4, 1) writes(%r) {
      ts.acquire %r
      // CHECK: ts.produce %{{.+}} "load" (%[[X:.+]], %[[Y:.+]]) {
      // CHECK: memref.view %[[X]]
      // CHECK: ts.tma_load %fill_8x256{{.*}} multicast
      // CHECK: memref.view %[[Y]]
      // CHECK: ts.tma_load %fill_16x256{{.*}} multicast
      ts.produce %r "load" declared bytes(6144)
      ts.commit %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @too_many(%n: index) warps(8) {
    %r = ts.resource "r" smem(x: memref<4096xi8, #ts.smem>) pipeline(tma_async, stages = 2, num_bytes = 8192)
    ts.task "load" warps(4, 1) writes(%r) {
      ts.acquire %r
      // expected-error @+1 {{[TS404] the copies into a stage of 'r' declare 8192 bytes, but the stage has 4096 in each CTA}}
      ts.produce %r "load" declared bytes(8192)
      ts.commit %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @no_value() warps(4) {
    %g = ts.resource "g" gmem
    ts.task "t" warps(0, 4) reads(%g) {
      // expected-error @+1 {{[TS404] ts-fill-bodies cannot give "get" of 'g' a body: its result has type memref<4xf32>, for which there is no value to give; return numbers}}
      %x = ts.consume %g "get" -> memref<4xf32> declared
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // expected-error @+1 {{[TS404] argument 'fill_1x256' has a name that ts-fill-bodies gives to its own; rename it}}
  ts.kernel @taken(%fill_1x256: index) warps(4) {
    %g = ts.resource "g" gmem
    ts.task "t" warps(0, 4) reads(%g) {
      %x = ts.consume %g "get" -> index declared
    }
  }
}
