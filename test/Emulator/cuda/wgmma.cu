// wgmma of one warpgroup. Operands are placed by plain stores in the layouts that the descriptors name, so
// the kernels need no tensor maps; accumulators go out as they are. Small integers: all sums are exact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

__device__ inline uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride, uint64_t swizzle) {
  return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | swizzle << 62;
}
/// The XOR of a swizzle of 32, 64 or 128 bytes (none below) on a byte offset of an aligned tile.
__device__ inline uint32_t swizzled(uint32_t offset, uint32_t bytes) {
  return bytes < 32 ? offset : offset ^ ((offset >> 7 & (bytes / 16 - 1)) << 4);
}
/// Where byte `column` of row `row` stands in a K-major tile of rows of `bytes` bytes with that swizzle.
__device__ inline uint32_t kMajor(uint32_t row, uint32_t column, uint32_t bytes) { return swizzled(row * bytes + column, bytes); }
/// Without swizzle: core matrices of 8 rows x 16 bytes, those of one column of them one behind the other.
__device__ inline uint32_t coreMatrix(uint32_t row, uint32_t column, uint32_t rows) {
  return (column / 16 * (rows / 8) + row / 8) * 128 + row % 8 * 16 + column % 16;
}

__device__ inline void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void finish() {
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
}
/// Keeps the compiler from moving writes and reads of accumulators across fence() and finish().
__device__ inline void hold(float &d) { asm volatile("" : "+f"(d)::"memory"); }
__device__ inline void hold(int &d) { asm volatile("" : "+r"(d)::"memory"); }
__device__ inline void hold(uint32_t &d) { asm volatile("" : "+r"(d)::"memory"); }
template <typename T, int n> __device__ inline void hold(T (&d)[n]) {
#pragma unroll
  for (int k = 0; k < n; ++k)
    hold(d[k]);
}
__device__ inline void published() {
  proxyFence();
  __syncthreads();
}

#define R16(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define I16(d) "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
#define ACC16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
/// D (64 x 32) = or += A (descriptor) x B (descriptor); `tail` holds the scale and transpose immediates.
#define WGMMA(form, regs, d, a, b, scale, tail)                                                                  \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %18, 0;\n\twgmma.mma_async.sync.aligned.m64n32" form " " ACC16 ", %16, %17, p" tail ";\n\t}" \
               : regs(d) : "l"(a), "l"(b), "r"(scale))

/// Rows x columns of T by the hash, small integers or (mode 1) values of many digits.
template <typename T> __device__ inline T element(uint32_t row, uint32_t column, uint32_t seed, int mode) {
  uint32_t h = mixed(row * 997 + column, seed);
  return mode ? (T)((float)(int)(h & 0xffff) / 16384.f - 2.f) : (T)((float)(int)(h % 9) - 4.f);
}

