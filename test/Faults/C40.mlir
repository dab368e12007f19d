// RUN: %judge %s 2>&1 | %check OUT %s
// RUN: ts-opt %s --ts-lower | FileCheck %s --check-prefix=LOWER
// C40: ordinary writes that the tensor core reads. The writers have to fence before they arrive and the
// issuing thread behind its wait; the program writes neither, and nothing without them is emitted.
// LOWER: nvvm.mbarrier.try_wait
// LOWER: llvm.store {{.*}} vector<8xbf16>
// LOWER: llvm.store {{.*}} vector<8xbf16>
// LOWER-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// LOWER: nvvm.mbarrier.arrive

// OUT: conv: proven for every k: no deadlock, no race, no overrun, clean exit
!acc = memref<128x32xf32, #ts.tmem>
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<32x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @conv(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %z = arith.constant dense<0.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(async_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: memref<128x32xf32>) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "conv" warps(0, 4) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "convert" (%a, %b) {
          vector.store %z, %b[%c0, %c0] : !b, vector<8xbf16>
          vector.store %z, %a[%t, %c0] : !a, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(8, 1) reads(%ab) writes(%acc) {
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
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}
