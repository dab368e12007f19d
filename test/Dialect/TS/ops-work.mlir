// Round trip of every work primitive with every clause, in the custom form, the generic form and
// bytecode.
// RUN: ts-opt %s | ts-opt | FileCheck %s
// RUN: ts-opt %s -mlir-print-op-generic | ts-opt | FileCheck %s
// RUN: ts-opt %s -emit-bytecode | ts-opt | FileCheck %s

!map = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!rows = !ts.tensor_map<?x?xbf16, box = 1x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>

// CHECK-LABEL: func.func @info
func.func @info() {
  // CHECK: ts.info thread : index
  %0 = ts.info thread : index
  // CHECK: ts.info warp : i32
  %1 = ts.info warp : i32
  // CHECK: ts.info lane : i32
  %2 = ts.info lane : i32
  // CHECK: ts.info cta_rank : i32
  %3 = ts.info cta_rank : i32
  // CHECK: ts.info stage : index
  %4 = ts.info stage : index
  // CHECK: ts.info barrier : i32
  %5 = ts.info barrier : i32
  // CHECK: ts.info smem_base : i32
  %6 = ts.info smem_base : i32
  // CHECK: ts.info tmem_base : i32
  %7 = ts.info tmem_base : i32
  // CHECK: ts.info loop_offset : index
  %8 = ts.info loop_offset : index
  // CHECK: ts.info loop_start : index
  %9 = ts.info loop_start : index
  // CHECK: ts.info loop_end : index
  %10 = ts.info loop_end : index
  // CHECK: ts.info loop_step : index
  %11 = ts.info loop_step : index
  // CHECK: ts.info in_flight : index
  %12 = ts.info in_flight : index
  // CHECK: ts.info replica : index
  %13 = ts.info replica : index
  // CHECK: ts.info call_index : index
  %14 = ts.info call_index : index
  // CHECK: ts.elect {
  ts.elect {
    // CHECK: ts.warp_sync
    ts.warp_sync
  }
  // CHECK: ts.fence proxy_async_shared
  ts.fence proxy_async_shared
  // CHECK: ts.fence proxy_async{{$}}
  ts.fence proxy_async
  // CHECK: ts.fence tcgen05_before
  ts.fence tcgen05_before
  // CHECK: ts.fence tcgen05_after
  ts.fence tcgen05_after
  // CHECK: ts.fence mbarrier_init
  ts.fence mbarrier_init
  // CHECK: ts.fence cluster
  ts.fence cluster
  // CHECK: ts.fence cta
  ts.fence cta
  // CHECK: ts.fence gpu
  ts.fence gpu
  return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%A: !map, %G: !rows, %x: !tile, %four: memref<4x64xbf16, #ts.smem<128>>,
                  %g: memref<?x64xbf16>, %i: index, %n: i16, %bar: i32, %raw: memref<128xi8, #ts.smem>,
                  %w: i64, %sub: memref<1x128x64xbf16, strided<[8192, 64, 1], offset: ?>, #ts.smem<128>>) {
  // CHECK: ts.tma_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
  ts.tma_load %A[%i, %i] to %x : !map, !tile
  // CHECK: ts.tma_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} multicast(%{{.*}}) barrier(%{{.*}} : i32) {cta_group = 2 : i64} :
  ts.tma_load %A[%i, %i] to %x multicast(%n) barrier(%bar : i32) {cta_group = 2 : i64} : !map, !tile
  // CHECK: ts.tma_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<1x128x64xbf16, strided<[8192, 64, 1], offset: ?>, #ts.smem<128>>
  ts.tma_load %A[%i, %i] to %sub : !map, memref<1x128x64xbf16, strided<[8192, 64, 1], offset: ?>, #ts.smem<128>>
  // CHECK: ts.tma_load %{{.*}}[%{{.*}}] to %{{.*}} gather(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) :
  ts.tma_load %G[%i] to %four gather(%i, %i, %i, %i) : !rows, memref<4x64xbf16, #ts.smem<128>>
  // CHECK: ts.tma_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : memref<128x64xbf16, #ts.smem<128>>, !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
  ts.tma_store %x to %A[%i, %i] : !tile, !map
  // CHECK: ts.tma_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] reduce add :
  ts.tma_store %x to %A[%i, %i] reduce add : !tile, !map
  // CHECK: ts.tma_store %{{.*}} to %{{.*}}[%{{.*}}] scatter(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) :
  ts.tma_store %four to %G[%i] scatter(%i, %i, %i, %i) : memref<4x64xbf16, #ts.smem<128>>, !rows
  // CHECK: ts.tma_prefetch %{{.*}}[%{{.*}}, %{{.*}}] :
  ts.tma_prefetch %A[%i, %i] : !map
  // CHECK: ts.tma_prefetch %{{[^\[]*}} :
  ts.tma_prefetch %A : !map
  // CHECK: ts.bulk_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : memref<?x64xbf16>, memref<128x64xbf16, #ts.smem<128>>
  ts.bulk_load %g[%i, %i] to %x : memref<?x64xbf16>, !tile
  // CHECK: ts.bulk_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} barrier(%{{.*}} : i32) :
  ts.bulk_load %g[%i, %i] to %x barrier(%bar : i32) : memref<?x64xbf16>, !tile
  // CHECK: ts.bulk_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : memref<128x64xbf16, #ts.smem<128>>, memref<?x64xbf16>
  ts.bulk_store %x to %g[%i, %i] : !tile, memref<?x64xbf16>
  // CHECK: ts.bulk_commit
  ts.bulk_commit
  // CHECK: ts.bulk_wait 0 read
  ts.bulk_wait 0 read
  // CHECK: ts.bulk_wait 3{{$}}
  ts.bulk_wait 3
  // CHECK: ts.tensormap_replace %{{.*}} "box_dim", %{{.*}} {ordinal = 4 : i64} : memref<128xi8, #ts.smem>, i32
  ts.tensormap_replace %raw "box_dim", %bar {ordinal = 4 : i64} : memref<128xi8, #ts.smem>, i32
  // CHECK: ts.tensormap_replace %{{.*}} "global_address", %{{.*}} : memref<128xi8, #ts.smem>, i64
  ts.tensormap_replace %raw "global_address", %w : memref<128xi8, #ts.smem>, i64
  // CHECK: ts.cp_async %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}], 16 : memref<?x64xbf16>, memref<128x64xbf16, #ts.smem<128>>
  ts.cp_async %g[%i, %i] to %x[%i, %i], 16 : memref<?x64xbf16>, !tile
  // CHECK: ts.cp_async %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}], 4 valid %{{.*}} :
  ts.cp_async %g[%i, %i] to %x[%i, %i], 4 valid %i : memref<?x64xbf16>, !tile
  // CHECK: ts.cp_async_commit
  ts.cp_async_commit
  // CHECK: ts.cp_async_wait 1
  ts.cp_async_wait 1
  return
}

