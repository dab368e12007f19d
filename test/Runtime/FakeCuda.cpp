// A CUDA driver for tests: the entry points that ts-run loads, over host memory, with three kernels
// written in C++. (cuModuleLoadData is for
// utils/gpu/bench_gemm.py.) It shows what a launch hands over and lets tests plant faults that no
// right kernel has. It knows nothing of real kernels: the kernel file is only looked at for the
// word "broken".
//
//   gemm   (tensor maps A, B, D)            D = A B^T, accumulated in float
//   copy   (tensor maps A, D)               D = A
//   scale  (pointers X, Y, i64 n, f32 a)    Y = a X on n floats
//
// TS_FAKE_FAULT: skip (leaves the last element out), hole (one in the middle), stray (writes behind
// D), gap (writes between the rows of D), input (changes A), wrong (adds one to the first element),
// unstable (later launches differ), hang, crash, none (no device), old (compute capability 8.0).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/CudaDriver.h"
#include "ts/Runtime/ElementType.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <string_view>
#include <utility>

using namespace ts;
using namespace ts::cuda;

namespace {
int context = 0, launches = 0, events = 0;

struct Kernel {
  std::string name;
  bool told = false; // its first launch
};
std::list<Kernel> kernels; // handed out by address

bool fault(const char *name) {
  const char *planted = std::getenv("TS_FAKE_FAULT");
  return planted && std::strcmp(planted, name) == 0;
}

/// What tensorMapEncodeTiled keeps in the opaque words.
struct MapView {
  explicit MapView(const void *param) : words(static_cast<const uint64_t *>(param)) {}
  ElementType type() const {
    return words[0] == 9   ? ElementType::BF16
           : words[0] == 6 ? ElementType::F16
           : words[0] == 3 ? ElementType::I32
                           : ElementType::F32;
  }
  char *base() const { return reinterpret_cast<char *>(words[1]); }
  int64_t rows() const { return static_cast<int64_t>(words[3]); }
  int64_t columns() const { return static_cast<int64_t>(words[2]); }
  int64_t pitch() const { return static_cast<int64_t>(words[7]); }
  char *at(int64_t row, int64_t column) const {
    return base() + row * pitch() + column * elementSize(type());
  }
  double load(int64_t row, int64_t column) const { return loadElement(type(), at(row, column)); }
  void store(int64_t row, int64_t column, double value) const {
    storeElement(type(), at(row, column), value);
  }
  const uint64_t *words;
};

void plantFaults(const MapView &in, const MapView &out) {
  if (fault("stray"))
    out.store(out.rows() - 1, out.columns(), 1);
  if (fault("gap"))
    out.store(0, out.columns(), 1);
  if (fault("input"))
    in.store(0, 0, 77);
  if (fault("wrong") || (fault("unstable") && launches >= 2))
    out.store(0, 0, out.load(0, 0) + 1);
}

void gemm(void **params) {
  MapView a(params[0]), b(params[1]), d(params[2]);
  // A tensor map cannot have a size of zero; the fourth parameter says how deep A and B really are.
  int64_t depth;
  std::memcpy(&depth, params[3], 8);
  for (int64_t m = 0; m < d.rows(); ++m)
    for (int64_t n = 0; n < d.columns(); ++n) {
      if (fault("skip") && m + 1 == d.rows() && n + 1 == d.columns())
        continue;
      if (fault("hole") && m == d.rows() / 2 && n == d.columns() / 2)
        continue;
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += static_cast<float>(a.load(m, k)) * static_cast<float>(b.load(n, k));
      d.store(m, n, static_cast<double>(sum));
    }
  plantFaults(a, d);
}

void copy(void **params) {
  MapView a(params[0]), d(params[1]);
  for (int64_t m = 0; m < d.rows(); ++m)
    for (int64_t n = 0; n < d.columns(); ++n)
      if (!fault("skip") || m + 1 < d.rows() || n + 1 < d.columns())
        d.store(m, n, a.load(m, n));
  plantFaults(a, d);
}

void scale(void **params) {
  uint64_t x, y;
  int64_t n;
  float alpha;
  std::memcpy(&x, params[0], 8);
  std::memcpy(&y, params[1], 8);
  std::memcpy(&n, params[2], 8);
  std::memcpy(&alpha, params[3], 4);
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<float *>(y)[i] = alpha * reinterpret_cast<float *>(x)[i];
}
} // namespace

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int *count) { return *count = !fault("none"), 0; }
int cuDeviceGet(int *device, int) { return *device = 0, 0; }
int cuDeviceGetName(char *name, int length, int) {
  return std::snprintf(name, static_cast<size_t>(length), "Fake GPU"), 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == multiprocessorCount      ? 4
           : attribute == computeCapabilityMajor ? (fault("old") ? 8 : 9)
           : attribute == computeCapabilityMinor ? 0
                                                 : 232448;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **retained, int) { return *retained = &context, 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuModuleLoadDataEx(void **module, const char *image, unsigned, int *, void **values) {
  *module = &kernels;
  if (!std::strstr(image, "broken"))
    return 0;
  std::strcpy(static_cast<char *>(values[0]), "ptxas fatal: planted\nsecond line");
  return 218;
}
int cuModuleLoadData(void **module, const char *) { return *module = &kernels, 0; }
int cuModuleUnload(void *) { return 0; }
int cuModuleGetFunction(void **function, void *, const char *name) {
  kernels.push_back({name});
  *function = &kernels.back();
  std::string_view known = name;
  return known == "gemm" || known == "copy" || known == "scale" ? 0 : 500;
}
int cuFuncGetAttribute(int *value, int, void *) { return *value = 1024, 0; }
int cuFuncSetAttribute(void *, int attribute, int value) {
  std::fprintf(stderr, "fake: function attribute %d = %d\n", attribute, value);
  return 0;
}
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  char *memory = static_cast<char *>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  *pointer = reinterpret_cast<uint64_t>(memory);
  return memory ? 0 : 2;
}
int cuMemFree_v2(uint64_t pointer) { return std::free(reinterpret_cast<void *>(pointer)), 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  return std::memcpy(reinterpret_cast<void *>(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  return std::memcpy(to, reinterpret_cast<void *>(from), bytes), 0;
}
int cuEventCreate(void **event, unsigned) { return *event = &events, 0; }
int cuEventRecord(void *, void *) { return 0; }
int cuEventQuery(void *) { return fault("hang") ? 600 : fault("crash") ? 700 : 0; }
int cuEventElapsedTime(float *milliseconds, void *, void *) { return *milliseconds = 0.5f, 0; }
int cuTensorMapEncodeTiled(uint64_t *map, int type, uint32_t rank, void *address,
                           const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *, int interleave, int swizzle, int promotion, int fill) {
  map[0] = static_cast<uint64_t>(type);
  map[1] = reinterpret_cast<uint64_t>(address);
  std::memcpy(map + 2, sizes, rank * 8);
  std::memcpy(map + 7, strides, (rank - 1) * 8);
  std::fprintf(stderr, "fake: map type %d rank %u box %u interleave %d swizzle %d l2 %d fill %d\n",
               type, rank, box[0], interleave, swizzle, promotion, fill);
  return reinterpret_cast<uintptr_t>(map) % 64 == 0 ? 0 : 1;
}
int cuLaunchKernelEx(const LaunchConfig *config, void *function, void **params, void **) {
  Kernel &kernel = *static_cast<Kernel *>(function);
  ++launches;
  if (!std::exchange(kernel.told, true)) {
    std::fprintf(stderr, "fake: launch grid %u %u %u block %u %u %u smem %u", config->gridX,
                 config->gridY, config->gridZ, config->blockX, config->blockY, config->blockZ,
                 config->sharedMemBytes);
    for (unsigned i = 0; i < config->attributeCount; ++i)
      std::fprintf(stderr, " attribute %d (%u)", static_cast<int>(config->attributes[i].id),
                   config->attributes[i].value.cluster.x);
    std::fprintf(stderr, "\n");
  }
  if (kernel.name == "gemm")
    gemm(params);
  else if (kernel.name == "copy")
    copy(params);
  else
    scale(params);
  return 0;
}
int cuGetErrorString(int code, const char **text) {
  return *text = code == 700 ? "an illegal memory access was encountered" : "planted error", 0;
}
int cuGetErrorName(int code, const char **text) {
  return *text = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_PLANTED", 0;
}
}
