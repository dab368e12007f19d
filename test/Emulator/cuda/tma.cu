// Tiled tensor copies: what a load leaves in shared memory goes out as it is, so that each swizzle and
// each out-of-bounds rule shows. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common.h"

struct alignas(64) Map {
  char bytes[128];
};

//@ {"name": "tma_load_1d", "entry": "tma_load_1", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 100, "seed": 61}, "y": {"type": "u32", "count": 64, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [100], "box": [64]}, "y", {"u32": 256}, {"i32": 60}, {"i32": 0}, {"i32": 0}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_2d_none", "entry": "tma_load_2", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "bf16", "count": 2560, "init": "ints", "low": -128, "high": 127}, "y": {"type": "u32", "count": 256, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "bf16", "sizes": [80, 30], "strides": [160], "box": [32, 16]}, "y", {"u32": 1024}, {"i32": 56}, {"i32": 17}, {"i32": 0}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_2d_32", "entry": "tma_load_2", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u16", "count": 2560, "seed": 62}, "y": {"type": "u32", "count": 256, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u16", "sizes": [64, 32], "box": [16, 32], "swizzle": 32}, "y", {"u32": 1024}, {"i32": 8}, {"i32": -3}, {"i32": 0}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_2d_64", "entry": "tma_load_2", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 2560, "seed": 63}, "y": {"type": "u32", "count": 512, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [40, 50], "strides": [192], "box": [16, 32], "swizzle": 64, "l2": 128}, "y", {"u32": 2048}, {"i32": -4}, {"i32": 4}, {"i32": 0}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_2d_128", "entry": "tma_load_2", "block": [32], "dynamic_smem": 8192, "buffers": {"x": {"type": "f16", "count": 4160, "init": "ints", "low": -99, "high": 99}, "y": {"type": "u32", "count": 1024, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "f16", "sizes": [100, 40], "strides": [208], "box": [64, 32], "swizzle": 128, "fill": "nan"}, "y", {"u32": 4096}, {"i32": 56}, {"i32": 20}, {"i32": 0}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_2d_nan_f32", "entry": "tma_load_2", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "f32", "count": 256, "init": "ints", "low": -99, "high": 99}, "y": {"type": "u32", "count": 128, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "f32", "sizes": [10, 12], "strides": [48], "box": [8, 16], "fill": "nan"}, "y", {"u32": 512}, {"i32": 4}, {"i32": -2}, {"i32": 0}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_2d_stride", "entry": "tma_load_2", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 2048, "seed": 64}, "y": {"type": "u32", "count": 128, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [32, 64], "box": [16, 16], "element_strides": [1, 2]}, "y", {"u32": 512}, {"i32": 4}, {"i32": 6}, {"i32": 0}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_3d", "entry": "tma_load_3", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u8", "count": 8192, "seed": 65}, "y": {"type": "u32", "count": 512, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u8", "sizes": [100, 9, 7], "strides": [112, 1008], "box": [64, 8, 4], "swizzle": 64}, "y", {"u32": 2048}, {"i32": 48}, {"i32": 3}, {"i32": -1}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_load_4d", "entry": "tma_load_4", "block": [32], "dynamic_smem": 8192, "buffers": {"x": {"type": "bf16", "count": 8192, "init": "ints", "low": -100, "high": 100}, "y": {"type": "u32", "count": 768, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "bf16", "sizes": [64, 5, 4, 6], "strides": [128, 640, 2560], "box": [64, 4, 2, 3], "swizzle": 128}, "y", {"u32": 3072}, {"i32": 16}, {"i32": 2}, {"i32": 1}, {"i32": 4}, {"i32": 0}]}
//@ {"name": "tma_load_5d", "entry": "tma_load_5", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u64", "count": 1024, "seed": 66}, "y": {"type": "u32", "count": 256, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u64", "sizes": [4, 3, 5, 3, 4], "strides": [32, 96, 480, 1440], "box": [2, 2, 4, 2, 4]}, "y", {"u32": 1024}, {"i32": 2}, {"i32": -1}, {"i32": 2}, {"i32": 1}, {"i32": 1}]}
#define LOAD(dims, coordinates, ...)                                                                          \
  KERNEL tma_load_##dims(const __grid_constant__ Map map, uint32_t *y, uint32_t bytes, int c0, int c1, int c2, int c3, int c4) { \
    extern __shared__ uint8_t dynamic[];                                                                       \
    __shared__ uint64_t b;                                                                                     \
    uint32_t base = (shared32(dynamic) + 1023) & ~1023u;                                                       \
    if (threadIdx.x == 0) {                                                                                    \
      barrierInit(&b, 1);                                                                                      \
      barrierInitFence();                                                                                      \
      asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");                                         \
      barrierExpect(&b, bytes);                                                                                \
      asm volatile("cp.async.bulk.tensor." #dims "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " coordinates "], [%2];" \
                   ::"r"(base), "l"(&map), "r"(shared32(&b)), __VA_ARGS__ : "memory");                         \
    }                                                                                                          \
    __syncthreads();                                                                                           \
    barrierWait(&b, 0);                                                                                        \
    for (uint32_t k = threadIdx.x * 4; k < bytes; k += 128) {                                                  \
      uint32_t v;                                                                                              \
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(base + k) : "memory");                            \
      y[k / 4] = v;                                                                                            \
    }                                                                                                          \
  }
