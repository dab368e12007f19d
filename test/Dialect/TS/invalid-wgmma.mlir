// Every message of the verifiers of wgmma, register tiles, ldmatrix and stmatrix (TSMatrixOps.cpp,
// TSFragmentOps.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics

//===-- wgmma

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{accumulators start from a fragment of their own shape and type: '!ts.fragment<64x64xf32>' does not become '!ts.wgmma<64x128xf32>'}}
  ts.wgmma_start %f : !ts.fragment<64x64xf32> -> !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: f32, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{A is a tile in shared memory or a fragment in registers, found 'f32'}}
  ts.wgmma %a, %b, %c : f32, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #ts.smem<128>>, %b: memref<128x64xf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{wgmma does not multiply 'bf16' by 'f16'; expected two f16, two bf16, two f32 (tf32), two i8, or f8E4M3FN and f8E5M2 in any pair (PTX ISA 8.8, wgmma.mma_async)}}
  ts.wgmma %a, %b, %c : memref<64x64xbf16, #ts.smem<128>>, memref<128x64xf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf16>) {
  // expected-error @+1 {{the accumulator has element type 'f16', 'bf16' times 'bf16' accumulates in f32 (PTX ISA 8.8, wgmma.mma_async)}}
  ts.wgmma %a, %b, %c : memref<64x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf16>
  return
}

// -----

func.func @f(%a: memref<64x128xi8, #ts.smem<128>>, %b: memref<128x128xi8, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{the accumulator has element type 'f32', 'i8' times 'i8' accumulates in i32}}
  ts.wgmma %a, %b, %c : memref<64x128xi8, #ts.smem<128>>, memref<128x128xi8, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<64x64xf16, #ts.smem<128>>, %b: memref<128x64xf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xi32>) {
  // expected-error @+1 {{the accumulator has element type 'i32', 'f16' times 'f16' accumulates in f32 or f16}}
  ts.wgmma %a, %b, %c : memref<64x64xf16, #ts.smem<128>>, memref<128x64xf16, #ts.smem<128>>, !ts.wgmma<64x128xi32>
  return
}

// -----

func.func @f(%a: memref<64x128xi8, #ts.smem<128>>, %b: memref<40x128xi8, #ts.smem<128>>, %c: !ts.wgmma<64x40xi32>) {
  // expected-error @+1 {{N = 40 does not exist for i8, expected 8, 24 or a multiple of 16 (PTX ISA 8.8, wgmma.mma_async)}}
  ts.wgmma %a, %b, %c : memref<64x128xi8, #ts.smem<128>>, memref<40x128xi8, #ts.smem<128>>, !ts.wgmma<64x40xi32>
  return
}

// -----

