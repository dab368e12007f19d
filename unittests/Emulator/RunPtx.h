// Runs a few lines of PTX in the emulator, for tests: registers are declared by their names (%p
// predicates, %rs b16, %r b32, %rd b64, %f f32, %fd f64, %rq b128), %rd0 holds the address of the
// output buffer and %r0 the thread's index; the addresses of tensor maps follow %rd1.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_RUNPTX_H
#define TS_UNITTESTS_EMULATOR_RUNPTX_H

#include "ts/Emulator/Emulator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace ts::emu::test {

/// A tensor map over the input (or the output) buffer, given to the kernel as a parameter.
struct MapParam {
  TensorMapPlan plan;
  bool output = false;
  uint64_t offset = 0;                                // in the buffer
  std::function<void(ParamBytes &)> change = nullptr; // of the encoded map
};

struct Run {
  std::string body;       // instructions
  std::string globals;    // module-level declarations
  std::string directives; // of the entry: ".maxnreg 64"
  std::string target = "sm_100a";
  std::vector<uint8_t> input; // placed at the start of the buffer; %rd1 is its address
  size_t outputBytes = 4096;  // zero at first
  std::vector<MapParam> maps; // map i: its generic address is in %rd(2 + i)
  LaunchOptions options = [] {
    LaunchOptions o;
    o.block = {32, 1, 1};
    o.threads = 1;
    return o;
  }();
};

inline Schedule randomSchedule(uint64_t seed) {
  Schedule schedule;
  schedule.kind = Schedule::Kind::Random;
  schedule.seed = seed;
  return schedule;
}

struct Ran {
  LaunchResult result;
  std::vector<uint8_t> output;
  std::string error; // of the parser

  template <class T> T at(size_t index) const {
    T value{};
    memcpy(&value, output.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  bool ok() const { return error.empty() && result.ok(); }
  std::string text() const {
    std::string all = error;
    for (const Report &report : result.faults)
      all += report.str();
    return all;
  }
  bool faults(FaultKind kind) const {
    return !result.faults.empty() && result.faults.front().kind == kind;
  }
};

inline std::string ptxModule(const Run &run) {
  std::string params, addresses;
  for (size_t i = 0; i < run.maps.size(); ++i) {
    const std::string name = "map" + std::to_string(i), reg = "%rd" + std::to_string(2 + i);
    params += ", .param .align 64 .b8 " + name + "[128]";
    addresses += "mov.b64 " + reg + ", " + name + ";\ncvta.param.u64 " + reg + ", " + reg + ";\n";
  }
  return ".version 8.8\n.target " + run.target + "\n.address_size 64\n" + run.globals +
         "\n.visible .entry test(.param .u64 out, .param .u64 in" + params + ")\n" +
         run.directives +
         "\n{\n"
         ".reg .pred %p<32>;\n.reg .b16 %rs<64>;\n.reg .b32 %r<512>;\n.reg .b64 %rd<64>;\n"
         ".reg .f32 %f<320>;\n.reg .f64 %fd<32>;\n.reg .b128 %rq<8>;\n"
         "ld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [in];\nmov.u32 %r0, %tid.x;\n" +
         addresses + run.body + "\nret;\n}\n";
}

/// For the coverage table: the executed forms, appended to the file that TS_EMULATOR_FORMS names.
inline void recordForms(const LaunchResult &result) {
  const char *file = getenv("TS_EMULATOR_FORMS");
  bool trapped = !result.faults.empty() && result.faults.front().kind == FaultKind::Trap;
  if (!file || !(result.ok() || trapped))
    return;
  if (FILE *out = fopen(file, "a")) {
    for (const std::string &form : result.forms)
      fprintf(out, "%s\n", form.c_str());
    fclose(out);
  }
}

inline Ran runPtx(const Run &run) {
  Ran ran;
  Device device;
  Result<unsigned> module = device.load(ptxModule(run), "test.ptx");
  if (!module) {
    ran.error = module.error().message;
    return ran;
  }
  uint64_t out = device.allocate(run.outputBytes);
  memset(device.host(out, run.outputBytes), 0, run.outputBytes);
  uint64_t in = device.allocate(std::max<size_t>(run.input.size(), 16), 1024);
  if (!run.input.empty())
    memcpy(device.host(in, run.input.size()), run.input.data(), run.input.size());
  auto bytes = [](uint64_t value) {
    ParamBytes param(8);
    memcpy(param.data(), &value, 8);
    return param;
  };
  std::vector<ParamBytes> params{bytes(out), bytes(in)};
  for (const MapParam &map : run.maps) {
    Result<ParamBytes> encoded =
        Device::encodeTensorMap(map.plan, (map.output ? out : in) + map.offset);
    if (!encoded) {
      ran.error = encoded.error().message;
      return ran;
    }
    if (map.change)
      map.change(*encoded);
    params.push_back(std::move(*encoded));
  }
  ran.result = device.launch(*module, run.options, params);
  recordForms(ran.result);
  const uint8_t *host = device.host(out, run.outputBytes);
  ran.output.assign(host, host + run.outputBytes);
  return ran;
}

inline Ran runPtx(const std::string &body) {
  Run run;
  run.body = body;
  return runPtx(run);
}

/// Bytes of values, for Run::input.
template <class T> std::vector<uint8_t> bytesOf(const std::vector<T> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!values.empty())
    memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_RUNPTX_H
