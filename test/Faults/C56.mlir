// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C56: a swizzled buffer on too weak an alignment.

// ERR: error: [TS228] allocation 't.x' is pinned at 128, which is no multiple of 1024 bytes, the alignment that its swizzle or engine asks for; pin it at 0 or 1024
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @pinned_at_128() warps(1) {
    %pad = ts.resource "pad" smem(x: memref<128xi8> at 0)
    %t = ts.resource "t" smem(x: memref<64x64xbf16, #ts.smem<128>> at 128)
  }
}

// -----

// The second stage: its distance is no multiple of the pattern.
// OUT: second_stage: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @second_stage() warps(1) {
    %t = ts.resource "t" smem(x: memref<4x64xbf16, #ts.smem<128>> at 0) pipeline(tma_async, stages = 2)
  }
}

// -----

// OUT: declared_align: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @declared_align() warps(1) {
    %t = ts.resource "t" smem(x: memref<64x64xbf16, #ts.smem<128>> align 512)
  }
}

// -----

// The allocator aligns: 1024, 512 and 256 bytes for spans of 128, 64 and 32.
// OUT: placed: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @placed() warps(1) {
    %pad = ts.resource "pad" smem(x: memref<128xi8> at 0)
    %t = ts.resource "t" smem(x: memref<64x64xbf16, #ts.smem<128>>)
    %u = ts.resource "u" smem(x: memref<64x32xbf16, #ts.smem<64>>)
    %v = ts.resource "v" smem(x: memref<64x16xbf16, #ts.smem<32>>)
  }
}
