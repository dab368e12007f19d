// Work primitives down to PTX for sm_100a.
// RUN: ts-compile %s --arch=sm_100a -o - | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>

gpu.module @m {
  // CHECK-LABEL: .entry products
  // CHECK: tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%r{{[0-9]+}}], %rd{{[0-9]+}}, %rd{{[0-9]+}}, %r{{[0-9]+}}, %p1;
  // CHECK-COUNT-3: tcgen05.mma.cta_group::1.kind::f16
  // CHECK: tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%r{{[0-9]+}}], [%r{{[0-9]+}}], %rd
  // CHECK: tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32
  // CHECK: tcgen05.cp.cta_group::1.32x128b.warpx4 [
  gpu.func @products(%p : i1, %t : i32) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %ao = arith.constant 0 : index
    %av = memref.view %s[%ao][] : !bytes to memref<128x64xbf16, #wg>
    %a = memref.memory_space_cast %av : memref<128x64xbf16, #wg> to memref<128x64xbf16, #ts.smem<128>>
    %bo = arith.constant 16384 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<2x64x64xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<2x64x64xbf16, #wg> to memref<2x64x64xbf16, #ts.smem<128>>
    %eo = arith.constant 32768 : index
    %ev = memref.view %s[%eo][] : !bytes to memref<128x128xf8E4M3FN, #wg>
    %e = memref.memory_space_cast %ev : memref<128x128xf8E4M3FN, #wg> to memref<128x128xf8E4M3FN, #ts.smem<128>>
    %yo = arith.constant 65536 : index
    %yv = memref.view %s[%yo][] : !bytes to memref<512xi8, #wg>
    %y = memref.memory_space_cast %yv : memref<512xi8, #wg> to memref<512xi8, #ts.smem>
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    %ta = ts.tmem_view %t : memref<128x64xbf16, #ts.tmem>
    %sf = ts.tmem_view %t : memref<128x16xf8E8M0FNU, #ts.tmem>
    ts.umma %d, %a, %b accumulate(%p) transpose_b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<2x64x64xbf16, #ts.smem<128>>
    ts.umma %d, %ta, %b transpose_b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, memref<2x64x64xbf16, #ts.smem<128>>
    ts.umma %d, %e, %e scales(%sf, %sf : memref<128x16xf8E8M0FNU, #ts.tmem>, memref<128x16xf8E8M0FNU, #ts.tmem>) : memref<128x128xf32, #ts.tmem>, memref<128x128xf8E4M3FN, #ts.smem<128>>, memref<128x128xf8E4M3FN, #ts.smem<128>>
    ts.tmem_copy %y to %sf "32x128b.warpx4" : memref<512xi8, #ts.smem>, memref<128x16xf8E8M0FNU, #ts.tmem>
    gpu.return
  }

  // Nothing touches the loaded registers between the loads and the wait.
  // CHECK-LABEL: .entry epilogue
  // CHECK: tcgen05.ld.sync.aligned.32x32b.x16.b32
  // CHECK-NOT: mov.b64
  // CHECK: tcgen05.ld.sync.aligned.32x32b.x16.b32
  // CHECK-NOT: mov.b64
  // CHECK: tcgen05.wait::ld.sync.aligned;
  // CHECK: add.rn.f32x2
  // CHECK: cvt.rn.bf16x2.f32
  // CHECK: tcgen05.st.sync.aligned.32x32b.x8.b32
  gpu.func @epilogue(%t : i32) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    %o = ts.tmem_view %t : memref<128x64xbf16, #ts.tmem>
    %x = ts.tmem_load %d[%c0] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<16xf32>>
    %y = ts.tmem_load %d[%c16] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<16xf32>>
    %a, %b = ts.tmem_wait %x, %y : !ts.async<vector<16xf32>>, !ts.async<vector<16xf32>> -> vector<16xf32>, vector<16xf32>
    %sum = arith.addf %a, %b : vector<16xf32>
    %r = arith.truncf %sum : vector<16xf32> to vector<16xbf16>
    ts.tmem_store %r to %o[%c0] : vector<16xbf16>, memref<128x64xbf16, #ts.tmem>
    gpu.return
  }

  // CHECK-LABEL: .entry pair
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes
  // CHECK: .multicast::cluster.cta_group::2
  // CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
  // CHECK: tcgen05.mma.cta_group::2.kind::f8f6f4.collector::a::discard
  gpu.func @pair(%m : !llvm.ptr, %x : index, %r : index, %tm : i32) kernel {
    %s = gpu.dynamic_shared_memory : !bytes
    %rows = builtin.unrealized_conversion_cast %m : !llvm.ptr to !ts.tensor_map<?x?xbf16, box = 1x64, swizzle = 128>
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !ts.tensor_map<?x?xbf16, box = 8x64, swizzle = 128>
    %mask = arith.constant 3 : i16
    %to = arith.constant 1024 : index
    %tv = memref.view %s[%to][] : !bytes to memref<4x64xbf16, #wg>
    %t = memref.memory_space_cast %tv : memref<4x64xbf16, #wg> to memref<4x64xbf16, #ts.smem<128>>
    %uo = arith.constant 2048 : index
    %uv = memref.view %s[%uo][] : !bytes to memref<8x64xbf16, #wg>
    %u = memref.memory_space_cast %uv : memref<8x64xbf16, #wg> to memref<8x64xbf16, #ts.smem<128>>
    %eo = arith.constant 32768 : index
    %ev = memref.view %s[%eo][] : !bytes to memref<128x128xf8E4M3FN, #wg>
    %e = memref.memory_space_cast %ev : memref<128x128xf8E4M3FN, #wg> to memref<128x128xf8E4M3FN, #ts.smem<128>>
    %ho = arith.constant 49152 : index
    %hv = memref.view %s[%ho][] : !bytes to memref<64x128xf8E4M3FN, #wg>
    %h = memref.memory_space_cast %hv : memref<64x128xf8E4M3FN, #wg> to memref<64x128xf8E4M3FN, #ts.smem<128>>
    %d = ts.tmem_view %tm : memref<128x128xf32, #ts.tmem>
    %p = memref.extract_aligned_pointer_as_index %s : !bytes -> index
    %pi = arith.index_cast %p : index to i32
    %bar = llvm.inttoptr %pi : i32 to !llvm.ptr<3>
    ts.tma_load %rows[%x] to %t gather(%r, %x, %r, %x) barrier(%bar : !llvm.ptr<3>) : !ts.tensor_map<?x?xbf16, box = 1x64, swizzle = 128>, memref<4x64xbf16, #ts.smem<128>>
    ts.tma_load %map[%r, %x] to %u multicast(%mask) barrier(%bar : !llvm.ptr<3>) {cta_group = 2} : !ts.tensor_map<?x?xbf16, box = 8x64, swizzle = 128>, memref<8x64xbf16, #ts.smem<128>>
    ts.tma_store %t to %rows[%x] scatter(%r, %x, %r, %x) : memref<4x64xbf16, #ts.smem<128>>, !ts.tensor_map<?x?xbf16, box = 1x64, swizzle = 128>
    ts.umma %d, %e, %h {cta_group = 2} : memref<128x128xf32, #ts.tmem>, memref<128x128xf8E4M3FN, #ts.smem<128>>, memref<64x128xf8E4M3FN, #ts.smem<128>>
    gpu.return
  }
}
