// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of pipelines with AsyncThread producers forbid. The first kernels are right.

!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(async_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "convert" warps(0, 4) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !b, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !a, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(8, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %y : !acc, !a, !b
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

!t = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
!frag = !ts.fragment<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @k(%k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !t, b: !t) pipeline(async_async, stages = 2)
    ts.depends %ab on %g
    ts.task "convert" warps(0, 2) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !t, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !t, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(4, 4) reads(%ab) {
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !t, !t {
          ts.yield %va, %vb : !t, !t
        }
        %issued = ts.wgmma %x, %y, %c : !t, !t, !acc
        ts.wgmma_commit
        %next = ts.wgmma_wait 0, %issued : !acc -> !acc
        ts.release %ab
        ts.yield %next : !acc
      }
    }
  }
}

// -----

// A count of warps: with AsyncThread each thread of the producers arrives.
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS215] producer count of 'ab' is 4, expected 128 arrivals per phase by 'commit': the barrier completes too early; write 128, or leave the count out to have it inferred}}
    // expected-note @+1 {{expected: 4 warps x 32 threads of 'convert' = 128}}
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(async_umma, stages = 2, producer_count = 4)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "convert" warps(0, 4) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !b, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !a, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(8, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %y : !acc, !a, !b
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// The type that was right while TMA filled the stages: nobody would count bytes.
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(tma_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "convert" warps(0, 4) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        // expected-error @+1 {{[TS217] task 'convert' acquires 'ab', whose barrier counts the bytes of copies, but issues no copy into it, so the phase never completes; issue the copy between acquire and commit, or use async_async for stores by threads}}
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !b, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !a, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(8, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %y : !acc, !a, !b
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// wgmma reads the stage, but who waits for it is a tensor core of Blackwell.
!t = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
!frag = !ts.fragment<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @k(%k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS227] sm_90a has no pipeline with a UMMA side; compile for one of sm_100a, sm_100f, sm_103a, or use tma_async or async_async}}
    // expected-error @+1 {{[TS215] 'ab' is async_umma, but its consumer works through wgmma, whose end tcgen05.commit does not wait for; choose the pipeline type whose consumer is what touches the memory}}
    %ab = ts.resource "ab" smem(a: !t, b: !t) pipeline(async_umma, stages = 2)
    ts.depends %ab on %g
    ts.task "convert" warps(0, 2) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !t, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !t, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(4, 4) reads(%ab) {
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !t, !t {
          ts.yield %va, %vb : !t, !t
        }
        %issued = ts.wgmma %x, %y, %c : !t, !t, !acc
        ts.wgmma_commit
        %next = ts.wgmma_wait 0, %issued : !acc -> !acc
        ts.release %ab
        ts.yield %next : !acc
      }
    }
  }
}

// -----

