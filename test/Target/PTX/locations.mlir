// Locations of another file (a Python source, say) keep their file in the PTX.
// RUN: ts-compile %s --arch=sm_90a -o - | FileCheck %s
gpu.module @m {
  // CHECK: .loc [[OTHER:[0-9]+]] 12 3
  // CHECK-NEXT: st.global
  // CHECK: .file [[OTHER]] "gemm.py"
  llvm.func @k(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    llvm.store %x, %out : f32, !llvm.ptr<1> loc("gemm.py":12:3)
    llvm.return
  }
}
