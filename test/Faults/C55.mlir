// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C55: limits of TMA that the driver would report at launch.

// 128 x 2 bytes in a swizzle span of 128.
// ERR: error: [TS228] the box's innermost dimension is 256 bytes, more than the swizzle span of 128 bytes; use a box of at most 64 elements
!wide = !ts.tensor_map<?x?xf16, box = 64x128, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @wide(%A: !wide) warps(1) {
  }
}

// -----

// 48 x 2 bytes in a swizzle span of 32.
// ERR: error: [TS228] the box's innermost dimension is 96 bytes, more than the swizzle span of 32 bytes; use a box of at most 16 elements
!span = !ts.tensor_map<?x?xf16, box = 64x48, swizzle = 32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @span(%A: !span) warps(1) {
  }
}

// -----

// ERR: error: [TS228] box size 512 in dimension 0 is outside 1..256 (CUDA driver, cuTensorMapEncodeTiled); split the copy into several boxes
!box = !ts.tensor_map<?x?xf16, box = 512x64, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @box(%A: !box) warps(1) {
  }
}

// -----

// 63 x 4 bytes by the bulk engine.
// ERR: error: [TS228] a bulk copy moves a multiple of 16 bytes (PTX ISA 8.8, cp.async.bulk), found 252 bytes in 'memref<63xf32, #ts.smem>'
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @bulk(%A: memref<?xf32>) warps(2) {
    %c0 = arith.constant 0 : index
    %r = ts.resource "r" smem(x: memref<63xf32>) pipeline(tma_async, stages = 1)
    ts.task "load" warps(0, 1) writes(%r) {
      ts.acquire %r
      ts.produce %r "copy" (%x) {
        ts.bulk_load %A[%c0] to %x : memref<?xf32>, memref<63xf32, #ts.smem>
      }
      ts.commit %r
    }
  }
}

// -----

// Within the limits.
// OUT: fits: proven: no deadlock, no race, no overrun, clean exit
!ok = !ts.tensor_map<?x?xf16, box = 256x64, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @fits(%A: !ok) warps(1) {
  }
}