/// D = 2 x (A x B) with A 64 x K and B 32 x K, both K-major, in tiles of one swizzle. K bytes = 128.
#define KMAJOR(name, T, form, K16, regs, acc, tail)                                                               \
  KERNEL name(acc *y, int swizzle, int mode) {                                                                    \
    extern __shared__ uint8_t dynamic[];                                                                          \
    uint8_t *base = dynamic + (1024 - (shared32(dynamic) & 1023)) % 1024, *sb = base + 8192;                      \
    constexpr uint32_t columns = 128 / sizeof(T);                                                                 \
    uint32_t t = threadIdx.x, tile = swizzle < 32 ? 16 : swizzle;                                                 \
    _Pragma("unroll 1") for (uint32_t k = t; k < 96 * columns; k += 128) {                                                            \
      uint32_t row = k / columns, byte = k % columns * sizeof(T);                                                 \
      bool isA = row < 64;                                                                                        \
      uint32_t r = isA ? row : row - 64, rows = isA ? 64 : 32;                                                    \
      uint32_t at = swizzle < 32 ? coreMatrix(r, byte, rows) : byte / tile * rows * tile + kMajor(r, byte % tile, tile); \
      *(T *)((isA ? base : sb) + at) = element<T>(r, k % columns, isA ? 1 : 2, mode);                             \
    }                                                                                                             \
    published();                                                                                                  \
    acc d[16];                                                                                                    \
    for (int k = 0; k < 16; ++k)                                                                                  \
      d[k] = 0;                                                                                                   \
    uint64_t code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;                               \
    hold(d);                                                                                                      \
    fence();                                                                                                      \
    for (int twice = 0; twice < 2; ++twice)                                                                       \
      for (uint32_t byte = 0; byte < 128; byte += 32) {                                                           \
        uint32_t oa = swizzle < 32 ? byte / 16 * 64 * 16 : byte / tile * 64 * tile + byte % tile;                 \
        uint32_t ob = swizzle < 32 ? byte / 16 * 32 * 16 : byte / tile * 32 * tile + byte % tile;                 \
        uint64_t da = swizzle < 32 ? descriptor(shared32(base) + oa, 64 * 16, 128, 0) : descriptor(shared32(base) + oa, 16, 8 * tile, code); \
        uint64_t db = swizzle < 32 ? descriptor(shared32(sb) + ob, 32 * 16, 128, 0) : descriptor(shared32(sb) + ob, 16, 8 * tile, code); \
        WGMMA(form, regs, d, da, db, twice | (byte != 0), tail);                                                  \
      }                                                                                                           \
    finish();                                                                                                     \
    hold(d);                                                                                                      \
    for (int k = 0; k < 16; ++k)                                                                                  \
      y[t * 16 + k] = d[k];                                                                                       \
  }

//@ {"name": "wgmma_bf16_128", "entry": "wgmma_bf16", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 0}]}
//@ {"name": "wgmma_bf16_64", "entry": "wgmma_bf16", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 64}, {"i32": 0}]}
//@ {"name": "wgmma_bf16_32", "entry": "wgmma_bf16", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 32}, {"i32": 0}]}
//@ {"name": "wgmma_bf16_none", "entry": "wgmma_bf16", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 0}, {"i32": 0}]}
//@ {"name": "wgmma_bf16_random", "entry": "wgmma_bf16", "block": [128], "dynamic_smem": 16384, 
//@   "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 1}]}
KMAJOR(wgmma_bf16, __nv_bfloat16, "k16.f32.bf16.bf16", 16, R16, float, ", 1, 1, 0, 0")
//@ {"name": "wgmma_f16", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 0}]}
//@ {"name": "wgmma_f16_random", "entry": "wgmma_f16", "block": [128], "dynamic_smem": 16384, "reason": "f32 sums of products up to 4 whose order and rounding are the hardware's: 128 x 4 x 2^-23",
//@   "buffers": {"y": {"type": "f32", "count": 2048, "compare": "abs:6.2e-5"}}, "params": ["y", {"i32": 128}, {"i32": 1}]}
KMAJOR(wgmma_f16, __half, "k16.f32.f16.f16", 16, R16, float, ", -1, 1, 0, 0")
//@ {"name": "wgmma_tf32_128", "entry": "wgmma_tf32", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 0}]}
//@ {"name": "wgmma_tf32_none", "entry": "wgmma_tf32", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 0}, {"i32": 0}]}
//@ {"name": "wgmma_tf32_random", "entry": "wgmma_tf32", "block": [128], "dynamic_smem": 16384, "reason": "f32 sums of products up to 4 whose order and rounding are the hardware's: 128 x 4 x 2^-23",
//@   "buffers": {"y": {"type": "f32", "count": 2048, "compare": "abs:6.2e-5"}}, "params": ["y", {"i32": 128}, {"i32": 1}]}
KMAJOR(wgmma_tf32, float, "k8.f32.tf32.tf32", 8, R16, float, ", 1, 1")
//@ {"name": "wgmma_e4m3_128", "entry": "wgmma_e4m3", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 0}]}
//@ {"name": "wgmma_e4m3_64", "entry": "wgmma_e4m3", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 64}, {"i32": 0}]}
//@ {"name": "wgmma_e4m3_random", "entry": "wgmma_e4m3", "block": [128], "dynamic_smem": 16384,
//@   "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 1}]}
KMAJOR(wgmma_e4m3, __nv_fp8_e4m3, "k32.f32.e4m3.e4m3", 32, R16, float, ", 1, 1")
//@ {"name": "wgmma_e5m2", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 0}]}
//@ {"name": "wgmma_e5m2_random", "entry": "wgmma_e5m2", "block": [128], "dynamic_smem": 16384, "reason": "fp8 sums keep 13 places below the largest addend: 32 x 2^-13 x 16 at most",
//@   "buffers": {"y": {"type": "f32", "count": 2048, "compare": "abs:0.13"}}, "params": ["y", {"i32": 128}, {"i32": 1}]}
KMAJOR(wgmma_e5m2, __nv_fp8_e5m2, "k32.f32.e5m2.e5m2", 32, R16, float, ", 1, -1")
//@ {"name": "wgmma_s8", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "i32", "count": 2048, "compare": "exact"}}, "params": ["y", {"i32": 128}, {"i32": 0}]}
KMAJOR(wgmma_s8, int8_t, "k32.s32.s8.s8", 32, I16, int, "")

