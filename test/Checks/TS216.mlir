// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS216: declared transaction bytes.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @bytes(%A: !ts.tensor_map<64x64xbf16, box = 64x64, swizzle = 128>, %n: index, %flag: i1) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    // expected-error @+2 {{[TS216] bytes of 'r' are 8192, but async_async pipelines have no transaction bytes; remove the byte count, or use a pipeline type with a TMA producer}}
    // expected-note @+1 {{expected: no bulk copy completes on this barrier}}
    %r = ts.resource "r" smem(x: memref<64x64xbf16, #ts.smem<128>>) pipeline(async_async, stages = 2, num_bytes = 8192)
    ts.depends %r on %g
    ts.task "load" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "coords" {
      }
      ts.for %i = %c0 to %n {
        ts.acquire %r
        ts.produce %r "load" (%x) {
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
