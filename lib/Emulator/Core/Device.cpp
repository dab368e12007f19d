// The public Device: memory, modules, and the rules of a launch. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "Decode.h"
#include "Grid.h"

namespace ts::emu {
namespace {
constexpr uint32_t maxThreads = 1024, maxCluster = 16;
constexpr uint32_t maxShared = 227 * 1024; // of a CTA on sm_90 and sm_100
constexpr uint64_t maxParams = 32764;      // bytes, PTX ISA 8.1 on sm_70 and later
constexpr uint64_t maxGlobals = uint64_t(4) << 30;
constexpr uint64_t maxFrame = 512 * 1024;                 // local memory of a thread
constexpr uint64_t maxRegisterMemory = uint64_t(2) << 30; // of a cluster, on this machine
constexpr unsigned maxSms = 1 << 16;

Report launchError(const std::string &message) {
  Report report;
  report.kind = FaultKind::Launch;
  report.message = message;
  return report;
}

std::string shapeText(const std::array<uint32_t, 3> &shape) {
  return format("%u x %u x %u", shape[0], shape[1], shape[2]);
}

bool given(const std::array<uint32_t, 3> &shape) { return shape[0] || shape[1] || shape[2]; }

uint64_t volume(const std::array<uint32_t, 3> &shape) {
  return uint64_t(shape[0]) * shape[1] * shape[2];
}

std::string checkShape(const Code &entry, const LaunchOptions &o) {
  const ptx::Function &f = *entry.function;
  if (!volume(o.grid) || !volume(o.block) || !volume(o.cluster))
    return "a dimension of the launch is zero: grid " + shapeText(o.grid) + ", block " +
           shapeText(o.block) + ", cluster " + shapeText(o.cluster);
  if (o.grid[0] > 0x7fffffff || o.grid[1] > 65535 || o.grid[2] > 65535)
    return "the grid of " + shapeText(o.grid) + " is larger than 2147483647 x 65535 x 65535";
  if (volume(o.block) > maxThreads || o.block[2] > 64)
    return format("a block of %s threads; a CTA has at most %u (64 in z)",
                  shapeText(o.block).c_str(), maxThreads);
  if (volume(o.cluster) > maxCluster)
    return format("a cluster of %s CTAs; at most %u are possible", shapeText(o.cluster).c_str(),
                  maxCluster);
  for (unsigned d = 0; d < 3; ++d)
    if (o.grid[d] % o.cluster[d])
      return "the grid of " + shapeText(o.grid) + " is not divisible by the cluster of " +
             shapeText(o.cluster);
  std::array<uint32_t, 3> required = f.reqntid;
  for (uint32_t &n : required)
    n = std::max(n, 1u);
  if (given(f.reqntid) && required != o.block)
    return "the kernel requires blocks of " + shapeText(required) + " threads (.reqntid), not " +
           shapeText(o.block);
  std::array<uint32_t, 3> most = f.maxntid;
  for (uint32_t &n : most)
    n = std::max(n, 1u);
  if (given(f.maxntid) && volume(o.block) > volume(most))
    return "the kernel is compiled for at most " + shapeText(most) +
           " threads (.maxntid), the block has " + shapeText(o.block);
  std::array<uint32_t, 3> cluster = f.reqnctapercluster;
  for (uint32_t &n : cluster)
    n = std::max(n, 1u);
  if (given(f.reqnctapercluster) && cluster != o.cluster)
    return "the kernel requires clusters of " + shapeText(cluster) +
           " CTAs (.reqnctapercluster), not " + shapeText(o.cluster);
  uint64_t warps = volume(o.cluster) * ((volume(o.block) + warpSize - 1) / warpSize);
  uint64_t registers = warps * entry.numRegisters * warpSize * sizeof(uint64_t);
  if (registers > maxRegisterMemory)
    return format("the %u registers of the kernel take %llu MiB for a cluster of this launch; at "
                  "most %llu MiB are possible here",
                  entry.numRegisters, (unsigned long long)(registers >> 20),
                  (unsigned long long)(maxRegisterMemory >> 20));
  uint64_t shared = uint64_t(entry.dynamicOffset) - sharedReserved + o.dynamicSmem;
  if (shared > maxShared)
    return format("the kernel needs %llu bytes of shared memory (%u of them dynamic); a CTA has at "
                  "most %u",
                  (unsigned long long)shared, o.dynamicSmem, maxShared);
  return {};
}

/// Sizes that a module declares; offsets in frames and parameter buffers have 32 bits.
std::string checkSizes(const ptx::Module &module) {
  auto total = [](const std::vector<ptx::Variable> &variables, auto &&wanted) {
    uint64_t bytes = 0;
    for (const ptx::Variable &v : variables)
      if (wanted(v))
        bytes = std::min(bytes + v.size + v.align, uint64_t(1) << 62);
    return bytes;
  };
  auto isShared = [](const ptx::Variable &v) { return v.space == ptx::Space::Shared; };
  auto isOther = [](const ptx::Variable &v) { return v.space != ptx::Space::Shared; };
  auto all = [](const ptx::Variable &) { return true; };
  auto bad = [](const std::string &what, uint64_t bytes, uint64_t most) {
    return what + format(" take %llu bytes; at most %llu are possible", (unsigned long long)bytes,
                         (unsigned long long)most);
  };
  if (uint64_t bytes = total(module.variables, isOther); bytes > maxGlobals)
    return bad("the module's global and constant variables", bytes, maxGlobals);
  uint64_t shared = total(module.variables, isShared);
  for (const ptx::Function &f : module.functions) {
    const std::string of = " of '" + f.name + "'";
    if (uint64_t bytes = total(f.params, all) + total(f.returns, all);
        bytes > maxParams + 16 * (f.params.size() + f.returns.size()))
      return bad("the parameters" + of, bytes, maxParams);
    if (uint64_t bytes = total(f.variables, isOther); bytes > maxFrame)
      return bad("the local variables" + of, bytes, maxFrame);
    shared += total(f.variables, isShared);
    if (shared > uint64_t(1) << 30) // each launch is checked against a CTA's memory later
      return bad("the module's shared variables", shared, uint64_t(1) << 30);
  }
  return {};
}
} // namespace

struct Device::Impl {
  GlobalMemory global;
  unsigned sms = 132;
  std::vector<std::unique_ptr<Program>> programs;

