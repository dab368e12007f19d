// Runs a case on a CUDA device. A launch that does not end within its time leaves the device
// unusable: the process has to end then. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Backends.h"

#include "ts/Runtime/CudaLaunch.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <unistd.h>

using namespace ts;

namespace {
/// Catches what device printf writes: the driver writes it to file descriptor 1.
class CaughtOutput {
public:
  CaughtOutput() : file(std::tmpfile()) {
    std::fflush(stdout);
    saved = dup(1);
    if (file)
      dup2(fileno(file), 1);
  }
  ~CaughtOutput() { finish(); }
  std::string finish() {
    std::string text;
    if (saved < 0)
      return text;
    std::fflush(stdout);
    dup2(saved, 1);
    close(saved);
    saved = -1;
    if (!file)
      return text;
    std::fseek(file, 0, SEEK_SET);
    char block[4096];
    while (size_t n = std::fread(block, 1, sizeof block, file))
      text.append(block, n);
    std::fclose(file);
    return text;
  }

private:
  std::FILE *file;
  int saved;
};

class Run {
public:
  Run(CudaDevice &device, Case &test, const RunOptions &options)
      : driver(device.driver), test(test), options(options) {}

  Status operator()(const std::string &ptx) {
    if (load(ptx) && upload() && launchAll() && wait() && download())
      return Done{};
    return error;
  }

private:
  bool ok(cuda::Result code, const std::string &doing) {
    if (code == cuda::success)
      return true;
    error = {"case '" + test.name + "': " + doing + " failed: " + driver.describe(code)};
    return false;
  }

  bool load(const std::string &ptx) {
    char log[4096] = "";
    int keys[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferSizeBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    if (ok(driver.moduleLoadDataEx(&module, ptx.c_str(), 2, keys, values), "loading the PTX"))
      return true;
    log[sizeof log - 1] = 0;
    error.message += std::string(": ") + log;
    return false;
  }

  bool upload() {
    for (const Buffer &buffer : test.buffers) {
      constexpr uint64_t unit = 1024; // as in the emulator; the driver promises 256 only
      cuda::DevicePtr pointer = 0;
      if (!ok(driver.memAlloc(&pointer, buffer.bytes.size() + unit), "allocating a buffer"))
        return false;
      addresses.push_back((pointer + unit - 1) / unit * unit);
      if (!ok(driver.memcpyHtoD(addresses.back(), buffer.bytes.data(), buffer.bytes.size()),
              "copying '" + buffer.name + "' to the device"))
        return false;
    }
    return true;
  }

  bool download() {
    for (size_t i = 0; i < test.buffers.size(); ++i)
      if (!ok(driver.memcpyDtoH(test.buffers[i].bytes.data(), addresses[i],
                                test.buffers[i].bytes.size()),
              "copying '" + test.buffers[i].name + "' back"))
        return false;
    return true;
  }

  bool launchAll() {
    for (const Launch &launch : test.launches)
      if (!launchOne(launch))
        return false;
    return ok(driver.eventCreate(&end, 0), "creating an event") &&
           ok(driver.eventRecord(end, nullptr), "recording an event");
  }

  bool launchOne(const Launch &launch) {
    cuda::Function function = nullptr;
    if (!ok(driver.moduleGetFunction(&function, module, launch.entry.c_str()),
            "finding kernel '" + launch.entry + "'"))
      return false;
    if (launch.dynamicSmem &&
        !ok(driver.functionSetAttribute(function, cuda::maxDynamicSharedSizeBytes,
                                        static_cast<int>(launch.dynamicSmem)),
            "reserving shared memory"))
      return false;
    std::vector<std::array<uint64_t, 16>> words(launch.params.size());
    std::vector<cuda::TensorMap> maps(launch.params.size());
    std::vector<void *> values;
    for (size_t i = 0; i < launch.params.size(); ++i) {
      const Param &param = launch.params[i];
      values.push_back(words[i].data());
      if (param.kind == Param::Kind::Bytes) {
        std::memcpy(words[i].data(), param.bytes.data(), param.bytes.size());
      } else if (param.kind == Param::Kind::Pointer) {
        words[i][0] = addresses[param.buffer] + param.offset;
      } else {
        Result<cuda::TensorMap> map =
            encodeTensorMap(driver, param.map, addresses[param.buffer] + param.offset);
        if (!map) {
          error = map.error();
          return false;
        }
        maps[i] = *map;
        values.back() = &maps[i];
      }
    }
    cuda::LaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1) {
      attributes[count].id = cuda::attributeClusterDimension;
      attributes[count++].value.cluster = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
    }
    if (launch.pdl) {
      attributes[count].id = cuda::attributeProgrammaticStream;
      attributes[count++].value.programmaticStreamSerialization = 1;
    }
    cuda::LaunchConfig config = {
        launch.grid[0],  launch.grid[1],     launch.grid[2], launch.block[0], launch.block[1],
        launch.block[2], launch.dynamicSmem, nullptr,        attributes,      count};
    return ok(driver.launchKernelEx(&config, function, values.data(), nullptr),
              "launching '" + launch.entry + "'");
  }

  bool wait() {
    auto start = std::chrono::steady_clock::now();
    cuda::Result code;
    while ((code = driver.eventQuery(end)) == cuda::errorNotReady) {
      std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (waited.count() > options.timeoutSeconds) {
        error = {"case '" + test.name + "': the kernel does not end"};
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return ok(code, "running");
  }

  const cuda::Driver &driver;
  Case &test;
  const RunOptions &options;
  cuda::Module module = nullptr;
  cuda::Event end = nullptr;
  std::vector<cuda::DevicePtr> addresses; // the process ends soon: nothing is freed
  Error error;
};
} // namespace

Status runOnCuda(const std::string &ptx, Case &test, const RunOptions &options,
                 std::string &printed) {
  static Result<std::unique_ptr<CudaDevice>> device = CudaDevice::open();
  if (!device)
    return device.error();
  CaughtOutput caught;
  Status status = Run(**device, test, options)(ptx);
  printed = caught.finish();
  return status;
}
