// wgmma: descriptor constants, k steps, fences, waits that carry registers.
// RUN: ts-opt %s --ts-lower-work --canonicalize --cse | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>

gpu.module @m {
  // Swizzle 128 at 62 (1), SBO 1024 / 16 at 32, LBO one unit at 16. K steps of 32 bytes: +2.
  // CHECK-LABEL: gpu.func @k_major_128
  // CHECK-DAG: %[[FIELDS:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-DAG: %[[K1:.*]] = arith.constant 2 : i64
  // CHECK-DAG: %[[K3:.*]] = arith.constant 6 : i64
  // CHECK-DAG: %[[OFFSET:.*]] = arith.constant 8192 : i32
  // CHECK: %[[P:.*]] = memref.extract_aligned_pointer_as_index
  // CHECK: %[[BASE:.*]] = arith.index_cast %[[P]] : index to i32
  // CHECK: arith.addi %[[BASE]], %[[OFFSET]] : i32
  // CHECK: arith.shrui
  // CHECK: arith.andi
  // CHECK: %[[B:.*]] = arith.ori {{.*}}, %[[FIELDS]] : i64
  // CHECK: %[[A:.*]] = arith.ori {{.*}}, %[[FIELDS]] : i64
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK-NEXT: nvvm.wgmma.mma_async %[[A]], %[[B]], {{.*}}, <m = 64, n = 256, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
  // CHECK-DAG: %[[B1:.*]] = arith.addi %[[B]], %[[K1]]
  // CHECK-DAG: %[[A1:.*]] = arith.addi %[[A]], %[[K1]]
  // CHECK: nvvm.wgmma.mma_async %[[A1]], %[[B1]], {{.*}} D[<f32>, <one>]
  // CHECK: nvvm.wgmma.mma_async
  // CHECK: arith.addi %[[A]], %[[K3]]
  // CHECK: nvvm.wgmma.mma_async
  // CHECK-NOT: nvvm.wgmma.mma_async
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f,=f,{{.*}},0,1,{{.*}},~{memory}"
  gpu.func @k_major_128(%out : memref<f32>) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %false = arith.constant false
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<64x64xbf16, #wg>
    %a = memref.memory_space_cast %av : memref<64x64xbf16, #wg> to memref<64x64xbf16, #ts.smem<128>>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<256x64xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<256x64xbf16, #wg> to memref<256x64xbf16, #ts.smem<128>>
    %zero = ts.wgmma_zero : !ts.wgmma<64x256xf32>
    %acc = ts.wgmma %a, %b, %zero accumulate(%false) : memref<64x64xbf16, #ts.smem<128>>, memref<256x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
    ts.wgmma_commit
    %f = ts.wgmma_wait 0, %acc : !ts.wgmma<64x256xf32> -> !ts.fragment<64x256xf32>
    %do = arith.constant 65536 : index
    %dv = memref.view %s[%do][] : !bytes to memref<16x8xf32, #wg>
    %d = memref.memory_space_cast %dv : memref<16x8xf32, #wg> to memref<16x8xf32, #ts.smem<32>>
    ts.fragment_store %f column 0 to %d : !ts.fragment<64x256xf32>, memref<16x8xf32, #ts.smem<32>>
    gpu.return
  }

  // Stored K x N in panels of 64: LBO is the panel (128 rows x 128 bytes = 16384), SBO 1024; a step is
  // 16 rows, 2048 bytes. A K-major of two panels of 64: step 4 starts the second, 8192 bytes on.
  // CHECK-LABEL: gpu.func @mn_major_128
  // CHECK-DAG: arith.constant 4611686293305360384 : i64
  // CHECK-DAG: %[[FIELDS:.*]] = arith.constant 4611686293372403712 : i64
  // CHECK-DAG: %[[ROWS:.*]] = arith.constant 128 : i64
  // CHECK-DAG: %[[PANEL:.*]] = arith.constant 512 : i64
  // CHECK: %[[B:.*]] = arith.ori {{.*}}, %[[FIELDS]] : i64
  // CHECK: nvvm.wgmma.mma_async {{.*}} B[<bf16>, <one>, <row>]
  // CHECK: arith.addi %[[B]], %[[ROWS]]
  // CHECK: arith.addi %{{.*}}, %[[PANEL]]
  gpu.func @mn_major_128() kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<2x64x64xbf16, #wg>
    %a = memref.memory_space_cast %av : memref<2x64x64xbf16, #wg> to memref<2x64x64xbf16, #ts.smem<128>>
    %bo = arith.constant 65536 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<2x128x64xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<2x128x64xbf16, #wg> to memref<2x128x64xbf16, #ts.smem<128>>
    %zero = ts.wgmma_zero : !ts.wgmma<64x128xf32>
    %acc = ts.wgmma %a, %b, %zero transpose_b : memref<2x64x64xbf16, #ts.smem<128>>, memref<2x128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
    ts.wgmma_commit
    ts.wgmma_wait 0
    gpu.return
  }

  // Swizzle 64 (2 at 62), SBO 512; swizzle 32 (3 at 62), SBO 256.
  // CHECK-LABEL: gpu.func @k_major_64_32
  // CHECK-DAG: arith.constant -9223371899415756800 : i64
  // CHECK-DAG: arith.constant -4611685949707845632 : i64
  // CHECK: A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
  gpu.func @k_major_64_32() kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<64x32xf16, #wg>
    %a = memref.memory_space_cast %av : memref<64x32xf16, #wg> to memref<64x32xf16, #ts.smem<64>>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<2x64x16xf16, #wg>
    %b = memref.memory_space_cast %bv : memref<2x64x16xf16, #wg> to memref<2x64x16xf16, #ts.smem<32>>
    %zero = ts.wgmma_zero : !ts.wgmma<64x64xf16>
    %acc = ts.wgmma %a, %b, %zero : memref<64x32xf16, #ts.smem<64>>, memref<2x64x16xf16, #ts.smem<32>>, !ts.wgmma<64x64xf16>
    gpu.return
  }

  // No swizzle: 8 x 16-byte core matrices of 128 bytes. K-major A: SBO 128 (next 8 rows), LBO the
  // panel (64 x 16 = 1024). MN-major B, panels of 8 columns: the other way round, LBO 128 (next 8
  // rows of K), SBO the panel (32 x 16 = 512).
  // CHECK-LABEL: gpu.func @no_swizzle
  // CHECK-DAG: arith.constant 34363932672 : i64
  // CHECK-DAG: arith.constant 137439477760 : i64
  gpu.func @no_swizzle() kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<4x64x8xbf16, #wg>
    %a = memref.memory_space_cast %av : memref<4x64x8xbf16, #wg> to memref<4x64x8xbf16, #ts.smem>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<4x32x8xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<4x32x8xbf16, #wg> to memref<4x32x8xbf16, #ts.smem>
    %zero = ts.wgmma_zero : !ts.wgmma<64x32xf32>
    %acc = ts.wgmma %a, %b, %zero transpose_b : memref<4x64x8xbf16, #ts.smem>, memref<4x32x8xbf16, #ts.smem>, !ts.wgmma<64x32xf32>
    gpu.return
  }

  // A run-time `accumulate` decides the first step only; nvvm has no such form.
  // CHECK-LABEL: gpu.func @runtime_accumulate
  // CHECK-SAME: %[[P:.*]]: i1
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {$0, $1, $2, $3}, $8, $9, $10, 1, 1;", "=f,=f,=f,=f,0,1,2,3,l,l,b,~{memory}" {{.*}}, %[[P]] :
  // CHECK: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>], A[<e4m3>
  gpu.func @runtime_accumulate(%p : i1) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<64x64xf8E4M3FN, #wg>
    %a = memref.memory_space_cast %av : memref<64x64xf8E4M3FN, #wg> to memref<64x64xf8E4M3FN, #ts.smem<64>>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<8x64xf8E5M2, #wg>
    %b = memref.memory_space_cast %bv : memref<8x64xf8E5M2, #wg> to memref<8x64xf8E5M2, #ts.smem<64>>
    %zero = ts.wgmma_zero : !ts.wgmma<64x8xf32>
    %acc = ts.wgmma %a, %b, %zero accumulate(%p) : memref<64x64xf8E4M3FN, #ts.smem<64>>, memref<8x64xf8E5M2, #ts.smem<64>>, !ts.wgmma<64x8xf32>
    gpu.return
  }

  // Integers have no negation arguments, transposes exist for 16 bits only.
  // CHECK-LABEL: gpu.func @integers
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, $8, $9, $10;", "=r,=r,=r,=r,
  gpu.func @integers(%p : i1) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<64x32xi8, #wg>
    %a = memref.memory_space_cast %av : memref<64x32xi8, #wg> to memref<64x32xi8, #ts.smem<32>>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<8x32xi8, #wg>
    %b = memref.memory_space_cast %bv : memref<8x32xi8, #wg> to memref<8x32xi8, #ts.smem<32>>
    %zero = ts.wgmma_zero : !ts.wgmma<64x8xi32>
    %acc = ts.wgmma %a, %b, %zero accumulate(%p) : memref<64x32xi8, #ts.smem<32>>, memref<8x32xi8, #ts.smem<32>>, !ts.wgmma<64x8xi32>
    gpu.return
  }

  // One fence per chain: the second product takes the accumulators of the first as they are. A
  // commit in between starts a new group, and with it a new fence.
  // CHECK-LABEL: gpu.func @fences
  // CHECK-COUNT-1: nvvm.wgmma.fence.aligned
  // CHECK-NOT: nvvm.wgmma.fence.aligned
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK-NEXT: nvvm.wgmma.mma_async
  gpu.func @fences() kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<64x16xbf16, #wg>
    %a = memref.memory_space_cast %av : memref<64x16xbf16, #wg> to memref<64x16xbf16, #ts.smem<32>>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<8x16xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<8x16xbf16, #wg> to memref<8x16xbf16, #ts.smem<32>>
    %zero = ts.wgmma_zero : !ts.wgmma<64x8xf32>
    %x = ts.wgmma %a, %b, %zero : memref<64x16xbf16, #ts.smem<32>>, memref<8x16xbf16, #ts.smem<32>>, !ts.wgmma<64x8xf32>
    %y = ts.wgmma %a, %b, %x : memref<64x16xbf16, #ts.smem<32>>, memref<8x16xbf16, #ts.smem<32>>, !ts.wgmma<64x8xf32>
    ts.wgmma_commit
    %z = ts.wgmma %a, %b, %y : memref<64x16xbf16, #ts.smem<32>>, memref<8x16xbf16, #ts.smem<32>>, !ts.wgmma<64x8xf32>
    gpu.return
  }

  // In flight over the back edge: the loop carries a struct of registers. The wait carries the
  // accumulators through and reads the registers of A, which the product may still be reading.
  // CHECK-LABEL: gpu.func @registers_in_flight
  // CHECK: nvvm.ldmatrix {{.*}}num = 4
  // CHECK: scf.for {{.*}} -> (!llvm.struct<(f32, f32, f32, f32)>)
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, $13, 1, 1, 0;", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,b,~{memory}"
  // CHECK: "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,~{memory}"
  // CHECK: scf.yield {{.*}} : !llvm.struct<(f32, f32, f32, f32)>
  gpu.func @registers_in_flight(%n : index) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %qo = arith.constant 0 : index
    %qv = memref.view %s[%qo][] : !bytes to memref<64x16xbf16, #wg>
    %q = memref.memory_space_cast %qv : memref<64x16xbf16, #wg> to memref<64x16xbf16, #ts.smem<32>>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<8x16xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<8x16xbf16, #wg> to memref<8x16xbf16, #ts.smem<32>>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = ts.fragment_load %q : memref<64x16xbf16, #ts.smem<32>> -> !ts.fragment<64x16xbf16>
    %zero = ts.wgmma_zero : !ts.wgmma<64x8xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!ts.wgmma<64x8xf32>) {
      %x = ts.wgmma %a, %b, %acc : !ts.fragment<64x16xbf16>, memref<8x16xbf16, #ts.smem<32>>, !ts.wgmma<64x8xf32>
      ts.wgmma_commit
      %w, %kept = ts.wgmma_wait 1, %x, %a : !ts.wgmma<64x8xf32>, !ts.fragment<64x16xbf16> -> !ts.wgmma<64x8xf32>, !ts.fragment<64x16xbf16>
      scf.yield %w : !ts.wgmma<64x8xf32>
    }
    gpu.return
  }
}
