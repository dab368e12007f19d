// Positions in a ring: what moves them, how they travel through loops and branches, lanes, probes.
// RUN: ts-opt --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-allocate,ts-lower-schedule))' --split-input-file %s 2>/dev/null | FileCheck %s

// A single stage: only the parity moves.
// CHECK-LABEL: gpu.func @single_stage
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @single_stage(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 1)
    ts.task "p" warps(0, 1) writes(%r) {
      // CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
      // CHECK-NOT: arith.select
      // CHECK: %[[N:.*]] = arith.xori %[[P]], %c1_i32
      // CHECK-NEXT: scf.yield %[[S]], %[[N]]
      ts.for %k = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "c" warps(1, 1) reads(%r) {
      ts.for %k = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// advance_on_wait: waits run ahead of releases, each with a position of its own, and work stands on
// the stage of the last wait.
// CHECK-LABEL: gpu.func @split
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @split(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 3, advance_on_wait)
    ts.task "p" warps(0, 1) writes(%r) {
      ts.for %k = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    // CHECK: scf.yield %{{.*}}, %{{.*}} : i32, i32
    ts.task "c" warps(1, 1) reads(%r) {
      %some = arith.cmpi sgt, %n, %c0 : index
      // CHECK: scf.for {{.*}} iter_args(%[[WS:.*]] = %{{.*}}, %[[WP:.*]] = %{{.*}}, %[[RS:.*]] = %{{.*}}, %[[RP:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}})
      ts.for %k = %c0 to %n {
        // CHECK: arith.muli %[[WS]]
        // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[WP]]
        // CHECK: %[[NEXT:.*]] = arith.addi %[[WS]]
        ts.wait %r
        // CHECK: arith.muli %[[WS]], %c256_i32
        ts.consume %r "use" (%x) {
          %f = memref.load %x[%c0] : memref<64xf32, #ts.smem>
        }
        // CHECK: scf.if
        // CHECK: arith.muli %[[RS]]
        // CHECK: nvvm.mbarrier.arrive
        // CHECK: arith.addi %[[RS]]
        // CHECK: } else {
        // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[RS]], %[[RP]], %[[WS]] :
        ts.guard not_first {
          ts.release %r
        }
        // CHECK: scf.yield {{.*}} : i32, i32, i32, i32, i32
      }
      ts.when %some is true {
        ts.release %r
      }
    }
  }
}

// -----

// advance_on_acquire on the producer's side.
// CHECK-LABEL: gpu.func @split_producer
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @split_producer() warps(2) {
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, advance_on_acquire)
    ts.task "p" warps(0, 1) writes(%r) {
      // CHECK: %[[S0:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
      // CHECK: %[[P0:.*]] = arith.xori
      ts.acquire %r
      // The second one is on the next stage although nothing was committed.
      // CHECK: arith.muli %[[S0]], %c8_i32
      // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P0]]
      ts.acquire %r
      // CHECK: nvvm.mbarrier.arrive
      // CHECK: %[[C1:.*]] = arith.select
      ts.commit %r
      // CHECK: arith.muli %[[C1]], %c8_i32
      // CHECK: nvvm.mbarrier.arrive
      ts.commit %r
    }
    ts.task "c" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.release %r
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

// One task waits, another one releases: each counts by itself.
// CHECK-LABEL: gpu.func @two_consumers
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_consumers(%n: index) warps(3) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" barrier pipeline(async_async, stages = 2)
    ts.task "p" warps(0, 1) writes(%r) {
      ts.for %k = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "waits" warps(1, 1) reads(%r) writes(%b) {
      // CHECK: scf.for
      // CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
      ts.for %k = %c0 to %n {
        // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P]]
        // CHECK: arith.addi %[[S]]
        ts.wait %r
        ts.acquire %b
        ts.commit %b
      }
    }
    ts.task "releases" warps(2, 1) reads(%r, %b) {
      // CHECK: scf.for {{.*}} iter_args(%[[BS:.*]] = %{{.*}}, %[[BP:.*]] = %{{.*}}, %[[RS:.*]] = %{{.*}}, %[[RP:.*]] = %{{.*}})
      ts.for %k = %c0 to %n {
        ts.wait %b
        // CHECK: arith.muli %[[RS]], %c8_i32
        // CHECK: nvvm.mbarrier.arrive
        // CHECK: arith.addi %[[RS]]
        ts.release %r
        // CHECK: arith.muli %[[BS]], %c8_i32
        // CHECK: nvvm.mbarrier.arrive
        ts.release %b
      }
    }
  }
}

// -----

