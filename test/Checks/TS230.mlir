// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS230: what lies on barriers, or takes their storage for data.

// The storage has 32 bytes from 1024 on; the data begins in the middle.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @pinned_onto_barriers(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<4xi64> at 1024 unstaged)
    // expected-error @+1 {{[TS230] allocation 'd.y' lies on the barriers 'r.empty' at bytes 1040 to 1056, whose state every store into it overwrites; pin it elsewhere, or let the compiler place it}}
    %d = ts.resource "d" smem(y: memref<64xf32> at 1040)
    // expected-note @+1 {{'r.empty' lie in 's.bar'}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @too_small(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<3xi64> unstaged)
    // expected-error @+1 {{[TS230] barriers 'r.empty' cannot go into 's.bar': it has 24 bytes, of which 16 are taken, and they need 16 (8 for each of 2 stages)}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// A misplaced pin is refused where it stands, whatever is in the allocation.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @misaligned(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS228] allocation 's.bar' is pinned at 1028, which is no multiple of 16 bytes, the alignment that its swizzle or engine asks for; pin it at 1024 or 1040}}
    %s = ts.resource "s" smem(bar: memref<4xi64> at 1028 unstaged)
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_such_allocation(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<4xi64> unstaged)
    // expected-error @+2 {{[TS230] barriers 'r.full' cannot go into 's.baz': 's' has no allocation of that name}}
    // expected-error @+1 {{[TS230] barriers 'r.empty' cannot go into 's.baz': 's' has no allocation of that name}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "baz")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_per_stage(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<4xi64>) pipeline(async_async, stages = 2)
    // expected-error @+2 {{[TS230] barriers 'r.full' cannot go into 's.bar': it has one copy per stage; declare it 'unstaged'}}
    // expected-error @+1 {{[TS230] barriers 'r.empty' cannot go into 's.bar': it has one copy per stage; declare it 'unstaged'}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @in_tensor_memory(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" tmem(bar: memref<128x32xf32> unstaged)
    // expected-error @+2 {{[TS230] barriers 'r.full' cannot go into 's.bar': mbarriers live in shared memory, and this is tensor memory}}
    // expected-error @+1 {{[TS230] barriers 'r.empty' cannot go into 's.bar': mbarriers live in shared memory, and this is tensor memory}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @aliased(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<4xi64> unstaged)
    %d = ts.resource "d" smem(y: memref<64xf32>)
    ts.alias_group "reuse" (%s, %d) phases [1, 1]
    // expected-error @+2 {{[TS230] barriers 'r.full' cannot go into 's.bar': alias group 'reuse' lets other phases overwrite it}}
    // expected-error @+1 {{[TS230] barriers 'r.empty' cannot go into 's.bar': alias group 'reuse' lets other phases overwrite it}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

// Only barrier operations touch a barrier.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @written(%n: index) warps(9) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<4xi64> unstaged)
    // expected-note @+1 {{the barriers are placed there by this}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
    ts.task "scribble" warps(8, 1) writes(%s) {
      %zero = arith.constant 0 : i64
      ts.produce %s "clear" (%bar) {
        // expected-error @+1 {{[TS230] 'memref.store' writes 's.bar', which holds the barriers of 'r'; only barrier operations may touch an mbarrier, so keep the data in another allocation}}
        memref.store %zero, %bar[%c0] : memref<4xi64, #ts.smem>
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @written_declared(%n: index) warps(9) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<4xi64> unstaged)
    // expected-note @+1 {{the barriers are placed there by this}}
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
    ts.task "scribble" warps(8, 1) writes(%s) {
      // expected-error @+1 {{[TS230] 'ts.produce' writes 's.bar', which holds the barriers of 'r'; only barrier operations may touch an mbarrier, so keep the data in another allocation}}
      ts.produce %s "clear" declared effects [#ts.effect<write "bar">]
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @beyond_the_cluster(%n: index) warps(1) cluster(2, 1, 1) {
    %c2 = arith.constant 2 : index
    %b = ts.mbarrier "done" count(1)
    ts.task "t" warps(0, 1) {
      ts.elect {
        // expected-error @+1 {{[TS230] arrives at 'done' of CTA 2, but the cluster of kernel 'beyond_the_cluster' has 2 CTA(s), numbered from 0; what lies at that address is no initialised barrier. Name a CTA of the cluster, or give the kernel a larger one}}
        ts.mbarrier_arrive %b cta(%c2)
      }
    }
  }
}

// -----

// Four stages fill their storage, the data comes behind it: no finding.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(bar: memref<8xi64> at 1024 unstaged)
    %d = ts.resource "d" smem(y: memref<64xf32> at 1088)
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 4) barriers(%s : "bar")
    ts.task "fill" warps(0, 4) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.release %r
      }
    }
  }
}
