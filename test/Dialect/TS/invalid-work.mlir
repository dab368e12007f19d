// Every message of the verifiers of copies, barriers and information ops (TSWorkOps.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics

//===-- TMA

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{multicasts along "k"; expected "n" (to all CTAs with the same m, operand A) or "m" (to all with the same n, operand B)}}
  ts.tma_load %A[%i, %i] to %x {along = "k"} : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index, %m: i16) {
  // expected-error @+1 {{has both 'along' and the mask that follows from it; leave one out}}
  ts.tma_load %A[%i, %i] to %x multicast(%m) {along = "n"} : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16>, %i: index) {
  // expected-error @+1 {{the destination lies in shared memory (#ts.smem), found 'memref<128x64xbf16>'}}
  ts.tma_load %A[%i, %i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<?x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{the destination has the dynamic type 'memref<?x64xbf16, #ts.smem<128>>'; the bytes of a stage must be known at compile time}}
  ts.tma_load %A[%i, %i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<?x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, strided<[128, 1]>, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{the destination is copied as one contiguous block, but 'memref<128x64xbf16, strided<[128, 1]>, #ts.smem<128>>' has gaps; copy row by row or take a whole tile}}
  ts.tma_load %A[%i, %i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, strided<[128, 1]>, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{the destination has element type 'f16', the tensor map 'bf16'; TMA does not convert}}
  ts.tma_load %A[%i, %i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{found 1 coordinates, expected 2, one per dimension of the tensor map}}
  ts.tma_load %A[%i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<64x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{one copy moves 128x64 elements, but the destination is 64x64; make box and view the same, or copy into a subview}}
  ts.tma_load %A[%i, %i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<64x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<64>>, %i: index) {
  // expected-error @+1 {{[TS228] the tensor map swizzles over 128 bytes, the destination over 64; readers would find the elements in other places}}
  ts.tma_load %A[%i, %i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<64>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, strided<[64, 1], offset: 32>, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{[TS228] the destination starts at element 32, which is not a multiple of 128 bytes (PTX ISA 8.8, cp.async.bulk.tensor)}}
  ts.tma_load %A[%i, %i] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, strided<[64, 1], offset: 32>, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{cta_group is 1 or 2 (PTX ISA 8.8, tcgen05), found 3}}
  ts.tma_load %A[%i, %i] to %x {cta_group = 3 : i64} : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{'gather' takes 4 row indices (PTX ISA 8.8, tile::gather4), found 2}}
  ts.tma_load %A[%i] to %x gather(%i, %i) : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{[TS228] 'gather' needs a tensor map of rank 2 whose box is one row (PTX ISA 8.8, tile::gather4), found rank 2 and box 128x64}}
  ts.tma_load %A[%i] to %x gather(%i, %i, %i, %i) : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 1x64>, %x: memref<4x64xbf16, #ts.smem>, %i: index) {
  // expected-error @+1 {{found 2 coordinates, expected 1: the row indices replace the first one}}
  ts.tma_load %A[%i, %i] to %x gather(%i, %i, %i, %i) : !ts.tensor_map<?x?xbf16, box = 1x64>, memref<4x64xbf16, #ts.smem>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{one copy moves 128x64 elements, but the source is 64; make box and view the same}}
  ts.tma_store %x to %A[%i, %i] : memref<64xbf16, #ts.smem<128>>, !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{[TS228] 'scatter' needs a tensor map of rank 2 whose box is one row}}
  ts.tma_store %x to %A[%i] scatter(%i, %i, %i, %i) : memref<128x64xbf16, #ts.smem<128>>, !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 1x64>, %x: memref<4x64xbf16, #ts.smem>, %i: index) {
  // expected-error @+1 {{'reduce' and 'scatter' exclude each other (PTX ISA 8.8, cp.reduce.async.bulk.tensor has no scatter mode)}}
  ts.tma_store %x to %A[%i] scatter(%i, %i, %i, %i) reduce add : memref<4x64xbf16, #ts.smem>, !ts.tensor_map<?x?xbf16, box = 1x64>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{reduction 'xor' needs integer elements (PTX ISA 8.8, cp.reduce.async.bulk.tensor), found 'bf16'; floats take add, min and max}}
  ts.tma_store %x to %A[%i, %i] reduce xor : memref<128x64xbf16, #ts.smem<128>>, !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+2 {{custom op 'ts.tma_store' failed to parse}}
  // expected-error @+1 {{expected ::mlir::ts::ReduceKind to be one of: add, min, max, inc, dec, and, or, xor}}
  ts.tma_store %x to %A[%i, %i] reduce mul : memref<128x64xbf16, #ts.smem<128>>, !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
  return
}

// -----

