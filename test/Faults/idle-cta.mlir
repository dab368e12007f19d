// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove{summary=true timing=false}))' -o /dev/null | FileCheck %s
// Both roles run on CTA 0 only. The loops of CTA 1 do nothing, so how far they are says nothing.
// CHECK: x: proven for every k
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @x(%A: !map, %k: index) warps(12) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p0 = arith.constant 0 : i32
    %p1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<32xf32>
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2, mcast = (0, 0))
    ts.depends %r on %g

    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %lead = arith.cmpi eq, %rank, %c0 : index
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.when %lead is true {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !buf
        }
        ts.commit %r
        }
      }

    }
    ts.task "c" warps(2, 1) reads(%r) {
      %rank = ts.info cta_rank : index
      %lead = arith.cmpi eq, %rank, %c0 : index
      ts.for %i = %c0 to %k {
        ts.when %lead is true {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
        }
      }

    }

  }
}
