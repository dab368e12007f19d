// Control flow and local memory. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"
#include <cstdio>

//@ {"name": "control_divergence", "block": [96], "grid": [2], "buffers": {"y": {"type": "u32", "count": 192, "compare": "exact"}}, "params": ["y"]}
// Nested loops with break and continue, and a switch, different in each lane.
KERNEL control_divergence(uint32_t *y) {
  unsigned i = linear();
  uint32_t h = mixed(i, 1), sum = 0;
  for (unsigned k = 0; k < (h & 31); ++k) {
    if ((mixed(k, i) & 7) == 3)
      continue;
    unsigned n = i;
    while (n != 1 && n != 0) {
      n = n & 1 ? 3 * n + 1 : n / 2;
      sum += n;
      if (sum % 1013 == k)
        break;
    }
    if (sum > 100000)
      break;
    switch ((h >> k) & 7) {
    case 0: sum += 11; break;
    case 1: sum ^= 0x55; // falls through
    case 2: sum *= 3; break;
    case 3: sum -= k; break;
    case 4: sum = sum << 1 | sum >> 31; break;
    case 5: sum += h; break;
    case 6: if (k & 1) { sum += 7; break; } sum -= 9; break;
    default: sum = ~sum;
    }
  }
  y[i] = sum;
}

//@ {"name": "control_spin", "block": [64], "buffers": {"y": {"type": "u32", "count": 65, "init": "zero", "compare": "exact"}}, "params": ["y"]}
// Each lane takes a lock that a lane of the same warp may hold: needs independent forward progress.
__device__ unsigned spinLock;
KERNEL control_spin(uint32_t *y) {
  while (atomicCAS(&spinLock, 0, 1)) {
  }
  __threadfence();
  volatile uint32_t *count = y + 64;
  *count = *count + threadIdx.x + 1;
  __threadfence();
  atomicExch(&spinLock, 0);
  y[threadIdx.x] = threadIdx.x * 3;
}

//@ {"name": "control_handoff", "block": [32], "buffers": {"y": {"type": "u32", "count": 32, "compare": "exact"}}, "params": ["y"]}
// Lane n waits for lane n - 1, inside one warp.
KERNEL control_handoff(uint32_t *y) {
  __shared__ volatile uint32_t turn;
  if (threadIdx.x == 0)
    turn = 0;
  __syncwarp();
  while (turn != threadIdx.x) {
  }
  y[threadIdx.x] = turn * 5 + 1;
  turn = threadIdx.x + 1;
}

//@ {"name": "control_local", "block": [64], "buffers": {"y": {"type": "u32", "count": 256, "compare": "exact"}}, "params": ["y", {"i32": 16}]}
// An array with dynamic indices, a vector of it, and its address taken generically.
__device__ __noinline__ uint32_t sumOf(const uint32_t *p, int n) {
  uint32_t s = 0;
  for (int i = 0; i < n; ++i)
    s = s * 31 + p[i];
  return s;
}
KERNEL control_local(uint32_t *y, int n) {
  unsigned i = linear();
  uint32_t a[16];
  for (int k = 0; k < n; ++k)
    a[k] = mixed(k, i);
  for (int k = 0; k < n; ++k) { // sorts by indices that are known at run time only
    int least = k;
    for (int j = k + 1; j < n; ++j)
      if (a[j] < a[least])
        least = j;
    uint32_t t = a[k];
    a[k] = a[least];
    a[least] = t;
  }
  y[i * 4] = sumOf(a, n);
  y[i * 4 + 1] = a[i % n];
  y[i * 4 + 2] = sumOf(a + 3, n / 2);
  unsigned char *bytes = (unsigned char *)a;
  bytes[i % 60] = (unsigned char)i;
  y[i * 4 + 3] = a[(i % 60) / 4];
}

//@ {"name": "control_calls", "block": [64], "buffers": {"y": {"type": "u32", "count": 192, "compare": "exact"}}, "params": ["y", {"i32": 1}]}
// Recursion, a table of functions (all lanes call the same), a structure by value.
struct Pair { uint32_t a; uint64_t b; float c[3]; };
__device__ __noinline__ uint32_t ackermann(uint32_t m, uint32_t n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ uint32_t twice(uint32_t x) { return 2 * x; }
__device__ __noinline__ uint32_t square(uint32_t x) { return x * x; }
__device__ __noinline__ uint32_t third(uint32_t x) { return x / 3 + 1; }
typedef uint32_t (*Function)(uint32_t);
__device__ Function table[3] = {twice, square, third};
__device__ __noinline__ Pair change(Pair p, int k) {
  p.a += k;
  p.b *= p.a;
  p.c[k % 3] = p.c[(k + 1) % 3] + 0.5f;
  return p;
}
KERNEL control_calls(uint32_t *y, int n) {
  unsigned i = linear();
  y[i * 3] = ackermann(2, i % 5);
  uint32_t v = i + 2;
  for (int k = 0; k < 5; ++k)
    v = table[(n + k) % 3](v) & 0xffff;
  y[i * 3 + 1] = v;
  Pair p = {i, 1000000007ull * i, {1.f, 2.f, 3.f}};
  for (int k = 0; k < 4; ++k)
    p = change(p, k + i);
  y[i * 3 + 2] = p.a ^ (uint32_t)(p.b >> 16) ^ __float_as_uint(p.c[0] + p.c[1] * p.c[2]);
}

//@ {"name": "control_printf", "block": [4], "grid": [2], "buffers": {"y": {"type": "u32", "count": 8, "compare": "exact"}}, "params": ["y"]}
KERNEL control_printf(uint32_t *y) {
  unsigned i = linear();
  y[i] = (uint32_t)printf("thread %u: %d %5.2f %s %c %llx %%\n", i, -(int)i, i * 1.25, i & 1 ? "odd" : "even", 'a' + i, 0x123456789abull * i);
}

//@ {"name": "control_special", "block": [8, 4, 2], "grid": [2, 2, 1], "buffers": {"y": {"type": "u32", "count": 4096, "compare": "exact"}}, "params": ["y"]}
// The special registers that have the same value everywhere.
KERNEL control_special(uint32_t *y) {
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), b = blockIdx.x + gridDim.x * blockIdx.y;
  uint32_t *o = y + (b * 64 + t) * 16;
#define SPECIAL(n, r) asm("mov.u32 %0, %%" r ";" : "=r"(o[n]));
  SPECIAL(0, "tid.x") SPECIAL(1, "tid.y") SPECIAL(2, "tid.z") SPECIAL(3, "ctaid.x") SPECIAL(4, "ctaid.y") SPECIAL(5, "nctaid.y")
  SPECIAL(6, "ntid.z") SPECIAL(7, "laneid") SPECIAL(8, "lanemask_lt") SPECIAL(9, "lanemask_ge") SPECIAL(10, "lanemask_eq")
  SPECIAL(11, "lanemask_gt") SPECIAL(12, "lanemask_le") SPECIAL(13, "total_smem_size") SPECIAL(14, "dynamic_smem_size")
  uint64_t first, second;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(first));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(second));
  o[13] = second >= first; // sizes are the machine's own
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first));
  o[15] = (first != 0) + warpSize;
}
