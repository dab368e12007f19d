// The fixes between MLIR's translation and the optimiser: convergent assembly, aligned dynamic
// shared memory, private helpers. Line information by default.
// RUN: ts-compile %s --arch=sm_90a --emit=ll -o - | FileCheck %s --check-prefix=LL
// RUN: ts-compile %s --arch=sm_90a -o - | FileCheck %s --check-prefix=PTX
// RUN: ts-compile %s --arch=sm_90a --no-line-info -o - | FileCheck %s --check-prefix=NOLINE

gpu.module @m {
  // LL: @dynamic = external {{.*}}addrspace(3) global [0 x i8], align 1024
  // PTX: .version 8.8
  // PTX: .target sm_90a
  // PTX: .extern .shared .align 1024 .b8 dynamic[];
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

  // Without `convergent` the barrier would be duplicated into both arms of the branch.
  // LL-LABEL: define ptx_kernel void @barrier
  // LL: call void asm sideeffect "bar.sync 1, 64;", ""() [[CONVERGENT:#[0-9]+]]
  // PTX-LABEL: .entry barrier
  // PTX: .loc 1 [[#@LINE+8]] 5
  // PTX: bar.sync 1, 64;
  // PTX-NOT: bar.sync
  // PTX-NOT: helper
  // PTX: .file 1 "{{.*}}translate.mlir"
  llvm.func @barrier(%out: !llvm.ptr<1>, %flag: i1, %x: f32, %y: f32) attributes {nvvm.kernel} {
    llvm.cond_br %flag, ^a, ^b
  ^a:
    llvm.store %x, %out : f32, !llvm.ptr<1>
    llvm.br ^join(%x : f32)
  ^b:
    llvm.br ^join(%y : f32)
  ^join(%v: f32):
    llvm.inline_asm has_side_effects "bar.sync 1, 64;", "" : () -> ()
    %w = llvm.call @helper(%v) : (f32) -> f32
    %s = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    llvm.store %w, %s : f32, !llvm.ptr<3>
    llvm.cond_br %flag, ^c, ^d
  ^c:
    llvm.store %w, %out : f32, !llvm.ptr<1>
    llvm.br ^d
  ^d:
    llvm.return
  }
  // LL-NOT: define {{.*}}@helper
  llvm.func @helper(%v: f32) -> f32 {
    %r = llvm.fadd %v, %v : f32
    llvm.return %r : f32
  }
  // LL: attributes [[CONVERGENT]] = { convergent
}
// NOLINE-NOT: .loc
// NOLINE-NOT: .file
