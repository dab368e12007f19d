// What lanes of a warp do together. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

//@ {"name": "warp_shuffle", "block": [64], "buffers": {"y": {"type": "u32", "count": 1024, "compare": "exact"}}, "params": ["y"]}
// All modes with and without segments, the predicate, partial masks, 64-bit values.
KERNEL warp_shuffle(uint32_t *y) {
  unsigned i = linear(), lane = i & 31;
  uint32_t v = mixed(i, 1), *o = y + i * 16, r, p;
  o[0] = __shfl_sync(~0u, v, lane * 5);
  o[1] = __shfl_up_sync(~0u, v, 3);
  o[2] = __shfl_down_sync(~0u, v, 7);
  o[3] = __shfl_xor_sync(~0u, v, 13);
  o[4] = __shfl_sync(~0u, v, lane + 3, 8);
  o[5] = __shfl_up_sync(~0u, v, 2, 4);
  o[6] = __shfl_down_sync(~0u, v, 5, 16);
  o[7] = __shfl_xor_sync(~0u, v, 9, 8);
  uint64_t w = __shfl_xor_sync(~0u, (uint64_t)v * 0x100000001ull + lane, 1);
  o[8] = (uint32_t)(w >> 32);
  o[9] = (uint32_t)w;
#define SHFL(mode, b, c) \
  asm volatile("{\n\t.reg .pred q;\n\tshfl.sync." mode ".b32 %0|q, %2, %3, %4, 0xffffffff;\n\tselp.u32 %1, 1, 0, q;\n\t}" \
               : "=r"(r), "=r"(p) : "r"(v), "r"(b), "r"(c));
  SHFL("up", 4, 0) o[10] = r + p;
  SHFL("down", 9, 0x101f) o[11] = r + p;
  SHFL("idx", lane * 3 & 31, 0x181f) o[12] = r + p;
  SHFL("bfly", 24, 0x0f) o[13] = r + p;
  o[14] = o[15] = 0;
  if (lane & 1) // half of the lanes among themselves
    o[14] = __shfl_sync(0xaaaaaaaau, v, (lane + 2) & 31 | 1);
  else
    o[15] = __shfl_xor_sync(0x55555555u, v, 6);
}

//@ {"name": "warp_vote", "block": [64], "buffers": {"y": {"type": "u32", "count": 1024, "compare": "exact"}}, "params": ["y"]}
KERNEL warp_vote(uint32_t *y) {
  unsigned i = linear(), lane = i & 31;
  uint32_t v = mixed(i, 2), *o = y + i * 16, r;
  o[0] = __ballot_sync(~0u, v & 1);
  o[1] = __any_sync(~0u, v % 37 == 5) + 2 * __all_sync(~0u, v | 1);
  asm volatile("{\n\t.reg .pred p, q;\n\tsetp.gt.u32 p, %1, 5;\n\tvote.sync.uni.pred q, p, 0xffffffff;\n\tselp.u32 %0, 1, 0, q;\n\t}" : "=r"(r) : "r"(lane));
  o[2] = r + __activemask() % 2;
  o[3] = __match_any_sync(~0u, v % 5);
  int all;
  o[4] = __match_all_sync(~0u, i / 32, &all);
  o[4] += (uint32_t)all;
  o[5] = __match_any_sync(~0u, (uint64_t)(v % 3) << 33);
  o[6] = __reduce_add_sync(~0u, v);
  o[7] = (uint32_t)__reduce_min_sync(~0u, (int)v);
  o[8] = __reduce_max_sync(~0u, v);
  o[9] = __reduce_and_sync(~0u, v | 0xff);
  o[10] = __reduce_or_sync(~0u, v & 0xf0f);
  o[11] = __reduce_xor_sync(~0u, v);
  asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 l;\n\telect.sync l|p, 0xffffffff;\n\tselp.u32 %0, 100, 200, p;\n\tadd.u32 %0, %0, l;\n\t}" : "=r"(o[12]));
  o[13] = o[14] = 0;
  if (lane % 3 == 0) {
    o[13] = __ballot_sync(0x49249249u, v & 2);
    o[14] = __reduce_add_sync(0x49249249u, v & 15) + __match_any_sync(0x49249249u, lane / 9);
  }
  __syncwarp();
  o[15] = __popc(__ballot_sync(~0u, lane < 20));
}

//@ {"name": "warp_scan", "block": [128], "grid": [2], "buffers": {"y": {"type": "u32", "count": 258, "compare": "exact"}}, "params": ["y"]}
// Scan of a block by shuffles and shared memory, then a sum over the block.
KERNEL warp_scan(uint32_t *y) {
  __shared__ uint32_t sums[4];
  unsigned t = threadIdx.x, lane = t & 31;
  uint32_t v = mixed(linear(), 3) & 0xffff;
  for (int d = 1; d < 32; d *= 2) {
    uint32_t n = __shfl_up_sync(~0u, v, d);
    if (lane >= d)
      v += n;
  }
  if (lane == 31)
    sums[t / 32] = v;
  __syncthreads();
  for (unsigned w = 0; w < t / 32; ++w)
    v += sums[w];
  y[linear()] = v;
  int n = __syncthreads_count(v & 1), any = __syncthreads_or(v % 1000 == 7), all = __syncthreads_and(v > 3);
  if (t == 0)
    y[256 + blockIdx.x] = (uint32_t)(n * 4 + any * 2 + all);
}

//@ {"name": "warp_ldmatrix", "block": [32], "buffers": {"y": {"type": "u32", "count": 1024, "compare": "exact"}}, "params": ["y"]}
// ldmatrix of 1, 2 and 4 matrices, transposed and not; stmatrix of what they read.
KERNEL warp_ldmatrix(uint32_t *y) {
  __shared__ __align__(16) uint16_t s[512], d[512];
  unsigned lane = threadIdx.x;
  for (int k = lane; k < 512; k += 32)
    s[k] = (uint16_t)mixed(k, 4), d[k] = 0;
  __syncwarp();
  uint32_t *o = y + lane * 16, row = shared32(s + (lane ^ 5) * 8), at = shared32(d + (31 - lane) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(o[0]) : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(o[1]), "=r"(o[2]) : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(o[3]), "=r"(o[4]), "=r"(o[5]), "=r"(o[6]) : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(o[7]), "=r"(o[8]), "=r"(o[9]), "=r"(o[10]) : "r"(row));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(o[3]), "r"(o[8]), "r"(o[5]), "r"(o[1]) : "memory");
  __syncwarp();
  o[11] = *(uint32_t *)(d + lane * 16);
  o[12] = *(uint32_t *)(d + lane * 16 + 2);
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(o[4]), "r"(o[9]) : "memory");
  __syncwarp();
  o[13] = *(uint32_t *)(d + lane * 16 + 4);
  o[14] = *(uint32_t *)(d + lane * 16 + 6);
  uint32_t r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(o[0]));
  o[15] = r;
}
