// Every message of the parsers and verifiers of the ops that stand in a kernel (TSStructureOps.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics

//===-- ts.resource

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{unknown space 'lmem'; expected gmem, smem, tmem or barrier}}
    %r = ts.resource "r" lmem
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{allocation name 'x' is used twice}}
    %r = ts.resource "r" smem(x: memref<4xf32>, x: memref<4xf32>)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{allocation 'x' of type 'memref<4xf32, #ts.tmem>' does not fit a smem resource; smem takes #ts.smem, tmem takes #ts.tmem (or #ts.smem beside it), gmem only #ts.smem scratch, barrier none}}
    %r = ts.resource "r" smem(x: memref<4xf32, #ts.tmem>)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{allocation 'x' of type 'memref<4xf32>' does not fit a gmem resource}}
    %r = ts.resource "r" gmem(x: memref<4xf32>)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{allocation 'x' of type 'memref<4xf32, #ts.smem>' does not fit a barrier resource}}
    %r = ts.resource "r" barrier(x: memref<4xf32, #ts.smem>)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{[TS228] the innermost dimension of allocation 'x' is 256 bytes, expected the swizzle span of 128 bytes; split the tile into panels of that width}}
    %r = ts.resource "r" smem(x: memref<8x128xbf16, #ts.smem<128>>)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{[TS228] the innermost dimension of allocation 'x' is 4 bytes, expected the swizzle span of 128 bytes}}
    %r = ts.resource "r" smem(x: memref<f32, #ts.smem<128>>)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{tensor memory allocation 'x' is rows x columns with at most 128 rows (lanes), found 'memref<256x32xf32, #ts.tmem>'}}
    %r = ts.resource "r" tmem(x: memref<256x32xf32>)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{role uses allocation 'y', which this resource lacks}}
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(tma_async, stages = 1) consumer_uses(y)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{a gmem resource has no pipeline; guard the shared memory that is filled from it instead}}
    %r = ts.resource "r" gmem pipeline(tma_async, stages = 1)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{barriers(...) needs both a resource and the name of its allocation}}
    %r = "ts.resource"() <{allocs = [], barrier_alloc = "b", name = "r", space = #ts<space smem>}> : () -> !ts.resource
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %s = ts.resource "s" smem(b: memref<4xi64> unstaged)
    // expected-error @+1 {{barriers(...) places a pipeline's barriers, but there is no pipeline}}
    %r = ts.resource "r" smem(x: memref<4xf32>) barriers(%s : "b")
  }
}

// -----

//===-- ts.work_queue

gpu.module @m {
  ts.kernel @k() warps(4) {
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{unknown queue kind 'dynamic'; expected static or clc}}
    %q = ts.work_queue "q" dynamic over(%c8)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{a work queue runs over one to three tile counts, found 0}}
    %q = ts.work_queue "q" static over()
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{a work queue runs over one to three tile counts, found 4}}
    %q = ts.work_queue "q" static over(%c8, %c8, %c8, %c8)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{group 0 is outside 1..2^20}}
    %q = ts.work_queue "q" static over(%c8) group(0)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{a static queue needs no pipeline: every CTA computes its tiles itself}}
    %q = ts.work_queue "q" static over(%c8) pipeline(clc_fetch_async, stages = 1)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{a clc queue is guarded by a clc_fetch_async pipeline, found tma_async}}
    %q = ts.work_queue "q" clc over(%c8) pipeline(tma_async, stages = 1)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{the skip region takes one index per tile dimension and yields one i1}}
    %q = ts.work_queue "q" static over(%c8) skip(%a, %b) {
      %t = arith.constant true
      ts.yield %t : i1
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{the skip region takes one index per tile dimension and yields one i1}}
    %q = ts.work_queue "q" static over(%c8) skip(%a) {
      ts.yield %a : index
    }
  }
}

// -----

//===-- Small declarations

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{a baton has 2 to 15 holders (one named barrier each), found 1}}
    %b = ts.baton "b" holders(1)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{first holder 2 is outside 0..1}}
    %b = ts.baton "b" holders(2) first(2)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %a = ts.resource "a" smem(x: memref<4xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<4xf32>)
    // expected-error @+1 {{names no upstream resource; write 'ts.depends %x on %y'}}
    ts.depends %a on
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %a = ts.resource "a" smem(x: memref<4xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<4xf32>)
    // expected-error @+1 {{phase with 0 members; every phase names at least one}}
    ts.alias_group "g" (%a, %b) phases [2, 0]
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %a = ts.resource "a" smem(x: memref<4xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<4xf32>)
    // expected-error @+1 {{phases array<i64: 1> do not split the 2 members into at least two phases}}
    ts.alias_group "g" (%a, %b) phases [1]
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %a = ts.resource "a" smem(x: memref<4xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<4xf32>)
    %p = ts.pdl "p"
    // expected-error @+1 {{every member is the result of a ts.resource}}
    ts.alias_group "g" (%a, %p) phases [1, 1]
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %a = ts.resource "a" smem(x: memref<4xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<4xf32>)
    // expected-error @+1 {{a pipeline group has at least two members, found 1}}
    %g = ts.pipeline_group "g" merge(%a)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %a = ts.resource "a" smem(x: memref<4xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<4xf32>)
    // expected-error @+1 {{member 'b' is no ts.resource with a pipeline}}
    %g = ts.pipeline_group "g" fork(%a, %b)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %a = ts.resource "a" smem(x: memref<4xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<4xf32>)
    // expected-error @+2 {{custom op 'ts.pipeline_group' failed to parse}}
  // expected-error @+1 {{expected ::mlir::ts::GroupMode to be one of: merge, fork, fused_merge}}
    %g = ts.pipeline_group "g" join(%a, %a)
  }
}

// -----

//===-- ts.task

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{is a step of a schedule and stands outside any ts.task; no warp would execute it}}
    ts.warp_sync
  }
}

// -----

// expected-error @+1 {{expects parent op 'ts.kernel'}}
%r = ts.resource "r" gmem

// -----

// expected-error @+1 {{expects parent op 'ts.kernel'}}
%b = ts.mbarrier "b" count(1)

// -----

// expected-error @+1 {{expects parent op 'ts.kernel'}}
ts.task "t" warps(0, 1) {
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{warps(-1, 1) is no warp range of a CTA; give (first warp, number of warps) within 0..31}}
    ts.task "t" warps(-1, 1) {
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{warps(0, 33) is no warp range of a CTA; give (first warp, number of warps) within 0..31}}
    ts.task "t" warps(0, 33) {
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{the 4 warps do not divide into 3 replicas (C1)}}
    ts.task "t" warps(0, 4) replicas(3) (%r) {
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{the 4 warps do not divide into 0 replicas (C1)}}
    ts.task "t" warps(0, 4) replicas(0) (%r) {
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{the body takes the replica's index exactly when there are replicas}}
    "ts.task"() <{first_warp = 0 : i32, name = "t", num_warps = 4 : i32, operandSegmentSizes = array<i32: 0, 0>, replicas = 2 : i32}> ({
      ts.yield
    }) : () -> ()
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{register budget 20 is not a multiple of 8 from 24 to 256 (PTX ISA 8.8, setmaxnreg)}}
    ts.task "t" warps(0, 4) registers(20) {
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    // expected-error @+1 {{only_cta(16) is no CTA rank of a cluster}}
    ts.task "t" warps(0, 4) only_cta(16) {
    }
  }
}
