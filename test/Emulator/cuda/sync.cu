// Barriers, asynchronous copies, launches that overlap. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "sync_reduce", "block": [256], "grid": [4], "dynamic_smem": 1024, "buffers": {"x": {"type": "f32", "count": 1024, "init": "ints", "low": -100, "high": 100}, "y": {"type": "f32", "count": 4, "compare": "exact"}},
//@   "params": ["x", "y"]}
KERNEL sync_reduce(const float *x, float *y) {
  extern __shared__ float s[];
  unsigned t = threadIdx.x;
  s[t] = x[linear()];
  __syncthreads();
  for (unsigned n = blockDim.x / 2; n > 0; n /= 2) {
    if (t < n)
      s[t] += s[t + n];
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = s[0];
}

//@ {"name": "sync_named", "block": [128], "buffers": {"y": {"type": "u32", "count": 64, "compare": "exact"}}, "params": ["y"]}
// Two warps write, two read: bar.arrive and bar.sync on two named barriers, and bar.red.
KERNEL sync_named(uint32_t *y) {
  __shared__ uint32_t s[64];
  unsigned t = threadIdx.x;
  uint32_t sum = 0;
  for (unsigned round = 0; round < 5; ++round) {
    if (t < 64) {
      s[t] = mixed(t, round);
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("barrier.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum = sum * 3 + s[127 - t];
      asm volatile("barrier.arrive 2, 128;" ::: "memory");
    }
  }
  uint32_t n;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.u32 p, %1, 200000;\n\tbarrier.cta.red.popc.aligned.u32 %0, 3, p;\n\t}" : "=r"(n) : "r"(sum));
  if (t >= 64)
    y[t - 64] = sum + n;
}

//@ {"name": "sync_mbarrier", "block": [160], "buffers": {"y": {"type": "u32", "count": 128, "compare": "exact"}}, "params": ["y"]}
// One producer warp, four consumer warps, three stages, parities that wrap.
KERNEL sync_mbarrier(uint32_t *y) {
  __shared__ uint64_t full[3], empty[3];
  __shared__ uint32_t s[3][128];
  unsigned t = threadIdx.x;
  if (t == 0) {
    for (int k = 0; k < 3; ++k)
      barrierInit(full + k, 32), barrierInit(empty + k, 128);
    barrierInitFence();
  }
  __syncthreads();
  if (t >= 128) {
    for (unsigned k = 0; k < 11; ++k) {
      barrierWait(empty + k % 3, (k / 3 & 1) ^ 1);
      for (unsigned j = t - 128; j < 128; j += 32)
        s[k % 3][j] = mixed(j, k);
      barrierArrive(full + k % 3);
    }
  } else {
    uint32_t sum = 0;
    for (unsigned k = 0; k < 11; ++k) {
      barrierWait(full + k % 3, k / 3 & 1);
      sum = sum * 5 + s[k % 3][(t + k) & 127];
      barrierArrive(empty + k % 3);
    }
    y[t] = sum;
  }
}

//@ {"name": "sync_tokens", "block": [64], "buffers": {"y": {"type": "u32", "count": 128, "compare": "exact"}}, "params": ["y"]}
// Arrival tokens with test_wait, arrive with a count, drop, noComplete, pending_count, expect_tx and complete_tx by hand.
KERNEL sync_tokens(uint32_t *y) {
  __shared__ uint64_t b, c;
  unsigned t = threadIdx.x;
  if (t == 0) {
    barrierInit(&b, 64), barrierInit(&c, 4);
    barrierInitFence();
  }
  __syncthreads();
  uint64_t token;
  uint32_t done, n = 0;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(shared32(&b)) : "memory");
  do {
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(shared32(&b)), "l"(token) : "memory");
  } while (!done);
  if (t == 0) {
    asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], 2;" : "=l"(token) : "r"(shared32(&c)) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(shared32(&c)) : "memory");
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(shared32(&c)) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 1;" : "=l"(token) : "r"(shared32(&c)) : "memory");
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(shared32(&c)), "l"(token) : "memory");
    n = n * 10 + done;
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(shared32(&c)) : "memory");
    barrierWait(&c, 0);
    for (int k = 0; k < 3; ++k) // one dropped: three arrivals make a phase now
      barrierArrive(&c);
    barrierWait(&c, 1);
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared32(&c)) : "memory");
  }
  y[t * 2] = n;
  y[t * 2 + 1] = done;
}

