// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS111: values are written before they are read, in the task that reads them.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @kernel_level(%X: memref<64xf32>) warps(1) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS111] 'memref.load' stands outside of every task and accesses memory, so no warp executes it; move it into the task that needs the value, and hand it to others through a resource}}
    %x = memref.load %X[%c0] : memref<64xf32>
    ts.task "t" warps(0, 1) {
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @undefined(%n: index) warps(1) {
    %c0 = arith.constant 0 : index
    %a = ts.resource "a" gmem
    %b = ts.resource "b" gmem
    ts.depends %b on %a
    ts.task "t" warps(0, 1) reads(%a) writes(%b) {
      // expected-note @+1 {{it starts undefined here}}
      %none = ub.poison : index
      %r = ts.for %i = %c0 to %n iter(%last = %none : index) {
        // expected-error @+1 {{[TS111] reads carried value 0 of the loop, which has no value in the first iteration; give it an initial value, or read it under 'guard not_first'}}
        %sum = arith.addi %last, %i : index
        ts.guard not_first {
          ts.produce %b "legal" aux uses(%last : index) {
          }
        }
        ts.yield %i : index
      }
      ts.consume %a "a" aux {
      }
    }
  }
}