// CHECK-LABEL: func.func @umma
func.func @umma(%d: memref<128x128xf32, #ts.tmem>, %a: !tile, %b: !tile, %ta: memref<128x64xbf16, #ts.tmem>,
                %mn: memref<2x64x64xbf16, #ts.smem<128>>, %p: i1,
                %fd: memref<128x64xf32, #ts.tmem>, %f4: memref<128x256xf4E2M1FN, #ts.smem<128>>,
                %f4b: memref<64x256xf4E2M1FN, #ts.smem<128>>, %s: memref<128x32xf8E8M0FNU, #ts.tmem>, %block: memref<128x16xf8E8M0FNU, #ts.tmem>,
                %h: memref<128x64xbf16, #ts.smem<128>>, %hd: memref<128x256xf32, #ts.tmem>,
                %q: memref<512xi8, #ts.smem>, %col: index, %v: vector<32xf32>, %addr: i32) {
  // CHECK: ts.umma %{{.*}}, %{{.*}}, %{{.*}} : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, !tile, !tile
  // CHECK: ts.umma %{{.*}}, %{{.*}}, %{{.*}} accumulate(%{{.*}}) transpose_a transpose_b {kind = "f16"} : memref<128x128xf32, #ts.tmem>, memref<2x64x64xbf16, #ts.smem<128>>, memref<2x64x64xbf16, #ts.smem<128>>
  ts.umma %d, %mn, %mn accumulate(%p) transpose_a transpose_b {kind = "f16"} : memref<128x128xf32, #ts.tmem>, memref<2x64x64xbf16, #ts.smem<128>>, memref<2x64x64xbf16, #ts.smem<128>>
  // CHECK: ts.umma %{{.*}}, %{{.*}}, %{{.*}} : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>
  ts.umma %d, %ta, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, !tile
  // CHECK: ts.umma %{{.*}}, %{{.*}}, %{{.*}} accumulate(%{{.*}}) scales(%{{.*}}, %{{.*}} : memref<128x32xf8E8M0FNU, #ts.tmem>, memref<128x32xf8E8M0FNU, #ts.tmem>) {kind = "mxf4nvf4"} :
  ts.umma %fd, %f4, %f4b accumulate(%p) scales(%s, %s : memref<128x32xf8E8M0FNU, #ts.tmem>, memref<128x32xf8E8M0FNU, #ts.tmem>) {kind = "mxf4nvf4"} : memref<128x64xf32, #ts.tmem>, memref<128x256xf4E2M1FN, #ts.smem<128>>, memref<64x256xf4E2M1FN, #ts.smem<128>>
  // CHECK: ts.umma %{{.*}}, %{{.*}}, %{{.*}} {cta_group = 2 : i64} : memref<128x256xf32, #ts.tmem>,
  ts.umma %hd, %h, %h {cta_group = 2 : i64} : memref<128x256xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  // CHECK: ts.tmem_copy %{{.*}} to %{{.*}} "32x128b.warpx4" {cta_group = 2 : i64} : memref<512xi8, #ts.smem>, memref<128x16xf8E8M0FNU, #ts.tmem>
  ts.tmem_copy %q to %block "32x128b.warpx4" {cta_group = 2 : i64} : memref<512xi8, #ts.smem>, memref<128x16xf8E8M0FNU, #ts.tmem>
  // CHECK: ts.tmem_load %{{.*}}[%{{.*}}] : memref<128x128xf32, #ts.tmem> -> vector<32xf32>
  %0 = ts.tmem_load %d[%col] : memref<128x128xf32, #ts.tmem> -> vector<32xf32>
  // CHECK: %[[L:.*]] = ts.tmem_load %{{.*}}[%{{.*}}] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<16xf32>>
  %1 = ts.tmem_load %d[%col] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<16xf32>>
  // CHECK: ts.tmem_load %{{.*}}[%{{.*}}] : memref<128x64xbf16, #ts.tmem> -> vector<2xbf16>
  %2 = ts.tmem_load %ta[%col] : memref<128x64xbf16, #ts.tmem> -> vector<2xbf16>
  // CHECK: ts.tmem_wait %[[L]] : !ts.async<vector<16xf32>> -> vector<16xf32>
  %3 = ts.tmem_wait %1 : !ts.async<vector<16xf32>> -> vector<16xf32>
  // CHECK: ts.tmem_store %{{.*}} to %{{.*}}[%{{.*}}] : vector<32xf32>, memref<128x128xf32, #ts.tmem>
  ts.tmem_store %v to %d[%col] : vector<32xf32>, memref<128x128xf32, #ts.tmem>
  // CHECK: ts.tmem_view %{{.*}} : memref<128x128xf32, #ts.tmem>
  %4 = ts.tmem_view %addr : memref<128x128xf32, #ts.tmem>
  return
}

// CHECK-LABEL: func.func @wgmma
func.func @wgmma(%a: memref<64x64xbf16, #ts.smem<128>>, %b: memref<256x64xbf16, #ts.smem<128>>, %p: i1,
                 %bt: memref<4x64x64xbf16, #ts.smem<128>>, %w: memref<16x64xbf16, #ts.smem<128>>, %i: index,
                 %sub: memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>,
                 %fr: !ts.fragment<64x256xf32>) {
  // CHECK: ts.wgmma_zero : !ts.wgmma<64x256xf32>
  %z = ts.wgmma_zero : !ts.wgmma<64x256xf32>
  // CHECK: ts.wgmma_start %{{.*}} : !ts.fragment<64x256xf32> -> !ts.wgmma<64x256xf32>
  %s = ts.wgmma_start %fr : !ts.fragment<64x256xf32> -> !ts.wgmma<64x256xf32>
  // CHECK: ts.wgmma %{{.*}}, %{{.*}}, %{{.*}} : memref<64x64xbf16, #ts.smem<128>>, memref<256x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
  %0 = ts.wgmma %a, %b, %z : memref<64x64xbf16, #ts.smem<128>>, memref<256x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
  // CHECK: ts.wgmma %{{.*}}, %{{.*}}, %{{.*}} accumulate(%{{.*}}) transpose_a transpose_b : memref<64x64xbf16, #ts.smem<128>>, memref<4x64x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
  %1 = ts.wgmma %a, %bt, %0 accumulate(%p) transpose_a transpose_b : memref<64x64xbf16, #ts.smem<128>>, memref<4x64x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
  // CHECK: ts.wgmma %{{.*}}, %{{.*}}, %{{.*}} : memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>,
  %2 = ts.wgmma %sub, %b, %1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>, memref<256x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
  // CHECK: ts.wgmma_commit
  ts.wgmma_commit
  // CHECK: ts.wgmma_wait 1, %{{.*}} : !ts.wgmma<64x256xf32> -> !ts.wgmma<64x256xf32>
  %3 = ts.wgmma_wait 1, %2 : !ts.wgmma<64x256xf32> -> !ts.wgmma<64x256xf32>
  // CHECK: %[[A:.*]] = ts.fragment_load %{{.*}} : memref<64x64xbf16, #ts.smem<128>> -> !ts.fragment<64x64xbf16>
  %fa = ts.fragment_load %a : memref<64x64xbf16, #ts.smem<128>> -> !ts.fragment<64x64xbf16>
  // CHECK: ts.wgmma %[[A]], %{{.*}}, %{{.*}} : !ts.fragment<64x64xbf16>, memref<256x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
  %4 = ts.wgmma %fa, %b, %3 : !ts.fragment<64x64xbf16>, memref<256x64xbf16, #ts.smem<128>>, !ts.wgmma<64x256xf32>
  // CHECK: %[[W:.*]]:2 = ts.wgmma_wait 0, %{{.*}}, %[[A]] : !ts.wgmma<64x256xf32>, !ts.fragment<64x64xbf16> -> !ts.fragment<64x256xf32>, !ts.fragment<64x64xbf16>
  %5:2 = ts.wgmma_wait 0, %4, %fa : !ts.wgmma<64x256xf32>, !ts.fragment<64x64xbf16> -> !ts.fragment<64x256xf32>, !ts.fragment<64x64xbf16>
  // CHECK: ts.wgmma_wait 0{{$}}
  ts.wgmma_wait 0
  // CHECK: ts.fragment_map %[[W]]#0, %[[W]]#0 (%[[X:.*]], %[[Y:.*]]) attributes {note = "kept"} : !ts.fragment<64x256xf32>, !ts.fragment<64x256xf32> -> !ts.fragment<64x256xbf16> {
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
  // CHECK-NEXT: %[[T:.*]] = arith.truncf %[[S]] : f32 to bf16
  // CHECK-NEXT: ts.yield %[[T]] : bf16
  %6 = ts.fragment_map %5#0, %5#0 (%x, %y) attributes {note = "kept"} : !ts.fragment<64x256xf32>, !ts.fragment<64x256xf32> -> !ts.fragment<64x256xbf16> {
    %sum = arith.addf %x, %y : f32
    %t = arith.truncf %sum : f32 to bf16
    ts.yield %t : bf16
  }
  // CHECK: %[[TOP:.*]] = ts.fragment_reduce max %[[W]]#0 : !ts.fragment<64x256xf32> -> vector<2xf32>
  %top = ts.fragment_reduce max %5#0 : !ts.fragment<64x256xf32> -> vector<2xf32>
  // CHECK: %[[PART:.*]] = ts.fragment_reduce add %[[W]]#0 partial : !ts.fragment<64x256xf32> -> vector<2xf32>
  %part = ts.fragment_reduce add %5#0 partial : !ts.fragment<64x256xf32> -> vector<2xf32>
  // CHECK: ts.fragment_reduce add %[[PART]] : vector<2xf32> -> vector<2xf32>
  %whole = ts.fragment_reduce add %part : vector<2xf32> -> vector<2xf32>
  // CHECK: ts.fragment_map %[[W]]#0, %[[TOP]] (%{{.*}}, %{{.*}}) at (%[[I:.*]], %[[J:.*]]) : !ts.fragment<64x256xf32>, vector<2xf32> -> !ts.fragment<64x256xf32> {
  // CHECK-NEXT: arith.cmpi slt, %[[J]], %[[I]] : i32
  %masked = ts.fragment_map %5#0, %top (%x, %y) at (%r, %c) : !ts.fragment<64x256xf32>, vector<2xf32> -> !ts.fragment<64x256xf32> {
    %left = arith.cmpi slt, %c, %r : i32
    %chosen = arith.select %left, %x, %y : f32
    ts.yield %chosen : f32
  }
  // CHECK: ts.fragment_map () at (%{{.*}}, %[[J:.*]]) : -> !ts.fragment<64x8xi32> {
  // CHECK-NEXT: ts.yield %[[J]] : i32
  %columns = ts.fragment_map () at (%r, %c) : -> !ts.fragment<64x8xi32> {
    ts.yield %c : i32
  }
  // CHECK: ts.fragment_store %{{.*}} column 192 to %{{.*}} : !ts.fragment<64x256xbf16>, memref<16x64xbf16, #ts.smem<128>>
  ts.fragment_store %6 column 192 to %w : !ts.fragment<64x256xbf16>, memref<16x64xbf16, #ts.smem<128>>
  // CHECK: %[[M:.*]] = ts.ldmatrix %{{.*}}[%{{.*}}, %{{.*}}] transpose : memref<16x64xbf16, #ts.smem<128>> -> vector<4xi32>
  %7 = ts.ldmatrix %w[%i, %i] transpose : memref<16x64xbf16, #ts.smem<128>> -> vector<4xi32>
  // CHECK: ts.ldmatrix %{{.*}}[%{{.*}}, %{{.*}}] : memref<16x64xbf16, #ts.smem<128>> -> vector<1xi32>
  %8 = ts.ldmatrix %w[%i, %i] : memref<16x64xbf16, #ts.smem<128>> -> vector<1xi32>
  // CHECK: ts.stmatrix %[[M]] to %{{.*}}[%{{.*}}, %{{.*}}] transpose : vector<4xi32>, memref<16x64xbf16, #ts.smem<128>>
  ts.stmatrix %7 to %w[%i, %i] transpose : vector<4xi32>, memref<16x64xbf16, #ts.smem<128>>
  // CHECK: ts.stmatrix %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : vector<1xi32>,
  ts.stmatrix %8 to %w[%i, %i] : vector<1xi32>, memref<16x64xbf16, #ts.smem<128>>
  return
}

