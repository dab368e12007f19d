// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS223: members of a group that do not fit together, and ops on the wrong side of it.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stages(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 3)
    // expected-error @+1 {{[TS223] members of merge group 'ab' have different stages: 'a' has 2, 'b' has 3; give all members the same number of stages}}
    %g = ts.pipeline_group "ab" merge(%a, %b)
    ts.task "fill" warps(0, 4) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
        ts.acquire %b
        ts.commit %b
      }
    }
    ts.task "drain" warps(4, 4) reads(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.wait %b
        ts.release %g
      }
    }
  }
}

// -----

// The plan of the barriers sees this one.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @twice(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    // expected-error @+1 {{[TS223] pipeline group 'ab' names 'a' twice; name each member once}}
    %g = ts.pipeline_group "ab" merge(%a, %a)
    ts.task "fill" warps(0, 4) writes(%a) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
      }
    }
    ts.task "drain" warps(4, 4) reads(%a) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.release %g
      }
    }
  }
}

// -----

// A merge shares the empty barriers: threads arrive on one, tcgen05.commit on the other.
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @consumer_kinds(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_umma, stages = 2)
    // expected-error @+1 {{[TS223] members of merge group 'ab' share their empty barriers, but 'a' is async_async and 'b' is async_umma: their consumers arrive in different ways; group members whose consumers are of one kind}}
    %g = ts.pipeline_group "ab" merge(%a, %b)
    ts.task "fill" warps(0, 4) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
        ts.acquire %b
        ts.commit %b
      }
    }
    ts.task "drain" warps(4, 4) reads(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.wait %b
        ts.release %g
      }
    }
  }
}

// -----

// A fork shares the full barriers.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @producer_kinds(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
    // expected-error @+1 {{[TS223] members of fork group 'ab' share their full barriers, but 'a' is async_async and 'b' is tma_async: their producers arrive in different ways; group members whose producers are of one kind}}
    %g = ts.pipeline_group "ab" fork(%a, %b)
    ts.task "fill" warps(0, 4) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.acquire %b
        ts.commit %g
      }
    }
    ts.task "drain" warps(4, 4) reads(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.release %a
        ts.wait %b
        ts.release %b
      }
    }
  }
}

// -----

// The collapsed release is written once, on the group.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @on_a_member(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    // expected-error @+1 {{[TS223] task 'drain' executes 'release' on member 'a' of merge group 'ab', expected it on the group only; write the op once, on 'ab'}}
    %g = ts.pipeline_group "ab" merge(%a, %b)
    ts.task "fill" warps(0, 4) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
        ts.acquire %b
        ts.commit %b
      }
    }
    // expected-note @+1 {{task 'drain' takes part here}}
    ts.task "drain" warps(4, 4) reads(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.wait %b
        ts.release %a
        ts.release %g
      }
    }
  }
}

// -----

// A merge has a full barrier per member.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @on_the_group(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    // expected-error @+1 {{[TS223] task 'drain' executes 'wait' on merge group 'ab', which shares no barrier for it; write it on each member; only 'release' stands on the group}}
    %g = ts.pipeline_group "ab" merge(%a, %b)
    ts.task "fill" warps(0, 4) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
        ts.acquire %b
        ts.commit %b
      }
    }
    // expected-note @+1 {{task 'drain' takes part here}}
    ts.task "drain" warps(4, 4) reads(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.wait %g
        ts.release %g
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @strides(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, interleave = (1, 1, 2, 2))
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    // expected-error @+2 {{[TS223] members of merge group 'ab' have different interleave strides for 'wait': 2 and 1; use one stride on the side that the group collapses}}
    // expected-error @+1 {{[TS223] members of merge group 'ab' have different interleave strides for 'release': 2 and 1; use one stride on the side that the group collapses}}
    %g = ts.pipeline_group "ab" merge(%a, %b)
    ts.task "fill" warps(0, 4) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
        ts.acquire %b
        ts.commit %b
      }
    }
    ts.task "drain" warps(4, 4) reads(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.wait %b
        ts.release %g
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_groups(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %c = ts.resource "c" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %g = ts.pipeline_group "ab" merge(%a, %b)
    // expected-error @+1 {{[TS223] the empty barriers of 'b' are shared by pipeline group 'ab' already; a side belongs to one group, so take the resource out of 'bc'}}
    %h = ts.pipeline_group "bc" merge(%b, %c)
    ts.task "fill" warps(0, 4) writes(%a, %b, %c) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
        ts.acquire %b
        ts.commit %b
        ts.acquire %c
        ts.commit %c
      }
    }
    ts.task "drain" warps(4, 4) reads(%a, %b, %c) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.wait %b
        ts.release %g
        ts.wait %c
        ts.release %h
      }
    }
  }
}

// -----

// Right: no finding.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @merge(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %g = ts.pipeline_group "ab" merge(%a, %b)
    ts.task "fill" warps(0, 4) writes(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.acquire %a
        ts.commit %a
        ts.acquire %b
        ts.commit %b
      }
    }
    ts.task "drain" warps(4, 4) reads(%a, %b) {
      ts.for %i = %c0 to %n {
        ts.wait %a
        ts.wait %b
        ts.release %g
      }
    }
  }
}
