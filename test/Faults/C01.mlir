// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C01: zero k trips with a peeled first iteration.

// The mma task peels its first step, so it takes max(1, K) stages where the load fills K.
// ERR: error: [TS301] deadlock when k {{>?=}} 0: 'mma' and 'epi' wait for each other
// ERR: note: 'mma' waits for the data of 'ab' (use 0, stage 0 of 2); 1 of 1 arrivals are missing
// ERR: note: 'epi' waits for the data of 'acc' (use 0, stage 0 of 1); 1 of 1 arrivals are missing
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @peeled(%k: index) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "load" warps(5, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "copy" declared
        ts.commit %ab
      }
    }
    ts.task "mma" warps(4, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.wait %ab
      ts.consume %ab "first" declared
      ts.produce %acc "mma first" declared
      ts.release %ab
      ts.for %i = %c1 to %k {
        ts.wait %ab
        ts.consume %ab "operands" declared
        ts.produce %acc "mma" declared
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "store" declared
      ts.release %acc
    }
  }
}

// -----

// All three tasks under `K > 0`.
// OUT: guarded: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @guarded(%k: index) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "load" warps(5, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "copy" declared
        ts.commit %ab
      }
    }
    ts.task "mma" warps(4, 1) reads(%ab) writes(%acc) {
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.when %some is true {
        ts.acquire %acc
        ts.wait %ab
        ts.consume %ab "first" declared
        ts.produce %acc "mma first" declared
        ts.release %ab
        ts.for %i = %c1 to %k {
          ts.wait %ab
          ts.consume %ab "operands" declared
          ts.produce %acc "mma" declared
          ts.release %ab
        }
        ts.commit %acc
      }
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.when %some is true {
        ts.wait %acc
        ts.consume %acc "store" declared
        ts.release %acc
      }
    }
  }
}

// -----

// A launch promises K >= 1.
// OUT: promised: proven for every k >= 1: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @promised(%k: index min 1) warps(6) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "load" warps(5, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "copy" declared
        ts.commit %ab
      }
    }
    ts.task "mma" warps(4, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.wait %ab
      ts.consume %ab "first" declared
      ts.produce %acc "mma first" declared
      ts.release %ab
      ts.for %i = %c1 to %k {
        ts.wait %ab
        ts.consume %ab "operands" declared
        ts.produce %acc "mma" declared
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "store" declared
      ts.release %acc
    }
  }
}
