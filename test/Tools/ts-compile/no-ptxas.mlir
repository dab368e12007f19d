// Without ptxas everything up to PTX works; a cubin is one clear sentence and status 4. A path that
// was given and is wrong is named, not skipped.
// RUN: sh -c 'TS_PTXAS=/nonexistent ts-compile %s -o %t.cubin; echo status $?' 2>&1 | FileCheck %s --check-prefix=VARIABLE
// VARIABLE: ts-compile: error: the ptxas that TS_PTXAS names is not a program: '/nonexistent'
// VARIABLE-NEXT: status 4
// RUN: sh -c 'ts-compile %s -o %t.cubin --ptxas=/none; echo status $?' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: ts-compile: error: the ptxas that --ptxas names is not a program: '/none'
// OPTION-NEXT: status 4
// RUN: sh -c 'TS_PTXAS=/nonexistent ts-compile %s -o %t.ptx --report=text; echo status $?' 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: ts-compile: note: no registers and spills in the report: the ptxas that TS_PTXAS names is not a program
// REPORT: status 0
// RUN: sh -c 'TS_PTXAS=/nonexistent ts-compile %s -o %t.ptx; echo status $?' 2>&1 | FileCheck %s --check-prefix=PTX
// PTX-NOT: {{note|error}}:
// PTX: status 0
gpu.module @m attributes {ts.chip = "sm_100a"} {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
