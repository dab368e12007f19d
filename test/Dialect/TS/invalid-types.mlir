// Every message of the parsers and verifiers of types (TSTypes.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

//===-- tensor_map

// expected-error @+1 {{a tensor map has 1 to 5 dimensions (CUDA driver, cuTensorMapEncodeTiled), found 6}}
"test.op"() : () -> !ts.tensor_map<1x2x3x4x5x6xf32, box = 1x1x1x1x1x4>

// -----

// expected-error @+1 {{the box has 1 dimensions, the tensor map 2; give one box size per dimension, slowest first}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4>

// -----

// expected-error @+1 {{element type 'index' of a tensor map is neither an integer nor a float}}
"test.op"() : () -> !ts.tensor_map<?x?xindex, box = 4x4>

// -----

// expected-error @+1 {{swizzle 16 does not exist; expected 0, 32, 64 or 128 bytes}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x4, swizzle = 16>

// -----

// expected-error @+1 {{interleave 8 does not exist; expected 0, 16 or 32 bytes}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x4, interleave = 8>

// -----

// expected-error @+1 {{L2 promotion 32 does not exist; expected 0, 64, 128 or 256 bytes}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x4, l2 = 32>

// -----

// expected-error @+1 {{element_strides has 1 entries, expected 2}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x4, element_strides = 1>

// -----

// expected-error @+1 {{[TS228] box size 257 in dimension 0 is outside 1..256 (CUDA driver, cuTensorMapEncodeTiled); split the copy into several boxes}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 257x4>

// -----

// expected-error @+1 {{[TS228] box size 0 in dimension 1 is outside 1..256 (CUDA driver, cuTensorMapEncodeTiled)}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x0>

// -----

// expected-error @+1 {{[TS228] the box's innermost dimension is 12 bytes, expected a multiple of 16 bytes}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x3>

// -----

// expected-error @+1 {{[TS228] the box's innermost dimension is 256 bytes, more than the swizzle span of 128 bytes; use a box of at most 64 elements}}
"test.op"() : () -> !ts.tensor_map<?x?xbf16, box = 4x128, swizzle = 128>

// -----

// expected-error @+1 {{[TS228] element stride 9 is outside 1..8}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x4, element_strides = 1x9>

// -----

// expected-error @+1 {{fill of a tensor map is 'zero' or 'nan', found 'one'}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x4, fill = one>

// -----

// expected-error @+1 {{unknown field 'pad' of a tensor map; expected box, swizzle, interleave, fill, l2 or element_strides}}
"test.op"() : () -> !ts.tensor_map<?x?xf32, box = 4x4, pad = 3>

// -----

//===-- Register tiles

// expected-error @+1 {{a warpgroup's register tile is 64 x N (PTX ISA 8.8, wgmma), found 2 dimensions, first 128}}
"test.op"() : () -> !ts.wgmma<128x64xf32>

// -----

// expected-error @+1 {{a warpgroup's register tile is 64 x N (PTX ISA 8.8, wgmma), found 1 dimensions, first 64}}
"test.op"() : () -> !ts.fragment<64xf32>

// -----

// expected-error @+1 {{N of a warpgroup's register tile is a multiple of 8 from 8 to 256, found 12}}
"test.op"() : () -> !ts.fragment<64x12xf32>

// -----

// expected-error @+1 {{N of a warpgroup's register tile is a multiple of 8 from 8 to 256, found 264}}
"test.op"() : () -> !ts.wgmma<64x264xf32>

// -----

// expected-error @+1 {{element type 'index' of a register tile is neither an integer nor a float}}
"test.op"() : () -> !ts.wgmma<64x64xindex>

// -----

// expected-error @+1 {{unknown  type `barrier` in dialect `ts`}}
"test.op"() : () -> !ts.barrier
