// Planned launches on the emulator, with host arrays in and out: what runOnCuda is for a GPU.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_RUNPLAN_H
#define TS_EMULATOR_RUNPLAN_H

#include "ts/Emulator/Emulator.h"
#include "ts/Runtime/HostArray.h"

#include <map>
#include <span>

namespace ts::emu {

struct RunReport {
  LaunchResult result;
  double seconds = 0; // of real time, parsing not included
};

/// Loads `ptx` (called `name` in messages), launches the plans one after the other on the arrays
/// and copies them back, also after a fault. A plan with PDL may begin before the one in front of
/// it has ended, when that lets it. Grid, block, cluster, shared memory, PDL and the kernel's name
/// come from the plan, everything else from `options`. An error is about the PTX or the plan; what
/// the kernel did wrong stands in the report. Only the span of an array is memory: an access before
/// or behind it is a fault, and no write reaches the guards.
Result<RunReport> runOnEmulator(const std::string &ptx, const std::string &name,
                                std::span<const LaunchPlan> plans,
                                std::map<std::string, HostArray> &arrays,
                                const LaunchOptions &options, unsigned sms);
inline Result<RunReport> runOnEmulator(const std::string &ptx, const std::string &name,
                                       const LaunchPlan &plan,
                                       std::map<std::string, HostArray> &arrays,
                                       const LaunchOptions &options, unsigned sms) {
  return runOnEmulator(ptx, name, std::span(&plan, 1), arrays, options, sms);
}

} // namespace ts::emu

#endif // TS_EMULATOR_RUNPLAN_H
