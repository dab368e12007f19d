// Runs planned launches on a CUDA device: allocations, tensor maps, the launch itself, times.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_CUDALAUNCH_H
#define TS_RUNTIME_CUDALAUNCH_H

#include "ts/Runtime/CudaDriver.h"
#include "ts/Runtime/LaunchPlan.h"

#include <memory>
#include <span>

namespace ts {

/// The first CUDA device, with its primary context current. The context stays until the process
/// ends: releasing it would wait for a kernel that hangs.
class CudaDevice {
public:
  static Result<std::unique_ptr<CudaDevice>> open();

  std::string name;
  int64_t sms = 0;
  int64_t capability = 0; // 90 for sm_90
  int64_t maxDynamicSmem = 0;

  const cuda::Driver &driver;

private:
  explicit CudaDevice(const cuda::Driver &driver) : driver(driver) {}
  cuda::Device device = 0;
};

struct CudaRunOptions {
  int64_t repeat = 0;         // timed runs of all launches after the first one
  double timeoutSeconds = 20; // for one run: a deadlocked kernel never ends by itself
};

struct CudaRunReport {
  std::vector<double> milliseconds; // of the timed runs, sorted
  bool timedOut = false;
  /// The timed launches left other bytes in an output than the first one: a race.
  std::string unstable;
};

/// The driver's encoding of a tensor map over the memory at `address`.
Result<cuda::TensorMap> encodeTensorMap(const cuda::Driver &driver, const TensorMapPlan &map,
                                        uint64_t address);

/// Loads `image` (PTX text or a cubin), launches the plans one after the other on the arrays and
/// copies all images back.
/// The images are sent as they are, poison and guards included. After a time-out the kernel is
/// still running and the device unusable: the process should end. `outputs` names the arrays that
/// the kernel only writes; with repeats they are compared after the last launch.
Result<CudaRunReport> runOnCuda(CudaDevice &device, const std::string &image,
                                std::span<const LaunchPlan> plans,
                                std::map<std::string, HostArray> &arrays,
                                const std::vector<std::string> &outputs,
                                const CudaRunOptions &options);
inline Result<CudaRunReport> runOnCuda(CudaDevice &device, const std::string &image,
                                       const LaunchPlan &plan,
                                       std::map<std::string, HostArray> &arrays,
                                       const std::vector<std::string> &outputs,
                                       const CudaRunOptions &options) {
  return runOnCuda(device, image, std::span(&plan, 1), arrays, outputs, options);
}

/// A kernel file on the device, loaded once for many launches.
class CudaImage {
public:
  /// `arch` is what the image is for ("sm_90a").
  static Result<std::unique_ptr<CudaImage>> load(CudaDevice &device, const std::string &image,
                                                 const std::string &arch);
  ~CudaImage();
  CudaImage(const CudaImage &) = delete;
  CudaImage &operator=(const CudaImage &) = delete;

private:
  friend Result<bool> runInPlace(CudaImage &, const LaunchPlan &,
                                 const std::map<std::string, uint64_t> &, double);
  CudaImage(CudaDevice &device, cuda::Module module) : device(device), module(module) {}
  CudaDevice &device;
  cuda::Module module;
};

/// Launches the plan on device memory of the caller's: `addresses` has the first element of each
/// array. Waits for the end; false when that did not come in time.
Result<bool> runInPlace(CudaImage &image, const LaunchPlan &plan,
                        const std::map<std::string, uint64_t> &addresses, double timeoutSeconds);

} // namespace ts

#endif // TS_RUNTIME_CUDALAUNCH_H
