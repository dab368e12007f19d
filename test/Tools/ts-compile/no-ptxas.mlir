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
// CUDA_HOME comes before the PATH, --ptxas before both; a ptxas that fails silently is an error too.
// RUN: mkdir -p %t.cuda/bin
// RUN: sh -c 'echo "#!/bin/sh" > %t.cuda/bin/ptxas; echo "echo ptxas fatal : from CUDA_HOME; exit 3" >> %t.cuda/bin/ptxas; chmod +x %t.cuda/bin/ptxas'
// RUN: sh -c 'unset TS_PTXAS; CUDA_HOME=%t.cuda ts-compile %s -o %t.cubin; echo status $?' 2>&1 | FileCheck %s --check-prefix=HOME
// HOME: error: [TS403] ptxas: from CUDA_HOME
// HOME: status 1
// RUN: sh -c 'CUDA_HOME=%t.cuda ts-compile %s -o %t.cubin --ptxas=/bin/false; echo status $?' 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT: error: [TS403] ptxas failed without a message
// SILENT: status 1
gpu.module @m attributes {ts.chip = "sm_100a"} {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
