// What CUDA's own libraries make: cooperative groups, cuda::barrier, cuda::atomic. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>

namespace cg = cooperative_groups;

//@ {"name": "library_groups", "block": [96], "grid": [2], "buffers": {"y": {"type": "u32", "count": 1152, "compare": "exact"}}, "params": ["y"]}
KERNEL library_groups(uint32_t *y) {
  unsigned i = linear();
  uint32_t v = mixed(i, 1), *o = y + i * 6;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  o[0] = cg::reduce(warp, v, cg::plus<uint32_t>());
  o[1] = cg::reduce(eight, (int)v, cg::less<int>());
  o[2] = cg::inclusive_scan(warp, v & 0xfff);
  o[3] = eight.shfl(v, 3) + eight.meta_group_rank() + warp.match_any(v % 7);
  o[4] = 0;
  if (v & 1) {
    auto together = cg::coalesced_threads();
    o[4] = together.size() * 100 + together.thread_rank() + together.shfl(i, 0);
  }
  auto parts = cg::labeled_partition(warp, v % 3);
  o[5] = parts.size() + cg::exclusive_scan(parts, 2u);
  block.sync();
}

//@ {"name": "library_barrier", "block": [128], "buffers": {"x": {"type": "u32", "count": 512, "seed": 71}, "y": {"type": "u32", "count": 512, "compare": "exact"}}, "params": ["x", "y"]}
// cuda::barrier with memcpy_async, one for each stage.
KERNEL library_barrier(const uint32_t *x, uint32_t *y) {
  __shared__ __align__(16) uint32_t s[2][128];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier bars[2];
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0)
    init(bars, 128), init(bars + 1, 128);
  block.sync();
  cuda::memcpy_async(block, s[0], x, cuda::aligned_size_t<16>(512), bars[0]);
  for (int k = 0; k < 4; ++k) {
    if (k < 3)
      cuda::memcpy_async(block, s[(k + 1) & 1], x + 128 * (k + 1), cuda::aligned_size_t<16>(512), bars[(k + 1) & 1]);
    bars[k & 1].arrive_and_wait();
    y[k * 128 + threadIdx.x] = s[k & 1][threadIdx.x ^ 31] * 3 + k;
    block.sync();
  }
}

//@ {"name": "library_atomic", "block": [64], "grid": [3], "buffers": {"y": {"type": "u32", "count": 8, "init": "zero", "compare": "exact"}}, "params": ["y"]}
KERNEL library_atomic(uint32_t *y) {
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> sum(y[0]), top(y[1]), turn(y[2]);
  cuda::atomic_ref<uint32_t, cuda::thread_scope_block> local(y[3 + blockIdx.x]);
  sum.fetch_add(threadIdx.x, cuda::memory_order_relaxed);
  top.fetch_max(mixed(linear(), 2));
  local.fetch_add(3, cuda::memory_order_acq_rel);
  __syncthreads();
  if (threadIdx.x == 0) { // blocks in turn
    while (turn.load(cuda::memory_order_acquire) != blockIdx.x)
      __nanosleep(20);
    y[6] = y[6] * 5 + blockIdx.x + 1;
    turn.store(blockIdx.x + 1, cuda::memory_order_release);
  }
}

//@ {"name": "library_spaces", "block": [32], "buffers": {"y": {"type": "u32", "count": 64, "compare": "exact"}}, "params": ["y"]}
__constant__ uint32_t constants[4] = {3, 5, 7, 11};
__device__ __noinline__ uint32_t spaceOf(const void *p) {
  return __isGlobal(p) + 2 * __isShared(p) + 4 * __isLocal(p) + 8 * __isConstant(p);
}
KERNEL library_spaces(uint32_t *y) {
  __shared__ uint32_t s[32];
  uint32_t local[4] = {threadIdx.x, 2, 3, 4};
  unsigned t = threadIdx.x;
  s[t] = t * 7;
  __syncwarp();
  const uint32_t *p = t % 4 == 0 ? s + (t ^ 1) : t % 4 == 1 ? local + t % 4 : t % 4 == 2 ? constants + t % 3 : y + 64 - 1 - t % 4;
  y[t] = spaceOf(p) * 1000 + (t % 4 == 3 ? 0 : *p); // generic loads from four spaces in one instruction
  y[32 + t] = spaceOf(y) + spaceOf(s) * 16 + spaceOf(local) * 256 + spaceOf(constants) * 4096 + local[t & 3];
}
