// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C06: a copy that is skipped after its bytes were armed; a release that some path leaves out.

// (a) The bytes of the skipped copy never come.
// ERR: error: [TS217] the copies of task 'load' into 'ab' add up to 0 bytes on one path and to 16384 on another, but the barrier expects one number for every phase; issue the same copies on every path between acquire and commit
// ERR: note: 0 bytes on the path with k > 0: yes, first iteration: no, last iteration: no, condition 'skip': yes
// ERR: note: 16384 bytes on the path with k > 0: yes, first iteration: no, last iteration: no, condition 'skip': no
!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @skipped_copy(%A: !map, %k: index, %skip: i1) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %ab on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.when %skip is false key("skip") {
          ts.produce %ab "copy" (%a) {
            ts.tma_load %A[%c0, %c0] to %a : !map, memref<128x64xbf16, #ts.smem<128>>
          }
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.consume %ab "operands" declared
        ts.release %ab
      }
    }
  }
}

// -----

// The same inside the body of the work.
// ERR: error: [TS217] the copies of task 'load' into 'ab' add up to 0 bytes on one path and to 16384 on another, but the barrier expects one number for every phase; issue the same copies on every path between acquire and commit
// ERR: note: 0 bytes on the path with k > 0: yes, first iteration: no, last iteration: no
// ERR: note: 16384 bytes on the path with k > 0: yes, first iteration: no, last iteration: no
!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @skipped_in_body(%A: !map, %k: index, %skip: i1) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %ab on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "copy" (%a) {
          scf.if %skip {
          } else {
            ts.tma_load %A[%c0, %c0] to %a : !map, memref<128x64xbf16, #ts.smem<128>>
          }
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) {
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.consume %ab "operands" declared
        ts.release %ab
      }
    }
  }
}

// -----

// Both tasks leave the stage out: nothing is armed.
// OUT: both_skip: proven for every k, skip: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @both_skip(%A: !map, %k: index, %skip: i1) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %ab on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.when %skip is false key("skip") {
        ts.for %i = %c0 to %k {
          ts.acquire %ab
          ts.produce %ab "copy" (%a) {
            ts.tma_load %A[%c0, %c0] to %a : !map, memref<128x64xbf16, #ts.smem<128>>
          }
          ts.commit %ab
        }
      }
    }
    ts.task "mma" warps(0, 4) reads(%ab) {
      ts.when %skip is false key("skip") {
        ts.for %i = %c0 to %k {
          ts.wait %ab
          ts.consume %ab "operands" declared
          ts.release %ab
        }
      }
    }
  }
}

// -----

// (b) With no valid sub-tile the accumulator is never given back.
// ERR: error: [TS105] wait for 'acc' while its previous stage is still held in task 'epi'; release it first, or set advance_on_wait to hold several
// ERR: note: on the path with the loop runs: yes, first iteration: no, last iteration: no, valid > 0: no
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @release_in_last(%n: index, %valid: index) warps(5) {
    %c0 = arith.constant 0 : index
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %acc on %g
    ts.task "mma" warps(4, 1) reads(%g, %q) writes(%acc) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
        ts.next_tile %q
      }
    }
    ts.task "epi" warps(0, 4) reads(%acc, %q) {
      ts.tile_loop %q (%m) {
        ts.wait %acc
        ts.for %s = %c0 to %valid {
          ts.consume %acc "ld" declared
          ts.guard last {
            ts.release %acc
          }
        }
        ts.next_tile %q
      }
    }
  }
}

// -----

// OUT: release_after: proven for every number of tiles of 'tiles', valid: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @release_after(%n: index, %valid: index) warps(5) {
    %c0 = arith.constant 0 : index
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %acc on %g
    ts.task "mma" warps(4, 1) reads(%g, %q) writes(%acc) {
      ts.consume %g "nothing" aux {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
        ts.next_tile %q
      }
    }
    ts.task "epi" warps(0, 4) reads(%acc, %q) {
      ts.tile_loop %q (%m) {
        ts.wait %acc
        ts.for %s = %c0 to %valid {
          ts.consume %acc "ld" declared
        }
        ts.release %acc
        ts.next_tile %q
      }
    }
  }
}
