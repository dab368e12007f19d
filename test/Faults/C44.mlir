// RUN: %judge %s 2>&1 | %check OUT %s
// RUN: ts-opt %s --ts-lower | FileCheck %s
// C44: tensor memory freed while in use, or by too many warps. The kernel owns the allocation: one
// warp takes it before the tasks begin and frees it after a barrier of all warps behind their end.

// CHECK-LABEL: gpu.func @owned
// CHECK-COUNT-1: nvvm.tcgen05.alloc
// CHECK-NOT: nvvm.tcgen05.alloc
// CHECK: nvvm.tcgen05.relinquish_alloc_permit
// The address goes through shared memory, behind a barrier of all warps: read on every path (C46).
// CHECK: nvvm.tcgen05.fence <before>
// CHECK-NEXT: nvvm.barrier
// CHECK-NEXT: nvvm.tcgen05.fence <after>
// CHECK: nvvm.tcgen05.ld
// What was read is in registers before the slot is given back (C29).
// CHECK: tcgen05.wait::ld.sync.aligned
// CHECK: nvvm.tcgen05.fence <before>
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.tcgen05.fence <before>
// CHECK-NEXT: nvvm.barrier
// CHECK-NEXT: nvvm.tcgen05.fence <after>
// CHECK-NEXT: scf.if
// CHECK-COUNT-1: nvvm.tcgen05.dealloc
// CHECK-NOT: nvvm.tcgen05.dealloc
// OUT: owned: proven for every k: no deadlock, no race, no overrun, clean exit
!acc = memref<128x32xf32, #ts.tmem>
!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!mapb = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<32x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @owned(%A: !map, %B: !mapb, %k: index) warps(6) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(tma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: memref<128x32xf32>) pipeline(umma_async, stages = 1)
    %d = ts.resource "d" gmem(x: memref<128x33xf32, #ts.smem>)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.depends %d on %acc
    ts.task "load" warps(5, 1) reads(%g) writes(%ab) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a, %b) {
          ts.tma_load %A[%c0, %c0] to %a : !map, !a
          ts.tma_load %B[%c0, %c0] to %b : !mapb, !b
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(4, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        %a, %b = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %a, %b : !acc, !a, !b
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) writes(%d) {
      %t = ts.info thread : index
      ts.wait %acc
      %v = ts.consume %acc "ld" (%c) -> vector<32xf32> {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
        ts.yield %x : vector<32xf32>
      }
      ts.release %acc
      ts.produce %d "store" (%x) {
        vector.store %v, %x[%t, %c0] : memref<128x33xf32, #ts.smem>, vector<32xf32>
      }
    }
  }
}
