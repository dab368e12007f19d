// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C52: a read of the earlier kernel's result before the dependency wait.

// ERR: error: [TS114] task 'load' produces 'x', which depends on 'previous', before a griddep_wait; put the wait in front of it, in every task that produces it
// ERR: note: on the path with k > 0: yes, first iteration: yes, last iteration: yes
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_wait_before(%A: !map, %k: index, %flag: i1) warps(2) {
    %c0 = arith.constant 0 : index
    %pdl = ts.pdl "previous"
    %w = ts.resource "weights" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %x on %w, %pdl
    ts.task "load" warps(0, 1) reads(%w, %pdl) writes(%x) {
      ts.consume %w "coords" {
      }

      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
      ts.griddep_wait %pdl
    }
    ts.task "use" warps(1, 1) reads(%x) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "tile" declared
        ts.release %x
      }
    }
  }
}

// -----

// The wait on one branch only.
// ERR: error: [TS114] task 'load' produces 'x', which depends on 'previous', before a griddep_wait; put the wait in front of it, in every task that produces it
// ERR: note: on the path with flag: no, k > 0: yes, first iteration: yes, last iteration: yes
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_branch(%A: !map, %k: index, %flag: i1) warps(2) {
    %c0 = arith.constant 0 : index
    %pdl = ts.pdl "previous"
    %w = ts.resource "weights" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %x on %w, %pdl
    ts.task "load" warps(0, 1) reads(%w, %pdl) writes(%x) {
      ts.consume %w "coords" {
      }
      ts.when %flag is true {
        ts.griddep_wait %pdl
      }
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }

    }
    ts.task "use" warps(1, 1) reads(%x) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "tile" declared
        ts.release %x
      }
    }
  }
}

// -----

// Another task waits.
// ERR: error: [TS114] task 'load' produces 'x', which depends on 'previous', before a griddep_wait; put the wait in front of it, in every task that produces it
// ERR: note: on the path with k > 0: yes, first iteration: yes, last iteration: yes
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @other_task(%A: !map, %k: index, %flag: i1) warps(2) {
    %c0 = arith.constant 0 : index
    %pdl = ts.pdl "previous"
    %w = ts.resource "weights" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %x on %w, %pdl
    ts.task "load" warps(0, 1) reads(%w, %pdl) writes(%x) {
      ts.consume %w "coords" {
      }
      ts.griddep_launch %pdl
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }

    }
    ts.task "use" warps(1, 1) reads(%x, %pdl) {
      ts.griddep_wait %pdl
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "tile" declared
        ts.release %x
      }
    }
  }
}

// -----

// OUT: own_wait: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @own_wait(%A: !map, %k: index, %flag: i1) warps(2) {
    %c0 = arith.constant 0 : index
    %pdl = ts.pdl "previous"
    %w = ts.resource "weights" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %x on %w, %pdl
    ts.task "load" warps(0, 1) reads(%w, %pdl) writes(%x) {
      ts.consume %w "coords" {
      }
      ts.griddep_wait %pdl
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }

    }
    ts.task "use" warps(1, 1) reads(%x) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "tile" declared
        ts.release %x
      }
    }
  }
}

// -----

// Weights that no earlier kernel writes: declared as not depending on it.
// OUT: weights: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @weights(%A: !map, %k: index, %flag: i1) warps(2) {
    %c0 = arith.constant 0 : index
    %pdl = ts.pdl "previous"
    %w = ts.resource "weights" gmem
    %x = ts.resource "x" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %x on %w
    ts.task "load" warps(0, 1) reads(%w, %pdl) writes(%x) {
      ts.consume %w "coords" {
      }

      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "load" (%v) {
          ts.tma_load %A[%c0, %c0] to %v : !map, !buf
        }
        ts.commit %x
      }
      ts.griddep_wait %pdl
    }
    ts.task "use" warps(1, 1) reads(%x) {
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "tile" declared
        ts.release %x
      }
    }
  }
}
