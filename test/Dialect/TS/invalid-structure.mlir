// Every message of the parsers and verifiers of the ops that declare a kernel (TSStructureOps.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics

//===-- ts.kernel

// expected-error @+1 {{belongs into a gpu.module (C1); wrap it as in 'gpu.module @m attributes {ts.chip = "sm_90a"} { ... }'}}
ts.kernel @k() warps(1) {
}

// -----

gpu.module @m {
  // expected-error @+1 {{a CTA has 1 to 32 warps (1024 threads), found 0}}
  ts.kernel @k() warps(0) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{a CTA has 1 to 32 warps (1024 threads), found 33}}
  ts.kernel @k() warps(33) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{arg_names, arg_exprs and arg_mins need one entry for each of the 1 arguments}}
  "ts.kernel"() <{arg_exprs = [], arg_mins = array<i64: 0>, arg_names = ["n"], cluster = array<i64: 1, 1, 1>, num_warps = 1 : i32, sym_name = "k"}> ({
  ^bb0(%n: index):
    ts.yield
  }) : () -> ()
}

// -----

gpu.module @m {
  // expected-error @+1 {{cluster gives three dimensions (x, y, z), found 2}}
  "ts.kernel"() <{arg_exprs = [], arg_mins = array<i64>, arg_names = [], cluster = array<i64: 1, 1>, num_warps = 1 : i32, sym_name = "k"}> ({
  ^bb0():
    ts.yield
  }) : () -> ()
}

// -----

gpu.module @m {
  // expected-error @+1 {{cluster dimension 0 is outside 1..16}}
  ts.kernel @k() warps(1) cluster(0, 1, 1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{a cluster has at most 16 CTAs, found 32}}
  ts.kernel @k() warps(1) cluster(8, 4, 1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{a grid has up to three dimensions, found 4}}
  ts.kernel @k(%n: index) warps(1) grid(%n, 1, 1, 1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument names must be distinct and not empty, found 'n'}}
  "ts.kernel"() <{arg_exprs = ["", ""], arg_mins = array<i64: 0, 0>, arg_names = ["n", "n"], cluster = array<i64: 1, 1, 1>, num_warps = 1 : i32, sym_name = "k"}> ({
  ^bb0(%n: index, %m: index):
    ts.yield
  }) : () -> ()
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%x' is in memory space #ts.smem; kernel arguments are global memory, without a space}}
  ts.kernel @k(%x: memref<4xf32, #ts.smem>) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%x' has a layout that is not strided}}
  ts.kernel @k(%x: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>>) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%x' has type 'vector<4xf32>'; a kernel takes tensor maps, memrefs, index, integers and floats}}
  ts.kernel @k(%x: vector<4xf32>) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%n': 'B' in launch expression 'ceildiv(dim(B, 0), 128)' is no array argument of this kernel (C3)}}
  ts.kernel @k(%A: !ts.tensor_map<?x?xbf16, box = 128x64>, %n: index = ceildiv(dim(%B, 0), 128)) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%n': 'A' in launch expression 'A + 1' is no scalar argument of this kernel (C3)}}
  ts.kernel @k(%A: !ts.tensor_map<?x?xbf16, box = 128x64>, %n: index = %A + 1) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%n': 'A' has 2 dimensions, 'dim(A, 2)' asks for number 2}}
  ts.kernel @k(%A: !ts.tensor_map<?x?xbf16, box = 128x64>, %n: index = dim(%A, 2)) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{grid: 'm' in launch expression 'm' is no scalar argument of this kernel (C3)}}
  ts.kernel @k(%n: index) warps(1) grid(%m) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{grid: launch expression '1 +' is wrong at column }}
  "ts.kernel"() <{arg_exprs = [], arg_mins = array<i64>, arg_names = [], cluster = array<i64: 1, 1, 1>, num_warps = 1 : i32, sym_name = "k", grid = ["1 +"]}> ({
  ^bb0():
    ts.yield
  }) : () -> ()
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%A' is no integer scalar, so no expression derives it}}
  ts.kernel @k(%A: !ts.tensor_map<?x?xbf16, box = 128x64> = 4) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument '%f' is no integer scalar, so no expression derives it}}
  ts.kernel @k(%f: f32 = 4) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{'min' of argument '%f' is a smallest trip count: it needs an index argument and a number from 0}}
  ts.kernel @k(%f: f32 min 2) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{'min' of argument '%n' is a smallest trip count: it needs an index argument and a number from 0}}
  ts.kernel @k(%n: index min -1) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{expected a launch expression: an integer, an argument, or dim, stride, sms, ceildiv, div, mod, min, max}}
  ts.kernel @k(%n: index = ]) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{launch expression 'frob(2)': }}
  ts.kernel @k(%n: index = frob(2)) warps(1) {
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{launch expression is nested more than 64 deep}}
  ts.kernel @k(%n: index = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) warps(1) {
  }
}

// -----

// expected-error @+1 {{attribute 'ts.chip' names the target chip: expected a string such as "sm_100a", found 90 : i64}}
gpu.module @m attributes {ts.chip = 90} {
}

// -----

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