func.func @f(%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, %i: index) {
  // expected-error @+1 {{found 1 coordinates, expected 2, one per dimension of the tensor map, or none to prefetch the descriptor}}
  ts.tma_prefetch %A[%i] : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
  return
}

// -----

//===-- tensormap_replace

func.func @f(%m: memref<128xi8>, %v: i32) {
  // expected-error @+1 {{the tensor map lies in shared memory (#ts.smem), found 'memref<128xi8>'}}
  ts.tensormap_replace %m "rank", %v : memref<128xi8>, i32
  return
}

// -----

func.func @f(%m: memref<64xi8, #ts.smem>, %v: i32) {
  // expected-error @+1 {{a tensor map has 128 bytes, found 'memref<64xi8, #ts.smem>'}}
  ts.tensormap_replace %m "rank", %v : memref<64xi8, #ts.smem>, i32
  return
}

// -----

func.func @f(%m: memref<128xi8, #ts.smem>, %v: i32) {
  // expected-error @+1 {{unknown field 'boxdim' of a tensor map; expected one of global_address, rank, box_dim, global_dim, global_stride, element_stride, elemtype, interleave_layout, swizzle_mode, fill_mode, swizzle_atomicity (PTX ISA 8.8, tensormap.replace)}}
  ts.tensormap_replace %m "boxdim", %v : memref<128xi8, #ts.smem>, i32
  return
}

// -----

func.func @f(%m: memref<128xi8, #ts.smem>, %v: i64) {
  // expected-error @+1 {{field 'global_stride' has ordinals 0..3 (PTX ISA 8.8, tensormap.replace), found 4}}
  ts.tensormap_replace %m "global_stride", %v {ordinal = 4 : i64} : memref<128xi8, #ts.smem>, i64
  return
}

// -----

func.func @f(%m: memref<128xi8, #ts.smem>, %v: i32) {
  // expected-error @+1 {{field 'rank' has ordinals 0..0 (PTX ISA 8.8, tensormap.replace), found -1}}
  ts.tensormap_replace %m "rank", %v {ordinal = -1 : i64} : memref<128xi8, #ts.smem>, i32
  return
}

// -----

func.func @f(%m: memref<128xi8, #ts.smem>, %v: i32) {
  // expected-error @+1 {{field 'global_address' takes an i64 (PTX ISA 8.8, tensormap.replace), found 'i32'}}
  ts.tensormap_replace %m "global_address", %v : memref<128xi8, #ts.smem>, i32
  return
}

// -----

//===-- Bulk copies, cp.async

func.func @f(%g: memref<128x64xbf16, #ts.smem<128>>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{the source lies in global memory, found 'memref<128x64xbf16, #ts.smem<128>>'}}
  ts.bulk_load %g[%i, %i] to %x : memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%g: memref<?x64xbf16>, %x: memref<?x64xbf16>, %i: index) {
  // expected-error @+1 {{the destination lies in shared memory (#ts.smem), found 'memref<?x64xbf16>'}}
  ts.bulk_load %g[%i, %i] to %x : memref<?x64xbf16>, memref<?x64xbf16>
  return
}

// -----

func.func @f(%g: memref<?x64xbf16>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{found 1 indices into the source of type 'memref<?x64xbf16>', expected one per dimension, 2}}
  ts.bulk_load %g[%i] to %x : memref<?x64xbf16>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%g: memref<?x64xf16>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{copies do not convert: the source has element type 'f16', the destination 'bf16'}}
  ts.bulk_load %g[%i, %i] to %x : memref<?x64xf16>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%g: memref<?xi8>, %x: memref<24xi8, #ts.smem>, %i: index) {
  // expected-error @+1 {{[TS228] a bulk copy moves a multiple of 16 bytes (PTX ISA 8.8, cp.async.bulk), found 24 bytes in 'memref<24xi8, #ts.smem>'}}
  ts.bulk_load %g[%i] to %x : memref<?xi8>, memref<24xi8, #ts.smem>
  return
}

// -----

func.func @f(%g: memref<?x8xi8>, %x: memref<4x8xi8, strided<[16, 1]>, #ts.smem>, %i: index) {
  // expected-error @+1 {{the source is copied as one contiguous block, but 'memref<4x8xi8, strided<[16, 1]>, #ts.smem>' has gaps}}
  ts.bulk_store %x to %g[%i, %i] : memref<4x8xi8, strided<[16, 1]>, #ts.smem>, memref<?x8xi8>
  return
}

// -----

func.func @f(%g: memref<?x64xbf16>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{found 3 indices into the destination of type 'memref<?x64xbf16>', expected one per dimension, 2}}
  ts.bulk_store %x to %g[%i, %i, %i] : memref<128x64xbf16, #ts.smem<128>>, memref<?x64xbf16>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{waits until at most 'pending' groups are in flight: expected a number from 0 to 2147483647, found -1}}
  ts.bulk_wait -1
  return
}

