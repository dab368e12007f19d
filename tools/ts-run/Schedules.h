// Which schedules of the emulator a run goes through: from the options to a list.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_TOOLS_TSRUN_SCHEDULES_H
#define TS_TOOLS_TSRUN_SCHEDULES_H

#include "ts/Emulator/Emulator.h"

/// Schedules known beforehand, and whether every actor of the launch shall be the victim once: how
/// many actors there are is known after the first run only.
struct ScheduleSet {
  std::vector<ts::emu::Schedule> fixed;
  bool everyVictim = false;
  bool several() const { return fixed.size() > 1 || everyVictim; }
};

/// fair, random:SEED, random:FIRST-LAST, adversarial, adversarial:K.
ts::Result<ScheduleSet> parseSchedule(const std::string &text);

/// --all-schedules.
ScheduleSet allSchedules();

/// A steered schedule from JSON: [{"cta": 0, "warp": 4, "ptx_line": 120}, ...]. `cta` is the rank
/// in the cluster and may be left out; with "settled": true asynchronous work goes first. Or an
/// object with this list as "places", "probes" (PTX lines of try_waits that give up at once),
/// "engines" ("first" or "last": when asynchronous work moves) and "late" (PTX lines whose
/// asynchronous work moves when nothing else can).
ts::Result<ScheduleSet> readSteering(const std::string &path);

/// "random:7", as it can be given to --schedule.
std::string scheduleText(const ts::emu::Schedule &schedule);

#endif // TS_TOOLS_TSRUN_SCHEDULES_H
