// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS227: features of the chip.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @blackwell_on_hopper(%n: index) warps(4) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS227] sm_90a has no tensor memory; compile for one of sm_100a, sm_100f, sm_103a, or accumulate in registers with wgmma on sm_90a}}
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>)
    // expected-error @+1 {{[TS227] sm_90a has no pipeline with a UMMA side; compile for one of sm_100a, sm_100f, sm_103a, or use tma_async or async_async}}
    %r = ts.resource "r" barrier pipeline(umma_umma, stages = 1)
    // expected-error @+1 {{[TS227] sm_90a has no cluster launch control (a clc queue); compile for one of sm_100a, sm_100f, sm_103a, or use a static queue}}
    %queue = ts.work_queue "tiles" clc over(%n)
    ts.task "t" warps(0, 4) reads(%acc) {
      ts.consume %acc "columns" (%c) {
        // expected-error @+2 {{[TS227] sm_90a has no tcgen05 copies and tensor memory accesses; compile for one of sm_100a, sm_100f, sm_103a}}
        // expected-note @+1 {{and 1 more use(s) in kernel 'blackwell_on_hopper'}}
        %v = ts.tmem_load %c[%c0] : memref<128x64xf32, #ts.tmem> -> vector<32xf32>
        %w = ts.tmem_load %c[%c0] : memref<128x64xf32, #ts.tmem> -> vector<32xf32>
      }
    }
  }
}

// -----

!a = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_120a"} {
  ts.kernel @hopper_on_120(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>) warps(4) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(a: !a, b: !a)
    ts.task "mma" warps(0, 4) reads(%s) {
      %a, %b = ts.consume %s "operands" (%x, %y) -> !a, !a {
        // TMA is there.
        ts.tma_prefetch %A[%c0, %c0] : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>
        ts.yield %x, %y : !a, !a
      }
      %zero = ts.wgmma_zero : !ts.wgmma<64x64xf32>
      // expected-error @+1 {{[TS227] sm_120a has no wgmma; compile for one of sm_90a, or use ts.umma and tensor memory}}
      %d = ts.wgmma %a, %b, %zero : !a, !a, !ts.wgmma<64x64xf32>
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90"} {
  ts.kernel @plain_90() warps(4) {
    // expected-error @+1 {{[TS227] sm_90 has no register budgets (setmaxnreg); compile for one of sm_90a, sm_100a, sm_100f, sm_103a, sm_120a, or leave the budgets out}}
    ts.task "t" warps(0, 4) registers(40) {
    }
  }
}
