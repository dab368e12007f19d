// RUN: %judge %s 2>&1 | %check OUT %s
// RUN: ts-opt %s --ts-lower 2>/dev/null | FileCheck %s
// C39: barrier initialisation that is not published. Programs do not initialise barriers: the kernel
// does, fences in the initialising thread, and meets at a barrier of the CTA, or of the cluster where
// a peer arrives.

// CHECK-LABEL: gpu.func @one_cta
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.mbarrier.init
// CHECK-NOT: nvvm.mbarrier.init
// CHECK-NEXT: nvvm.fence.mbarrier.init
// CHECK-NEXT: }
// CHECK-NOT: nvvm.cluster
// CHECK: nvvm.barrier
// CHECK: nvvm.mbarrier.try_wait
// OUT: one_cta: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xbf16, box = 64x64, swizzle = 128>
!tile = memref<64x64xbf16, #ts.smem<128>>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_cta(%A: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(a: !tile) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "copy" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !tile
        }
        ts.commit %r
      }
    }
    ts.task "use" warps(1, 1) reads(%r) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "tile" (%x) {
          %v = vector.load %x[%lane, %c0] : !tile, vector<8xbf16>
        }
        ts.release %r
      }
    }
  }
}