// Lanes on the side of the tensor core.
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    // expected-error @+3 {{[TS221] consumer of 'ab' is interleaved, but async_umma supports lanes on its producer side only; use stride 1 for wait and release}}
    // expected-error @+2 {{[TS221] task 'convert' executes 'acquire' of 'ab' with stride 2, but has 4 warps and its loop starts at 0 with step 1; give the task 2 warps (one lane each), or make one task per lane with loop start 0 to 1 and step 2}}
    // expected-error @+1 {{[TS221] task 'mma' executes 'wait' of 'ab' with stride 2, but has 1 warp and its loop starts at 0 with step 1; give the task 2 warps (one lane each), or make one task per lane with loop start 0 to 1 and step 2}}
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(async_umma, stages = 2, interleave = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    // expected-note @+1 {{task 'convert' takes part here}}
    ts.task "convert" warps(0, 4) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !b, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !a, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    // expected-note @+1 {{task 'mma' takes part here}}
    ts.task "mma" warps(8, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %y : !acc, !a, !b
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// The stage is given back while wgmma still reads it.
!t = memref<64x64xbf16, #ts.smem<128>>
!acc = !ts.wgmma<64x64xf32>
!frag = !ts.fragment<64x64xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: make the second access wait for the first: close its bracket before, or let the ring order them}}
  ts.kernel @k(%k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !t, b: !t) pipeline(async_async, stages = 2)
    ts.depends %ab on %g
    ts.task "convert" warps(0, 2) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          // expected-error @+2 {{[TS302] race when k >= 3: 'convert' and 'mma' touch the same memory and nothing orders them}}
          // expected-note @+1 {{write of 'ab.a' stage 0, bytes [0, 8192), by 'convert'}}
          vector.store %v, %x[%t, %c0] : !t, vector<8xbf16>
          vector.store %v, %y[%c0, %c0] : !t, vector<8xbf16>
        }
        ts.commit %ab
      }
    }
    ts.task "mma" warps(4, 4) reads(%ab) {
      %zero = ts.wgmma_zero : !acc
      %sum = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !t, !t {
          ts.yield %va, %vb : !t, !t
        }
        // expected-note @+1 {{read of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'mma'}}
        %issued = ts.wgmma %x, %y, %c : !t, !t, !acc
        ts.wgmma_commit
        ts.release %ab
        %next = ts.wgmma_wait 0, %issued : !acc -> !acc
        ts.yield %next : !acc
      }
    }
  }
}

// -----

// The commit stands in front of the stores that it is to publish.
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(async_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "convert" warps(0, 4) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        // expected-note @+1 {{this acquire's bracket is closed before it}}
        ts.acquire %ab
        ts.commit %ab
        // expected-error @+2 {{[TS105] work 'convert' writes 'ab' outside of acquire and commit in task 'convert', when the stage belongs to the consumer; put it between them, or mark it 'aux' if it touches no memory}}
        // expected-note @+1 {{on the path with k > 0: yes, first iteration: yes, last iteration: yes}}
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !b, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !a, vector<8xbf16>
        }
      }
    }
    ts.task "mma" warps(8, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %y : !acc, !a, !b
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}

// -----

// A tail that commits and acquires no more: the consumer is a step behind for good.
!a = memref<128x64xbf16, #ts.smem<128>>
!b = memref<64x64xbf16, #ts.smem<128>>
!acc = memref<128x64xf32, #ts.tmem>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @k(%k: index) warps(9) {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<8xbf16>
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !a, b: !b) pipeline(async_umma, stages = 2)
    %acc = ts.resource "acc" tmem(c: !acc) pipeline(umma_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %acc on %ab
    ts.task "convert" warps(0, 4) reads(%g) writes(%ab) {
      %t = ts.info thread : index
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        // expected-error @+2 {{[TS105] task 'convert' ends with 1 stage(s) of 'ab' acquired and not committed on some path, so the consumer never gets them; commit on every path}}
        // expected-note @+1 {{on the path with k > 0: yes}}
        ts.acquire %ab
        ts.produce %ab "convert" (%x, %y) {
          vector.store %v, %y[%c0, %c0] : !b, vector<8xbf16>
          vector.store %v, %x[%t, %c0] : !a, vector<8xbf16>
        }
        ts.guard not_last {
          ts.commit %ab
        }
      }
    }
    ts.task "mma" warps(8, 1) reads(%ab) writes(%acc) {
      ts.acquire %acc
      ts.for %i = %c0 to %k {
        ts.wait %ab
        %x, %y = ts.consume %ab "operands" (%va, %vb) -> !a, !b {
          ts.yield %va, %vb : !a, !b
        }
        ts.produce %acc "mma" (%c) {
          ts.umma %c, %x, %y : !acc, !a, !b
        }
        ts.release %ab
      }
      ts.commit %acc
    }
    ts.task "epi" warps(4, 4) reads(%acc) {
      ts.wait %acc
      ts.consume %acc "ld" (%c) {
        %x = ts.tmem_load %c[%c0] : !acc -> vector<32xf32>
      }
      ts.release %acc
    }
  }
}