// -----

func.func @f(%g: memref<?x64xbf16>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{each thread copies 4, 8 or 16 bytes (PTX ISA 8.8, cp.async), found 12}}
  ts.cp_async %g[%i, %i] to %x[%i, %i], 12 : memref<?x64xbf16>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%g: memref<?x64xbf16>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{found 1 indices into the destination of type 'memref<128x64xbf16, #ts.smem<128>>', expected one per dimension, 2}}
  ts.cp_async %g[%i, %i] to %x[%i], 16 : memref<?x64xbf16>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%g: memref<?x64xbf16>, %x: memref<?x64xbf16>, %i: index) {
  // expected-error @+1 {{the destination lies in shared memory (#ts.smem)}}
  ts.cp_async %g[%i, %i] to %x[%i, %i], 16 : memref<?x64xbf16>, memref<?x64xbf16>
  return
}

// -----

func.func @f(%g: memref<128x64xbf16, #ts.smem<128>>, %x: memref<128x64xbf16, #ts.smem<128>>, %i: index) {
  // expected-error @+1 {{the source lies in global memory}}
  ts.cp_async %g[%i, %i] to %x[%i, %i], 16 : memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
  return
}

// -----

func.func @f(%g: memref<?xf16>, %x: memref<64xf32, #ts.smem>, %i: index) {
  // expected-error @+1 {{copies do not convert: the source has element type 'f16', the destination 'f32'}}
  ts.cp_async %g[%i] to %x[%i], 16 : memref<?xf16>, memref<64xf32, #ts.smem>
  return
}

// -----

func.func @f(%g: memref<?xf64>, %x: memref<64xf64, #ts.smem>, %i: index) {
  // expected-error @+1 {{copies whole elements: 4 bytes do not hold a number of 'f64'}}
  ts.cp_async %g[%i] to %x[%i], 4 : memref<?xf64>, memref<64xf64, #ts.smem>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected a number from 0 to 2147483647, found -7}}
  ts.cp_async_wait -7
  return
}

// -----

//===-- Barriers, distributed shared memory

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-error @+1 {{a named barrier counts whole warps: expected a multiple of 32 from 32 to 1024 threads (PTX ISA 8.8, barrier.cta), found 100}}
    ts.named_barrier "n" threads(100)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-error @+1 {{expected a multiple of 32 from 32 to 1024 threads (PTX ISA 8.8, barrier.cta), found 2048}}
    ts.named_barrier "n" threads(2048)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-error @+1 {{a named barrier has an id from 1 to 15 (PTX ISA 8.8, barrier.cta; 0 is the barrier of the whole CTA), found 0; leave it out to have one assigned}}
    ts.named_barrier "n" threads(64) id(0)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-error @+1 {{a named barrier has an id from 1 to 15 (PTX ISA 8.8, barrier.cta; 0 is the barrier of the whole CTA), found 16}}
    ts.named_barrier "n" threads(64) id(16)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-error @+1 {{an mbarrier takes 1 to 1048575 arrivals per phase (PTX ISA 8.8, mbarrier), found 0}}
    ts.mbarrier "b" count(0)
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-error @+1 {{an mbarrier takes 1 to 1048575 arrivals per phase (PTX ISA 8.8, mbarrier), found 1048576}}
    ts.mbarrier "b" count(1048576)
  }
}

// -----

func.func @f(%b: !ts.resource) {
  // expected-error @+1 {{expected a barrier made by 'ts.named_barrier', found a block argument; name the barrier itself}}
  ts.barrier_sync %b
  return
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-note @+1 {{made here}}
    %b = ts.mbarrier "b" count(1)
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{expected a barrier made by 'ts.named_barrier', found the result of 'ts.mbarrier'}}
      ts.barrier_arrive %b
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    // expected-note @+1 {{made here}}
    %b = ts.pdl "b"
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{expected a barrier made by 'ts.mbarrier', found the result of 'ts.pdl'}}
      ts.mbarrier_arrive %b
    }
  }
}

// -----

gpu.module @m {
  ts.kernel @k() warps(1) {
    %b = ts.mbarrier "b" count(1)
    ts.task "t" warps(0, 1) {
      // expected-error @+1 {{an mbarrier counts 0 to 1048575 transaction bytes (PTX ISA 8.8, mbarrier), found 1048576}}
      ts.mbarrier_arrive %b expect 1048576
    }
  }
}

// -----

func.func @f(%p: i32, %b: !ts.resource) {
  // expected-error @+1 {{expected a barrier made by 'ts.mbarrier', found a block argument}}
  ts.mbarrier_wait %b parity %p
  return
}

// -----

