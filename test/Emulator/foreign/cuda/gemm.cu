// C (M x 64) = A (M x K) B (64 x K) transposed, bf16: one loading warp, one that issues tcgen05.mma, four that
// write out; two stages, 128 x 64 tiles of TMA with 128-byte swizzle. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "blackwell.h"

KERNEL gemm_bf16(const __grid_constant__ Map a, const __grid_constant__ Map b, float *c, int n, int steps) {
  extern __shared__ uint8_t dynamic[];
  __shared__ uint64_t full[2], empty[2], done;
  __shared__ uint32_t where;
  constexpr uint32_t bytesA = 128 * 128, bytesB = 64 * 128, stage = bytesA + bytesB;
  uint32_t base = (shared32(dynamic) + 1023) & ~1023u, warp = warpId();
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k)
      barrierInit(full + k, 1), barrierInit(empty + k, 1);
    barrierInit(&done, 1);
    barrierInitFence();
  }
  if (warp == 5)
    tmemAllocate(&where, 64);
  beforeSync();
  __syncthreads();
  afterSync();
  uint32_t tmem = where;
  if (warp == 4) {
    if (elected())
      for (int k = 0; k < steps; ++k) {
        int s = k & 1;
        barrierWait(empty + s, (k / 2 & 1) ^ 1);
        barrierExpect(full + s, stage);
        load2d(base + s * stage, &a, full + s, k * 64, blockIdx.x * 128);
        load2d(base + s * stage + bytesA, &b, full + s, k * 64, blockIdx.y * 64);
      }
  } else if (warp == 5) {
    if (elected()) {
      for (int k = 0; k < steps; ++k) {
        int s = k & 1;
        barrierWait(full + s, k / 2 & 1);
        afterSync();
        for (uint32_t j = 0; j < 4; ++j) {
          uint64_t da = matrix(base + s * stage + j * 32, 16, 1024, swizzle128), db = matrix(base + s * stage + bytesA + j * 32, 16, 1024, swizzle128);
          asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(tmem), "l"(da), "l"(db),
                       "r"(instruction(128, 64, 1, 1)), "r"(k | j) : "memory");
        }
        commit(empty + s);
      }
      commit(&done);
    }
  } else {
    barrierWait(&done, 0);
    afterSync();
    float *row = c + (blockIdx.x * 128 + threadIdx.x) * n + blockIdx.y * 64;
    for (uint32_t column = 0; column < 64; column += 8) {
      float v[8];
      tmemLoad8(v, tmem + (warp * 32 << 16) + column);
      for (int k = 0; k < 8; ++k)
        row[column + k] = v[k];
    }
    beforeSync();
  }
  __syncthreads();
  afterSync();
  if (warp == 5)
    tmemFree(tmem, 64);
}
