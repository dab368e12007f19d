// What the sm_100a kernels of this folder share, over the sm_90a folder's helpers: tensor memory,
// descriptors, tensor copies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "../../cuda/common.h"

struct alignas(64) Map {
  char bytes[128];
};

enum : uint64_t { swizzleNone = 0, swizzle128 = 2, swizzle64 = 4, swizzle32 = 6 };

/// A shared-memory descriptor of tcgen05: strides in bytes.
__device__ inline uint64_t matrix(uint32_t address, uint32_t leading, uint32_t stride,
                                  uint64_t swizzle) {
  return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 |
         (uint64_t)(stride >> 4) << 32 | 1ull << 46 | swizzle << 61;
}
/// An instruction descriptor with f32 accumulators. Formats: f16 0, bf16 1, tf32 2; e4m3 0, e2m1 5.
__device__ constexpr uint32_t instruction(uint32_t m, uint32_t n, uint32_t a, uint32_t b,
                                          uint32_t mnMajorA = 0, uint32_t mnMajorB = 0) {
  return 1u << 4 | a << 7 | b << 10 | mnMajorA << 15 | mnMajorB << 16 | (n >> 3) << 17 |
         (m >> 4) << 24;
}

__device__ inline void tmemAllocate(uint32_t *where, uint32_t columns) {
  asm volatile(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared32(where)),
      "r"(columns)
      : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}
__device__ inline void tmemFree(uint32_t address, uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns)
               : "memory");
}
__device__ inline void beforeSync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void afterSync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}
__device__ inline void commit(uint64_t *b) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                   shared32(b))
               : "memory");
}
__device__ inline void load2d(uint32_t to, const Map *map, uint64_t *b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], "
               "[%1, {%3, %4}], [%2];" ::"r"(to),
               "l"(map), "r"(shared32(b)), "r"(x), "r"(y)
               : "memory");
}
/// Eight columns of the 32 lanes of a warp.
__device__ inline void tmemLoad8(float *v, uint32_t address) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
               "[%8];\n\ttcgen05.wait::ld.sync.aligned;"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]),
                 "=f"(v[7])
               : "r"(address)
               : "memory");
}
__device__ inline uint32_t warpId() { return __shfl_sync(~0u, threadIdx.x / 32, 0); }
__device__ inline bool elected() {
  uint32_t p;
  asm volatile("{\n\t.reg .pred q;\n\telect.sync _|q, 0xffffffff;\n\tselp.u32 %0, 1, 0, q;\n\t}"
               : "=r"(p));
  return p;
}
/// The XOR of a swizzle of 32, 64 or 128 bytes on a byte offset of an aligned tile.
__device__ inline uint32_t swizzled(uint32_t offset, uint32_t bytes) {
  return offset ^ ((offset >> 7 & (bytes / 16 - 1)) << 4);
}
