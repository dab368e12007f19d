// Arrays and parameters of a planned launch in the emulator's memory. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "ts/Emulator/RunPlan.h"

#include <chrono>
#include <cstring>
#include <new>

namespace ts::emu {
namespace {
constexpr uint64_t guard = HostArray::guardBytes;

/// Where an array stands: its image without the guards.
struct Placed {
  uint64_t address = 0; // of the image's byte `guard`
  uint64_t bytes = 0;
};

Status setShape(const std::array<int64_t, 3> &from, std::array<uint32_t, 3> &to, const char *what) {
  for (size_t i = 0; i < 3; ++i) {
    if (from[i] < 0 || from[i] > int64_t(UINT32_MAX))
      return Error{std::string("the ") + what + " dimension " + std::to_string(from[i]) +
                   " is out of range"};
    to[i] = uint32_t(from[i]);
  }
  return Done{};
}

Result<LaunchOptions> optionsOf(const LaunchPlan &plan, LaunchOptions options) {
  options.entry = plan.kernel;
  options.pdl = plan.pdl;
  for (const Status &status :
       {setShape(plan.grid, options.grid, "grid"), setShape(plan.block, options.block, "block"),
        setShape(plan.cluster, options.cluster, "cluster")})
    if (!status)
      return status.error();
  if (plan.dynamicSmem < 0 || plan.dynamicSmem > int64_t(UINT32_MAX))
    return Error{"the dynamic shared memory of " + std::to_string(plan.dynamicSmem) +
                 " bytes is out of range"};
  options.dynamicSmem = uint32_t(plan.dynamicSmem);
  return options;
}

Result<std::vector<ParamBytes>> paramsOf(const LaunchPlan &plan,
                                         const std::map<std::string, HostArray> &arrays,
                                         const std::map<std::string, Placed> &places) {
  std::vector<ParamBytes> params;
  for (const LaunchParam &param : plan.params) {
    if (param.kind == ManifestParam::Kind::Value) {
      params.push_back(param.bytes);
      continue;
    }
    auto offset = uint64_t(arrays.at(param.arg).layout().offsetBytes);
    uint64_t address = places.at(param.arg).address + offset;
    if (param.kind == ManifestParam::Kind::Pointer) {
      ParamBytes bytes(sizeof address);
      memcpy(bytes.data(), &address, sizeof address);
      params.push_back(std::move(bytes));
      continue;
    }
    Result<ParamBytes> map = Device::encodeTensorMap(param.map, address);
    if (!map)
      return Error{"encoding the tensor map of '" + param.arg + "': " + map.error().message};
    params.push_back(std::move(*map));
  }
  return params;
}
} // namespace

Result<RunReport> runOnEmulator(const std::string &ptx, const std::string &name,
                                std::span<const LaunchPlan> plans,
                                std::map<std::string, HostArray> &arrays,
                                const LaunchOptions &given, unsigned sms) {
  RunReport report;
  try {
    Device device(sms);
    Result<unsigned> module = device.load(ptx, name);
    if (!module)
      return module.error();
    std::map<std::string, Placed> places;
    for (auto &[arrayName, array] : arrays) {
      Placed placed;
      placed.bytes = array.image().size() - 2 * guard;
      placed.address = device.allocate(placed.bytes, guard);
      if (placed.bytes)
        memcpy(device.host(placed.address, placed.bytes), array.image().data() + guard,
               placed.bytes);
      places[arrayName] = placed;
    }
    std::vector<Device::Pending> launches;
    for (const LaunchPlan &plan : plans) {
      Result<LaunchOptions> options = optionsOf(plan, given);
      if (!options)
        return options.error();
      Result<std::vector<ParamBytes>> params = paramsOf(plan, arrays, places);
      if (!params)
        return params.error();
      if (!plan.nothingToLaunch())
        launches.push_back({*module, std::move(*options), std::move(*params)});
    }
    if (launches.empty())
      return report;
    auto begin = std::chrono::steady_clock::now();
    report.result = device.launchSequence(launches);
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (auto &[arrayName, array] : arrays)
      if (const Placed &placed = places[arrayName]; placed.bytes)
        memcpy(array.image().data() + guard, device.host(placed.address, placed.bytes),
               placed.bytes);
  } catch (const std::bad_alloc &) {
    return environmentError("this machine has not enough memory for the arrays of the launch");
  }
  return report;
}

} // namespace ts::emu