func.func @f(%a: !ts.fragment<64x64xbf16>, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{A in registers is 64 x K, 'transpose_a' does not apply (PTX ISA 8.8, wgmma.mma_async)}}
  ts.wgmma %a, %b, %c transpose_a : !ts.fragment<64x64xbf16>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<64x32xf32, #ts.smem<128>>, %b: memref<128x32xf32, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{'transpose_b' needs 16-bit elements (PTX ISA 8.8, wgmma.mma_async), found 'f32'; store the tile K-major}}
  ts.wgmma %a, %b, %c transpose_b : memref<64x32xf32, #ts.smem<128>>, memref<128x32xf32, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: !ts.fragment<64x32xf32>, %b: memref<128x32xf32, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{A in registers needs 16-bit elements, found 'f32'; other widths have another register layout (PTX ISA 8.8, wgmma register fragments), pass them through shared memory}}
  ts.wgmma %a, %b, %c : !ts.fragment<64x32xf32>, memref<128x32xf32, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16>, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{A lies in shared memory (#ts.smem), found 'memref<64x64xbf16>'}}
  ts.wgmma %a, %b, %c : memref<64x64xbf16>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #ts.smem<128>>, %b: memref<128x32xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{[TS228] B has rows of 32 x 'bf16' with a stride of 32 elements, expected contiguous rows of 128 bytes (the swizzle span; PTX ISA 8.8, matrix descriptor), 64 elements}}
  ts.wgmma %a, %b, %c : memref<64x64xbf16, #ts.smem<128>>, memref<128x32xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{A has M = 128, one warpgroup multiplies 64 rows (PTX ISA 8.8, wgmma.mma_async); take a subview of 64 rows per warpgroup}}
  ts.wgmma %a, %b, %c : memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #ts.smem<128>>, %b: memref<64x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{B has N = 64, the accumulator N = 128; B is N x K and the accumulator 64 x N}}
  ts.wgmma %a, %b, %c : memref<64x64xbf16, #ts.smem<128>>, memref<64x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: !ts.fragment<64x128xbf16>, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{A has K = 128, B has K = 64; both must agree (A is M x K, B is N x K)}}
  ts.wgmma %a, %b, %c : !ts.fragment<64x128xbf16>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f(%a: !ts.fragment<64x8xbf16>, %b: memref<1x128x8xbf16, #ts.smem>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{K = 8 is no multiple of 16, what one instruction takes (PTX ISA 8.8, wgmma.mma_async)}}
  ts.wgmma %a, %b, %c : !ts.fragment<64x8xbf16>, memref<1x128x8xbf16, #ts.smem>, !ts.wgmma<64x128xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{waits until at most 'pending' groups are in flight: expected a number from 0 to 2147483647, found -1}}
  ts.wgmma_wait -1
  return
}

// -----

func.func @f(%c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{takes 1 values and gives 0; expected one result per value}}
  "ts.wgmma_wait"(%c) {pending = 0 : i64} : (!ts.wgmma<64x128xf32>) -> ()
  return
}

// -----

func.func @f(%c: f32) {
  // expected-error @+1 {{carries accumulators (!ts.wgmma) and register operands (!ts.fragment), found 'f32'}}
  ts.wgmma_wait 0, %c : f32 -> f32
  return
}

// -----

func.func @f(%c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{'!ts.wgmma<64x128xf32>' does not become '!ts.fragment<64x64xf32>'; an accumulator stays or becomes a fragment of its own shape and type, a fragment stays}}
  ts.wgmma_wait 0, %c : !ts.wgmma<64x128xf32> -> !ts.fragment<64x64xf32>
  return
}

// -----

func.func @f(%c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{with 'pending' 1 the group that writes '!ts.wgmma<64x128xf32>' may still be in flight, so it cannot become the readable '!ts.fragment<64x128xf32>'; wait for 0, keep '!ts.wgmma<64x128xf32>', or commit more groups between its ts.wgmma and the wait}}
  ts.wgmma_wait 1, %c : !ts.wgmma<64x128xf32> -> !ts.fragment<64x128xf32>
  return
}

// -----

//===-- Fragments, matrices

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{found 2 region arguments, expected one per input, 1}}
  ts.fragment_map %f (%x, %y) : !ts.fragment<64x64xf32> -> !ts.fragment<64x64xf32> {
  }
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{found 2 types, expected one per input, 1}}
  ts.fragment_map %f (%x) : !ts.fragment<64x64xf32>, !ts.fragment<64x64xf32> -> !ts.fragment<64x64xf32> {
  }
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error @+1 {{an input of ts.fragment_map is a !ts.fragment or a vector of two rows, found 'f32'}}
  ts.fragment_map %f (%x) : f32 -> !ts.fragment<64x64xf32> {
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{needs a fragment to map over, or the element's place ('at') to make one of}}
  %0 = "ts.fragment_map"() ({
    ts.yield
  }) : () -> !ts.fragment<64x64xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{maps element by element over one shape: found input '!ts.fragment<64x64xf32>' and result '!ts.fragment<64x32xf32>'}}
  ts.fragment_map %f (%x) : !ts.fragment<64x64xf32> -> !ts.fragment<64x32xf32> {
    ts.yield %x : f32
  }
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{region has 0 arguments, expected one per input, 1, and two more for the element's place if it is used}}
  %0 = "ts.fragment_map"(%f) ({
    ts.yield
  }) : (!ts.fragment<64x64xf32>) -> !ts.fragment<64x64xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{region argument has type 'f16', expected the element type 'f32' of its input}}
  %0 = "ts.fragment_map"(%f) ({
  ^bb0(%x: f16):
    ts.yield
  }) : (!ts.fragment<64x64xf32>) -> !ts.fragment<64x64xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{region yields one element of the result, of type 'bf16'}}
  ts.fragment_map %f (%x) : !ts.fragment<64x64xf32> -> !ts.fragment<64x64xbf16> {
    // expected-note @+1 {{yields ('f32') here}}
    ts.yield %x : f32
  }
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+2 {{region yields one element of the result, of type 'f32'}}
  // expected-note @+1 {{yields () here}}
  ts.fragment_map %f (%x) : !ts.fragment<64x64xf32> -> !ts.fragment<64x64xf32> {
  }
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{found 1 names after 'at', expected the row and the column}}
  ts.fragment_map %f (%x) at (%i) : !ts.fragment<64x64xf32> -> !ts.fragment<64x64xf32> {
  }
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{the element's place is two i32, found 'index'}}
  %0 = "ts.fragment_map"(%f) ({
  ^bb0(%x: f32, %i: i32, %j: index):
    ts.yield %x : f32
  }) : (!ts.fragment<64x64xf32>) -> !ts.fragment<64x64xf32>
  return
}

