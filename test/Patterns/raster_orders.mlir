// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of raster orders forbid. The first kernel is right.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%a: index, %b: index, %D: memref<?x?xindex>) warps(1) {
    %dst = ts.resource "dst" gmem
    %src = ts.resource "src" gmem
    %queue = ts.work_queue "tiles" static over(%a, %b) group(4)
    ts.depends %dst on %src
    ts.task "t" warps(0, 1) reads(%src, %queue) writes(%dst) {
      ts.tile_loop %queue (%m, %n) {
        ts.consume %src "nothing" aux {
        }
        ts.produce %dst "store" {
          memref.store %m, %D[%m, %n] : memref<?x?xindex>
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// More tiles than numbers.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @wraps(%a: index, %b: index, %D: memref<?x?xindex>) warps(1) {
    %big = arith.constant 65536 : index
    %more = arith.constant 40000 : index
    %dst = ts.resource "dst" gmem
    %src = ts.resource "src" gmem
    // expected-error @+1 {{[TS233] work queue 'tiles' has more than 2^31 - 1 tiles, but tiles are numbered in 32 bits, so that some would get the number of another; use larger tiles or several launches}}
    %queue = ts.work_queue "tiles" static over(%big, %more)
    ts.depends %dst on %src
    ts.task "t" warps(0, 1) reads(%src, %queue) writes(%dst) {
      ts.tile_loop %queue (%m, %n) {
        ts.consume %src "nothing" aux {
        }
        ts.produce %dst "store" {
          memref.store %m, %D[%m, %n] : memref<?x?xindex>
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The same with planes.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @planes(%a: index, %b: index, %D: memref<?x?xindex>) warps(1) {
    %big = arith.constant 65536 : index
    %more = arith.constant 32768 : index
    %dst = ts.resource "dst" gmem
    %src = ts.resource "src" gmem
    // expected-error @+1 {{[TS233] work queue 'tiles' has more than 2^31 - 1 tiles, but tiles are numbered in 32 bits, so that some would get the number of another; use larger tiles or several launches}}
    %queue = ts.work_queue "tiles" static over(%a, %big, %more)
    ts.depends %dst on %src
    ts.task "t" warps(0, 1) reads(%src, %queue) writes(%dst) {
      ts.tile_loop %queue (%l, %m, %n) {
        ts.consume %src "nothing" aux {
        }
        ts.produce %dst "store" {
          memref.store %m, %D[%m, %n] : memref<?x?xindex>
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// All of the first dimension as one group: 2^20 rows by 4096 columns are 0 in 32 bits.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_group(%a: index, %b: index, %D: memref<?x?xindex>) warps(1) {
    %c = arith.constant 4096 : index
    %dst = ts.resource "dst" gmem
    %src = ts.resource "src" gmem
    // expected-error @+1 {{[TS233] the tile order of work queue 'tiles' with group(1048576) does not visit every tile once: in a grid of 1 x 4096 tiles the decoding of work id 0 divides by zero; use a group no larger than the first tile count}}
    %queue = ts.work_queue "tiles" static over(%a, %c) group(1048576)
    ts.depends %dst on %src
    ts.task "t" warps(0, 1) reads(%src, %queue) writes(%dst) {
      ts.tile_loop %queue (%m, %n) {
        ts.consume %src "nothing" aux {
        }
        ts.produce %dst "store" {
          memref.store %m, %D[%m, %n] : memref<?x?xindex>
        }
        ts.next_tile %queue
      }
    }
  }
}
