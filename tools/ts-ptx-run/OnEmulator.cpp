// Runs a case in the emulator. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Backends.h"

#include "ts/Emulator/Emulator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ts;

namespace {
Result<emu::Schedule> parseSchedule(const std::string &text) {
  emu::Schedule schedule;
  if (text == "fair")
    return schedule;
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  char *end = nullptr;
  unsigned long long number =
      colon == std::string::npos ? 0 : std::strtoull(text.c_str() + colon + 1, &end, 10);
  if (!end || *end || end == text.c_str() + colon + 1 ||
      (kind != "random" && kind != "adversarial"))
    return Error{"schedule '" + text + "': expected fair, random:SEED or adversarial:VICTIM"};
  schedule.kind = kind == "random" ? emu::Schedule::Kind::Random : emu::Schedule::Kind::Adversarial;
  schedule.seed = number;
  schedule.victim = static_cast<unsigned>(number);
  return schedule;
}

std::string textOf(const std::vector<emu::Report> &reports) {
  std::string text;
  for (const emu::Report &report : reports)
    text += (text.empty() ? "" : "\n") + report.str();
  return text;
}

class Run {
public:
  explicit Run(unsigned sms) : device(sms) {}

  Status operator()(const std::string &ptx, const std::string &ptxName, Case &test,
                    const RunOptions &options, std::string &printed, std::set<std::string> &forms) {
    Result<emu::Schedule> schedule = parseSchedule(options.schedule);
    if (!schedule)
      return schedule.error();
    Result<unsigned> module = device.load(ptx, ptxName);
    if (!module)
      return module.error();
    for (const Buffer &buffer : test.buffers) {
      addresses.push_back(device.allocate(buffer.bytes.size(), 1024));
      std::memcpy(device.host(addresses.back(), buffer.bytes.size()), buffer.bytes.data(),
                  buffer.bytes.size());
    }
    std::vector<emu::Device::Pending> launches;
    for (const Launch &launch : test.launches) {
      emu::LaunchOptions o;
      o.entry = launch.entry;
      o.grid = launch.grid;
      o.block = launch.block;
      o.cluster = launch.cluster;
      o.dynamicSmem = launch.dynamicSmem;
      o.pdl = launch.pdl;
      o.schedule = *schedule;
      o.traceFile = options.trace;
      o.checkRaces = options.checkRaces;
      o.stepLimit = options.maxSteps;
      o.print = [&](std::string_view text) { printed += text; };
      std::vector<emu::ParamBytes> params;
      for (const Param &param : launch.params) {
        Result<emu::ParamBytes> bytes = encode(param);
        if (!bytes)
          return bytes.error();
        params.push_back(*bytes);
      }
      launches.push_back({*module, o, params});
    }
    emu::LaunchResult result =
        launches.size() == 1
            ? device.launch(launches[0].module, launches[0].options, launches[0].params)
            : device.launchSequence(launches);
    forms.insert(result.forms.begin(), result.forms.end());
    if (!result.warnings.empty())
      std::fprintf(stderr, "%s\n", textOf(result.warnings).c_str());
    if (!result.ok() || (options.warningsAreFaults && !result.warnings.empty()))
      return Error{"case '" + test.name + "' failed\n" + textOf(result.faults) + result.stopped};
    for (size_t i = 0; i < test.buffers.size(); ++i)
      std::memcpy(test.buffers[i].bytes.data(),
                  device.host(addresses[i], test.buffers[i].bytes.size()),
                  test.buffers[i].bytes.size());
    return Done{};
  }

private:
  Result<emu::ParamBytes> encode(const Param &param) {
    if (param.kind == Param::Kind::Bytes)
      return param.bytes;
    uint64_t address = addresses[param.buffer] + param.offset;
    if (param.kind == Param::Kind::TensorMap)
      return emu::Device::encodeTensorMap(param.map, address);
    emu::ParamBytes bytes(sizeof address);
    std::memcpy(bytes.data(), &address, sizeof address);
    return bytes;
  }

  emu::Device device;
  std::vector<uint64_t> addresses;
};
} // namespace

Status runOnEmulator(const std::string &ptx, const std::string &ptxName, Case &test,
                     const RunOptions &options, std::string &printed,
                     std::set<std::string> &forms) {
  return Run(options.sms)(ptx, ptxName, test, options, printed, forms);
}
