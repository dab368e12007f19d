// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C46: a tensor-memory address used without allocation or hand-over. The kernel allocates what its
// resources name and hands the address over behind a barrier of the CTA, before any task and so on
// every path, K = 0 too (C44.mlir shows the code). What a program can still get wrong is the sum.

// ERR: error: [TS226] kernel 'too_many_columns' needs 544 columns of tensor memory, but there are 512; use fewer stages or narrower tiles, or put allocations that do not live at the same time into an alias group
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @too_many_columns() warps(1) {
    %a = ts.resource "a" tmem(c: memref<128x256xf32>) pipeline(umma_async, stages = 2)
    %b = ts.resource "b" tmem(c: memref<128x32xf32>)
  }
}

// -----

// OUT: all_columns: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @all_columns() warps(1) {
    %a = ts.resource "a" tmem(c: memref<128x240xf32>) pipeline(umma_async, stages = 2)
    %b = ts.resource "b" tmem(c: memref<128x32xf32>)
  }
}

// -----

// An architecture without tensor memory.
// ERR: error: [TS227] sm_90a has no tensor memory; compile for one of sm_100a, sm_100f, sm_103a, or accumulate in registers with wgmma on sm_90a
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @no_tensor_memory() warps(1) {
    %b = ts.resource "b" tmem(c: memref<128x32xf32>)
  }
}
