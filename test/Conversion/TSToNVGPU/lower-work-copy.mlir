// TMA, bulk copies, cp.async, fences, tensor-map changes, distributed shared memory.
// RUN: ts-opt %s --ts-lower-work --canonicalize --cse | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>
!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!rows = !ts.tensor_map<?x?xbf16, box = 1x64, swizzle = 128>

gpu.module @m {
  // Coordinates in the instruction's order, fastest first; the destination in the cluster's window.
  // CHECK-LABEL: gpu.func @tma
  // CHECK-SAME: %[[MAP:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: index, %[[Y:[^:]*]]: index, %[[STAGE:[^:]*]]: index, %[[BAR:[^:]*]]: !llvm.ptr<3>
  // CHECK: nvvm.prefetch tensormap, %[[MAP]]
  // CHECK-DAG: %[[XI:.*]] = arith.index_cast %[[X]] : index to i32
  // CHECK-DAG: %[[YI:.*]] = arith.index_cast %[[Y]] : index to i32
  // CHECK: nvvm.cp.async.bulk.tensor.prefetch %[[MAP]], box[%[[YI]], %[[XI]]]
  // CHECK: %[[S:.*]] = arith.index_cast %[[STAGE]] : index to i32
  // CHECK: %[[OFFSET:.*]] = arith.muli %[[S]], %c16384_i32
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
  // CHECK: %[[DST:.*]] = llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<7>
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[DST]], %[[MAP]], %[[BAR]], box[%[[YI]], %[[XI]]] : !llvm.ptr<7>, !llvm.ptr{{$}}
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}} multicast_mask = %c3_i16 {group = #nvvm.cta_group<cta_2>}
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %{{.*}}, box[%[[YI]], %[[XI]]] : !llvm.ptr, <3>
  // CHECK: nvvm.cp.async.bulk.tensor.reduce %[[MAP]], {{.*}}redKind = #nvvm.tma_redux_kind<max>
  gpu.func @tma(%m : !llvm.ptr, %x : index, %y : index, %stage : index, %bar : !llvm.ptr<3>) {
    %s = gpu.dynamic_shared_memory : !bytes
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !map
    %allo = arith.constant 0 : index
    %allv = memref.view %s[%allo][] : !bytes to memref<4x128x64xbf16, #wg>
    %all = memref.memory_space_cast %allv : memref<4x128x64xbf16, #wg> to memref<4x128x64xbf16, #ts.smem<128>>
    %t = memref.subview %all[%stage, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xbf16, #ts.smem<128>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
    %mask = arith.constant 3 : i16
    ts.tma_prefetch %map : !map
    ts.tma_prefetch %map[%x, %y] : !map
    ts.tma_load %map[%x, %y] to %t barrier(%bar : !llvm.ptr<3>) : !map, memref<128x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
    ts.tma_load %map[%x, %y] to %t multicast(%mask) barrier(%bar : !llvm.ptr<3>) {cta_group = 2} : !map, memref<128x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
    ts.tma_store %t to %map[%x, %y] : memref<128x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>, !map
    ts.tma_store %t to %map[%x, %y] reduce max : memref<128x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>, !map
    gpu.return
  }

  // Row indices follow the column.
  // CHECK-LABEL: gpu.func @gather
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}box[%[[X:.*]], %[[R0:.*]], %[[R1:.*]], %[[R0]], %[[R1]]] {{.*}}mode = #nvvm.tma_load_mode<tile_gather4>
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta {{.*}}box[%[[X]], %[[R1]], %[[R0]], %[[R1]], %[[R0]]] {{.*}}mode = #nvvm.tma_store_mode<tile_scatter4>
  gpu.func @gather(%m : !llvm.ptr, %x : index, %r0 : index, %r1 : index, %bar : !llvm.ptr<3>) {
    %s = gpu.dynamic_shared_memory : !bytes
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !rows
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<4x64xbf16, #wg>
    %t = memref.memory_space_cast %tv : memref<4x64xbf16, #wg> to memref<4x64xbf16, #ts.smem<128>>
    ts.tma_load %map[%x] to %t gather(%r0, %r1, %r0, %r1) barrier(%bar : !llvm.ptr<3>) : !rows, memref<4x64xbf16, #ts.smem<128>>
    ts.tma_store %t to %map[%x] scatter(%r1, %r0, %r1, %r0) : memref<4x64xbf16, #ts.smem<128>>, !rows
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bulk
  // CHECK: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, %c1024_i32 : !llvm.ptr<7>, <1>
  // CHECK: nvvm.cp.async.bulk.global.shared.cta %{{.*}}, %{{.*}}, %c1024_i32 : <1>, <3>
  // CHECK: nvvm.cp.async.bulk.commit.group
  // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
  // CHECK: nvvm.cp.async.bulk.wait_group 0
  gpu.func @bulk(%g : memref<?x256xf32>, %row : index, %bar : !llvm.ptr<3>) {
    %s = gpu.dynamic_shared_memory : !bytes
    %c0 = arith.constant 0 : index
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<256xf32, #wg>
    %t = memref.memory_space_cast %tv : memref<256xf32, #wg> to memref<256xf32, #ts.smem>
    ts.bulk_load %g[%row, %c0] to %t barrier(%bar : !llvm.ptr<3>) : memref<?x256xf32>, memref<256xf32, #ts.smem>
    ts.bulk_store %t to %g[%row, %c0] : memref<256xf32, #ts.smem>, memref<?x256xf32>
    ts.bulk_commit
    ts.bulk_wait 1 read
    ts.bulk_wait 0
    gpu.return
  }

  // Around L1 for 16 bytes. `valid` counts elements, the instruction bytes. The swizzle is in the
  // destination.
  // CHECK-LABEL: gpu.func @cp_async
  // CHECK: %[[MASKED:.*]] = arith.andi {{.*}}, %c112_i32
  // CHECK: %[[AT:.*]] = arith.xori {{.*}}, %[[MASKED]]
  // CHECK: %[[DST:.*]] = llvm.inttoptr %[[AT]] : i32 to !llvm.ptr<3>
  // CHECK: nvvm.cp.async.shared.global %[[DST]], %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  // CHECK: %[[BYTES:.*]] = arith.muli {{.*}}, %c4_i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca, %[[BYTES]]
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 2
  gpu.func @cp_async(%g : memref<?x256xf32>, %x : index, %y : index, %n : index) {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<32x32xf32, #wg>
    %t = memref.memory_space_cast %tv : memref<32x32xf32, #wg> to memref<32x32xf32, #ts.smem<128>>
    ts.cp_async %g[%x, %y] to %t[%x, %y], 16 : memref<?x256xf32>, memref<32x32xf32, #ts.smem<128>>
    ts.cp_async %g[%x, %y] to %t[%x, %y], 8 valid %n : memref<?x256xf32>, memref<32x32xf32, #ts.smem<128>>
    ts.cp_async_commit
    ts.cp_async_wait 2
    gpu.return
  }

  // CHECK-LABEL: gpu.func @fences
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.tcgen05.fence <before>
  // CHECK: nvvm.tcgen05.fence <after>
  // CHECK: llvm.fence syncscope("cluster") acq_rel
  // CHECK: llvm.fence syncscope("block") acq_rel
  // CHECK: llvm.fence syncscope("device") acq_rel
  // CHECK: nvvm.bar.warp.sync %c-1_i32
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  gpu.func @fences() {
    ts.fence proxy_async_shared
    ts.fence proxy_async
    ts.fence mbarrier_init
    ts.fence tcgen05_before
    ts.fence tcgen05_after
    ts.fence cluster
    ts.fence cta
    ts.fence gpu
    ts.warp_sync
    ts.cluster_sync
    gpu.return
  }

  // CHECK-LABEL: gpu.func @replace
  // CHECK: llvm.call_intrinsic "llvm.nvvm.tensormap.replace.box.dim"(%[[P:.*]], %[[ONE:.*]], %{{.*}}) : (!llvm.ptr<3>, i32, i32)
  // CHECK: llvm.call_intrinsic "llvm.nvvm.tensormap.replace.global.address"(%[[P]], %{{.*}}) : (!llvm.ptr<3>, i64)
  // CHECK: llvm.call_intrinsic "llvm.nvvm.tensormap.replace.swizzle.mode"(%[[P]], %{{.*}}) : (!llvm.ptr<3>, i32)
  gpu.func @replace(%v : i32, %a : i64) {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 128 : index
    %tv = memref.view %s[%to][] : !bytes to memref<128xi8, #wg>
    %t = memref.memory_space_cast %tv : memref<128xi8, #wg> to memref<128xi8, #ts.smem>
    %three = arith.constant 3 : i32
    ts.tensormap_replace %t "box_dim", %v {ordinal = 1} : memref<128xi8, #ts.smem>, i32
    ts.tensormap_replace %t "global_address", %a : memref<128xi8, #ts.smem>, i64
    ts.tensormap_replace %t "swizzle_mode", %three : memref<128xi8, #ts.smem>, i32
    gpu.return
  }

  // Elements that LLVM does not know travel as integers.
  // CHECK-LABEL: gpu.func @peer
  // CHECK: %[[P:.*]] = nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: %[[V:.*]] = llvm.load %[[P]] {alignment = 1 : i64} : !llvm.ptr<7> -> i8
  // CHECK: arith.bitcast %[[V]] : i8 to f8E4M3FN
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<7>
  gpu.func @peer(%i : index, %cta : index, %f : f32) -> f8E4M3FN {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<64x128xf8E4M3FN, #wg>
    %t = memref.memory_space_cast %tv : memref<64x128xf8E4M3FN, #wg> to memref<64x128xf8E4M3FN, #ts.smem<128>>
    %uo = arith.constant 8192 : index
    %uv = memref.view %s[%uo][] : !bytes to memref<16xf32, #wg>
    %u = memref.memory_space_cast %uv : memref<16xf32, #wg> to memref<16xf32, #ts.smem>
    %v = ts.dsmem_load %t[%i, %i] cta(%cta) : memref<64x128xf8E4M3FN, #ts.smem<128>> -> f8E4M3FN
    ts.dsmem_store %f to %u[%i] cta(%cta) : f32, memref<16xf32, #ts.smem>
    gpu.return %v : f8E4M3FN
  }

  // A vector moves in chunks of 16 bytes where its beginning is known to be a multiple of that, and
  // as the swizzle has them.
  // CHECK-LABEL: gpu.func @peer_vector
  // CHECK: %[[P:.*]] = nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
  // CHECK: nvvm.mapa
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-8: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<7>
  gpu.func @peer_vector(%i : index, %cta : index) {
    %c8 = arith.constant 8 : index
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<16x32xf32, #wg>
    %t = memref.memory_space_cast %tv : memref<16x32xf32, #wg> to memref<16x32xf32, #ts.smem<128>>
    %column = arith.muli %i, %c8 : index
    %v = ts.dsmem_load %t[%i, %column] cta(%cta) : memref<16x32xf32, #ts.smem<128>> -> vector<8xf32>
    ts.dsmem_store %v to %t[%i, %i] cta(%cta) : vector<8xf32>, memref<16x32xf32, #ts.smem<128>>
    gpu.return
  }
}
