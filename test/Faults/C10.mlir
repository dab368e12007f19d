// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C10: more loads in flight than there are barriers: eight stages are used before the first is released.

// ERR: error: [TS105] wait number 7 for 'r' without a release, but it has 6 stage(s), so nothing more can arrive; release earlier or add stages
// ERR: note: on the path with k > 0: yes, first iteration: yes, last iteration: yes, first iteration: no, last iteration: no
// ERR: error: [TS105] release of 'r' without an open wait in task 'compute'; every release closes one wait
// ERR: note: on the path with k > 0: yes, first iteration: yes, last iteration: yes, first iteration: no, last iteration: no
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stages_6(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<32x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 6, advance_on_wait)
    ts.depends %r on %g
    ts.task "load" warps(8, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.for %j = %c0 to %c8 {
          ts.acquire %r
          ts.produce %r "copy" declared
          ts.commit %r
        }
      }
    }
    ts.task "compute" warps(0, 8) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.for %j = %c0 to %c8 {
          ts.wait %r
          ts.consume %r "tile" declared
        }
        ts.for %j = %c0 to %c8 {
          ts.release %r
        }
      }
    }
  }
}

// -----

// OUT: stages_8: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stages_8(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<32x64xbf16, #ts.smem<128>>)
        pipeline(tma_async, stages = 8, advance_on_wait)
    ts.depends %r on %g
    ts.task "load" warps(8, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.for %j = %c0 to %c8 {
          ts.acquire %r
          ts.produce %r "copy" declared
          ts.commit %r
        }
      }
    }
    ts.task "compute" warps(0, 8) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.for %j = %c0 to %c8 {
          ts.wait %r
          ts.consume %r "tile" declared
        }
        ts.for %j = %c0 to %c8 {
          ts.release %r
        }
      }
    }
  }
}

// -----

// The producer's side: seven acquires before a commit, six stages.
// ERR: error: [TS105] acquire number 7 of 'r' without a commit, but it has 6 stage(s), so the task waits for itself; commit earlier or add stages
// ERR: note: on the path with k > 0: yes, first iteration: yes, last iteration: yes, first iteration: no, last iteration: yes
// ERR: error: [TS105] commit of 'r' without an open acquire in task 'fill'; every commit closes one acquire
// ERR: note: on the path with k > 0: yes, first iteration: yes, last iteration: yes, first iteration: no, last iteration: yes
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @held_by_the_producer(%k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: memref<64xf32>) pipeline(async_async, stages = 6, advance_on_acquire)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.for %j = %c0 to %c7 {
          ts.acquire %r
          ts.produce %r "fill" declared
        }
        ts.for %j = %c0 to %c7 {
          ts.commit %r
        }
      }
    }
    ts.task "use" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.for %j = %c0 to %c7 {
          ts.wait %r
          ts.consume %r "use" declared
          ts.release %r
        }
      }
    }
  }
}