LOAD(1, "{%3}", "r"(c0))
LOAD(2, "{%3, %4}", "r"(c0), "r"(c1))
LOAD(3, "{%3, %4, %5}", "r"(c0), "r"(c1), "r"(c2))
LOAD(4, "{%3, %4, %5, %6}", "r"(c0), "r"(c1), "r"(c2), "r"(c3))
LOAD(5, "{%3, %4, %5, %6, %7}", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4))

//@ {"name": "tma_store_1d", "entry": "tma_store_1", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 128, "init": "zero", "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [100], "box": [64]}, {"u32": 256}, {"i32": 72}, {"i32": 0}, {"i32": 0}]}
//@ {"name": "tma_store_2d", "entry": "tma_store_2", "block": [32], "dynamic_smem": 8192, "buffers": {"x": {"type": "u16", "count": 3328, "init": "zero", "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u16", "sizes": [96, 30], "strides": [208], "box": [64, 32], "swizzle": 128}, {"u32": 4096}, {"i32": 40}, {"i32": 9}, {"i32": 0}]}
//@ {"name": "tma_store_3d", "entry": "tma_store_3", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 1024, "init": "zero", "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [20, 6, 5], "box": [8, 4, 3], "swizzle": 32}, {"u32": 384}, {"i32": 16}, {"i32": 3}, {"i32": 1}]}
//@ {"name": "tma_reduce_add", "entry": "tma_reduce_add", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 256, "init": "ramp", "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [16, 16], "box": [16, 8]}, {"u32": 512}, {"i32": 4}, {"i32": 10}, {"i32": 0}]}
//@ {"name": "tma_reduce_max", "entry": "tma_reduce_max", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "i32", "count": 256, "init": "ints", "low": -2000000000, "high": 2000000000, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "i32", "sizes": [16, 16], "box": [16, 8], "swizzle": 64}, {"u32": 512}, {"i32": 0}, {"i32": 3}, {"i32": 0}]}
//@ {"name": "tma_reduce_xor", "entry": "tma_reduce_xor", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 256, "init": "bits", "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [16, 16], "box": [16, 8]}, {"u32": 512}, {"i32": 0}, {"i32": 3}, {"i32": 0}]}
#define STORE(name, dims, op, coordinates, value, ...)                                                          \
  KERNEL name(const __grid_constant__ Map map, uint32_t bytes, int c0, int c1, int c2) {                        \
    extern __shared__ uint8_t dynamic[];                                                                        \
    uint32_t base = (shared32(dynamic) + 1023) & ~1023u;                                                        \
    for (uint32_t k = threadIdx.x * 4; k < bytes; k += 128)                                                     \
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + k), "r"(value) : "memory");                           \
    proxyFence();                                                                                               \
    __syncthreads();                                                                                            \
    if (threadIdx.x == 0) {                                                                                     \
      asm volatile(op ".bulk_group [%0, " coordinates "], [%1];" ::"l"(&map), "r"(base), __VA_ARGS__ : "memory"); \
      asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");                  \
    }                                                                                                           \
  }
STORE(tma_store_1, 1, "cp.async.bulk.tensor.1d.global.shared::cta.tile", "{%2}", mixed(k, 7), "r"(c0))
STORE(tma_store_2, 2, "cp.async.bulk.tensor.2d.global.shared::cta", "{%2, %3}", mixed(k, 8), "r"(c0), "r"(c1))
STORE(tma_store_3, 3, "cp.async.bulk.tensor.3d.global.shared::cta", "{%2, %3, %4}", mixed(k, 9), "r"(c0), "r"(c1), "r"(c2))
STORE(tma_reduce_add, 2, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile", "{%2, %3}", mixed(k, 10), "r"(c0), "r"(c1))
STORE(tma_reduce_max, 2, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max", "{%2, %3}", mixed(k, 11), "r"(c0), "r"(c1))
STORE(tma_reduce_xor, 2, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor", "{%2, %3}", mixed(k, 12), "r"(c0), "r"(c1))

//@ {"name": "tma_reduce_f32", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "f32", "count": 128, "init": "ints", "low": -50, "high": 50, "compare": "exact"}, "z": {"type": "bf16", "count": 128, "init": "ints", "low": -50, "high": 50, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "f32", "sizes": [16, 8], "box": [16, 8]}, {"map": "z", "type": "bf16", "sizes": [16, 8], "box": [16, 8]}]}
KERNEL tma_reduce_f32(const __grid_constant__ Map x, const __grid_constant__ Map z) {
  extern __shared__ __align__(1024) uint8_t dynamic[];
  uint32_t base = (shared32(dynamic) + 1023) & ~1023u;
  for (uint32_t k = threadIdx.x; k < 128; k += 32) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(base + k * 4), "f"((float)(mixed(k, 3) % 100)) : "memory");
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(base + 1024 + k * 2), "h"(__bfloat16_as_ushort(__float2bfloat16((float)(mixed(k, 4) % 50)))) : "memory");
  }
  proxyFence();
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k)
      asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2, %2}], [%1];" ::"l"(&x), "r"(base), "r"(0) : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2, %2}], [%1];" ::"l"(&z), "r"(base + 1024), "r"(0) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
  }
}

