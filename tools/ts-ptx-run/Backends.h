// The two places where a case runs. Each leaves what the kernels wrote in the case's buffers, and
// what they printed in `printed`. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_TOOLS_PTXRUN_BACKENDS_H
#define TS_TOOLS_PTXRUN_BACKENDS_H

#include "LaunchFile.h"

#include <set>

struct RunOptions {
  std::string schedule = "fair"; // fair, random:SEED or adversarial:VICTIM
  std::string trace;
  bool warningsAreFaults = false;
  bool checkRaces = true;
  double timeoutSeconds = 20;        // of one launch on a GPU
  uint64_t maxSteps = 1'000'000'000; // warp instructions of one launch in the emulator
  unsigned sms = 132;
};

ts::Status runOnEmulator(const std::string &ptx, const std::string &ptxName, Case &test,
                         const RunOptions &options, std::string &printed,
                         std::set<std::string> &forms);
ts::Status runOnCuda(const std::string &ptx, Case &test, const RunOptions &options,
                     std::string &printed);

#endif // TS_TOOLS_PTXRUN_BACKENDS_H
