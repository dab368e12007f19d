// Every message of the parser and verifier of ts.kernel (TSKernelOp.cpp).
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
  // expected-error @+1 {{'min' of argument '%n' is a smallest trip count: it needs an index argument and a number from 0 to 2^31 - 1}}
  ts.kernel @k(%n: index min 2147483648) warps(1) {
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
