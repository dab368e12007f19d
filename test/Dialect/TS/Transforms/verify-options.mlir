// severity=warn reports the same and succeeds; a module without kernels is fine.
// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-verify-structure{severity=warn},ts-verify-protocol{severity=warn}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: not ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-verify-structure{severity=loud}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SEVERITY

// SEVERITY: error: unknown severity 'loud'; expected error or warn

gpu.module @empty attributes {ts.chip = "sm_90a"} {
}

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @k() warps(2) {
    ts.task "a" warps(0, 1) {
      // WARN: warning: [TS108] guard 'first' stands outside of every loop
      // ERROR: error: [TS108] guard 'first' stands outside of every loop
      ts.guard first {
      }
    }
    // WARN: warning: [TS224] tasks 'a' and 'b' share warp 0,
    ts.task "b" warps(0, 2) {
    }
  }
}