//@ {"name": "wgmma_mn_major", "block": [128], "dynamic_smem": 32768, "buffers": {"y": {"type": "f32", "count": 2048, "compare": "exact"}}, "params": ["y"]}
// A with M contiguous (64 elements: one swizzle row), B with N contiguous in rows of 64 bytes; K = 64.
KERNEL wgmma_mn_major(float *y) {
  extern __shared__ uint8_t dynamic[];
  uint8_t *base = dynamic + (1024 - (shared32(dynamic) & 1023)) % 1024, *sb = base + 8192;
  uint32_t t = threadIdx.x;
  _Pragma("unroll 1") for (uint32_t k = t; k < 64 * 64; k += 128)
    *(__nv_bfloat16 *)(base + swizzled(k / 64 * 128 + k % 64 * 2, 128)) = element<__nv_bfloat16>(k % 64, k / 64, 3, 0);
  _Pragma("unroll 1") for (uint32_t k = t; k < 64 * 32; k += 128)
    *(__nv_bfloat16 *)(sb + swizzled(k / 32 * 64 + k % 32 * 2, 64)) = element<__nv_bfloat16>(k % 32, k / 32, 4, 0);
  published();
  float d[16];
  for (int k = 0; k < 16; ++k)
    d[k] = 1000;
  hold(d);
  fence();
  for (int k = 0; k < 4; ++k)
    WGMMA("k16.f32.bf16.bf16", R16, d, descriptor(shared32(base) + k * 2048, 8192, 1024, 1), descriptor(shared32(sb) + k * 1024, 4096, 512, 2), k, ", 1, 1, 1, 1");
  finish();
  hold(d);
  for (int k = 0; k < 16; ++k)
    y[t * 16 + k] = d[k];
}

