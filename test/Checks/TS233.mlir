// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS233: tile orders of static queues, computed as the device does, on the grid or small ones.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @past_32_bits() warps(1) {
    %big = arith.constant 65536 : index
    // expected-error @+1 {{[TS233] work queue 'tiles' has more than 2^31 - 1 tiles, but tiles are numbered in 32 bits, so that some would get the number of another; use larger tiles or several launches}}
    %q = ts.work_queue "tiles" static over(%big, %big)
  }
}

// -----

// 2^20 times 4096 columns is 0 in 32 bits.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @group_wraps(%n: index) warps(1) {
    %c4096 = arith.constant 4096 : index
    // expected-error @+1 {{[TS233] the tile order of work queue 'tiles' with group(1048576) does not visit every tile once: in a grid of 1 x 4096 tiles the decoding of work id 0 divides by zero; use a group no larger than the first tile count}}
    %q = ts.work_queue "tiles" static over(%n, %c4096) group(1048576)
  }
}

// -----

// The built-in orders, one to three dimensions, also with groups larger than the grid.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%n: index) warps(1) {
    %c7 = arith.constant 7 : index
    %a = ts.work_queue "a" static over(%n)
    %b = ts.work_queue "b" static over(%n, %c7) group(3)
    %c = ts.work_queue "c" static over(%c7, %n, %c7) group(1048576)
  }
}
