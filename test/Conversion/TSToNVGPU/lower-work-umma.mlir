// tcgen05: descriptor and instruction constants, k steps, loads tied to their wait.
// RUN: ts-opt %s --ts-lower-work --canonicalize --cse | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>

gpu.module @m {
  // Matrix descriptor: swizzle 128 (2 at 61), version 1 at 46, SBO 1024 / 16 at 32, LBO one unit at 16.
  // Instruction: f32 at 4, bf16 at 7 and 10, N/8 = 16 at 17, M/16 = 8 at 24 = 136316048.
  // CHECK-LABEL: gpu.func @f16_kind
  // CHECK-SAME: %[[P:[^:]*]]: i1, %[[T:[^:]*]]: i32
  // CHECK-DAG: %[[FIELDS:.*]] = arith.constant 4611756662049538048 : i64
  // CHECK-DAG: %[[INSTRUCTION:.*]] = arith.constant 136316048 : i32
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK: %[[A:.*]] = arith.ori %{{.*}}, %[[FIELDS]]
  // CHECK: %[[B:.*]] = arith.ori %{{.*}}, %[[FIELDS]]
  // CHECK: %[[D:.*]] = llvm.inttoptr %[[T]] : i32 to !llvm.ptr<6>
  // CHECK: nvvm.tcgen05.mma %[[D]], %[[A]], %[[B]], %[[INSTRUCTION]], %[[P]] {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<f16>}
  // CHECK: nvvm.tcgen05.mma {{.*}}, %[[INSTRUCTION]], %[[TRUE]]
  // CHECK: nvvm.tcgen05.mma
  // CHECK: nvvm.tcgen05.mma
  // CHECK-NOT: nvvm.tcgen05.mma
  gpu.func @f16_kind(%p : i1, %t : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<128x64xbf16, #wg>
    %a = memref.memory_space_cast %av : memref<128x64xbf16, #wg> to memref<128x64xbf16, #ts.smem<128>>
    %bo = arith.constant 16384 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<128x64xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<128x64xbf16, #wg> to memref<128x64xbf16, #ts.smem<128>>
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    ts.umma %d, %a, %b accumulate(%p) : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
    gpu.return
  }

  // Transposed B (bit 16), f16 into f16 (0 at 4): two panels of 64 columns, LBO 64 x 128 = 8192. A in
  // tensor memory moves by 8 columns a step. D starts 32 columns into the allocation.
  // CHECK-LABEL: gpu.func @tmem_a
  // CHECK-SAME: %[[T:[^:]*]]: i32, %[[U:[^:]*]]: i32
  // CHECK-DAG: arith.constant 4611756662083026944 : i64
  // CHECK-DAG: arith.constant 136380416 : i32
  // CHECK-DAG: %[[AT:.*]] = arith.addi %[[T]], %c32_i32
  // CHECK-DAG: %[[D:.*]] = llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<6>
  // CHECK-DAG: %[[A:.*]] = llvm.inttoptr %[[U]] : i32 to !llvm.ptr<6>
  // CHECK: nvvm.tcgen05.mma %[[D]], %[[A]], {{.*}} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1)
  // CHECK: %[[STEP:.*]] = arith.addi %[[U]], %c8_i32
  // CHECK: llvm.inttoptr %[[STEP]]
  gpu.func @tmem_a(%t : i32, %u : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %bo = arith.constant 0 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<2x64x64xf16, #wg>
    %b = memref.memory_space_cast %bv : memref<2x64x64xf16, #wg> to memref<2x64x64xf16, #ts.smem<128>>
    %all = ts.tmem_view %t : memref<128x256xf16, #ts.tmem>
    %d = memref.subview %all[0, 64] [128, 128] [1, 1] : memref<128x256xf16, #ts.tmem> to memref<128x128xf16, strided<[256, 1], offset: 64>, #ts.tmem>
    %a = ts.tmem_view %u : memref<128x64xf16, #ts.tmem>
    ts.umma %d, %a, %b transpose_b : memref<128x128xf16, strided<[256, 1], offset: 64>, #ts.tmem>, memref<128x64xf16, #ts.tmem>, memref<2x64x64xf16, #ts.smem<128>>
    gpu.return
  }

  // Two CTAs: M is 256 over both (16 at 24), each holds half of B. tf32 is type 2.
  // CHECK-LABEL: gpu.func @pair
  // CHECK-DAG: arith.constant 270534928 : i32
  // CHECK: nvvm.tcgen05.mma {{.*}}ctaGroup = #nvvm.cta_group<cta_2>, kind = #nvvm.tcgen05_mma_kind<tf32>
  gpu.func @pair(%t : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<128x32xf32, #wg>
    %a = memref.memory_space_cast %av : memref<128x32xf32, #wg> to memref<128x32xf32, #ts.smem<128>>
    %bo = arith.constant 16384 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<64x32xf32, #wg>
    %b = memref.memory_space_cast %bv : memref<64x32xf32, #wg> to memref<64x32xf32, #ts.smem<128>>
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    ts.umma %d, %a, %b {cta_group = 2} : memref<128x128xf32, #ts.tmem>, memref<128x32xf32, #ts.smem<128>>, memref<64x32xf32, #ts.smem<128>>
    gpu.return
  }

  // e5m2 is 1, e4m3 is 0; swizzle 64 is 4 at 61 with SBO 512, swizzle 32 is 6 with SBO 256. i8 is signed
  // (1), D s32 (2 at 4).
  // CHECK-LABEL: gpu.func @bytes
  // CHECK-DAG: arith.constant -9223301530671579136 : i64
  // CHECK-DAG: arith.constant -4611615580963667968 : i64
  // CHECK-DAG: arith.constant 135266448 : i32
  // CHECK-DAG: arith.constant 135267488 : i32
  // CHECK-COUNT-2: kind = #nvvm.tcgen05_mma_kind<f8f6f4>
  // CHECK: kind = #nvvm.tcgen05_mma_kind<i8>
  gpu.func @bytes(%t : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<128x64xf8E5M2, #wg>
    %a = memref.memory_space_cast %av : memref<128x64xf8E5M2, #wg> to memref<128x64xf8E5M2, #ts.smem<64>>
    %bo = arith.constant 16384 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<2x64x32xf8E4M3FN, #wg>
    %b = memref.memory_space_cast %bv : memref<2x64x32xf8E4M3FN, #wg> to memref<2x64x32xf8E4M3FN, #ts.smem<32>>
    %xo = arith.constant 32768 : index
    %xv = memref.view %s[%xo][] : !bytes to memref<128x32xi8, #wg>
    %x = memref.memory_space_cast %xv : memref<128x32xi8, #wg> to memref<128x32xi8, #ts.smem<32>>
    %yo = arith.constant 40960 : index
    %yv = memref.view %s[%yo][] : !bytes to memref<64x32xi8, #wg>
    %y = memref.memory_space_cast %yv : memref<64x32xi8, #wg> to memref<64x32xi8, #ts.smem<32>>
    %d = ts.tmem_view %t : memref<128x64xf32, #ts.tmem>
    %e = ts.tmem_view %t : memref<128x64xi32, #ts.tmem>
    ts.umma %d, %a, %b : memref<128x64xf32, #ts.tmem>, memref<128x64xf8E5M2, #ts.smem<64>>, memref<2x64x32xf8E4M3FN, #ts.smem<32>>
    ts.umma %e, %x, %y : memref<128x64xi32, #ts.tmem>, memref<128x32xi8, #ts.smem<32>>, memref<64x32xi8, #ts.smem<32>>
    gpu.return
  }

  // Block scales: one byte a step for 8-bit operands, so the scale ids (4 and 29) count 0..3; ue8m0 is 1
  // at 23. Four e4m3 scales a step for 4-bit ones: the address moves by 4 columns, ids stay 0.
  // CHECK-LABEL: gpu.func @block_scaled
  // CHECK-SAME: %[[T:[^:]*]]: i32, %[[S:[^:]*]]: i32
  // CHECK-DAG: %[[I0:.*]] = arith.constant 144703488 : i32
  // CHECK-DAG: %[[I1:.*]] = arith.constant 681574416 : i32
  // CHECK-DAG: %[[I3:.*]] = arith.constant 1755316272 : i32
  // CHECK-DAG: %[[N:.*]] = arith.constant 136316032 : i32
  // CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %[[I0]], {{.*}}blockScale = #nvvm.tcgen05_mma_block_scale<block32>{{.*}}kind = #nvvm.block_scale_kind<mxf8f6f4>
  // CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %[[I1]],
  // CHECK: nvvm.tcgen05.mma.block_scale
  // CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %[[I3]],
  // CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %[[N]], {{.*}}<block16>{{.*}}<mxf4nvf4>
  // CHECK: %[[NEXT:.*]] = arith.addi %[[S]], %c4_i32
  // CHECK: %[[NEXTP:.*]] = llvm.inttoptr %[[NEXT]]
  // CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %[[N]], %{{.*}}, %[[NEXTP]], %[[NEXTP]]
  gpu.func @block_scaled(%t : i32, %s2 : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<128x128xf8E4M3FN, #wg>
    %a = memref.memory_space_cast %av : memref<128x128xf8E4M3FN, #wg> to memref<128x128xf8E4M3FN, #ts.smem<128>>
    %xo = arith.constant 32768 : index
    %xv = memref.view %s[%xo][] : !bytes to memref<128x128xf4E2M1FN, #wg>
    %x = memref.memory_space_cast %xv : memref<128x128xf4E2M1FN, #wg> to memref<128x128xf4E2M1FN, #ts.smem<64>>
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    %sf = ts.tmem_view %s2 : memref<128x16xf8E8M0FNU, #ts.tmem>
    %sn = ts.tmem_view %s2 : memref<128x32xf8E4M3FN, #ts.tmem>
    ts.umma %d, %a, %a scales(%sf, %sf : memref<128x16xf8E8M0FNU, #ts.tmem>, memref<128x16xf8E8M0FNU, #ts.tmem>) : memref<128x128xf32, #ts.tmem>, memref<128x128xf8E4M3FN, #ts.smem<128>>, memref<128x128xf8E4M3FN, #ts.smem<128>>
    ts.umma %d, %x, %x scales(%sn, %sn : memref<128x32xf8E4M3FN, #ts.tmem>, memref<128x32xf8E4M3FN, #ts.tmem>) : memref<128x128xf32, #ts.tmem>, memref<128x128xf4E2M1FN, #ts.smem<64>>, memref<128x128xf4E2M1FN, #ts.smem<64>>
    gpu.return
  }

  // The registers of both loads go through the one wait, so nothing can read them before. Warp w of the
  // warpgroup addresses lanes 32 w.. (bits 16 and up).
  // CHECK-LABEL: gpu.func @loads
  // CHECK-SAME: %[[T:[^:]*]]: i32
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[WARP:.*]] = arith.shrui %[[TID]], %c5_i32
  // CHECK: %[[W:.*]] = arith.andi %[[WARP]], %c3_i32
  // CHECK: %[[LANES:.*]] = arith.shli %[[W]], %c21_i32
  // CHECK: %[[ROW:.*]] = arith.addi %[[T]], %[[LANES]]
  // CHECK: %[[X:.*]] = nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<2xi32>
  // CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %c2_i32
  // CHECK: %[[Y:.*]] = nvvm.tcgen05.ld %{{.*}} : vector<2xi32>
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "tcgen05.wait::ld.sync.aligned;", "=r,=r,=r,=r,0,1,2,3,~{memory}"
  // CHECK: llvm.bitcast %{{.*}} : i32 to f32
  // CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
  gpu.func @loads(%t : i32) -> (vector<2xf32>, vector<2xf32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    %x = ts.tmem_load %d[%c0] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<2xf32>>
    %y = ts.tmem_load %d[%c2] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<2xf32>>
    %a, %b = ts.tmem_wait %x, %y : !ts.async<vector<2xf32>>, !ts.async<vector<2xf32>> -> vector<2xf32>, vector<2xf32>
    gpu.return %a, %b : vector<2xf32>, vector<2xf32>
  }

  // A load that is not asynchronous waits at once. 16-bit elements: two per column.
  // CHECK-LABEL: gpu.func @load_store
  // CHECK: nvvm.tcgen05.ld %{{.*}} : vector<4xi32>
  // CHECK: tcgen05.wait::ld.sync.aligned
  // CHECK: vector.bitcast %{{.*}} : vector<4xi32> to vector<8xbf16>
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c8_i32
  // CHECK: %[[V:.*]] = vector.bitcast %{{.*}} : vector<8xbf16> to vector<4xi32>
  // CHECK: llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<6>
  // CHECK: nvvm.tcgen05.st %{{.*}}, %[[V]] {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<4xi32>
  gpu.func @load_store(%t : i32) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %d = ts.tmem_view %t : memref<128x64xbf16, #ts.tmem>
    %x = ts.tmem_load %d[%c0] : memref<128x64xbf16, #ts.tmem> -> vector<8xbf16>
    %y = arith.negf %x : vector<8xbf16>
    ts.tmem_store %y to %d[%c16] : vector<8xbf16>, memref<128x64xbf16, #ts.tmem>
    gpu.return
  }

  // In flight over a back edge as the columns that the load writes.
  // CHECK-LABEL: gpu.func @in_flight
  // CHECK: scf.for {{.*}} -> (vector<2xi32>)
  gpu.func @in_flight(%t : i32, %n : index) -> vector<2xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    %x = ts.tmem_load %d[%c0] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<2xf32>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!ts.async<vector<2xf32>>) {
      %y = ts.tmem_load %d[%i] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<2xf32>>
      scf.yield %y : !ts.async<vector<2xf32>>
    }
    %a = ts.tmem_wait %r : !ts.async<vector<2xf32>> -> vector<2xf32>
    gpu.return %a : vector<2xf32>
  }

  // Copies of 32 rows x 16 bytes: LBO 512, SBO 128; the second 512 bytes go 4 columns on.
  // CHECK-LABEL: gpu.func @copy
  // CHECK-DAG: arith.constant 70403106013184 : i64
  // CHECK: nvvm.tcgen05.cp %{{.*}}, %[[D:.*]] {multicast = #nvvm.tcgen05_cp_multicast<warpx4>, shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
  // CHECK: arith.addi %{{.*}}, %c4_i32
  // CHECK: arith.addi %[[D]], %c32_i64
  // CHECK: nvvm.tcgen05.cp
  // CHECK-NOT: nvvm.tcgen05.cp
  gpu.func @copy(%t : i32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %xo = arith.constant 0 : index
    %xv = memref.view %s[%xo][] : !bytes to memref<1024xi8, #wg>
    %x = memref.memory_space_cast %xv : memref<1024xi8, #wg> to memref<1024xi8, #ts.smem>
    %d = ts.tmem_view %t : memref<128x8xi32, #ts.tmem>
    ts.tmem_copy %x to %d "32x128b.warpx4" : memref<1024xi8, #ts.smem>, memref<128x8xi32, #ts.tmem>
    gpu.return
  }
}
