// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-allocate))' | FileCheck %s
// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-allocate,ts-allocate))' | FileCheck %s
// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-allocate{print-map}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=MAP
// Offsets, strides, barriers, slots and ids of kernels that fit.

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // Swizzled tiles first, then the small unswizzled ones, then barriers and the slot.
  // CHECK-LABEL: ts.kernel @gemm
  // CHECK-SAME: ts.smem_bytes = 132464 : i64
  // CHECK-SAME: ts.tmem_columns = 512 : i64
  // CHECK-SAME: ts.tmem_slot = 132448 : i64
  ts.kernel @gemm() warps(4) {
    // CHECK: "bias" smem
    // CHECK-SAME: ts.offsets = array<i64: 131072>, ts.strides = array<i64: 0>
    %bias = ts.resource "bias" smem(v: memref<256xf32>)
    // CHECK: "ab" smem
    // CHECK-SAME: ts.empty_offset = 132128 : i64, ts.full_offset = 132096 : i64, ts.offsets = array<i64: 0, 65536>, ts.strides = array<i64: 16384, 16384>
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>, b: memref<128x64xbf16, #ts.smem<128>>)
            pipeline(tma_umma, stages = 4)
    // CHECK: "acc" tmem
    // CHECK-SAME: ts.empty_offset = 132176 : i64, ts.full_offset = 132160 : i64, ts.offsets = array<i64: 0>, ts.strides = array<i64: 128>
    %acc = ts.resource "acc" tmem(d: memref<128x128xf32>) pipeline(umma_async, stages = 2)
    // Two 16-bit elements share a column; columns are handed out in the order of the program.
    // CHECK: "p" tmem
    // CHECK-SAME: ts.offsets = array<i64: 256>, ts.strides = array<i64: 0>
    %p = ts.resource "p" tmem(x: memref<128x64xbf16>)
    // CHECK: "credit" barrier
    // CHECK-SAME: ts.empty_offset = 132320 : i64, ts.full_offset = 132192 : i64, ts.offsets = array<i64>
    %credit = ts.resource "credit" barrier pipeline(async_async, stages = 16)
  }

  // MAP: shared memory of @gemm: 132464 of 232448 bytes
  // MAP-NEXT: offset        size  stages  padding  name
  // MAP-NEXT: 0       65536       4        0  ab.a
  // MAP-NEXT: 65536       65536       4        0  ab.b
  // MAP-NEXT: 131072        1024       1        0  bias.v
  // MAP-NEXT: 132096          32       4        0  ab.full
  // MAP: tensor memory of @gemm: 288 of 512 columns, 512 allocated
  // MAP: 256          32       1        0  p.x

  // Natural alignment: swizzle span x 8, TMA without swizzle 128, else 16; the user's if larger.
  // CHECK-LABEL: ts.kernel @alignment
  ts.kernel @alignment(%map: !ts.tensor_map<?xf32, box = 4>) warps(2) {
    // CHECK: "s64"
    // CHECK-SAME: ts.offsets = array<i64: 1536>
    %s64 = ts.resource "s64" smem(x: memref<1x32xbf16, #ts.smem<64>>)
    // CHECK: "s32"
    // CHECK-SAME: ts.offsets = array<i64: 1280>
    %s32 = ts.resource "s32" smem(x: memref<1x16xbf16, #ts.smem<32>>)
    // The tensor copy in a body makes 'staged' 128; and gaps are filled: user.x ends at 1028.
    // CHECK: "plain"
    // CHECK-SAME: ts.offsets = array<i64: 1040>
    %plain = ts.resource "plain" smem(x: memref<1xf32>)
    // CHECK: "staged"
    // CHECK-SAME: ts.offsets = array<i64: 1152>
    %staged = ts.resource "staged" smem(x: memref<4xf32>)
    // Stages are padded to the alignment, the last one is not.
    // CHECK: "user"
    // CHECK-SAME: ts.offsets = array<i64: 0, 1056>, ts.strides = array<i64: 1024, 0>
    %user = ts.resource "user" smem(x: memref<1xf32> align 1024, y: memref<1xf32> unstaged)
              pipeline(async_async, stages = 2)
    ts.task "store" warps(0, 1) reads(%staged) {
      ts.consume %staged "store" (%x) {
        %c0 = arith.constant 0 : index
        ts.tma_store %x to %map[%c0] : memref<4xf32, #ts.smem>, !ts.tensor_map<?xf32, box = 4>
      }
    }
  }

  // Phases start together; the region is as large as the largest and frees nothing else.
  // CHECK-LABEL: ts.kernel @alias
  // CHECK-SAME: ts.smem_bytes = 36880 : i64
  // CHECK-SAME: ts.tmem_columns = 64 : i64
  ts.kernel @alias() warps(1) {
    // CHECK: "s"{{.*}}ts.offsets = array<i64: 0>
    %s = ts.resource "s" smem(x: memref<64x64xf32>)
    // CHECK: "t"{{.*}}ts.offsets = array<i64: 0, 16384>
    %t = ts.resource "t" smem(y: memref<64x64xf32>, z: memref<64x64xf32>)
    // CHECK: "u"{{.*}}ts.offsets = array<i64: 16384>
    %u = ts.resource "u" smem(y: memref<16xf32>)
    // CHECK: "after"{{.*}}ts.offsets = array<i64: 32768>
    %after = ts.resource "after" smem(w: memref<16x64xf32>)
    // CHECK: "st"{{.*}}ts.offsets = array<i64: 0>
    %st = ts.resource "st" tmem(w: memref<128x64xf32>)
    // CHECK: "pt"{{.*}}ts.offsets = array<i64: 0>
    %pt = ts.resource "pt" tmem(w: memref<128x64xbf16>)
    ts.alias_group "reuse" (%s, %u, %t) phases [2, 1]
    ts.alias_group "columns" (%st, %pt) phases [1, 1]
  }

  // CHECK-LABEL: ts.kernel @pinned
  // CHECK-SAME: ts.smem_bytes = 20480 : i64
  ts.kernel @pinned() warps(1) {
    // CHECK: "a"{{.*}}ts.offsets = array<i64: 1024>
    %a = ts.resource "a" smem(x: memref<64x64xf32> at 1024)
    // Both pinned: an overlap is the program's decision.
    // CHECK: "b"{{.*}}ts.offsets = array<i64: 9216>
    %b = ts.resource "b" smem(x: memref<8xf32> at 9216)
    // Gaps are filled.
    // CHECK: "c"{{.*}}ts.offsets = array<i64: 0>
    %c = ts.resource "c" smem(x: memref<256xf32>)
    // CHECK: "d"{{.*}}ts.offsets = array<i64: 17408>
    %d = ts.resource "d" smem(x: memref<257xf32>)
    // An alias group with a pinned member starts there.
    // CHECK: "e"{{.*}}ts.offsets = array<i64: 19456>
    %e = ts.resource "e" smem(x: memref<128xf32> at 19456)
    // CHECK: "f"{{.*}}ts.offsets = array<i64: 19456>
    %f = ts.resource "f" smem(x: memref<256xf32>)
    ts.alias_group "ef" (%e, %f) phases [1, 1]
    // CHECK: "g"{{.*}}ts.offsets = array<i64: 32>
    %g = ts.resource "g" tmem(x: memref<128x32xf32> at 32)
    // CHECK: "h"{{.*}}ts.offsets = array<i64: 0>
    %h = ts.resource "h" tmem(x: memref<128x32xf32>)
    // CHECK: "i"{{.*}}ts.offsets = array<i64: 64>
    %i = ts.resource "i" tmem(x: memref<128x1xf32>)
  }

  // Shared sides have their barriers on the group.
  // CHECK-LABEL: ts.kernel @groups
  ts.kernel @groups() warps(1) {
    // CHECK: "a" smem{{.*}} {ts.full_offset = [[A:[0-9]+]] : i64, ts.offsets
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
    // CHECK: "b" smem{{.*}} {ts.full_offset = [[B:[0-9]+]] : i64, ts.offsets
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
    // CHECK: "ab" merge({{.*}}) {ts.empty_offset = {{[0-9]+}} : i64}
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    // CHECK: "c" smem{{.*}} {ts.empty_offset = {{[0-9]+}} : i64, ts.offsets
    %c = ts.resource "c" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
    // CHECK: "d" smem{{.*}} {ts.empty_offset = {{[0-9]+}} : i64, ts.offsets
    %d = ts.resource "d" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
    // CHECK: "cd" fork({{.*}}) {ts.full_offset = {{[0-9]+}} : i64}
    %cd = ts.pipeline_group "cd" fork(%c, %d)
    // CHECK: "e" smem{{.*}} {ts.offsets
    %e = ts.resource "e" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
    // CHECK: "f" smem{{.*}} {ts.offsets
    %f = ts.resource "f" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
    // CHECK: "ef" fused_merge({{.*}}) {ts.empty_offset = {{[0-9]+}} : i64, ts.full_offset = {{[0-9]+}} : i64}
    %ef = ts.pipeline_group "ef" fused_merge(%e, %f)
  }

  // CHECK-LABEL: ts.kernel @storage
  // CHECK-SAME: ts.smem_bytes = 320 : i64
  ts.kernel @storage() warps(1) {
    // CHECK: "mine"{{.*}}ts.offsets = array<i64: 192>
    %mine = ts.resource "mine" smem(bars: memref<8xi64> unstaged)
    // CHECK: "a"{{.*}}ts.empty_offset = 208 : i64, ts.full_offset = 192 : i64
    %a = ts.resource "a" smem(x: memref<16xf32>) pipeline(tma_async, stages = 2) barriers(%mine : "bars")
    // CHECK: "b"{{.*}}ts.empty_offset = 240 : i64, ts.full_offset = 224 : i64
    %b = ts.resource "b" smem(x: memref<16xf32> unstaged) pipeline(tma_async, stages = 2) barriers(%mine : "bars")
  }

  // Responses before barriers: 16-byte alignment without padding. Two stages without a pipeline. A static queue needs nothing.
  // CHECK-LABEL: ts.kernel @queue
  ts.kernel @queue() warps(4) {
    %c8 = arith.constant 8 : index
    // CHECK: "tiles" clc{{.*}} {ts.empty_offset = 80 : i64, ts.full_offset = 64 : i64, ts.response_offset = 0 : i64}
    %q = ts.work_queue "tiles" clc over(%c8) pipeline(clc_fetch_async, stages = 2)
    // CHECK: "plain" clc{{.*}} {ts.empty_offset = 112 : i64, ts.full_offset = 96 : i64, ts.response_offset = 32 : i64}
    %p = ts.work_queue "plain" clc over(%c8)
    // CHECK: "static" static
    // CHECK-NOT: ts.
    // CHECK: ts.mbarrier
    %s = ts.work_queue "static" static over(%c8)
    // CHECK-SAME: {ts.mbarrier_offset = 128 : i64}
    %m = ts.mbarrier "mine" count(32)
  }

  // Pinned ids are respected and skipped; a baton takes one id per holder.
  // CHECK-LABEL: ts.kernel @ids
  // CHECK-SAME: ts.smem_bytes = 0 : i64, ts.tmem_columns = 0 : i64
  // CHECK-NOT: ts.tmem_slot
  ts.kernel @ids() warps(4) {
    // CHECK: "x" {{.*}} {ts.barrier_ids = array<i64: 1>}
    %x = ts.named_barrier "x" threads(64)
    // CHECK: "y" {{.*}} {ts.barrier_ids = array<i64: 3, 4>}
    %y = ts.baton "y" holders(2)
    // CHECK: "z" {{.*}} {ts.barrier_ids = array<i64: 2>}
    %z = ts.named_barrier "z" threads(64) id(2)
    // CHECK: "w" {{.*}} {ts.barrier_ids = array<i64: 2>}
    %w = ts.named_barrier "w" threads(32) id(2)
  }
}
