// Padded operands and swizzled sources of copies: what descriptors say of them.
// RUN: ts-opt %s --ts-lower-work --split-input-file | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #wg>
gpu.module @m {
  // A of 8 bits, B of 4 in bytes of their own: both step by 32 bytes for 32 elements, and a tile of B
  // (K = 128) takes four steps. Type of B at bit 10: e2m1 is 5.
  // CHECK-LABEL: gpu.func @padded
  // CHECK: arith.constant {{[0-9]+}} : i32
  // CHECK-COUNT-4: nvvm.tcgen05.mma {{.*}}kind = #nvvm.tcgen05_mma_kind<f8f6f4>
  // CHECK-NOT: nvvm.tcgen05.mma
  gpu.func @padded(%t : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %xo = arith.constant 0 : index
    %yo = arith.constant 16384 : index
    %xv = memref.view %s[%xo][] : !bytes to memref<128x128xf8E4M3FN, #wg>
    %x = memref.memory_space_cast %xv : memref<128x128xf8E4M3FN, #wg> to memref<128x128xf8E4M3FN, #ts.smem<128>>
    %yv = memref.view %s[%yo][] : !bytes to memref<128x128xf4E2M1FN, #wg>
    %y = memref.memory_space_cast %yv : memref<128x128xf4E2M1FN, #wg> to memref<128x128xf4E2M1FN, #ts.smem<128, padded>>
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    ts.umma %d, %x, %y : memref<128x128xf32, #ts.tmem>, memref<128x128xf8E4M3FN, #ts.smem<128>>, memref<128x128xf4E2M1FN, #ts.smem<128, padded>>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #wg>
gpu.module @m {
  // 128-byte swizzle (2 at bit 61), stride 1024 between groups of eight rows, leading offset 1: four
  // copies of 32 bytes of each row, then those of the second panel.
  // CHECK-LABEL: gpu.func @swizzled_copy
  // CHECK: arith.constant 4611756662049538048 : i64
  // CHECK-COUNT-8: nvvm.tcgen05.cp {{.*}}shape_128x256b
  // CHECK-NOT: nvvm.tcgen05.cp
  gpu.func @swizzled_copy(%t : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %xo = arith.constant 0 : index
    %xv = memref.view %s[%xo][] : !bytes to memref<2x128x32xf32, #wg>
    %x = memref.memory_space_cast %xv : memref<2x128x32xf32, #wg> to memref<2x128x32xf32, #ts.smem<128>>
    %d = ts.tmem_view %t : memref<128x64xf32, #ts.tmem>
    ts.tmem_copy %x to %d "128x256b" : memref<2x128x32xf32, #ts.smem<128>>, memref<128x64xf32, #ts.tmem>
    gpu.return
  }
}
