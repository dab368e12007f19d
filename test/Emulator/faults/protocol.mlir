// Schedules that the verifier refuses, compiled all the same: the emulator finds what a GPU would show as a
// hang or, some day, a wrong value, and says which lines of this file it is about.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ts-compile %s --verify=warn -o %t.ptx 2> /dev/null
// DEFINE: %{run} = not ts-run %t.ptx --array A=256x32 --array D=256x32 --check "D = A" --kernel
// RUN: %{run} no_release 2>&1 | FileCheck %s --check-prefix=HANG
// RUN: %{run} no_wait 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// RUN: %{run} no_wait --schedule=adversarial:1 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: %{run} bytes 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: %{run} early_release --schedule=random:1-20 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: %{run} coordinate 2>&1 | FileCheck %s --check-prefix=COORDINATE
!map = !ts.tensor_map<?x?xf32, box = 64x32, swizzle = 128>
!tile = memref<64x32xf32, #ts.smem<128>>

gpu.module @faults attributes {ts.chip = "sm_90a"} {
  // Nobody gives a stage back: the copies stop when both stages are full.
  ts.kernel @no_release(%A: !map, %D: !map, %n: index = ceildiv(dim(%A, 0), 64)) warps(2) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem" smem(x: !tile) pipeline(tma_async, stages = 2, producer_count = 1, consumer_count = 1)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %tile on %src
    ts.depends %dst on %tile
    ts.task "load" warps(0, 1) reads(%src) writes(%tile) {
      ts.for %m = %c0 to %n {
        ts.consume %src "rows" {
        }
        %row = arith.muli %m, %c64 : index
        // HANG: protocol.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: [TS701] hang
        // HANG: note: mbarrier {{.*}}: phase 0 is open, 1 of 1 arrivals pending
        ts.acquire %tile
        ts.produce %tile "load" (%x) {
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %tile
      }
    }
    ts.task "store" warps(1, 1) reads(%tile) writes(%dst) {
      ts.for %m = %c0 to %n {
        %row = arith.muli %m, %c64 : index
        ts.wait %tile
        %x = ts.consume %tile "tile" (%view) -> !tile {
          ts.yield %view : !tile
        }
        ts.produce %dst "store" {
          ts.tma_store %x to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
      }
    }
  }

  // The consumer does not wait for the copy: under the fair schedule it reads what nobody has written yet; when
  // it comes last, what is there, but nothing orders the two.
  ts.kernel @no_wait(%A: !map, %D: !map, %n: index = ceildiv(dim(%A, 0), 64)) warps(2) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem" smem(x: !tile) pipeline(tma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %tile on %src
    ts.depends %dst on %tile
    ts.task "load" warps(0, 1) reads(%src) writes(%tile) {
      ts.for %m = %c0 to %n {
        ts.consume %src "rows" {
        }
        %row = arith.muli %m, %c64 : index
        ts.acquire %tile
        ts.produce %tile "load" (%x) {
          // RACE: protocol.mlir:[[#@LINE+15]]:11: error: [TS702] race: the read by {{.*}} and the write by TMA load
          // RACE: protocol.mlir:[[#@LINE+1]]:11: note: the other access is here
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %tile
      }
    }
    ts.task "store" warps(1, 1) reads(%tile) writes(%dst) {
      ts.for %m = %c0 to %n {
        %row = arith.muli %m, %c64 : index
        %x = ts.consume %tile "tile" (%view) -> !tile {
          ts.yield %view : !tile
        }
        ts.produce %dst "store" {
          // UNWRITTEN: protocol.mlir:[[#@LINE+1]]:11: error: [TS714] shared memory
          ts.tma_store %x to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %tile
      }
    }
  }

  // The barrier is armed for two tiles; the second is not copied in the first step.
  ts.kernel @bytes(%A: !map, %D: !map, %n: index = ceildiv(dim(%A, 0), 64)) warps(2) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem" smem(x: !tile, y: !tile) pipeline(tma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %tile on %src
    ts.depends %dst on %tile
    ts.task "load" warps(0, 1) reads(%src) writes(%tile) {
      ts.for %m = %c0 to %n {
        ts.consume %src "rows" {
        }
        %row = arith.muli %m, %c64 : index
        ts.acquire %tile
        ts.produce %tile "load" (%x, %y) {
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
          %more = arith.cmpi ne, %m, %c0 : index
          scf.if %more {
            ts.tma_load %A[%row, %c0] to %y : !map, !tile
          }
        }
        ts.commit %tile
      }
    }
    ts.task "store" warps(1, 1) reads(%tile) writes(%dst) {
      ts.for %m = %c0 to %n {
        %row = arith.muli %m, %c64 : index
        // BYTES: error: [TS701] hang
        // BYTES: protocol.mlir:[[#@LINE+2]]:9: note: waits for mbarrier
        // BYTES: note: mbarrier {{.*}}: phase 0 is open, 0 of 1 arrivals pending, 8192 bytes outstanding
        ts.wait %tile
        %x = ts.consume %tile "tile" (%view, %other) -> !tile {
          ts.yield %view : !tile
        }
        ts.produce %dst "store" {
          ts.tma_store %x to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %tile
      }
    }
  }

  // The stage is given back while the bulk store may still read it: bulk_wait stands behind the release.
  ts.kernel @early_release(%A: !map, %D: !map, %n: index = ceildiv(dim(%A, 0), 64)) warps(2) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem" smem(x: !tile) pipeline(tma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %tile on %src
    ts.depends %dst on %tile
    ts.task "load" warps(0, 1) reads(%src) writes(%tile) {
      ts.for %m = %c0 to %n {
        ts.consume %src "rows" {
        }
        %row = arith.muli %m, %c64 : index
        ts.acquire %tile
        ts.produce %tile "load" (%x) {
          // EARLY: protocol.mlir:[[#@LINE+2]]:11: error: [TS702] race: the write by TMA load and the read by bulk store
          // EARLY: protocol.mlir:[[#@LINE+14]]:11: note: the other access is here
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %tile
      }
    }
    ts.task "store" warps(1, 1) reads(%tile) writes(%dst) {
      ts.for %m = %c0 to %n {
        %row = arith.muli %m, %c64 : index
        ts.wait %tile
        %x = ts.consume %tile "tile" (%view) -> !tile {
          ts.yield %view : !tile
        }
        ts.produce %dst "store" {
          ts.tma_store %x to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
        }
        ts.release %tile
      }
    }
  }

  // The column is no multiple of 16 bytes.
  ts.kernel @coordinate(%A: !map, %D: !map, %n: index = ceildiv(dim(%A, 0), 64)) warps(2) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %src = ts.resource "gmem_a" gmem
    %tile = ts.resource "smem" smem(x: !tile) pipeline(tma_async, stages = 2)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %tile on %src
    ts.depends %dst on %tile
    ts.task "load" warps(0, 1) reads(%src) writes(%tile) {
      ts.for %m = %c0 to %n {
        ts.consume %src "rows" {
        }
        %row = arith.muli %m, %c64 : index
        ts.acquire %tile
        ts.produce %tile "load" (%x) {
          // COORDINATE: protocol.mlir:[[#@LINE+1]]:11: error: [TS712]
          ts.tma_load %A[%row, %c3] to %x : !map, !tile
        }
        ts.commit %tile
      }
    }
    ts.task "store" warps(1, 1) reads(%tile) writes(%dst) {
      ts.for %m = %c0 to %n {
        %row = arith.muli %m, %c64 : index
        ts.wait %tile
        %x = ts.consume %tile "tile" (%view) -> !tile {
          ts.yield %view : !tile
        }
        ts.produce %dst "store" {
          ts.tma_store %x to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %tile
      }
    }
  }
}
