// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS114: the wait for the previous grid comes first.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @pdl(%flag: i1) warps(3) {
    %pdl = ts.pdl "previous"
    %r = ts.resource "r" smem(x: memref<64xf32>)
    %s = ts.resource "s" gmem
    ts.depends %r on %pdl
    ts.depends %s on %r
    ts.task "early" warps(0, 1) reads(%pdl) writes(%r) {
      // Auxiliary work reads nothing.
      ts.produce %r "prepare" aux {
      }
      ts.when %flag is true {
        ts.griddep_wait %pdl
      }
      // expected-error @+2 {{[TS114] task 'early' produces 'r', which depends on 'previous', before a griddep_wait; put the wait in front of it, in every task that produces it}}
      // expected-note @+1 {{on the path with flag: no}}
      ts.produce %r "fill" {
      }
    }
    ts.task "launches" warps(1, 1) reads(%pdl, %r) writes(%s) {
      // expected-error @+1 {{[TS114] task 'launches' launches the next grid before its own wait for the previous one; put the griddep_wait first}}
      ts.griddep_launch %pdl
      ts.griddep_wait %pdl
      ts.consume %r "r" {
      }
      ts.produce %s "s" {
      }
    }
    // A task that does not wait may launch: whether another one's wait comes first is for the prover.
    ts.task "other" warps(2, 1) reads(%pdl) {
      ts.griddep_launch %pdl
    }
  }
}
