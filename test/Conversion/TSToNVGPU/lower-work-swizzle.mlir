// Plain loads and stores of swizzled memory, and the types that remain.
// RUN: ts-opt %s --ts-lower-work --canonicalize --cse | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>

gpu.module @m {
  // Chunk (bits 4-6) XOR line (bits 7-9).
  // CHECK-LABEL: gpu.func @element
  // CHECK-SAME: %[[I:[^:]*]]: index, %[[J:[^:]*]]: index
  // CHECK-DAG: %[[ROW:.*]] = arith.index_cast %[[I]]
  // CHECK-DAG: arith.muli %[[ROW]], %{{.*}} : i32
  // CHECK: %[[LINE:.*]] = arith.shrui %[[AT:.*]], %c3_i32
  // CHECK: %[[MASKED:.*]] = arith.andi %[[LINE]], %c112_i32
  // CHECK: %[[SWIZZLED:.*]] = arith.xori %[[AT]], %[[MASKED]]
  // CHECK: %[[P:.*]] = llvm.inttoptr %[[SWIZZLED]] : i32 to !llvm.ptr<3>
  // CHECK: %[[V:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<3> -> f32
  // CHECK: llvm.store %[[V]], %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
  gpu.func @element(%i : index, %j : index) {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<32x32xf32, #wg>
    %t = memref.memory_space_cast %tv : memref<32x32xf32, #wg> to memref<32x32xf32, #ts.smem<128>>
    %v = memref.load %t[%i, %j] : memref<32x32xf32, #ts.smem<128>>
    memref.store %v, %t[%j, %i] : memref<32x32xf32, #ts.smem<128>>
    gpu.return
  }

  // Spans of 64 bytes: two bits of the line; of 32: one.
  // CHECK-LABEL: gpu.func @narrow_spans
  // CHECK: arith.andi %{{.*}}, %c48_i32
  // CHECK: llvm.load {{.*}} -> bf16
  // CHECK: arith.andi %{{.*}}, %c16_i32
  // CHECK: llvm.load {{.*}} -> bf16
  gpu.func @narrow_spans(%i : index) -> (bf16, bf16) {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<32x32xbf16, #wg>
    %t = memref.memory_space_cast %tv : memref<32x32xbf16, #wg> to memref<32x32xbf16, #ts.smem<64>>
    %uo = arith.constant 0 : index
    %uv = memref.view %s[%uo][] : !bytes to memref<32x16xbf16, #wg>
    %u = memref.memory_space_cast %uv : memref<32x16xbf16, #wg> to memref<32x16xbf16, #ts.smem<32>>
    %v = memref.load %t[%i, %i] : memref<32x32xbf16, #ts.smem<64>>
    %w = memref.load %u[%i, %i] : memref<32x16xbf16, #ts.smem<32>>
    gpu.return %v, %w : bf16, bf16
  }

  // 16 bytes at a known multiple of 16 move as one; 32 bytes are two chunks.
  // CHECK-LABEL: gpu.func @whole_chunks
  // CHECK-COUNT-1: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-2: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  gpu.func @whole_chunks(%i : index, %j : index, %w : vector<16xbf16>) -> vector<8xbf16> {
    %s = gpu.dynamic_shared_memory : !bytes
    %c8 = arith.constant 8 : index
    %j8 = arith.muli %j, %c8 : index
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<32x64xbf16, #wg>
    %t = memref.memory_space_cast %tv : memref<32x64xbf16, #wg> to memref<32x64xbf16, #ts.smem<128>>
    %v = vector.load %t[%i, %j8] : memref<32x64xbf16, #ts.smem<128>>, vector<8xbf16>
    vector.store %w, %t[%i, %j8] : memref<32x64xbf16, #ts.smem<128>>, vector<16xbf16>
    gpu.return %v : vector<8xbf16>
  }

  // Where the start is not known, elements move one by one; where it is a multiple of 2, in pairs. The
  // start of a subview counts.
  // CHECK-LABEL: gpu.func @unaligned
  // CHECK-COUNT-4: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> bf16
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-2: llvm.store {{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  gpu.func @unaligned(%i : index, %j : index) {
    %s = gpu.dynamic_shared_memory : !bytes
    %c8 = arith.constant 8 : index
    %j8 = arith.muli %j, %c8 : index
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<32x64xbf16, #wg>
    %t = memref.memory_space_cast %tv : memref<32x64xbf16, #wg> to memref<32x64xbf16, #ts.smem<128>>
    %u = memref.subview %t[0, 2] [32, 32] [1, 1] : memref<32x64xbf16, #ts.smem<128>> to memref<32x32xbf16, strided<[64, 1], offset: 2>, #ts.smem<128>>
    %v = vector.load %t[%i, %j] : memref<32x64xbf16, #ts.smem<128>>, vector<4xbf16>
    vector.store %v, %u[%i, %j8] : memref<32x32xbf16, strided<[64, 1], offset: 2>, #ts.smem<128>>, vector<4xbf16>
    gpu.return
  }

  // Without a swizzle memref ops stay, on the address space that upstream passes know. Views through
  // control flow keep their offset.
  // CHECK-LABEL: gpu.func @plain
  // CHECK: %[[V:.*]] = memref.view %{{.*}} : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK: memref.load %[[V]]
  // CHECK: %[[SEL:.*]] = arith.select {{.*}} : memref<32x32xf32, #gpu.address_space<workgroup>>
  // CHECK: memref.extract_aligned_pointer_as_index %[[SEL]]
  // CHECK-NOT: ts.
  gpu.func @plain(%i : index, %p : i1) -> (f32, f32) {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<64xf32, #wg>
    %t = memref.memory_space_cast %tv : memref<64xf32, #wg> to memref<64xf32, #ts.smem>
    %ao = arith.constant 1024 : index
    %av = memref.view %s[%ao][] : !bytes to memref<32x32xf32, #wg>
    %a = memref.memory_space_cast %av : memref<32x32xf32, #wg> to memref<32x32xf32, #ts.smem<128>>
    %bo = arith.constant 5120 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<32x32xf32, #wg>
    %b = memref.memory_space_cast %bv : memref<32x32xf32, #wg> to memref<32x32xf32, #ts.smem<128>>
    %v = memref.load %t[%i] : memref<64xf32, #ts.smem>
    %c = arith.select %p, %a, %b : memref<32x32xf32, #ts.smem<128>>
    %w = memref.load %c[%i, %i] : memref<32x32xf32, #ts.smem<128>>
    gpu.return %v, %w : f32, f32
  }
}
