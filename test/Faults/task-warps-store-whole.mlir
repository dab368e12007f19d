// RUN: not %judge %s > /dev/null 2> %t.err
// RUN: %check ERR %s --input-file=%t.err
// Each of the task's four warps writes its rows, then each issues a tma_store of the whole tile with a warp_sync only; a warp's store reads rows that other warps may not have written.
// ERR: error: [TS302] race: threads 32 and 0 of 'a' touch byte 4096 of 'x'
// ERR: help: insert ts.barrier_sync
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
!mapd = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @x(%D: !mapd) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p0 = arith.constant 0 : i32
    %p1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<32xf32>
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %d = ts.resource "d" gmem(x: memref<128x32xf32, #ts.smem<128>>)
    ts.depends %d on %g

    ts.task "a" warps(0, 4) reads(%g) writes(%d) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      ts.produce %d "st" (%x) {
        vector.store %z, %x[%t, %c0] : memref<128x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.fence proxy_async_shared
        ts.warp_sync
        ts.tma_store %x to %D[%c0, %c0] : memref<128x32xf32, #ts.smem<128>>, !mapd
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }

  }
}
