// Exit statuses, one sentence for each thing that is missing or contradictory.
// RUN: split-file %s %t
// RUN: sh -c 'ts-compile %t/good.mlir -o %t/good.ptx; echo status $?' 2>&1 | FileCheck %s --check-prefix=GOOD
// GOOD: wrote {{.*}}good.ptx (sm_90a, {{[0-9]+}} lines)
// GOOD-NEXT: status 0
// RUN: sh -c 'ts-compile %t/good.mlir --verify-only; echo status $?' 2>&1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: status 0
// RUN: sh -c 'ts-compile - --arch=sm_120a < %t/good.mlir; echo status $?' 2>&1 | FileCheck %s --check-prefix=STDIN
// STDIN: remark: ts.chip = "sm_90a" is replaced by --arch=sm_120a
// STDIN: .target sm_120a
// STDIN: status 0

// RUN: sh -c 'ts-compile %t/absent.mlir; echo status $?' 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: ts-compile: error: cannot read '{{.*}}absent.mlir': No such file or directory
// ABSENT-NEXT: status 4
// RUN: sh -c 'ts-compile %t/good.mlir -o %t/no/such/folder/k.ptx; echo status $?' 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: ts-compile: error: cannot write '{{.*}}folder/k.ptx': No such file or directory
// FOLDER-NEXT: status 4
// The output is tried before the work: broken input does not get to speak.
// RUN: mkdir -p %t/taken.ptx
// RUN: sh -c 'ts-compile %t/broken.mlir -o %t/taken.ptx; echo status $?' 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: ts-compile: error: cannot write '{{.*}}taken.ptx': Is a directory
// TAKEN-NEXT: status 4

// RUN: sh -c 'ts-compile %t/broken.mlir; echo status $?' 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: broken.mlir:2:{{[0-9]+}}: error:
// BROKEN: status 1
// RUN: sh -c 'ts-compile %t/empty.mlir --arch=sm_90a; echo status $?' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: there is no gpu.module: put the kernels into one
// EMPTY: status 1
// RUN: sh -c 'ts-compile %t/two.mlir --arch=sm_90a; echo status $?' 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: two.mlir:2:1: error: a second gpu.module: one output holds one
// TWO: two.mlir:1:1: note: the first is here
// TWO: status 1

// RUN: sh -c 'ts-compile %t/nochip.mlir; echo status $?' 2>&1 | FileCheck %s --check-prefix=NOCHIP
// NOCHIP: error: [TS405] no target: pass --arch=sm_90a, or put ts.chip = "sm_90a" on the gpu.module (known: sm_90a, sm_100a, sm_100f, sm_103a, sm_120a)
// NOCHIP: status 1
// RUN: sh -c 'ts-compile %t/good.mlir --arch=sm_42; echo status $?' 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: ts-compile: error: [TS406] unknown --arch 'sm_42'; known are sm_90a, sm_100a, sm_100f, sm_103a, sm_120a
// ARCH-NEXT: status 1
// RUN: sh -c 'ts-compile %t/badchip.mlir; echo status $?' 2>&1 | FileCheck %s --check-prefix=BADCHIP
// BADCHIP: error: [TS406] unknown ts.chip "sm_42"; known are sm_90a
// BADCHIP: status 1

// RUN: sh -c 'ts-compile %t/good.mlir -o k.txt; echo status $?' 2>&1 | FileCheck %s --check-prefix=SUFFIX
// SUFFIX: ts-compile: error: the suffix of 'k.txt' does not say what to write: use .ptx, .cubin, .ll or .mlir, or give --emit
// SUFFIX-NEXT: status 1
// RUN: sh -c 'ts-compile %t/good.mlir -o k.ptx --emit=ll; echo status $?' 2>&1 | FileCheck %s --check-prefix=CONTRA
// CONTRA: ts-compile: error: --emit=ll contradicts the suffix of 'k.ptx'
// CONTRA-NEXT: status 1
// RUN: sh -c 'ts-compile %t/good.mlir -o k.ptx --verify-only; echo status $?' 2>&1 | FileCheck %s --check-prefix=ONLY
// ONLY: ts-compile: error: --verify-only writes nothing: leave out -o and --emit
// ONLY-NEXT: status 1

//--- good.mlir
gpu.module @m attributes {ts.chip = "sm_90a"} {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
//--- nochip.mlir
gpu.module @m {
}
//--- badchip.mlir
gpu.module @m attributes {ts.chip = "sm_42"} {
}
//--- two.mlir
gpu.module @m {}
gpu.module @n {}
//--- empty.mlir
module {}
//--- broken.mlir
gpu.module @m {
  llvm.func @k( attributes
