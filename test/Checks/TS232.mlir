// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS232: what threads wrote is fenced, and the threads have met, before an engine takes it.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_fence(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.warp_sync
        // expected-error @+1 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.warp_sync' behind it}}
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// The elected thread has fenced its own stores, not those of its 31 neighbours.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_sync(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.fence proxy_async_shared
        // expected-error @+1 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, and the fence is there, but nothing makes the issuing thread wait for the others; put 'ts.warp_sync' between the fence and the read}}
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// The fence orders stores of the threads that execute it, so it stands in front of the meeting.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @fence_behind_sync(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.warp_sync
        ts.fence proxy_async_shared
        // expected-error @+1 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, and the fence is there, but nothing makes the issuing thread wait for the others; put 'ts.warp_sync' between the fence and the read}}
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_thread_fences(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.elect {
          ts.fence proxy_async_shared
        }
        ts.warp_sync
        // expected-error @+1 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.warp_sync' behind it}}
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// Four warps store, one sends: the warps have to meet.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @other_warps(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 4) writes(%dst) {
      %lane = ts.info lane : index
      %warp = ts.info warp : index
      %first = arith.cmpi eq, %warp, %c0 : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.fence proxy_async_shared
        ts.warp_sync
        scf.if %first {
          // expected-error @+2 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, and the fence is there, but 'ts.warp_sync' orders only the threads of one warp, and the issuing thread depends on stores of other warps; use 'ts.barrier_sync' instead}}
          // expected-note @+1 {{on the path with the condition: yes}}
          ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @first_warp_fences(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "store" warps(0, 4) writes(%dst) {
      %lane = ts.info lane : index
      %warp = ts.info warp : index
      %first = arith.cmpi eq, %warp, %c0 : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        scf.if %first {
          ts.fence proxy_async_shared
        }
        ts.barrier_sync %meet
        scf.if %first {
          // expected-error @+2 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.barrier_sync' behind it}}
          // expected-note @+1 {{on the path with the condition: yes}}
          ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_path(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        scf.if %flag {
          ts.fence proxy_async_shared
        }
        ts.warp_sync
        // expected-error @+2 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.warp_sync' behind it}}
        // expected-note @+1 {{on the path with flag: no}}
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// A loop may run zero times.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @zero_trips(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      %c1 = arith.constant 1 : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        scf.for %j = %c0 to %n step %c1 {
          ts.fence proxy_async_shared
          ts.warp_sync
        }
        // expected-error @+2 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.warp_sync' behind it}}
        // expected-note @+1 {{on the path with n > 0: no}}
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// The store of one iteration is sent in the next.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @next_iteration(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %n {
        ts.produce %dst "store" (%s) {
          // expected-error @+2 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'vector.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.warp_sync' behind it}}
          // expected-note @+1 {{on the path with n > 0: yes, first iteration: no, last iteration: no}}
          ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
          ts.bulk_commit
          ts.bulk_wait 0 read
          // expected-note @+1 {{written here}}
          vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
          ts.warp_sync
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @bulk(%G: memref<1024xf32>) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<1024xf32, #ts.smem>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      %f = arith.constant 1.0 : f32
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        memref.store %f, %s[%lane] : memref<1024xf32, #ts.smem>
        ts.warp_sync
        // expected-error @+1 {{[TS232] 'ts.bulk_store' reads 'd.stage' through the async proxy after 'memref.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.warp_sync' behind it}}
        ts.bulk_store %s to %G[%c0] : memref<1024xf32, #ts.smem>, memref<1024xf32>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// A copy that overwrites what threads stored has the same need.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @zero_fill_then_load(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %t = ts.resource "t" smem(x: memref<32x32xf32, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.task "load" warps(0, 1) writes(%t) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %n {
        ts.acquire %t
        ts.produce %t "load" (%s) {
          // expected-note @+1 {{written here}}
          vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
          ts.warp_sync
          // expected-error @+2 {{[TS232] 'ts.tma_load' overwrites 't.x' through the async proxy after 'vector.store' of the same task wrote it through the generic one, but the writing threads execute no 'ts.fence proxy_async_shared' in between, so the engine may miss the stores; put the fence behind the stores, in all threads that store, and 'ts.warp_sync' behind it}}
          // expected-note @+1 {{on the path with n > 0: yes, first iteration: yes, last iteration: yes}}
          ts.tma_load %D[%c0, %c0] to %s : !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, memref<32x32xf32, #ts.smem<128>>
        }
        ts.commit %t
      }
    }
    ts.task "drain" warps(4, 4) reads(%t) {
      ts.for %i = %c0 to %n {
        ts.wait %t
        ts.release %t
      }
    }
  }
}

// -----

// cp.async writes through the generic proxy, and later.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @copies_in_flight(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %X: memref<1024xf32>) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        // expected-note @+1 {{written here}}
        ts.cp_async %X[%c0] to %s[%lane, %c0], 16 : memref<1024xf32>, memref<32x32xf32, #ts.smem<128>>
        ts.cp_async_commit
        ts.warp_sync
        // expected-error @+1 {{[TS232] 'ts.tma_store' reads 'd.stage' through the async proxy after 'ts.cp_async' of the same task wrote it through the generic one, but the copies of the threads are not waited for; put 'ts.cp_async_wait 0', 'ts.fence proxy_async_shared' and 'ts.warp_sync' between them}}
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// Each warp's tensor core reads rows that other warps stored.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @wgmma() warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %s = ts.resource "s" smem(a: memref<64x64xbf16, #ts.smem<128>>, b: memref<64x64xbf16, #ts.smem<128>>)
    %o = ts.resource "o" gmem
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "mma" warps(0, 4) reads(%s) writes(%s, %o) {
      %t = ts.info lane : index
      %x = arith.constant dense<1.0> : vector<8xbf16>
      ts.produce %s "fill" (%a, %b) {
        // expected-note @+1 {{written here}}
        vector.store %x, %b[%t, %c0] : memref<64x64xbf16, #ts.smem<128>>, vector<8xbf16>
        ts.fence proxy_async_shared
        ts.warp_sync
      }
      %a, %b = ts.consume %s "operands" (%va, %vb) -> memref<64x64xbf16, #ts.smem<128>>, memref<64x64xbf16, #ts.smem<128>> {
        ts.yield %va, %vb : memref<64x64xbf16, #ts.smem<128>>, memref<64x64xbf16, #ts.smem<128>>
      }
      %zero = ts.wgmma_zero : !ts.wgmma<64x64xf32>
      // expected-error @+1 {{[TS232] 'ts.wgmma' reads 's.b' through the async proxy after 'vector.store' of the same task wrote it through the generic one, and the fence is there, but 'ts.warp_sync' orders only the threads of one warp, and the issuing thread depends on stores of other warps; use 'ts.barrier_sync' instead}}
      %issued = ts.wgmma %a, %b, %zero : memref<64x64xbf16, #ts.smem<128>>, memref<64x64xbf16, #ts.smem<128>>, !ts.wgmma<64x64xf32>
      ts.wgmma_commit
      %sum = ts.wgmma_wait 0, %issued : !ts.wgmma<64x64xf32> -> !ts.fragment<64x64xf32>
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @tmem_no_fence() warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %s = ts.resource "s" smem(b: memref<128x64xbf16, #ts.smem<128>>)
    %p = ts.resource "p" tmem(a: memref<128x64xbf16>)
    %acc = ts.resource "acc" tmem(c: memref<128x128xf32>)
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "mma" warps(0, 4) reads(%s) writes(%p, %acc) {
      %x = arith.constant dense<1.0> : vector<32xbf16>
      %b = ts.consume %s "operand" (%vb) -> memref<128x64xbf16, #ts.smem<128>> {
        ts.yield %vb : memref<128x64xbf16, #ts.smem<128>>
      }
      %a = ts.produce %p "probabilities" (%va) -> memref<128x64xbf16, #ts.tmem> {
        // expected-note @+1 {{written here}}
        ts.tmem_store %x to %va[%c0] : vector<32xbf16>, memref<128x64xbf16, #ts.tmem>
        ts.yield %va : memref<128x64xbf16, #ts.tmem>
      }
      ts.barrier_sync %meet
      ts.produce %acc "mma" (%c) {
        // expected-error @+1 {{[TS232] 'ts.umma' accesses columns of 'p.a' that 'ts.tmem_store' of the same task wrote, but tcgen05 stores of threads are ordered by fences only; put 'ts.fence tcgen05_before', 'ts.barrier_sync' and 'ts.fence tcgen05_after' between them, or commit the resource and wait for it}}
        ts.umma %c, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @tmem_no_sync() warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %s = ts.resource "s" smem(b: memref<128x64xbf16, #ts.smem<128>>)
    %p = ts.resource "p" tmem(a: memref<128x64xbf16>)
    %acc = ts.resource "acc" tmem(c: memref<128x128xf32>)
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "mma" warps(0, 4) reads(%s) writes(%p, %acc) {
      %x = arith.constant dense<1.0> : vector<32xbf16>
      %b = ts.consume %s "operand" (%vb) -> memref<128x64xbf16, #ts.smem<128>> {
        ts.yield %vb : memref<128x64xbf16, #ts.smem<128>>
      }
      %a = ts.produce %p "probabilities" (%va) -> memref<128x64xbf16, #ts.tmem> {
        // expected-note @+1 {{written here}}
        ts.tmem_store %x to %va[%c0] : vector<32xbf16>, memref<128x64xbf16, #ts.tmem>
        ts.yield %va : memref<128x64xbf16, #ts.tmem>
      }
      ts.fence tcgen05_before
      ts.fence tcgen05_after
      ts.produce %acc "mma" (%c) {
        // expected-error @+1 {{[TS232] 'ts.umma' accesses columns of 'p.a' that 'ts.tmem_store' of the same task wrote, but behind 'ts.fence tcgen05_before' no synchronisation of the task's warps follows; put 'ts.barrier_sync' and 'ts.fence tcgen05_after' behind it}}
        ts.umma %c, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @tmem_half() warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %s = ts.resource "s" smem(b: memref<128x64xbf16, #ts.smem<128>>)
    %p = ts.resource "p" tmem(a: memref<128x64xbf16>)
    %acc = ts.resource "acc" tmem(c: memref<128x128xf32>)
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "mma" warps(0, 4) reads(%s) writes(%p, %acc) {
      %x = arith.constant dense<1.0> : vector<32xbf16>
      %b = ts.consume %s "operand" (%vb) -> memref<128x64xbf16, #ts.smem<128>> {
        ts.yield %vb : memref<128x64xbf16, #ts.smem<128>>
      }
      %a = ts.produce %p "probabilities" (%va) -> memref<128x64xbf16, #ts.tmem> {
        // expected-note @+1 {{written here}}
        ts.tmem_store %x to %va[%c0] : vector<32xbf16>, memref<128x64xbf16, #ts.tmem>
        ts.yield %va : memref<128x64xbf16, #ts.tmem>
      }
      ts.fence tcgen05_before
      ts.barrier_sync %meet
      ts.produce %acc "mma" (%c) {
        // expected-error @+1 {{[TS232] 'ts.umma' accesses columns of 'p.a' that 'ts.tmem_store' of the same task wrote, but 'ts.fence tcgen05_after' is missing behind the synchronisation; put it in front of this op}}
        ts.umma %c, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>
      }
    }
  }
}

// -----

// No fence tells when the matrix unit is done.
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @not_committed() warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %s = ts.resource "s" smem(a: memref<128x64xbf16, #ts.smem<128>>, b: memref<128x64xbf16, #ts.smem<128>>)
    %acc = ts.resource "acc" tmem(c: memref<128x128xf32>)
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "mma" warps(0, 4) reads(%s) writes(%acc) {
      %a, %b = ts.consume %s "operands" (%va, %vb) -> memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>> {
        ts.yield %va, %vb : memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
      }
      ts.produce %acc "mma" (%c) {
        // expected-note @+1 {{written here}}
        ts.umma %c, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
        ts.fence tcgen05_before
        ts.barrier_sync %meet
        ts.fence tcgen05_after
        // expected-error @+1 {{[TS232] 'ts.tmem_load' accesses columns of 'acc.c' that 'ts.umma' of the same task wrote, but the matrix unit works asynchronously and only a commit tells when it has ended; commit the resource (or the ring that tracks the work) and wait for it before this op}}
        %sum = ts.tmem_load %c[%c0] : memref<128x128xf32, #ts.tmem> -> vector<32xf32>
      }
    }
  }
}