  const Code *findEntry(const Program &program, const std::string &name, std::string &why) const {
    const Code *found = nullptr;
    std::string names;
    unsigned entries = 0;
    for (const std::unique_ptr<Code> &code : program.functions) {
      if (!code->function->isEntry)
        continue;
      ++entries;
      names += (names.empty() ? "" : ", ") + code->function->name;
      if (name.empty() || code->function->name == name)
        found = code.get();
    }
    if (name.empty() && entries > 1)
      found = nullptr;
    if (!found)
      why = entries == 0   ? "the module has no kernel"
            : name.empty() ? "the module has several kernels, name one: " + names
                           : "the module has no kernel '" + name + "'; it has " + names;
    return found;
  }

  std::string prepare(const Pending &pending, GridLaunch &launch) const {
    if (pending.module >= programs.size())
      return "there is no such module";
    const Program &program = *programs[pending.module];
    std::string why;
    const Code *entry = findEntry(program, pending.options.entry, why);
    if (!entry)
      return why;
    if (std::string wrong = checkShape(*entry, pending.options); !wrong.empty())
      return entry->function->name + ": " + wrong;
    const std::vector<ptx::Variable> &declared = entry->function->params;
    if (declared.size() != pending.params.size())
      return format("%s has %zu parameters, %zu are given", entry->function->name.c_str(),
                    declared.size(), pending.params.size());
    launch.params.assign(entry->paramBytes, 0);
    for (size_t i = 0; i < declared.size(); ++i) {
      if (declared[i].size != pending.params[i].size())
        return format("parameter %zu of %s has %llu bytes, %zu are given", i,
                      entry->function->name.c_str(), (unsigned long long)declared[i].size,
                      pending.params[i].size());
      std::copy(pending.params[i].begin(), pending.params[i].end(),
                launch.params.begin() + entry->paramOffset[i]);
    }
    launch.program = &program;
    launch.entry = entry;
    launch.options = &pending.options;
    return {};
  }
};

Device::Device(unsigned sms) : impl(std::make_unique<Impl>()) {
  impl->sms = std::clamp(sms, 1u, maxSms);
}
Device::~Device() = default;

uint64_t Device::allocate(uint64_t bytes, uint64_t align) {
  return impl->global.allocate(bytes, align);
}
void Device::free(uint64_t address) { impl->global.free(address); }
uint8_t *Device::host(uint64_t address, uint64_t bytes) {
  return impl->global.find(address, bytes);
}

Result<unsigned> Device::load(std::string_view text, std::string name, bool strict) {
  Result<ptx::Module> module = ptx::parse(text, std::move(name));
  if (!module)
    return module.error();
  if (std::string wrong = checkSizes(*module); !wrong.empty())
    return Error{module->name + ": " + wrong};
  Result<std::unique_ptr<Program>> program = decode(std::move(*module), impl->global, strict);
  if (!program)
    return program.error();
  impl->programs.push_back(std::move(*program));
  return unsigned(impl->programs.size() - 1);
}

std::optional<std::pair<uint64_t, uint64_t>> Device::global(unsigned module,
                                                            std::string_view name) {
  if (module >= impl->programs.size())
    return std::nullopt;
  const Program &program = *impl->programs[module];
  for (size_t i = 0; i < program.module.variables.size(); ++i)
    if (program.module.variables[i].name == name)
      return std::pair{program.variableAddress[i], program.module.variables[i].size};
  return std::nullopt;
}

LaunchResult Device::launch(unsigned module, const LaunchOptions &options,
                            const std::vector<ParamBytes> &params) {
  return launchSequence({{module, options, params}});
}

LaunchResult Device::launchSequence(const std::vector<Pending> &pending) {
  std::vector<GridLaunch> launches;
  for (const Pending &p : pending) {
    GridLaunch launch;
    if (std::string wrong = impl->prepare(p, launch); !wrong.empty()) {
      LaunchResult result;
      result.faults.push_back(launchError(wrong));
      return result;
    }
    launches.push_back(std::move(launch));
  }
  if (launches.empty())
    return {};
  return runGrids(std::move(launches), impl->global, impl->sms);
}

} // namespace ts::emu
