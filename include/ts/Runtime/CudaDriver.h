// The CUDA driver, loaded at run time: the few entry points we call, with declarations of our own,
// so that building needs no CUDA and the binary starts on machines without a GPU. Values of
// constants and layouts of structures are those of the documented driver interface (CUDA 12 and
// later). Not a general binding: add an entry point when something calls it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_CUDADRIVER_H
#define TS_RUNTIME_CUDADRIVER_H

#include "ts/Runtime/Result.h"

#include <cstddef>
#include <cstdint>

namespace ts::cuda {

using Result = int;         // CUresult
using Device = int;         // CUdevice
using DevicePtr = uint64_t; // CUdeviceptr
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;

constexpr Result success = 0;
constexpr Result errorNoDevice = 100;
constexpr Result errorNotReady = 600;

enum DeviceAttribute : int {
  multiprocessorCount = 16,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  maxSharedMemoryPerBlockOptin = 97,
};
enum FunctionAttribute : int {
  staticSharedSizeBytes = 1,
  maxDynamicSharedSizeBytes = 8,
  nonPortableClusterSizeAllowed = 14,
};
enum JitOption : int { jitErrorLogBuffer = 5, jitErrorLogBufferSizeBytes = 6 };

enum LaunchAttributeId : int { attributeClusterDimension = 4, attributeProgrammaticStream = 6 };
union LaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } cluster;
  int programmaticStreamSerialization;
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  LaunchAttributeValue value;
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedMemBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

/// The loaded driver; null members do not occur after a successful load.
struct Driver {
  Result (*init)(unsigned flags);
  Result (*deviceGetCount)(int *count);
  Result (*deviceGet)(Device *device, int ordinal);
  Result (*deviceGetName)(char *name, int length, Device device);
  Result (*deviceGetAttribute)(int *value, int attribute, Device device);
  Result (*primaryContextRetain)(Context *context, Device device);
  Result (*contextSetCurrent)(Context context);
  Result (*moduleLoadDataEx)(Module *module, const void *image, unsigned optionCount, int *options,
                             void **values);
  Result (*moduleUnload)(Module module);
  Result (*moduleGetFunction)(Function *function, Module module, const char *name);
  Result (*functionGetAttribute)(int *value, int attribute, Function function);
  Result (*functionSetAttribute)(Function function, int attribute, int value);
  Result (*memAlloc)(DevicePtr *pointer, size_t bytes);
  Result (*memFree)(DevicePtr pointer);
  Result (*memcpyHtoD)(DevicePtr to, const void *from, size_t bytes);
  Result (*memcpyDtoH)(void *to, DevicePtr from, size_t bytes);
  Result (*eventCreate)(Event *event, unsigned flags);
  Result (*eventRecord)(Event event, Stream stream);
  Result (*eventQuery)(Event event);
  Result (*eventElapsedTime)(float *milliseconds, Event begin, Event end);
  Result (*tensorMapEncodeTiled)(TensorMap *map, int dataType, uint32_t rank, void *address,
                                 const uint64_t *sizes, const uint64_t *strides,
                                 const uint32_t *box, const uint32_t *elementStrides,
                                 int interleave, int swizzle, int l2Promotion, int fill);
  Result (*launchKernelEx)(const LaunchConfig *config, Function function, void **params,
                           void **extra);
  Result (*getErrorString)(Result code, const char **text);
  Result (*getErrorName)(Result code, const char **text);

  /// "invalid argument (CUDA_ERROR_INVALID_VALUE)"
  std::string describe(Result code) const;
};

/// Loads libcuda.so.1 once per process. The error says in one sentence that there is no driver.
ts::Result<const Driver *> loadDriver();

} // namespace ts::cuda

#endif // TS_RUNTIME_CUDADRIVER_H
