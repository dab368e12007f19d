// Finds the CUDA driver and its entry points.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/CudaDriver.h"

#include "ts/Support/Checks.h"

#include <type_traits>

#include <dlfcn.h>

using namespace ts;
using namespace ts::cuda;

std::string Driver::describe(cuda::Result code) const {
  const char *text = nullptr, *name = nullptr;
  getErrorString(code, &text);
  getErrorName(code, &name);
  return std::string(text ? text : "unknown error") + " (" +
         (name ? name : std::to_string(code).c_str()) + ")";
}

static ts::Result<Driver> load() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return environmentError(
        checkPrefix(CheckId::TS501) +
        "no CUDA driver here (libcuda.so.1 cannot be loaded), so nothing can run "
        "on a GPU; --dry-run shows the launch without one");
  Driver driver{};
  const char *missing = nullptr;
  auto find = [&](auto &entry, const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol && !missing)
      missing = name;
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(symbol);
  };
  find(driver.init, "cuInit");
  find(driver.deviceGetCount, "cuDeviceGetCount");
  find(driver.deviceGet, "cuDeviceGet");
  find(driver.deviceGetName, "cuDeviceGetName");
  find(driver.deviceGetAttribute, "cuDeviceGetAttribute");
  find(driver.primaryContextRetain, "cuDevicePrimaryCtxRetain");
  find(driver.contextSetCurrent, "cuCtxSetCurrent");
  find(driver.moduleLoadDataEx, "cuModuleLoadDataEx");
  find(driver.moduleUnload, "cuModuleUnload");
  find(driver.moduleGetFunction, "cuModuleGetFunction");
  find(driver.functionGetAttribute, "cuFuncGetAttribute");
  find(driver.functionSetAttribute, "cuFuncSetAttribute");
  find(driver.memAlloc, "cuMemAlloc_v2");
  find(driver.memFree, "cuMemFree_v2");
  find(driver.memcpyHtoD, "cuMemcpyHtoD_v2");
  find(driver.memcpyDtoH, "cuMemcpyDtoH_v2");
  find(driver.eventCreate, "cuEventCreate");
  find(driver.eventRecord, "cuEventRecord");
  find(driver.eventQuery, "cuEventQuery");
  find(driver.eventElapsedTime, "cuEventElapsedTime");
  find(driver.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  find(driver.launchKernelEx, "cuLaunchKernelEx");
  find(driver.getErrorString, "cuGetErrorString");
  find(driver.getErrorName, "cuGetErrorName");
  if (missing)
    return environmentError(checkPrefix(CheckId::TS501) + "the CUDA driver here lacks " + missing +
                            "; CUDA 12.0 or newer is needed");
  return driver;
}

ts::Result<const Driver *> ts::cuda::loadDriver() {
  static const ts::Result<Driver> driver = load();
  if (!driver)
    return driver.error();
  return &*driver;
}
