// Round trip of every structure and schedule op with every clause, in the custom form, the generic
// form and bytecode. Work primitives are in ops-work.mlir.
// RUN: ts-opt %s | ts-opt | FileCheck %s
// RUN: ts-opt %s -mlir-print-op-generic | ts-opt | FileCheck %s
// RUN: ts-opt %s -emit-bytecode | ts-opt | FileCheck %s

// CHECK: gpu.module @m attributes {ts.chip = "sm_90a"}
gpu.module @m attributes {ts.chip = "sm_90a"} {

// CHECK-LABEL: ts.kernel @all(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>,
// CHECK-SAME: %X: memref<?x128xf32>,
// CHECK-SAME: %tiles: index = ceildiv(dim(A, 0), 128), %trips: index = dim(A, 1) * 2 - stride(X, 0) min 2,
// CHECK-SAME: %n: i32 = max(sms(), min(mod(tiles, 7), div(tiles, 3))), %alpha: f32)
// CHECK-SAME: warps(12) cluster(2, 1, 1) grid(tiles, 1, sms()) flush_denormals trips_per_tile max_smem(100000)
// CHECK-SAME: attributes {note = "kept"}
ts.kernel @all(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>,
               %X: memref<?x128xf32>,
               %tiles: index = ceildiv(dim(%A, 0), 128),
               %trips: index = dim(%A, 1) * 2 - stride(%X, 0) min 2,
               %n: i32 = max(sms(), min(mod(%tiles, 7), div(%tiles, 3))), %alpha: f32)
    warps(12) cluster(2, 1, 1) grid(%tiles, 1, sms()) flush_denormals trips_per_tile
    max_smem(100000) attributes {note = "kept"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true

  // CHECK: %[[GMEM:.*]] = ts.resource "gmem" gmem{{$}}
  %gmem = ts.resource "gmem" gmem
  // CHECK: ts.resource "staging" gmem(s: memref<64xf32, #ts.smem>)
  %staging = ts.resource "staging" gmem(s: memref<64xf32, #ts.smem>)
  // CHECK: %[[STORE:.*]] = ts.resource "store" smem(bars: memref<64xi64, #ts.smem> unstaged align 8 at 1024)
  %store = ts.resource "store" smem(bars: memref<64xi64> unstaged align 8 at 1024)
  // CHECK: %[[AB:.*]] = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>, b: memref<128x64xbf16, #ts.smem<128>>)
  // CHECK-SAME: pipeline(tma_umma, stages = 4, num_bytes = 32768, producer_count = 1, consumer_count = 2,
  // CHECK-SAME: producer_signal = cta_leader, consumer_signal = cta_leader|task_warp_leader, consumer_wait_signal = all,
  // CHECK-SAME: advance_on_wait, advance_on_acquire, interleave = 2, bytes_per_warp_per_cta = 512, mcast = (1, 2), cta_layout = (2, 1, 1, 1))
  // CHECK-SAME: producer_uses(a, b) consumer_uses(b) barriers(%[[STORE]] : "bars") {note = "kept"}
  %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>,
                              b: memref<128x64xbf16, #ts.smem<128>>)
      pipeline(tma_umma, stages = 4, num_bytes = 32768, producer_count = 1, consumer_count = 2,
               producer_signal = cta_leader, consumer_signal = cta_leader|task_warp_leader,
               consumer_wait_signal = all, advance_on_wait, advance_on_acquire, interleave = 2,
               bytes_per_warp_per_cta = 512, mcast = (1, 2), cta_layout = (2, 1, 1, 1))
      producer_uses(a, b) consumer_uses(b) barriers(%store : "bars") {note = "kept"}
  // CHECK: ts.resource "lanes" smem(x: memref<64xf32, #ts.smem>) pipeline(async_async, stages = 4, interleave = (1, 2, 1, 2), producer_op = load)
  %lanes = ts.resource "lanes" smem(x: memref<64xf32>)
      pipeline(async_async, stages = 4, interleave = (1, 2, 1, 2), producer_op = load)
  // CHECK: ts.resource "t1" smem(x: memref<64xf32, #ts.smem>) pipeline(tma_async, stages = 2)
  %t1 = ts.resource "t1" smem(x: memref<64xf32>) pipeline(tma_async, stages = 2)
  // CHECK: %[[ACC:.*]] = ts.resource "acc" tmem(c: memref<128x128xf32, #ts.tmem>, s: memref<64xf32, #ts.smem>) pipeline(umma_async, stages = 2)
  %acc = ts.resource "acc" tmem(c: memref<128x128xf32>, s: memref<64xf32, #ts.smem>)
      pipeline(umma_async, stages = 2)
  // CHECK: ts.resource "p" tmem(c: memref<128x64xbf16, #ts.tmem>) pipeline(async_umma, stages = 1)
  %p = ts.resource "p" tmem(c: memref<128x64xbf16>) pipeline(async_umma, stages = 1)
  // CHECK: ts.resource "u" barrier pipeline(umma_umma, stages = 1)
  %u = ts.resource "u" barrier pipeline(umma_umma, stages = 1)
  // CHECK: %[[Q:.*]] = ts.work_queue "tiles" static over(%tiles, %tiles) group(8) skip(%{{.*}}, %{{.*}}) {
  // CHECK: arith.cmpi
  // CHECK-NEXT: ts.yield %{{.*}} : i1
  // CHECK-NEXT: } {note = "kept"}
  %queue = ts.work_queue "tiles" static over(%tiles, %tiles) group(8) skip(%m, %k) {
    %skip = arith.cmpi ult, %m, %k : index
    ts.yield %skip : i1
  } {note = "kept"}
  // CHECK: ts.work_queue "clc" clc over(%tiles) pipeline(clc_fetch_async, stages = 2) throttle(%[[GMEM]])
  %clc = ts.work_queue "clc" clc over(%tiles) pipeline(clc_fetch_async, stages = 2) throttle(%gmem)
  // CHECK: ts.pdl "previous"
  %pdl = ts.pdl "previous"
  // CHECK: ts.baton "order" holders(2) first(1)
  %baton = ts.baton "order" holders(2) first(1)
  // CHECK: ts.baton "order0" holders(3){{$}}
  %baton0 = ts.baton "order0" holders(3)
  // CHECK: ts.depends %[[AB]] on %[[GMEM]]{{$}}
  ts.depends %ab on %gmem
  // CHECK: ts.depends %[[ACC]] on %[[AB]], %[[ACC]] ordering
  ts.depends %acc on %ab, %acc ordering
  // CHECK: ts.alias_group "reuse"(%{{.*}}, %{{.*}}, %{{.*}}) phases [1, 2]
  ts.alias_group "reuse" (%lanes, %t1, %store) phases [1, 2]
  // CHECK: ts.pipeline_group "merged" merge(%{{.*}}, %{{.*}})
  %merged = ts.pipeline_group "merged" merge(%lanes, %t1)
  // CHECK: ts.pipeline_group "forked" fork(%{{.*}}, %{{.*}})
  %forked = ts.pipeline_group "forked" fork(%lanes, %t1)
  // CHECK: ts.pipeline_group "fused" fused_merge(%{{.*}}, %{{.*}})
  %fused = ts.pipeline_group "fused" fused_merge(%lanes, %t1)

  // CHECK: ts.task "roles" warps(4, 8) replicas(2) (%[[R:.*]]) registers(232) only_cta(1) reads(%[[AB]], %[[Q]]) writes(%[[ACC]]) attributes {note = "kept"} {
  ts.task "roles" warps(4, 8) replicas(2) (%r) registers(232) only_cta(1) reads(%ab, %queue)
      writes(%acc) attributes {note = "kept"} {
    // CHECK: ts.griddep_wait
    ts.griddep_wait %pdl
    // CHECK: %{{.*}} = ts.tile_loop %[[Q]] (%[[M:.*]], %[[N:.*]]) iter(%[[S:.*]] = %{{.*}} : index) {
    %last = ts.tile_loop %queue (%m, %k) iter(%s = %c0 : index) {
      // CHECK: ts.skippable {
      ts.skippable {
        // CHECK: ts.try_acquire %[[ACC]]
        ts.try_acquire %acc
        // CHECK: ts.acquire %[[ACC]]
        ts.acquire %acc
        // CHECK: ts.for %[[I:.*]] = %{{.*}} to %trips step %{{.*}} unroll(4) iter(%{{.*}} = %{{.*}} : i1, %{{.*}} = %{{.*}} : index) attributes {note = "kept"} {
        %x:2 = ts.for %i = %c0 to %trips step %c1 unroll(4) iter(%f = %true : i1, %g = %c0 : index)
            attributes {note = "kept"} {
          // CHECK: ts.try_wait %[[AB]]
          ts.try_wait %ab
          // CHECK: ts.wait %[[AB]]
          ts.wait %ab
          // CHECK: %[[V:.*]]:2 = ts.consume %[[AB]] "operands" (%[[VA:.*]], %[[VB:.*]]) uses(%[[R]], %[[I]] : index, index) -> (memref<128x64xbf16, #ts.smem<128>>, index) attributes {note = "kept"} {
          // CHECK: ts.yield %[[VA]], %{{.*}} : memref<128x64xbf16, #ts.smem<128>>, index
          %va, %vi = ts.consume %ab "operands" (%a, %b) uses(%r, %i : index, index)
              -> memref<128x64xbf16, #ts.smem<128>>, index attributes {note = "kept"} {
            ts.yield %a, %r : memref<128x64xbf16, #ts.smem<128>>, index
          }
          // CHECK: ts.produce %[[ACC]] "empty" {
          ts.produce %acc "empty" {
          }
          // CHECK: ts.produce %[[ACC]] "helper" aux {
          ts.produce %acc "helper" aux {
          }
          // CHECK: ts.produce %[[ACC]] "nothing" declared{{$}}
          ts.produce %acc "nothing" declared
          // CHECK: ts.produce %[[ACC]] "mma" uses(%[[V]]#1 : index) declared bytes(0) effects [#ts.effect<write "c", offset = 16, size = 32, engine = umma>, #ts.effect<read>] {note = "kept"}
          ts.produce %acc "mma" uses(%vi : index) declared bytes(0)
              effects [#ts.effect<write "c", offset = 16, size = 32, engine = umma>, #ts.effect<read>]
              {note = "kept"}
          // CHECK: ts.consume %[[AB]] "scalar" -> index declared
          %d = ts.consume %ab "scalar" -> index declared
          // CHECK: ts.guard first {
          ts.guard first {
          }
          // CHECK: ts.guard last {
          // CHECK: } else {
          ts.guard last {
          } else {
          }
          // CHECK: ts.guard every 3 {
          ts.guard every 3 {
          }
          // CHECK: ts.guard not_last {
          ts.guard not_last {
          }
          // CHECK: ts.guard not_first -> (index, i1) attributes {note = "kept"} {
          // CHECK: ts.yield %{{.*}}, %{{.*}} : index, i1
          // CHECK: } else {
          // CHECK: ts.yield %{{.*}}, %{{.*}} : index, i1
          %w:2 = ts.guard not_first -> (index, i1) attributes {note = "kept"} {
            ts.yield %d, %f : index, i1
          } else {
            ts.yield %i, %f : index, i1
          }
          // CHECK: ts.release %[[AB]]
          ts.release %ab
          ts.yield %w#1, %w#0 : i1, index
        }
        // CHECK: ts.commit %[[ACC]]
        ts.commit %acc
      }
      // CHECK: ts.take
      ts.take %baton
      // CHECK: ts.pass
      ts.pass %baton
      // CHECK: ts.next_tile %[[Q]]
      ts.next_tile %queue
      // CHECK: ts.yield %[[S]] : index
      ts.yield %s : index
    }
    // CHECK: ts.when %{{.*}} is true key("causal") {
    ts.when %true is true key("causal") {
    }
    // CHECK: ts.when %{{.*}} is true {
    ts.when %true {
    }
    // CHECK: ts.when %{{.*}} is false -> index attributes {note = "kept"} {
    // CHECK: } else {
    %y = ts.when %true is false -> index attributes {note = "kept"} {
      ts.yield %c0 : index
    } else {
      ts.yield %c1 : index
    }
    // CHECK: ts.for %{{.*}} = %{{.*}} to %{{.*}} {
    ts.for %i = %c0 to %c1 {
    }
    // CHECK: ts.tile_loop %[[Q]] {
    ts.tile_loop %queue {
      ts.next_tile %queue
    }
    // CHECK: ts.griddep_launch
    ts.griddep_launch %pdl
  }
  // CHECK: ts.task "scheduler" warps(0, 1) reads(%[[CLC:.*]]) writes(%[[CLC]]) {
  ts.task "scheduler" warps(0, 1) reads(%clc) writes(%clc) {
    ts.tile_loop %clc {
      ts.acquire %clc
      // CHECK: ts.fetch_tile %[[CLC]]
      ts.fetch_tile %clc
      ts.commit %clc
      ts.next_tile %clc
    }
  }
  // CHECK: ts.task "idle" warps(1, 1) {
  ts.task "idle" warps(1, 1) {
  }
}

// CHECK-LABEL: ts.kernel @bare() warps(1) {
// CHECK-NEXT: }
ts.kernel @bare() warps(1) {
}
}