// Nested loops: the position goes through both, a loop that moves nothing carries nothing.
// CHECK-LABEL: gpu.func @nested
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @nested(%n: index, %m: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 3)
    ts.task "p" warps(0, 1) writes(%r) {
      // CHECK: %[[OUT:.*]]:3 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %c0, %[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (index, i32, i32)
      %sum = ts.for %i = %c0 to %n iter(%acc = %c0 : index) {
        // CHECK: %[[IN:.*]]:3 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[ACC]], %[[IS:.*]] = %[[S]], %[[IP:.*]] = %[[P]]) -> (index, i32, i32)
        %inner = ts.for %k = %c0 to %m step %c2 iter(%a = %acc : index) {
          // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[IP]]
          ts.acquire %r
          ts.commit %r
          %next = arith.addi %a, %k : index
          ts.yield %next : index
        }
        // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
        ts.for %k = %c0 to %m {
        }
        // CHECK: scf.yield %[[IN]]#0, %[[IN]]#1, %[[IN]]#2
        ts.yield %inner : index
      }
      // CHECK: arith.muli %[[OUT]]#1, %c8_i32
      // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[OUT]]#2
      ts.acquire %r
      ts.commit %r
    }
    ts.task "c" warps(1, 1) reads(%r) {
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

// A probe is a hint for the stage it looked at: the next wait skips its loop, and once the position has
// moved on the hint is void.
// CHECK-LABEL: gpu.func @probes
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @probes(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "p" warps(0, 1) writes(%r) {
      ts.for %k = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    // CHECK: nvvm.mbarrier.arrive
    ts.task "c" warps(1, 1) reads(%r) {
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[H:.*]] = %false{{.*}}) -> (i32, i32, i1)
      ts.for %k = %c0 to %n {
        // CHECK: %[[NOT:.*]] = arith.xori %[[H]], %true
        // CHECK: scf.if %[[NOT]] {
        // CHECK-NEXT: scf.while
        ts.wait %r
        // Still the stage that is open: true, but it says nothing about the next one.
        // CHECK: %[[OLD:.*]] = nvvm.mbarrier.try_wait
        // CHECK-NOT: scf.while
        ts.try_wait %r
        // CHECK: nvvm.mbarrier.arrive
        ts.release %r
        // CHECK: %[[VOID:.*]] = arith.constant false
        // CHECK-NEXT: scf.yield %{{.*}}, %{{.*}}, %[[VOID]]
      }
    }
  }
}

// -----

// With a position of its own the probe looks at the next stage, before the current one is given back.
// CHECK-LABEL: gpu.func @probe_ahead
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @probe_ahead(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, advance_on_wait)
    ts.task "p" warps(0, 1) writes(%r) {
      ts.for %k = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    // CHECK: nvvm.mbarrier.arrive
    ts.task "c" warps(1, 1) reads(%r) {
      // CHECK: scf.for {{.*}} iter_args(%[[W:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[R:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %false{{.*}})
      ts.for %k = %c0 to %n {
        ts.wait %r
        // CHECK: %[[NEXT:.*]] = arith.select
        // CHECK: arith.muli %[[NEXT]], %c8_i32
        // CHECK: %[[HINT:.*]] = nvvm.mbarrier.try_wait
        ts.try_wait %r
        // CHECK: arith.muli %[[R]], %c8_i32
        // CHECK: nvvm.mbarrier.arrive
        ts.release %r
        // CHECK: scf.yield {{.*}}, %[[HINT]] : i32, i32, i32, i32, i32, i1
      }
    }
  }
}

// -----

// Lanes by warp: warp w of two owns slots w, w + 2, ...
// CHECK-LABEL: gpu.func @warp_lanes
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @warp_lanes(%n: index) warps(3) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 1, 1))
    // One warp arrives per phase.
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c32_i32
    ts.task "p" warps(0, 2) writes(%r) {
      // CHECK: arith.cmpi ult
      // CHECK: %[[WARP:.*]] = arith.subi
      // CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %[[WARP]], %[[P:.*]] = %c1_i32{{.*}})
      ts.for %k = %c0 to %n {
        ts.acquire %r
        // CHECK: %[[NEXT:.*]] = arith.addi %[[S]], %c2_i32
        // CHECK: %[[WRAP:.*]] = arith.cmpi uge, %[[NEXT]], %c4_i32
        // CHECK: %[[BACK:.*]] = arith.subi %[[NEXT]], %c4_i32
        // CHECK: arith.select %[[WRAP]], %[[BACK]], %[[NEXT]]
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32{{.*}}
      ts.for %k = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// Lanes by loop: sibling tasks start at their lane and step over the others.
// CHECK-LABEL: gpu.func @domain_lanes
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @domain_lanes(%n: index) warps(3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 1, 1))
    // CHECK: nvvm.mbarrier.init %{{.*}}, %c32_i32
    ts.task "even" warps(0, 1) writes(%r) {
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32{{.*}}, %{{.*}} = %c1_i32
      ts.for %k = %c0 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "odd" warps(1, 1) writes(%r) {
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c1_i32{{.*}}, %{{.*}} = %c1_i32
      ts.for %k = %c1 to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %k = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// Lanes by replica: the start of the loop is the replica's index.
// CHECK-LABEL: gpu.func @replica_lanes
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @replica_lanes(%n: index) warps(3) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4, interleave = (2, 2, 1, 1))
    ts.task "p" warps(0, 2) replicas(2) (%i) writes(%r) {
      // CHECK: %[[REPLICA:.*]] = arith.divui
      // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[REPLICA]], %c1_i32
      // CHECK: %[[LANE:.*]] = arith.select %[[ONE]], %c1_i32{{.*}}, %c0_i32
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %c1_i32
      ts.for %k = %i to %n step %c2 {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %k = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}
