// Every message of the verifiers of UMMA and tensor-memory ops (TSMatrixOps.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics

//===-- UMMA

func.func @f(%d: memref<128x128xf32, #ts.smem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D lies in tensor memory (#ts.tmem), found 'memref<128x128xf32, #ts.smem>'}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.smem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D is M x N of static shape, found 'memref<128xf32, #ts.tmem>'}}
  ts.umma %d, %a, %b : memref<128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{A lies in shared memory (#ts.smem) or tensor memory (#ts.tmem), found 'memref<128x64xbf16>'}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.tmem>) {
  // expected-error @+1 {{B lies in shared memory (#ts.smem), found 'memref<128x64xbf16, #ts.tmem>'}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.tmem>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{cta_group is 1 or 2 (PTX ISA 8.8, tcgen05.mma), found 4}}
  ts.umma %d, %a, %b {cta_group = 4 : i64} : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xf16, #ts.smem<128>>) {
  // expected-error @+1 {{no UMMA kind multiplies 'bf16' by 'f16'; expected two f16, two bf16, two f32 (tf32), two i8, narrow floats (f8, f6, f4), or narrow floats with f8E8M0FNU or f8E4M3FN scales (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>, %s: memref<128x4xf8E8M0FNU, #ts.tmem>) {
  // expected-error @+1 {{no UMMA kind multiplies 'bf16' by 'bf16' with scales of 'f8E8M0FNU'}}
  ts.umma %d, %a, %b scales(%s, %s : memref<128x4xf8E8M0FNU, #ts.tmem>, memref<128x4xf8E8M0FNU, #ts.tmem>) : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{kind 'i8' does not take 'bf16' and 'bf16'; these types select f16}}
  ts.umma %d, %a, %b {kind = "i8"} : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf16, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D has element type 'f16', kind f16 accumulates in f32 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<128x128xf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x128xi8, #ts.smem<128>>, %b: memref<128x128xi8, #ts.smem<128>>) {
  // expected-error @+1 {{D has element type 'f32', kind i8 accumulates in i32 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x128xi8, #ts.smem<128>>, memref<128x128xi8, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xi32, #ts.tmem>, %a: memref<128x128xf8E4M3FN, #ts.smem<128>>, %b: memref<128x128xf8E5M2, #ts.smem<128>>) {
  // expected-error @+1 {{D has element type 'i32', kind f8f6f4 accumulates in f32 or f16 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<128x128xi32, #ts.tmem>, memref<128x128xf8E4M3FN, #ts.smem<128>>, memref<128x128xf8E5M2, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<32x64xf32, #ts.tmem>, %a: memref<32x32xf32, #ts.smem<128>>, %b: memref<64x32xf32, #ts.smem<128>>) {
  // expected-error @+1 {{'transpose_b' needs elements of 8 or 16 bits, found 'f32'; store the tile K-major}}
  ts.umma %d, %a, %b transpose_b : memref<32x64xf32, #ts.tmem>, memref<32x32xf32, #ts.smem<128>>, memref<64x32xf32, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x256xf4E2M1FN, #ts.smem<128>>, %b: memref<128x256xf4E2M1FN, #ts.smem<128>>, %s: memref<128x32xf8E8M0FNU, #ts.tmem>) {
  // expected-error @+1 {{kind mxf4 takes two scale views, A's and B's, found 1}}
  ts.umma %d, %a, %b scales(%s : memref<128x32xf8E8M0FNU, #ts.tmem>) : memref<128x128xf32, #ts.tmem>, memref<128x256xf4E2M1FN, #ts.smem<128>>, memref<128x256xf4E2M1FN, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x256xf4E2M1FN, #ts.smem<128>>, %b: memref<128x256xf4E2M1FN, #ts.smem<128>>, %s: memref<128x32xf8E8M0FNU, #ts.smem>) {
  // expected-error @+1 {{a scale view lies in tensor memory (#ts.tmem), found 'memref<128x32xf8E8M0FNU, #ts.smem>'}}
  ts.umma %d, %a, %b scales(%s, %s : memref<128x32xf8E8M0FNU, #ts.smem>, memref<128x32xf8E8M0FNU, #ts.smem>) : memref<128x128xf32, #ts.tmem>, memref<128x256xf4E2M1FN, #ts.smem<128>>, memref<128x256xf4E2M1FN, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.tmem>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{A in tensor memory is M x K, 'transpose_a' does not apply (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b transpose_a : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<1x128x64xbf16, #ts.tmem>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{A in tensor memory is M x K of static shape, found 'memref<1x128x64xbf16, #ts.tmem>'}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<1x128x64xbf16, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<8192xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{A is a matrix of static shape, rows x columns or panels x rows x columns of numbers, found 'memref<8192xbf16, #ts.smem<128>>'}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<8192xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x128xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{[TS228] A has rows of 128 x 'bf16' with a stride of 128 elements, expected contiguous rows of 128 bytes (the swizzle span; PTX ISA 8.8, matrix descriptor), 64 elements; store a wider matrix in panels, as in memref<panels x rows x 64 x 'bf16'>}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x128xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem>) {
  // expected-error @+1 {{[TS228] B has rows of 64 x 'bf16' with a stride of 64 elements, expected contiguous rows of 16 bytes (a core matrix row; PTX ISA 8.8, matrix descriptor), 8 elements}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, strided<[128, 1]>, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{[TS228] A has rows of 64 x 'bf16' with a stride of 128 elements, expected contiguous rows of 128 bytes}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, strided<[128, 1]>, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<4x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{[TS228] B has 4 rows, expected a multiple of 8, the rows of a core matrix (PTX ISA 8.8, matrix descriptor)}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<4x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, strided<[64, 1], offset: 64>, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{[TS228] A starts inside a swizzle atom: offset 64 and panel stride 0 must be multiples of 512 elements, 8 rows (PTX ISA 8.8, matrix descriptor)}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, strided<[64, 1], offset: 64>, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<64x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{A has M = 128, D has M = 64; A is M x K and D is M x N}}
  ts.umma %d, %a, %b : memref<64x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x64xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{B has N = 128, D has N = 64; B is N x K and D is M x N}}
  ts.umma %d, %a, %b : memref<128x64xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{with cta_group 2 each CTA holds half of B: expected N = 64 in B for N = 128 in D, found 128}}
  ts.umma %d, %a, %b {cta_group = 2 : i64} : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<2x128x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{A has K = 128, B has K = 64; both must agree (A is M x K, B is N x K)}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<2x128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<1x128x8xbf16, #ts.smem>, %b: memref<1x128x8xbf16, #ts.smem>) {
  // expected-error @+1 {{K = 8 is no multiple of 16, what one instruction takes (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<128x128xf32, #ts.tmem>, memref<1x128x8xbf16, #ts.smem>, memref<1x128x8xbf16, #ts.smem>
  return
}

// -----

func.func @f(%d: memref<256x128xf32, #ts.tmem>, %a: memref<256x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D has M = 256 in one CTA, but tensor memory has 128 lanes (PTX ISA 8.8, tensor memory)}}
  ts.umma %d, %a, %b : memref<256x128xf32, #ts.tmem>, memref<256x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<32x128xf32, #ts.tmem>, %a: memref<32x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D has M = 32 with cta_group 1 and kind f16, expected 64 or 128 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<32x128xf32, #ts.tmem>, memref<32x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<32x256xf32, #ts.tmem>, %a: memref<32x64xbf16, #ts.smem<128>>, %b: memref<128x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D has M = 64 with cta_group 2 and kind f16, expected 128 or 256 over both CTAs (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b {cta_group = 2 : i64} : memref<32x256xf32, #ts.tmem>, memref<32x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<64x128xf32, #ts.tmem>, %a: memref<64x256xf4E2M1FN, #ts.smem<128>>, %b: memref<128x256xf4E2M1FN, #ts.smem<128>>, %s: memref<128x32xf8E8M0FNU, #ts.tmem>) {
  // expected-error @+1 {{D has M = 64 with cta_group 1 and kind mxf4, expected 128 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b scales(%s, %s : memref<128x32xf8E8M0FNU, #ts.tmem>, memref<128x32xf8E8M0FNU, #ts.tmem>) : memref<64x128xf32, #ts.tmem>, memref<64x256xf4E2M1FN, #ts.smem<128>>, memref<128x256xf4E2M1FN, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<128x24xf32, #ts.tmem>, %a: memref<128x64xbf16, #ts.smem<128>>, %b: memref<24x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D has N = 24 with M = 128, expected a multiple of 16 from 16 to 256 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<128x24xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<24x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<64x264xf32, #ts.tmem>, %a: memref<64x64xbf16, #ts.smem<128>>, %b: memref<264x64xbf16, #ts.smem<128>>) {
  // expected-error @+1 {{D has N = 264 with M = 64, expected a multiple of 8 from 8 to 256 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<64x264xf32, #ts.tmem>, memref<64x64xbf16, #ts.smem<128>>, memref<264x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%d: memref<64x40xi32, #ts.tmem>, %a: memref<64x128xi8, #ts.smem<128>>, %b: memref<40x128xi8, #ts.smem<128>>) {
  // expected-error @+1 {{D has N = 40 with M = 64, expected a multiple of 8 from 8 to 256, for i8 8, 24 or a multiple of 16 (PTX ISA 8.8, tcgen05.mma)}}
  ts.umma %d, %a, %b : memref<64x40xi32, #ts.tmem>, memref<64x128xi8, #ts.smem<128>>, memref<40x128xi8, #ts.smem<128>>
  return
}

// -----

// Four scales of each of 128 rows are 4 columns, which every quarter of the lanes repeats: 16 bytes of a
// lane, not 4.
func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x128xf8E4M3FN, #ts.smem<128>>, %s: memref<128x4xf8E8M0FNU, #ts.tmem>) {
  // expected-error @+1 {{the scales of A, 4 for each of 128 rows, take 4 columns of tensor memory (PTX ISA 8.8, scale factor layouts): expected 'memref<128x16xf8E8M0FNU, #ts.tmem>', found 'memref<128x4xf8E8M0FNU, #ts.tmem>'}}
  ts.umma %d, %a, %a scales(%s, %s : memref<128x4xf8E8M0FNU, #ts.tmem>, memref<128x4xf8E8M0FNU, #ts.tmem>) : memref<128x128xf32, #ts.tmem>, memref<128x128xf8E4M3FN, #ts.smem<128>>, memref<128x128xf8E4M3FN, #ts.smem<128>>
  return
}

// -----

// B has 256 rows, two blocks of 128.
func.func @f(%d: memref<128x256xf32, #ts.tmem>, %a: memref<128x128xf4E2M1FN, #ts.smem<64>>, %b: memref<256x128xf4E2M1FN, #ts.smem<64>>, %s: memref<128x32xf8E4M3FN, #ts.tmem>) {
  // expected-error @+1 {{the scales of B, 8 for each of 256 rows, take 16 columns of tensor memory (PTX ISA 8.8, scale factor layouts): expected 'memref<128x64xf8E4M3FN, #ts.tmem>', found 'memref<128x32xf8E4M3FN, #ts.tmem>'}}
  ts.umma %d, %a, %b scales(%s, %s : memref<128x32xf8E4M3FN, #ts.tmem>, memref<128x32xf8E4M3FN, #ts.tmem>) : memref<128x256xf32, #ts.tmem>, memref<128x128xf4E2M1FN, #ts.smem<64>>, memref<256x128xf4E2M1FN, #ts.smem<64>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %a: memref<128x128xf4E2M1FN, #ts.smem<64>>, %s: memref<128x32xf8E4M3FN, #ts.tmem>, %t: memref<128x32xf8E8M0FNU, #ts.tmem>) {
  // expected-error @+1 {{the scales of A and B have one type, found 'memref<128x32xf8E8M0FNU, #ts.tmem>' behind 'memref<128x32xf8E4M3FN, #ts.tmem>'}}
  ts.umma %d, %a, %a scales(%s, %t : memref<128x32xf8E4M3FN, #ts.tmem>, memref<128x32xf8E8M0FNU, #ts.tmem>) : memref<128x128xf32, #ts.tmem>, memref<128x128xf4E2M1FN, #ts.smem<64>>, memref<128x128xf4E2M1FN, #ts.smem<64>>
  return
}

// -----

//===-- Tensor memory

func.func @f(%s: memref<512xi8>, %d: memref<128x128xf32, #ts.tmem>) {
  // expected-error @+1 {{the source lies in shared memory (#ts.smem), found 'memref<512xi8>'}}
  ts.tmem_copy %s to %d "32x128b.warpx4" : memref<512xi8>, memref<128x128xf32, #ts.tmem>
  return
}

// -----

func.func @f(%s: memref<512xi8, #ts.smem>) {
  // expected-error @+1 {{the destination lies in tensor memory (#ts.tmem), found 'memref<512xi8, #ts.smem>'}}
  ts.tmem_copy %s to %s "32x128b.warpx4" : memref<512xi8, #ts.smem>, memref<512xi8, #ts.smem>
  return
}

// -----

func.func @f(%s: memref<512xi8, #ts.smem>, %d: memref<128x128xf32, #ts.tmem>) {
  // expected-error @+1 {{unknown shape '32x128b'; expected one of 128x256b, 4x256b, 128x128b, 64x128b.warpx2::02_13, 64x128b.warpx2::01_23, 32x128b.warpx4 (PTX ISA 8.8, tcgen05.cp)}}
  ts.tmem_copy %s to %d "32x128b" : memref<512xi8, #ts.smem>, memref<128x128xf32, #ts.tmem>
  return
}

// -----

func.func @f(%s: memref<520xi8, #ts.smem>, %d: memref<128x128xf32, #ts.tmem>) {
  // expected-error @+1 {{one copy of shape 32x128b.warpx4 takes 512 bytes (PTX ISA 8.8, tcgen05.cp); the source has 520, which is no positive multiple}}
  ts.tmem_copy %s to %d "32x128b.warpx4" : memref<520xi8, #ts.smem>, memref<128x128xf32, #ts.tmem>
  return
}

// -----

func.func @f(%s: memref<1024xi8, #ts.smem>, %d: memref<128x16xf8E8M0FNU, #ts.tmem>) {
  // expected-error @+1 {{2 copies of shape 32x128b.warpx4 fill 8 columns of tensor memory (PTX ISA 8.8, tcgen05.cp), the destination 'memref<128x16xf8E8M0FNU, #ts.tmem>' has 4}}
  ts.tmem_copy %s to %d "32x128b.warpx4" : memref<1024xi8, #ts.smem>, memref<128x16xf8E8M0FNU, #ts.tmem>
  return
}

// -----

func.func @f(%s: memref<512xi8, #ts.smem>, %d: memref<128x128xf32, #ts.tmem>) {
  // expected-error @+1 {{cta_group is 1 or 2 (PTX ISA 8.8, tcgen05.cp), found 0}}
  ts.tmem_copy %s to %d "4x256b" {cta_group = 0 : i64} : memref<512xi8, #ts.smem>, memref<128x128xf32, #ts.tmem>
  return
}

// -----

func.func @f(%d: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{the accumulator lies in tensor memory (#ts.tmem)}}
  ts.tmem_load %d[%i] : memref<128x64xbf16, #ts.smem<128>> -> vector<32xbf16>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %i: index) {
  // expected-error @+1 {{expected a vector with one entry per element of a row, found 'f32'}}
  ts.tmem_load %d[%i] : memref<128x128xf32, #ts.tmem> -> f32
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %i: index) {
  // expected-error @+1 {{expected a vector with one entry per element of a row, found 'vector<4x8xf32>'}}
  ts.tmem_load %d[%i] : memref<128x128xf32, #ts.tmem> -> vector<4x8xf32>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %i: index) {
  // expected-error @+1 {{the vector has element type 'i32', the memory 'f32'; tensor memory does not convert}}
  ts.tmem_load %d[%i] : memref<128x128xf32, #ts.tmem> -> !ts.async<vector<32xi32>>
  return
}

// -----

func.func @f(%d: memref<128x128xf32, #ts.tmem>, %i: index) {
  // expected-error @+1 {{one access takes 1, 2, 4, ... 128 columns of 32 bits (PTX ISA 8.8, tcgen05.ld, shape 32x32b), found 'vector<24xf32>'; split it into several accesses}}
  ts.tmem_load %d[%i] : memref<128x128xf32, #ts.tmem> -> vector<24xf32>
  return
}

// -----

func.func @f(%d: memref<128x256xf32, #ts.tmem>, %v: vector<256xf32>, %i: index) {
  // expected-error @+1 {{one access takes 1, 2, 4, ... 128 columns of 32 bits (PTX ISA 8.8, tcgen05.st, shape 32x32b), found 'vector<256xf32>'}}
  ts.tmem_store %v to %d[%i] : vector<256xf32>, memref<128x256xf32, #ts.tmem>
  return
}

// -----

func.func @f(%d: memref<128x16xf32, #ts.tmem>, %i: index) {
  // expected-error @+1 {{the access takes 32 elements of a row, more than 'memref<128x16xf32, #ts.tmem>' has}}
  ts.tmem_load %d[%i] : memref<128x16xf32, #ts.tmem> -> vector<32xf32>
  return
}

// -----

func.func @f(%v: !ts.async<vector<4xf32>>) {
  // expected-error @+1 {{the wait turns '!ts.async<vector<4xf32>>' into 'vector<4xf32>', found 'vector<8xf32>'}}
  ts.tmem_wait %v : !ts.async<vector<4xf32>> -> vector<8xf32>
  return
}

// -----

func.func @f(%v: !ts.async<vector<4xf32>>) {
  // expected-error @+1 {{takes 1 values and gives 0; expected one result per value}}
  "ts.tmem_wait"(%v) : (!ts.async<vector<4xf32>>) -> ()
  return
}

// -----

func.func @f(%v: i32) {
  // expected-error @+1 {{the view lies in tensor memory (#ts.tmem), found 'memref<8xf32>'}}
  ts.tmem_view %v : memref<8xf32>
  return
}