// -----

func.func @f(%f: vector<4xf32>) {
  // expected-error @+1 {{maps fragments and vectors of two rows, found 'vector<4xf32>'}}
  %0 = "ts.fragment_map"(%f) ({
  ^bb0(%x: f32):
    ts.yield %x : f32
  }) : (vector<4xf32>) -> !ts.fragment<64x64xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{rows are reduced by add, min or max, found 'xor'}}
  ts.fragment_reduce xor %f : !ts.fragment<64x64xf32> -> vector<2xf32>
  return
}

// -----

func.func @f(%f: vector<4xf32>) {
  // expected-error @+1 {{reduces a !ts.fragment, or a vector of two rows that was reduced in part, found 'vector<4xf32>'}}
  ts.fragment_reduce add %f : vector<4xf32> -> vector<2xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xbf16>) {
  // expected-error @+1 {{reduces f32 and i32, what threads exchange in one register, found 'bf16'; convert with ts.fragment_map}}
  ts.fragment_reduce add %f : !ts.fragment<64x64xbf16> -> vector<2xbf16>
  return
}

// -----

func.func @f(%f: vector<2xf32>) {
  // expected-error @+1 {{'partial' leaves out the exchange between threads, which is all there is to do for a vector of rows; leave it out}}
  ts.fragment_reduce add %f partial : vector<2xf32> -> vector<2xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>) {
  // expected-error @+1 {{gives one value for each of the thread's two rows, 'vector<2xf32>', found 'vector<1xf32>'}}
  ts.fragment_reduce add %f : !ts.fragment<64x64xf32> -> vector<1xf32>
  return
}

// -----

func.func @f(%p: !ts.fragment<64x64xbf16>, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>) {
  // expected-error @+1 {{A is in registers, which the product reads until its group is complete; pass A to the ts.wgmma_wait behind it, or they may be overwritten before}}
  %x = ts.wgmma %p, %b, %c : !ts.fragment<64x64xbf16>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  ts.wgmma_commit
  %0 = ts.wgmma_wait 0, %x : !ts.wgmma<64x128xf32> -> !ts.fragment<64x128xf32>
  return
}

// -----

// One group in flight behind the one that wrote it: complete. The other is not.
func.func @f(%a: memref<64x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>, %c: !ts.wgmma<64x128xf32>, %d: !ts.wgmma<64x128xf32>) {
  %x = ts.wgmma %a, %b, %c : memref<64x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  ts.wgmma_commit
  %y = ts.wgmma %a, %b, %d : memref<64x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>, !ts.wgmma<64x128xf32>
  ts.wgmma_commit
  %0 = ts.wgmma_wait 1, %x : !ts.wgmma<64x128xf32> -> !ts.fragment<64x128xf32>
  // expected-error @+1 {{with 'pending' 1 the group that writes '!ts.wgmma<64x128xf32>' may still be in flight}}
  %1 = ts.wgmma_wait 1, %y : !ts.wgmma<64x128xf32> -> !ts.fragment<64x128xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>, %d: memref<16x64xf32>) {
  // expected-error @+1 {{the destination lies in shared memory (#ts.smem), found 'memref<16x64xf32>'}}
  ts.fragment_store %f column 0 to %d : !ts.fragment<64x64xf32>, memref<16x64xf32>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>, %d: memref<32x64xf32, #ts.smem>) {
  // expected-error @+1 {{the destination is the warp's own 16 x C tile, C a multiple of 8 (16 rows of each warp, PTX ISA 8.8, wgmma register fragments), found 'memref<32x64xf32, #ts.smem>'}}
  ts.fragment_store %f column 0 to %d : !ts.fragment<64x64xf32>, memref<32x64xf32, #ts.smem>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>, %d: memref<16x32xf32, #ts.smem>) {
  // expected-error @+1 {{column 40 and 32 columns of the destination are outside '!ts.fragment<64x64xf32>' or do not start at a multiple of 8}}
  ts.fragment_store %f column 40 to %d : !ts.fragment<64x64xf32>, memref<16x32xf32, #ts.smem>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xf32>, %d: memref<16x32xi32, #ts.smem>) {
  // expected-error @+1 {{stores 'f32' as 'i32'; only f32 is converted, to a 16-bit float}}
  ts.fragment_store %f column 0 to %d : !ts.fragment<64x64xf32>, memref<16x32xi32, #ts.smem>
  return
}

