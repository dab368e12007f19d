// Launching through the CUDA driver. Every call's code is looked at; the first failure ends the run
// with a sentence that says what was being done.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/CudaLaunch.h"

#include "ts/Support/Checks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

using namespace ts;

namespace {
constexpr int warmUps = 3;

constexpr int paddedFour = 14; // CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B

/// The driver's code for an element type; fp8 travels as bytes.
int tensorMapType(ElementType type) {
  switch (type) {
  case ElementType::U8:
  case ElementType::I8:
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
  case ElementType::F8E8M0:
    return 0;
  case ElementType::U16:
  case ElementType::I16:
    return 1;
  case ElementType::U32:
    return 2;
  case ElementType::I32:
    return 3;
  case ElementType::U64:
    return 4;
  case ElementType::I64:
    return 5;
  case ElementType::F16:
    return 6;
  case ElementType::F32:
    return 7;
  case ElementType::F64:
    return 8;
  case ElementType::BF16:
    return 9;
  case ElementType::F4E2M1: // sixteen in eight bytes, packed in shared memory too
    return 13;
  }
  return 0;
}

/// The driver's code for a size of 0, first, 2 * first, 4 * first, ... bytes.
int sizeCode(int64_t bytes, int64_t first) {
  int code = 0;
  for (int64_t size = first; bytes >= size; size *= 2)
    ++code;
  return code;
}

/// "90" of "sm_90a".
int64_t capabilityOf(const std::string &arch) {
  int64_t value = 0;
  for (size_t i = 3; i < arch.size() && arch[i] >= '0' && arch[i] <= '9' && value < 10000; ++i)
    value = value * 10 + (arch[i] - '0');
  return value;
}

/// Code for sm_90a and the like runs on exactly that architecture.
Status checkArchitecture(const CudaDevice &device, const std::string &arch) {
  int64_t wanted = capabilityOf(arch);
  bool exact = !arch.empty() && arch.back() == 'a';
  if (exact ? wanted != device.capability : wanted > device.capability)
    return environmentError(checkPrefix(CheckId::TS501) + "the kernel is for " + arch +
                            ", but the device is sm_" + std::to_string(device.capability) + " (" +
                            device.name + ")");
  return Done{};
}

/// The driver's module of PTX text or a cubin.
Result<cuda::Module> loadImage(const cuda::Driver &driver, const std::string &image) {
  char log[4096] = "";
  int keys[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  cuda::Module module;
  // std::string ends in the NUL that PTX text needs.
  cuda::Result code = driver.moduleLoadDataEx(&module, image.c_str(), 2, keys, values);
  if (code == cuda::success)
    return module;
  log[sizeof log - 1] = 0;
  std::string message = "loading the kernel file failed: " + driver.describe(code);
  if (log[0])
    message += ": " + std::string(log, std::strcspn(log, "\n"));
  return Error{message};
}

class Run {
public:
  Run(CudaDevice &device, std::span<const LaunchPlan> plans)
      : device(device), driver(device.driver) {
    for (const LaunchPlan &plan : plans) {
      launches.emplace_back().plan = &plan;
      anything |= !plan.nothingToLaunch();
    }
  }
  ~Run() {
    if (!timedOut) // freeing would wait for the kernel
      for (cuda::DevicePtr pointer : allocations)
        driver.memFree(pointer);
  }

  Result<CudaRunReport> run(const std::string &image, std::map<std::string, HostArray> &arrays,
                            const std::vector<std::string> &outputs,
                            const CudaRunOptions &options) {
    CudaRunReport report;
    if (!checkDevice() || !load(image) || !upload(arrays))
      return error;
    std::map<std::string, uint64_t> addresses;
    for (const auto &[name, array] : arrays)
      addresses[name] = pointers.at(name) + static_cast<uint64_t>(array.dataOffset());
    if (!encodeParams(addresses))
      return error;
    if (anything && (!launchAndWait(options.timeoutSeconds, nullptr) || timedOut)) {
      report.timedOut = timedOut;
      return timedOut ? Result<CudaRunReport>(report) : error;
    }
    if (!download(arrays))
      return error;
    for (int64_t i = -warmUps; i < options.repeat && options.repeat && anything; ++i) {
      double milliseconds = 0;
      if (!launchAndWait(options.timeoutSeconds, &milliseconds))
        return error;
      if (timedOut) {
        report.timedOut = true;
        return report;
      }
      if (i >= 0)
        report.milliseconds.push_back(milliseconds);
    }
    std::sort(report.milliseconds.begin(), report.milliseconds.end());
    for (const std::string &name : outputs) {
      if (report.milliseconds.empty())
        break;
      const std::vector<uint8_t> &first = arrays.at(name).image();
      std::vector<uint8_t> last(first.size());
      if (!ok(driver.memcpyDtoH(last.data(), pointers.at(name), last.size()),
              "copying array '" + name + "' back"))
        return error;
      if (first != last && report.unstable.empty())
        report.unstable = name;
    }
    return report;
  }

  /// Launches on memory of the caller's and waits.
  Result<bool> runInPlace(cuda::Module module, const std::map<std::string, uint64_t> &addresses,
                          double timeoutSeconds) {
    if (!checkDevice() || !prepare(module) || !encodeParams(addresses))
      return error;
    if (anything && !launchAndWait(timeoutSeconds, nullptr))
      return error;
    return !timedOut;
  }

private:
  bool ok(cuda::Result code, const std::string &doing, Fault fault = Fault::Environment) {
    if (code == cuda::success)
      return true;
    error = {doing + " failed: " + driver.describe(code), fault};
    return false;
  }

  /// A kernel of the sequence, and what its parameters point at.
  struct Param {
    cuda::TensorMap map;
    std::vector<uint64_t> words;
  };
  struct Launch {
    const LaunchPlan *plan = nullptr;
    cuda::Function function = nullptr;
    std::vector<Param> storage;
    std::vector<void *> values;
  };

  bool checkDevice() {
    for (const Launch &launch : launches)
      if (Status status = checkArchitecture(device, launch.plan->arch); !status) {
        error = status.error();
        return false;
      }
    return true;
  }

  bool load(const std::string &image) {
    Result<cuda::Module> module = loadImage(driver, image);
    if (!module) {
      error = module.error();
      return false;
    }
    return prepare(*module);
  }

  bool prepare(cuda::Module module) {
    return std::all_of(launches.begin(), launches.end(),
                       [&](Launch &launch) { return prepare(module, launch); });
  }

  bool prepare(cuda::Module module, Launch &launch) {
    const LaunchPlan &plan = *launch.plan;
    cuda::Function &function = launch.function;
    if (!ok(driver.moduleGetFunction(&function, module, plan.kernel.c_str()),
            "finding kernel '" + plan.kernel + "' in the kernel file", Fault::Input))
      return false;
    int staticBytes = 0;
    if (!ok(driver.functionGetAttribute(&staticBytes, cuda::staticSharedSizeBytes, function),
            "asking for the kernel's shared memory"))
      return false;
    if (plan.dynamicSmem + staticBytes > device.maxDynamicSmem) {
      error = {checkPrefix(CheckId::TS503) + "the kernel needs " +
                   std::to_string(plan.dynamicSmem) + " + " + std::to_string(staticBytes) +
                   " bytes of shared memory, the device has " +
                   std::to_string(device.maxDynamicSmem),
               Fault::Input};
      return false;
    }
    if (plan.dynamicSmem > 0 &&
        !ok(driver.functionSetAttribute(function, cuda::maxDynamicSharedSizeBytes,
                                        static_cast<int>(plan.dynamicSmem)),
            "reserving " + std::to_string(plan.dynamicSmem) + " bytes of shared memory"))
      return false;
    return plan.cluster[0] * plan.cluster[1] * plan.cluster[2] <= 8 ||
           ok(driver.functionSetAttribute(function, cuda::nonPortableClusterSizeAllowed, 1),
              "allowing clusters of more than 8 CTAs");
  }

  bool upload(std::map<std::string, HostArray> &arrays) {
    for (auto &[name, array] : arrays) {
      cuda::DevicePtr pointer = 0;
      // Our offsets assume a base aligned to the guard; the driver promises 256 bytes only.
      size_t bytes = array.image().size() + HostArray::guardBytes;
      if (!ok(driver.memAlloc(&pointer, bytes),
              "allocating " + std::to_string(bytes) + " bytes for array '" + name + "'"))
        return false;
      allocations.push_back(pointer);
      uint64_t unit = HostArray::guardBytes;
      pointers[name] = (pointer + unit - 1) / unit * unit;
      if (!ok(driver.memcpyHtoD(pointers[name], array.image().data(), array.image().size()),
              "copying array '" + name + "' to the device"))
        return false;
    }
    return true;
  }

  bool download(std::map<std::string, HostArray> &arrays) {
    for (auto &[name, array] : arrays)
      if (!ok(driver.memcpyDtoH(array.image().data(), pointers.at(name), array.image().size()),
              "copying array '" + name + "' back"))
        return false;
    return true;
  }

  bool encodeParams(const std::map<std::string, uint64_t> &addresses) {
    return std::all_of(launches.begin(), launches.end(),
                       [&](Launch &launch) { return encodeParams(launch, addresses); });
  }

  bool encodeParams(Launch &launch, const std::map<std::string, uint64_t> &addresses) {
    const LaunchPlan &plan = *launch.plan;
    std::vector<Param> &storage = launch.storage;
    std::vector<void *> &values = launch.values;
    storage.resize(plan.params.size());
    for (size_t i = 0; i < plan.params.size(); ++i) {
      const LaunchParam &param = plan.params[i];
      std::vector<uint64_t> &bytes = storage[i].words;
      if (param.kind == ManifestParam::Kind::Value) {
        bytes.resize(1);
        std::memcpy(bytes.data(), param.bytes.data(), param.bytes.size());
        values.push_back(bytes.data());
        continue;
      }
      cuda::DevicePtr address = addresses.at(param.arg);
      if (param.kind == ManifestParam::Kind::Pointer) {
        bytes = {address};
        values.push_back(bytes.data());
        continue;
      }
      Result<cuda::TensorMap> map = encodeTensorMap(driver, param.map, address);
      if (!map) {
        error = {map.error().message + " (argument '" + param.arg + "')"};
        return false;
      }
      storage[i].map = *map;
      values.push_back(&storage[i].map);
    }
    return true;
  }

  bool enqueue(Launch &launch) {
    const LaunchPlan &plan = *launch.plan;
    cuda::LaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (plan.cluster[0] * plan.cluster[1] * plan.cluster[2] > 1) {
      attributes[count].id = cuda::attributeClusterDimension;
      attributes[count++].value.cluster = {static_cast<unsigned>(plan.cluster[0]),
                                           static_cast<unsigned>(plan.cluster[1]),
                                           static_cast<unsigned>(plan.cluster[2])};
    }
    if (plan.pdl) {
      attributes[count].id = cuda::attributeProgrammaticStream;
      attributes[count++].value.programmaticStreamSerialization = 1;
    }
    auto u = [](int64_t value) { return static_cast<unsigned>(value); };
    cuda::LaunchConfig config = {
        u(plan.grid[0]),  u(plan.grid[1]),     u(plan.grid[2]), u(plan.block[0]), u(plan.block[1]),
        u(plan.block[2]), u(plan.dynamicSmem), nullptr,         attributes,       count};
    return ok(driver.launchKernelEx(&config, launch.function, launch.values.data(), nullptr),
              "launching '" + plan.kernel + "'", Fault::Input);
  }

  bool launchAndWait(double timeoutSeconds, double *milliseconds) {
    if (!begin && (!ok(driver.eventCreate(&begin, 0), "creating an event") ||
                   !ok(driver.eventCreate(&end, 0), "creating an event")))
      return false;
    if (!ok(driver.eventRecord(begin, nullptr), "recording an event"))
      return false;
    for (Launch &launch : launches)
      if (!launch.plan->nothingToLaunch() && !enqueue(launch))
        return false;
    if (!ok(driver.eventRecord(end, nullptr), "recording an event"))
      return false;
    auto start = std::chrono::steady_clock::now();
    cuda::Result code;
    while ((code = driver.eventQuery(end)) == cuda::errorNotReady) {
      std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (waited.count() > timeoutSeconds) {
        timedOut = true;
        return true;
      }
      if (waited.count() > 0.01)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (!ok(code, "running '" + kernelNames() + "'", Fault::Input))
      return false;
    float elapsed = 0;
    if (milliseconds && !ok(driver.eventElapsedTime(&elapsed, begin, end), "reading the time"))
      return false;
    if (milliseconds)
      *milliseconds = static_cast<double>(elapsed);
    return true;
  }

  std::string kernelNames() const {
    std::string names;
    for (const Launch &launch : launches)
      names += (names.empty() ? "" : ", ") + launch.plan->kernel;
    return names;
  }

  CudaDevice &device;
  const cuda::Driver &driver;
  std::vector<Launch> launches;
  bool anything = false; // to launch
  cuda::Event begin = nullptr, end = nullptr;
  std::map<std::string, cuda::DevicePtr> pointers;
  std::vector<cuda::DevicePtr> allocations;
  bool timedOut = false;
  Error error;
};
} // namespace

Result<cuda::TensorMap> ts::encodeTensorMap(const cuda::Driver &driver, const TensorMapPlan &map,
                                            uint64_t address) {
  cuda::TensorMap encoded;
  // One dimension has no strides, but the driver refuses a null pointer for them.
  const uint64_t none = 0;
  const uint64_t *strides = map.strides.empty() ? &none : map.strides.data();
  cuda::Result code = driver.tensorMapEncodeTiled(
      &encoded, map.padded ? paddedFour : tensorMapType(map.element),
      static_cast<uint32_t>(map.sizes.size()), reinterpret_cast<void *>(address), map.sizes.data(),
      strides, map.box.data(), map.elementStrides.data(), sizeCode(map.interleave, 16),
      sizeCode(map.swizzle, 32), sizeCode(map.l2Promotion, 64), map.fillNan ? 1 : 0);
  if (code != cuda::success)
    return Error{"encoding a tensor map failed: " + driver.describe(code)};
  return encoded;
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::open() {
  Result<const cuda::Driver *> loaded = cuda::loadDriver();
  if (!loaded)
    return loaded.error();
  const cuda::Driver &driver = **loaded;
  auto failed = [&](const std::string &doing, cuda::Result code) {
    return environmentError(checkPrefix(CheckId::TS501) + doing + ": " + driver.describe(code));
  };
  int count = 0;
  cuda::Result code = driver.init(0);
  if (code == cuda::success)
    code = driver.deviceGetCount(&count);
  if (code == cuda::errorNoDevice || (code == cuda::success && count == 0))
    return environmentError(checkPrefix(CheckId::TS501) +
                            "there is a CUDA driver here, but no CUDA device; --dry-run shows the "
                            "launch without one");
  if (code != cuda::success)
    return failed("the CUDA driver does not start", code);

  std::unique_ptr<CudaDevice> result(new CudaDevice(driver));
  char name[256] = "";
  int sms = 0, major = 0, minor = 0, smem = 0;
  cuda::Context context;
  if ((code = driver.deviceGet(&result->device, 0)) != cuda::success ||
      (code = driver.deviceGetName(name, sizeof name, result->device)) != cuda::success ||
      (code = driver.deviceGetAttribute(&sms, cuda::multiprocessorCount, result->device)) ||
      (code = driver.deviceGetAttribute(&major, cuda::computeCapabilityMajor, result->device)) ||
      (code = driver.deviceGetAttribute(&minor, cuda::computeCapabilityMinor, result->device)) ||
      (code =
           driver.deviceGetAttribute(&smem, cuda::maxSharedMemoryPerBlockOptin, result->device)) ||
      (code = driver.primaryContextRetain(&context, result->device)) ||
      (code = driver.contextSetCurrent(context)))
    return failed("the CUDA device cannot be opened", code);
  result->name = name;
  result->sms = sms;
  result->capability = major * 10 + minor;
  result->maxDynamicSmem = smem;
  return result;
}

Result<CudaRunReport> ts::runOnCuda(CudaDevice &device, const std::string &image,
                                    std::span<const LaunchPlan> plans,
                                    std::map<std::string, HostArray> &arrays,
                                    const std::vector<std::string> &outputs,
                                    const CudaRunOptions &options) {
  return Run(device, plans).run(image, arrays, outputs, options);
}

Result<std::unique_ptr<CudaImage>> CudaImage::load(CudaDevice &device, const std::string &image,
                                                   const std::string &arch) {
  if (Status status = checkArchitecture(device, arch); !status)
    return status.error();
  Result<cuda::Module> module = loadImage(device.driver, image);
  if (!module)
    return module.error();
  return std::unique_ptr<CudaImage>(new CudaImage(device, *module));
}

CudaImage::~CudaImage() { device.driver.moduleUnload(module); }

Result<bool> ts::runInPlace(CudaImage &image, const LaunchPlan &plan,
                            const std::map<std::string, uint64_t> &addresses,
                            double timeoutSeconds) {
  return Run(image.device, std::span(&plan, 1)).runInPlace(image.module, addresses, timeoutSeconds);
}
