// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS226: shared and tensor memory.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-error @+2 {{[TS226] kernel 'smem' needs 262144 bytes of dynamic shared memory, but sm_90a gives at most 232448 to one CTA; use fewer stages or smaller tiles, or put allocations that do not live at the same time into an alias group}}
  // expected-note @+1 {{shared memory of @smem: 262144 of 232448 bytes}}
  ts.kernel @smem() warps(1) {
    %big = ts.resource "big" smem(x: memref<256x256xf32> unstaged)
    ts.task "t" warps(0, 1) writes(%big) {
      ts.produce %big "work" {
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  // expected-error @+2 {{[TS226] kernel 'tmem' needs 768 columns of tensor memory, but there are 512; use fewer stages or narrower tiles, or put allocations that do not live at the same time into an alias group}}
  // expected-note @+1 {{shared memory of @tmem}}
  ts.kernel @tmem() warps(1) {
    %big = ts.resource "big" tmem(x: memref<128x768xf32>)
    ts.task "t" warps(0, 1) writes(%big) {
      ts.produce %big "work" {
      }
    }
  }
}
