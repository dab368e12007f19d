// Every message of the parsers and verifiers of loops and branches (TSScheduleOps.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics

//===-- ts.for

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      // expected-error @+1 {{the body takes 1 index argument(s) and one per carried value, found 1 for 1 carried values}}
      %v = "ts.for"(%c0, %c8, %c0) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
      ^bb0(%i: index):
        ts.yield %i : index
      }) : (index, index, index) -> index
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      // expected-error @+1 {{body argument 0 is an index, found 'i32'}}
      "ts.for"(%c0, %c8) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
      ^bb0(%i: i32):
        ts.yield
      }) : (index, index) -> ()
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      // expected-error @+1 {{carried values have the types ('index'), but the body takes ('i32') and the results are ('i32') (C1)}}
      %v = "ts.for"(%c0, %c8, %c0) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
      ^bb0(%i: index, %a: i32):
        ts.yield %a : i32
      }) : (index, index, index) -> i32
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      // expected-error @+1 {{the loop region yields (), expected ('index')}}
      %v = ts.for %i = %c0 to %c8 iter(%a = %c0 : index) {
        // expected-note @+1 {{yielded here}}
        ts.yield
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      // expected-error @+1 {{[TS101] the step is 0, so the loop never ends; give a positive step (C2)}}
      ts.for %i = %c0 to %c8 step %c0 {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %m = arith.constant -1 : index
      // expected-error @+1 {{[TS101] the step is -1; loops count upwards, give a positive step (C2)}}
      ts.for %i = %c0 to %c8 step %m {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      // expected-error @+1 {{unroll factor 0 is outside 1..1024}}
      ts.for %i = %c0 to %c8 unroll(0) {
      }
    }
  }
}

// -----

//===-- ts.tile_loop, queue steps

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{runs over a work queue; its operand is not the result of a ts.work_queue}}
      ts.tile_loop %r {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %n = arith.constant 8 : index
    %q = ts.work_queue "q" static over(%n, %n)
    ts.task "t" warps(0, 1) reads(%q) {
      // expected-error @+1 {{names 1 tile coordinates, but queue 'q' has 2 dimensions; name all of them or none}}
      ts.tile_loop %q (%a) {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %n = arith.constant 8 : index
    %q = ts.work_queue "q" static over(%n, %n)
    ts.task "t" warps(0, 1) reads(%q) {
      // expected-error @+1 {{the body lacks an argument per carried value}}
      %v = "ts.tile_loop"(%q, %n) ({
        ts.yield %n : index
      }) : (!ts.resource, index) -> index
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %n = arith.constant 8 : index
    %q = ts.work_queue "q" static over(%n, %n)
    ts.task "t" warps(0, 1) reads(%q) {
      // expected-error @+1 {{the loop region yields (), expected ('index')}}
      %v = ts.tile_loop %q iter(%a = %n : index) {
        // expected-note @+1 {{yielded here}}
        ts.yield
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{needs a work queue; its operand is not the result of a ts.work_queue}}
      ts.fetch_tile %r
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{needs a work queue; its operand is not the result of a ts.work_queue}}
      ts.next_tile %r
    }
  }
}

// -----

//===-- guard, when

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{unknown guard 'second'; expected first, last, not_first, not_last or every}}
      ts.guard second {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{[TS108] period 0 of 'every' is outside 1..2^20}}
      ts.guard every 0 {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{[TS108] period -3 of 'every' is outside 1..2^20}}
      ts.guard every -3 {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %t = arith.constant true
      // expected-error @+1 {{has results, so it needs an else region that yields them where the first does not run}}
      %v = ts.guard first -> i1 {
        ts.yield %t : i1
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %t = arith.constant true
      // expected-error @+1 {{the else region yields (), expected ('i1')}}
      %v = ts.when %t -> i1 {
        ts.yield %t : i1
      } else {
        // expected-note @+1 {{yielded here}}
        ts.yield
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %t = arith.constant true
      // expected-error @+1 {{the then region yields (), expected ('i1')}}
      %v = ts.when %t -> i1 {
        // expected-note @+1 {{yielded here}}
        ts.yield
      } else {
        ts.yield %t : i1
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{the region takes no arguments}}
      "ts.guard"() <{kind = #ts<guard_kind first>}> ({
      ^bb0(%x: index):
        ts.yield
      }, {
      }) : () -> ()
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{the else region takes no arguments}}
      "ts.guard"() <{kind = #ts<guard_kind first>}> ({
        ts.yield
      }, {
      ^bb0(%x: index):
        ts.yield
      }) : () -> ()
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      %t = arith.constant true
      // expected-error @+1 {{expected 'false'}}
      ts.when %t is maybe {
      }
    }
  }
}
