// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxFuzz.h"

#include "ts/Emulator/Emulator.h"

#include <algorithm>
#include <cstring>

using namespace ts;

namespace {
constexpr uint64_t stepLimit = 3000;
constexpr unsigned maxEntries = 4;
constexpr uint64_t bufferBytes = 4096;

/// Pointers into a buffer, or tensor maps over it, so that loads and copies get somewhere.
emu::ParamBytes parameter(uint64_t bytes, uint64_t buffer) {
  emu::ParamBytes param(bytes);
  if (bytes == 128) {
    TensorMapPlan plan;
    plan.element = ElementType::F32;
    plan.sizes = {16, 16};
    plan.strides = {64};
    plan.box = {8, 8};
    plan.elementStrides = {1, 1};
    if (Result<emu::ParamBytes> map = emu::Device::encodeTensorMap(plan, buffer))
      param = *map;
  }
  if (bytes == 8)
    std::memcpy(param.data(), &buffer, 8);
  param.resize(bytes);
  return param;
}

std::array<uint32_t, 3> atLeastOne(std::array<uint32_t, 3> shape, uint32_t x) {
  if (!shape[0])
    shape[0] = x;
  for (uint32_t &n : shape)
    n = std::max(n, 1u);
  return shape;
}
} // namespace

unsigned ts::fuzz::runPtxText(std::string_view text) {
  // The texts are small; what they declare need not be.
  Result<ptx::Module> module = ptx::parse(text, "fuzz.ptx");
  if (!module)
    return 0;
  for (const ptx::Variable &v : module->variables)
    if (v.space != ptx::Space::Shared && v.size > 1 << 20)
      return 0;
  for (const ptx::Function &f : module->functions)
    if (f.registers.size() > 4096)
      return 0;
  emu::Device device(4);
  Result<unsigned> loaded = device.load(text, "fuzz.ptx");
  if (!loaded)
    return 0;
  uint64_t buffer = device.allocate(bufferBytes, 1024);
  unsigned launches = 0;
  for (const ptx::Function &f : module->functions) {
    if (!f.isEntry || launches == maxEntries)
      continue;
    ++launches;
    emu::LaunchOptions options;
    options.entry = f.name;
    options.block = atLeastOne(f.reqntid, 64);
    options.cluster = atLeastOne(f.reqnctapercluster, 1);
    options.grid = options.cluster;
    options.dynamicSmem = 16384;
    options.stepLimit = stepLimit;
    options.idleLimit = stepLimit;
    options.threads = 1;
    options.print = [](std::string_view) {};
    // The text decides which schedule, so that a failure repeats.
    options.schedule.kind =
        text.size() % 2 ? emu::Schedule::Kind::Random : emu::Schedule::Kind::Fair;
    options.schedule.seed = text.size();
    std::vector<emu::ParamBytes> params;
    for (const ptx::Variable &v : f.params)
      params.push_back(parameter(std::min<uint64_t>(v.size, 1 << 16), buffer));
    emu::LaunchResult result = device.launch(*loaded, options, params);
    for (const emu::Report &report : result.faults)
      (void)report.str();
    (void)emu::toJson(result.faults);
  }
  return launches;
}
