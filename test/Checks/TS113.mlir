// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS113: skippable parts belong to a queue's tile loop.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @skip() warps(1) {
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{[TS113] skippable part outside of a tile_loop in task 't'; the skip predicate of the queue decides per tile, so there is nothing to decide here}}
      ts.skippable {
      }
    }
  }
}
