// Every message of the parsers and verifiers of work ops (TSScheduleOps.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics

//===-- produce, consume

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{the body names 2 stage views, but resource 'r' has 1 allocations; name all of them or none}}
      ts.produce %r "w" (%x, %y) {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    %q = ts.pdl "q"
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{stage views need the resource's definition (a ts.resource) before this line}}
      ts.produce %q "w" (%x) {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{declares 1048576 bytes; an mbarrier phase tracks at most 2^20 - 1 (PTX ISA 8.8, mbarrier)}}
      ts.produce %r "w" declared bytes(1048576)
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{declares a negative number of bytes: -16}}
      ts.produce %r "w" declared bytes(-16)
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{effect on allocation 'y', which resource 'r' lacks}}
      ts.produce %r "w" declared effects [#ts.effect<write "y">]
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{effect on bytes from 8, 16 of them, leaves allocation 'x' of 16 bytes per stage}}
      ts.produce %r "w" declared effects [#ts.effect<write "x", offset = 8, size = 16>]
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{effect on bytes from -8 leaves allocation 'x' of 16 bytes per stage}}
      ts.produce %r "w" declared effects [#ts.effect<write "x", offset = -8>]
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{effect on bytes from 9223372036854775807, 9223372036854775807 of them, leaves allocation 'x' of 16 bytes per stage}}
      ts.produce %r "w" declared effects [#ts.effect<write "x", offset = 9223372036854775807, size = 9223372036854775807>]
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{effect on bytes from 32 leaves allocation 'x' of 16 bytes per stage}}
      ts.produce %r "w" declared effects [#ts.effect<write "x", offset = 32>]
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    %q = ts.pdl "q"
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{has stage views, but its resource is not the result of a ts.resource}}
      "ts.produce"(%q) <{label = "w"}> ({
      ^bb0(%x: f32):
        ts.yield
      }) : (!ts.resource) -> ()
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{the body's arguments are the stage views ('memref<4xf32, #ts.smem>') of resource 'r', found ('f32')}}
      "ts.produce"(%r) <{label = "w"}> ({
      ^bb0(%x: f32):
        ts.yield
      }) : (!ts.resource) -> ()
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-note @+2 {{yielded here}}
      // expected-error @+1 {{the work region yields (), expected ('f32')}}
      %v = ts.consume %r "w" -> f32 {
      }
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(4) {
    %r = ts.resource "r" smem(x: memref<4xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      // expected-error @+1 {{the work region ends in ts.yield}}
      "ts.consume"(%r) <{label = "w"}> ({
        ts.warp_sync
      }) : (!ts.resource) -> ()
    }
  }
}
