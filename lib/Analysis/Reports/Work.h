// What one step of a schedule costs by the table of latencies. Internal to the reports.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_LIB_ANALYSIS_REPORTS_WORK_H
#define TS_LIB_ANALYSIS_REPORTS_WORK_H

#include "ts/Analysis/Reports/Input.h"
#include "ts/Analysis/Reports/Latencies.h"

namespace ts::reports {

/// The units that work goes to. Threads work in the task's own time, the others beside it.
enum class Unit : uint8_t { Threads, Tensor, TmaLoad, TmaStore, CpAsync, Scheduler };
constexpr size_t numUnits = 6;
std::string_view name(Unit unit);

struct Job {
  Unit unit = Unit::Threads;
  int64_t occupancy = 0; ///< cycles until the unit takes the next job
  int64_t latency = 0;   ///< from then until the result is there
};

/// The jobs of one step, without those of its sub-steps.
std::vector<Job> jobsOf(const KernelInput &input, const Latencies &latencies,
                        const schedule::Task &task, const schedule::Step &step);

} // namespace ts::reports

#endif // TS_LIB_ANALYSIS_REPORTS_WORK_H