// -----

func.func @f(%f: !ts.fragment<64x64xi8>, %d: memref<16x32xi8, #ts.smem>) {
  // expected-error @+1 {{stores elements of 16 or 32 bits, found 'i8'}}
  ts.fragment_store %f column 0 to %d : !ts.fragment<64x64xi8>, memref<16x32xi8, #ts.smem>
  return
}

// -----

func.func @f(%s: memref<64x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{loads 16-bit elements as they are (PTX ISA 8.8, ldmatrix), found 'memref<64x64xbf16, #ts.smem<128>>' and '!ts.fragment<64x64xf16>'}}
  ts.fragment_load %s : memref<64x64xbf16, #ts.smem<128>> -> !ts.fragment<64x64xf16>
  return
}

// -----

func.func @f(%s: memref<64x64xbf16>) {
  // expected-error @+1 {{the source lies in shared memory (#ts.smem)}}
  ts.fragment_load %s : memref<64x64xbf16> -> !ts.fragment<64x64xbf16>
  return
}

// -----

func.func @f(%s: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{the source stores the 64 x 64 matrix of '!ts.fragment<64x64xbf16>' with static strides, found 'memref<128x64xbf16, #ts.smem<128>>'}}
  ts.fragment_load %s : memref<128x64xbf16, #ts.smem<128>> -> !ts.fragment<64x64xbf16>
  return
}

// -----

func.func @f(%s: memref<64x8xbf16, #ts.smem>) {
  // expected-error @+1 {{K = 8 is no multiple of 16, what one instruction takes (PTX ISA 8.8, wgmma.mma_async)}}
  ts.fragment_load %s : memref<64x8xbf16, #ts.smem> -> !ts.fragment<64x8xbf16>
  return
}

// -----

func.func @f(%s: memref<64x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{found 1 indices into 'memref<64x64xbf16, #ts.smem<128>>', expected one per dimension, 2}}
  ts.ldmatrix %s[%i] : memref<64x64xbf16, #ts.smem<128>> -> vector<4xi32>
  return
}

// -----

func.func @f(%s: memref<8x8xbf16>, %i: index) {
  // expected-error @+1 {{the tile lies in shared memory (#ts.smem), found 'memref<8x8xbf16>'}}
  ts.ldmatrix %s[%i, %i] : memref<8x8xbf16> -> vector<4xi32>
  return
}

// -----

func.func @f(%s: memref<8x8xf32, #ts.smem>, %i: index) {
  // expected-error @+1 {{moves 8x8 matrices of 16-bit elements (PTX ISA 8.8, ldmatrix), found 'memref<8x8xf32, #ts.smem>'}}
  ts.ldmatrix %s[%i, %i] : memref<8x8xf32, #ts.smem> -> vector<4xi32>
  return
}

// -----

func.func @f(%s: memref<64x64xbf16, #ts.smem<128>>, %v: vector<3xi32>, %i: index) {
  // expected-error @+1 {{moves 1, 2 or 4 matrices, one i32 register each (PTX ISA 8.8, stmatrix), found 'vector<3xi32>'}}
  ts.stmatrix %v to %s[%i, %i] : vector<3xi32>, memref<64x64xbf16, #ts.smem<128>>
  return
}
