// RUN: ts-opt %s --pass-pipeline="builtin.module(gpu.module(ts-infer-pipelines{remarks=false}))" 2>&1 | FileCheck %s
// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines,ts-infer-pipelines))' 2>/dev/null | FileCheck %s
// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-infer-pipelines))' --verify-diagnostics -o /dev/null
// RUN: ts-opt %s --pass-pipeline="builtin.module(gpu.module(ts-infer-pipelines{remarks=false}))" 2>&1 | FileCheck %s --check-prefix=QUIET
// What pipelines leave out, from the protocol table.
// QUIET-NOT: remark:

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // CHECK-LABEL: ts.kernel @gemm
  // CHECK-SAME: ts.launch_warps = 8 : i64
  // expected-remark @+1 {{launches 8 warps for the 7 of kernel 'gemm', so that every warpgroup is whole}}
  ts.kernel @gemm(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %k: index min 1) warps(7) {
    %c0 = arith.constant 0 : index
    // One arming warp, 16384 bytes per stage; the MMA's commit is one arrival.
    // CHECK: "ab" {{.*}} pipeline(tma_umma, stages = 4, num_bytes = 16384, producer_count = 1, consumer_count = 1)
    // expected-remark @+3 {{inferred producer_count = 1 of 'ab': }}
    // expected-remark @+2 {{inferred consumer_count = 1 of 'ab': }}
    // expected-remark @+1 {{inferred num_bytes = 16384 of 'ab': }}
    %ab = ts.resource "ab" smem(a: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_umma, stages = 4)
    // What is declared stays, what is not is filled in.
    // CHECK: "acc" {{.*}} pipeline(umma_async, stages = 2, producer_count = 1, consumer_count = 128)
    // expected-remark @+1 {{inferred consumer_count = 128 of 'acc': }}
    %acc = ts.resource "acc" tmem(d: memref<128x128xf32>) pipeline(umma_async, stages = 2, producer_count = 1)
    ts.task "load" warps(0, 1) writes(%ab) {
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "load" (%a) {
          ts.tma_load %A[%c0, %c0] to %a : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(1, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        ts.consume %ab "mma" declared effects [#ts.effect<read "a", engine = umma>]
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "store" warps(4, 4) reads(%acc) {
      ts.wait %acc
      %v = ts.consume %acc "store" (%d) -> !ts.async<vector<32xf32>> {
        %c = arith.constant 0 : index
        %x = ts.tmem_load %d[%c] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<32xf32>>
        ts.yield %x : !ts.async<vector<32xf32>>
      }
      ts.release %acc
    }
  }

  // A resource that nobody uses has no count to infer.
  // CHECK-LABEL: ts.kernel @unused
  // CHECK: "u" {{.*}} pipeline(async_async, stages = 2)
  ts.kernel @unused() warps(1) {
    // expected-remark @+2 {{left out producer_count of 'u', it cannot be inferred}}
    // expected-remark @+1 {{left out consumer_count of 'u', it cannot be inferred}}
    %u = ts.resource "u" smem(x: memref<16xf32>) pipeline(async_async, stages = 2)
  }

  // The threads of all consuming tasks arrive at CTA 0; a response is 16 bytes.
  // CHECK-LABEL: ts.kernel @queue
  ts.kernel @queue() warps(3) cluster(2, 1, 1) {
    %c8 = arith.constant 8 : index
    // CHECK: "tiles" {{.*}} pipeline(clc_fetch_async, stages = 2, num_bytes = 16, producer_count = 1, consumer_count = {{[0-9]+}})
    // expected-remark @+4 {{inferred pipeline(clc_fetch_async, stages = 2) of 'tiles'}}
    // expected-remark @+3 {{inferred producer_count = 1 of 'tiles'}}
    // expected-remark @+2 {{inferred consumer_count = 192 of 'tiles': }}
    // expected-remark @+1 {{inferred num_bytes = 16 of 'tiles'}}
    %q = ts.work_queue "tiles" clc over(%c8)
    ts.task "schedule" warps(0, 1) reads(%q) writes(%q) {
      ts.tile_loop %q (%m) {
        ts.acquire %q
        ts.fetch_tile %q
        ts.commit %q
        ts.next_tile %q
      }
    }
    ts.task "work" warps(1, 2) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.next_tile %q
      }
    }
  }

  // The bytes of a fork are armed once, so each member may declare the sum.
  // CHECK-LABEL: ts.kernel @groups
  ts.kernel @groups() warps(2) {
    // CHECK: "a" {{.*}} pipeline(async_async, stages = 2, producer_count = 32, consumer_count = 32)
    // expected-remark @+2 {{inferred producer_count = 32 of 'a'}}
    // expected-remark @+1 {{inferred consumer_count = 32 of 'a'}}
    %a = ts.resource "a" smem(x: memref<16xf32>) pipeline(async_async, stages = 2)
    // CHECK: "b" {{.*}} pipeline(async_async, stages = 2, producer_count = 32, consumer_count = 32)
    // expected-remark @+2 {{inferred producer_count = 32 of 'b'}}
    // expected-remark @+1 {{inferred consumer_count = 32 of 'b'}}
    %b = ts.resource "b" smem(x: memref<16xf32>) pipeline(async_async, stages = 2)
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    ts.task "p" warps(0, 1) writes(%a, %b) {
      ts.acquire %a
      ts.commit %a
      ts.acquire %b
      ts.commit %b
    }
    ts.task "c" warps(1, 1) reads(%a, %b) {
      ts.wait %a
      ts.wait %b
      ts.release %ab
    }
  }
}
