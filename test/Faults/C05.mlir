// RUN: %judge %s 2>&1 | %check OUT %s
// C05: exactly one pipelined iteration, and every count around the number of stages. One proof per
// number of stages stands for the whole grid of trip counts.

// OUT: stages_1: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stages_1(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %a = ts.resource "a" smem(a: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 1)
    ts.depends %a on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%a) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.produce %a "copy" declared
        ts.commit %a
      }
    }
    ts.task "compute" warps(0, 4) reads(%a) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.consume %a "tile" declared
        ts.release %a
      }
    }
  }
}

// -----

// OUT: stages_2: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stages_2(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %a = ts.resource "a" smem(a: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %a on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%a) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.produce %a "copy" declared
        ts.commit %a
      }
    }
    ts.task "compute" warps(0, 4) reads(%a) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.consume %a "tile" declared
        ts.release %a
      }
    }
  }
}

// -----

// OUT: stages_3: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stages_3(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %a = ts.resource "a" smem(a: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 3)
    ts.depends %a on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%a) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.produce %a "copy" declared
        ts.commit %a
      }
    }
    ts.task "compute" warps(0, 4) reads(%a) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.consume %a "tile" declared
        ts.release %a
      }
    }
  }
}

// -----

// OUT: stages_4: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stages_4(%k: index) warps(5) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %a = ts.resource "a" smem(a: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 4)
    ts.depends %a on %g
    ts.task "load" warps(4, 1) reads(%g) writes(%a) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %a
        ts.produce %a "copy" declared
        ts.commit %a
      }
    }
    ts.task "compute" warps(0, 4) reads(%a) {
      ts.for %i = %c0 to %k {
        ts.wait %a
        ts.consume %a "tile" declared
        ts.release %a
      }
    }
  }
}
