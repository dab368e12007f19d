// What the backend or the chip cannot do is an error at the op, never the end of the process.
// RUN: split-file %s %t
// RUN: not ts-compile %t/select.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=SELECT
// RUN: not ts-compile %t/select.mlir --arch=sm_90a --no-line-info -o - 2>&1 | FileCheck %s --check-prefix=SELECT
// RUN: ts-compile %t/select.mlir --arch=sm_100f -o - 2>&1 | FileCheck %s --check-prefix=SELECT-OK
// RUN: not ts-compile %t/scope.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=SCOPE
// RUN: not ts-compile %t/quad.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=QUAD
// RUN: not ts-compile %t/wgmma.mlir --arch=sm_100a -o - 2>&1 | FileCheck %s --check-prefix=WGMMA
// RUN: not ts-compile %t/tcgen05.mlir --arch=sm_120a -o - 2>&1 | FileCheck %s --check-prefix=TCGEN05
// RUN: not ts-compile %t/tcgen05-asm.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=TCGEN05
// RUN: not ts-compile %t/pointer.mlir --arch=sm_100a -o - 2>&1 | FileCheck %s --check-prefix=POINTER
// RUN: not ts-compile %t/extern.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=EXTERN
// RUN: not ts-compile %t/library.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: not ts-compile %t/exp.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=EXP
// RUN: not ts-compile %t/global.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=GLOBAL
// RUN: ts-compile %t/printf.mlir --arch=sm_90a -o - 2>&1 | FileCheck %s --check-prefix=PRINTF

//--- select.mlir
// SELECT: select.mlir:9:10: error: [TS402] sm_90a has no instruction for 'llvm.nvvm.redux.sync.fmin' in function 'k'; use another form of the operation or another --arch
// SELECT-OK: redux.sync.min.f32




gpu.module @m { llvm.func @k(%p: !llvm.ptr<1>, %f: f32) attributes {nvvm.kernel} {
    %m = llvm.mlir.constant(-1 : i32) : i32
    %r = nvvm.redux.sync fmin %f, %m : f32 -> f32
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

//--- scope.mlir
// SCOPE: error: [TS402] LLVM gave up while it was selecting instructions for sm_90a: NVPTX backend does not support syncscope "gpu"
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.fence syncscope("gpu") seq_cst
    llvm.return
  }
}

//--- quad.mlir
// QUAD: quad.mlir:2:1: error: [TS402] LLVM gave up while it was selecting instructions for sm_90a: unsupported library call operation
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %x: f128) attributes {nvvm.kernel} {
    %r = llvm.fmul %x, %x : f128
    llvm.store %r, %p : f128, !llvm.ptr<1>
    llvm.return
  }
}

//--- wgmma.mlir
// WGMMA: wgmma.mlir:4:5: error: [TS227] 'wgmma' does not exist on sm_100a; it exists on sm_90a
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}

//--- tcgen05.mlir
// TCGEN05: error: [TS227] 'tcgen05' does not exist on sm_{{120a|90a}}; it exists on sm_100a, sm_100f, sm_103a
// TCGEN05-NOT: error
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.tcgen05.fence #nvvm.tcgen05_fence<before>
    nvvm.tcgen05.wait #nvvm.tcgen05_wait<load>
    llvm.return
  }
}

//--- tcgen05-asm.mlir
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "tcgen05.wait::ld.sync.aligned;", "" : () -> ()
    llvm.return
  }
}

//--- pointer.mlir
// POINTER: error: [TS402] the LLVM IR is not valid: Call parameter type does not match function signature!
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<7>, %n: i32) attributes {nvvm.kernel} {
    nvvm.tcgen05.alloc %p, %n : !llvm.ptr<7>, i32
    llvm.return
  }
}

//--- extern.mlir
// EXTERN: extern.mlir:5:10: error: [TS408] function 'helper' is called and nobody defines it; define it in the gpu.module
gpu.module @m {
  llvm.func @helper(f32) -> f32
  llvm.func @k(%p: !llvm.ptr<1>, %f: f32) attributes {nvvm.kernel} {
    %r = llvm.call @helper(%f) : (f32) -> f32
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

//--- library.mlir
// The whole path is there, so that the line of the source can be shown.
// LIBRARY: {{.+[/]}}library.mlir:7:10: error: [TS408] '__nv_expf' of CUDA's device library is called, and no device library is linked: use an op with an instruction of its own (nvvm, or llvm.call_intrinsic of llvm.nvvm.*) or define the function in the gpu.module
// LIBRARY-NEXT: math.exp
gpu.module @m {
  gpu.func @k(%p: memref<1xf32>, %f: f32) kernel {
    %c = arith.constant 0 : index
    %r = math.exp %f : f32
    memref.store %r, %p[%c] : memref<1xf32>
    gpu.return
  }
}

//--- exp.mlir
// EXP: exp.mlir:4:10: error: [TS408] 'llvm.exp.f32' needs a device library and none is linked; use exp2 of the scaled argument
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %f: f32) attributes {nvvm.kernel} {
    %r = llvm.call_intrinsic "llvm.exp.f32"(%f) : (f32) -> f32
    llvm.store %r, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

//--- global.mlir
// GLOBAL: error: [TS408] variable 'table' is used and nobody defines it; only dynamic shared memory may be external
gpu.module @m {
  llvm.mlir.global external @table() {addr_space = 1 : i32} : !llvm.array<4 x f32>
  llvm.func @k(%f: f32) attributes {nvvm.kernel} {
    %t = llvm.mlir.addressof @table : !llvm.ptr<1>
    llvm.store %f, %t : f32, !llvm.ptr<1>
    llvm.return
  }
}

//--- printf.mlir
// PRINTF: .extern .func {{.*}} vprintf
gpu.module @m {
  llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @k(%p: !llvm.ptr) attributes {nvvm.kernel} {
    %r = llvm.call @vprintf(%p, %p) : (!llvm.ptr, !llvm.ptr) -> i32
    llvm.return
  }
}
