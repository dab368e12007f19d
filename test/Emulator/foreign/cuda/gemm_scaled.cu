// C (128 x 128) = (A with scales) (B with scales) transposed: mxf8 (e4m3, a ue8m0 scale for 32 elements) and nvf4
// (e2m1, a ue4m3 scale for 16). Scales go through shared memory into tensor memory by tcgen05.cp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "blackwell.h"

/// Four scales each of 128 rows: row r stands in line r % 32 at 4 * (r / 32).
__device__ inline void placeScales(uint8_t *to, const uint8_t *scales, uint32_t perRow, uint32_t first) {
  uint32_t r = threadIdx.x;
  for (uint32_t k = 0; k < 4; ++k)
    to[r % 32 * 16 + r / 32 * 4 + k] = scales[r * perRow + first + k];
}
/// Rows of 128 bytes with 128-byte swizzle.
__device__ inline void placeRows(uint8_t *to, const uint8_t *from, uint32_t perRow, uint32_t first) {
  uint32_t r = threadIdx.x;
  for (uint32_t k = 0; k < 128; k += 16)
    *(uint4 *)(to + swizzled(r * 128 + k, 128)) = *(const uint4 *)(from + r * perRow + first + k);
}
__device__ inline void copyScales(uint32_t tmem, uint32_t from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(tmem), "l"(matrix(from, 16, 128, swizzleNone)) : "memory");
}

template <bool nvf4> __device__ inline void gemm(const uint8_t *a, const uint8_t *b, const uint8_t *sa, const uint8_t *sb, float *c, int k) {
  extern __shared__ uint8_t dynamic[];
  __shared__ uint64_t done;
  __shared__ uint32_t where;
  uint8_t *base = dynamic + (1024 - (shared32(dynamic) & 1023)) % 1024;
  // 128 bytes of a row hold 128 e4m3 or 256 e2m1: 4 or 16 scales a row, that is 1 or 4 blocks of scales.
  constexpr uint32_t blocks = nvf4 ? 4 : 1, elements = nvf4 ? 256 : 128, group = nvf4 ? 16 : 32;
  uint8_t *sharedB = base + 16384, *scalesA = base + 32768, *scalesB = scalesA + 512 * blocks;
  uint32_t warp = warpId(), perRow = nvf4 ? k / 2 : k;
  if (threadIdx.x == 0) {
    barrierInit(&done, 1);
    barrierInitFence();
  }
  if (warp == 0)
    tmemAllocate(&where, 256);
  beforeSync();
  __syncthreads();
  afterSync();
  uint32_t tmem = where, tmemA = tmem + 128, tmemB = tmem + 192, phase = 0;
  for (uint32_t at = 0; at < (uint32_t)k; at += elements, phase ^= 1) {
    placeRows(base, a, perRow, at * perRow / k);
    placeRows(sharedB, b, perRow, at * perRow / k);
    for (uint32_t j = 0; j < blocks; ++j) {
      placeScales(scalesA + 512 * j, sa, k / group, at / group + 4 * j);
      placeScales(scalesB + 512 * j, sb, k / group, at / group + 4 * j);
    }
    proxyFence();
    __syncthreads();
    if (warp == 0 && elected()) {
      for (uint32_t j = 0; j < blocks; ++j) {
        copyScales(tmemA + 4 * j, shared32(scalesA) + 512 * j);
        copyScales(tmemB + 4 * j, shared32(scalesB) + 512 * j);
      }
      for (uint32_t j = 0; j < 4; ++j) { // 32 bytes of a row each
        uint64_t da = matrix(shared32(base) + j * 32, 16, 1024, swizzle128), db = matrix(shared32(sharedB) + j * 32, 16, 1024, swizzle128);
        uint32_t i = (128u >> 3) << 17 | (128u >> 4) << 24;
        if (nvf4) {
          i |= 1u << 7 | 1u << 10;
          asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %6, 0;\n\ttcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], p;\n\t}" ::"r"(tmem), "l"(da),
                       "l"(db), "r"(i), "r"(tmemA + 4 * j), "r"(tmemB + 4 * j), "r"(at | j) : "memory");
        } else {
          i |= 1u << 23 | j << 4 | j << 29;
          asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %6, 0;\n\ttcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p;\n\t}" ::"r"(tmem), "l"(da),
                       "l"(db), "r"(i), "r"(tmemA), "r"(tmemB), "r"(at | j) : "memory");
        }
      }
      commit(&done);
    }
    barrierWait(&done, phase);
    afterSync();
  }
  for (uint32_t column = 0; column < 128; column += 8) {
    float v[8];
    tmemLoad8(v, tmem + (warp * 32 << 16) + column);
    for (int j = 0; j < 8; ++j)
      c[threadIdx.x * 128 + column + j] = v[j];
  }
  beforeSync();
  __syncthreads();
  afterSync();
  if (warp == 0)
    tmemFree(tmem, 256);
}

KERNEL gemm_mxf8(const uint8_t *a, const uint8_t *b, const uint8_t *sa, const uint8_t *sb, float *c, int k) { gemm<false>(a, b, sa, sb, c, k); }
KERNEL gemm_nvf4(const uint8_t *a, const uint8_t *b, const uint8_t *sa, const uint8_t *sb, float *c, int k) { gemm<true>(a, b, sa, sb, c, k); }
