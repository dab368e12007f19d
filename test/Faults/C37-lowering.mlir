// RUN: %judge %s 2>&1 | %check OUT %s
// RUN: ts-opt %s --ts-lower 2>/dev/null | FileCheck %s
// C37, between two tasks: the lowering emits the proxy fence, on every path, K = 0 included.

// Each thread of the writers: store, fence, arrive. The storing side: wait, store, no other fence.
// CHECK-LABEL: gpu.func @two_tasks
// CHECK: llvm.store
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NOT: llvm.store
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.mbarrier.try_wait
// CHECK-NOT: nvvm.fence.proxy
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// OUT: two_tasks: proven for every k: no deadlock, no race, no overrun, clean exit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_tasks(%D: !map, %k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %c = ts.resource "c" smem(c: !buf) pipeline(async_async, stages = 2)
    %d = ts.resource "d" gmem
    ts.depends %c on %g
    ts.depends %d on %c
    ts.task "write" warps(0, 1) reads(%g) writes(%c) {
      %lane = ts.info lane : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %c
        ts.produce %c "write" (%x) {
          vector.store %z, %x[%lane, %c0] : !buf, vector<32xf32>
        }
        ts.commit %c
      }
    }
    ts.task "store" warps(1, 1) reads(%c) writes(%d) {
      ts.for %i = %c0 to %k {
        ts.wait %c
        %s = ts.consume %c "tile" (%x) -> !buf {
          ts.yield %x : !buf
        }
        ts.produce %d "store" {
          ts.tma_store %s to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %c
      }
    }
  }
}
