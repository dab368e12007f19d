// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS224: warp ranges.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @ranges() warps(8) cluster(2, 1, 1) {
    // expected-note @+1 {{task 'a' has warps 0 to 3}}
    ts.task "a" warps(0, 4) {
    }
    // expected-error @+1 {{[TS224] tasks 'a' and 'b' share warps 2 to 3, where they would run one after the other; give each task warps of its own}}
    ts.task "b" warps(2, 4) {
    }
    // expected-error @+1 {{[TS224] task 'c' runs on warps 6 to 9, but kernel 'ranges' has 8 (0 to 7); move the task or raise the kernel's warps to 10}}
    ts.task "c" warps(6, 4) {
    }
  }
  // One warp may do different things on different CTAs of the cluster.
  ts.kernel @pinned() warps(1) cluster(2, 1, 1) {
    ts.task "first" warps(0, 1) only_cta(0) {
    }
    ts.task "second" warps(0, 1) only_cta(1) {
    }
  }
  ts.kernel @absent_cta() warps(1) cluster(2, 1, 1) {
    // expected-error @+1 {{[TS224] task 't' runs on CTA 2 of the cluster only, which has 2 CTA(s)}}
    ts.task "t" warps(0, 1) only_cta(2) {
    }
  }
}

// -----

!a = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @warpgroups() warps(12) {
    %s = ts.resource "s" smem(a: !a, b: !a)
    // expected-error @+1 {{[TS224] task 'mma' uses 'ts.wgmma', which acts on four warps from a multiple of four on, but has 4 warp(s) from warp 2 on; use warps(4, 4)}}
    ts.task "mma" warps(2, 4) reads(%s) {
      %a, %b = ts.consume %s "operands" (%x, %y) -> !a, !a {
        ts.yield %x, %y : !a, !a
      }
      %zero = ts.wgmma_zero : !ts.wgmma<64x64xf32>
      // expected-note @+1 {{used here}}
      %d = ts.wgmma %a, %b, %zero : !a, !a, !ts.wgmma<64x64xf32>
    }
    // Each replica is a warpgroup.
    ts.task "right" warps(8, 4) reads(%s) {
      %a, %b = ts.consume %s "operands" (%x, %y) -> !a, !a {
        ts.yield %x, %y : !a, !a
      }
      %zero = ts.wgmma_zero : !ts.wgmma<64x64xf32>
      %d = ts.wgmma %a, %b, %zero : !a, !a, !ts.wgmma<64x64xf32>
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @tmem() warps(8) {
    %c0 = arith.constant 0 : index
    %acc = ts.resource "acc" tmem(c: memref<128x64xf32>)
    // expected-error @+1 {{[TS224] task 'store' uses 'ts.tmem_load', which acts on four warps from a multiple of four on, but has 4 warp(s) from warp 3 on; use warps(4, 4)}}
    ts.task "store" warps(3, 4) reads(%acc) {
      ts.consume %acc "columns" (%c) {
        // expected-note @+1 {{used here}}
        %v = ts.tmem_load %c[%c0] : memref<128x64xf32, #ts.tmem> -> vector<32xf32>
      }
    }
  }
}
