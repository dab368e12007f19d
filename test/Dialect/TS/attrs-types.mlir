// Round trip of attributes and types by themselves, default and given parameters.
// RUN: ts-opt -allow-unregistered-dialect %s | ts-opt -allow-unregistered-dialect | FileCheck %s
// RUN: ts-opt -allow-unregistered-dialect %s -emit-bytecode | ts-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: p0 = #ts.smem<0, padded>, p128 = #ts.smem<128, padded>, s0 = #ts.smem, s128 = #ts.smem<128>, s32 = #ts.smem<32>, s64 = #ts.smem<64>
"test.op"() {p0 = #ts.smem<0, padded>, p128 = #ts.smem<128, padded>, s0 = #ts.smem<0>, s32 = #ts.smem<32>, s64 = #ts.smem<64>, s128 = #ts.smem<128>} : () -> ()
// CHECK: t = #ts.tmem
"test.op"() {t = #ts.tmem} : () -> ()
// CHECK: a = #ts.alloc<"x" : memref<64xf32, #ts.smem>>
// CHECK-SAME: b = #ts.alloc<"y" : memref<8x8xi32>, align = 1024, at = 0, unstaged>
"test.op"() {a = #ts.alloc<"x" : memref<64xf32, #ts.smem>>, b = #ts.alloc<"y" : memref<8x8xi32>, unstaged, align = 1024, at = 0>} : () -> ()
// CHECK: p = #ts.pipeline<tma_umma, stages = 4, interleave = 4>
// CHECK-SAME: q = #ts.pipeline<async_async, stages = 1, consumer_signal = task_warp_leader, interleave = (1, 2, 3, 4), producer_op = load>
"test.op"() {p = #ts.pipeline<tma_umma, stages = 4, interleave = (4, 4, 4, 4)>, q = #ts.pipeline<async_async, producer_op = load, stages = 1, interleave = (1, 2, 3, 4), consumer_signal = task_warp_leader>} : () -> ()
// CHECK: e = #ts.effect<write>
// CHECK-SAME: f = #ts.effect<read "a", engine = cp_async>
"test.op"() {e = #ts.effect<write, engine = thread, offset = 0>, f = #ts.effect<read "a", engine = cp_async>} : () -> ()
// CHECK: #ts.effect<read, engine = tma>, #ts.effect<read, engine = bulk>, #ts.effect<read, engine = wgmma>, #ts.effect<read, engine = umma>, #ts.effect<read, engine = utccp>, #ts.effect<read, engine = clc>
"test.op"() {e = [#ts.effect<read, engine = tma>, #ts.effect<read, engine = bulk>, #ts.effect<read, engine = wgmma>, #ts.effect<read, engine = umma>, #ts.effect<read, engine = utccp>, #ts.effect<read, engine = clc>]} : () -> ()
// CHECK: #ts<space smem>, #ts<group_mode fork>, #ts<queue_kind clc>, #ts<guard_kind every>, #ts<info_kind replica>, #ts<fence_kind cta>, #ts<reduce_kind xor>
"test.op"() {e = [#ts<space smem>, #ts<group_mode fork>, #ts<queue_kind clc>, #ts<guard_kind every>, #ts<info_kind replica>, #ts<fence_kind cta>, #ts<reduce_kind xor>]} : () -> ()

// CHECK: !ts.resource, !ts.wgmma<64x256xf32>, !ts.fragment<64x8xbf16>, !ts.async<vector<32xf32>>
"test.op"() : () -> (!ts.resource, !ts.wgmma<64x256xf32>, !ts.fragment<64x8xbf16>, !ts.async<vector<32xf32>>)
// CHECK: !ts.tensor_map<?x64xf16, box = 16x64, swizzle = 128>
"test.op"() : () -> !ts.tensor_map<?x64xf16, box = 16x64, swizzle = 128>
// CHECK: !ts.tensor_map<?x?x?x?x?xf8E4M3FN, box = 1x2x3x4x32, interleave = 32, fill = nan, l2 = 64, element_strides = 1x1x1x2x1>
"test.op"() : () -> !ts.tensor_map<?x?x?x?x?xf8E4M3FN, box = 1x2x3x4x32, l2 = 64, fill = nan, interleave = 32, element_strides = 1x1x1x2x1>
// CHECK: !ts.tensor_map<128xi32, box = 4>
"test.op"() : () -> !ts.tensor_map<128xi32, box = 4, swizzle = 0, l2 = 256, fill = zero>
