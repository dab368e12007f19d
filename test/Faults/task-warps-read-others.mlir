// RUN: not %judge %s > /dev/null 2> %t.err
// RUN: %check ERR %s --input-file=%t.err
// Thread t writes x[t] and reads x[127 - t] without a barrier between the four warps.
// ERR: error: [TS302] race: threads 0 and 127 of 'a' touch byte 0 of 'x'
// ERR: help: insert ts.barrier_sync
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @x(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p0 = arith.constant 0 : i32
    %p1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : vector<32xf32>
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g

    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %c127 = arith.constant 127 : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
        %o = arith.subi %c127, %t : index
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
      }
    }

  }
}
