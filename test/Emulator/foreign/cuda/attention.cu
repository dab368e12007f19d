// One tile of attention: S = Q K^T into tensor memory, softmax by the threads, P as bf16 back into tensor memory, where
// it is the A operand of O = P V with V N-major. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "blackwell.h"

KERNEL attention_tile(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v, float *o, float scale) {
  extern __shared__ uint8_t dynamic[];
  __shared__ uint64_t done;
  __shared__ uint32_t where;
  uint8_t *base = dynamic + (1024 - (shared32(dynamic) & 1023)) % 1024, *sk = base + 16384, *sv = sk + 8192;
  uint32_t warp = warpId(), t = threadIdx.x;
  if (t == 0) {
    barrierInit(&done, 1);
    barrierInitFence();
  }
  if (warp == 0)
    tmemAllocate(&where, 256);
  for (uint32_t c = 0; c < 128; c += 16) { // rows of 64 bf16
    *(uint4 *)(base + swizzled(t * 128 + c, 128)) = *(const uint4 *)((const uint8_t *)q + (blockIdx.x * 128 + t) * 128 + c);
    if (t < 64) {
      *(uint4 *)(sk + swizzled(t * 128 + c, 128)) = *(const uint4 *)((const uint8_t *)k + t * 128 + c);
      *(uint4 *)(sv + swizzled(t * 128 + c, 128)) = *(const uint4 *)((const uint8_t *)v + t * 128 + c);
    }
  }
  proxyFence();
  beforeSync();
  __syncthreads();
  afterSync();
  uint32_t tmem = where, row = tmem + (warp * 32 << 16), tmemP = tmem + 64, tmemO = tmem + 128;
  if (warp == 0 && elected()) {
    for (uint32_t j = 0; j < 4; ++j)
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(tmem), "l"(matrix(shared32(base) + j * 32, 16, 1024, swizzle128)),
                   "l"(matrix(shared32(sk) + j * 32, 16, 1024, swizzle128)), "r"(instruction(128, 64, 1, 1)), "r"(j) : "memory");
    commit(&done);
  }
  barrierWait(&done, 0);
  afterSync();
  float s[64], top = -INFINITY, total = 0;
  for (uint32_t c = 0; c < 64; c += 8)
    tmemLoad8(s + c, row + c);
  for (int c = 0; c < 64; ++c)
    top = fmaxf(top, s[c]);
  for (int c = 0; c < 64; ++c) {
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(s[c]) : "f"((s[c] - top) * scale));
    total += s[c];
  }
  for (uint32_t c = 0; c < 64; c += 8) { // two bf16 a column
    __nv_bfloat162 p[4];
    for (int j = 0; j < 4; ++j)
      p[j] = __floats2bfloat162_rn(s[c + 2 * j], s[c + 2 * j + 1]);
    const uint32_t *w = (const uint32_t *)p;
    asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1, %2, %3, %4};" ::"r"(tmemP + (warp * 32 << 16) + c / 2), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
  }
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  beforeSync();
  __syncthreads();
  afterSync();
  if (warp == 0 && elected()) {
    for (uint32_t j = 0; j < 4; ++j) // 16 rows of V: two groups of 8 rows x 128 bytes
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n\t}" ::"r"(tmemO), "r"(tmemP + j * 8),
                   "l"(matrix(shared32(sv) + j * 2048, 8192, 1024, swizzle128)), "r"(instruction(128, 64, 1, 1, 0, 1)), "r"(j) : "memory");
    commit(&done);
  }
  barrierWait(&done, 1);
  afterSync();
  for (uint32_t c = 0; c < 64; c += 8) {
    float r[8];
    tmemLoad8(r, tmemO + (warp * 32 << 16) + c);
    for (int j = 0; j < 8; ++j)
      o[(blockIdx.x * 128 + t) * 64 + c + j] = r[j] / total;
  }
  beforeSync();
  __syncthreads();
  afterSync();
  if (warp == 0)
    tmemFree(tmem, 256);
}
