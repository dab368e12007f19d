// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS218: arrivals reach the CTA that waits.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @routing(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS218] task 'drain' waits on the full barriers of 'r' in CTA 1, where no 'acquire' of 'load' arrives; let 'load' run on every CTA that waits, or restrict the wait to the leader CTA}}
    // expected-note @+1 {{expected: arrivals per CTA}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) only_cta(0) reads(%g) writes(%r) {
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
    // expected-note @+1 {{task 'drain' takes part here}}
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
