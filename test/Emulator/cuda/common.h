// What the kernels of this folder share: deterministic inputs and shared-memory addresses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define KERNEL extern "C" __global__ void

__device__ inline uint32_t mixed(uint32_t index, uint32_t seed) {
  uint32_t x = index * 0x9E3779B9u + seed * 0x85EBCA6Bu;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ x >> 16;
}
__device__ inline uint32_t shared32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline uint32_t linear() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline void barrierInit(uint64_t *b, uint32_t n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared32(b)), "r"(n) : "memory");
}
__device__ inline void barrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void barrierExpect(uint64_t *b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared32(b)),
               "r"(bytes)
               : "memory");
}
__device__ inline void barrierArrive(uint64_t *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared32(b)) : "memory");
}
__device__ inline void barrierWait(uint64_t *b, uint32_t parity) {
  asm volatile("{\n\t.reg .pred p;\n"
               "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "\t@p bra done;\n\tbra again;\ndone:\n\t}" ::"r"(shared32(b)),
               "r"(parity)
               : "memory");
}
__device__ inline void proxyFence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline uint32_t ctaRank() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ inline void clusterSync() {
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
