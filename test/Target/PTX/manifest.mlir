// The manifest is put together from the kernels' attributes and checked against the functions.
// RUN: split-file %s %t
// RUN: ts-compile %t/good.mlir --arch=sm_90a -o %t/good.ptx
// RUN: FileCheck %s --check-prefix=GOOD --input-file=%t/good.json
// A device has no folder for a manifest.
// RUN: ts-compile %t/good.mlir --arch=sm_90a --emit=ptx -o /dev/null
// RUN: not ls /dev/null.json
// RUN: not ts-compile %t/count.mlir --arch=sm_90a -o %t/count.ptx 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not ts-compile %t/name.mlir --arch=sm_90a -o %t/name.ptx 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ts-compile %t/text.mlir --arch=sm_90a -o %t/text.ptx 2>&1 | FileCheck %s --check-prefix=TEXT
// A failed compilation leaves nothing behind.
// RUN: not ls %t/count.ptx %t/count.json
// RUN: ls %t | FileCheck %s --check-prefix=LEFT
// LEFT-NOT: .tmp

//--- good.mlir
// GOOD: "kernels": [
// GOOD: "name": "first"
// GOOD: "params": [
// GOOD: "kind": "pointer"
// GOOD: "name": "second"
// GOOD: "version": 1
gpu.module @m {
  llvm.func @first(%p: !llvm.ptr<1>) attributes {nvvm.kernel,
      ts.manifest = "{\"name\":\"first\",\"params\":[{\"kind\":\"pointer\",\"arg\":\"X\"}]}"} {
    llvm.return
  }
  llvm.func @second() attributes {nvvm.kernel, ts.manifest = "{\"name\":\"second\",\"params\":[]}"} {
    llvm.return
  }
}

//--- count.mlir
// COUNT: error: [TS502] the 'ts.manifest' of kernel 'k' lists 0 parameters, the function has 1
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, ts.manifest = "{\"name\":\"k\",\"params\":[]}"} {
    llvm.return
  }
}

//--- name.mlir
// NAME: error: [TS502] the 'ts.manifest' of kernel 'k' is for another kernel: 'j'
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel, ts.manifest = "{\"name\":\"j\",\"params\":[]}"} {
    llvm.return
  }
}

//--- text.mlir
// TEXT: error: [TS502] the 'ts.manifest' of kernel 'k' is no JSON: [1:2, byte=2]: Expected object key
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel, ts.manifest = "{]"} {
    llvm.return
  }
}