func.func @f(%m: memref<8xf32>, %i: index) {
  // expected-error @+1 {{a peer's memory lies in shared memory (#ts.smem), found 'memref<8xf32>'}}
  ts.dsmem_load %m[%i] cta(%i) : memref<8xf32> -> f32
  return
}

// -----

func.func @f(%m: memref<8xf32, #ts.smem>, %i: index) {
  // expected-error @+1 {{found 0 indices into a peer's memory of type 'memref<8xf32, #ts.smem>', expected one per dimension, 1}}
  ts.dsmem_load %m[] cta(%i) : memref<8xf32, #ts.smem> -> f32
  return
}

// -----

func.func @f(%m: memref<8xf32, #ts.smem>, %v: i32, %i: index) {
  // expected-error @+1 {{the value has type 'i32', expected the element type 'f32' of 'memref<8xf32, #ts.smem>'}}
  ts.dsmem_store %v to %m[%i] cta(%i) : i32, memref<8xf32, #ts.smem>
  return
}

// -----

func.func @f(%m: memref<8x8xf32, strided<[1, 8]>, #ts.smem>, %i: index) {
  // expected-error @+1 {{a vector takes consecutive elements, but the innermost dimension of 'memref<8x8xf32, strided<[1, 8]>, #ts.smem>' has another stride than 1}}
  ts.dsmem_load %m[%i, %i] cta(%i) : memref<8x8xf32, strided<[1, 8]>, #ts.smem> -> vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32, #ts.smem>, %i: index) {
  // expected-error @+1 {{the value has type 'vector<2x4xf32>', expected the element type 'f32' of 'memref<8x8xf32, #ts.smem>', or a vector of it}}
  ts.dsmem_load %m[%i, %i] cta(%i) : memref<8x8xf32, #ts.smem> -> vector<2x4xf32>
  return
}

// -----

//===-- Enum words

func.func @f() {
  // expected-error @+2 {{custom op 'ts.info' failed to parse}}
  // expected-error @+1 {{expected ::mlir::ts::InfoKind to be one of: thread, warp, lane, cta_rank, stage, barrier, smem_base, tmem_base, loop_offset, loop_start, loop_end, loop_step, in_flight, replica, call_index}}
  ts.info threads : index
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{result #0 must be index or 32-bit signless integer, but got 'f32'}}
  ts.info thread : f32
  return
}

// -----

func.func @f() {
  // expected-error @+3 {{custom op 'ts.fence' failed to parse}}
  // expected-error @+1 {{expected ::mlir::ts::FenceKind to be one of: proxy_async_shared, proxy_async, tcgen05_before, tcgen05_after, mbarrier_init, cluster, cta, gpu}}
  ts.fence all
  return
}

// -----

!map = !ts.tensor_map<?x?xf4E2M1FN, box = 8x256, swizzle = 128>
!tile = memref<8x256xf4E2M1FN, #ts.smem<128, padded>>
func.func @f(%A: !map, %x: !tile, %i: index) {
  // expected-error @+1 {{[TS228] the destination is padded, so the innermost box dimension is 128 elements (CUDA driver, 16U4_ALIGN16B), found 256}}
  ts.tma_load %A[%i, %i] to %x : !map, !tile
  return
}

// -----

!map = !ts.tensor_map<?x?xf4E2M1FN, box = 8x128, swizzle = 128>
!tile = memref<8x128xf4E2M1FN, #ts.smem<128, padded>>
func.func @f(%A: !map, %x: !tile, %i: index) {
  // expected-error @+1 {{the source 'memref<8x128xf4E2M1FN, #ts.smem<128, padded>>' is padded, and padded elements can only be loaded}}
  ts.tma_store %x to %A[%i, %i] : !tile, !map
  return
}

// -----

!map = !ts.tensor_map<?x?xf4E2M1FN, box = 8x128, swizzle = 128>
!tile = memref<8x128xf4E2M1FN, #ts.smem<128, padded>>
!packed = memref<8x128xf4E2M1FN, #ts.smem<128>>
func.func @f(%A: !map, %x: !tile, %y: !packed, %i: index) {
  // expected-error @+1 {{writes padded elements, and another copy by the same tensor map moves them packed; the tensor map says which it is, so take two}}
  ts.tma_load %A[%i, %i] to %x : !map, !tile
  // expected-note @+1 {{the other copy}}
  ts.tma_load %A[%i, %i] to %y : !map, !packed
  return
}

// -----

!packed = memref<?x128xf4E2M1FN>
!tile = memref<128xf4E2M1FN, #ts.smem<128, padded>>
func.func @f(%A: !packed, %x: !tile, %i: index) {
  // expected-error @+1 {{the destination 'memref<128xf4E2M1FN, #ts.smem<128, padded>>' is padded; ts.tma_load writes such memory, ts.umma reads it}}
  ts.bulk_load %A[%i, %i] to %x : !packed, !tile
  return
}
