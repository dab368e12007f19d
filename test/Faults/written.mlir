// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// An allocation that a body reads is written by something: by declared work as far as its effects say,
// or through another resource that has the same bytes.

// OUT: declared: proven for every n: no deadlock
// OUT: effects: proven for every n: no deadlock
// OUT: overlay: proven for every n: no deadlock
!v = memref<32xf32, #ts.smem>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @declared(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !v, y: !v) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "fill" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "store" declared
        ts.commit %r
      }
    }
    ts.task "read" warps(1, 1) reads(%r) {
      %l = ts.info lane : index
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "load" (%x, %y) {
          %u = memref.load %y[%l] : !v
        }
        ts.release %r
      }
    }
  }
  ts.kernel @effects(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !v, y: !v) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "fill" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "store" declared effects [#ts.effect<write "y">]
        ts.commit %r
      }
    }
    ts.task "read" warps(1, 1) reads(%r) {
      %l = ts.info lane : index
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "load" (%x, %y) {
          %u = memref.load %y[%l] : !v
        }
        ts.release %r
      }
    }
  }
  ts.kernel @overlay(%n: index) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant 1.0 : f32
    %x = ts.resource "x" smem(x: !v at 0)
    %y = ts.resource "y" smem(y: !v at 0)
    ts.depends %y on %x
    ts.task "both" warps(0, 1) reads(%x) writes(%y) {
      %l = ts.info lane : index
      ts.for %i = %c0 to %n {
        ts.consume %x "load" (%a) {
          %u = memref.load %a[%l] : !v
        }
        ts.produce %y "store" (%a) {
          memref.store %v, %a[%l] : !v
        }
      }
    }
  }
}

// -----

// ERR: error: [TS111] nothing writes 'y' of 'r', but 'read' reads it, so it reads what another kernel left there; store to it before it is read, or read the allocation that is written
// ERR: note: read here
!v = memref<32xf32, #ts.smem>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @other_effects(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !v, y: !v) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "fill" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "store" declared effects [#ts.effect<write "x">]
        ts.commit %r
      }
    }
    ts.task "read" warps(1, 1) reads(%r) {
      %l = ts.info lane : index
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "load" (%x, %y) {
          %u = memref.load %y[%l] : !v
        }
        ts.release %r
      }
    }
  }
}
