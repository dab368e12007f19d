// Work primitives down to PTX for sm_90a: instruction text, registers in place, no spills.
// RUN: ts-compile %s --arch=sm_90a -o - | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>

gpu.module @m {
  // Accumulators stay in their registers around the loop, through the wait, and over its back edge.
  // CHECK-LABEL: .entry attention
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {[[A:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}
  // CHECK: wgmma.fence.sync.aligned;
  // CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {[[ACC:(%r[0-9]+, ){7}%r[0-9]+]]}, {[[A]]}, %rd{{[0-9]+}}, %p{{[0-9]+}}, 1, 1, 0;
  // CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {[[ACC]]}, {
  // CHECK-NOT: mov.b32
  // CHECK: wgmma.commit_group.sync.aligned;
  // CHECK-NOT: mov.b32
  // CHECK: wgmma.wait_group.sync.aligned 1;
  // CHECK-NOT: mov.b32
  // CHECK: bra
  // CHECK: wgmma.wait_group.sync.aligned 0;
  // CHECK: cvt.rn.bf16x2.f32
  // CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, 1, 1, 1;
  // CHECK: wgmma.wait_group.sync.aligned 0;
  // One swizzled address, then one XOR per store.
  // CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16 [
  // CHECK-NEXT: xor.b32 {{.*}}, 32;
  // CHECK-NEXT: cvt.u64.u32
  // CHECK-NEXT: stmatrix.sync.aligned.m8n8.x4.shared.b16 [
  // CHECK-NEXT: xor.b32 {{.*}}, 64;
  gpu.func @attention(%n : index, %alpha : f32) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %qo = arith.constant 0 : index
    %qv = memref.view %s[%qo][] : !bytes to memref<64x32xbf16, #wg>
    %q = memref.memory_space_cast %qv : memref<64x32xbf16, #wg> to memref<64x32xbf16, #ts.smem<64>>
    %ko = arith.constant 8192 : index
    %kv = memref.view %s[%ko][] : !bytes to memref<16x32xbf16, #wg>
    %k = memref.memory_space_cast %kv : memref<16x32xbf16, #wg> to memref<16x32xbf16, #ts.smem<64>>
    %vo = arith.constant 16384 : index
    %vv = memref.view %s[%vo][] : !bytes to memref<16x64xbf16, #wg>
    %v = memref.memory_space_cast %vv : memref<16x64xbf16, #wg> to memref<16x64xbf16, #ts.smem<128>>
    %oo = arith.constant 32768 : index
    %ov = memref.view %s[%oo][] : !bytes to memref<16x64xbf16, #wg>
    %o = memref.memory_space_cast %ov : memref<16x64xbf16, #wg> to memref<16x64xbf16, #ts.smem<128>>
    %zero = ts.wgmma_zero : !ts.wgmma<64x16xf32>
    %a = ts.fragment_load %q : memref<64x32xbf16, #ts.smem<64>> -> !ts.fragment<64x32xbf16>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!ts.wgmma<64x16xf32>) {
      %more = arith.cmpi ne, %i, %c0 : index
      %x = ts.wgmma %a, %k, %acc accumulate(%more) : !ts.fragment<64x32xbf16>, memref<16x32xbf16, #ts.smem<64>>, !ts.wgmma<64x16xf32>
      ts.wgmma_commit
      %w, %kept = ts.wgmma_wait 1, %x, %a : !ts.wgmma<64x16xf32>, !ts.fragment<64x32xbf16> -> !ts.wgmma<64x16xf32>, !ts.fragment<64x32xbf16>
      scf.yield %w : !ts.wgmma<64x16xf32>
    }
    %s1 = ts.wgmma_wait 0, %r : !ts.wgmma<64x16xf32> -> !ts.fragment<64x16xf32>
    %p = ts.fragment_map %s1 (%e) : !ts.fragment<64x16xf32> -> !ts.fragment<64x16xbf16> {
      %scaled = arith.mulf %e, %alpha : f32
      %t = arith.truncf %scaled : f32 to bf16
      ts.yield %t : bf16
    }
    %zero2 = ts.wgmma_zero : !ts.wgmma<64x64xf32>
    %y = ts.wgmma %p, %v, %zero2 transpose_b : !ts.fragment<64x16xbf16>, memref<16x64xbf16, #ts.smem<128>>, !ts.wgmma<64x64xf32>
    ts.wgmma_commit
    %f, %p_kept = ts.wgmma_wait 0, %y, %p : !ts.wgmma<64x64xf32>, !ts.fragment<64x16xbf16> -> !ts.fragment<64x64xf32>, !ts.fragment<64x16xbf16>
    ts.fragment_store %f column 0 to %o : !ts.fragment<64x64xf32>, memref<16x64xbf16, #ts.smem<128>>
    gpu.return
  }

  // Every operand type from shared memory.
  // CHECK-LABEL: .entry types
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {{.*}} p, 1, 1, 1, 0;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {{.*}} p, 1, 1;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {{.*}} p, 1, 1;
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {{.*}} p;
  gpu.func @types() kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ho = arith.constant 0 : index
    %hv = memref.view %s[%ho][] : !bytes to memref<16x64xf16, #wg>
    %h = memref.memory_space_cast %hv : memref<16x64xf16, #wg> to memref<16x64xf16, #ts.smem<128>>
    %hbo = arith.constant 4096 : index
    %hbv = memref.view %s[%hbo][] : !bytes to memref<8x16xf16, #wg>
    %hb = memref.memory_space_cast %hbv : memref<8x16xf16, #wg> to memref<8x16xf16, #ts.smem<32>>
    %to = arith.constant 8192 : index
    %tv = memref.view %s[%to][] : !bytes to memref<64x8xf32, #wg>
    %t = memref.memory_space_cast %tv : memref<64x8xf32, #wg> to memref<64x8xf32, #ts.smem<32>>
    %eo = arith.constant 16384 : index
    %ev = memref.view %s[%eo][] : !bytes to memref<64x32xf8E4M3FN, #wg>
    %e = memref.memory_space_cast %ev : memref<64x32xf8E4M3FN, #wg> to memref<64x32xf8E4M3FN, #ts.smem<32>>
    %go = arith.constant 20480 : index
    %gv = memref.view %s[%go][] : !bytes to memref<8x32xf8E5M2, #wg>
    %g = memref.memory_space_cast %gv : memref<8x32xf8E5M2, #wg> to memref<8x32xf8E5M2, #ts.smem<32>>
    %io = arith.constant 24576 : index
    %iv = memref.view %s[%io][] : !bytes to memref<64x32xi8, #wg>
    %i = memref.memory_space_cast %iv : memref<64x32xi8, #wg> to memref<64x32xi8, #ts.smem<32>>
    %tb = memref.subview %t[0, 0] [8, 8] [1, 1] : memref<64x8xf32, #ts.smem<32>> to memref<8x8xf32, strided<[8, 1]>, #ts.smem<32>>
    %ib = memref.subview %i[8, 0] [8, 32] [1, 1] : memref<64x32xi8, #ts.smem<32>> to memref<8x32xi8, strided<[32, 1], offset: 256>, #ts.smem<32>>
    %z16 = ts.wgmma_zero : !ts.wgmma<64x8xf16>
    %z = ts.wgmma_zero : !ts.wgmma<64x8xf32>
    %zi = ts.wgmma_zero : !ts.wgmma<64x8xi32>
    %a = ts.wgmma %h, %hb, %z16 transpose_a : memref<16x64xf16, #ts.smem<128>>, memref<8x16xf16, #ts.smem<32>>, !ts.wgmma<64x8xf16>
    %b = ts.wgmma %t, %tb, %z : memref<64x8xf32, #ts.smem<32>>, memref<8x8xf32, strided<[8, 1]>, #ts.smem<32>>, !ts.wgmma<64x8xf32>
    %c = ts.wgmma %e, %g, %z : memref<64x32xf8E4M3FN, #ts.smem<32>>, memref<8x32xf8E5M2, #ts.smem<32>>, !ts.wgmma<64x8xf32>
    %d = ts.wgmma %i, %ib, %zi : memref<64x32xi8, #ts.smem<32>>, memref<8x32xi8, strided<[32, 1], offset: 256>, #ts.smem<32>>, !ts.wgmma<64x8xi32>
    ts.wgmma_commit
    ts.wgmma_wait 0
    gpu.return
  }

  // CHECK-LABEL: .entry copies
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%rd{{[0-9]+}}], [%rd{{[0-9]+}}, {%r{{[0-9]+}}, %r{{[0-9]+}}}], [%rd{{[0-9]+}}];
  // CHECK: fence.proxy.async.shared::cta;
  // CHECK: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group
  // CHECK: cp.async.bulk.commit_group;
  // CHECK: cp.async.bulk.wait_group.read 0;
  // CHECK: cp.async.cg.shared.global
  // CHECK: mapa.shared::cluster
  // CHECK: ld.shared::cluster.b32
  // CHECK: tensormap.replace.tile.box_dim.shared::cta.b1024.b32
  gpu.func @copies(%m : !llvm.ptr, %g : memref<?x32xf32>, %x : index, %y : index, %v : i32) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
    %to = arith.constant 1024 : index
    %tv = memref.view %s[%to][] : !bytes to memref<32x32xf32, #wg>
    %t = memref.memory_space_cast %tv : memref<32x32xf32, #wg> to memref<32x32xf32, #ts.smem<128>>
    %do = arith.constant 8192 : index
    %dv = memref.view %s[%do][] : !bytes to memref<128xi8, #wg>
    %d = memref.memory_space_cast %dv : memref<128xi8, #wg> to memref<128xi8, #ts.smem>
    %p = memref.extract_aligned_pointer_as_index %s : !bytes -> index
    %pi = arith.index_cast %p : index to i32
    %bar = llvm.inttoptr %pi : i32 to !llvm.ptr<3>
    ts.tma_load %map[%x, %y] to %t barrier(%bar : !llvm.ptr<3>) : !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, memref<32x32xf32, #ts.smem<128>>
    ts.fence proxy_async_shared
    ts.tma_store %t to %map[%x, %y] reduce add : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
    ts.bulk_commit
    ts.bulk_wait 0 read
    ts.cp_async %g[%x, %y] to %t[%x, %y], 16 : memref<?x32xf32>, memref<32x32xf32, #ts.smem<128>>
    %e = ts.dsmem_load %t[%x, %y] cta(%x) : memref<32x32xf32, #ts.smem<128>> -> f32
    memref.store %e, %g[%x, %y] : memref<?x32xf32>
    ts.tensormap_replace %d "box_dim", %v {ordinal = 1} : memref<128xi8, #ts.smem>, i32
    gpu.return
  }
}
