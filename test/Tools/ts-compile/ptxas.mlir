// ptxas: cubin, resource usage, its errors at the line of the .mlir file.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: ts-compile %t/good.mlir --arch=sm_90a -o %t/good.cubin --report=text | FileCheck %s --check-prefix=TEXT
// TEXT: wrote {{.*}}good.cubin (sm_90a, {{[0-9]+}} bytes)
// TEXT-NEXT: k: {{[1-9][0-9]*}} registers, 0 bytes spill stores, 0 bytes spill loads, 0 bytes stack, 0 bytes static shared memory (sm_90a)
// RUN: ts-compile %t/good.mlir --arch=sm_90a -o %t/good.ptx --report=json | FileCheck %s --check-prefix=JSON
// JSON-NOT: wrote
// JSON: "arch": "sm_90a"
// JSON: "verdict": "not_run"
// JSON: "name": "k"
// JSON: "spill_stores": 0
// RUN: sh -c 'ts-compile %t/bad.mlir --arch=sm_90a -o %t/bad.cubin; echo status $?' 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: bad.mlir:3:5: error: [TS403] ptxas: Not a name of any known instruction: 'bogus' (line {{[0-9]+}} of the PTX)
// BAD-NOT: aborted
// BAD: status 1
// RUN: ts-compile %t/remark.mlir --arch=sm_90a -o %t/remark.cubin 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: warning: ptxas C7508: Potential Performance Loss: 'setmaxnreg' ignored

//--- good.mlir
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %f: f32) attributes {nvvm.kernel} {
    llvm.store %f, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
//--- bad.mlir
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "bogus;", "" : () -> ()
    llvm.return
  }
}
//--- remark.mlir
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.setmaxregister increase 232
    llvm.return
  }
}
