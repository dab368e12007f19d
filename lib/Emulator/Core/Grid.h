// Runs the launches of a sequence over the host's threads. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_CORE_GRID_H
#define TS_EMULATOR_CORE_GRID_H

#include "Machine.h"

namespace ts::emu {

struct GridLaunch {
  const Program *program = nullptr;
  const Code *entry = nullptr;
  const LaunchOptions *options = nullptr;
  std::vector<uint8_t> params;
};

/// In order; a launch with `pdl` may begin when every CTA before it has let its dependents go.
LaunchResult runGrids(std::vector<GridLaunch> launches, GlobalMemory &global, unsigned sms);

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_GRID_H
