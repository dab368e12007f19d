// A scalar of type i1 is a byte that is 0 or 1. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t && ts-compile %s --verify=warn -o %t/k.ptx 2> /dev/null
// RUN: ts-run %t/k.ptx --array A=128 --array D=128 --scalar flag=1 --check 'D = A + flag' | FileCheck %s --check-prefix=GOOD
// RUN: ts-run %t/k.ptx --array A=128 --array D=128 --scalar flag=0 --check 'D = flag + A' | FileCheck %s --check-prefix=GOOD
// GOOD: ok, 128 compared (all), exact
// RUN: not ts-run %t/k.ptx --array A=128 --array D=128 --scalar flag=2 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: [TS503] scalar 'flag' of type i1 is 2, expected 0 or 1
gpu.module @flag attributes {ts.chip = "sm_90a"} {
  ts.kernel @k(%A: memref<?xi32>, %D: memref<?xi32>, %flag: i1, %one: index = 1) warps(4) {
    %src = ts.resource "gmem_d" gmem(s: memref<1024xi32, #ts.smem>)
    %queue = ts.work_queue "tiles" static over(%one)
    ts.task "t" warps(0, 4) reads(%queue) writes(%src) {
      %thread = ts.info thread : index
      ts.tile_loop %queue (%m) {
        ts.produce %src "body" (%s) {
          %x = arith.extui %flag : i1 to i32
          %a = memref.load %A[%thread] : memref<?xi32>
          %y = arith.addi %x, %a : i32
          memref.store %y, %D[%thread] : memref<?xi32>
        }
        ts.next_tile %queue
      }
    }
  }
}
