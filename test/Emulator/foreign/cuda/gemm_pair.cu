// C (256 x 128) = A (256 x K) B (128 x K) transposed, f16, by a pair of CTAs: cta_group::2, each loads half of A
// and of B; the leader multiplies; commit arrives in both. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "blackwell.h"

__device__ inline void loadPair(uint32_t to, const Map *map, uint32_t bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(map), "r"(bar), "r"(x), "r"(y) : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) gemm_pair(const __grid_constant__ Map a, const __grid_constant__ Map b, float *c, int n, int steps) {
  extern __shared__ uint8_t dynamic[];
  __shared__ uint64_t full[2], empty[2], done;
  __shared__ uint32_t where;
  constexpr uint32_t bytesA = 128 * 128, bytesB = 64 * 128, stage = bytesA + bytesB;
  uint32_t base = (shared32(dynamic) + 1023) & ~1023u, warp = warpId(), rank = ctaRank();
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k)
      barrierInit(full + k, 1), barrierInit(empty + k, 1);
    barrierInit(&done, 1);
    barrierInitFence();
  }
  if (warp == 5) {
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(shared32(&where)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
  }
  beforeSync();
  __syncthreads();
  clusterSync();
  afterSync();
  uint32_t tmem = where;
  if (warp == 4) {
    if (elected())
      for (int k = 0; k < steps; ++k) {
        int s = k & 1;
        barrierWait(empty + s, (k / 2 & 1) ^ 1);
        if (rank == 0)
          barrierExpect(full + s, 2 * stage);
        uint32_t bar = shared32(full + s) & 0xfeffffffu; // the leader's
        loadPair(base + s * stage, &a, bar, k * 64, blockIdx.x * 128);
        loadPair(base + s * stage + bytesA, &b, bar, k * 64, rank * 64);
      }
  } else if (warp == 5 && rank == 0) {
    if (elected()) {
      for (int k = 0; k < steps; ++k) {
        int s = k & 1;
        barrierWait(full + s, k / 2 & 1);
        afterSync();
        for (uint32_t j = 0; j < 4; ++j) {
          uint64_t da = matrix(base + s * stage + j * 32, 16, 1024, swizzle128), db = matrix(base + s * stage + bytesA + j * 32, 16, 1024, swizzle128);
          asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %4, 0;\n\ttcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(tmem), "l"(da), "l"(db),
                       "r"(instruction(256, 128, 0, 0)), "r"(k | j) : "memory");
        }
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(shared32(empty + s)), "h"((uint16_t)3) : "memory");
      }
      asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(shared32(&done)), "h"((uint16_t)3) : "memory");
    }
  } else if (warp < 4) {
    barrierWait(&done, 0);
    afterSync();
    float *row = c + (blockIdx.x * 128 + threadIdx.x) * n;
    for (uint32_t column = 0; column < 128; column += 8) {
      float v[8];
      tmemLoad8(v, tmem + (warp * 32 << 16) + column);
      for (int k = 0; k < 8; ++k)
        row[column + k] = v[k];
    }
    beforeSync();
  }
  __syncthreads();
  clusterSync();
  afterSync();
  if (warp == 5)
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 128;" ::"r"(tmem) : "memory");
}
