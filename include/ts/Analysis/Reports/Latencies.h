// The one table of costs behind the steady-state model, per chip. Round numbers for comparing
// schedules of one kernel with each other; not a prediction of run time. docs/reports.md has the
// table with its sources.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_LATENCIES_H
#define TS_ANALYSIS_REPORTS_LATENCIES_H

#include <cstdint>
#include <string_view>

namespace ts::reports {

/// In SM clock cycles, and bytes per SM clock cycle.
struct Latencies {
  std::string_view chip;
  int64_t issue;      ///< any operation of a task
  int64_t arrive;     ///< from an arrival to the waiter going on
  int64_t tmaLatency; ///< from the issue of a bulk load to its first bytes in shared memory
  int64_t tmaStore;   ///< from the issue of a bulk store until its source was read
  int64_t tmaBytes;   ///< per cycle
  int64_t cpAsyncLatency;
  int64_t matrixRate;    ///< multiply-adds x operand bytes per cycle, dense
  int64_t matrixLatency; ///< from the last issue to the result
  int64_t smemBytes;     ///< per cycle, of the threads' loads and stores
  int64_t tmemLatency;   ///< tcgen05.ld and .st
  int64_t tmemColumns;   ///< per cycle
  int64_t clcLatency;    ///< cluster launch control, request to response
  int64_t work;          ///< a work call of threads that shows no accesses
};

/// The row of a chip; unknown ones get the newest.
const Latencies &latenciesOf(std::string_view chip);

} // namespace ts::reports

#endif // TS_ANALYSIS_REPORTS_LATENCIES_H
