// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))'
// TS307: roles that use a ring differently often, where nobody waits for the difference any more.
// Where somebody does, the deadlock is the verdict and the imbalance stands in a note.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+1 {{help: make the loops and guards of both roles run equally often over the ring}}
  ts.kernel @early(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %src = ts.resource "src" gmem
    %ab = ts.resource "ab" smem(x: memref<32xf32>) pipeline(async_async, stages = 2)
    ts.depends %ab on %src
    ts.task "load" warps(0, 1) reads(%src) writes(%ab) {
      ts.consume %src "where" aux {
      }
      ts.for %i = %c0 to %n {
        ts.for %j = %c0 to %c4 {
          ts.acquire %ab
          ts.produce %ab "copy" declared
          // expected-note @+1 {{'load' commits it 4 * n + 1 times: 1 in this run}}
          ts.commit %ab
        }
      }
      ts.acquire %ab
      ts.produce %ab "last" declared
      ts.commit %ab
    }
    ts.task "mma" warps(1, 1) reads(%ab) {
      ts.for %i = %c0 to %n {
        ts.for %j = %c0 to %c4 {
          ts.wait %ab
          ts.consume %ab "use" declared
          // expected-error @+2 {{[TS307] imbalance: the roles of ring 'ab' are not balanced: 'load' commits it 4 * n + 1 times, 'mma' releases it 4 * n times}}
          // expected-note @+1 {{'mma' releases it 4 * n times: 0 in this run}}
          ts.release %ab
        }
      }
    }
  }
}
