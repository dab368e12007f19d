// Row kernels: sum and maximum (a cluster adds up through distributed shared memory), softmax, and a grid that takes its work
// from cluster launch control. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "blackwell.h"

__device__ inline float warpSum(float v) {
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__device__ inline float warpMax(float v) {
  float r;
  asm("redux.sync.max.f32 %0, %1, 0xffffffff;" : "=f"(r) : "f"(v));
  return r;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) row_sum(const float *x, float *y, int n) {
  __shared__ float part[4], total[2];
  uint32_t row = blockIdx.x / 2, rank = ctaRank(), t = threadIdx.x;
  float v = 0, m = -INFINITY;
  for (int k = rank * 128 + t; k < n; k += 256) {
    float4 q = *(const float4 *)(x + ((row * n + k) & ~3));
    float e = (k & 3) == 0 ? q.x : (k & 3) == 1 ? q.y : (k & 3) == 2 ? q.z : q.w;
    v += e, m = fmaxf(m, e);
  }
  v = warpSum(v), m = warpMax(m);
  if (t % 32 == 0)
    part[t / 32] = v;
  __syncthreads();
  if (t == 0) {
    uint32_t to;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(to) : "r"(shared32(total + rank)));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(part[0] + part[1] + part[2] + part[3]) : "memory");
  }
  if (t % 32 == 0)
    atomicMax((int *)y + gridDim.x / 2 + row, __float_as_int(m)); // all maxima are positive
  clusterSync();
  if (rank == 0 && t == 0)
    y[row] = total[0] + total[1];
  clusterSync();
}

KERNEL row_softmax(const float *x, float *y, int n) {
  __shared__ float part[2][4];
  uint32_t row = blockIdx.x, t = threadIdx.x;
  float m = -INFINITY, sum = 0;
  for (int k = t; k < n; k += 128)
    m = fmaxf(m, x[row * n + k]);
  m = warpMax(m);
  if (t % 32 == 0)
    part[0][t / 32] = m;
  __syncthreads();
  m = fmaxf(fmaxf(part[0][0], part[0][1]), fmaxf(part[0][2], part[0][3]));
  for (int k = t; k < n; k += 128)
    sum += __expf(x[row * n + k] - m);
  sum = warpSum(sum);
  if (t % 32 == 0)
    part[1][t / 32] = sum;
  __syncthreads();
  sum = part[1][0] + part[1][1] + part[1][2] + part[1][3];
  for (int k = t; k < n; k += 128)
    y[row * n + k] = __fdividef(__expf(x[row * n + k] - m), sum);
}

// Each block doubles its tile, then asks for another block's.
KERNEL stolen_tiles(const float *x, float *y) {
  __shared__ __align__(16) uint4 answer;
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    barrierInit(&b, 1);
    barrierInitFence();
  }
  __syncthreads();
  uint32_t tile = blockIdx.x, phase = 0, more = 1;
  while (more) {
    if (threadIdx.x == 0) {
      barrierExpect(&b, 16);
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(shared32(&answer)), "r"(shared32(&b)) : "memory");
    }
    uint32_t i = tile * 64 + threadIdx.x;
    y[i] = 2 * x[i] + 1;
    barrierWait(&b, phase);
    phase ^= 1;
    asm volatile("{\n\t.reg .pred p;\n\t.reg .b128 r;\n\tld.shared.b128 r, [%2];\n\t"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n\tselp.u32 %0, 1, 0, p;\n\t"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, _, _, _}, r;\n\t}"
                 : "=r"(more), "+r"(tile) : "r"(shared32(&answer)) : "memory");
    proxyFence();
    __syncthreads();
  }
}