//@ {"name": "wgmma_registers", "block": [128], "dynamic_smem": 16384, "buffers": {"y": {"type": "u32", "count": 3072, "compare": "exact"}}, "params": ["y"]}
// A from registers, f16 accumulators, two groups in flight, M64N8.
KERNEL wgmma_registers(uint32_t *y) {
  extern __shared__ uint8_t dynamic[];
  uint8_t *sb = dynamic + (1024 - (shared32(dynamic) & 1023)) % 1024;
  uint32_t t = threadIdx.x, a[8];
  _Pragma("unroll 1") for (uint32_t k = t; k < 32 * 64; k += 128)
    *(__half *)(sb + kMajor(k / 64, k % 64 * 2, 128)) = element<__half>(k / 64, k % 64, 5, 0);
  for (int k = 0; k < 8; ++k) {
    __half2 v = __halves2half2(element<__half>(t, k, 6, 0), element<__half>(t, k, 7, 0));
    a[k] = *(uint32_t *)&v;
  }
  published();
  float d[16], e[4];
  uint32_t h[4] = {0, 0, 0, 0};
  for (int k = 0; k < 16; ++k)
    d[k] = (float)k;
  for (int k = 0; k < 4; ++k)
    e[k] = 0;
  uint64_t db = descriptor(shared32(sb), 16, 1024, 1);
  hold(a), hold(d), hold(e), hold(h);
  fence();
  asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " ACC16 ", {%16, %17, %18, %19}, %20, 1, 1, 1, 0;"
               : R16(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 0, 1, 1, 0;"
               : "+r"(h[0]), "+r"(h[1]), "+r"(h[2]), "+r"(h[3]) : "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "l"(db + 2));
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 0, -1, -1, 0;"
               : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3]) : "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "l"(db + 4));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  hold(d), hold(e), hold(h);
  uint32_t *o = y + t * 24;
  for (int k = 0; k < 16; ++k)
    o[k] = __float_as_uint(d[k]);
  for (int k = 0; k < 4; ++k)
    o[16 + k] = h[k], o[20 + k] = __float_as_uint(e[k]);
}

struct alignas(64) Map {
  char bytes[128];
};
//@ {"name": "wgmma_gemm", "block": [160], "grid": [2], "dynamic_smem": 65536, "buffers": {"a": {"type": "bf16", "count": 32768, "init": "ints", "low": -3, "high": 3}, 
//@   "b": {"type": "bf16", "count": 8192, "init": "ints", "low": -3, "high": 3, "seed": 2}, "c": {"type": "f32", "count": 4096, "compare": "exact"}},
//@   "params": [{"map": "a", "type": "bf16", "sizes": [256, 128], "box": [64, 64], "swizzle": 128}, {"map": "b", "type": "bf16", "sizes": [256, 32], "box": [64, 32], "swizzle": 128}, "c"]}
// C (128 x 32) = A (128 x 256) x B (32 x 256) transposed: a loading warp, a warpgroup that multiplies, two stages.
KERNEL wgmma_gemm(const __grid_constant__ Map a, const __grid_constant__ Map b, float *c) {
  extern __shared__ uint8_t dynamic[];
  __shared__ uint64_t full[2], empty[2];
  uint32_t base = (shared32(dynamic) + 1023) & ~1023u, t = threadIdx.x;
  if (t == 0) {
    for (int k = 0; k < 2; ++k)
      barrierInit(full + k, 1), barrierInit(empty + k, 128);
    barrierInitFence();
  }
  __syncthreads();
  if (t >= 128) {
    if (t == 128)
      for (uint32_t k = 0; k < 4; ++k) {
        uint32_t s = k & 1, at = base + s * 12288, bar = shared32(full + s);
        barrierWait(empty + s, (k / 2 & 1) ^ 1);
        barrierExpect(full + s, 12288);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(at), "l"(&a), "r"(bar), "r"(k * 64), "r"(blockIdx.x * 64) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(at + 8192), "l"(&b), "r"(bar), "r"(k * 64), "r"(0) : "memory");
      }
    return;
  }
  float d[16] = {};
  for (uint32_t k = 0; k < 4; ++k) {
    uint32_t s = k & 1, at = base + s * 12288;
    barrierWait(full + s, k / 2 & 1);
    hold(d);
    fence();
    for (uint32_t j = 0; j < 4; ++j)
      WGMMA("k16.f32.bf16.bf16", R16, d, descriptor(at + j * 32, 16, 1024, 1), descriptor(at + 8192 + j * 32, 16, 1024, 1), k | j, ", 1, 1, 0, 0");
    finish();
    hold(d);
    barrierArrive(empty + s);
  }
  uint32_t row = blockIdx.x * 64 + t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
  for (int j = 0; j < 4; ++j)
    for (int h = 0; h < 2; ++h) {
      c[(row + 8 * h) * 32 + column + 8 * j] = d[j * 4 + h * 2];
      c[(row + 8 * h) * 32 + column + 8 * j + 1] = d[j * 4 + h * 2 + 1];
    }
}
