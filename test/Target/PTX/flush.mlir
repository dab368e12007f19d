// Flushing of denormals is asked for with LLVM's function attribute and reaches the instructions.
// RUN: ts-compile %s --arch=sm_90a -o - | FileCheck %s
gpu.module @m {
  // CHECK-LABEL: .entry flushed
  // CHECK: mul.rn.ftz.f32
  llvm.func @flushed(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel,
      passthrough = [["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]} {
    %r = llvm.fmul %x, %x : f32
    llvm.store %r, %out : f32, !llvm.ptr<1>
    llvm.return
  }
  // CHECK-LABEL: .entry kept
  // CHECK: mul.rn.f32
  llvm.func @kept(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %r = llvm.fmul %x, %x : f32
    llvm.store %r, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