// CHECK-LABEL: ts.kernel @barriers
gpu.module @m {
ts.kernel @barriers(%parity: i32, %i: index) warps(4) {
  // CHECK: %[[N:.*]] = ts.named_barrier "n" threads(128) id(3)
  %n = ts.named_barrier "n" threads(128) id(3)
  // CHECK: %[[O:.*]] = ts.named_barrier "o" threads(1024){{$}}
  %o = ts.named_barrier "o" threads(1024)
  // CHECK: %[[B:.*]] = ts.mbarrier "b" count(1048575)
  %b = ts.mbarrier "b" count(1048575)
  %s = ts.resource "s" smem(m: memref<8x4xf32>)
  ts.task "t" warps(0, 4) writes(%s) {
    // CHECK: ts.barrier_sync %[[N]]
    ts.barrier_sync %n
    // CHECK: ts.barrier_arrive %[[O]]
    ts.barrier_arrive %o
    // CHECK: ts.mbarrier_arrive %[[B]] expect 1024 cta(%{{.*}})
    ts.mbarrier_arrive %b expect 1024 cta(%i)
    // CHECK: ts.mbarrier_arrive %[[B]]{{$}}
    ts.mbarrier_arrive %b
    // CHECK: ts.mbarrier_wait %[[B]] parity %{{.*}}
    ts.mbarrier_wait %b parity %parity
    ts.produce %s "exchange" (%m) {
      // CHECK: %[[V:.*]] = ts.dsmem_load %{{.*}}[%{{.*}}, %{{.*}}] cta(%{{.*}}) : memref<8x4xf32, #ts.smem> -> f32
      %v = ts.dsmem_load %m[%i, %i] cta(%i) : memref<8x4xf32, #ts.smem> -> f32
      // CHECK: ts.dsmem_store %[[V]] to %{{.*}}[%{{.*}}, %{{.*}}] cta(%{{.*}}) : f32, memref<8x4xf32, #ts.smem>
      ts.dsmem_store %v to %m[%i, %i] cta(%i) : f32, memref<8x4xf32, #ts.smem>
    }
    // CHECK: ts.cluster_sync
    ts.cluster_sync
  }
}
}
