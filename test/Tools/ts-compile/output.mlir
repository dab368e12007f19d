// An output appears whole or not at all, and devices are written, not replaced.
// RUN: rm -rf %t && mkdir %t
// RUN: echo precious > %t/k.ptx
// RUN: not ts-compile %s --arch=sm_90a -o %t/k.ptx
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t/k.ptx
// KEPT: precious
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// FILES: k.ptx
// FILES-NOT: k
// RUN: ts-compile %s --arch=sm_100f --emit=ptx -o /dev/null
// RUN: test -c /dev/null
// A link stays a link; every level can be written and read again.
// RUN: ln -s k.ptx %t/link.ptx
// RUN: ts-compile %s --arch=sm_100f -o %t/link.ptx
// RUN: test -L %t/link.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/k.ptx
// RUN: ts-compile %s --arch=sm_100f -o %t/again.mlir
// RUN: ts-compile %t/again.mlir -o - | FileCheck %s --check-prefix=PTX
// PTX: .target sm_100f
// PTX: redux.sync.min.f32
// RUN: ts-compile %s --arch=sm_100f --emit=lowered -o - | FileCheck %s --check-prefix=MLIR
// MLIR: gpu.module @m attributes {ts.chip = "sm_100f"}

gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %f: f32) attributes {nvvm.kernel} {
    %m = llvm.mlir.constant(-1 : i32) : i32
    %r = nvvm.redux.sync fmin %f, %m : f32 -> f32
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