//@ {"name": "sync_cp_async", "block": [64], "buffers": {"x": {"type": "u32", "count": 1024, "seed": 51}, "y": {"type": "u32", "count": 512, "compare": "exact"}}, "params": ["x", "y"]}
// cp.async of 4, 8 and 16 bytes, zero-filled and ignored sources, groups in order, arrival on a barrier.
KERNEL sync_cp_async(const uint32_t *x, uint32_t *y) {
  __shared__ __align__(16) uint32_t s[4][256];
  __shared__ uint64_t b;
  unsigned t = threadIdx.x;
  if (t == 0) {
    barrierInit(&b, 64);
    barrierInitFence();
  }
  __syncthreads();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared32(s[0] + t * 4)), "l"(x + t * 4) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared32(s[1] + t * 4)), "l"(x + 256 + t * 4), "r"(t & 7) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared32(s[1] + t * 4 + 2)), "l"(x + 256 + t * 4 + 2) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int k = 0; k < 4; ++k)
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4;" ::"r"(shared32(s[2] + t + 64 * k)), "l"(x + 512 + t * 4 + k) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.cg.shared.global.L2::64B [%0], [%1], 16, %2;" ::"r"(shared32(s[3] + t * 4)), "l"(x + 768 + t * 4), "r"(t % 5 * 4) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared32(&b)) : "memory");
  uint32_t sum = 0;
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  for (int k = 0; k < 4; ++k)
    sum = sum * 7 + s[0][t * 4 + k];
  y[t * 8] = sum;
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    y[t * 8 + 1 + k] = s[1][(t * 4 + k) ^ 4] + s[2][255 - (t * 4 + k)];
  barrierWait(&b, 0);
  y[t * 8 + 5] = s[3][(t ^ 9) * 4];
  y[t * 8 + 6] = s[3][(t ^ 9) * 4 + 2];
  y[t * 8 + 7] = s[3][(t ^ 9) * 4 + 3];
}

//@ {"name": "sync_bulk", "block": [32], "buffers": {"x": {"type": "u32", "count": 512, "seed": 52}, "y": {"type": "u32", "count": 512, "compare": "exact"}, 
//@   "z": {"type": "u32", "count": 128, "init": "ramp", "compare": "exact"}}, "params": ["x", "y", "z"]}
// cp.async.bulk to shared memory, back, prefetch, and reductions into global memory.
KERNEL sync_bulk(const uint32_t *x, uint32_t *y, uint32_t *z) {
  __shared__ __align__(128) uint32_t s[512];
  __shared__ uint64_t b;
  unsigned t = threadIdx.x;
  if (t == 0) {
    barrierInit(&b, 1);
    barrierInitFence();
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" ::"l"(x) : "memory");
    barrierExpect(&b, 2048);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1536, [%2];" ::"r"(shared32(s)), "l"(x), "r"(shared32(&b)) : "memory");
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(shared32(s + 384)), "l"(x + 384), "r"(shared32(&b)) : "memory");
  }
  __syncthreads();
  barrierWait(&b, 0);
  for (int k = t; k < 512; k += 32)
    s[k] = s[k] * 3 + 1;
  proxyFence();
  __syncwarp();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" ::"l"(y), "r"(shared32(s)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;" ::"l"(z), "r"(shared32(s)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%0], [%1], 128;" ::"l"(z + 32), "r"(shared32(s + 32)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], 128;" ::"l"(z + 64), "r"(shared32(s + 64)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], 128;" ::"l"(z + 96), "r"(shared32(s + 96)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

//@ {"name": "sync_pdl", "buffers": {"x": {"type": "u32", "count": 128, "init": "zero", "compare": "exact"}, "y": {"type": "u32", "count": 128, "compare": "exact"}},
//@   "launches": [{"entry": "sync_pdl_first", "grid": [4], "block": [32], "params": ["x"]}, {"entry": "sync_pdl_second", "grid": [4], "block": [32], "pdl": true, "params": ["x", "y"]}]}
// The second launch may begin when the first says so and reads its results after griddepcontrol.wait.
KERNEL sync_pdl_first(uint32_t *x) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  uint32_t v = linear();
  for (int k = 0; k < 50; ++k)
    v = mixed(v, k);
  x[linear()] = v;
}
KERNEL sync_pdl_second(const uint32_t *x, uint32_t *y) {
  uint32_t v = mixed(linear(), 99);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[linear()] = v + *(const volatile uint32_t *)(x + (linear() ^ 37));
}

//@ {"name": "sync_registers", "block": [256], "buffers": {"y": {"type": "u32", "count": 256, "compare": "exact"}}, "params": ["y"]}
// setmaxnreg in both directions, of two warpgroups.
extern "C" __global__ void __maxnreg__(128) sync_registers(uint32_t *y) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
    y[threadIdx.x] = mixed(threadIdx.x, 1);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    y[threadIdx.x] = mixed(threadIdx.x, 2);
  }
}
