// Every message of the parsers and verifiers of attributes (TSAttrs.cpp).
// RUN: ts-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

//===-- pipeline

// expected-error @+1 {{unknown pipeline type 'tma_sync'; expected async_async, tma_async, tma_umma, umma_async, async_umma, umma_umma or clc_fetch_async}}
"test.op"() {a = #ts.pipeline<tma_sync, stages = 2>} : () -> ()

// -----

// expected-error @+1 {{a pipeline needs its depth: add 'stages = N'}}
"test.op"() {a = #ts.pipeline<tma_async>} : () -> ()

// -----

// expected-error @+1 {{a pipeline has 1 to 1024 stages, found 0}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 0>} : () -> ()

// -----

// expected-error @+1 {{a pipeline has 1 to 1024 stages, found 1025}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 1025>} : () -> ()

// -----

// expected-error @+1 {{field 'stages' of a pipeline cannot be negative; leave it out to infer it}}
"test.op"() {a = #ts.pipeline<tma_async, stages = -2>} : () -> ()

// -----

// expected-error @+1 {{field 'num_bytes' of a pipeline cannot be negative; leave it out to infer it}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, num_bytes = -1>} : () -> ()

// -----

// expected-error @+1 {{an mbarrier takes 1 to 1048575 arrivals per phase (PTX ISA 8.8, mbarrier), found 0}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, producer_count = 0>} : () -> ()

// -----

// expected-error @+1 {{an mbarrier takes 1 to 1048575 arrivals per phase (PTX ISA 8.8, mbarrier), found 1048576}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, consumer_count = 1048576>} : () -> ()

// -----

// expected-error @+1 {{interleave is one stride or four (producer acquire, producer commit, consumer wait, consumer release), found 2}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, interleave = (1, 2)>} : () -> ()

// -----

// expected-error @+1 {{interleave stride 0 is not positive}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, interleave = 0>} : () -> ()

// -----

// expected-error @+1 {{mcast gives the multicast modes in M and N, found 1 numbers}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, mcast = (1)>} : () -> ()

// -----

// expected-error @+1 {{cta_layout gives (V, M, N, K), found 2 numbers}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, cta_layout = (1, 2)>} : () -> ()

// -----

// expected-error @+1 {{cta_layout counts CTAs of a cluster: expected 1 to 16, found 17}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, cta_layout = (1, 2, 3, 17)>} : () -> ()

// -----

// expected-error @+1 {{unknown signalling 'leader'; expected all, cta_leader or task_warp_leader}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, producer_signal = leader>} : () -> ()

// -----

// expected-error @+1 {{producer_op is 'thread' or 'load', found 'store'}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, producer_op = store>} : () -> ()

// -----

// expected-error @+1 {{unknown field 'depth' of a pipeline; expected stages, num_bytes, producer_count, consumer_count, producer_signal, consumer_signal, consumer_wait_signal, advance_on_wait, advance_on_acquire, interleave, producer_op, bytes_per_warp_per_cta, mcast or cta_layout}}
"test.op"() {a = #ts.pipeline<tma_async, stages = 2, depth = 3>} : () -> ()

// -----

//===-- alloc

// expected-error @+1 {{an allocation needs a name}}
"test.op"() {a = #ts.alloc<"" : memref<4xf32>>} : () -> ()

// -----

// expected-error @+1 {{allocation 'x' has the dynamic type 'memref<?xf32>'; shared and tensor memory are laid out at compile time, so every dimension must be a number}}
"test.op"() {a = #ts.alloc<"x" : memref<?xf32>>} : () -> ()

// -----

// expected-error @+1 {{allocation 'x' has element type 'index'; expected an integer or a float}}
"test.op"() {a = #ts.alloc<"x" : memref<4xindex>>} : () -> ()

// -----

// expected-error @+1 {{allocation 'x' has a layout; give the swizzle in the memory space instead, as in memref<128x64xbf16, #ts.smem<128>>}}
"test.op"() {a = #ts.alloc<"x" : memref<4x4xf32, strided<[8, 1]>>>} : () -> ()

// -----

// expected-error @+1 {{allocation 'x' is empty}}
"test.op"() {a = #ts.alloc<"x" : memref<0xf32>>} : () -> ()

// -----

// expected-error @+1 {{alignment 24 of allocation 'x' is not a power of two up to 65536}}
"test.op"() {a = #ts.alloc<"x" : memref<4xf32>, align = 24>} : () -> ()

// -----

// expected-error @+1 {{alignment 131072 of allocation 'x' is not a power of two up to 65536}}
"test.op"() {a = #ts.alloc<"x" : memref<4xf32>, align = 131072>} : () -> ()

// -----

// expected-error @+1 {{allocation 'x' cannot be placed at -2}}
"test.op"() {a = #ts.alloc<"x" : memref<4xf32>, at = -2>} : () -> ()

// -----

// expected-error @+1 {{unknown field 'pad' of an allocation; expected align, at or unstaged}}
"test.op"() {a = #ts.alloc<"x" : memref<4xf32>, pad = 2>} : () -> ()

// -----

//===-- effect, memory spaces

// expected-error @+1 {{an effect is 'read' or 'write', found 'update'}}
"test.op"() {a = #ts.effect<update>} : () -> ()

// -----

// expected-error @+1 {{unknown engine 'dma'; expected thread, cp_async, tma, bulk, wgmma, umma, utccp or clc}}
"test.op"() {a = #ts.effect<read "a", engine = dma>} : () -> ()

// -----

// expected-error @+1 {{unknown field 'length' of an effect; expected offset, size or engine}}
"test.op"() {a = #ts.effect<read "a", length = 4>} : () -> ()

// -----

// expected-error @+1 {{swizzle 256 does not exist; expected 0, 32, 64 or 128 bytes}}
"test.op"() {a = #ts.smem<256>} : () -> ()

// -----

// expected-error @+1 {{unknown attribute `gmem` in dialect `ts`}}
"test.op"() {a = #ts.gmem} : () -> ()

// -----

// expected-error @+1 {{padded memory has no swizzle or one of 128 bytes (CUDA driver, 16U4_ALIGN16B), found 64}}
"test.op"() {a = #ts.smem<64, padded>} : () -> ()

// -----

// expected-error @+1 {{allocation 'x' is padded, which is for elements of 4 or 6 bits, found 'f8E4M3FN'; use #ts.smem without it}}
"test.op"() {a = #ts.alloc<"x" : memref<8x128xf8E4M3FN, #ts.smem<128, padded>>>} : () -> ()
