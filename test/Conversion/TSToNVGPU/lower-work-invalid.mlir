// What ts-lower-work refuses.
// RUN: ts-opt %s --ts-lower-work --split-input-file --verify-diagnostics
gpu.module @m {
  gpu.func @no_barrier(%m : !llvm.ptr, %t : memref<128x64xbf16, #ts.smem<128>>, %x : index) {
    %map = builtin.unrealized_conversion_cast %m : !llvm.ptr to !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
    // expected-error @+1 {{[TS404] the load has no barrier to complete on, expected barrier(... : !llvm.ptr<3>); run ts-lower-schedule first, which gives it the one of the enclosing ts.produce}}
    ts.tma_load %map[%x, %x] to %t : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @narrow_operands(%t : i32, %a : memref<128x256xf4E2M1FN, #ts.smem<128>>) {
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    // expected-error @+1 {{[TS404] kind f8f6f4 with operands of 'f4E2M1FN': it reads them padded, expected #ts.smem<128, padded>; or multiply two 4-bit operands with kind mxf4 or mxf4nvf4}}
    ts.umma %d, %a, %a : memref<128x128xf32, #ts.tmem>, memref<128x256xf4E2M1FN, #ts.smem<128>>, memref<128x256xf4E2M1FN, #ts.smem<128>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unknown_tmem(%d : memref<128x128xf32, #ts.tmem>) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS404] the tensor-memory view 'memref<128x128xf32, #ts.tmem>' is not a subview of an allocation of rank 2, so its address is not known here; take it with memref.subview where it is used}}
    %x = ts.tmem_load %d[%c0] : memref<128x128xf32, #ts.tmem> -> vector<2xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @run_time_field(%t : memref<128xi8, #ts.smem>, %v : i32) {
    // expected-error @+1 {{[TS404] field 'elemtype' takes an immediate (PTX ISA 8.8, tensormap.replace); found a run-time value, expected an arith.constant}}
    ts.tensormap_replace %t "elemtype", %v : memref<128xi8, #ts.smem>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @swizzled_source(%t : i32, %s : memref<64x32xi32, #ts.smem<128>>) {
    %d = ts.tmem_view %t : memref<128x64xi32, #ts.tmem>
    // expected-error @+1 {{[TS404] a copy of shape 32x128b.warpx4 from the swizzled source 'memref<64x32xi32, #ts.smem<128>>'; expected 32 rows of 128 bytes, in panels where rows are longer, or #ts.smem, whose bytes are taken in order}}
    ts.tmem_copy %s to %d "32x128b.warpx4" : memref<64x32xi32, #ts.smem<128>>, memref<128x64xi32, #ts.tmem>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @schedule_left() -> index {
    // expected-error @+1 {{[TS404] 'ts.info' is not lowered by ts-lower-work; run ts-lower-schedule before it, and use views of tensor memory in ts ops only}}
    %t = ts.info thread : index
    gpu.return %t : index
  }
}

// -----

gpu.module @m {
  gpu.func @tmem_escapes(%t : i32) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{[TS404] 'ts.tmem_view' is not lowered by ts-lower-work; run ts-lower-schedule before it, and use views of tensor memory in ts ops only}}
    %d = ts.tmem_view %t : memref<128x128xf32, #ts.tmem>
    %x = memref.load %d[%c0, %c0] : memref<128x128xf32, #ts.tmem>
    memref.store %x, %d[%c0, %c0] : memref<128x128xf32, #ts.tmem>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @swizzle_lost(%t : memref<32x32xf32, #ts.smem<128>>, %u : memref<32x32xf32>) {
    // expected-error @+1 {{[TS407] 'memref.copy' accesses 'memref<32x32xf32, #ts.smem<128>>' without its swizzle, expected memref.load/store, vector.load/store or a ts op: the 16-byte chunks of each 128-byte span are permuted, so it would address other elements}}
    memref.copy %t, %u : memref<32x32xf32, #ts.smem<128>> to memref<32x32xf32>
    // expected-error @+1 {{[TS407] 'memref.memory_space_cast' accesses}}
    %v = memref.memory_space_cast %t : memref<32x32xf32, #ts.smem<128>> to memref<32x32xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @packed_vector(%t : memref<32x256xi4, #ts.smem<128>>, %i : index) -> vector<8xi4> {
    // expected-error @+1 {{[TS407] an access to swizzled shared memory takes whole bytes and vectors of rank 1, found 'vector<8xi4>' in 'memref<32x256xi4, #ts.smem<128>>'; load bytes and convert, or use ts.ldmatrix}}
    %v = vector.load %t[%i, %i] : memref<32x256xi4, #ts.smem<128>>, vector<8xi4>
    gpu.return %v : vector<8xi4>
  }
}