//@ {"name": "tma_multicast", "block": [32], "grid": [4], "cluster": [4], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 1024, "seed": 68}, "y": {"type": "u32", "count": 1024, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [32, 32], "box": [32, 2], "swizzle": 128}, "y"]}
// Each CTA of four loads a quarter of the tile for all.
KERNEL tma_multicast(const __grid_constant__ Map map, uint32_t *y) {
  extern __shared__ uint8_t dynamic[];
  __shared__ uint64_t b;
  uint32_t base = (shared32(dynamic) + 1023) & ~1023u, rank = ctaRank();
  if (threadIdx.x == 0) {
    barrierInit(&b, 1);
    barrierInitFence();
    barrierExpect(&b, 1024);
  }
  clusterSync();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(base + rank * 256), "l"(&map),
                 "r"(shared32(&b)), "r"(0), "r"(rank * 2 + 5), "h"((uint16_t)15) : "memory");
  barrierWait(&b, 0);
  for (uint32_t k = threadIdx.x; k < 256; k += 32) {
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(base + k * 4) : "memory");
    y[rank * 256 + k] = v;
  }
  clusterSync();
}

//@ {"name": "tma_replace", "block": [32], "dynamic_smem": 4096, "buffers": {"x": {"type": "u32", "count": 512, "seed": 69}, "scratch": {"type": "u64", "count": 16, "init": "zero"}, "y": {"type": "u32", "count": 128, "compare": "exact"}},
//@   "params": [{"map": "x", "type": "u32", "sizes": [16, 16], "box": [16, 8]}, "x", "scratch", "y"]}
// The map is changed in shared memory (address, sizes, stride), written out with a proxy fence, and used from there.
KERNEL tma_replace(const __grid_constant__ Map map, const uint32_t *x, uint64_t *scratch, uint32_t *y) {
  extern __shared__ uint8_t dynamic[];
  __shared__ uint64_t b;
  __shared__ __align__(128) uint32_t changed[32];
  uint32_t base = (shared32(dynamic) + 1023) & ~1023u, m = shared32(changed), t = threadIdx.x;
  changed[t] = ((const uint32_t *)map.bytes)[t];
  if (t == 0) {
    barrierInit(&b, 1);
    barrierInitFence();
  }
  __syncwarp();
  if (t == 0) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(m), "l"(x + 32) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(m), "r"(14) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(m), "r"(13) : "memory");
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(m), "l"(128ull) : "memory");
  }
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(scratch), "r"(m) : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(scratch) : "memory");
  if (t == 0) {
    barrierExpect(&b, 512);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(base), "l"(scratch), "r"(shared32(&b)), "r"(4), "r"(7) : "memory");
  }
  barrierWait(&b, 0);
  for (uint32_t k = t; k < 128; k += 32) {
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(base + k * 4) : "memory");
    y[k] = v;
  }
}
