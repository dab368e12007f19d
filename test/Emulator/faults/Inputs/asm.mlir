// A kernel of four warps whose body is PTX that the test puts in: $0 is a buffer in shared memory, $1 is D,
// $2 the thread, $3 the CTA's rank; p is set for thread 0, w for warp 0, r for CTA 1. Every fault is on line 19.
!buffer = memref<1024xi32, #ts.smem>
gpu.module @faults attributes {ts.chip = "CHIP"} {
  ts.kernel @k(%D: memref<?xi32>, %one: index = 1) warps(4) CLUSTER {
    %src = ts.resource "gmem_d" gmem(s: !buffer)
    %queue = ts.work_queue "tiles" static over(%one)
    ts.task "t" warps(0, 4) reads(%queue) writes(%src) {
      %thread = ts.info thread : index
      %t = arith.index_cast %thread : index to i32
      %rank = ts.info cta_rank : index
      %r = arith.index_cast %rank : index to i32
      ts.tile_loop %queue (%m) {
        ts.produce %src "body" (%s) {
          %shared = memref.extract_aligned_pointer_as_index %s : !buffer -> index
          %global = memref.extract_aligned_pointer_as_index %D : memref<?xi32> -> index
          %b = arith.index_cast %shared : index to i32
          %g = arith.index_cast %global : index to i64
          llvm.inline_asm has_side_effects "{ .reg .pred p, w, r, x; .reg .b16 h; .reg .b32 a, b, c, d; .reg .f32 f; .reg .b64 l; setp.eq.u32 p, $2, 0; setp.lt.u32 w, $2, 32; setp.eq.u32 r, $3, 1; PTX }", "r,l,r,r,~{memory}" %b, %g, %t, %r : (i32, i64, i32, i32) -> ()
          memref.store %t, %D[%thread] : memref<?xi32>
        }
        ts.next_tile %queue
      }
    }
  }
}
