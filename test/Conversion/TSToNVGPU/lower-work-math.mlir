// Arithmetic with instructions of its own, and the numbers of a vector's elements.
// RUN: ts-opt %s --ts-lower-work | FileCheck %s
gpu.module @m {
  // CHECK-LABEL: gpu.func @math
  // CHECK: llvm.call_intrinsic "llvm.exp2"(%{{.*}}) : (f32) -> f32
  // CHECK: llvm.call_intrinsic "llvm.exp2"(%{{.*}}) : (vector<4xf32>) -> vector<4xf32>
  // CHECK: llvm.call_intrinsic "llvm.log2"
  // CHECK: llvm.call_intrinsic "llvm.fabs"
  // CHECK: llvm.call_intrinsic "llvm.sqrt"
  // CHECK: llvm.call_intrinsic "llvm.fma"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  // f64 has none.
  // CHECK: math.exp2 %{{.*}} : f64
  gpu.func @math(%x: f32, %v: vector<4xf32>, %d: f64, %m: memref<4xf32>, %n: memref<4xf64>) kernel {
    %c0 = arith.constant 0 : index
    %a = math.exp2 %x : f32
    %b = math.exp2 %v : vector<4xf32>
    %c = math.log2 %b : vector<4xf32>
    %e = math.absf %c : vector<4xf32>
    %f = math.sqrt %e : vector<4xf32>
    %g = math.fma %f, %v, %v : vector<4xf32>
    %h = math.exp2 %d : f64
    vector.store %g, %m[%c0] : memref<4xf32>, vector<4xf32>
    memref.store %a, %m[%c0] : memref<4xf32>
    memref.store %h, %n[%c0] : memref<4xf64>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @step
  // CHECK: arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
  gpu.func @step(%m: memref<4xindex>) kernel {
    %c0 = arith.constant 0 : index
    %v = vector.step : vector<4xindex>
    vector.store %v, %m[%c0] : memref<4xindex>, vector<4xindex>
    gpu.return
  }
}
