// The command line of ts-run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_TOOLS_TSRUN_OPTIONS_H
#define TS_TOOLS_TSRUN_OPTIONS_H

#include "Schedules.h"
#include "ts/Runtime/HostArray.h"

#include <map>
#include <optional>

/// How an array gets its first values.
struct Filling {
  enum class Kind { Normal, Ints, Constant, Listed };
  Kind kind = Kind::Normal;
  std::optional<uint64_t> seed; // of Normal and Ints; --seed decides without one
  int64_t largest = 2;          // of Ints
  double value = 0;             // of Constant
  std::vector<double> list;     // of Listed, in row-major order
};

/// What the --array options say about one array; several options for one name add up.
struct ArraySpec {
  std::optional<std::vector<int64_t>> shape;
  std::map<unsigned, int64_t> strides; // dimension -> elements
  int64_t offsetBytes = 0;
  std::string file; // .npy
  std::optional<Filling> filling;
  bool magnitudes = false; // of random values
};

struct Options {
  std::string kernelFile;
  std::string manifestFile;
  std::string kernelName;
  std::map<std::string, ArraySpec> arrays;
  std::map<std::string, std::string> scalars;
  std::map<std::string, std::string> outs; // array -> file
  std::vector<std::string> checks;
  Filling defaultFilling;
  uint64_t seed = 1;
  std::optional<int64_t> sms;
  int64_t repeat = 0;
  std::string flops;
  std::optional<double> timeoutSeconds;
  double maxProducts = 0x1p31;
  bool exact = false;
  bool dryRun = false;
  bool verbose = false;
  bool emulator = true;
  // Of the emulator.
  std::optional<ScheduleSet> schedules; // fair without
  std::string steerFile, traceFile;
  unsigned threads = 0;
  uint64_t maxSteps = 0; // 0: no limit
  bool everySchedule = false;
  bool noRaceCheck = false, noUndefinedCheck = false;
  bool strictTensorFences = false;
  bool progress = false;
  bool jsonReport = false;
  bool help = false;
  bool version = false;
};

ts::Result<Options> parseOptions(int argc, char **argv);

extern const char *const helpText;

#endif // TS_TOOLS_TSRUN_OPTIONS_H
