// Clusters: distributed shared memory, remote barriers, cluster registers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

__device__ inline uint32_t mapa(uint32_t address, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
  return r;
}

//@ {"name": "cluster_exchange", "block": [64], "grid": [8], "cluster": [4], "buffers": {"y": {"type": "u32", "count": 1536, "compare": "exact"}}, "params": ["y"]}
// Reads and writes the shared memory of the others; atomics there; generic addresses by cluster mapping.
KERNEL cluster_exchange(uint32_t *y) {
  __shared__ uint32_t s[64], total;
  unsigned t = threadIdx.x, rank = ctaRank();
  s[t] = mixed(linear(), 1);
  if (t == 0)
    total = 0;
  clusterSync();
  uint32_t v, peer = (rank + 1) % 4;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(mapa(shared32(s + (t ^ 9)), peer)) : "memory");
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(mapa(shared32(&total), peer)), "r"(v & 0xffff) : "memory");
  uint64_t generic;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(s + (t ^ 3)), "r"((rank + 2) % 4));
  uint32_t w = *(uint32_t *)generic;
  clusterSync();
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(mapa(shared32(s + t), (rank + 3) % 4)), "r"(v ^ w) : "memory");
  clusterSync();
  uint32_t *o = y + linear() * 3, r;
  o[0] = s[t];
  o[1] = total;
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r) : "r"(mapa(shared32(s), peer)));
  o[2] = w + r;
}

//@ {"name": "cluster_registers", "block": [32], "grid": [4, 4], "cluster": [2, 2], "buffers": {"y": {"type": "u32", "count": 192, "compare": "exact"}}, "params": ["y"]}
KERNEL cluster_registers(uint32_t *y) {
  if (threadIdx.x)
    return;
  uint32_t *o = y + (blockIdx.x + 4 * blockIdx.y) * 12;
#define SPECIAL(n, r) asm("mov.u32 %0, %%" r ";" : "=r"(o[n]));
  SPECIAL(0, "cluster_ctarank") SPECIAL(1, "cluster_nctarank") SPECIAL(2, "cluster_ctaid.x") SPECIAL(3, "cluster_ctaid.y") SPECIAL(4, "cluster_nctaid.x")
  SPECIAL(5, "clusterid.x") SPECIAL(6, "clusterid.y") SPECIAL(7, "nclusterid.x") SPECIAL(8, "nclusterid.y") SPECIAL(9, "cluster_nctaid.z")
  uint32_t p;
  asm("{\n\t.reg .pred q;\n\tmov.pred q, %%is_explicit_cluster;\n\tselp.u32 %0, 1, 0, q;\n\t}" : "=r"(p));
  o[10] = p;
  o[11] = 0;
}

//@ {"name": "cluster_pipeline", "block": [64], "grid": [2], "cluster": [2], "buffers": {"y": {"type": "u32", "count": 64, "compare": "exact"}}, "params": ["y"]}
// CTA 0 sends by st.async and red.async to CTA 1, which answers by remote arrivals.
KERNEL cluster_pipeline(uint32_t *y) {
  __shared__ __align__(16) uint32_t s[64];
  __shared__ uint64_t full, empty;
  __shared__ uint32_t count;
  unsigned t = threadIdx.x, rank = ctaRank();
  if (t == 0) {
    count = 0;
    barrierInit(&full, 1), barrierInit(&empty, 64);
    barrierInitFence();
  }
  clusterSync();
  uint32_t sum = 0;
  for (unsigned k = 0; k < 3; ++k) {
    if (rank == 0) {
      barrierWait(&empty, (k & 1) ^ 1);
      uint32_t bar = mapa(shared32(&full), 1);
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(mapa(shared32(s + t), 1)), "r"(mixed(t, k)), "r"(bar) : "memory");
      asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(mapa(shared32(&count), 1)), "r"(t), "r"(bar) : "memory");
    } else {
      if (t == 0)
        barrierExpect(&full, 64 * 8);
      barrierWait(&full, k & 1);
      sum = sum * 3 + s[t ^ 21] + count;
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapa(shared32(&empty), 0)) : "memory");
    }
  }
  if (rank == 1)
    y[t] = sum;
  clusterSync();
}

//@ {"name": "cluster_bulk", "block": [32], "grid": [2], "cluster": [2], "buffers": {"y": {"type": "u32", "count": 256, "compare": "exact"}}, "params": ["y"]}
// Bulk copy from shared to shared memory of the peer; barrier.cluster in its split form; multicast without a tensor.
KERNEL cluster_bulk(uint32_t *y) {
  __shared__ __align__(128) uint32_t from[64], to[64];
  __shared__ uint64_t b;
  unsigned t = threadIdx.x, rank = ctaRank();
  from[t] = mixed(t, rank), from[t + 32] = mixed(t + 32, rank);
  proxyFence();
  if (t == 0) {
    barrierInit(&b, 1);
    barrierInitFence();
    barrierExpect(&b, 256);
  }
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  if (t == 0)
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(mapa(shared32(to), rank ^ 1)), "r"(shared32(from)),
                 "r"(mapa(shared32(&b), rank ^ 1)) : "memory");
  barrierWait(&b, 0);
  uint32_t *o = y + (rank * 32 + t) * 4;
  o[0] = to[t], o[1] = to[63 - t], o[2] = from[t], o[3] = 0;
  clusterSync();
}