// -----

// The forms below are right: no finding.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.fence proxy_async_shared
        ts.warp_sync
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right_per_warp(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<4x32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 4) writes(%dst) {
      %lane = ts.info lane : index
      %warp = ts.info warp : index
      ts.produce %dst "store" (%s) {
        %w = memref.subview %s[%warp, 0, 0] [1, 32, 32] [1, 1, 1] : memref<4x32x32xf32, #ts.smem<128>> to memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
        vector.store %v, %w[%lane, %c0] : memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>, vector<32xf32>
        ts.fence proxy_async_shared
        ts.warp_sync
        ts.tma_store %w to %D[%c0, %c0] : memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right_barrier(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "store" warps(0, 4) writes(%dst) {
      %lane = ts.info lane : index
      %warp = ts.info warp : index
      %first = arith.cmpi eq, %warp, %c0 : index
      ts.produce %dst "store" (%s) {
        vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        ts.fence proxy_async_shared
        ts.barrier_sync %meet
        scf.if %first {
          ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right_one_thread(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        ts.elect {
          vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
          ts.fence proxy_async_shared
          ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        }
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

// Without an iteration there is nothing to fence.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right_in_the_loop(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      %c1 = arith.constant 1 : index
      ts.produce %dst "store" (%s) {
        scf.for %j = %c0 to %n step %c1 {
          vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
          ts.fence proxy_async_shared
        }
        ts.warp_sync
        ts.tma_store %s to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right_two_halves(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %dst = ts.resource "d" gmem(stage: memref<2x32x32xf32, #ts.smem<128>>)
    ts.task "store" warps(0, 1) writes(%dst) {
      %lane = ts.info lane : index
      ts.produce %dst "store" (%s) {
        %a = memref.subview %s[0, 0, 0] [1, 32, 32] [1, 1, 1] : memref<2x32x32xf32, #ts.smem<128>> to memref<32x32xf32, strided<[32, 1]>, #ts.smem<128>>
        %b = memref.subview %s[1, 0, 0] [1, 32, 32] [1, 1, 1] : memref<2x32x32xf32, #ts.smem<128>> to memref<32x32xf32, strided<[32, 1], offset: 1024>, #ts.smem<128>>
        vector.store %v, %a[%lane, %c0] : memref<32x32xf32, strided<[32, 1]>, #ts.smem<128>>, vector<32xf32>
        ts.fence proxy_async_shared
        ts.warp_sync
        vector.store %v, %b[%lane, %c0] : memref<32x32xf32, strided<[32, 1], offset: 1024>, #ts.smem<128>>, vector<32xf32>
        ts.tma_store %a to %D[%c0, %c0] : memref<32x32xf32, strided<[32, 1]>, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.fence proxy_async_shared
        ts.warp_sync
        ts.tma_store %b to %D[%c0, %c0] : memref<32x32xf32, strided<[32, 1], offset: 1024>, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
        ts.bulk_commit
        ts.bulk_wait 0 read
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @right_tmem() warps(4) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %s = ts.resource "s" smem(b: memref<128x64xbf16, #ts.smem<128>>)
    %p = ts.resource "p" tmem(a: memref<128x64xbf16>)
    %acc = ts.resource "acc" tmem(c: memref<128x128xf32>)
    %meet = ts.named_barrier "meet" threads(128)
    ts.task "mma" warps(0, 4) reads(%s) writes(%p, %acc) {
      %x = arith.constant dense<1.0> : vector<32xbf16>
      %b = ts.consume %s "operand" (%vb) -> memref<128x64xbf16, #ts.smem<128>> {
        ts.yield %vb : memref<128x64xbf16, #ts.smem<128>>
      }
      %a = ts.produce %p "probabilities" (%va) -> memref<128x64xbf16, #ts.tmem> {
        ts.tmem_store %x to %va[%c0] : vector<32xbf16>, memref<128x64xbf16, #ts.tmem>
        ts.yield %va : memref<128x64xbf16, #ts.tmem>
      }
      ts.fence tcgen05_before
      ts.barrier_sync %meet
      ts.fence tcgen05_after
      ts.produce %acc "mma" (%c) {
        ts.umma %c, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>
      }
    }
  }
}

// -----

// A ring's own steps bring the fences.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right_ring(%D: !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>, %n: index, %flag: i1) warps(1) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32xf32>
    %t = ts.resource "t" smem(x: memref<32x32xf32, #ts.smem<128>>) pipeline(async_async, stages = 2)
    %dst = ts.resource "d" gmem
    ts.task "both" warps(0, 1) reads(%t) writes(%t, %dst) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %n {
        ts.acquire %t
        ts.produce %t "fill" (%s) {
          vector.store %v, %s[%lane, %c0] : memref<32x32xf32, #ts.smem<128>>, vector<32xf32>
        }
        ts.commit %t
        ts.wait %t
        %x = ts.consume %t "tile" (%s) -> memref<32x32xf32, #ts.smem<128>> {
          ts.yield %s : memref<32x32xf32, #ts.smem<128>>
        }
        ts.produce %dst "store" {
          ts.tma_store %x to %D[%c0, %c0] : memref<32x32xf32, #ts.smem<128>>, !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %t
      }
    }
  }
}
