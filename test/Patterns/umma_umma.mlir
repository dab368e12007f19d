// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of UmmaUmma pipelines forbid. The first kernel is right.

!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(umma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.acquire %factors
        ts.produce %factors "copy" (%f) {
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %factors
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// tcgen05.cp ends by itself: an arrival of the thread that issued it says nothing.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    // expected-error @+1 {{[TS215] 'factors' is async_umma, but its producer works through tcgen05.cp, whose end an arrive of its threads does not wait for; choose the pipeline type whose producer is what touches the memory}}
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(async_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.acquire %factors
        ts.produce %factors "copy" (%f) {
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %factors
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// The scales in shared memory are read by the tensor core, not by threads.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    // expected-error @+1 {{[TS215] 'sf' is tma_async, but its consumer works through tcgen05.cp, whose end an arrive of its threads does not wait for; choose the pipeline type whose consumer is what touches the memory}}
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_async, stages = 2)
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(umma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.acquire %factors
        ts.produce %factors "copy" (%f) {
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %factors
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// There are no lanes in a ring of the tensor core.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    // expected-error @+3 {{[TS221] 'factors' is interleaved, but umma_umma does not support lanes; use interleave stride 1}}
    // expected-error @+2 {{[TS221] task 'copy' executes 'acquire' of 'factors' with stride 2, but has 1 warp and its loop starts at 0 with step 1; give the task 2 warps (one lane each), or make one task per lane with loop start 0 to 1 and step 2}}
    // expected-error @+1 {{[TS221] task 'mma' executes 'wait' of 'factors' with stride 2, but has 1 warp and its loop starts at 0 with step 1; give the task 2 warps (one lane each), or make one task per lane with loop start 0 to 1 and step 2}}
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(umma_umma, stages = 2, interleave = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    // expected-note @+1 {{task 'copy' takes part here}}
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.acquire %factors
        ts.produce %factors "copy" (%f) {
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    // expected-note @+1 {{task 'mma' takes part here}}
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %factors
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// A count of threads: each stage is committed and released once, by the tensor core.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    // expected-error @+2 {{[TS215] consumer count of 'factors' is 32, expected 1 arrival per phase by 'release': the barrier never completes; write 1, or leave the count out to have it inferred}}
    // expected-note @+1 {{expected: 1 tcgen05.commit of 'mma' = 1}}
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(umma_umma, stages = 2, consumer_count = 32)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.acquire %factors
        ts.produce %factors "copy" (%f) {
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %factors
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// The products wait for their tiles only.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(umma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.acquire %factors
        ts.produce %factors "copy" (%f) {
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        // expected-error @+2 {{[TS105] work 'factors' reads 'factors' outside of wait and release in task 'mma', when the stage may be overwritten; put it between them, or mark it 'aux' if it touches no memory}}
        // expected-note @+1 {{on the path with k > 0: yes, first iteration: yes, last iteration: yes}}
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// The copies go on without a look at the products.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(umma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        // expected-error @+2 {{[TS105] work 'copy' writes 'factors' outside of acquire and commit in task 'copy', when the stage belongs to the consumer; put it between them, or mark it 'aux' if it touches no memory}}
        // expected-note @+1 {{on the path with k > 0: yes, first iteration: yes, last iteration: yes}}
        ts.produce %factors "copy" (%f) {
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %factors
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// One place for the scales, and no pipeline in between.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: make the second access wait for the first: close its bracket before, or let the ring order them}}
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    %factors = ts.resource "factors" tmem(s: !factors)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.produce %factors "copy" (%f) {
          // expected-note @+1 {{write of 'factors.s', columns [0, 4), asynchronous, by 'copy'}}
          ts.tmem_copy %x to %f "32x128b.warpx4" : !block, !factors
        }
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          // expected-error @+2 {{[TS302] race when k >= 1: 'mma' and 'copy' touch the same memory and nothing orders them}}
          // expected-note @+1 {{read of 'factors.s', columns [0, 4), asynchronous, by 'mma'}}
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// Threads store scales where copies are waited for.
!map = !ts.tensor_map<?x?x32x16xf8E8M0FNU, box = 1x1x32x16>
!ops = !ts.tensor_map<?x?xf8E4M3FN, box = 128x128, swizzle = 128>
!tile = memref<128x128xf8E4M3FN, #ts.smem<128>>
!block = memref<1x1x32x16xf8E8M0FNU, #ts.smem>
!factors = memref<128x16xf8E8M0FNU, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%S: !map, %A: !ops, %k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %ones = arith.constant dense<1.0> : vector<16xf8E8M0FNU>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_umma, stages = 2)
    %sf = ts.resource "sf" smem(s: !block) pipeline(tma_umma, stages = 2)
    // expected-error @+1 {{[TS215] 'factors' is umma_umma, but its producer works through tcgen05.st, whose end tcgen05.commit does not wait for; choose the pipeline type whose producer is what touches the memory}}
    %factors = ts.resource "factors" tmem(s: !factors) pipeline(umma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %sf on %g
    ts.depends %factors on %sf
    ts.depends %acc on %ab, %factors
    ts.task "load" warps(4, 1) reads(%g) writes(%ab, %sf) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sf
        ts.produce %sf "load_scales" (%x) {
          ts.tma_load %S[%c0, %i, %c0, %c0] to %x : !map, !block
        }
        ts.commit %sf
        ts.acquire %ab
        ts.produce %ab "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ops, !tile
        }
        ts.commit %ab
      }
    }
    // expected-error @+1 {{[TS224] task 'copy' uses 'ts.tmem_store', which acts on four warps from a multiple of four on, but has 1 warp(s) from warp 5 on; use warps(8, 4)}}
    ts.task "copy" warps(5, 1) reads(%sf) writes(%factors) {
      ts.for %i = %c0 to %k {
        ts.wait %sf
        %x = ts.consume %sf "block" (%v) -> !block {
          ts.yield %v : !block
        }
        ts.acquire %factors
        ts.produce %factors "copy" (%f) {
          // expected-note @+1 {{used here}}
          ts.tmem_store %ones to %f[%c0] : vector<16xf8E8M0FNU>, !factors
        }
        ts.commit %factors
        ts.release %sf
      }
    }
    ts.task "mma" warps(6, 1) reads(%ab, %factors) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %factors
        %f = ts.consume %factors "factors" (%v) -> !factors {
          ts.yield %v : !factors
        }
        ts.wait %ab
        %x = ts.consume %ab "operand" (%v) -> !tile {
          ts.yield %v : !tile
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %x scales(%f, %f : !factors, !factors) : !acc, !tile, !tile
        }
        ts.release %ab
        ts.release %factors
      }
      ts.commit %acc
    }
    ts.task "epi" warps(0, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}
