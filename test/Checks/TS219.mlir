// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS219: signalling modes that combine.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @leader(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+1 {{[TS219] consumer signalling of 'r' is task_warp_leader, but task_warp_leader is for the producer of a TMA pipeline only (this is tma_async); write all or cta_leader}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2, consumer_signal = task_warp_leader)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
      }
    }
    ts.task "drain" warps(4, 4) reads(%r) {
      ts.for %i = %c0 to %n {
        ts.wait %r
        ts.consume %r "use" (%x) {
        }
        ts.release %r
      }
    }
  }
}
