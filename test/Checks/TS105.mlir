// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS105: brackets, on every path. What is legal stands in legal.mlir.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @outside(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.for %i = %c0 to %n {
        ts.consume %g "nothing" aux {
        }
        // expected-note @+2 {{on the path with n > 0: yes, first iteration: yes, last iteration: yes}}
        // expected-error @+1 {{[TS105] work 'early' writes 'r' outside of acquire and commit in task 'fill', when the stage belongs to the consumer; put it between them, or mark it 'aux' if it touches no memory}}
        ts.produce %r "early" {
        }
        ts.acquire %r
        ts.produce %r "right" {
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        // expected-note @+1 {{this wait's bracket is closed before it}}
        ts.wait %r
        ts.consume %r "right" {
        }
        ts.release %r
        // expected-note @+2 {{on the path with n > 0: yes, first iteration: yes, last iteration: yes}}
        // expected-error @+1 {{[TS105] work 'late' reads 'r' outside of wait and release in task 'drain', when the stage may be overwritten; put it between them, or mark it 'aux' if it touches no memory}}
        ts.consume %r "late" {
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @not_closed(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %n {
        // expected-error @+3 {{[TS105] acquire of 'r' while its previous stage is still open in task 'fill'; commit it first, or set advance_on_acquire to hold several}}
        // expected-note @+2 {{on the path with n > 0: yes, first iteration: no, last iteration: no}}
        // expected-note @+1 {{the open acquire}}
        ts.acquire %r
        ts.guard last {
          ts.commit %r
        }
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        // expected-error @+2 {{[TS105] task 'drain' ends with 1 stage(s) of 'r' waited for and not released on some path, so the producer never gets them back; release on every path}}
        // expected-note @+1 {{on the path with n > 0: yes}}
        ts.wait %r
        ts.guard not_last {
          ts.release %r
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // The release after the loop has nothing to release where the loop does not run.
  ts.kernel @zero_trips(%n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2, advance_on_wait)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
      ts.when %flag is true {
        // expected-error @+2 {{[TS105] task 'fill' ends with 1 stage(s) of 'r' acquired and not committed on some path, so the consumer never gets them; commit on every path}}
        // expected-note-re @+1 {{on the path with {{.*}}flag: yes}}
        ts.acquire %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.guard not_first {
          ts.release %r
        }
      }
      // expected-error @+2 {{[TS105] release of 'r' without an open wait in task 'drain'; every release closes one wait}}
      // expected-note @+1 {{on the path with n > 0: no}}
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // More stages held than there are: the task waits for itself.
  ts.kernel @too_many() warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier
        pipeline(async_async, stages = 2, advance_on_acquire, advance_on_wait)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %c3 {
        // expected-error @+2 {{[TS105] acquire number 3 of 'r' without a commit, but it has 2 stage(s), so the task waits for itself; commit earlier or add stages}}
        // expected-note-re @+1 {{on the path with {{.*}}last iteration: yes}}
        ts.acquire %r
      }
      ts.for %i = %c0 to %c3 {
        // expected-error @+2 {{[TS105] commit of 'r' without an open acquire in task 'fill'; every commit closes one acquire}}
        // expected-note @+1 {{on the path with}}
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %c3 {
        ts.wait %r
        // expected-error @+2 {{[TS105] wait number 3 for 'r' without a release, but it has 2 stage(s), so nothing more can arrive; release earlier or add stages}}
        // expected-note @+1 {{on the path with}}
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // A wait that takes a second stage without the flag; a try behind its blocking op.
  ts.kernel @tries(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 4)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.commit %r
      }
      // expected-error @+1 {{[TS105] no acquire of 'r' follows this try_acquire in task 'fill'; a try only saves its blocking op the first look, so put it before that op}}
      ts.try_acquire %r
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        // expected-note @+1 {{the open wait}}
        ts.wait %r
        // expected-error @+2 {{[TS105] wait for 'r' while its previous stage is still held in task 'drain'; release it first, or set advance_on_wait to hold several}}
        // expected-note-re @+1 {{on the path with {{.*}}n > 0: yes}}
        ts.wait %r
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // A commit of the copy engine stands on all paths or on none.
  ts.kernel @engine(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1)
      warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %n {
        // expected-error @+3 {{[TS105] acquire of 'r' while its previous stage is still open in task 'load'; commit it first, or set advance_on_acquire to hold several (a commit that the copy engine performs is written on all paths or on none)}}
        // expected-note-re @+2 {{on the path with {{.*}}flag: no}}
        // expected-note @+1 {{the open acquire}}
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
        ts.when %flag is true {
          ts.commit %r
        }
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
  // Threads that never arrive.
  ts.kernel @nobody_commits() warps(8) {
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      // expected-note @+1 {{acquired here}}
      ts.acquire %r
      ts.produce %r "work" {
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      // expected-error @+1 {{[TS105] this wait for 'r' is never answered: no task commits 'r', and its producer is no copy engine that would do it}}
      ts.wait %r
      ts.release %r
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // A waived finding is a remark with its reason.
  ts.kernel @waived(%flag: i1) warps(8) {
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r) {
      ts.consume %g "nothing" aux {
      }
      ts.acquire %r
      ts.commit %r
    }
    ts.task "drain" warps(4, 4) reads(%r) attributes {ts.waive = {TS105 = "the flag is always set"}} {
      // expected-remark @+2 {{[TS105] waived (the flag is always set): task 'drain' ends with 1 stage(s) of 'r' waited for and not released on some path, so the producer never gets them back; release on every path}}
      // expected-note @+1 {{on the path with flag: no}}
      ts.wait %r
      ts.when %flag is true {
        ts.release %r
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @nobody_releases(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    // expected-note @+1 {{declared here}}
    %g = ts.resource "g" gmem
    %r = ts.resource "r" barrier pipeline(async_async, stages = 2)
    %once = ts.resource "once" barrier pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.depends %once on %g
    ts.task "fill" warps(0, 4) reads(%g) writes(%r, %once) {
      // expected-error @+1 {{[TS105] 'wait' of 'g', which has no pipeline, so there is no barrier to use; declare a pipeline, or take the op out}}
      ts.wait %g
      ts.for %i = %c0 to %n {
        // expected-error @+1 {{[TS105] no task releases 'r', so its producer waits for ever after the 2 stage(s) are filled once; release each stage behind its last use}}
        ts.acquire %r
        ts.commit %r
      }
      // Filled once.
      ts.for %i = %c0 to %c2 {
        ts.acquire %once
        ts.commit %once
      }
    }
    ts.task "drain" warps(4, 4) reads(%r, %once) {
      ts.for %i = %c0 to %n {
        // expected-note @+1 {{its consumer waits here}}
        ts.wait %r
      }
      ts.for %i = %c0 to %c2 {
        ts.wait %once
      }
    }
  }
}
