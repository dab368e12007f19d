// RUN: ts-compile %s --arch=sm_90a -o %t.ptx
// RUN: ts-run %t.ptx --array A=32x16 --array D=32x16 --array S=32 --check 'D = 2 * A' --check 'S = sum(A, axis=1)' | FileCheck %s
// CHECK: D = 2 * A: ok
// CHECK: S = sum(A, axis=1): ok
// Vector operations of several dimensions and slices in a body.
!matrix = memref<?x?xf32>
!row = vector<16xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @vectors(%A: !matrix, %D: !matrix, %S: memref<?xf32>) warps(1) {
    %src = ts.resource "a" gmem
    %dst = ts.resource "d" gmem
    ts.depends %dst on %src
    ts.task "t" warps(0, 1) reads(%src) writes(%dst) {
      %c0 = arith.constant 0 : index
      %lane = ts.info lane : index
      %v = ts.consume %src "load" -> !row {
        %x = vector.load %A[%lane, %c0] : !matrix, !row
        ts.yield %x : !row
      }
      ts.produce %dst "store" {
        %zero = arith.constant dense<0.0> : !row
        %none = arith.constant dense<0.0> : vector<4xf32>
        // Rows of four, transposed and back, doubled, put together from slices.
        %square = vector.shape_cast %v : !row to vector<4x4xf32>
        %turned = vector.transpose %square, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
        %twice = arith.addf %turned, %turned : vector<4x4xf32>
        %back = vector.transpose %twice, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
        %flat = vector.shape_cast %back : vector<4x4xf32> to !row
        %low = vector.extract_strided_slice %flat {offsets = [0], sizes = [8], strides = [1]} : !row to vector<8xf32>
        %high = vector.extract_strided_slice %flat {offsets = [8], sizes = [8], strides = [1]} : !row to vector<8xf32>
        %half = vector.insert_strided_slice %low, %zero {offsets = [0], strides = [1]} : vector<8xf32> into !row
        %whole = vector.insert_strided_slice %high, %half {offsets = [8], strides = [1]} : vector<8xf32> into !row
        vector.store %whole, %D[%lane, %c0] : !matrix, !row
        %sums = vector.multi_reduction <add>, %square, %none [0] : vector<4x4xf32> to vector<4xf32>
        %sum = vector.reduction <add>, %sums : vector<4xf32> into f32
        memref.store %sum, %S[%lane] : memref<?xf32>
      }
    }
  }
}
