// What ts-ptx-run runs: cases of a JSON file, each with its buffers and its launch or launches. The
// format is described by `ts-ptx-run --help`. Says nothing about where a case runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_TOOLS_PTXRUN_LAUNCHFILE_H
#define TS_TOOLS_PTXRUN_LAUNCHFILE_H

#include "ts/Runtime/LaunchPlan.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// A range of global memory, with the bytes that it holds before the launches.
struct Buffer {
  std::string name;
  std::vector<uint8_t> bytes;
  bool output = false; // written to the output folder afterwards
};

/// One kernel parameter.
struct Param {
  enum class Kind { Pointer, Bytes, TensorMap };
  Kind kind = Kind::Bytes;
  size_t buffer = 0;          // of a pointer or a map: index into Case::buffers
  uint64_t offset = 0;        // in bytes, added to the buffer's address
  std::vector<uint8_t> bytes; // as the kernel reads them
  ts::TensorMapPlan map;
};

struct Launch {
  std::string entry;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1}, cluster = {1, 1, 1};
  uint32_t dynamicSmem = 0;
  bool pdl = false; // may begin before the launch before it has ended
  std::vector<Param> params;
};

struct Case {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
};

/// Parses the cases of a launch file; an error names file and case.
ts::Result<std::vector<Case>> parseLaunchFile(const std::string &path);

/// Fills `bytes` with `count` elements of `type` as `init` says; see --help for the kinds. The file
/// of init "file:NAME" is looked for beside the launch file, in `folder`.
ts::Status fillBuffer(std::vector<uint8_t> &bytes, ts::ElementType type, uint64_t count,
                      const std::string &init, uint32_t seed, double low, double high,
                      const std::string &folder);

#endif // TS_TOOLS_PTXRUN_LAUNCHFILE_H
